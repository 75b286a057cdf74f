from .law_file import Law as Law
from .law_file import read_law as read_law
from .predictors import Predictor as Predictor
from .predictors import Predictors as Predictors
from .screen import Screen as Screen
from .screen import best_pairs as best_pairs
from .screen import screen_marginals as screen_marginals

__all__ = [
    "Law",
    "Predictor",
    "Predictors",
    "Screen",
    "best_pairs",
    "read_law",
    "screen_marginals",
]
