"""What would fewer samples have said? Votes drawn without replacement from those at hand.

Drawing a of a model's N votes on a question follows the multivariate hypergeometric distribution. Where the members
together can draw few different ballots, all are listed with their probabilities, and expectations are exact;
elsewhere ballots are drawn at random from a seed. Either way the result is a tally whose "questions" are ballots, so
every score of a ballot is as exact as any other vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from math import comb
from typing import Any

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw._core.ragged import Rows
from swaplaw.errors import InputError, quote
from swaplaw.law.breakpoints import Breakpoints
from swaplaw.law.mixtures import Line, mixed
from swaplaw.law.pair import Pair
from swaplaw.law.plurality import vote
from swaplaw.law.scoresheet import DIGITS, Scoresheet, lay_out
from swaplaw.law.winning_spans import Spans, spans_of
from swaplaw.votes.tally import Rivals, Tally

LARGEST_BATCH = 400_000
FEWEST, MOST = 50, 1_000
"""Ballots a question: as many as make the largest batch, between these."""


@dataclass(frozen=True)
class Draws:
    """Ballots of some members: possible ones with their probabilities, or a random few where there are too many."""

    tally: Tally = field(repr=False)
    """The members' votes on each ballot."""
    owner: Ints = field(repr=False)
    """The question that each ballot answers."""
    share: Floats = field(repr=False)
    """The probability of each ballot among those of its question."""
    exact: Bools = field(repr=False)
    """Which questions have all possible ballots listed."""

    def sheet(self, mix: tuple[int, ...] = (1,)) -> Scoresheet:
        """Expected scores at every weight of the other members, which share it in a mix."""
        if len(mix) == 1:
            breaks, spans, settled = self._pooled
        else:
            breaks, spans, settled = _pooled(mixed(self.tally, Line(tuple(range(len(mix) + 1)), mix)))
        constant = self._expected(settled.astype(np.float64))
        return lay_out(breaks, spans, self.owner[spans.question], 1, constant, self.share[spans.question])

    @cached_property
    def _pooled(self) -> tuple[Breakpoints, Spans, Bools]:
        """Where gold leads on the ballots of two members."""
        return _pooled(self.tally)

    def scores(self, weights: Sequence[Fraction]) -> tuple[Floats, float]:
        """Expected score of each question at these weights, and the standard error of their mean from drawing."""
        values = self._values(weights)
        mean, square = self._expected(values), self._expected(values**2)
        ballots = np.bincount(self.owner, minlength=len(self.exact))
        spread = np.where(self.exact, 0, np.maximum(square - mean**2, 0) / np.maximum(ballots - 1, 1))
        return np.round(mean, DIGITS), float(np.sqrt(spread.sum()) / len(self.exact))

    def _values(self, weights: Sequence[Fraction]) -> Floats:
        """The score of each ballot."""
        if len(weights) == 2 and weights[0] == 1:
            breaks, spans, settled = self._pooled
            values = settled.astype(np.float64)
            values[spans.question] = spans.scores(breaks.slot(weights[1]))
            return values
        pooled = vote(self.tally, range(len(weights)), weights)
        return np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)

    def _expected(self, values: Floats) -> Floats:
        return np.bincount(self.owner, self.share * values, minlength=len(self.exact)).astype(np.float64)


def _pooled(tally: Tally) -> tuple[Breakpoints, Spans, Bools]:
    """Where gold leads in the votes of the first two models, and where it does at every weight."""
    chosen = Pair(tally, 0, 1)
    breaks, spans = spans_of(chosen)
    settled = chosen.alone[0].ties == 1
    settled[spans.question] = False
    return breaks, spans, settled


def draw(
    tally: Tally, members: Sequence[int], samples: Sequence[int | Ints], *, seed: int = 0, ballots: int | None = None
) -> Draws:
    """Draw some of each member's votes on every question (a number, or one for each question)."""
    sizes = _sizes(tally, members, samples)
    limit = _limit(tally, ballots)
    boxes = list(zip(ballot_boxes(tally, members), map(tuple, sizes.T.tolist()), strict=True))
    blocks = [_all_ballots(*box) if _number(*box, limit) <= limit else None for box in boxes]
    at_random = [box for box, block in zip(boxes, blocks, strict=True) if block is None]
    drawn = iter(_at_random(at_random, limit, np.random.default_rng([seed, limit])))
    return _assemble(tally, members, sizes, [block or next(drawn) for block in blocks])


