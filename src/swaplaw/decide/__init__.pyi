from .choice import Choice as Choice
from .choice import Rule as Rule
from .choice import each as each
from .combine import Combination as Combination
from .combine import RuleResult as RuleResult
from .equal_compute import Budget as Budget
from .equal_compute import Split as Split
from .equal_compute import budget as budget
from .holdout import HeldOut as HeldOut
from .holdout import HeldOutPanel as HeldOutPanel
from .holdout import held_out as held_out
from .holdout import held_out_panel as held_out_panel
from .policy import Member as Member
from .policy import Policy as Policy
from .policy import read_policy as read_policy
from .rules import CombiningRule as CombiningRule
from .rules import register as register
from .verdict import Recommendation as Recommendation

__all__ = [
    "Budget",
    "Choice",
    "Combination",
    "CombiningRule",
    "HeldOut",
    "HeldOutPanel",
    "Member",
    "Policy",
    "Recommendation",
    "Rule",
    "RuleResult",
    "Split",
    "budget",
    "each",
    "held_out",
    "held_out_panel",
    "read_policy",
    "register",
]
