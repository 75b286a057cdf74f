"""The exact lift curve of a pair: lift, swap mass and their four contributions at every real weight x >= 0.

On one question the weights for which gold is in the tie set form a single closed interval, because gold holds
against each rival when an inequality linear in x does. Inside it the score is 1 over (1 + rivals identical to gold);
at an end that a rival sets, that rival ties too. So the whole curve is n intervals with credit at their ends,
summed over slots (see `breakpoints`): points and open intervals in turn, exact, and cheaper than a grid.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from math import lcm

import numpy as np

from swaplaw.breakpoints import Breakpoints, breakpoints, table
from swaplaw.pair import Masses, Outcome, Pair, pair, pairs
from swaplaw.rows import Ints, Rows
from swaplaw.tally import Tally
from swaplaw.weights import PAPER_GRID, as_weight, simplest_between

# Tables of margin pairs up to this size are built whole; beyond it only the margin pairs that occur are ranked.
LARGEST_TABLE = 200_000


@dataclass(frozen=True)
class Piece:
    """A stretch of weights with one outcome: a point (lo = hi) or the open interval between (hi None: no end)."""

    lo: Fraction
    hi: Fraction | None
    outcome: Outcome = field(repr=False)
    """The outcome at the piece's simplest weight, and so at all of its weights."""

    @property
    def is_point(self) -> bool:
        """Whether the piece is a single weight."""
        return self.lo == self.hi

    @property
    def lift(self) -> Fraction:
        """Lift at every weight of the piece."""
        return self.outcome.lift

    @property
    def swap(self) -> Fraction:
        """Swap mass at every weight of the piece."""
        return self.outcome.swap


@dataclass(frozen=True)
class Optimum:
    """A best weight, and the range lo to hi of weights that are equally good (hi None: no end)."""

    weight: Fraction
    lo: Fraction
    hi: Fraction | None
    outcome: Outcome = field(repr=False)

    @property
    def fragile(self) -> bool:
        """Whether the optimum is an isolated point: the slightest change of weight loses it (0 is safe to deploy)."""
        return self.lo == self.hi and self.weight != 0

    @property
    def lift(self) -> Fraction:
        """Lift at the weight."""
        return self.outcome.lift

    @property
    def swap(self) -> Fraction:
        """Swap mass at the weight."""
        return self.outcome.swap


