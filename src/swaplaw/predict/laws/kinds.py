"""A pair's questions, alike ones counted together: what the laws from votes are worked out on.

All that these laws know of a question are the two ballots (votes for gold, for the best rival, cast, and how large the
tie is) and whether the best rivals are the same answer. Of ten thousand questions a few hundred kinds are left, so a
law is worked out on kinds, each as often as it occurs, and then told to the questions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import several
from swaplaw.law.pair import Pair
from swaplaw.votes.tally import Scores, Tally


@dataclass(frozen=True)
class Margins:
    """One model's own votes on some questions: all that the laws here know of them."""

    gold: Ints = field(repr=False)
    """Votes for gold."""
    top: Ints = field(repr=False)
    """Votes for the best rival; abstention is a rival."""
    votes: Ints
    """Votes cast."""
    scores: Scores = field(repr=False)
    """The model's own plurality score."""
    rival: Ints = field(repr=False)
    """Which rival is the best one, as a position in the tally; -1 where nobody voted for any."""

    def __repr__(self) -> str:
        return f"Margins({several(len(self), 'question')}, accuracy={float(self.accuracy):.4f})"

    def __len__(self) -> int:
        return len(self.votes)

    @property
    def lead(self) -> Ints:
        """Votes for gold less votes for the best rival: the margin before it is divided by the votes cast."""
        return self.gold - self.top

    @property
    def accuracy(self) -> Fraction:
        """Mean plurality score."""
        return Fraction(self.scores.total, self.scores.denominator * len(self))

    @cached_property
    def right(self) -> Floats:
        """The scores as floats."""
        return np.asarray(self.scores.numerators / self.scores.denominator, dtype=np.float64)

    def take(self, places: Ints) -> Margins:
        """The ballots at some places."""
        scores = Scores(self.scores.ties.take(places))
        gold, top, votes, rival = (each.take(places) for each in (self.gold, self.top, self.votes, self.rival))
        return Margins(gold, top, votes, scores, rival)


def margins_of(tally: Tally, model: int, questions: Bools | None = None) -> Margins:
    """What one model's votes say by themselves.

    Parameters
    ----------
    tally
        The counted votes.
    model
        The model's place in the tally.
    questions
        Which questions to take (a mask); by default those that the model answered.

    Returns
    -------
    Margins
        Counts for gold and for the best rival, votes cast and own scores.

    Examples
    --------
    >>> import swaplaw as sl
    >>> tally = sl.demo_votes().tally()
    >>> margins_of(tally, tally.index("gpt-4"))
    Margins(100 questions, accuracy=0.8100)
    """
    tally = tally.principal
    where = tally.answered[model] if questions is None else questions
    least, position = tally.strongest(model)
    rank = tally.rivals.rank
    gold = tally.gold[model].astype(np.int64)
    rival = np.full(len(gold), -1)
    contested = max(tally.rivals.rows.widths, default=0)
    rival[tally.rivals.order[:contested]] = position[:contested]
    top = gold - least.astype(np.int64).take(rank)
    votes = tally.votes[model].astype(np.int64)
    return Margins(gold[where], top[where], votes[where], Scores(tally.ties[model][where]), rival[where])


@dataclass(frozen=True)
class Alike:
    """Kinds of questions that a pair shares."""

    pair: Pair
    ballots_a: Margins = field(repr=False)
    """The primary's different ballots."""
    ballots_b: Margins = field(repr=False)
    of_a: Ints = field(repr=False)
    """Which of the primary's ballots each kind has."""
    of_b: Ints = field(repr=False)
    same: Bools = field(repr=False)
    """Whether both models' best rivals are the same answer."""
    times: Ints = field(repr=False)
    """How many questions are of each kind."""
    kind: Ints = field(repr=False)
    """Which kind each common question is."""

    @property
    def n(self) -> int:
        """How many questions there are."""
        return len(self.kind)

    @cached_property
    def first(self) -> Margins:
        """The primary's ballot of each kind."""
        return self.ballots_a.take(self.of_a)

    @cached_property
    def second(self) -> Margins:
        """The secondary's ballot of each kind."""
        return self.ballots_b.take(self.of_b)

    @cached_property
    def contested(self) -> Bools:
        """Whether both models have a rival with votes."""
        both: Bools = (self.first.top > 0) & (self.second.top > 0)
        return both

    @cached_property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """How far a question of each kind belongs to each cell: only B right, only A, neither, both."""
        a, b = self.first.right, self.second.right
        return (1 - a) * b, a * (1 - b), (1 - a) * (1 - b), a * b


