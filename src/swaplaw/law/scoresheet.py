"""The scoresheet of a pair: every question's score at every weight, laid out once so that any subset can be summed.

A choice made on part of the questions (a fold's training part, a bootstrap draw) needs the lift curve of that part.
Each question's score is constant between the weights at which its own vote changes (see `curve`), so over all
questions the half-line of weights falls into *stretches* on which no question changes. One matrix, stretches x
questions, then holds all there is to know: the curve of any subset is a sum of its columns, and the curves of many
subsets are one matrix product. No vote is pooled again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.law.breakpoints import Breakpoints
from swaplaw.law.pair import Pair
from swaplaw.law.weights import simplest_between
from swaplaw.law.winning_spans import Spans, spans_of


@dataclass(frozen=True)
class Scoresheet:
    """Scores of one pair. Stretches come in rising order of weight; the first begins at x = 0."""

    breaks: Breakpoints = field(repr=False)
    firsts: Ints = field(repr=False)
    """The first slot of each stretch (see `breakpoints`)."""
    values: Floats = field(repr=False)
    """Scores times `scale`, stretches x questions: whole numbers, or expectations where votes were drawn."""
    scale: int
    """What the values are multiples of: scores are values / scale."""

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
        return exact_product(np.asarray(parts), self.values.T, self.scale)

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
        found: Floats = (self.values[stretch] / self.scale).astype(np.float64)
        return found


def scoresheet(chosen: Pair) -> Scoresheet:
    """Lay out a pair's scores; questions that not both answered score 0 at every weight."""
    breaks, spans = spans_of(chosen)
    scale = spans.common_denominator
    names = np.flatnonzero(chosen.common)
    # A question that the weight does not matter to scores what the primary alone does: nothing, or all.
    settled = chosen.alone[0].ties == 1
    settled[spans.question] = False
    constant = np.zeros(chosen.of, dtype=_type(scale))
    constant[names] = settled.astype(constant.dtype) * scale
    return lay_out(breaks, spans, names[spans.question], scale, constant)


def lay_out(
    breaks: Breakpoints, spans: Spans, owner: Ints, scale: int, constant: Floats, share: Floats | None = None
) -> Scoresheet:
    """Spread spans over stretches: steps where they begin and end, then a running sum.

    `owner` is the question of each span, `constant` what each question scores besides, `share` the part of its
    question that a span stands for (the probability of a draw; by default all of it).
    """
    low, high = spans.low, spans.high
    firsts = np.unique(np.concatenate([[0], low, low + 1, high, high + 1]))
    firsts = firsts[firsts < breaks.slots]
    at_low, inside, at_high = (
        scale // ties.astype(constant.dtype) if share is None else scale * share / ties for ties in spans.ties
    )
    wide = low < high
    steps = np.zeros((len(firsts) + 1, len(constant)), dtype=constant.dtype)
    steps[0] = constant
    place = [np.searchsorted(firsts, slot) for slot in (low, low + 1, high, high + 1)]
    np.add.at(
        steps.reshape(-1),
        np.concatenate(place) * len(constant) + np.tile(owner, 4),
        np.concatenate([at_low, (inside - at_low) * wide, (at_high - inside) * wide, -at_high]),
    )
    # Row by row: NumPy's running sum down the columns takes five times as long, and twice the room.
    for before, row in pairwise(steps):
        row += before
    return Scoresheet(breaks, firsts, steps[:-1], scale)


def exact_product(
    parts: npt.NDArray[Any], values: npt.NDArray[Any], largest: int, terms: int | None = None
) -> npt.NDArray[Any]:
    """Sum values, none above `largest`, over parts: without rounding, and as floats where these hold the sums.

    `terms` is how many summands a float has to hold, if there are more than these.
    """
    bound = (terms or parts.shape[-1]) * int(parts.max(initial=0)) * largest
    whole = np.float32 if bound < 2**24 else np.float64 if bound < 2**53 else object
    dtype: npt.DTypeLike = np.float64 if values.dtype.kind == "f" else whole
    sums: npt.NDArray[Any] = parts.astype(dtype) @ values.astype(dtype)
    return sums


def _type(scale: int) -> npt.DTypeLike:
    # Steps are sums of a few scores of one question.
    return np.int32 if scale < 2**27 else np.int64 if scale < 2**59 else object
