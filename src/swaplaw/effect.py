"""A mean effect over questions and how sure it is, when questions come in clusters or are few.

The effect of a choice changes few questions, by one or a fraction. So the interval is Student's over the resampling
units (clusters, or questions), with the adjustment of Agresti and Min (2005) for paired proportions: two questions
more, half a gain and half a loss among them. It is never of width zero, however few questions changed. The p-value
flips the signs of whole units, which is exact for symmetric noise however few units there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from swaplaw.tally import Ints
from swaplaw.terms import Floats

LEVEL = 0.95
POWER = 0.8
PSEUDO_QUESTIONS = 2
FLIPS, BATCH = 9_999, 101
"""Random flips of signs, and how many at a time, where there are too many units to try every one."""
EXACT_UNITS = 12
MOST_QUESTIONS = 10_000_000


@dataclass(frozen=True)
class Effect:
    """A mean over questions, its standard error and interval."""

    mean: float
    standard_error: float
    lo: float
    hi: float
    level: float
    p: float
    """Chance of at least this mean if each unit's effect were as likely negative as positive."""
    n: int
    """Questions."""
    units: int
    """Clusters, or questions where there are none."""

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "lift": self.mean,
            "standard_error": self.standard_error,
            "interval": [self.lo, self.hi],
            "level": self.level,
            "p": self.p,
            "questions": self.n,
            "units": self.units,
        }


def effect(gains: Floats, member: Ints, *, level: float = LEVEL, seed: int = 0) -> Effect:
    """Estimate the mean gain; `member` names the resampling unit of each question."""
    from scipy.special import stdtrit

    n, units = len(gains), int(member.max()) + 1
    mean = float(gains.sum()) / n
    error = float(standard_errors(gains[None], member)[0])
    reach = float(stdtrit(units - 1, (1 + level) / 2)) * error
    return Effect(mean, error, mean - reach, mean + reach, level, sign_flip(gains, member, seed), n, units)


def standard_errors(gains: Floats, member: Ints) -> Floats:
    """Standard error of the mean of each row, with the pseudo-questions.

    The spread between units, or between questions where that is larger: clusters can't make a mean surer than
    independent questions would, but a few of them can look as if they did.
    """
    n, units = gains.shape[1], int(member.max()) + 1
    totals, sizes = unit_totals(gains, member), np.bincount(member)
    means = gains.sum(axis=1) / n
    between = units / (units - 1) * ((totals - sizes * means[:, None]) ** 2).sum(axis=1)
    singly = n / (n - 1) * ((gains**2).sum(axis=1) - n * means**2)
    errors: Floats = np.sqrt(np.maximum(between, singly) + PSEUDO_QUESTIONS / 2) / (n + PSEUDO_QUESTIONS)
    return errors


def unit_totals(gains: Floats, member: Ints) -> Floats:
    """Sum each row's gains over each unit: rows x units."""
    units = int(member.max()) + 1
    if units == len(member):
        return gains[:, np.argsort(member)]
    totals = np.zeros((len(gains), units))
    np.add.at(totals.T, member, gains.T)
    return totals


def sign_flip(gains: Floats, member: Ints, seed: int = 0) -> float:
    """One-sided p-value of a positive mean, by flipping the signs of whole units."""
    totals = unit_totals(gains[None], member)[0]
    changed = totals[totals != 0]
    observed = changed.sum() * (1 - 1e-12) - 1e-12
    if len(changed) <= EXACT_UNITS:
        bits = np.arange(2 ** len(changed))[:, None] >> np.arange(len(changed)) & 1
        return float(np.mean((1 - 2 * bits) @ changed >= observed))
    rng = np.random.default_rng([seed, len(changed)])
    reached = 0
    for _ in range(FLIPS // BATCH):
        signs = rng.integers(2, size=(BATCH, len(changed)), dtype=np.int8)
        reached += int(np.sum(changed.sum() - 2 * (signs @ changed) >= observed))
    return (1 + reached) / (1 + FLIPS)


def questions_needed(found: Effect, distance: float) -> int | None:
    """How many questions of this kind would show an effect this far from the boundary; None: beyond reach.

    The standard error shrinks with the root of n, and the interval excludes the boundary with probability POWER once
    the distance is z(level) + z(POWER) standard errors: n' = n ((z(level) + z(POWER)) se / distance)^2.
    """
    if distance <= 0:
        return None
    reach = NormalDist().inv_cdf((1 + found.level) / 2) + NormalDist().inv_cdf(POWER)
    needed = found.n * (reach * found.standard_error / distance) ** 2
    return None if needed > MOST_QUESTIONS else max(found.n, ceil(needed))
