"""Evidence that stays valid however often it is looked at: e-values by betting, and confidence sequences.

"Collect more, then ask again" is peeking, and a plain 95% interval that is looked at again and again is wrong far more
often than one time in twenty. Here a sceptic bets against "no gain" [1]_ [2]_. The stake starts at 1. Each unit
multiplies it by 1 + b d, where d, between -1 and 1, is what the unit adds (the score of one vote less that of the
other) and b, between 0 and 1, is the share that is staked. Where the expected d is at most 0, whatever came before, no
such stake is expected to grow; so the chance that it *ever* reaches 20, at any look, is at most 1 in 20 (Ville's
inequality). The stake is called an *e-value*. Nobody knows the best share b, so the stakes of all shares are averaged,
with the weight 12 b (1 - b)^2 (at 64 Gauss-Legendre points): most on the shares that suit gains of 2 to 10 points.

- Units that change nothing (d = 0) multiply by 1: they count for nothing, and need no label.
- Where clusters are the units, a cluster's sum is bet on, divided by the size of the largest cluster. That size has to
  be fixed beforehand: by default it is that of the questions at hand, so the promise is about looks that share it.
- The e-value depends on the units that were seen and not on their order.
- **Several candidates**: an average of e-values is an e-value. By closed testing, a candidate is shown at a look if
  every average that it is part of reaches 20; the chance that a candidate without a gain is *ever* shown is at most 5%.
- **Confidence sequence**: the lifts that neither "at most this" nor "at least this" can be bet against up to 40. The
  chance that the true lift is *ever* outside is at most 5%.

What it assumes: given all that was seen before, the next unit's expected change is the lift, as with questions drawn at
random. When to stop, and whom to ask next, may depend on everything seen so far, never on the next labels.

References
----------
.. [1] G. Shafer (2021). Testing by betting. Journal of the Royal Statistical Society A 184(2), 407-431.
.. [2] I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting. Journal of the
   Royal Statistical Society B 86(1), 1-27.
.. [3] V. Vovk and R. Wang (2021). E-values: calibration, combination and applications. Annals of Statistics 49(3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Any

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw.errors import InputError
from swaplaw.evidence.interval import LEVEL, check_level

SHARES = 64
"""Shares of the stake that are bet and averaged."""
LARGEST = 700.0
"""Logarithms of e-values are shown up to this: beyond, a float has no room."""
BISECTIONS = 40
GUARANTEE = (
    "However often and whenever you look: if there is no gain, the chance that one is ever reported is at most "
    "{error}; the chance that the interval ever misses the true value is at most {error}."
)


@dataclass(frozen=True)
class Anytime:
    """What is known about a mean change at this look; it is valid at every look."""

    mean: float
    gain: float
    """The e-value against "no gain"."""
    loss: float
    """The e-value against "no loss"."""
    low: float
    """Lower end of the confidence sequence."""
    high: float
    level: float
    n: int
    units: int
    wins: int
    """Questions that gained."""
    losses: int
    """Questions that lost."""

    @property
    def decisive(self) -> int:
        """Questions that changed for better or worse: the only ones that need a label."""
        return self.wins + self.losses

    @property
    def either(self) -> float:
        """The e-value against "no difference": the average of both directions."""
        return (self.gain + self.loss) / 2

    @property
    def gains(self) -> bool:
        """Whether a gain is shown."""
        return reaches(self.gain, self.level)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "mean": self.mean,
            "e_gain": self.gain,
            "e_loss": self.loss,
            "e": self.either,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n": self.n,
            "units": self.units,
            "wins": self.wins,
            "losses": self.losses,
        }


def anytime_effect(
    values: Floats, member: Ints | None = None, *, largest: int | None = None, level: float = LEVEL
) -> Anytime:
    """Judge the mean of what questions add, with evidence that is valid at every look.

    Parameters
    ----------
    values : array
        What each question adds, between -1 and 1: the score of one vote less that of another that was named in advance.
    member : array, optional
        The unit of each question, numbered from 0; by default every question is a unit.
    largest : int, optional
        The size of the largest unit, where larger ones may still come; by default the largest so far.
    level : float
        Confidence level of the confidence sequence.

    Returns
    -------
    Anytime
        E-values against "no gain" and "no loss", and the confidence sequence at this look.

    Raises
    ------
    InputError
        If the level is not between 0 and 1, or a unit is larger than `largest`.

    Examples
    --------
    >>> found = anytime_effect(np.array([1.0] * 9 + [-1.0] + [0.0] * 90))
    >>> found.decisive, round(found.gain, 1), found.gains
    (10, 14.9, False)
    >>> anytime_effect(np.array([1.0] * 10)).gains
    True
    """
    check_level(level)
    bets = _Bets.of(values, member, largest)
    low, high = _ends(bets, level)
    return Anytime(
        mean=float(values.mean()) if len(values) else 0.0,
        gain=exp(min(LARGEST, bets.log_wealth(0.0))),
        loss=exp(min(LARGEST, bets.turned().log_wealth(0.0))),
        low=low,
        high=high,
        level=level,
        n=len(values),
        units=int(bets.times.sum()),
        wins=int((values > 0).sum()),
        losses=int((values < 0).sum()),
    )


def e_value(values: Floats, member: Ints | None = None, *, null: float = 0.0, largest: int | None = None) -> float:
    """The e-value against "the mean is at most `null`".

    Parameters
    ----------
    values : array
        What each question adds, between -1 and 1.
    member : array, optional
        The unit of each question, numbered from 0; by default every question is a unit.
    null : float
        The mean that is bet against, above -1 and below 1.
    largest : int, optional
        The size of the largest unit, where larger ones may still come.

    Returns
    -------
    float
        If the mean is at most `null`, the chance that this ever reaches 20 at any look is at most 1 in 20.

    Examples
    --------
    >>> e_value(np.zeros(100)), round(e_value(np.zeros(300), null=-0.01), 2)
    (1.0, 4.04)
    """
    return exp(min(LARGEST, _Bets.of(values, member, largest).log_wealth(null)))


def reaches(e: float, level: float = LEVEL) -> bool:
    """Whether an e-value is large enough: 20 at 95%.

    >>> reaches(20.0), reaches(19.9)
    (True, False)
    """
    return e * (1 - level) >= 1


def adjusted(e_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Adjust e-values for being several: the least average over all sets of candidates that each is part of.

    Parameters
    ----------
    e_values : sequence of float
        One for each candidate.
    weights : sequence of float, optional
        How much each candidate counts, fixed beforehand; by default all count alike.

    Returns
    -------
    list of float
        The chance that one of those without a gain ever reaches 20 is at most 1 in 20 (Vovk and Wang, 2021).

    Examples
    --------
    >>> adjusted([50.0, 2.0, 0.5])
    [17.5, 1.25, 0.5]
    """
    counts = [1.0] * len(e_values) if weights is None else list(weights)
    order = sorted(range(len(e_values)), key=lambda place: e_values[place])
    found = []
    for own, (e, weight) in enumerate(zip(e_values, counts, strict=True)):
        total, size = weight * e, weight
        for other in order:
            if other == own:
                continue
            if e_values[other] * size >= total:
                break
            total, size = total + counts[other] * e_values[other], size + counts[other]
        found.append(total / size)
    return found


