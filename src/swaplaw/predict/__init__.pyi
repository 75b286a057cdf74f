from .histograms import Histogram as Histogram
from .histograms import histogram as histogram
from .histograms import histogram_from_accuracies as histogram_from_accuracies
from .histograms import histogram_lift as histogram_lift
from .law_file import Law as Law
from .law_file import read_law as read_law
from .laws import Margins as Margins
from .laws import margin_lift as margin_lift
from .laws import margins_of as margins_of
from .predictors import Predictor as Predictor
from .predictors import Predictors as Predictors
from .predictors import register as register
from .screen import Screen as Screen
from .screen import best_pairs as best_pairs
from .screen import screen_marginals as screen_marginals

__all__ = [
    "Histogram",
    "Law",
    "Margins",
    "Predictor",
    "Predictors",
    "Screen",
    "best_pairs",
    "histogram",
    "histogram_from_accuracies",
    "histogram_lift",
    "margin_lift",
    "margins_of",
    "read_law",
    "register",
    "screen_marginals",
]
