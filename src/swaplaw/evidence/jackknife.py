"""Intervals of what is not a mean: rates, correlations, spreads, and whatever else follows from sums over questions.

The units (questions, or whole clusters) are dealt into at most 40 parts, and each part is left out in turn [1]_. How
far the statistic moves gives its standard error, and Student's distribution the interval:

    se^2 = (G - 1) / G sum_g (t_g - t.)^2,    t ± student(G - 1) se,

with t_g the statistic without part g and t. their mean. Parts of several questions, not single ones: a rank
correlation moves in jumps, which many questions at a time smooth out. A statistic costs 40 evaluations, whatever the
number of questions, where a bootstrap takes thousands of draws of all of them.

Spreads, squared errors and squared correlations are inflated by noise: pairs that are equal in truth differ in a
sample. The jackknife knows by how much, (G - 1)(t. - t), and the interval of such a number is centred on what is left
(Quenouille). docs/evidence.md has what these intervals cover, and what bootstrap intervals covered (of a spread or a
squared correlation: hardly ever the truth).

References
----------
.. [1] J. Shao and C. F. J. Wu (1989). A general theory for jackknife variance estimation. Annals of Statistics 17(3).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import InputError, StatisticalWarning
from swaplaw.evidence.interval import LEVEL, Interval, check_level, student
from swaplaw.evidence.units import Unit, Units, require_several, resampling_units
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

PARTS, MOST_PARTS = 40, 200
"""Parts that are left out in turn, and how many there may be: rank correlations need parts of several questions."""
SPLITS = 200
"""Random halves that what is predicted on one half is checked by."""
FEW: dict[Unit, int] = {"cluster": 10, "question": 50}
"""With fewer units such an interval may cover less than 92% (see docs/evidence.md)."""


@dataclass(frozen=True)
class Parts:
    """Units, dealt into parts of equally many."""

    member: Ints = field(repr=False)
    """The part of each question."""
    unit: Unit
    units: int
    replicates: int
    """How many parts there are: each is left out once."""
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: everything needed to deal the same again."""
        return {"unit": self.unit, "units": self.units, "replicates": self.replicates, "seed": self.seed}

    def sums(self, values: npt.NDArray[Any], questions: Ints | slice = slice(None)) -> Floats:
        """Sum what some questions (the last axis) have over each part: parts x what comes before that axis."""
        flat = values.reshape(prod(values.shape[:-1]), values.shape[-1]).astype(np.float64)
        place = self.member[questions] + self.replicates * np.arange(len(flat))[:, None]
        found: Floats = np.bincount(place.reshape(-1), flat.reshape(-1), self.replicates * len(flat)).astype(np.float64)
        return np.moveaxis(found.reshape(*values.shape[:-1], self.replicates), -1, 0)

    @cached_property
    def questions(self) -> list[Ints]:
        """The questions of each part."""
        return np.split(np.argsort(self.member, kind="stable"), np.bincount(self.member).cumsum()[:-1])

    def halves(self) -> tuple[Floats, Floats]:
        """Random halves of the parts, and the other halves: which parts are in each, halves x parts."""
        places = np.random.default_rng(self.seed).random((SPLITS, self.replicates)).argsort(axis=1)
        taken = (places < self.replicates // 2).astype(np.float64)
        return taken, 1 - taken

    def warn_few(self) -> None:
        """Say where there is too little to leave out."""
        if self.units < FEW[self.unit]:
            warnings.warn(
                f"only {self.units} {self.unit}s are resampled: with fewer than {FEW[self.unit]}, intervals of rates "
                "and correlations may hold the truth less than 92% of the time",
                StatisticalWarning,
                stacklevel=3,
            )


def parts_of(votes: VotesLike, *, by: Unit | None = None, seed: int = 0, replicates: int = PARTS) -> Parts:
    """Deal the units of votes into parts.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    by : {"question", "cluster"}, optional
        What the units are; by default clusters where there are several, else questions.
    seed : int
        The same seed deals the same parts.
    replicates : int
        How many parts: as many as there are units, or 200, at most.

    Returns
    -------
    Parts
        The part of each question.

    Raises
    ------
    InputError
        If there is a single unit, or fewer than two parts are asked for.

    Examples
    --------
    >>> import swaplaw as sl
    >>> parts_of(sl.demo_votes(), by="question")
    Parts(unit='question', units=100, replicates=40, seed=0)
    """
    if replicates < 2:
        raise InputError(f"{replicates} parts cannot be left out in turn: ask for 2 or more")
    if seed < 0:
        raise InputError(f"seed {seed} is negative: give 0 or more")
    tally = inputs.tally(votes)
    units = resampling_units(tally, by)
    require_several(tally, units)
    return dealt(units, seed, replicates)


def dealt(units: Units, seed: int = 0, replicates: int = PARTS) -> Parts:
    """Deal units into parts whose numbers of units differ by one at most."""
    many = min(replicates, MOST_PARTS, units.count)
    every = np.arange(units.count)
    part = every if many == units.count else np.random.default_rng(seed).permutation(every) % many
    return Parts(part[units.member], units.kind, units.count, many, seed)


@dataclass(frozen=True)
class Estimate:
    """A number, its interval, and without how many parts it was undefined: then there is no interval."""

    value: float | None
    interval: Interval | None
    undefined: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = None if self.interval is None else [self.interval.low, self.interval.high]
        return {"value": self.value, "interval": ends, "undefined": self.undefined}


@dataclass(frozen=True)
class Estimates:
    """Many numbers of one shape with their intervals; NaN where undefined."""

    values: Floats
    low: Floats
    high: Floats
    undefined: Ints
    level: float
    method: str = "jackknife"

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        value, low, high = (float(each[place]) for each in (self.values, self.low, self.high))
        if isnan(value):
            return Estimate(None, None)
        found = None if isnan(low) else Interval(low, high, self.level, self.method)
        return Estimate(value, found, int(self.undefined[place]))

    def row(self, place: int) -> Estimates:
        """The numbers at one place of the first axis."""
        values, low, high, undefined = self.values[place], self.low[place], self.high[place], self.undefined[place]
        return Estimates(values, low, high, undefined, self.level, self.method)


def jackknife(
    sums: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    level: float = LEVEL,
    inflated: Bools | bool = False,
    least: float | Floats = -np.inf,
    most: float | Floats = np.inf,
) -> Estimates:
    """Give a statistic of sums over questions its intervals.

    Parameters
    ----------
    sums : array
        What each part adds (see `Parts.sums`): parts x ...
    statistic : callable
        Gets sums of several samples (first axis), and gives an array for each.
    level : float
        Confidence level.
    inflated : bool or array of bool
        Which numbers noise makes larger, so that their intervals are centred on what the jackknife leaves of them.
    least, most : float or array
        What the numbers cannot go beyond.

    Returns
    -------
    Estimates
        The statistic of all questions, and its intervals.

    Examples
    --------
    >>> heads = np.array([[3.0, 5.0], [4.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    >>> jackknife(heads, lambda sums: sums[:, :1] / sums[:, 1:])[0].interval
    Interval(low=0.3401..., high=0.8598..., level=0.95, method='jackknife')
    """
    check_level(level)
    many, total = len(sums), sums.sum(axis=0, keepdims=True)
    values, without = statistic(total)[0], statistic(total - sums)
    undefined = np.isnan(without).sum(axis=0) * ~np.isnan(values)
    middle = without.mean(axis=0)
    errors = np.sqrt((many - 1) / many * ((without - middle) ** 2).sum(axis=0))
    reach = student(many - 1, (1 - level) / 2) * errors
    centre = values - np.where(inflated, (many - 1) * (middle - values), 0.0)
    low, high = (np.clip(each, least, most) for each in (centre - reach, centre + reach))
    return Estimates(values, low, high, undefined, level)
