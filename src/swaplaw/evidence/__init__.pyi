from .anytime import Anytime as Anytime
from .anytime import anytime_effect as anytime_effect
from .anytime import e_value as e_value
from .bootstrap import Bootstrap as Bootstrap
from .bootstrap import Estimate as Estimate
from .diversity import Diversity as Diversity
from .diversity import diversity_of as diversity_of
from .diversity import pairwise as pairwise
from .diversity import pairwise_of as pairwise_of
from .intervals import Effect as Effect
from .intervals import Effects as Effects
from .intervals import effects as effects
from .lifts import accuracy_effect as accuracy_effect
from .lifts import lift_effect as lift_effect
from .percentiles import Interval as Interval
from .resample import Resampler as Resampler
from .resample import resampler as resampler
from .units import Units as Units
from .units import resampling_units as resampling_units

__all__ = [
    "Anytime",
    "Bootstrap",
    "Diversity",
    "Effect",
    "Effects",
    "Estimate",
    "Interval",
    "Resampler",
    "Units",
    "accuracy_effect",
    "anytime_effect",
    "diversity_of",
    "e_value",
    "effects",
    "lift_effect",
    "pairwise",
    "pairwise_of",
    "resampler",
    "resampling_units",
]
