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
from functools import cached_property

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints, Rows
from swaplaw.errors import InputError, quote
from swaplaw.evidence.ballot_boxes import Boxes, DrawnBallots, boxes_of
from swaplaw.law.lines import Line, mixed
from swaplaw.law.pair import Pair
from swaplaw.law.scoresheet import DIGITS, Scoresheet, lay_out
from swaplaw.law.spans import Breakpoints, Spans, spans_of_batch
from swaplaw.law.weights import vote
from swaplaw.votes.rivals import Rivals
from swaplaw.votes.tally import Tally

LARGEST_BATCH = 400_000
FEWEST, MOST = 50, 1_000
"""Ballots a question: as many as make the largest batch, between these."""
SHUFFLED = 500
"""Questions that are shuffled at once."""


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
        return lay_out(breaks, spans, self.owner[spans.row], 1, constant, self.share[spans.row])

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
            values[spans.row] = spans.scores(breaks.slot(weights[1]))
            return values
        pooled = vote(self.tally, range(len(weights)), weights)
        return np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)

    def _expected(self, values: Floats) -> Floats:
        return np.bincount(self.owner, self.share * values, minlength=len(self.exact)).astype(np.float64)


def _pooled(tally: Tally) -> tuple[Breakpoints, Spans, Bools]:
    """Where gold leads in the votes of the first two models, and where it does at every weight."""
    chosen = Pair(tally, 0, 1)
    breaks, spans, _ = spans_of_batch([chosen])
    settled = (tally.ties[0] == 1) & chosen.common
    settled[spans.row] = False
    return breaks, spans, settled


def draw(
    tally: Tally, members: Sequence[int], samples: Sequence[int | Ints], *, seed: int = 0, ballots: int | None = None
) -> Draws:
    """Draw some of each member's votes on every question (a number, or one for each question)."""
    sizes, limit, boxes = _sizes(tally, members, samples), _limit(tally, ballots), boxes_of(tally, members)
    listed = _few(boxes.possible(limit, int(sizes.max(initial=0))), sizes, limit)
    asked = boxes.select(~listed)
    drawn = _at_random(asked, sizes[:, ~listed], limit, np.random.default_rng([seed, limit]))
    return _assemble(tally, members, sizes, listed, boxes, boxes.widths, drawn)


def _sizes(tally: Tally, members: Sequence[int], samples: Sequence[int | Ints]) -> Ints:
    sizes = np.stack([np.broadcast_to(np.asarray(number), len(tally.questions)) for number in samples])
    _check(tally, members, sizes)
    return sizes


