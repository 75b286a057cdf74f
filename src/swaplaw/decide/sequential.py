"""Anytime evidence about a fleet: candidates that were fixed before any label, judged validly at every look.

The candidates are every pair, in both orders, at one weight, and the whole fleet at equal weights; half of what is
staked goes on the pairs together, half on the fleet. A candidate gains if it beats *every* model of the fleet: its
e-value is the least of those against each model. It gains too little if it doesn't beat every model by the smallest
gain worth having: the e-value against "it does" is the average of those over the models. See `evidence.anytime` for
what an e-value promises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, Literal

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.decide.choice import Choice, Scorer, alone
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.evidence.anytime import GUARANTEE, Anytime, adjusted, anytime_effect, e_value, reaches
from swaplaw.evidence.interval import LEVEL
from swaplaw.law.weights import DEFAULT_WEIGHT

Finding = Literal["gain", "too_little", "open"]


@dataclass(frozen=True)
class Sequential:
    """One candidate at this look."""

    choice: Choice
    gain: float
    """The e-value against "it does not beat every model"."""
    gain_adjusted: float
    """The same, adjusted for all candidates: from 20 on (at 95%) the gain is shown."""
    too_little: float
    """The e-value against "it beats every model by the smallest gain worth having"."""


@dataclass(frozen=True)
class FleetAnytime:
    """What is known of a fleet at this look."""

    finding: Finding
    models: tuple[str, ...]
    candidates: tuple[Sequential, ...] = field(repr=False)
    """The largest e-value first."""
    effect: Anytime
    """What the first of them gains over the best single model, with the confidence sequence."""
    average: float
    """The e-value against "no candidate beats every model"."""
    min_gain: float
    weight: Fraction
    level: float

    @property
    def best(self) -> Sequential:
        """The candidate with the largest e-value."""
        return self.candidates[0]

    @property
    def too_little(self) -> float:
        """The e-value against "some candidate beats every model by the smallest gain worth having"."""
        return min(each.too_little for each in self.candidates)

    @property
    def guarantee(self) -> str:
        """What the numbers promise."""
        return GUARANTEE.format(error=f"{100 * (1 - self.level):g}%")

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, weights as text."""
        best = self.best
        return {
            "verdict": self.finding,
            "candidates": len(self.candidates),
            "weight": str(self.weight),
            "e": self.average,
            "e_too_little": self.too_little,
            "needed": 1 / (1 - self.level),
            "best": {
                "members": [self.models[member] for member in best.choice.members],
                "weights": [str(weight) for weight in best.choice.weights],
                "e": best.gain,
                "e_adjusted": best.gain_adjusted,
                **{name: value for name, value in self.effect.to_dict().items() if not name.startswith("e")},
            },
            "min_gain": self.min_gain,
            "guarantee": self.guarantee,
        }


def fleet_anytime(
    scorer: Scorer,
    member: Ints,
    *,
    weight: Fraction = DEFAULT_WEIGHT,
    min_gain: float = MIN_GAIN,
    level: float = LEVEL,
) -> FleetAnytime | None:
    """Judge candidates that were fixed beforehand, validly at every look.

    Parameters
    ----------
    scorer : Scorer
        Scores of the fleet's votes.
    member : array
        The unit of each question, numbered from 0.
    weight : Fraction
        The weight of the secondary in every pair.
    min_gain : float
        Smallest gain worth a second model, as a fraction of one.
    level : float
        Confidence level.

    Returns
    -------
    FleetAnytime or None
        None where there is no second model.
    """
    models = scorer.tally.models
    if len(models) < 2:
        return None
    choices, shares = _candidates(len(models), weight)
    units = member if int(member.max()) + 1 < len(member) else None
    singles = np.stack([scorer.score(alone(model)) for model in range(len(models))])
    best = singles[int(singles.sum(axis=1).argmax())]
    scores = [scorer.score(choice) for choice in choices]
    gains = [min(e_value(pooled - single, units) for single in singles) for pooled in scores]
    too_little = [
        _average([e_value(single - pooled, units, null=-min_gain) for single in singles]) for pooled in scores
    ]
    order = sorted(range(len(choices)), key=lambda place: (-gains[place], choices[place]))
    shown = adjusted(gains, shares)
    found = tuple(Sequential(choices[place], gains[place], shown[place], too_little[place]) for place in order)
    return FleetAnytime(
        _finding(found, level),
        models,
        found,
        anytime_effect(scores[order[0]] - best, units, level=level),
        float(np.average(gains, weights=shares)),
        min_gain,
        weight,
        level,
    )


def _candidates(models: int, weight: Fraction) -> tuple[list[Choice], list[float]]:
    """Every ordered pair and the whole fleet at equal weights, and how much is staked on each."""
    pairs = [Choice(pair, (Fraction(1), weight)) for pair in permutations(range(models), 2)]
    if models == 2:
        return pairs, [1 / 2, 1 / 2]
    fleet = Choice(tuple(range(models)), (Fraction(1),) * models)
    return [*pairs, fleet], [*([1 / 2 / len(pairs)] * len(pairs)), 1 / 2]


def _finding(candidates: tuple[Sequential, ...], level: float) -> Finding:
    if any(reaches(each.gain_adjusted, level) for each in candidates):
        return "gain"
    return "too_little" if all(reaches(each.too_little, level) for each in candidates) else "open"


def _average(e_values: list[float]) -> float:
    return sum(e_values) / len(e_values)