@dataclass(frozen=True)
class _Bets:
    """What there is to bet on: different units, and how often each occurs."""

    sums: Floats
    """What a unit adds, over the largest unit's size."""
    sizes: Floats
    """Its size, over the same."""
    times: Ints

    @classmethod
    def of(cls, values: Floats, member: Ints | None, largest: int | None) -> _Bets:
        owner = np.arange(len(values)) if member is None else member
        sums = np.bincount(owner, values).astype(np.float64)
        sizes = np.bincount(owner).astype(np.float64)
        most = max(sizes.max(initial=1.0), 1.0)
        if largest is not None and most > largest:
            raise InputError(f"a unit has {most:.0f} questions, more than the {largest} given as `largest`")
        bound = float(largest or most)
        units, times = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
        return cls(units[0] / bound, units[1] / bound, times)

    def turned(self) -> _Bets:
        """The same with gains and losses exchanged."""
        return _Bets(-self.sums, self.sizes, self.times)

    def log_wealth(self, null: float) -> float:
        """The logarithm of the stake of one who bets that the mean is above `null`."""
        points, weights = _points()
        # Written so that a unit which loses all that it can leaves something, however sums were rounded.
        excess = np.maximum((self.sums - null * self.sizes) / (1 + null), -1.0)
        with np.errstate(divide="ignore"):
            held = np.log(weights) + self.times @ np.log1p(np.outer(excess, points))
        return float(_log_sum(held[None])[0])


def _ends(bets: _Bets, level: float) -> tuple[float, float]:
    """Ends of the confidence sequence: each is where a bet against it would win 2 / (1 - level)."""
    goal = log(2 / (1 - level))
    return _end(bets, goal), -_end(bets.turned(), goal)


def _end(bets: _Bets, goal: float) -> float:
    """The largest mean that is bet against successfully: the stake falls as the mean rises."""
    inside, outside = 1.0, -1.0
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        if bets.log_wealth(middle) >= goal:
            outside = middle
        else:
            inside = middle
    return outside


@lru_cache(maxsize=1)
def _points() -> tuple[Floats, Floats]:
    """Shares of the stake between 0 and 1, and how much each counts."""
    points, weights = np.polynomial.legendre.leggauss(SHARES)
    shares = (points + 1) / 2
    counted = weights * shares * (1 - shares) ** 2
    return shares, counted / counted.sum()


def _log_sum(held: Floats) -> Floats:
    """Logarithm of the sum of exponentials along rows."""
    top = held.max(axis=1)
    found: Floats = top + np.log(np.exp(held - top[:, None]).sum(axis=1))
    return found