@dataclass(frozen=True)
class Curve:
    """Lift and its four contributions of one pair for every weight."""

    primary: str
    secondary: str
    n: int
    of: int
    masses: Masses = field(repr=False)
    breaks: Breakpoints = field(repr=False)
    contributions: Ints = field(repr=False)
    """Gain of each cell (in the order of `pair.KINDS`) in each slot, times `denominator`."""
    denominator: int = field(repr=False)

    def at(self, weight: str | float | Fraction) -> Outcome:
        """Look the outcome up at any weight."""
        x = as_weight(weight)
        return self._outcome(self._slot(x), x)

    def grid(self, weights: Sequence[str | float | Fraction] = PAPER_GRID) -> list[Outcome]:
        """Look the outcome up at each weight of a grid; the paper's 25 points by default."""
        return [self.at(weight) for weight in weights]

    @cached_property
    def pieces(self) -> list[Piece]:
        """Points and open intervals in turn, tiling [0, inf), without points at which nothing changes."""
        columns = self.contributions
        steps = np.flatnonzero((columns[:, 1:] != columns[:, :-1]).any(axis=0))
        # A change into or out of slot 2k makes breakpoint k a point of the curve; 0 always is one.
        kept = np.unique(np.concatenate([[0], (steps + 1) // 2]))
        pieces = []
        for here, following in zip(kept, [*kept[1:], None], strict=True):
            lo = self.breaks.weights[here]
            hi = None if following is None else self.breaks.weights[following]
            pieces.append(Piece(lo, lo, self._outcome(2 * here, lo)))
            pieces.append(Piece(lo, hi, self._outcome(2 * here + 1, simplest_between(lo, hi))))
        return pieces

    @cached_property
    def lifts(self) -> Ints:
        """Lift in each slot, times `denominator`."""
        total: Ints = self.contributions.sum(axis=0)
        return total

    @cached_property
    def swaps(self) -> Ints:
        """Swap mass in each slot, times `denominator`."""
        total: Ints = self.contributions[:2].sum(axis=0)
        return total

    @cached_property
    def best_lift(self) -> Optimum:
        """The best lift over all weights; of equally good ranges the one with the smallest weights."""
        return self._around(int(self.lifts.argmax()), self.lifts)

    @cached_property
    def best_plateau(self) -> Optimum:
        """The best lift that a whole open interval of weights shares, and the simplest weight inside it."""
        return self._around(2 * int(self.lifts[1::2].argmax()) + 1, self.lifts)

    @cached_property
    def best_swap(self) -> Optimum:
        """The paper's rule: the largest swap mass, at the smallest weight that has it."""
        slot = int(self.swaps.argmax())
        best = self._around(slot, self.swaps)
        # An open interval has no smallest weight: take the simplest of the stretch that begins there.
        smallest = (
            self.breaks.weights[slot // 2] if slot % 2 == 0 else self._around(slot, self.swaps, self.lifts).weight
        )
        return Optimum(smallest, best.lo, best.hi, self.at(smallest))

    def _around(self, slot: int, *values: Ints) -> Optimum:
        """Widen a slot to the neighbouring slots with the same values, and take the simplest weight inside."""
        other = np.flatnonzero(reduce(np.logical_or, (value != value[slot] for value in values)))
        place = int(np.searchsorted(other, slot))
        first = int(other[place - 1]) + 1 if place > 0 else 0
        last = int(other[place]) - 1 if place < len(other) else len(self.lifts) - 1
        lo, hi = self.breaks.weights[first // 2], self._end(last)
        weight = lo if lo == hi else simplest_between(lo, hi)
        return Optimum(weight, lo, hi, self.at(weight))

    def _end(self, slot: int) -> Fraction | None:
        """The weight at which a slot ends, None for the last."""
        following = (slot + 1) // 2
        return self.breaks.weights[following] if following < len(self.breaks.weights) else None

    def _slot(self, x: Fraction) -> int:
        """The slot that a weight falls into."""
        point = bisect_right(self.breaks.weights, x) - 1
        return 2 * point + (self.breaks.weights[point] != x)

    def _outcome(self, slot: int, weight: Fraction) -> Outcome:
        rescued, damaged, repaired, corrupted = (
            Fraction(int(gain), self.denominator) for gain in self.contributions[:, slot]
        )
        return Outcome(weight, self.masses, rescued, -damaged, repaired, -corrupted)


def curve(tally: Tally, primary: str, secondary: str) -> Curve:
    """Compute the exact curve of two models, as primary and secondary as given."""
    return curve_of(pair(tally, primary, secondary))


def curves(tally: Tally) -> Iterator[Curve]:
    """Compute the exact curve of every pair, the more accurate model as primary."""
    return map(curve_of, pairs(tally))


def curve_of(chosen: Pair) -> Curve:
    """Compute the exact curve of a pair."""
    breaks, spans = _spans(chosen)
    weights, scale = chosen.cells(spans.question)
    own = chosen.alone[0]
    credit = lcm(*_distinct(spans.ties))
    denominator = scale * credit * own.denominator * chosen.n
    # Sums over questions stay below the denominator, and each step of a running sum below twice that.
    weights = weights.astype(np.int64 if denominator < 2**61 else object)
    pooled = _sum_over_slots(spans, weights, credit, breaks.slots)
    # Gains are over the primary: P_x - ok_A, weighted by cell, on one denominator.
    without = weights @ own.numerators.take(spans.question) * credit
    gains = pooled * own.denominator - without[:, None]
    return Curve(chosen.primary, chosen.secondary, chosen.n, chosen.of, chosen.masses, breaks, gains, denominator)


@dataclass(frozen=True)
class _Spans:
    """For each question that the weight matters to, the slots in which gold is in the tie set."""

    question: Ints
    """Which of the common questions."""
    low: Ints
    high: Ints
    """First and last slot in which gold leads or ties."""
    at_low: Ints
    inside: Ints
    at_high: Ints
    """Tie sizes at the low end, inside, and at the high end."""

    @property
    def ties(self) -> tuple[Ints, Ints, Ints]:
        """All three tie sizes."""
        return self.at_low, self.inside, self.at_high


def _spans(chosen: Pair) -> tuple[Breakpoints, _Spans]:
    """Intersect the bounds that the rivals of each question set."""
    rivals = chosen.tally.rivals
    column = _unsettled(chosen)
    rows = rivals.rows.only(column)
    D, E = (rivals.rows.take(chosen.tally.margins(model), column) for model in (chosen.a, chosen.b))
    question = rivals.order.take(column)
    breaks, bounds = _rank_margins(chosen, rows, question, D, E)
    tightest = rows.maximum(bounds, -breaks.slots)
    binds_low, binds_high = rows.count_equal(bounds, tightest).T
    inside = 1 + rows.count_zero(D | E)
    low, high = tightest[:, 0], -tightest[:, 1]
    first, last = np.maximum(low, 0), np.minimum(high, breaks.slots - 1)
    # An end that no rival sets (-1 below, `slots` above) has no rival to tie with.
    set_low, set_high = binds_low * (low >= 0), binds_high * (high < breaks.slots)
    at_low = inside + set_low + set_high * (last == first)
    at_high = inside + set_high + set_low * (last == first)
    if chosen.n < chosen.of:
        question = (np.cumsum(chosen.common) - 1).take(question)
    spans = (question, first, last, at_low, inside, at_high)
    leads = first <= last
    return breaks, _Spans(*spans) if leads.all() else _Spans(*(fact[leads] for fact in spans))


def _unsettled(chosen: Pair) -> Ints:
    """The rivals' columns of the questions that the weight may matter to.

    Where both models' votes lead to gold alone, it wins at every weight; where one rival beats gold in the primary's
    votes and is not behind in the secondary's, gold never wins. Either way the vote scores what the primary does.
    """
    tally = chosen.tally
    (least_a, rival_a), (least_b, rival_b) = tally.strongest(chosen.a), tally.strongest(chosen.b)
    settled = (least_a > 0) & (least_b > 0)
    if len(tally.rivals.question):
        settled |= (least_a < 0) & (tally.margins(chosen.b).take(rival_a) <= 0)
        settled |= (least_b <= 0) & (tally.margins(chosen.a).take(rival_b) < 0)
    if chosen.n < chosen.of:
        settled |= ~chosen.common.take(tally.rivals.order)
    return np.flatnonzero(~settled)


def _rank_margins(chosen: Pair, rows: Rows, question: Ints, D: Ints, E: Ints) -> tuple[Breakpoints, Ints]:
    """Bounds of every rival as slots: from the table of all margin pairs, or by ranking those that occur."""
    samples_a, samples_b = (chosen.tally.samples[model] for model in (chosen.a, chosen.b))
    if samples_a and samples_b and (2 * samples_a + 1) * (2 * samples_b + 1) <= LARGEST_TABLE:
        breaks = table(samples_a, samples_b)
        narrow = D.astype(np.int16 if len(breaks.bounds) < 2**16 else np.int32)
        return breaks, breaks.look_up(narrow * (2 * samples_b + 1) + E)
    own = question.take(rows.owner)
    counts = [chosen.tally.votes[model].astype(np.int64).take(own) for model in (chosen.a, chosen.b)]
    occurring, which = np.unique(np.stack([D, E, *counts]), axis=1, return_inverse=True)
    breaks = breakpoints(*occurring)
    return breaks, breaks.look_up(which)


def _distinct(ties: Sequence[Ints]) -> list[int]:
    """Sizes that occur among the ties."""
    return [int(size) for size in np.flatnonzero(np.bincount(np.concatenate(ties)))]


def _sum_over_slots(spans: _Spans, weights: Ints, credit: int, slots: int) -> Ints:
    """Sum P_x times cell weight over questions in every slot: steps where spans begin and end, then a running sum.

    Scores are in units of 1/credit.
    """
    entry = np.flatnonzero(weights)
    cell, question = np.divmod(entry, max(weights.shape[1], 1))
    weight = weights.take(entry)
    low, high = spans.low.take(question), spans.high.take(question)
    at_low, inside, at_high = (credit // ties.take(question).astype(weights.dtype) * weight for ties in spans.ties)
    wide = low < high
    steps = np.zeros((len(weights), slots + 1), dtype=weights.dtype)
    start = cell * (slots + 1)
    np.add.at(
        steps.reshape(-1),
        np.concatenate([start + low, start + low + 1, start + high, start + high + 1]),
        np.concatenate([at_low, (inside - at_low) * wide, (at_high - inside) * wide, -at_high]),
    )
    return np.cumsum(steps, axis=1)[:, :-1]
