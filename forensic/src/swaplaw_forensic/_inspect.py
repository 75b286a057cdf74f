"""What Inspect AI finds through the `inspect_ai` entry point: importing this module registers it all."""

from swaplaw_forensic.agent.human import Human
from swaplaw_forensic.grading.scorer import graded
from swaplaw_forensic.sandbox.apptainer import ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.task import forensic

__all__ = ["ApptainerSandbox", "BwrapSandbox", "Human", "forensic", "graded"]
