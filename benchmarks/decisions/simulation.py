"""Verdicts on fleets whose truth is known: how often they are wrong, how often they find a gain, what intervals hold.

A draw is one set of questions and votes; the true gain of what was chosen on it is measured on many fresh questions of
the same fleet.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from benchmarks.decisions.fleets import HARD, NULL, Array, Draw, Gaining, fleets, tally_of
from swaplaw.decide.choice import Choice, alone
from swaplaw.decide.recommend import recommend
from swaplaw.decide.rules import RULES
from swaplaw.decide.verdict import DEPLOYS_ENSEMBLE, Recommendation
from swaplaw.errors import StatisticalWarning
from swaplaw.evidence.interval import effect
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

SEED = 17
QUESTIONS = 300
FRESH = 24_000
"""Fresh questions on which the true gain of what was chosen is measured."""
MANY = 40_000
"""Questions on which the oracle learns what is best."""
FAST: dict[str, Any] = {"repeats": 1, "replicates": 500}
"""Fewer deals and draws than by default: a simulation decides thousands of times."""
FASTER = FAST | {"folds": 5}
"""Null fleets are many; fewer folds hardly change how often luck passes for a gain."""

GAINING: dict[str, Gaining] = {
    "+3 points, n = 300, strong models": Gaining((0.90, 0.88, 0.80, 0.70, 0.60), 0.90, 300),
    "+3 points, n = 300, weaker models": Gaining((0.80, 0.77, 0.74, 0.70, 0.60), 0.90, 300),
    "+3 points, n = 300, much disagreement": Gaining((0.62, 0.58, 0.55, 0.50, 0.45), 0.85, 300),
    "+5 points, n = 300, strong models": Gaining((0.90, 0.89, 0.88, 0.80, 0.70), 0.80, 300),
    "+5 points, n = 300, weaker models": Gaining((0.80, 0.79, 0.78, 0.70, 0.60), 0.85, 300),
    "+2 points, n = 1,000, weaker models": Gaining((0.80, 0.75, 0.70, 0.65, 0.60), 0.93, 1000),
    "+2 points, n = 1,000, strong models": Gaining((0.94, 0.89, 0.85, 0.80, 0.75), 0.92, 1000),
}


@dataclass(frozen=True)
class Outcome:
    """What became of many draws of one fleet."""

    fleet: str
    models: int
    samples: int
    draws: int
    deployed: int
    """Draws in which an ensemble was recommended."""
    harmful: int
    """Those of them in which its true gain was not above 0."""
    single: int
    """Draws in which the single model was recommended."""
    covered: int
    """Draws in which the stated interval held the true gain of what was chosen."""
    judged: int
    """Draws in which there was an interval."""
    noise: int
    """Draws in which the ensemble passed its test, but not the one over a placebo."""
    one_rule: int
    """Draws in which it passed its test, but too few other rules gained."""
    gain: float | None = None
    """The best ensemble's true gain, where it is known beforehand."""
    oracle: int | None = None
    """Draws in which one who knows the best ensemble and the best model finds the gain."""


def score(tally: Tally, choice: Choice) -> Array:
    """Scores of a choice on every question."""
    pooled = vote(tally, choice.members, choice.weights)
    return np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)


def decided(tally: Tally, **options: Any) -> Recommendation:
    """The verdict on a tally."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticalWarning)
        return recommend(tally, **FAST | options)


@dataclass(frozen=True)
class Draws:
    """Verdicts on many draws of one fleet, and fresh questions that tell the truth."""

    fleet: Draw
    samples: int
    questions: int
    number: int
    options: dict[str, Any] = field(default_factory=lambda: FAST)

    def tallies(self) -> Iterator[Tally]:
        """The votes of each draw."""
        for number in range(self.number):
            yield tally_of(self.fleet(np.random.default_rng([SEED, number]), self.questions, self.samples))

    def outcome(self, label: str, models: int, knows: Oracle | None = None) -> Outcome:
        """Decide on every draw."""
        fresh = tally_of(self.fleet(np.random.default_rng([SEED, 999]), FRESH, self.samples))
        found = [decided(tally, **self.options) for tally in self.tallies()]
        gains = [true_gain(each, fresh) for each in found]
        deployed = [each.verdict in DEPLOYS_ENSEMBLE for each in found]
        held = [covers(each, gain) for each, gain in zip(found, gains, strict=True) if gain is not None]
        return Outcome(
            label,
            models,
            self.samples,
            self.number,
            sum(deployed),
            sum(yes and (gain or 0) <= 0 for yes, gain in zip(deployed, gains, strict=True)),
            sum(each.verdict == "deploy_single" for each in found),
            sum(held),
            len(held),
            sum(each.reason in ("noise", "maybe_noise") for each in found),
            sum(each.reason == "one_rule" for each in found),
            None if knows is None else knows.gain,
            None if knows is None else sum(map(knows.finds, self.tallies())),
        )


def true_gain(found: Recommendation, fresh: Tally) -> float | None:
    """The true gain of the best ensemble over the single model; None where no ensemble was compared."""
    if found.held_out is None or found.tally.models != fresh.models:
        return None
    return float((score(fresh, found.choice) - score(fresh, found.baseline)).mean())


def covers(found: Recommendation, gain: float) -> bool:
    """Whether the stated interval holds a gain."""
    return found.held_out is not None and found.held_out.low <= gain <= found.held_out.high


def null(draws: int, only: str = "") -> Iterator[Outcome]:
    """Fleets in which no ensemble helps."""
    return of_kinds(NULL, draws, only)


def hard(draws: int, only: str = "") -> Iterator[Outcome]:
    """Fleets that are hard on the interval."""
    return of_kinds(HARD, draws, only)


def of_kinds(kinds: Iterable[str], draws: int, only: str) -> Iterator[Outcome]:
    """Fleets of some kinds in every size."""
    for fleet in fleets(kinds):
        if only in str(fleet):
            yield Draws(fleet.draw, fleet.samples, QUESTIONS, draws, FASTER).outcome(fleet.kind, fleet.models)


def power(draws: int, only: str = "") -> Iterator[Outcome]:
    """Fleets with a true gain."""
    for name, fleet in GAINING.items():
        if only in name:
            drawn = Draws(fleet.draw, fleet.samples, fleet.questions, draws)
            yield drawn.outcome(name, len(fleet.known), oracle(fleet))


@dataclass(frozen=True)
class Oracle:
    """Who knows the best ensemble, and the best model."""

    ensemble: Choice
    single: Choice
    gain: float

    def finds(self, tally: Tally) -> bool:
        """Whether a one-sided test of the known ensemble at 5% finds its gain."""
        gains = score(tally, self.ensemble) - score(tally, self.single)
        return effect(gains, np.arange(len(gains))).p <= 0.05


@cache
def oracle(fleet: Gaining) -> Oracle:
    """Smooth, equal or leading weights, whichever is best on many questions, all of them known beforehand."""
    fitted = tally_of(fleet.draw(np.random.default_rng([SEED, 998]), MANY // 4, fleet.samples))
    fresh = tally_of(fleet.draw(np.random.default_rng([SEED, 999]), MANY, fleet.samples))
    smooth = RULES["smooth"].fit(fitted)
    known = [smooth, RULES["equal"].fit(fitted), *(Choice(smooth.members[:k], smooth.weights[:k]) for k in (2, 3))]
    singles = [alone(model) for model in range(len(fitted.models))]
    best, single = (max(each, key=lambda choice: float(score(fresh, choice).mean())) for each in (known, singles))
    return Oracle(best, single, float((score(fresh, best) - score(fresh, single)).mean()))
