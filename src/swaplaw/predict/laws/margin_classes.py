"""The margin law of all pairs in a bootstrap draw, from how often each model has each margin there.

What a question does to the law is a part of its cells, which other sums tell already, and what either ballot does by
itself. So a draw's sums of a few classes of ballots for each model replace a column for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor, log2

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.evidence.quantities import Quantities, Terms
from swaplaw.evidence.resample import Resampler
from swaplaw.predict.laws.kinds import Alike, margin_classes
from swaplaw.predict.laws.margins import margin_parts


@dataclass(frozen=True)
class ByClass:
    """The margin law of pairs by classes of ballots."""

    columns: Floats = field(repr=False)
    """How many questions of each unit have a ballot of each class of each model: units x classes."""
    coefficients: Floats = field(repr=False)
    """What one such question does to each pair, as whole numbers: classes x pairs."""
    unit: Floats = field(repr=False)
    """What to divide these by, for each pair."""
    value: Floats
    by_rescue: Floats = field(repr=False)
    by_damage: Floats = field(repr=False)

    def without_columns(self) -> ByClass:
        """What it takes to read the law off sums that were taken already."""
        return replace(self, columns=np.zeros((0, 0)))

    def values(self, found: Quantities, totals: Floats, times: float) -> Floats:
        """The law in draws with `times` these totals of columns (to first order): draws x pairs."""
        # Whole numbers below 2^53: the product is exact, whatever the order of addition.
        ballots = totals.astype(np.float64) @ self.coefficients
        cells = found.n * (found.rescue * self.by_rescue + found.damage * self.by_damage)
        law: Floats = self.value + (times * ballots / self.unit + cells)
        return law


class Classes:
    """Collects the margin law of pairs of a tally whose models answered all questions."""

    def __init__(self, terms: Terms, draws: Resampler) -> None:
        tally = terms.pairs[0].tally
        self.terms, self.draws = terms, draws
        found = [margin_classes(tally, model) for model in range(len(tally.models))]
        self.of_ballot, self.of_question = [each for each, _ in found], [each for _, each in found]
        self.starts = np.cumsum([0, *(int(each.max(initial=-1)) + 1 for each in self.of_ballot)])
        self.number = int(self.starts[-1])
        """How many classes there are."""

    @cached_property
    def coefficients(self) -> Floats:
        """What one question of a class does to each pair: classes x pairs."""
        return np.zeros((self.number, len(self.terms.pairs)))

    @cached_property
    def facts(self) -> Floats:
        """Unit, value and slopes in both masses of each pair."""
        return np.ones((4, len(self.terms.pairs)))

    def add(self, column: int, found: Alike) -> None:
        """Work the law out for one of the pairs."""
        parts = margin_parts(found, self.terms.weight)
        largest = max(float(np.abs([parts.by_a, parts.by_b]).max(initial=0)), 2.0**-200)
        unit = 2.0 ** floor(50 - log2(largest * self.terms.units))
        self.facts[:, column] = unit, parts.value, parts.by_rescue, parts.by_damage
        both = (found.pair.a, found.of_a, parts.by_a), (found.pair.b, found.of_b, parts.by_b)
        for model, ballots, step in both:
            place = self.starts[model] + self.of_ballot[model].take(ballots)
            self.coefficients[place, column] = np.round(step * unit)

    def whole(self) -> ByClass:
        """The law of all pairs."""
        rows = np.zeros((self.number, self.draws.units), dtype=np.float32)
        for start, own in zip(self.starts, self.of_question, strict=False):
            np.add.at(rows, (start + own, self.draws.member), 1)
        return ByClass(rows.T, self.coefficients, *self.facts)
