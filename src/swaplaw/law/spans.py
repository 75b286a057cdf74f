"""Where the vote of a pair can change, and where gold leads: the one kernel of all that is known at every weight.

With margins D of the primary and E of the secondary, and sample counts N_A and N_B, gold holds against a rival
at weight x exactly when D/N_A + x E/N_B >= 0. That is a lower bound on x, an upper bound, always or never; the
bound is -D N_B / (E N_A), a ratio of small integers. So all bounds that occur are ranked once, exactly, and
curves become look-ups of ranks. Ranks count *slots*: slot 2k is the k-th breakpoint x_k (x_0 = 0), slot 2k + 1 is
the open interval up to the next one, and the last slot has no end.

So gold leads on a single closed interval of weights, a *span*. Inside it the score is 1 over (1 + rivals identical to
gold); at an end that a rival sets, that rival ties too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Ints, alike
from swaplaw.votes.tally import Tally, credits

if TYPE_CHECKING:
    from swaplaw.law.pair import Pair

# Tables of margin pairs up to this size are built whole; beyond it only the margin pairs that occur are ranked.
LARGEST_TABLE = 200_000
# Pairs of few questions are worked out together, up to this many margins: else calls cost more than arithmetic.
BATCH = 2**18


@dataclass(frozen=True)
class Breakpoints:
    """Ranked breakpoints, and for each margin pair that was asked for its bounds as slots."""

    numerators: Ints
    """Breakpoints in rising order, 0 first: numerators[k] / denominators[k]."""
    denominators: Ints
    bounds: Ints
    """(lowest slot, minus highest slot) for each margin pair: both tighten under `maximum`."""

    @property
    def slots(self) -> int:
        """Number of slots, points and intervals together."""
        return 2 * len(self.numerators)

    def look_up(self, codes: Ints) -> Ints:
        """Bounds of margin pairs by their place in `bounds`."""
        # Both bounds travel as one word: a single gather instead of two.
        word = np.int32 if self.bounds.dtype == np.int16 else np.int64
        return self.bounds.view(word)[:, 0].take(codes).view(self.bounds.dtype).reshape(-1, 2)

    @cached_property
    def weights(self) -> list[Fraction]:
        """The breakpoints as fractions."""
        return [Fraction(int(a), int(b)) for a, b in zip(self.numerators, self.denominators, strict=True)]

    def slot(self, weight: Fraction) -> int:
        """The slot that a weight falls into."""
        point = bisect_right(self.weights, weight) - 1
        return 2 * point + (self.weights[point] != weight)

    def between(self, first: int, last: int) -> tuple[Fraction, Fraction | None]:
        """The weights at which a run of slots begins and ends, None where it has no end."""
        following = (last + 1) // 2
        return self.weights[first // 2], self.weights[following] if following < len(self.weights) else None


def breakpoints(D: Ints, E: Ints, samples_a: Ints | int, samples_b: Ints | int) -> Breakpoints:
    """Rank the breakpoints of margin pairs (D, E); see the module's text for the bounds."""
    crossing = (D.astype(np.int64) * E) < 0
    top = np.where(crossing, np.abs(D.astype(np.int64)) * samples_b, 0)
    bottom = np.where(crossing, np.abs(E.astype(np.int64)) * samples_a, 1)
    keys, first, rank = np.unique(
        np.concatenate([[0], _order_keys(top, bottom)]), return_index=True, return_inverse=True
    )
    top, bottom = np.concatenate([[0], top])[first], np.concatenate([[1], bottom])[first]
    shared = np.gcd(top, bottom)
    slot, end = 2 * rank[1:], 2 * len(keys)
    # D = 0 < E ties at x = 0 alone, D = 0 > E holds at x = 0 alone; both zero is a tie everywhere, no bound.
    low = np.select([(D < 0) & (E > 0), (D < 0), (D == 0) & (E > 0)], [slot, end + 1, 0], default=-1)
    high = np.select([(D > 0) & (E < 0), (D == 0) & (E < 0)], [slot, 0], default=end)
    narrow = np.int16 if end + 1 < 2**15 else np.int32
    return Breakpoints(top // shared, bottom // shared, np.stack([low, -high], axis=-1).astype(narrow))


def _order_keys(top: Ints, bottom: Ints) -> Ints:
    """Whole numbers in the order of top / bottom, equal only where the ratios are.

    Two different ratios with denominators below 2^b differ by more than 2^-2b, so scaling by 2^2b parts their floors.
    """
    shift = 2 * int(bottom.max(initial=1)).bit_length()
    if int(top.max(initial=0)).bit_length() + shift > 62:
        top, bottom = top.astype(object), bottom.astype(object)
    return (top << shift) // bottom


@lru_cache(maxsize=64)
def table(samples_a: int, samples_b: int) -> Breakpoints:
    """Rank the breakpoints of every possible margin pair of models with even sample counts.

    The bounds of (D, E) stand at D * (2 N_B + 1) + E, counted from the end where that is negative.
    """
    stride = 2 * samples_b + 1
    code = np.arange(stride * (2 * samples_a + 1))
    middle = len(code) // 2
    D, E = np.divmod(np.roll(code, -middle) - middle + samples_b, stride)
    return breakpoints(D, E - samples_b, samples_a, samples_b)


@dataclass(frozen=True)
class Spans:
    """For each row (see `votes.tally`) that the weight matters to, the slots in which gold is in the tie set."""

    row: Ints
    """Which of the rows."""
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
        return self.common_denominators(np.zeros_like(self.row), 1)[0]

    def common_denominators(self, owner: Ints, owners: int) -> list[int]:
        """The same for each owner of spans."""
        sizes = max(int(ties.max(initial=0)) for ties in self.ties) + 1
        found = np.zeros(owners * sizes, dtype=bool)
        for ties in self.ties:
            found |= np.bincount(owner * sizes + ties, minlength=len(found)) > 0
        return [lcm(*map(int, np.flatnonzero(own))) for own in found.reshape(owners, sizes)]

    @property
    def ties(self) -> tuple[Ints, Ints, Ints]:
        """All three tie sizes."""
        return self.at_low, self.inside, self.at_high


def batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Gather neighbouring pairs that share a table of breakpoints, up to `BATCH` margins."""
    batch: list[Pair] = []
    for chosen in pairs:
        if batch and not (_share_table(batch[0], chosen) and len(batch) * len(chosen.tally.rivals.question) < BATCH):
            yield batch
            batch = []
        batch.append(chosen)
    if batch:
        yield batch


def _share_table(first: Pair, other: Pair) -> bool:
    return first.tally is other.tally and _table_of(first) == _table_of(other) is not None


def _table_of(chosen: Pair) -> tuple[int, int] | None:
    """The sample counts that a pair's table of breakpoints belongs to; None where they are ragged or very large."""
    samples_a, samples_b = chosen.tally.samples[chosen.a], chosen.tally.samples[chosen.b]
    if not (samples_a and samples_b) or (2 * samples_a + 1) * (2 * samples_b + 1) > LARGEST_TABLE:
        return None
    return samples_a, samples_b


def spans_of_batch(batch: Sequence[Pair]) -> tuple[Breakpoints, Spans, Ints]:
    """Intersect the bounds that the rivals of each row set; also, which pair of the batch each span belongs to."""
    tally = batch[0].tally
    rivals = tally.rivals
    column, owner = _unsettled(batch)
    rows = rivals.rows.only(column)
    breaks, codes, tied = _rank_margins(batch, column, owner)
    bounds = breaks.look_up(codes)
    tightest = rows.maximum(bounds, -breaks.slots)
    binds_low, binds_high = rows.count_equal(bounds, tightest).T
    inside = 1 + rows.count_equal(codes, tied)
    low, high = tightest[:, 0], -tightest[:, 1]
    first, last = np.maximum(low, 0), np.minimum(high, breaks.slots - 1)
    # Gold that the primary never names cannot win before the secondary speaks.
    row = rivals.order.take(column)
    names_gold = (tally.gold[[getattr(one, member) for one in batch]] > 0 for member in ("a", "b"))
    in_a, in_b = (named.reshape(-1).take(owner * len(rivals.order) + row) for named in names_gold)
    first = np.maximum(first, ~in_a)
    # An end that no rival sets (-1 below, `slots` above) has no rival to tie with.
    set_low, set_high = binds_low * (low == first), binds_high * (high < breaks.slots)
    at_low = inside + set_low + set_high * (last == first)
    at_high = inside + set_high + set_low * (last == first)
    facts = [row, first, last, at_low, inside, at_high, owner]
    leads = (first <= last) & (in_a | in_b)
    if not leads.all():
        facts = [fact[leads] for fact in facts]
    return breaks, Spans(*facts[:6]), facts[6]


def own_scores(tally: Tally, batch: Sequence[Pair], owner: Ints, row: Ints, credit: Ints) -> tuple[Ints, Ints]:
    """What the members of each span's pair score alone: on its row, and on its question (each members x spans).

    `credit` is that of ties by their size.
    """
    place = np.array([(chosen.a, chosen.b) for chosen in batch]).T.take(owner, axis=1)
    on_row = credit.take(tally.ties.reshape(-1).take(place * len(tally.rivals.order) + row))
    if tally.rights is None:
        return on_row, on_row
    scores = tally.rights.gather(credit.take(tally.ties))
    return on_row, scores.reshape(-1).take(place * len(tally.questions) + tally.rights.question.take(row))


def _unsettled(batch: Sequence[Pair]) -> tuple[Ints, Ints]:
    """The rows that the weight may matter to: their columns among the rivals, rising, and their pairs.

    Where both models' votes lead to gold alone, it wins at every weight; where one rival beats gold in the primary's
    votes and is not behind in the secondary's, gold never wins. Either way the vote scores what the primary does.
    """
    tally = batch[0].tally
    settled = np.empty((len(batch), len(tally.rivals.order)), dtype=bool)
    for row, chosen in zip(settled, batch, strict=True):
        (least_a, rival_a), (least_b, rival_b) = tally.strongest(chosen.a), tally.strongest(chosen.b)
        np.greater(np.minimum(least_a, least_b), 0, out=row)
        if len(tally.rivals.question):
            row |= np.maximum(least_a + 1, tally.margins(chosen.b).take(rival_a)) <= 0
            row |= np.maximum(least_b - 1, tally.margins(chosen.a).take(rival_b)) < 0
        if chosen.n < chosen.of:
            row |= ~tally.by_row(chosen.common).take(tally.rivals.order)
    place = np.flatnonzero(~settled.T.reshape(-1))
    column = place // len(batch)
    return column, place - column * len(batch)


def _rank_margins(batch: Sequence[Pair], column: Ints, owner: Ints) -> tuple[Breakpoints, Ints, Ints]:
    """The breakpoints, each rival's place among their bounds, and each row's place of a tie at every weight.

    Places are those in the table of all margin pairs, or, where that would be large, among the pairs that occur.
    """
    chosen, tally = batch[0], batch[0].tally
    if counts := _table_of(chosen):
        breaks, stride = table(*counts), 2 * counts[1] + 1
        codes = np.empty((len(batch), len(tally.rivals.question)), np.int16 if len(breaks.bounds) < 2**16 else np.int32)
        for row, one in zip(codes, batch, strict=True):
            np.multiply(tally.margins(one.a), stride, out=row, dtype=row.dtype)
            row += tally.margins(one.b)
        taken = tally.rivals.rows.take(codes, column, owner)
        return breaks, taken, np.zeros(len(column), dtype=codes.dtype)
    pair = chosen.a, chosen.b
    per_rival = (tally.votes[model].astype(np.int64).take(tally.rivals.question) for model in pair)
    facts = np.stack([tally.rivals.rows.take(fact, column) for fact in (*map(tally.margins, pair), *per_rival)])
    # A margin pair (0, 0) for each row stands for its ties.
    row = tally.rivals.order.take(column)
    own = [tally.by_row(tally.votes[model]).astype(np.int64).take(row) for model in pair]
    level = np.stack([np.zeros_like(own[0]), np.zeros_like(own[0]), *own])
    every = np.concatenate([facts, level], axis=1).astype(np.int64)
    which, first = alike(every)
    return breakpoints(*every[:, first]), which[: facts.shape[1]], which[facts.shape[1] :]


def sum_over_slots(
    spans: Spans,
    weights: Ints,
    credit: int,
    slots: int,
    owner: Ints | None = None,
    owners: int = 1,
    base: Ints | None = None,
) -> Ints:
    """Sum (P_x - base) times cell weight over questions, in every slot: owners x cells x slots.

    Steps where spans begin and end, then a running sum. Scores, and `base` for each span (by default 0), are in units
    of 1/credit. Spans may belong to several owners, numbered from 0.
    """
    cells, number = weights.shape
    entry = np.flatnonzero(weights != 0)
    cell = entry // max(number, 1)
    span = entry - cell * number
    weight = weights.take(entry)
    worth = credits(credit, max(int(ties.max(initial=0)) for ties in spans.ties), weights.dtype)
    at_low, inside, at_high = (worth.take(ties).take(span) * weight for ties in spans.ties)
    low, high = spans.low.take(span), spans.high.take(span)
    wide = low < high
    start = (cell if owner is None else owner.take(span) * cells + cell) * (slots + 1)
    steps = np.zeros((owners, cells, slots + 1), dtype=weights.dtype)
    np.add.at(
        steps.reshape(-1),
        np.concatenate([start + low, start + low + 1, start + high, start + high + 1]),
        np.concatenate([at_low, (inside - at_low) * wide, (at_high - inside) * wide, -at_high]),
    )
    if base is not None:
        np.subtract.at(steps.reshape(-1), start, base.take(span) * weight)
    return np.cumsum(steps, axis=2)[:, :, :-1]


def scores_in(spans: Spans, slots: Sequence[int], credit: int, dtype: npt.DTypeLike) -> Ints:
    """The vote's scores in some slots, times `credit`: slots x spans."""
    worth = credits(credit, max(int(ties.max(initial=0)) for ties in spans.ties), dtype)
    slot = np.array(slots)[:, None]
    at_low, inside, at_high = (worth.take(ties) for ties in spans.ties)
    scores = np.where(slot == spans.low, at_low, np.where(slot == spans.high, at_high, inside))
    leads = (slot >= spans.low) & (slot <= spans.high)
    found: Ints = np.where(leads, scores, 0)
    return found
