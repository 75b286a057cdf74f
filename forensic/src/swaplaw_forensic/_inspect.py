"""What Inspect AI finds through the `inspect_ai` entry point: importing this module registers it all."""

from swaplaw_forensic.agent.task import forensic
from swaplaw_forensic.sandbox.apptainer import ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox

__all__ = ["ApptainerSandbox", "BwrapSandbox", "forensic"]
