"""Diversity: how many independent voters a fleet is worth, and the classical measures of two models.

**Effective votes.** Models that err on the same questions are worth fewer voters than they are. With rho the mean
correlation of the errors of two models (phi, the paper's Eq. (phi)), k models are worth

    k / (1 + (k - 1) rho)

independent ones (Kish): as many independent voters would spread as much about the truth. Models that err
independently are worth k, copies of one model 1; more than k is not counted. Without a label errors are not known, but
only answers; two models of the same accuracy err together at most as far as they agree, so that k / (1 + (k - 1) a)
is the least that the fleet can be worth, with a the mean chance that two models give the same answer.

**Classical measures** (Kuncheva and Whitaker, 2003) are what any new indicator must beat. Where a model's own vote
ties, its score is fractional: the chance of being right if ties were broken at random. Every measure here is its
expectation over such tie-breaking; without ties it is the textbook's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw._result import Result
from swaplaw.errors import InputError
from swaplaw.evidence.association import fisher
from swaplaw.evidence.interval import LEVEL, Interval, student
from swaplaw.evidence.jackknife import Estimate, dealt, jackknife
from swaplaw.evidence.quantities import Quantities, overlaps
from swaplaw.evidence.units import LEAST_UNITS, Unit, Units, resampling_units
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

HALF = 0.5
"""Of a question, added to each cell of two models when an interval is made."""
TINY = 1e-30
SPARE = 0.05
"""Independent votes that a model may bring and still be spared."""


@dataclass(frozen=True, repr=False)
class EffectiveVotes(Result):
    """How many independent voters a fleet is worth."""

    of: int
    """Models."""
    value: float | None
    """None where it is undefined, and where nothing but bounds is known."""
    low: float | None
    """Lower end of the interval; without labels the least that the fleet can be worth."""
    high: float | None
    correlation: float | None
    """Mean correlation of two models' errors, or how often two agree where no label is known."""
    without: Mapping[str, float | None] = field(default_factory=dict)
    """What the fleet is worth without each model."""

    @property
    def spared(self) -> tuple[str, ...]:
        """Models without any one of which next to nothing is lost, the one that brings least first."""
        known = {name: worth for name, worth in self.without.items() if worth is not None}
        ranked = sorted(known, key=lambda name: -known[name])
        return tuple(name for name in ranked if self.value is not None and known[name] > self.value - SPARE)

    @property
    def sentence(self) -> str:
        """It in words: "6 models are worth 1.9 independent ones [1.6, 2.4]; without X nothing is lost"."""
        if self.low is None or self.high is None:
            return f"what {self.of} models are worth is not known"
        if self.value is None:
            return f"{self.of} models are worth {self.low:.1f} to {self.high:.1f} independent ones"
        said = f"{self.of} models are worth {self.value:.1f} independent ones [{self.low:.1f}, {self.high:.1f}]"
        return f"{said}; without {self.spared[0]} nothing is lost" if self.spared else said

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = {"of": self.of, "value": self.value, "low": self.low, "high": self.high}
        without = [{"model": model, "value": worth} for model, worth in self.without.items()]
        return ends | {"correlation": self.correlation, "without": without}


def effective_votes(votes: VotesLike, *, by: Unit | None = None, level: float = LEVEL) -> EffectiveVotes:
    """Find how many independent voters the models of a fleet are worth, from their errors.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    by : {"question", "cluster"}, optional
        What is resampled; by default clusters where there are several.
    level : float
        Confidence level.

    Returns
    -------
    EffectiveVotes
        Their number with its interval, and what the fleet is worth without each model.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sl.evidence.effective_votes(sl.demo_votes())
    9 models are worth 2.0 independent ones [1.8, 2.5]; without claude-3-opus-20240229 nothing is lost
    """
    tally = inputs.tally(votes)
    models, units = len(tally.models), resampling_units(tally, by)
    sums, scale = overlaps(tally, dealt(units) if units.count >= LEAST_UNITS else None)
    sums = sums / np.array([1, scale, scale**2])[:, None, None]
    found = _correlated(sums, level)
    whole = sums.sum(axis=0, keepdims=True)
    without = {
        name: _worth(models - 1, float(_mean(_phi(whole[..., kept, :][..., kept]))[0, 0]))
        for place, name in enumerate(tally.models)
        if models > 2
        for kept in [np.arange(models) != place]
    }
    return _judged(models, found, without)


def effective_votes_unlabelled(
    counts: Ints, question: Ints, *, units: Units | None = None, level: float = LEVEL
) -> EffectiveVotes:
    """Bound how many independent voters models are worth from their answers alone.

    Parameters
    ----------
    counts : array
        Votes, models x categories (as `Ballots.counts`).
    question : array
        The question of each category, numbered from 0.
    units : Units, optional
        What is resampled; by default every question.
    level : float
        Confidence level of the lower bound.

    Returns
    -------
    EffectiveVotes
        `low` is the least that two models of the same accuracy can be worth at this agreement, `high` their number.

    Examples
    --------
    >>> votes = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1]])
    >>> effective_votes_unlabelled(votes, np.array([0, 0, 1, 1]))
    3 models are worth 1.0 to 3.0 independent ones
    """
    if counts.shape[1] != len(question):
        raise InputError(f"there are {counts.shape[1]} categories and questions of {len(question)}; give one for each")
    many = int(question.max(initial=-1)) + 1
    cast = np.stack([np.bincount(question, own, many) for own in counts])
    share, answered = counts / np.maximum(cast, 1)[:, question], (cast > 0).astype(np.float64)
    every = Units(np.arange(many), "question") if units is None else units
    part = dealt(every).member if every.count >= LEAST_UNITS else np.zeros(many, dtype=np.intp)
    inside = [part == each for each in range(int(part.max(initial=0)) + 1)]
    sums = np.stack([[_squared(answered[:, own]), _squared(share[:, own[question]])] for own in inside])
    found = _interval(sums, _agreement, level)
    high = None if found.interval is None else found.interval.high
    low = _worth(len(counts), high if high is not None else found.value)
    return EffectiveVotes(len(counts), None, low, float(len(counts)) if low is not None else None, found.value)