@dataclass(frozen=True)
class Influence:
    """A number of a pair, and how it moves with the weight of each common question (to first order).

    The numbers here do not change when all weights grow alike, so value plus the weighted sum of slopes is the number
    of a bootstrap draw, to first order.
    """

    value: float
    by_kind: Floats = field(repr=False)
    """How far one question of each kind moves it."""
    kind: Ints = field(repr=False)
    """Which kind each common question is."""

    @property
    def slope(self) -> Floats:
        """How far each common question moves it."""
        return self.by_kind.take(self.kind)


def alike(pair: Pair) -> Alike:
    """Count the kinds of questions that two models share."""
    (ballots_a, kind_a, rival_a), (ballots_b, kind_b, rival_b) = (_ballots(pair.tally, m) for m in (pair.a, pair.b))
    code = kind_a * (2 * len(ballots_b))
    code += kind_b
    code += kind_b
    code += rival_a == rival_b
    if pair.n < pair.of:
        code = code[pair.common]
    found, times, kind = _counted(code, 2 * len(ballots_a) * len(ballots_b))
    of_a, rest = np.divmod(found, 2 * len(ballots_b))
    return Alike(pair, ballots_a, ballots_b, of_a, rest // 2, rest % 2 == 1, times, kind)


def margin_classes(tally: Tally, model: int) -> tuple[Ints, Ints]:
    """Ballots by margin and tie: the class of each of a model's different ballots, and of each question's."""
    ballots, kind, _ = _ballots(tally, model)
    _, of_ballot = np.unique([ballots.lead, ballots.votes, ballots.scores.ties], axis=1, return_inverse=True)
    return of_ballot.reshape(-1), of_ballot.reshape(-1).take(kind)


def _ballots(tally: Tally, model: int) -> tuple[Margins, Ints, Ints]:
    """A model's different ballots, which of them each question has, and the best rival if it has votes at all."""

    def derive() -> tuple[tuple[Margins, Ints, Ints], int]:
        whole = margins_of(tally, model, np.ones(len(tally.questions), dtype=bool))
        columns = [whole.gold, whole.top, whole.votes, whole.scores.ties.astype(np.int64)]
        code = np.zeros(len(whole), dtype=np.int64)
        for column in columns:
            # Numbered anew after each column, so that codes never outgrow 64 bits.
            code = np.unique(code * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
        _, first = np.unique(code, return_index=True)
        # Without votes a rival is like no other model's.
        rival = np.where(whole.top > 0, whole.rival, -1 - model)
        found = whole.take(first), code, rival
        return found, 2 * code.nbytes

    found: tuple[Margins, Ints, Ints] = tally.derived(("ballots", model), derive)
    return found


# Codes are counted in a table of all that there could be, as long as it has no more places than this per question.
_SPREAD = 8


def _counted(code: Ints, codes: int) -> tuple[Ints, Ints, Ints]:
    """The different codes, how often each occurs, and which of them each question has."""
    if codes > _SPREAD * len(code):
        found, kind, times = np.unique(code, return_inverse=True, return_counts=True)
        return found, times, kind
    counts = np.bincount(code, minlength=codes)
    found = np.flatnonzero(counts)
    place = np.empty(codes, dtype=np.intp)
    place[found] = np.arange(len(found))
    return found, counts[found], place.take(code)
