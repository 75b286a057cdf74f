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
from itertools import pairwise
from math import comb, prod

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.errors import InputError, quote
from swaplaw.law.mixtures import Line, mixed
from swaplaw.law.pair import Pair
from swaplaw.law.plurality import vote
from swaplaw.law.scoresheet import DIGITS, Scoresheet, lay_out
from swaplaw.law.winning_spans import spans_of
from swaplaw.votes.tally import Tally, arrange

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
        members = Line(tuple(range(len(mix) + 1)), mix)
        chosen = Pair(self.tally if len(mix) == 1 else mixed(self.tally, members), 0, 1)
        breaks, spans = spans_of(chosen)
        settled = chosen.alone[0].ties == 1
        settled[spans.question] = False
        constant = self._expected(settled.astype(np.float64))
        return lay_out(breaks, spans, self.owner[spans.question], 1, constant, self.share[spans.question])

    def scores(self, weights: Sequence[Fraction]) -> tuple[Floats, float]:
        """Expected score of each question at these weights, and the standard error of their mean from drawing."""
        pooled = vote(self.tally, range(len(weights)), weights)
        values = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)
        mean, square = self._expected(values), self._expected(values**2)
        ballots = np.bincount(self.owner, minlength=len(self.exact))
        spread = np.where(self.exact, 0, np.maximum(square - mean**2, 0) / np.maximum(ballots - 1, 1))
        return np.round(mean, DIGITS), float(np.sqrt(spread.sum()) / len(self.exact))

    def _expected(self, values: Floats) -> Floats:
        return np.bincount(self.owner, self.share * values, minlength=len(self.exact)).astype(np.float64)


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

    @cached_property
    def boxes(self) -> list[_Boxes]:
        """Each question's counts of all models."""
        return list(ballot_boxes(self.tally, range(len(self.tally.models))))

    @cached_property
    def orders(self) -> list[Ints]:
        """Categories of each model's votes (gold is 0): questions x ballots x votes, in random order."""
        rng = np.random.default_rng([self.seed, _limit(self.tally, self.ballots)])
        return [self._shuffled(model, rng) for model in range(len(self.tally.models))]

    def _shuffled(self, model: int, rng: np.random.Generator) -> Ints:
        number, most = _limit(self.tally, self.ballots), int(self.tally.votes[model].max(initial=0))
        width = max(len(boxes[0]) for boxes in self.boxes)
        orders = np.empty((len(self.boxes), number, most), dtype=np.min_scalar_type(width))
        for question, boxes in enumerate(self.boxes):
            votes = np.repeat(np.arange(len(boxes[model]), dtype=orders.dtype), boxes[model])
            # Votes that were not cast come last: nobody draws them.
            keys = rng.random((number, len(votes)), dtype=np.float32)
            orders[question, :, : len(votes)] = votes.take(keys.argsort(axis=1))
        return orders

    def draw(self, members: Sequence[int], samples: Sequence[int | Ints]) -> Draws:
        """Draw some of each member's votes on every question, as `draw` does."""
        sizes = _sizes(self.tally, members, samples)
        limit = _limit(self.tally, self.ballots)
        blocks = [_all_ballots(*box) if _number(*box, limit) <= limit else None for box in self._asked(members, sizes)]
        missing = np.array([place for place, block in enumerate(blocks) if block is None], dtype=np.intp)
        drawn = iter(self._first(members, sizes, missing))
        return _assemble(self.tally, members, sizes, [block or next(drawn) for block in blocks])

    def _asked(self, members: Sequence[int], sizes: Ints) -> Iterator[tuple[_Boxes, tuple[int, ...]]]:
        for boxes, own in zip(self.boxes, sizes.T.tolist(), strict=True):
            voted = [place for place in range(len(boxes[0])) if not place or any(boxes[m][place] for m in members)]
            yield tuple(tuple(boxes[member][place] for place in voted) for member in members), tuple(own)

    def _first(self, members: Sequence[int], sizes: Ints, questions: Ints) -> Iterator[_Block]:
        """The first votes of every shuffle of some questions, counted by category."""
        number, width = _limit(self.tally, self.ballots), max(len(boxes[0]) for boxes in self.boxes)
        counts = np.zeros((len(members), len(questions), number, width), dtype=np.int32)
        start = width * np.arange(len(questions) * number).reshape(len(questions), number, 1)
        for row, member, size in zip(counts, members, sizes, strict=True):
            orders = self.orders[member][questions]
            taken = np.arange(orders.shape[2]) < size[questions, None, None]
            places = (start + orders)[np.broadcast_to(taken, orders.shape)]
            row += np.bincount(places, minlength=row.size).reshape(row.shape)
        share = np.full(number, 1 / number)
        for place, question in enumerate(questions):
            yield counts[:, place, :, : len(self.boxes[question][0])], share, False


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
"""Ballots of one question (members x ballots x categories), their probabilities, and whether these are all."""


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
        yield ballots[:, :, : len(boxes[0])], share, False


@lru_cache(maxsize=10_000)
def _all_ballots(counts: _Boxes, sizes: tuple[int, ...]) -> _Block:
    """Every combination of the members' ballots: many questions have the same boxes."""
    listed = [_listed(box, size) for box, size in zip(counts, sizes, strict=True)]
    places = np.indices([len(share) for _, share in listed]).reshape(len(listed), -1)
    ballots = np.stack([drawn[place] for (drawn, _), place in zip(listed, places, strict=True)])
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
    drawn = np.zeros((len(ballots), len(box)), dtype=ballots.dtype)
    drawn[:, order] = ballots
    return drawn, share


@lru_cache(maxsize=10_000)
def _listed_sorted(box: tuple[int, ...], size: int) -> tuple[Ints, Floats]:
    found = list(_compositions(box, size))
    ways = [prod(comb(count, taken) for count, taken in zip(box, ballot, strict=True)) for ballot in found]
    total = comb(sum(box), size)
    return np.array(found), np.array([number / total for number in ways])


def _compositions(box: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """Ways to take `size` votes out of a box."""
    if not box:
        yield ()
        return
    rest = sum(box[1:])
    for taken in range(max(0, size - rest), min(box[0], size) + 1):
        for others in _compositions(box[1:], size - taken):
            yield (taken, *others)


def _assemble(tally: Tally, members: Sequence[int], sizes: Ints, blocks: list[_Block]) -> Draws:
    """Lay the ballots of all questions out as one tally."""
    number = np.array([len(share) for _, share, _ in blocks])
    width = np.array([ballots.shape[2] - 1 for ballots, _, _ in blocks])
    owner = np.repeat(np.arange(len(blocks)), number)
    total = int(number.sum())
    rivals, spots = arrange(np.repeat(np.arange(total), width[owner]), total, [None] * int((number * width).sum()))
    counts = [
        np.concatenate([ballots[member, :, 1:].reshape(-1) for ballots, _, _ in blocks])
        for member in range(len(members))
    ]
    voted = [np.flatnonzero(row) for row in counts]
    drawn = Tally(
        tally.dataset,
        tuple(tally.models[member] for member in members),
        ("",) * total,
        sizes[:, owner],
        np.concatenate([ballots[:, :, 0] for ballots, _, _ in blocks], axis=1),
        rivals,
        np.cumsum([0, *map(len, voted)]),
        np.concatenate([spots[row] for row in voted]),
        np.concatenate([row[places] for row, places in zip(counts, voted, strict=True)]),
    )
    share = np.concatenate([share for _, share, _ in blocks])
    return Draws(drawn, owner, share, np.array([exact for _, _, exact in blocks]))
