"""Choosing an ensemble from part of the questions: what is chosen, and by which rule.

A *rule* is any callable that takes training parts (rows of a mask over questions) and returns one `Choice` for each;
`held_out` (see `holdout`) judges rules without knowing what is inside. `PairRule` chooses among single models and
pairs at every weight; `each` turns any function of a training tally (a panel search, say) into a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, Protocol

import numpy as np

from swaplaw.pair import Pair
from swaplaw.plurality import vote
from swaplaw.rows import Bools, Ints
from swaplaw.scoresheet import Scoresheet, exact_product, scoresheet
from swaplaw.tally import Tally
from swaplaw.wholes import Floats

By = Literal["lift", "swap"]
"""Exact lift on the best plateau, or the paper's rule: the largest swap mass S*."""


@dataclass(frozen=True, order=True)
class Choice:
    """Members of an ensemble (places in the tally), the primary first, and their weights, 1 first."""

    members: tuple[int, ...]
    weights: tuple[Fraction, ...]

    @property
    def ensemble(self) -> frozenset[int]:
        """Who is in it, whoever leads."""
        return frozenset(self.members)


Rule = Callable[[Bools], Sequence[Choice]]
"""Training parts (parts x questions) to the choice made on each."""
Track = Callable[[Sequence[Any]], Iterable[Any]]
"""Wraps what is looped over, so that a progress bar can watch."""


class Scorer(Protocol):
    """Scores of single models, pairs and any choice, question by question."""

    @property
    def tally(self) -> Tally:
        """The votes."""

    @property
    def own(self) -> tuple[Floats, int]:
        """Each model's own scores, models x questions, times a scale."""

    def sheet(self, a: int, b: int) -> Scoresheet:
        """The scoresheet of a pair with primary a."""

    def score(self, choice: Choice) -> Floats:
        """Scores of a choice on every question, as fractions of one."""


@dataclass(frozen=True)
class Recorded:
    """Scores with all the votes that were recorded: exact."""

    tally: Tally
    _scores: dict[Choice, Floats] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def own(self) -> tuple[Floats, int]:
        """Each model's own plurality scores on one scale."""
        scale = int(np.lcm.reduce([scores.denominator for scores in self.tally.scores], dtype=object))
        rows = [scores.numerators * (scale // scores.denominator) for scores in self.tally.scores]
        return np.array(rows), scale

    def sheet(self, a: int, b: int) -> Scoresheet:
        """Lay out a pair's scores."""
        return scoresheet(Pair(self.tally, a, b))

    def score(self, choice: Choice) -> Floats:
        """Pool the members' votes."""
        if choice not in self._scores:
            pooled = vote(self.tally, choice.members, choice.weights)
            self._scores[choice] = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)
        return self._scores[choice]


def each(tally: Tally, choose: Callable[[Tally], Choice]) -> Rule:
    """Turn a function of a training tally into a rule."""
    return lambda parts: [choose(tally.select(questions=part)) for part in parts]


@dataclass(frozen=True)
class BestSingle:
    """The most accurate single model of each training part; equal accuracies: name order."""

    scorer: Scorer
    singles: tuple[int, ...]

    def __call__(self, parts: Bools) -> list[Choice]:
        """Choose on each part."""
        return [alone(self.singles[row]) for row in self.totals(parts).argmax(axis=0)]

    def totals(self, parts: Bools) -> Floats:
        """Scores summed over each part: singles x parts, times the scorer's scale."""
        own, scale = self.scorer.own
        return exact_product(parts, own[list(self.singles)].T, scale).T


def alone(model: int) -> Choice:
    """One model by itself."""
    return Choice((model,), (Fraction(1),))


@dataclass(frozen=True)
class _Best:
    """The best so far on one part, and what is needed to name its weight."""

    value: Fraction
    members: tuple[int, ...]
    sheet: Scoresheet | None = None
    run: tuple[int, int] = (0, 0)

    @property
    def choice(self) -> Choice:
        if self.sheet is None:
            return alone(self.members[0])
        weight = self.sheet.weight(*self.run)
        return Choice(self.members, (Fraction(1), weight)) if weight else alone(self.members[0])


@dataclass(frozen=True)
class PairRule:
    """The best pair at its best weight, or a single model where no pair does better on the training part.

    By `lift`, the pair and plateau of weights with the highest accuracy, at the simplest weight of the plateau. By
    `swap`, the paper's rule: each pair at the smallest weight that has its largest S*, and the pair that promises the
    highest accuracy p + S*. Orientation, too, is decided on the training part: the more accurate model leads.
    """

    scorer: Scorer
    singles: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    by: By = "lift"
    track: Track = field(default=iter, repr=False, compare=False)

    def __call__(self, parts: Bools) -> list[Choice]:
        """Choose on each part."""
        own, scale = self.scorer.own
        totals = exact_product(parts, own.T, scale)
        best = self._singles(totals, scale)
        for a, b in self.track(self.pairs):
            ahead = totals[:, a] >= totals[:, b]
            for members, where in (((a, b), ahead), ((b, a), ~ahead)):
                if where.any():
                    self._challenge(best, members, np.flatnonzero(where), parts)
        return [found.choice for found in best]

    def _singles(self, totals: Floats, scale: int) -> list[_Best]:
        rows = totals[:, list(self.singles)]
        return [
            _Best(_fraction(row[leader], scale), (self.singles[leader],))
            for row, leader in zip(rows, rows.argmax(axis=1), strict=True)
        ]

    def _challenge(self, best: list[_Best], members: tuple[int, int], where: Ints, parts: Bools) -> None:
        """Put a pair in the place of what it beats, on the parts on which it is oriented like this."""
        sheet = self.scorer.sheet(*members)
        values, scale = sheet.values, sheet.scale
        if self.by == "swap":
            values, scale = self._promised(sheet, *members)
        sums = exact_product(parts[where], values.T, scale)
        eligible = np.where(sheet.open, sums, -1) if self.by == "lift" else sums
        for part, row, stretch in zip(where, sums, eligible.argmax(axis=1), strict=True):
            value = _fraction(row[stretch], scale)
            if value > best[part].value:
                run = sheet.run(row, stretch) if self.by == "lift" else (stretch, stretch)
                best[part] = _Best(value, members, sheet, run)

    def _promised(self, sheet: Scoresheet, a: int, b: int) -> tuple[Floats, int]:
        """The summands of p + S*: ok_A + (P_x - ok_A) times the weight of the cells R and D."""
        own, unit = self.scorer.own
        wide = own.dtype if own.dtype.kind == "f" or sheet.scale * unit**3 < 2**62 else np.dtype(object)
        right_a, right_b, pooled = (values.astype(wide) for values in (own[a], own[b], sheet.values))
        disagree = (unit - right_a) * right_b + right_a * (unit - right_b)
        value = disagree * (pooled * unit - right_a * sheet.scale) + right_a * sheet.scale * unit**2
        return value, sheet.scale * unit**3


def _fraction(value: Any, scale: int) -> Fraction:
    number = value if isinstance(value, int) else value.item()
    return Fraction(number) / scale


def all_pairs(models: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Every pair of these models."""
    return tuple(combinations(models, 2))
