from .law_file import Law as Law
from .law_file import read_law as read_law
from .laws.histograms import Histogram as Histogram
from .laws.histograms import histogram as histogram
from .laws.histograms import histogram_from_accuracies as histogram_from_accuracies
from .laws.histograms import histogram_lift as histogram_lift
from .laws.histograms import histogram_of as histogram_of
from .laws.joint import joint_lift as joint_lift
from .laws.kinds import Margins as Margins
from .laws.kinds import margins_of as margins_of
from .laws.margins import margin_lift as margin_lift
from .laws.shares import shares_lift as shares_lift
from .predictors import Predictor as Predictor
from .predictors import Predictors as Predictors
from .predictors import register as register
from .replication import Replication as Replication
from .replication import replicate as replicate
from .screen import Screen as Screen
from .screen import best_pairs as best_pairs
from .screen import screen_marginals as screen_marginals

__all__ = [
    "Histogram",
    "Law",
    "Margins",
    "Predictor",
    "Predictors",
    "Replication",
    "Screen",
    "best_pairs",
    "histogram",
    "histogram_from_accuracies",
    "histogram_lift",
    "histogram_of",
    "joint_lift",
    "margin_lift",
    "margins_of",
    "read_law",
    "register",
    "replicate",
    "screen_marginals",
    "shares_lift",
]
