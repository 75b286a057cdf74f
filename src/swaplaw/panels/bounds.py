"""What a panel can reach at most, told without looking at its weights, so that most panels need not be searched.

At any weights some members *lead*: nobody weighs more than they do. Let l lead, let r be l's strongest rival of
gold, and scale weights so that l carries 1. Gold holds against r only where l's own margin plus the others' votes
for gold, each times its weight of at most 1, is not negative. So a question that l alone misses by more than the
others' gold votes together is lost wherever l leads. Where the sum is exactly 0, gold can only tie, and only if all
members with gold votes lead. Counting the questions left for every set of leaders bounds the panel; that no panel
wins a question on which none of its members ever votes gold is a special case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.law.plurality import whole_factors
from swaplaw.votes.tally import Tally


@dataclass(frozen=True)
class Reach:
    """Gold votes and strongest margins of every model on questions that all of them answered."""

    gold: Ints
    """Votes for gold, models x rows, each row on a scale of its own."""
    margin: Ints
    """Gold's votes less those of its strongest rival."""
    copies: Ints
    """How many right answers each row stands for."""
    questions: int

    def bound(self, members: Sequence[int]) -> Fraction:
        """No weights of these members are more accurate than this."""
        gold = self.gold[list(members)]
        room = self.margin[list(members)] + gold.sum(axis=0) - gold
        wins, ties = room > 0, room == 0
        votes = gold > 0
        halves = 0
        for leaders in _subsets(len(members)):
            others = [place for place in range(len(members)) if place not in leaders]
            lead = list(leaders)
            won = np.logical_and.reduce(wins[lead], axis=0)
            tied = np.logical_and.reduce((wins | ties)[lead], axis=0) & ~np.logical_or.reduce(votes[others], axis=0)
            halves = max(halves, int(self.copies @ (2 * won + (tied & ~won))))
        return Fraction(halves, 2 * self.questions)

    def fleet_bound(self, size: int) -> Fraction:
        """No panel of this size is more accurate than this: each leader with the others' most gold votes."""
        most = 0
        for leader in range(len(self.gold)):
            others = np.sort(np.delete(self.gold, leader, axis=0), axis=0)[::-1]
            most = max(most, int(self.copies @ (self.margin[leader] + others[: size - 1].sum(axis=0) >= 0)))
        return Fraction(most, self.questions)


def reach(tally: Tally) -> Reach:
    """Collect what bounds need of a tally in which every model answered every question."""
    models = range(len(tally.models))
    factors = [np.asarray(factor) for factor in whole_factors(tally, models, [Fraction(1)] * len(models))]
    largest = max(int(factor.max()) for factor in factors) * int(tally.votes.max()) * len(models)
    dtype = next((kind for kind in (np.int16, np.int32, np.int64) if largest < np.iinfo(kind).max), object)
    factors = [factor if len(factor) == 1 else tally.by_row(factor) for factor in factors]
    gold = np.stack([tally.gold[model].astype(dtype) * factor.astype(dtype) for model, factor in enumerate(factors)])
    margins = [_strongest(tally, model).astype(dtype) * factors[model].astype(dtype) for model in models]
    copies = np.ones(gold.shape[1], dtype=np.int64) if tally.rights is None else tally.rights.copies
    return Reach(gold, np.stack(margins), copies, len(tally.questions))


def _strongest(tally: Tally, model: int) -> Ints:
    """Gold's votes less those of the strongest rival that anybody voted for, or of none."""
    rivals = tally.rivals
    least = -rivals.rows.maximum(-tally.margins(model), -int(tally.votes.max()) - 1)
    strongest: Ints = np.minimum(least.take(rivals.rank), tally.gold[model].astype(np.int64))
    return strongest


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    for number in range(1, size + 1):
        yield from combinations(range(size), number)
