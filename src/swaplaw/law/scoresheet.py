"""The scoresheet of a pair: every question's score at every weight, laid out once so that any subset can be summed.

A choice made on part of the questions (a fold's training part, a bootstrap draw) needs the lift curve of that part.
Each question's score is constant between the weights at which its own vote changes (see `curve`), so over all
questions the half-line of weights falls into *stretches* on which no question changes. A question changes at few of
them. So only its steps are held: the curve of any subset is a running sum of its questions' steps, and no vote is
pooled again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._parallel import one_thread
from swaplaw.law.pair import Pair
from swaplaw.law.spans import Breakpoints, spans_of_batch
from swaplaw.law.weights import simplest_between
from swaplaw.votes.tally import tie_credit

BLOCK = 2**22
"""Steps times parts that are added up at a time."""


@dataclass(frozen=True)
class Scoresheet:
    """Scores of one pair. Stretches come in rising order of weight; the first begins at x = 0."""

    breaks: Breakpoints = field(repr=False)
    firsts: Ints = field(repr=False)
    """The first slot of each stretch (see `spans`)."""
    constant: Floats = field(repr=False)
    """What each question scores before its first step, times `scale`."""
    place: Ints = field(repr=False)
    """The stretch at which each step happens, rising."""
    owner: Ints = field(repr=False)
    """The question of each step."""
    step: Floats = field(repr=False)
    """By how much its score changes, times `scale`."""
    scale: int
    """What scores are multiples of: they are whole numbers / scale."""

    @cached_property
    def lasts(self) -> Ints:
        """The last slot of each stretch."""
        return np.concatenate([self.firsts[1:], [self.breaks.slots]]) - 1

    @cached_property
    def open(self) -> Bools:
        """Which stretches hold a whole open interval of weights, and so are safe to deploy."""
        holds: Bools = (self.firsts % 2 == 1) | (self.lasts > self.firsts)
        return holds

    def sums(self, parts: npt.ArrayLike) -> Floats:
        """Scores summed over each part (rows of question weights): parts x stretches, times `scale`, exact."""
        weights = np.asarray(parts)
        # A running sum of steps stays between 0 and the sum of all scores; what is added to it is as large at most.
        dtype = _exact_type(2 * weights.shape[1] * int(weights.max(initial=0)) * self.scale)
        columns = np.ascontiguousarray(weights.T, dtype=dtype)
        sums = np.zeros((len(self.firsts), len(weights)), dtype=dtype)
        with one_thread():
            sums[0] = self.constant.astype(dtype) @ columns
        places, starts = np.unique(self.place, return_index=True)
        ends = np.append(starts, len(self.place))[1:]
        # Whole runs of steps at a time, so that what is gathered stays near the processor.
        for first, last in _blocks(ends, max(1, BLOCK // max(1, len(weights)))):
            own = slice(starts[first], ends[last - 1])
            moved = columns.take(self.owner[own], axis=0)
            moved *= self.step[own, None]
            sums[places[first:last]] += np.add.reduceat(moved, starts[first:last] - starts[first], axis=0)
        np.cumsum(sums, axis=0, out=sums)
        return sums.T

    def sums_without(self, fold: Ints, folds: int) -> Floats:
        """Scores summed over all questions but those of each fold, as `sums` does; `fold` is that of each question.

        Every step is added to its own fold only, and what all folds but one have is a difference. That is the same as
        long as these numbers stay whole.
        """
        if _exact_type(2 * len(fold) * self.scale) is object:
            return self.sums(fold != np.arange(folds)[:, None])
        key = self.place * folds + fold.take(self.owner)
        moved = np.bincount(key, self.step, minlength=len(self.firsts) * folds).astype(np.float64)
        moved = moved.reshape(len(self.firsts), folds)
        moved[0] += np.bincount(fold, self.constant, minlength=folds)
        np.cumsum(moved, axis=0, out=moved)
        sums: Floats = (moved.sum(axis=1, keepdims=True) - moved).T
        return sums

    def among(self, questions: Bools) -> Scoresheet:
        """The scores of some of the questions (a mask), numbered anew."""
        kept = questions[self.owner]
        owner = (np.cumsum(questions) - 1)[self.owner[kept]]
        return replace(
            self, constant=self.constant[questions], place=self.place[kept], owner=owner, step=self.step[kept]
        )

    def run(self, totals: Floats, stretch: int) -> tuple[int, int]:
        """First and last stretch of the run around one stretch in which the totals are the same."""
        other = np.flatnonzero(totals != totals[stretch])
        place = int(np.searchsorted(other, stretch))
        first = int(other[place - 1]) + 1 if place > 0 else 0
        last = int(other[place]) - 1 if place < len(other) else len(totals) - 1
        return first, last

    def weight(self, first: int, last: int) -> Fraction:
        """The simplest weight in a run of stretches."""
        low, high = self.breaks.between(int(self.firsts[first]), int(self.lasts[last]))
        return low if low == high else simplest_between(low, high)

    def at(self, weight: Fraction) -> Floats:
        """Scores of every question at one weight, as fractions of one."""
        stretch = int(np.searchsorted(self.firsts, self.breaks.slot(weight), side="right")) - 1
        steps = slice(int(np.searchsorted(self.place, stretch, side="right")))
        scores = self.constant.copy()
        np.add.at(scores, self.owner[steps], self.step[steps])
        found: Floats = (scores / self.scale).astype(np.float64)
        return found


def _blocks(ends: Ints, most: int) -> list[tuple[int, int]]:
    """Cut runs, which end at rising places, into blocks of about `most` items, each of one run at least."""
    found, first = [], 0
    while first < len(ends):
        start = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        found.append((first, last))
        first = last
    return found


def scoresheet(chosen: Pair) -> Scoresheet:
    """Lay out a pair's scores; questions that not both answered score 0 at every weight."""
    breaks, spans, _ = spans_of_batch([chosen])
    scale, tally = spans.common_denominator, chosen.tally
    # A row that the weight does not matter to scores what the primary alone does: nothing, or all.
    settled = (tally.ties[chosen.a] == 1) & tally.by_row(chosen.common)
    settled[spans.row] = False
    constant, question = settled.astype(_type(scale)) * scale, spans.row
    copies = np.ones(1, dtype=constant.dtype)
    if tally.rights is not None:
        constant, question = tally.rights.gather(constant), tally.rights.question.take(spans.row)
        copies = tally.rights.copies.take(spans.row).astype(constant.dtype)
    low, high = spans.low.astype(np.intp), spans.high.astype(np.intp)
    slot = np.concatenate([low, low + 1, high, high + 1])
    begins = np.zeros(breaks.slots + 2, dtype=bool)
    begins[0] = True
    begins[slot] = True
    firsts = np.flatnonzero(begins[: breaks.slots])
    at_low, inside, at_high = (tie_credit(scale * copies, ties.astype(constant.dtype)) for ties in spans.ties)
    wide = low < high
    step = np.concatenate([at_low, (inside - at_low) * wide, (at_high - inside) * wide, -at_high])
    # Steps behind the last stretch never happen, and most others lead nowhere.
    kept = np.flatnonzero((step != 0) & (slot < breaks.slots))
    place = (np.cumsum(begins) - 1)[slot[kept]]
    order = np.argsort(place, kind="stable")
    owner = np.tile(question, 4)[kept][order]
    return Scoresheet(breaks, firsts, constant, place[order], owner, step[kept][order], scale)


def _exact_type(bound: int) -> type[Any]:
    """The type in which whole numbers up to a bound add up without rounding, as fast as can be."""
    return np.float64 if bound < 2**53 else object


def _type(scale: int) -> npt.DTypeLike:
    # Steps are sums of a few scores of one question.
    return np.int32 if scale < 2**27 else np.int64 if scale < 2**59 else object
