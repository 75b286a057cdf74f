"""What an ensemble's vote changes over a single model's own, question by question, whether or not there are labels.

With T_0 and T_x the tie sets of the two votes, gold g adds [g in T_x]/|T_x| - [g in T_0]/|T_0|, and gold outside both
adds nothing. So without any label the sum over questions of the largest (smallest) change that any answer could make
bounds n times the lift from above (below), sharply: some labels attain it. A label replaces a question's range by its
one value; once every changed question has one, both bounds are the exact lift. Null is never right, and an answer that
nobody gave may be.

Where answers are graded, any set of spellings may be right, and counts as one answer. Then the largest and smallest
change over all sets are taken; a question with more than `MOST_SPELLINGS` different answers is left fully open.

All arithmetic is in whole numbers: shares c_A/N_A + x c_B/N_B are compared after multiplying by every denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.votes.ballots import Ballots
from swaplaw.votes.tally import tie_credit

MOST_SPELLINGS = 10
"""Graded answers to a question of which all sets are gone through."""


@dataclass(frozen=True)
class Change:
    """What an ensemble's vote changes over a single model's own, question by question, where all of them answered."""

    ballots: Ballots = field(repr=False)
    members: tuple[int, ...]
    weights: tuple[Fraction, ...]
    single: int | None = None
    """The model that it is compared with; by default the first member."""

    @property
    def over(self) -> int:
        """The model that it is compared with."""
        return self.members[0] if self.single is None else self.single

    @property
    def answered(self) -> Bools:
        """Which questions all members answered, and the model that they are compared with."""
        everyone: Bools = np.logical_and.reduce(self.ballots.votes[[*self.members, self.over]] > 0)
        return everyone

    @cached_property
    def _pooled(self) -> tuple[Ints, Ints]:
        """The single model's votes and the weighted ones of each category; on one question in the same units."""
        return _pool(self.ballots, (self.over,), (Fraction(1),)), _pool(self.ballots, self.members, self.weights)

    @cached_property
    def _open(self) -> tuple[Ints, Ints, int]:
        """The least and the most that each question could add without its label, and their denominator."""
        before, after = self._pooled
        if self.ballots.graded:
            return _over_sets(self.ballots, before, after)
        return _over_answers(self.ballots, before, after)

    @cached_property
    def _ends(self) -> tuple[Ints, Ints, int]:
        """The least and the most that each question can add, given the labels at hand, and their denominator."""
        low, high, scale = self._open
        known, own = self._known
        shared = lcm(scale, own)
        low, high, known = low * (shared // scale), high * (shared // scale), known * (shared // own)
        ends = (np.where(self.ballots.labelled, known, end) for end in (low, high))
        least, most = (np.where(self.answered, end, 0) for end in ends)
        return least, most, shared

    @cached_property
    def _known(self) -> tuple[Ints, int]:
        """What each labelled question adds, and the denominator; unlabelled ones mean nothing."""
        return _difference(*(_gold_ties(self.ballots, pooled) for pooled in self._pooled))

    @cached_property
    def values(self) -> Floats:
        """What each labelled question adds, as floats; 0 where somebody did not answer."""
        known, scale = self._known
        return np.where(self.answered, known, 0).astype(np.float64) / scale

    def expected(self, right: Floats) -> Floats:
        """What each question is expected to add if its answers are right with these probabilities."""
        effects, scale = _effects_of_answers(self.ballots, *self._pooled)
        summed = np.add.reduceat(effects.astype(np.float64) / scale * right, self.ballots.starts[:-1])
        return np.where(self.answered, summed, 0.0)

    @cached_property
    def changed(self) -> Bools:
        """Which questions could score otherwise with the ensemble than with the primary alone."""
        low, high, _ = self._open
        moved: Bools = ((low != 0) | (high != 0)) & self.answered
        return moved

    @property
    def n(self) -> int:
        """Questions that all members answered."""
        return int(self.answered.sum())

    @property
    def low(self) -> Fraction:
        """No labels make the lift smaller."""
        return Fraction(int(self._ends[0].sum()), self._ends[2] * self.n)

    @property
    def high(self) -> Fraction:
        """No labels make the lift larger."""
        return Fraction(int(self._ends[1].sum()), self._ends[2] * self.n)

    @property
    def unlabelled(self) -> tuple[Fraction, Fraction]:
        """The bounds as they are without any label."""
        low, high, scale = self._open
        least, most = (int(end[self.answered].sum()) for end in (low, high))
        return Fraction(least, scale * self.n), Fraction(most, scale * self.n)

    @cached_property
    def terms(self) -> tuple[Floats, Floats, Floats]:
        """What each question could add at least and at most without its label, and what it adds by its label."""
        low, high, scale = self._open
        least, most = (np.where(self.answered, end, 0).astype(np.float64) / scale for end in (low, high))
        return least, most, self.values

    @property
    def own_score(self) -> tuple[Fraction, Fraction]:
        """The least and the most that the accuracy of the vote itself can be, given the labels at hand."""
        pooled, labelled = self._pooled[1], self.ballots.labelled
        ties = _gold_ties(self.ballots, pooled)
        most = _best_ties(self.ballots, pooled)
        credit = {
            int(size): tie_credit(Fraction(1), int(size)) for size in set(ties.tolist()) | set(most.tolist()) if size
        }
        known = [credit.get(int(size), Fraction(0)) for size in ties[labelled & self.answered]]
        unknown = [credit.get(int(size), Fraction(0)) for size in most[~labelled & self.answered]]
        return sum(known, Fraction(0)) / self.n, sum([*known, *unknown], Fraction(0)) / self.n

    @cached_property
    def widths(self) -> Floats:
        """By how much labelling each question would narrow the bounds, as floats: for ordering only."""
        low, high, scale = self._ends
        return ((high - low) / (scale * max(self.n, 1))).astype(np.float64)

    def competing(self, question: int) -> list[str]:
        """The answers that lead a question in either vote; where answers are graded, all of them."""
        own = slice(self.ballots.starts[question], self.ballots.starts[question + 1])
        answers = self.ballots.answers[own]
        leading = np.logical_or.reduce([pooled[own] == pooled[own].max() for pooled in self._pooled])
        shown = np.ones(len(answers), dtype=bool) if self.ballots.graded else leading
        return [answer for answer, show in zip(answers, shown, strict=True) if show and answer is not None]


def _pool(ballots: Ballots, members: Sequence[int], weights: Sequence[Fraction]) -> Ints:
    """Weighted shares of each category times all denominators: whole numbers that compare within a question."""
    top = lcm(*(weight.denominator for weight in weights))
    wholes = [int(weight * top) for weight in weights]
    # Whoever did not answer has no votes to weigh: its factor must only not divide by zero.
    counts = [np.maximum(ballots.votes[member], 1) for member in members]
    largest = sum(wholes) * prod(int(own.max(initial=1)) for own in counts)
    dtype = np.int64 if largest < 2**62 else object
    votes = [own.astype(dtype) for own in counts]
    common = np.lcm.reduce(votes)
    pooled: Ints = np.zeros(len(ballots.question), dtype=dtype)
    for member, whole, own in zip(members, wholes, votes, strict=True):
        factor = whole * (common // own)
        pooled = pooled + ballots.counts[member].astype(dtype) * factor[ballots.question]
    return pooled


def _gold_ties(ballots: Ballots, pooled: Ints) -> Ints:
    """The size of the tie set on each question, 0 where gold is not in it; right spellings count as one answer."""
    starts, right = ballots.starts[:-1], ballots.right
    gold = np.add.reduceat(np.where(right, pooled, 0), starts)
    rival = np.maximum.reduceat(np.where(right, -1, pooled), starts)
    level = np.add.reduceat((~right & (pooled == gold[ballots.question])).astype(np.int64), starts)
    voted = np.add.reduceat(right.astype(np.int64), starts) > 0
    return np.where(voted & (gold >= rival), 1 + level, 0)


def _best_ties(ballots: Ballots, pooled: Ints) -> Ints:
    """The size of the tie that gold would be in on each question at best, 0 where it cannot win."""
    starts, null = ballots.starts[:-1], ballots.null
    lost = np.maximum.reduceat(np.where(null, pooled, -1), starts)
    if ballots.graded:
        # At best every spelling is right, and together they have only null against them.
        together = np.add.reduceat(np.where(null, 0, pooled), starts)
        return np.where((together > lost) & (together > 0), 1, np.where((together == lost) & (together > 0), 2, 0))
    top = np.maximum.reduceat(pooled, starts)
    leads = pooled == top[ballots.question]
    size = np.add.reduceat(leads.astype(np.int64), starts)
    return np.where(np.logical_or.reduceat(leads & ~null, starts), size, 0)


def _difference(before: Ints, after: Ints) -> tuple[Ints, int]:
    """What ties of these sizes (0: gold loses) are worth, the second less the first, and the denominator."""
    seen = np.bincount(before.ravel(), minlength=1).astype(bool)
    also = np.bincount(after.ravel(), minlength=len(seen)).astype(bool)
    also[: len(seen)] |= seen
    sizes = [size for size in np.flatnonzero(also).tolist() if size]
    scale = lcm(*sizes)
    credit = np.zeros(max(sizes, default=0) + 1, dtype=object)
    credit[sizes] = [tie_credit(scale, size) for size in sizes]
    worth = credit if scale >= 2**31 else credit.astype(np.int64)
    return worth[after] - worth[before], scale


def _over_answers(ballots: Ballots, before: Ints, after: Ints) -> tuple[Ints, Ints, int]:
    """The least and the most that any one answer could add, were it right."""
    effect, scale = _effects_of_answers(ballots, before, after)
    starts = ballots.starts[:-1]
    return np.minimum(0, np.minimum.reduceat(effect, starts)), np.maximum(0, np.maximum.reduceat(effect, starts)), scale


def _effects_of_answers(ballots: Ballots, before: Ints, after: Ints) -> tuple[Ints, int]:
    """What each answer would add, were it alone right, and the denominator; null is never right."""
    starts = ballots.starts[:-1]
    ties = []
    for pooled in (before, after):
        leads = pooled == np.maximum.reduceat(pooled, starts)[ballots.question]
        size = np.add.reduceat(leads.astype(np.int64), starts)[ballots.question]
        ties.append(np.where(leads, size, 0))
    effect, scale = _difference(*ties)
    return np.where(ballots.null, 0, effect), scale


def _over_sets(ballots: Ballots, before: Ints, after: Ints) -> tuple[Ints, Ints, int]:
    """The least and the most that any set of spellings could add, were it right."""
    sizes = np.diff(ballots.starts)
    scale = lcm(*range(1, min(int(sizes.max(initial=1)), MOST_SPELLINGS + 1) + 1))
    low, high = np.full(len(sizes), -scale), np.full(len(sizes), scale)
    for size in np.unique(sizes[sizes <= MOST_SPELLINGS]):
        those = np.flatnonzero(sizes == size)
        places = ballots.starts[those][:, None] + np.arange(size)
        effects = _effects_of_sets(before[places], after[places], ballots.null[places], scale)
        low[those], high[those] = effects.min(axis=0), effects.max(axis=0)
    return low, high, scale


def _effects_of_sets(before: Ints, after: Ints, null: Bools, scale: int) -> Ints:
    """What each set of categories would add on each of some questions, were it right: sets x questions."""
    size = before.shape[1]
    sets = (np.arange(2**size)[:, None] >> np.arange(size)) & 1 == 1
    worth = []
    for pooled in (before, after):
        gold = np.where(sets[:, None, :], pooled, 0).sum(axis=2)
        rivals = np.where(sets[:, None, :], -1, pooled)
        level = (rivals == gold[:, :, None]).sum(axis=2)
        wins = sets.any(axis=1)[:, None] & (gold >= rivals.max(axis=2))
        worth.append(np.where(wins, scale // (1 + level), 0))
    # A set with the null category in it is never right: it counts as no set.
    possible = ~(sets[:, None, :] & null).any(axis=2)
    return np.where(possible, worth[1] - worth[0], 0)


def changing_questions(ballots: Ballots, primary: int, secondary: int) -> Bools:
    """Which questions change at *some* weight: those where the primary's tie set is not led by the secondary, too.

    At every weight the tie set stays T_0 exactly where all members of T_0 have the secondary's largest count.
    """
    starts, question = ballots.starts[:-1], ballots.question
    own, other = ballots.counts[primary], ballots.counts[secondary]
    leads = own == np.maximum.reduceat(own, starts)[question]
    led = other == np.maximum.reduceat(other, starts)[question]
    broken = np.add.reduceat((leads & ~led).astype(np.int64), starts)
    both = (ballots.votes[primary] > 0) & (ballots.votes[secondary] > 0)
    changes: Bools = (broken > 0) & both
    return changes
