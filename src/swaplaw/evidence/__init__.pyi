from .anytime import Anytime as Anytime
from .anytime import anytime_effect as anytime_effect
from .anytime import e_value as e_value
from .diversity import EffectiveVotes as EffectiveVotes
from .diversity import effective_votes as effective_votes
from .diversity import effective_votes_unlabelled as effective_votes_unlabelled
from .interval import Effect as Effect
from .interval import Effects as Effects
from .interval import Interval as Interval
from .interval import effects as effects
from .jackknife import Estimate as Estimate
from .jackknife import Parts as Parts
from .jackknife import parts_of as parts_of
from .lifts import accuracy_effect as accuracy_effect
from .lifts import lift_effect as lift_effect
from .quantities import Intervals as Intervals
from .quantities import intervals as intervals
from .resample import Resampler as Resampler
from .resample import resampler as resampler
from .units import Units as Units
from .units import resampling_units as resampling_units

__all__ = [
    "Anytime",
    "Effect",
    "EffectiveVotes",
    "Effects",
    "Estimate",
    "Interval",
    "Intervals",
    "Parts",
    "Resampler",
    "Units",
    "accuracy_effect",
    "anytime_effect",
    "e_value",
    "effective_votes",
    "effective_votes_unlabelled",
    "effects",
    "intervals",
    "lift_effect",
    "parts_of",
    "resampler",
    "resampling_units",
]
