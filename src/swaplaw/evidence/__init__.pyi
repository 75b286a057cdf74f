from .anytime import Anytime as Anytime
from .anytime import anytime_effect as anytime_effect
from .anytime import e_value as e_value
from .bootstrap import Bootstrap as Bootstrap
from .bootstrap import Estimate as Estimate
from .diversity import EffectiveVotes as EffectiveVotes
from .diversity import effective_votes as effective_votes
from .diversity import effective_votes_unlabelled as effective_votes_unlabelled
from .interval import Effect as Effect
from .interval import Effects as Effects
from .interval import effects as effects
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
    "Effect",
    "EffectiveVotes",
    "Effects",
    "Estimate",
    "Interval",
    "Resampler",
    "Units",
    "accuracy_effect",
    "anytime_effect",
    "e_value",
    "effective_votes",
    "effective_votes_unlabelled",
    "effects",
    "lift_effect",
    "resampler",
    "resampling_units",
]
