"""Predictors that need more of the votes than which models are right where, for all pairs and in every bootstrap draw.

In a draw they are known to first order: the value of all questions, and how far each question moves it. Influences
are held as whole numbers whose sums are exact, so that nothing depends on the order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, log2

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.evidence.quantities import Quantities, Terms, require_columns_fit
from swaplaw.evidence.resample import Resampler
from swaplaw.law.pair import Pair
from swaplaw.predict.agreement import Agreements, agreements
from swaplaw.predict.laws.joint import joint_influence
from swaplaw.predict.laws.kinds import Alike, Influence, alike
from swaplaw.predict.laws.margin_classes import ByClass, Classes
from swaplaw.predict.laws.margins import margin_influence
from swaplaw.predict.laws.shares import shares_influence

LAWS: dict[str, Callable[[Alike, Fraction], Influence]] = {
    "margin": margin_influence,
    "shares": shares_influence,
    "joint": joint_influence,
}
"""Laws that are worked out on kinds of questions."""


def values_from_votes(chosen: Sequence[Pair], x: Fraction) -> dict[str, Floats]:
    """Every predictor from votes by name, one number for each pair."""
    kinds = [alike(pair) for pair in chosen]
    laws = {name: np.array([law(found, x).value for found in kinds]) for name, law in LAWS.items()}
    return laws | agreements(chosen).values()


@dataclass(frozen=True)
class Influences:
    """Predictors from votes, and how they move with the weight of each unit."""

    laws: dict[str, Floats]
    """Values of the laws that have a column for each pair."""
    slopes: Floats = field(repr=False)
    """The influence of each unit on them, as whole numbers: units x (laws x pairs); nothing where nothing can move."""
    unit: Floats = field(repr=False)
    """What to divide these by: laws x pairs."""
    agreements: Agreements = field(repr=False)
    margin: ByClass | None = field(default=None, repr=False)
    """The margin law, where it takes fewer columns by classes of ballots than by pairs."""

    @property
    def matrices(self) -> tuple[Floats, Floats, Floats]:
        """What is to be summed in a draw: units x columns each."""
        classes = self.slopes[:, :0] if self.margin is None else self.margin.columns
        return self.slopes, self.agreements.columns, classes

    def without_columns(self) -> Influences:
        """What it takes to read predictors off sums that were taken already."""
        kept = replace(self.agreements, columns=np.zeros((0, 0)))
        margin = None if self.margin is None else self.margin.without_columns()
        return replace(self, slopes=np.zeros((0, 0)), agreements=kept, margin=margin)

    def values(self, found: Quantities, sums: Sequence[Floats], times: float = 1.0) -> dict[str, Floats]:
        """The predictors by name in draws with `times` these sums of the matrices: draws x pairs each."""
        moved, agreed, classes = sums
        draws = len(moved)
        if not moved.shape[-1]:
            known = self.laws | self.agreements.values()
            return {name: np.broadcast_to(own, (draws, len(own))) for name, own in known.items()}
        steps = moved.reshape(draws, *self.unit.shape)
        laws = {name: own + times * steps[:, row] / self.unit[row] for row, (name, own) in enumerate(self.laws.items())}
        if self.margin is not None:
            laws["margin"] = self.margin.values(found, classes, times)
        return laws | self.agreements.values(agreed, times)


def influences(terms: Terms, draws: Resampler) -> Influences:
    """Measure every pair of the terms.

    Where no pair gains or loses anything, nothing correlates with that: the laws, which every pair defines, stay 0, and
    only which pairs define a measure of agreement is found out.
    """
    pairs = len(terms.pairs)
    if not terms.gains_vary:
        zero: dict[str, Floats] = dict.fromkeys(LAWS, np.zeros(pairs))
        nothing = np.zeros((draws.units, 0))
        return Influences(zero, nothing, nothing, agreements(terms.pairs, units=draws.units))
    classes = Classes(terms, draws) if terms.pairs[0].tally.complete else None
    if classes is not None and classes.number > pairs:
        classes = None
    by_pair = {name: law for name, law in LAWS.items() if classes is None or name != "margin"}
    require_columns_fit(pairs, draws.units, len(by_pair))
    values, unit = np.empty((len(by_pair), pairs)), np.empty((len(by_pair), pairs))
    rows = np.empty((len(by_pair), pairs, draws.units))
    for column, pair in enumerate(terms.pairs):
        found = alike(pair)
        if classes is not None:
            classes.add(column, found)
        for row, law in enumerate(by_pair.values()):
            influence = law(found, terms.weight)
            values[row, column] = influence.value
            unit[row, column] = _fine(influence.by_kind, terms.units)
            steps = np.round(influence.by_kind * unit[row, column]).take(found.kind)
            rows[row, column] = draws.by_unit(steps, pair)
    slopes = rows.reshape(len(by_pair) * pairs, draws.units).T
    margin = None if classes is None else classes.whole()
    laws: dict[str, Floats] = dict(zip(by_pair, values, strict=True))
    return Influences(laws, slopes, unit, agreements(terms.pairs, draws), margin)


def _fine(steps: Floats, questions: int) -> float:
    """The finest power of two in which sums of such steps are exact."""
    largest = max(float(np.abs(steps).max(initial=0)), 2.0**-200)
    return float(2.0 ** floor(51 - log2(largest * questions)))
