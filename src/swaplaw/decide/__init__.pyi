from .combine import Combination as Combination
from .combine import RuleResult as RuleResult
from .crossfit import Choice as Choice
from .crossfit import Crossfit as Crossfit
from .crossfit import HeldOutPanel as HeldOutPanel
from .crossfit import held_out_panel as held_out_panel
from .front import Front as Front
from .front import Point as Point
from .policy import Member as Member
from .policy import Policy as Policy
from .policy import read_policy as read_policy
from .recommend import Recommendation as Recommendation
from .rules import CombiningRule as CombiningRule
from .rules import rule as rule

__all__ = [
    "Choice",
    "Combination",
    "CombiningRule",
    "Crossfit",
    "Front",
    "HeldOutPanel",
    "Member",
    "Point",
    "Policy",
    "Recommendation",
    "RuleResult",
    "held_out_panel",
    "read_policy",
    "rule",
]
