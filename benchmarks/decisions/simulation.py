"""Verdicts on fleets whose truth is known: how often they are wrong, how often they find a gain, what intervals hold.

`python -m benchmarks.decisions simulate --draws 200` prints both tables; `--only NAME` runs the fleets that contain it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from benchmarks.decisions.fleets import SAMPLES, Array, Draw, Gaining, null_fleets, tally_of
from swaplaw.decide.choice import Choice
from swaplaw.decide.recommend import recommend
from swaplaw.decide.rules import RULES
from swaplaw.decide.verdict import DEPLOYS_ENSEMBLE, Recommendation
from swaplaw.errors import StatisticalWarning
from swaplaw.evidence.intervals import effect
from swaplaw.law.plurality import vote
from swaplaw.votes.tally import Tally

SEED = 17
QUESTIONS = 300
FRESH = 20_000
"""Fresh questions on which the true gain of what was chosen is measured."""
FAST: dict[str, Any] = {"repeats": 1, "replicates": 500}
"""Fewer deals and draws than by default: a simulation decides thousands of times."""

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

    name: str
    draws: int
    deployed: int
    """Draws in which an ensemble was recommended."""
    single: int
    """Draws in which the single model was."""
    covered: int
    """Draws in which the stated interval held the true gain of what was chosen."""
    judged: int
    """Draws in which there was an interval."""
    truth: float = 0.0
    """The best ensemble's true gain, where it is known beforehand."""
    oracle: float | None = None
    """How often one who knows the best ensemble and the best model would have found the gain."""


def score(tally: Tally, choice: Choice) -> Array:
    """Scores of a choice on every question."""
    pooled = vote(tally, choice.members, choice.weights)
    return np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)


def decided(tally: Tally, **options: Any) -> Recommendation:
    """The verdict on a tally."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticalWarning)
        return recommend(tally, **FAST | options)


def covers(found: Recommendation, fresh: Tally) -> bool | None:
    """Whether the stated interval holds the true gain of the ensemble over the single model; None: no interval."""
    if found.held_out is None or found.tally.models != fresh.models:
        return None
    truth = float((score(fresh, found.choice) - score(fresh, found.baseline)).mean())
    return found.held_out.low <= truth <= found.held_out.high


def null(draws: int, only: str = "") -> Iterator[Outcome]:
    """Fleets in which no ensemble helps."""
    for name, fleet in null_fleets().items():
        for samples in SAMPLES:
            label = f"{name}, {samples} sample{'' if samples == 1 else 's'}"
            if only in label:
                yield _many(label, fleet, samples, QUESTIONS, draws)


def _many(name: str, fleet: Draw, samples: int, n: int, draws: int) -> Outcome:
    fresh = tally_of(fleet(np.random.default_rng([SEED, 999]), FRESH, samples))
    found = [decided(tally_of(fleet(np.random.default_rng([SEED, number]), n, samples))) for number in range(draws)]
    held = [covers(each, fresh) for each in found]
    return Outcome(
        name,
        draws,
        sum(each.verdict in DEPLOYS_ENSEMBLE for each in found),
        sum(each.verdict == "deploy_single" for each in found),
        sum(each is True for each in held),
        sum(each is not None for each in held),
    )


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
    fitted = tally_of(fleet.votes(np.random.default_rng([SEED, 998]), FRESH // 2))
    fresh = tally_of(fleet.votes(np.random.default_rng([SEED, 999]), 2 * FRESH))
    one = Fraction(1)
    smooth = RULES["smooth"].fit(fitted)
    known = [smooth, RULES["equal"].fit(fitted), *(Choice(smooth.members[:k], smooth.weights[:k]) for k in (2, 3))]
    singles = [Choice((model,), (one,)) for model in range(len(fitted.models))]
    best, single = (max(each, key=lambda choice: float(score(fresh, choice).mean())) for each in (known, singles))
    return Oracle(best, single, float((score(fresh, best) - score(fresh, single)).mean()))


def power(draws: int, only: str = "") -> Iterator[Outcome]:
    """Fleets with a true gain."""
    for name, fleet in GAINING.items():
        if only not in name:
            continue
        knows = oracle(fleet)
        fresh = tally_of(fleet.votes(np.random.default_rng([SEED, 999]), FRESH))
        tallies = [tally_of(fleet.votes(np.random.default_rng([SEED, number]))) for number in range(draws)]
        found = [decided(tally) for tally in tallies]
        held = [covers(each, fresh) for each in found]
        yield Outcome(
            name,
            draws,
            sum(each.verdict in DEPLOYS_ENSEMBLE for each in found),
            sum(each.verdict == "deploy_single" for each in found),
            sum(each is True for each in held),
            sum(each is not None for each in held),
            knows.gain,
            sum(knows.finds(tally) for tally in tallies) / draws,
        )
