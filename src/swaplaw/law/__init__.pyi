from .curve import Curve as Curve
from .curve import Optimum as Optimum
from .curve import Piece as Piece
from .curve import curves as curves
from .curve import curves_of as curves_of
from .pair import Change as Change
from .pair import Masses as Masses
from .pair import Outcome as Outcome
from .pair import Pair as Pair
from .pair import Pairs as Pairs
from .pair import outcomes as outcomes
from .weights import PAPER_GRID as PAPER_GRID
from .weights import as_weight as as_weight

__all__ = [
    "PAPER_GRID",
    "Change",
    "Curve",
    "Masses",
    "Optimum",
    "Outcome",
    "Pair",
    "Pairs",
    "Piece",
    "as_weight",
    "curves",
    "curves_of",
    "outcomes",
]
