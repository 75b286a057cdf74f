"""What Inspect AI finds through the `inspect_ai` entry point: importing this module registers it all.

Inspect imports this itself, so the import of Inspect here costs `import swaplaw` nothing. A part of
swaplaw that registers something with Inspect adds its line here, and nothing else.
"""

from swaplaw.collect.provider import local
from swaplaw.collect.task import mcq
from swaplaw.serve.inspect import ensemble, policy
from swaplaw.serve.judging import judged, weighted

__all__ = ["ensemble", "judged", "local", "mcq", "policy", "weighted"]
