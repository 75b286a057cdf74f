from .bootstrap import Bootstrap as Bootstrap
from .bootstrap import Estimate as Estimate
from .diversity import Diversity as Diversity
from .diversity import diversity_of as diversity_of
from .diversity import pairwise as pairwise
from .effect import Effect as Effect
from .intervals import Interval as Interval
from .resample import Resampler as Resampler
from .resample import resampler as resampler

__all__ = [
    "Bootstrap",
    "Diversity",
    "Effect",
    "Estimate",
    "Interval",
    "Resampler",
    "diversity_of",
    "pairwise",
    "resampler",
]
