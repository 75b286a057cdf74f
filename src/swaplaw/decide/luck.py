"""The luck of the model to beat: the best of several looks better than it is, and a gain over it smaller.

How much smaller is not known. If one model truly is the best, its rivals cannot take its place, and nothing is wrong.
If all models that are not clearly poorer are as good as it is, the best of them in a draw of questions is the luckiest.
The truth lies somewhere between: it is the gain as measured, plus some part of this luck, plus noise. The interval of
Imbens and Manski (2004) is for just that. It reaches beyond either end by a little less than usual, because the truth
cannot be at both.

The luckiest model is often lucky on the very questions on which the ensemble is, too, and the best of several varies
less than each of them. So the noise of the gain is that of its difference from the luckiest model, draw by draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw.evidence.interval import LEVEL, critical_of, student, student_tail
from swaplaw.evidence.units import unit_totals


@dataclass(frozen=True)
class Luck:
    """How much better than it is the best of several models looks in draws of questions."""

    mean: float
    variance: float
    pull: Floats = field(repr=False)
    """Covariance with how often a unit is drawn, as a share of the questions drawn."""

    def noise(self, gains: Floats, member: Ints, error: float) -> float:
        """The standard error of a gain over the luckiest model, given that over the one model: no more than that."""
        units = int(member.max()) + 1
        together = float(unit_totals(gains[None], member)[0] @ self.pull) * sqrt(units / (units - 1))
        return sqrt(min(error**2, max(0.0, error**2 + self.variance - 2 * together)))


def luck_of(singles: Floats, member: Ints, counts: Floats) -> Luck:
    """Measure the luck of the best of single models.

    `singles` has what each gains over the best one (models x questions), that one first, and `counts` how often each
    unit is drawn (draws x units). Models that are not clearly below the best count as equal to it, as in Hansen's test.
    """
    units = counts.shape[1]
    drawn = counts @ np.bincount(member).astype(np.float32)
    means = singles.mean(axis=1)
    noise = counts @ unit_totals(singles, member).astype(np.float32).T / drawn[:, None] - means
    noise *= sqrt(units / (units - 1))
    poor = means < -critical_of(member) * noise.std(axis=0)
    best = (noise + np.where(poor, means, 0.0)).max(axis=1).astype(np.float64)
    pull: Floats = ((best - best.mean()) / drawn).astype(np.float32) @ counts / len(counts)
    return Luck(float(best.mean()), float(best.var()), pull)


@lru_cache
def critical_with_bias(bias: float, degrees: float, *, level: float = LEVEL) -> float:
    """Standard errors beyond either end, where the truth is the mean plus an unknown part of a bias.

    The critical value c solves F(c + bias) - F(-c) = level, with Student's distribution and the whole bias in standard
    errors: two-sided without a bias, one-sided with a large one.

    >>> [round(critical_with_bias(bias, 299.0), 2) for bias in (0.0, 1.0, 9.0)]
    [1.97, 1.69, 1.65]
    """
    from scipy.optimize import brentq

    def uncovered(critical: float) -> float:
        return float(student_tail(degrees, critical + bias) + student_tail(degrees, critical)) - (1 - level)

    return float(brentq(uncovered, 0.0, student(degrees, (1 - level) / 4)))