def _sizes(tally: Tally, members: Sequence[int], samples: Sequence[int | Ints]) -> Ints:
    sizes = np.stack([np.broadcast_to(np.asarray(number), len(tally.questions)) for number in samples])
    _check(tally, members, sizes)
    return sizes


def _limit(tally: Tally, ballots: int | None) -> int:
    return ballots or int(np.clip(LARGEST_BATCH // len(tally.questions), FEWEST, MOST))


@dataclass(frozen=True)
class Shuffled:
    """All votes on every question in random order, many times over: the first few are a random draw.

    One shuffle serves every number of samples, so comparing many of them draws nothing again, and what they have in
    common is the same luck.
    """

    tally: Tally = field(repr=False)
    seed: int = 0
    ballots: int | None = None
    _kept: dict[tuple[int, ...], list[_Boxes]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def boxes(self) -> list[_Boxes]:
        """Each question's counts of all models."""
        return list(ballot_boxes(self.tally, range(len(self.tally.models))))

    @cached_property
    def orders(self) -> list[Ints]:
        """Categories of each model's votes (gold is 0) in random order: votes x questions x ballots."""
        rng = np.random.default_rng([self.seed, _limit(self.tally, self.ballots)])
        return [self._shuffled(model, rng) for model in range(len(self.tally.models))]

    @cached_property
    def _width(self) -> int:
        """The most categories of a question."""
        return max(len(boxes[0]) for boxes in self.boxes)

    def _shuffled(self, model: int, rng: np.random.Generator) -> Ints:
        number, most = _limit(self.tally, self.ballots), int(self.tally.votes[model].max(initial=0))
        orders = np.zeros((most, len(self.boxes), number), dtype=np.min_scalar_type(self._width))
        for question, boxes in enumerate(self.boxes):
            votes = np.repeat(np.arange(len(boxes[model]), dtype=orders.dtype), boxes[model])
            # Votes that were not cast come last: nobody draws them.
            keys = rng.random((number, len(votes)), dtype=np.float32)
            orders[: len(votes), question] = votes.take(keys.argsort(axis=1)).T
        return orders

    @cached_property
    def _possible(self) -> list[Ints]:
        """How many different ballots of each size every model can give: questions x sizes, counted up to the limit."""
        limit = _limit(self.tally, self.ballots)
        return [
            _numbers_possible([boxes[model] for boxes in self.boxes], limit) for model in range(len(self.tally.models))
        ]

    def draw(self, members: Sequence[int], samples: Sequence[int | Ints]) -> Draws:
        """Draw some of each member's votes on every question, as `draw` does."""
        sizes = _sizes(self.tally, members, samples)
        number, limit = np.ones(len(self.boxes), dtype=np.int64), _limit(self.tally, self.ballots)
        for member, own in zip(members, sizes, strict=True):
            possible = np.take_along_axis(self._possible[member], own[:, None], axis=1)[:, 0]
            number = np.minimum(number * possible, limit + 1)  # The product of many members would overflow.
        listed = number <= limit
        drawn = iter(self._first(members, sizes, np.flatnonzero(~listed)))
        asked = zip(self._voted(tuple(members)), sizes.T.tolist(), listed.tolist(), strict=True)
        blocks = [_all_ballots(boxes, tuple(own)) if whole else next(drawn) for boxes, own, whole in asked]
        return _assemble(self.tally, members, sizes, blocks)

    def _voted(self, members: tuple[int, ...]) -> list[_Boxes]:
        """Each question's counts of some members, without answers that none of them gave."""
        if members not in self._kept:
            some = [tuple(boxes[member] for member in members) for boxes in self.boxes]
            self._kept[members] = some if len(members) == len(self.tally.models) else list(map(_without_empty, some))
        return self._kept[members]

    def _first(self, members: Sequence[int], sizes: Ints, questions: Ints) -> Iterator[_Block]:
        """The first votes of every shuffle of some questions, counted by category."""
        number = _limit(self.tally, self.ballots)
        most = np.min_scalar_type(int(sizes.max(initial=0)))
        counts = np.zeros((len(members), self._width, len(questions), number), dtype=most)
        for row, member, size in zip(counts, members, sizes[:, questions], strict=True):
            # A vote at a time, a category at a time: bytes that lie side by side.
            for place in range(int(size.max(initial=0))):
                votes = self.orders[member][place].take(questions, axis=0)
                taken = place < size[:, None]
                for category, own in enumerate(row):
                    own += (votes == category) & taken
        share = np.full(number, 1 / number)
        for place, question in enumerate(questions):
            yield counts[:, : len(self.boxes[question][0]), place], share, False


def _without_empty(boxes: _Boxes) -> _Boxes:
    voted = [place for place in range(len(boxes[0])) if not place or any(box[place] for box in boxes)]
    return tuple(tuple(box[place] for place in voted) for box in boxes)


def _numbers_possible(boxes: list[tuple[int, ...]], limit: int) -> Ints:
    """How many different ballots of each size each box can give: boxes x sizes; more than the limit is one more."""
    width, most = max(map(len, boxes)), max(map(sum, boxes))
    counts = np.array([box + (0,) * (width - len(box)) for box in boxes])
    ways = np.zeros((len(boxes), most + 1), dtype=np.int64)
    ways[:, 0] = 1
    for count in counts.T:
        found = ways.copy()
        for taken in range(1, int(count.max()) + 1):
            found[:, taken:] += ways[:, :-taken] * (taken <= count[:, None])
        ways = np.minimum(found, limit + 1)
    return ways


def _check(tally: Tally, members: Sequence[int], sizes: Ints) -> None:
    for member, size in zip(members, sizes, strict=True):
        if (short := size > tally.votes[member]).any():
            question = int(np.flatnonzero(short)[0])
            raise InputError(
                f"{int(size[question])} samples of {quote(tally.models[member])} cannot be drawn on question "
                f"{quote(tally.questions[question])}, which has {int(tally.votes[member, question])}; ask for fewer"
            )
        if (size < 1).any():
            raise InputError(f"every member needs a sample at least: {quote(tally.models[member])} would have none")


_Boxes = tuple[tuple[int, ...], ...]
"""One question's counts of each member, gold's first."""
_Block = tuple[Ints, Floats, bool]
"""Ballots of one question (members x categories x ballots), their probabilities, and whether these are all."""


def ballot_boxes(tally: Tally, members: Sequence[int]) -> Iterator[_Boxes]:
    """Each question's counts, gold first, then every rival that a member voted for: one tuple a member.

    Rivals come in the order of their counts, so that questions which differ in nothing but labels draw alike.
    """
    dense = np.stack([tally.dense(member) for member in members])
    voted = np.flatnonzero(dense.any(axis=0))
    question = tally.rivals.question[voted]
    order = np.lexsort([*dense[::-1, voted], question])
    ends = np.searchsorted(question[order], np.arange(len(tally.questions) + 1))
    counts = dense[:, voted[order]].tolist()
    golds = [tally.gold[member].tolist() for member in members]
    for number, (start, end) in enumerate(pairwise(ends.tolist())):
        yield tuple((gold[number], *row[start:end]) for gold, row in zip(golds, counts, strict=True))


def _at_random(asked: list[tuple[_Boxes, tuple[int, ...]]], number: int, rng: np.random.Generator) -> Iterator[_Block]:
    """Draw several ballots for each question, all questions at once: category by category, from what is left."""
    if not asked:
        return
    width = max(len(boxes[0]) for boxes, _ in asked)
    counts = np.array([[box + (0,) * (width - len(box)) for box in boxes] for boxes, _ in asked])
    left = np.repeat(np.array([sizes for _, sizes in asked])[:, :, None], number, axis=2)
    others = counts.sum(axis=2)
    drawn = np.empty((*left.shape, width), dtype=np.int32)
    for category in range(width):
        others -= counts[:, :, category]
        drawn[..., category] = rng.hypergeometric(counts[:, :, category, None], others[..., None], left)
        left -= drawn[..., category]
    share = np.full(number, 1 / number)
    for (boxes, _), ballots in zip(asked, drawn, strict=True):
        yield ballots[:, :, : len(boxes[0])].swapaxes(1, 2), share, False


@lru_cache(maxsize=10_000)
def _all_ballots(counts: _Boxes, sizes: tuple[int, ...]) -> _Block:
    """Every combination of the members' ballots: many questions have the same boxes."""
    listed = [_listed(box, size) for box, size in zip(counts, sizes, strict=True)]
    places = np.indices([len(share) for _, share in listed]).reshape(len(listed), -1)
    ballots = np.stack([drawn.take(place, axis=1) for (drawn, _), place in zip(listed, places, strict=True)])
    share = np.prod([shares[place] for (_, shares), place in zip(listed, places, strict=True)], axis=0)
    return ballots, share, True


def _number(counts: _Boxes, sizes: tuple[int, ...], limit: int) -> int:
    """How many different ballots the members can give together; any number above `limit` stands for more."""
    number = 1
    for box, size in zip(counts, sizes, strict=True):
        number *= _possible(tuple(sorted(filter(None, box))), size)
        if number > limit:
            break
    return number


@lru_cache(maxsize=100_000)
def _possible(box: tuple[int, ...], size: int) -> int:
    """How many different ballots of this size a box of counts can give."""
    ways = [1] + [0] * size
    for count in box:
        ways = [sum(ways[max(0, total - count) : total + 1]) for total in range(size + 1)]
    return ways[size]


def _listed(box: tuple[int, ...], size: int) -> tuple[Ints, Floats]:
    """Every ballot of this size, with its hypergeometric probability; boxes that differ in order only list alike."""
    order = sorted((place for place, count in enumerate(box) if count), key=box.__getitem__)
    ballots, share = _listed_sorted(tuple(box[place] for place in order), size)
    drawn = np.zeros((len(box), len(share)), dtype=ballots.dtype)
    drawn[order] = ballots
    return drawn, share


@lru_cache(maxsize=10_000)
def _listed_sorted(box: tuple[int, ...], size: int) -> tuple[Ints, Floats]:
    """The ballots of a box, categories x ballots, in the order of the first category, then the second, and so on."""
    total = comb(sum(box), size)
    # Whole numbers up to the total are exact in floats, or else Python's own.
    dtype = np.dtype(np.float64 if total < 2**53 else object)
    ballots, left = np.empty((0, 1), dtype=np.int64), np.array([size])
    ways, rest = np.ones(1, dtype=dtype), sum(box)
    for count in box:
        rest -= count
        least, most = np.maximum(0, left - rest), np.minimum(count, left)
        number = most - least + 1
        start = np.repeat(np.cumsum(number) - number, number)
        taken = np.arange(len(start)) - start + np.repeat(least, number)
        ballots = np.concatenate([np.repeat(ballots, number, axis=1), taken[None]])
        left = np.repeat(left, number) - taken
        ways = np.repeat(ways, number) * _choose(count, dtype).take(taken)
    return ballots, (ways / total).astype(np.float64)


@lru_cache(maxsize=1_000)
def _choose(count: int, dtype: np.dtype[Any]) -> Floats:
    """In how many ways 0, 1, … of `count` votes can be taken."""
    return np.array([comb(count, taken) for taken in range(count + 1)], dtype=dtype)


def _assemble(tally: Tally, members: Sequence[int], sizes: Ints, blocks: list[_Block]) -> Draws:
    """Lay the ballots of all questions out as one tally.

    Ballots of one question have the same rivals. So a row of rivals (see `ragged`) is made of whole questions, those
    with the most rivals first, and no rival is looked at by itself.
    """
    number = np.array([len(share) for _, share, _ in blocks])
    width = np.array([ballots.shape[1] - 1 for ballots, _, _ in blocks])
    ends = np.cumsum(number)
    owner = np.repeat(np.arange(len(blocks)), number)
    by_width = np.argsort(-width, kind="stable")
    sizes_by_width = number[by_width]
    starts = np.cumsum(sizes_by_width) - sizes_by_width
    order = np.arange(int(ends[-1])) + np.repeat((ends - number)[by_width] - starts, sizes_by_width)
    heights = range(int(width.max(initial=0)))
    rows = Rows.padded(len(owner), np.array([number[width > row].sum() for row in heights], dtype=np.intp))
    counts = np.zeros((len(members), int(rows.widths.sum())), dtype=np.min_scalar_type(int(sizes.max(initial=0))))
    row_starts = np.cumsum(rows.widths) - rows.widths
    first = 0
    for wide, own in groupby(by_width.tolist(), key=width.__getitem__):
        block = np.concatenate([blocks[question][0][:, 1:] for question in own], axis=2).astype(counts.dtype)
        for row in range(wide):
            counts[:, row_starts[row] + first : row_starts[row] + first + block.shape[2]] = block[:, row]
        first += block.shape[2]
    voted = [np.flatnonzero(row) for row in counts]
    drawn = Tally(
        tally.dataset,
        tuple(tally.models[member] for member in members),
        ("",) * len(owner),
        sizes[:, owner],
        np.concatenate([ballots[:, 0] for ballots, _, _ in blocks], axis=1),
        Rivals(order, rows, np.broadcast_to(np.array(None, dtype=object), counts.shape[1:])),
        np.cumsum([0, *map(len, voted)]),
        np.concatenate(voted),
        np.concatenate([row.take(places) for row, places in zip(counts, voted, strict=True)]),
    )
    share = np.concatenate([share for _, share, _ in blocks])
    return Draws(drawn, owner, share, np.array([exact for _, _, exact in blocks]))