def _squared(values: Floats) -> Floats:
    return values @ values.T


def _phi(sums: Floats) -> Floats:
    """The correlation of the errors of every two models: samples x pairs."""
    first, second = np.triu_indices(sums.shape[-1], 1)
    n, right, both = sums.swapaxes(0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q, c = right[:, first, second], right[:, second, first], both[:, first, second]
        n = n[:, first, second]
        spread = p * (n - p) * q * (n - q)
        # A model that is always right, or never, errs with nobody: nothing is known of such a pair.
        return np.where(spread > 0, (c * n - p * q) / np.sqrt(spread), np.nan)


def _correlated(sums: Floats, level: float) -> Estimate:
    """The mean correlation of two models' errors with its interval, where there are parts to leave out.

    Few questions hold few errors, and by luck none that two models share: then a jackknife alone reaches too short.
    Half a question more in each cell of two models (both right, one, the other, none; Haldane) centres the interval,
    its error is the larger of those with it and without, and Student's degrees of freedom are those that the spread of
    the parts deserves (Satterthwaite): where a few parts move it most, they are few.
    """
    total = sums.sum(axis=0, keepdims=True)
    plain = _phi(total)
    value = float(_mean(plain)[0, 0])
    many = len(sums)
    if np.isnan(value) or many < LEAST_UNITS:
        return Estimate(None if np.isnan(value) else value, None)

    def on_scale(some: Floats) -> Floats:
        found: Floats = fisher(_mean(np.where(np.isnan(plain), np.nan, _phi(some)))[:, 0])
        return found

    more = HALF * np.array([4.0, 2.0, 1.0])[:, None, None]
    moved = [on_scale(total - sums + extra) for extra in (0 * more, more)]
    spread = max((each - each.mean() for each in moved), key=lambda each: float((each**2).sum()))
    squares = spread**2
    peaked = float((squares**2).mean() / max(squares.mean() ** 2, TINY))
    freedom = min(many - 1.0, 2 * many / max(peaked - 1, 2.0))
    reach = student(freedom, (1 - level) / 2) * np.sqrt((many - 1) / many * squares.sum())
    low, high = np.tanh(on_scale(total + more)[0] + np.array([-reach, reach]))
    return Estimate(value, Interval(float(low), float(high), level, "jackknife"))


def _agreement(sums: Floats) -> Floats:
    """Mean chance that two models give the same answer: samples x 1."""
    first, second = np.triu_indices(sums.shape[-1], 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _mean(sums[:, 1, first, second] / sums[:, 0, first, second])


def _mean(values: Floats) -> Floats:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(known, values, 0).sum(axis=-1, keepdims=True) / known.sum(axis=-1, keepdims=True)
    return found


def _interval(sums: Floats, statistic: Callable[[Floats], Floats], level: float) -> Estimate:
    """A chance to agree with its interval, made on Fisher's scale, where there are parts to leave out."""
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0, 0])
    if np.isnan(value):
        return Estimate(None, None)
    if len(sums) < LEAST_UNITS:
        return Estimate(value, None)
    ends = jackknife(sums, lambda some: fisher(statistic(some)), level=level)[0].interval
    return Estimate(value, ends and replace(ends, low=float(np.tanh(ends.low)), high=float(np.tanh(ends.high))))


def _worth(models: int, correlation: float | None) -> float | None:
    """Independent voters that this many models are worth: at most as many as there are."""
    if correlation is None or np.isnan(correlation):
        return None
    return models / max(1.0, 1 + (models - 1) * correlation)


def _judged(models: int, found: Estimate, without: Mapping[str, float | None]) -> EffectiveVotes:
    low, high = (None, None) if found.interval is None else (found.interval.high, found.interval.low)
    value, least, most = (_worth(models, each) for each in (found.value, low, high))
    return EffectiveVotes(models, value, least, most, found.value, without)


def classical(found: Quantities) -> dict[str, Floats]:
    """Every classical measure of many pairs in many samples; for two models those of a set follow from the masses.

    Kuncheva and Whitaker set coincident failure to 0 where no model ever fails.
    """
    apart, mean = found.rescue + found.damage, (found.p + found.q) / 2
    agree, differ = found.both_right * found.both_wrong, found.rescue * found.damage
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "q_statistic": (agree - differ) / (agree + differ),
            "correlation": found.phi,
            "disagreement": apart,
            "double_fault": found.both_wrong,
            "entropy": apart,
            "kohavi_wolpert": apart / 4,
            "kappa": 1 - apart / (2 * mean * (1 - mean)),
            "difficulty": (apart + 4 * found.both_right) / 4 - mean**2,
            "generalised_diversity": 1 - found.both_wrong / (1 - mean),
            "coincident_failure": np.where(found.both_right == 1, 0.0, apart / (1 - found.both_right)),
        }
