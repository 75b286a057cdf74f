from .bundled import demo_votes as demo_votes
from .checks import Check as Check
from .checks import find_checks as find_checks
from .position import PositionBias as PositionBias
from .position import position_bias as position_bias
from .provenance import fingerprint_of as fingerprint_of
from .summary import ModelSummary as ModelSummary
from .table import Votes as Votes
from .tally import Tally as Tally

__all__ = [
    "Check",
    "ModelSummary",
    "PositionBias",
    "Tally",
    "Votes",
    "demo_votes",
    "find_checks",
    "fingerprint_of",
    "position_bias",
]
