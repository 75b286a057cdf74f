"""A mean effect over questions and how sure it is, when questions come in clusters, are few, or hardly change.

The effect of a choice changes few questions, by one or a fraction. So standard errors carry the adjustment of Agresti
and Min (2005) for paired proportions: two questions more, with half a gain and half a loss among them. They are never
zero, however few questions changed. Intervals are Student's over the resampling units (clusters, or questions), or
wider where the effect belongs to the best of many candidates (see `selection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.rounding import decimals
from swaplaw.errors import InputError
from swaplaw.evidence.intervals import student, student_tail
from swaplaw.law.plurality import vote
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.evidence.resample import Unit

LEVEL, POWER = 0.95, 0.8
PSEUDO_QUESTIONS = 2
MOST_QUESTIONS = 10_000_000
"""Beyond this many, more questions are no practical answer."""


@dataclass(frozen=True)
class Effect:
    """A mean over questions, with its standard error and interval."""

    mean: float
    standard_error: float
    critical: float
    """Standard errors to each side of the interval."""
    level: float
    p: float
    """One-sided: how often noise alone would look as good."""
    n: int
    """Questions."""
    units: int
    """Clusters, or questions where there are none."""

    @property
    def low(self) -> float:
        """Lower end of the interval; no mean gain is below -1."""
        return max(-1.0, self.mean - self.half_width)

    @property
    def high(self) -> float:
        """Upper end of the interval; no mean gain is above 1."""
        return min(1.0, self.mean + self.half_width)

    @property
    def half_width(self) -> float:
        """How far the interval reaches to either side."""
        return self.critical * self.standard_error

    @property
    def places(self) -> int:
        """Decimals that it deserves in percentage points (see `rounding`)."""
        return decimals(-self.half_width, self.half_width)

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "lift": self.mean,
            "standard_error": self.standard_error,
            "interval": [self.low, self.high],
            "critical": self.critical,
            "level": self.level,
            "p": self.p,
            "questions": self.n,
            "units": self.units,
        }

    def questions_needed(self, boundary: float) -> int | None:
        """How many questions of this kind would part the mean from the boundary; None: beyond reach.

        The standard error shrinks with the root of n, and the interval excludes the boundary with probability POWER
        once the distance is (critical + z(POWER)) standard errors: n' = n ((critical + z(POWER)) se / distance)^2.
        """
        distance = abs(self.mean - boundary)
        reach = (self.critical + NormalDist().inv_cdf(POWER)) * self.standard_error
        if not distance or self.n * (reach / distance) ** 2 > MOST_QUESTIONS:
            return None
        return ceil(self.n * (reach / distance) ** 2)


def effect(gains: Floats, member: Ints, *, level: float = LEVEL) -> Effect:
    """Estimate the mean of gains that were not picked from many; `member` is the resampling unit of each question."""
    mean, error = float(gains.mean()), float(standard_errors(gains[None], member)[0])
    units = int(member.max()) + 1
    p = student_tail(units - 1, mean / error)
    return Effect(mean, error, student(units - 1, (1 - level) / 2), level, p, len(gains), units)


def effect_among(gains: Floats, member: Ints, *, level: float = LEVEL) -> Effect | None:
    """Estimate the mean of gains on some of the questions; None where there is nothing to resample."""
    units = np.unique(member, return_inverse=True)[1]
    return effect(gains, units, level=level) if len(gains) > 1 and units.any() else None


def lift_effect(tally: Tally, members: Sequence[int], weights: Sequence[Fraction], member: Ints) -> Effect | None:
    """Lift of a pair or panel over its first member, at weights that were given, not chosen.

    `member` is the resampling unit of each of the tally's questions.
    """
    pooled, own = vote(tally, members, weights), tally.scores[members[0]]
    gains = pooled.numerators / pooled.denominator - own.numerators / own.denominator
    common = np.logical_and.reduce(tally.answered[list(members)])
    return effect_among(gains.astype(np.float64)[common], member[common])


def accuracy_effect(tally: Tally, model: int, member: Ints) -> Effect | None:
    """Accuracy of a model's own vote on the questions that it answered."""
    answered, scores = tally.answered[model], tally.scores[model]
    return effect_among((scores.numerators / scores.denominator).astype(np.float64)[answered], member[answered])


def units_of(tally: Tally, by: Unit | None = None) -> Ints:
    """The resampling unit of each question: its cluster where there are several, else itself."""
    if by == "cluster" and tally.clusters is None:
        raise InputError("there is no column 'cluster' in these votes: leave --by out, or resample questions")
    clustered = tally.clusters is not None and by != "question" and len(set(tally.clusters)) > 1
    names = tally.clusters if clustered else tally.questions
    member: Ints = np.unique(np.array(names, dtype=object), return_inverse=True)[1]
    return member


def standard_errors(gains: Floats, member: Ints) -> Floats:
    """Standard error of the mean of each row, with the pseudo-questions.

    The spread between units, or between questions where that is larger: clusters can't make a mean surer than
    independent questions would, but a few of them can look as if they did.
    """
    n, units = gains.shape[1], int(member.max()) + 1
    means = gains.mean(axis=1)
    spread = n / (n - 1) * np.maximum(0, _squares(gains) - n * means**2)
    if units < n:
        deviations = unit_totals(gains, member) - np.bincount(member) * means[:, None]
        spread = np.maximum(spread, units / (units - 1) * _squares(deviations))
    errors: Floats = np.sqrt(spread + PSEUDO_QUESTIONS / 2) / (n + PSEUDO_QUESTIONS)
    return errors


def _squares(rows: Floats) -> Floats:
    """The sum of squares of each row."""
    found: Floats = np.einsum("ij,ij->i", rows, rows)
    return found


def unit_totals(gains: Floats, member: Ints) -> Floats:
    """Sum each row's gains over each unit: rows x units."""
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(int(member.max()) + 1))
    together = gains if (order[1:] > order[:-1]).all() else np.take(gains, order, axis=1)
    totals: Floats = together if len(starts) == len(member) else np.add.reduceat(together, starts, axis=1)
    return totals