def _limit(tally: Tally, ballots: int | None) -> int:
    return ballots or int(np.clip(LARGEST_BATCH // len(tally.questions), FEWEST, MOST))


def _few(possible: Sequence[Ints], sizes: Ints, limit: int) -> Bools:
    """On which questions the members can give no more different ballots together than the limit."""
    number = np.ones(sizes.shape[1], dtype=np.int64)
    for own, size in zip(possible, sizes, strict=True):
        # Cut off at every step: the product of many members would overflow.
        number = np.minimum(number * np.take_along_axis(own, size[:, None].astype(np.intp), axis=1)[:, 0], limit + 1)
    return number <= limit


@dataclass(frozen=True)
class Shuffled:
    """All votes on every question in random order, many times over: the first few are a random draw.

    One shuffle serves every number of samples, so comparing many of them draws nothing again, and what they have in
    common is the same luck.
    """

    tally: Tally = field(repr=False)
    seed: int = 0
    ballots: int | None = None
    _kept: dict[tuple[int, ...], Boxes] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def boxes(self) -> Boxes:
        """Each question's counts of all models."""
        return boxes_of(self.tally, range(len(self.tally.models)))

    @cached_property
    def orders(self) -> list[Ints]:
        """Categories of each model's votes (gold is 0) in random order: votes x questions x ballots."""
        rng = np.random.default_rng([self.seed, _limit(self.tally, self.ballots)])
        return [self._shuffled(model, rng) for model in range(len(self.tally.models))]

    def _shuffled(self, model: int, rng: np.random.Generator) -> Ints:
        counts, number = self.boxes.counts[model], _limit(self.tally, self.ballots)
        cast = np.arange(int(counts.sum(axis=1).max(initial=0))) < counts.sum(axis=1)[:, None]
        votes = np.zeros(cast.shape, dtype=np.min_scalar_type(counts.shape[1]))
        votes[cast] = np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.reshape(-1))
        orders = np.empty((cast.shape[1], len(counts), number), dtype=votes.dtype)
        for first in range(0, len(counts), SHUFFLED):
            some = slice(first, first + SHUFFLED)
            drawn = np.broadcast_to(cast[some, None], (len(cast[some]), number, cast.shape[1]))
            # Votes that were not cast come last: nobody draws them.
            keys = np.full(drawn.shape, np.inf, dtype=np.float32)
            keys[drawn] = rng.random(int(drawn.sum()), dtype=np.float32)
            orders[:, some] = np.take_along_axis(votes[some, None], keys.argsort(axis=2), axis=2).transpose(2, 0, 1)
        return orders

    @cached_property
    def _possible(self) -> list[Ints]:
        """How many different ballots of each size every model can give: questions x sizes, counted up to the limit."""
        return self.boxes.possible(_limit(self.tally, self.ballots), int(self.tally.votes.max(initial=0)))

    def draw(self, members: Sequence[int], samples: Sequence[int | Ints]) -> Draws:
        """Draw some of each member's votes on every question, as `draw` does."""
        sizes = _sizes(self.tally, members, samples)
        listed = _few([self._possible[member] for member in members], sizes, _limit(self.tally, self.ballots))
        drawn = self._first(members, sizes, np.flatnonzero(~listed))
        return _assemble(self.tally, members, sizes, listed, self._voted(tuple(members)), self.boxes.widths, drawn)

    def _voted(self, members: tuple[int, ...]) -> Boxes:
        """Each question's counts of some members, without answers that none of them gave."""
        if members not in self._kept:
            self._kept[members] = self.boxes.of(members)
        return self._kept[members]

    def _first(self, members: Sequence[int], sizes: Ints, questions: Ints) -> DrawnBallots:
        """The first votes of every shuffle of some questions, counted by category."""
        number, width = _limit(self.tally, self.ballots), self.boxes.counts.shape[2]
        most = np.min_scalar_type(int(sizes.max(initial=0)))
        counts = np.zeros((len(members), width, len(questions), number), dtype=most)
        for row, member, size in zip(counts, members, sizes[:, questions], strict=True):
            # A vote at a time, a category at a time: bytes that lie side by side.
            for place in range(int(size.max(initial=0))):
                votes = self.orders[member][place].take(questions, axis=0)
                taken = place < size[:, None]
                for category, own in enumerate(row):
                    own += (votes == category) & taken
        return _alike(counts.reshape(len(members), width, -1), len(questions), number)


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


def ballot_boxes(tally: Tally, members: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Each question's counts as tuples, one for each member, gold first."""
    boxes = boxes_of(tally, members)
    for counts, width in zip(boxes.counts.swapaxes(0, 1), boxes.widths.tolist(), strict=True):
        yield tuple(map(tuple, counts[:, :width].tolist()))


def _at_random(boxes: Boxes, sizes: Ints, number: int, rng: np.random.Generator) -> DrawnBallots:
    """Draw several ballots for each question, all questions at once: category by category, from what is left."""
    width = int(boxes.widths.max(initial=1))
    counts = boxes.counts[:, :, :width].swapaxes(0, 1)
    left = np.repeat(sizes.T[:, :, None].astype(np.int64), number, axis=2)
    others = counts.sum(axis=2)
    many = sizes.T >= 10
    drawn = np.empty((counts.shape[1], width, len(counts), number), dtype=np.min_scalar_type(int(sizes.max(initial=0))))
    for category in range(width):
        count, others = counts[:, :, category], others - counts[:, :, category]
        # Where there is one answer only, all or nothing is taken, and no random number but for large samples (NumPy).
        some = np.nonzero(((count > 0) & (others > 0)) | many)
        taken = np.where((others > 0)[..., None], 0, left)
        taken[some] = rng.hypergeometric(count[some][:, None], others[some][:, None], left[some])
        drawn[:, category] = taken.swapaxes(0, 1)
        left -= taken
    return _alike(drawn.reshape(counts.shape[1], width, -1), len(counts), number)


def _alike(counts: Ints, questions: int, number: int) -> DrawnBallots:
    """As many random ballots for each question, all as likely."""
    return DrawnBallots(np.full(questions, number), counts, np.full(questions * number, 1 / number))


def _assemble(
    tally: Tally, members: Sequence[int], sizes: Ints, listed: Bools, boxes: Boxes, widths: Ints, drawn: DrawnBallots
) -> Draws:
    """Lay the ballots of all questions out as one tally: all of `listed` ones from their boxes, else what was drawn.

    Ballots of one question have the same rivals. So a row of rivals (see `ragged`) is made of whole questions, those
    with the most rivals first, and no rival is looked at by itself. `widths` are the categories of what was drawn.
    """
    whole = boxes.select(listed).all_ballots(sizes[:, listed])
    number, rivals = np.empty(len(listed), dtype=np.int64), np.where(listed, boxes.widths, widths) - 1
    number[listed], number[~listed] = whole.number, drawn.number
    owner, height = np.repeat(np.arange(len(listed)), number), int(rivals.max(initial=0))
    share = np.empty(len(owner))
    counts = np.zeros((len(members), 1 + height, len(owner)), dtype=np.min_scalar_type(int(sizes.max(initial=0))))
    for ballots, places in zip((whole, drawn), map(np.flatnonzero, (listed[owner], ~listed[owner])), strict=True):
        share[places] = ballots.share
        for own, given in zip(counts, ballots.counts, strict=True):
            for row, votes in zip(own, given, strict=False):
                row[places] = votes
    order = _by_width(number, rivals)
    rows = Rows.padded(len(owner), np.array([number[rivals > row].sum() for row in range(height)], dtype=np.intp))
    flat = [[row.take(order[:width]) for row, width in zip(own[1:], rows.widths, strict=True)] for own in counts]
    votes = np.stack([np.concatenate([np.empty(0, dtype=counts.dtype), *row]) for row in flat])
    voted = [np.flatnonzero(row) for row in votes]
    laid = Tally(
        tally.dataset,
        tuple(tally.models[member] for member in members),
        ("",) * len(owner),
        sizes[:, owner],
        counts[:, 0],
        Rivals(order, rows, np.broadcast_to(np.array(None, dtype=object), votes.shape[1:])),
        np.cumsum([0, *map(len, voted)]),
        np.concatenate(voted),
        np.concatenate([row.take(places) for row, places in zip(votes, voted, strict=True)]),
    )
    return Draws(laid, owner, share, listed)


def _by_width(number: Ints, rivals: Ints) -> Ints:
    """Ballots of questions with the most rivals first; `number` is how many each question has, side by side."""
    questions = np.argsort(-rivals, kind="stable")
    sizes = number[questions]
    starts = np.cumsum(sizes) - sizes
    order: Ints = np.arange(int(number.sum())) + np.repeat((np.cumsum(number) - number)[questions] - starts, sizes)
    return order
