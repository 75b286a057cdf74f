"""Where gold leads: for each question of a pair, the weights at which it is in the tie set, and the tie's size there.

Gold holds against each rival where an inequality linear in the weight does, so it leads on a single closed interval.
Inside it the score is 1 over (1 + rivals identical to gold); at an end that a rival sets, that rival ties too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

import numpy as np

from swaplaw.breakpoints import Breakpoints, breakpoints, table
from swaplaw.pair import Pair
from swaplaw.rows import Ints, Rows

# Tables of margin pairs up to this size are built whole; beyond it only the margin pairs that occur are ranked.
LARGEST_TABLE = 200_000


@dataclass(frozen=True)
class Spans:
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
    def common_denominator(self) -> int:
        """Smallest common denominator of the scores."""
        return lcm(*(int(size) for size in np.flatnonzero(np.bincount(np.concatenate(self.ties)))))

    @property
    def ties(self) -> tuple[Ints, Ints, Ints]:
        """All three tie sizes."""
        return self.at_low, self.inside, self.at_high


def spans_of(chosen: Pair) -> tuple[Breakpoints, Spans]:
    """Intersect the bounds that the rivals of each question set."""
    rivals = chosen.tally.rivals
    column = _unsettled(chosen)
    question, rows = rivals.order.take(column), rivals.rows.only(column)
    breaks, codes, tied = _rank_margins(chosen, column, rows)
    bounds = breaks.look_up(codes)
    tightest = rows.maximum(bounds, -breaks.slots)
    binds_low, binds_high = rows.count_equal(bounds, tightest).T
    inside = 1 + rows.count_equal(codes, tied)
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
    return breaks, Spans(*spans) if leads.all() else Spans(*(fact[leads] for fact in spans))


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


def _rank_margins(chosen: Pair, column: Ints, rows: Rows) -> tuple[Breakpoints, Ints, Ints]:
    """The breakpoints, each rival's place among their bounds, and each question's place of a tie at every weight.

    Places are those in the table of all margin pairs, or, where that would be large, among the pairs that occur.
    """
    tally = chosen.tally
    D, E = tally.margins(chosen.a), tally.margins(chosen.b)
    samples_a, samples_b = tally.samples[chosen.a], tally.samples[chosen.b]
    if samples_a and samples_b and (2 * samples_a + 1) * (2 * samples_b + 1) <= LARGEST_TABLE:
        breaks = table(samples_a, samples_b)
        wide = D if len(breaks.bounds) < 2**16 else D.astype(np.int32)
        codes = tally.rivals.rows.take(wide * (2 * samples_b + 1) + E, column)
        return breaks, codes, np.zeros(rows.columns, dtype=codes.dtype)
    counts = (tally.votes[model].astype(np.int64).take(tally.rivals.question) for model in (chosen.a, chosen.b))
    facts = np.stack([tally.rivals.rows.take(fact, column) for fact in (D, E, *counts)])
    # A margin pair (0, 0) for each question stands for its ties.
    own = [tally.votes[model].astype(np.int64).take(tally.rivals.order.take(column)) for model in (chosen.a, chosen.b)]
    level = np.stack([np.zeros_like(own[0]), np.zeros_like(own[0]), *own])
    occurring, which = np.unique(np.concatenate([facts, level], axis=1), axis=1, return_inverse=True)
    return breakpoints(*occurring), which[: facts.shape[1]], which[facts.shape[1] :]


def sum_over_slots(spans: Spans, weights: Ints, credit: int, slots: int) -> Ints:
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
