"""Boxes of votes, and every ballot that can be drawn from them: all questions at once.

A box is one member's votes on one question, counted by category. Drawing some of them without replacement gives a
ballot; where there are few different ones, all are listed with their hypergeometric probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import comb

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.votes.tally import Tally

WHOLE = 2**53
"""Whole numbers up to here are exact in floats."""


@dataclass(frozen=True)
class DrawnBallots:
    """Ballots of several questions, those of one question side by side."""

    number: Ints
    """How many each question has."""
    counts: Ints = field(repr=False)
    """Votes of each member for each category, gold's first: members x categories x ballots."""
    share: Floats = field(repr=False)
    """The probability of each ballot among those of its question."""


@dataclass(frozen=True)
class Boxes:
    """Counts of some members on every question: gold first, then the rivals that one of them voted for."""

    counts: Ints = field(repr=False)
    """Members x questions x categories; 0 beyond a question's own categories."""
    widths: Ints = field(repr=False)
    """How many categories each question has, gold among them."""

    def of(self, members: Sequence[int]) -> Boxes:
        """The boxes of some members, without answers that none of them gave."""
        counts = self.counts[list(members)]
        voted = np.logical_or.reduce(counts > 0)
        voted[:, 0] = True
        first = np.argsort(~voted, axis=1, kind="stable")
        return Boxes(np.take_along_axis(counts, first[None], axis=2), voted.sum(axis=1))

    def select(self, questions: Bools | Ints) -> Boxes:
        """The boxes of some questions."""
        return Boxes(self.counts[:, questions], self.widths[questions])

    def possible(self, limit: int, most: int) -> list[Ints]:
        """How many different ballots of each size up to `most` a member can give, counted up to a limit."""
        return [_possible(own, limit, most) for own in self.counts]

    def all_ballots(self, sizes: Ints) -> DrawnBallots:
        """Every combination of the members' ballots of these sizes (members x questions)."""
        listed = [_listed(own, size) for own, size in zip(self.counts, sizes, strict=True)]
        number = reduce(np.multiply, (one.number for one in listed))
        place = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
        left, counts, shares = number, [], []
        for one in listed:
            # The first member changes slowest: what is left are the combinations of all members after it.
            left = left // one.number
            within = place // np.repeat(left, number) % np.repeat(one.number, number)
            chosen = np.repeat(np.cumsum(one.number) - one.number, number) + within
            counts.append(one.counts[0].take(chosen, axis=1))
            shares.append(one.share.take(chosen))
        return DrawnBallots(number, np.stack(counts), reduce(np.multiply, shares))


def boxes_of(tally: Tally, members: Sequence[int]) -> Boxes:
    """Lay out each question's counts.

    Rivals come in the order of their counts, so that questions which differ in nothing but labels draw alike.
    """
    dense = np.stack([tally.dense(member) for member in members])
    voted = np.flatnonzero(dense.any(axis=0))
    question = tally.rivals.question[voted]
    order = np.lexsort([*dense[::-1, voted], question])
    question, number = question[order], np.bincount(question, minlength=len(tally.questions))
    place = 1 + np.arange(len(order)) - np.repeat(np.cumsum(number) - number, number)
    counts = np.zeros((len(members), len(number), 1 + int(number.max(initial=0))), dtype=np.int64)
    counts[:, question, place] = dense[:, voted[order]]
    counts[:, :, 0] = tally.gold[list(members)]
    return Boxes(counts, 1 + number)


def _possible(counts: Ints, limit: int, most: int) -> Ints:
    """Ballots of each box, questions x sizes; more than the limit is one more."""
    ways = np.zeros((len(counts), most + 1), dtype=np.int64)
    ways[:, 0] = 1
    for count in counts.T:
        found = ways.copy()
        for taken in range(1, min(most, int(count.max(initial=0))) + 1):
            found[:, taken:] += ways[:, :-taken] * (taken <= count[:, None])
        ways = np.minimum(found, limit + 1)
    return ways


def _listed(counts: Ints, sizes: Ints) -> DrawnBallots:
    """Every ballot of each box (questions x categories) of its size, the rarest category changing slowest."""
    order = np.argsort(np.where(counts > 0, counts, counts.max(initial=0) + 1), axis=1, kind="stable")
    ranked = np.take_along_axis(counts, order, axis=1)
    deep = int((counts > 0).sum(axis=1).max(initial=0))
    owner, left, rest = np.arange(len(counts)), sizes.astype(np.int64), ranked.sum(axis=1)
    ballots = np.empty((0, len(counts)), dtype=np.min_scalar_type(int(sizes.max(initial=0))))
    for count in ranked.T[:deep]:
        rest = rest - count
        least, most = np.maximum(0, left - rest.take(owner)), np.minimum(count.take(owner), left)
        number = most - least + 1
        taken = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number - least, number)
        ballots = np.concatenate([np.repeat(ballots, number, axis=1), taken[None].astype(ballots.dtype)])
        owner, left = np.repeat(owner, number), np.repeat(left, number) - taken
    drawn = np.zeros((1, counts.shape[1], len(owner)), dtype=ballots.dtype)
    for place, taken in zip(order.T, ballots, strict=False):
        drawn[0, place.take(owner), np.arange(len(owner))] = taken
    return DrawnBallots(
        np.bincount(owner, minlength=len(counts)), drawn, _shares(ranked[:, :deep], sizes, owner, ballots)
    )


def _shares(counts: Ints, sizes: Ints, owner: Ints, ballots: Ints) -> Floats:
    """The hypergeometric probability of each ballot: ways to draw it, of all ways to draw as many votes."""
    total = _choose(counts.sum(axis=1), sizes)
    ways = np.ones(len(owner), dtype=total.dtype)
    for count, taken in zip(counts.T, ballots, strict=True):
        # No ballot can be drawn in more ways than there are: what holds these holds their product.
        ways *= _choose(count.take(owner), taken, total.dtype)
    share: Floats = (ways / total.take(owner)).astype(np.float64)
    return share


def _choose(count: Ints, taken: Ints, dtype: npt.DTypeLike | None = None) -> Floats:
    """In how many ways each number can be taken of each count: floats where these are exact, or else Python's own."""
    wide = int(taken.max(initial=0)) + 1
    place = count.astype(np.int64) * wide + taken
    occurs = np.zeros((int(count.max(initial=0)) + 1) * wide, dtype=bool)
    occurs[place] = True
    found = np.flatnonzero(occurs)
    ways = [comb(*divmod(each, wide)) for each in found.tolist()]
    number = (np.cumsum(occurs) - 1).take(place)
    exact = np.float64 if max(ways, default=0) < WHOLE else object
    return np.array(ways, dtype=exact if dtype is None else dtype).take(number)
