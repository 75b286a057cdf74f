"""The tally: integer vote counts per model, question and category, laid out for arithmetic.

Gold stands apart; every other category that somebody voted for on a question is a *rival* of gold there, the
null category (abstention) among them. All the law needs to know of a vote is its **margins**: gold's count less
each rival's. Gold is in the tie set exactly when no weighted margin is negative, and the tie has one member more
than there are zero margins. So nothing depends on the order of categories, and one array serves all the maths.

Rivals are held as entries that were voted for, so memory follows the votes. A model's margins are spread out on
demand over the rivals of all questions, a column for each row (see `Rows`). Padding stands for rivals that nobody
voted for, which change nothing: gold can only tie with one at no votes at all, and what nobody named never wins.

Several answers to a question may be right. Each of them is then taken as gold in turn, with all others, right ones too,
as its rivals, and has a *row* of its own: the question scores the sum of its rows, which is the share of right answers
among those that tie. So whatever is true of one right answer is true of a row.

Silence (null votes) is a category that can win, as in the paper, or it is ignored: then it is no rival
(see `Tally.silence`). A model's share is its count over all its votes either way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints, Kept, Rows, summed
from swaplaw.errors import InputError, quote, suggestion

if TYPE_CHECKING:
    import polars as pl

# What is derived of single models (margins, scores) is kept for as many as fit in this many bytes.
KEPT_BYTES = 384 * 2**20
HEARD = ("refused",)
"""Reasons of null votes that are heard as an answer (the model said that it will not answer) where others are not."""
Silence = Literal["counts", "ignored"]


@dataclass(frozen=True)
class RightSets:
    """The right answers of questions that have several: rows, in the order of the questions."""

    question: Ints
    """The question of each row, rising; every question has one at least."""
    copies: Ints
    """How many right answers a row stands for: those that got the same votes from every model tie wherever one does."""

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What rows have of their question's values (along the last axis)."""
        return values.take(self.question, axis=-1)

    def gather(self, values: Ints) -> Ints:
        """The sums of what rows have, for each question."""
        starts = np.flatnonzero(np.diff(self.question, prepend=-1))
        sums: Ints = np.add.reduceat(values * self.copies.astype(values.dtype), starts, axis=-1)
        return sums

    def select(self, questions: Bools) -> RightSets:
        """Keep some questions (a mask)."""
        kept = questions[self.question]
        return RightSets((np.cumsum(questions) - 1)[self.question[kept]], self.copies[kept])


@dataclass(frozen=True)
class Rivals:
    """Where each row's rivals stand: columns of `rows`, in the order `order`."""

    order: Ints
    """Rows of right answers by falling number of rivals: the columns of `rows`."""
    rows: Rows
    labels: npt.NDArray[np.object_] = field(repr=False)
    """The answer at each position of the flat array; None is the null category (and padding)."""
    rights: RightSets | None = field(default=None, repr=False)
    """Which rows belong to a question, where any has several right answers."""

    @cached_property
    def rank(self) -> Ints:
        """The column of each row."""
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def row(self) -> Ints:
        """The row that each position belongs to."""
        return self.order.take(self.rows.owner)

    @cached_property
    def question(self) -> Ints:
        """The question that each position belongs to."""
        return self.row if self.rights is None else self.rights.question.take(self.row)

    @cached_property
    def named(self) -> Bools:
        """Which positions are those of answers: neither null nor padding."""
        named: Bools = self.labels != None  # noqa: E711  Each label by itself.
        return named

    def tie_sizes(self, margins: Ints) -> Ints:
        """Size of gold's tie on each row, 0 where gold is not in the tie set."""
        loses = self.rows.maximum(-margins, 0) > 0
        ties = 1 + self.rows.count_zero(margins).astype(np.int32)
        return np.where(loses, 0, ties).take(self.rank)


@dataclass(frozen=True)
class Scores:
    """Exact plurality scores, Eq. (score): 1/t where gold is in a tie of t categories, 0 where it is not.

    The score of question i is `numerators[i] / denominator`. Where several answers are right, it is the share of right
    ones among those that tie.
    """

    ties: Ints
    """The size t of the tie in which each row's right answer is, 0 where it loses (see `Rivals`)."""
    rights: RightSets | None = None
    """Which rows belong to a question, where any has several right answers."""

    @cached_property
    def denominator(self) -> int:
        """Smallest common denominator of all scores."""
        return lcm(*(int(size) for size in np.flatnonzero(np.bincount(self.ties)) if size))

    @cached_property
    def numerators(self) -> Ints:
        """The scores times the denominator, one for each question."""
        # Products of two scores, summed over millions of questions, must not overflow.
        dtype = np.int64 if self.denominator < 2**20 else object
        credit = credits(self.denominator, int(self.ties.max(initial=0)), dtype).take(self.ties)
        return credit if self.rights is None else self.rights.gather(credit)

    @cached_property
    def total(self) -> int:
        """The sum of all numerators."""
        return int(self.numerators.sum())

    @property
    def tied(self) -> int:
        """On how many questions right answers tie with wrong ones."""
        return int(((self.numerators > 0) & (self.numerators < self.denominator)).sum())

    def among(self, questions: Bools) -> Scores:
        """The scores on some of the questions (a mask)."""
        if self.rights is None:
            return Scores(self.ties[questions])
        return Scores(self.ties[self.rights.spread(questions)], self.rights.select(questions))


def credits(denominator: int, largest: int, dtype: npt.DTypeLike) -> Ints:
    """What gold gets in a tie of 0, 1, …, largest categories, times the denominator; nothing where it loses."""
    return np.array([0, *(tie_credit(denominator, size) for size in range(1, largest + 1))], dtype=dtype)


def tie_credit(worth: Any, size: Any) -> Any:
    """What gold gets of a question worth this much in a tie of this size, Eq. (score): an equal share.

    The one place that says how ties are scored; numbers or arrays. Whole numbers are multiples of the sizes that occur.

    >>> tie_credit(6, 3), tie_credit(0.5, 2)
    (2, 0.25)
    """
    whole = isinstance(worth, int) or getattr(worth, "dtype", np.dtype(np.float64)).kind in "iuO"
    return worth // size if whole else worth / size


@dataclass(frozen=True)
class Nulls:
    """Null votes by model, question and reason: a row each."""

    model: Ints
    question: Ints
    reason: Ints
    votes: Ints
    names: tuple[str, ...]
    """The reasons, sorted."""

    def where(self, rows: Bools) -> Nulls:
        """Keep some rows (a mask)."""
        return replace(
            self, model=self.model[rows], question=self.question[rows], reason=self.reason[rows], votes=self.votes[rows]
        )

    def heard(self, reasons: Collection[str]) -> Nulls:
        """Keep what has one of these reasons."""
        return self.where(np.isin(self.names, list(reasons)).take(self.reason))

    def of(self, model: int) -> dict[str, int]:
        """How many null votes of a model each reason caused, the commonest first."""
        own = self.model == model
        totals = np.bincount(self.reason[own], self.votes[own], len(self.names)).astype(int)
        found = {name: int(total) for name, total in zip(self.names, totals, strict=True) if total}
        return dict(sorted(found.items(), key=lambda each: -each[1]))


_NONE = np.empty(0, dtype=np.int64)
NO_NULLS = Nulls(_NONE, _NONE, _NONE, _NONE, ())


@dataclass(frozen=True, repr=False)
class Tally:
    """Vote counts of one dataset. Models and questions are sorted by name, and arrays have the same order."""

    dataset: str
    models: tuple[str, ...]
    questions: tuple[str, ...]
    votes: Ints = field(repr=False)
    """Votes cast, models x questions; 0 where a model never answered a question."""
    gold: Ints = field(repr=False)
    """Votes for gold, models x rows: a row is a question, or one of its right answers (see `Rivals`)."""
    rivals: Rivals = field(repr=False)
    starts: Ints = field(repr=False)
    """Where each model's rival entries start (and, last, where they end)."""
    positions: Ints = field(repr=False)
    """The position among the rivals of each entry."""
    counts: Ints = field(repr=False)
    """The votes of each entry."""
    clusters: tuple[str, ...] | None = field(default=None, repr=False)
    """The cluster of each question, where that is known."""
    nulls: Nulls = field(default=NO_NULLS, repr=False)
    """Null votes and why they were cast."""
    silent: Silence = "counts"
    """Whether null votes are a category that can win, or are ignored."""
    merged_right: bool = False
    """Whether all right answers of a question are one category, which a vote among texts cannot know."""
    unlabelled: int = 0
    """How many questions were left out because they have no label."""
    counted: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """The counts of `Votes` that it was made of, of all models and questions: what checks look at. It does not travel
    between processes."""
    only_grades: bool = field(default=False, repr=False)
    """Whether the votes only say right or wrong: then they can be counted, but not pooled."""
    options: Ints | None = field(default=None, repr=False)
    """How many options each question has, 0 where the votes do not state it; None where they nowhere do."""
    _kept: Kept = field(default_factory=lambda: Kept(KEPT_BYTES), init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        sizes = ((len(self.models), "model"), (len(self.questions), "question"), (int(self.votes.sum()), "vote"))
        counted = ", ".join(f"{number:,} {what}{'' if number == 1 else 's'}" for number, what in sizes)
        return f"Tally({self.dataset!r}: {counted})"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"counted": None}

    def index(self, model: str) -> int:
        """Find a model by name."""
        try:
            return self.models.index(model)
        except ValueError:
            raise InputError(
                f"there is no model {quote(model)} in dataset {quote(self.dataset)}; {suggestion(model, self.models)}"
            ) from None

    @cached_property
    def reasons(self) -> tuple[Mapping[str, int], ...]:
        """Per model, how many null votes each reason caused."""
        return tuple(self.nulls.of(model) for model in range(len(self.models)))

    @property
    def rights(self) -> RightSets | None:
        """The right answers of questions that have several; None where every question has one row."""
        return self.rivals.rights

    @property
    def question_of(self) -> Ints | None:
        """The question of each row; None where every question has one row, its own."""
        return None if self.rights is None else self.rights.question

    def by_row(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Questions' values (along the last axis), for each row."""
        return values if self.rights is None else self.rights.spread(values)

    @cached_property
    def answered(self) -> Bools:
        """Which questions each model answered at all (abstaining is answering), models x questions."""
        return self.votes > 0

    def right_votes(self, model: int) -> Ints:
        """A model's votes for right answers, one number for each question."""
        votes = self.gold[model].astype(np.int64)
        return votes if self.rights is None else self.rights.gather(votes)

    @cached_property
    def principal(self) -> Tally:
        """Each question by the right answer that got most votes: what laws that know of one right answer look at."""
        if self.rights is None:
            return self
        order = np.lexsort((self.gold.sum(axis=0, dtype=np.int64), self.rights.question))
        rows = np.zeros(len(order), dtype=bool)
        rows[order[np.flatnonzero(np.diff(self.rights.question, append=-1))]] = True
        everything = list(range(len(self.models))), np.ones(len(self.questions), dtype=bool)
        return self._keep(*everything, self.counts, rows)

    @property
    def named(self) -> Bools:
        """On which questions some model named a right answer."""
        rows = self.gold.any(axis=0)
        named = np.zeros(len(self.questions), dtype=bool)
        named[np.flatnonzero(rows) if self.rights is None else self.rights.question[rows]] = True
        return named

    @cached_property
    def samples(self) -> tuple[int | None, ...]:
        """Votes per question of each model; None where the number differs between questions."""
        most = self.votes.max(axis=1, initial=0)
        even = (((own == n) | (own == 0)).all() for n, own in zip(most, self.votes, strict=True))
        return tuple(int(n) if same else None for n, same in zip(most, even, strict=True))

    @cached_property
    def complete(self) -> bool:
        """Whether every model answered every question."""
        return bool(self.votes.all())

    def require_answers(self) -> None:
        """Refuse to pool votes that only say right or wrong; whatever pools votes calls this first."""
        if self.only_grades:
            raise InputError(
                f"the votes of dataset {quote(self.dataset)} only say right or wrong, and pooling needs the answers: "
                "two wrong votes win together only if they agree; without answers there are masses, phi_adj and "
                "ceilings (`pair(...).masses`), `summary`, `compare` and `screen` by swap mass"
            )

    def margins(self, model: int) -> Ints:
        """Gold's count less each rival's, over all rival positions."""
        self.require_answers()
        return self._own_margins(model)

    def _own_margins(self, model: int) -> Ints:
        """A model's margins for its own score, which needs no more than right or wrong."""

        def derive() -> tuple[Ints, int]:
            dtype = np.int16 if self._most < 2**14 else np.int64
            margins: Ints = self.gold[model].astype(dtype).take(self.rivals.row)
            own = slice(self.starts[model], self.starts[model + 1])
            margins[self.positions[own]] -= self.counts[own].astype(dtype)
            return margins, margins.nbytes

        found: Ints = self._kept.get(("margins", model), derive)
        return found

    @cached_property
    def _most(self) -> int:
        return int(self.votes.max(initial=0))

    def derived(self, key: Hashable, derive: Callable[[], tuple[Any, int]]) -> Any:
        """What others derive of single models (a thing and its bytes), kept while there is room."""
        return self._kept.get(key, derive)

    def strongest(self, model: int) -> tuple[Ints, Ints]:
        """Gold's least margin on each row, in the rivals' order, and the position of the rival that sets it."""

        def derive() -> tuple[tuple[Ints, Ints], int]:
            rows, margins = self.rivals.rows, self.margins(model)
            position = rows.where_maximum(-margins)
            least = self.gold[model].astype(margins.dtype).take(self.rivals.order)
            # Rows without rivals come last: there, gold's own count is its lead.
            contested = max(rows.widths, default=0)
            least[:contested] = margins.take(position[:contested])
            return (least, position), least.nbytes + position.nbytes

        found: tuple[Ints, Ints] = self._kept.get(("strongest", model), derive)
        return found

    @cached_property
    def ties(self) -> Ints:
        """Size of each model's own tie with gold on every row, 0 where gold loses, models x rows."""
        ties = np.zeros(self.gold.shape, dtype=np.min_scalar_type(self.rivals.rows.height + 1))
        for model, row in enumerate(ties):
            row[:] = np.where(self.gold[model] > 0, self.rivals.tie_sizes(self._own_margins(model)), 0)
        return ties

    @property
    def scores(self) -> _ScoresOf:
        """Each model's own plurality score on every question; 0 where it never answered."""
        # Not kept: a tally that held them would hold itself, and its memory until the garbage collector comes by.
        return _ScoresOf(self)

    def dense(self, model: int) -> Ints:
        """A model's votes at every rival position."""
        self.require_answers()
        counts = np.zeros(len(self.rivals.question), dtype=np.int64)
        own = slice(self.starts[model], self.starts[model + 1])
        counts[self.positions[own]] = self.counts[own]
        return counts

    def select(self, *, models: Sequence[str] | None = None, questions: Bools | None = None) -> Tally:
        """Keep some models or some questions (a mask); rivals that nobody left voted for vanish."""
        kept = [self.index(model) for model in models] if models is not None else list(range(len(self.models)))
        mask = np.ones(len(self.questions), dtype=bool) if questions is None else questions
        return self._keep(kept, mask, self.counts)

    def silence(self, how: Silence, heard: Collection[str] = HEARD) -> Tally:
        """Say what null votes do: they are a category that can win, or they are ignored.

        Parameters
        ----------
        how : {"counts", "ignored"}
            `counts`, as in the paper: null is a category like any other. `ignored`: null is no category. A model's
            share of an answer stays its count over all its votes, so one that is silent half the time speaks with half
            a voice; where no member of a vote named anything, there is no answer and the score is 0.
        heard : collection of str
            Reasons of null votes that stay a category where others are ignored.

        Returns
        -------
        Tally
            The same questions and sample counts.

        Examples
        --------
        >>> import swaplaw as sl
        >>> tally = sl.demo_votes().tally()
        >>> [str(sl.summary(votes)[-1].plurality) for votes in (tally, tally.silence("ignored"))]
        ['51/200', '31/75']
        """
        if how == self.silent:
            return self
        if how == "counts":
            raise InputError("these votes are counted without null votes already: count them again")
        owner = np.repeat(np.arange(len(self.models)), np.diff(self.starts))
        null = ~self.rivals.named[self.positions]
        loud = self.nulls.heard(heard)
        left = grid(loud.model, loud.question, loud.votes, self.votes.shape)
        counts = self.counts.copy()
        counts[null] = left[owner[null], self.rivals.question[self.positions[null]]]
        everything = list(range(len(self.models))), np.ones(len(self.questions), dtype=bool)
        return replace(self._keep(*everything, counts), silent=how)

    def _keep(self, kept: Sequence[int], mask: Bools, counts: Ints, principal: Bools | None = None) -> Tally:
        """Keep some models and questions, with these counts of entries; rivals without votes vanish.

        `principal` are the rows to keep where one of each question is enough.
        """
        entry_model = np.repeat(np.arange(len(self.models)), np.diff(self.starts))
        renumbered = np.full(len(self.models), -1)
        renumbered[kept] = np.arange(len(kept))
        rows = self.by_row(mask) if principal is None else principal
        use = (renumbered[entry_model] >= 0) & rows[self.rivals.row[self.positions]] & (counts > 0)
        voted = np.zeros(len(self.rivals.row), dtype=bool)
        voted[self.positions[use]] = True
        position = np.flatnonzero(voted)
        row = (np.cumsum(rows) - 1)[self.rivals.row[position]]
        rights = None if self.rights is None or principal is not None else self.rights.select(mask)
        rivals, spots = arrange(row, int(rows.sum()), self.rivals.labels[position], rights)
        inverse = (np.cumsum(voted) - 1)[self.positions[use]]
        starts, positions, counts = by_model(renumbered[entry_model[use]], spots[inverse], counts[use], len(kept))
        nulls = self.nulls.where((renumbered[self.nulls.model] >= 0) & mask[self.nulls.question])
        return Tally(
            self.dataset,
            tuple(self.models[model] for model in kept),
            tuple(np.array(self.questions, dtype=object)[mask]),
            self.votes[kept][:, mask],
            self.gold[kept][:, rows],
            rivals,
            starts,
            positions,
            counts,
            None if self.clusters is None else tuple(np.array(self.clusters, dtype=object)[mask]),
            replace(nulls, model=renumbered[nulls.model], question=(np.cumsum(mask) - 1)[nulls.question]),
            self.silent,
            self.merged_right,
            unlabelled=self.unlabelled,
            counted=self.counted,
            only_grades=self.only_grades,
            options=None if self.options is None else self.options[mask],
        )


class _ScoresOf:
    """The scores of a tally's models, each made when it is asked for: only ties are held for all of them."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def __iter__(self) -> Iterator[Scores]:
        return (self[model] for model in range(len(self.tally.models)))

    def __getitem__(self, index: int) -> Scores:
        model = range(len(self.tally.models))[index]

        def derive() -> tuple[Scores, int]:
            scores = Scores(self.tally.ties[model], self.tally.rights)
            return scores, 8 * len(scores.ties)

        found: Scores = self.tally._kept.get(("scores", model), derive)
        return found


def arrange(
    row: Ints,
    number: int,
    labels: Sequence[str | None] | npt.NDArray[np.object_],
    rights: RightSets | None = None,
) -> tuple[Rivals, Ints]:
    """Lay the rivals of a number of rows out, given the row of each; returns also each one's position."""
    sizes = np.bincount(row, minlength=number)
    order = np.argsort(-sizes, kind="stable")
    height = np.empty(len(row), dtype=np.intp)
    # NumPy sorts numbers of two bytes in linear time.
    narrow = row.astype(np.min_scalar_type(number), copy=False)
    height[np.argsort(narrow, kind="stable")] = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = Rows.padded(number, np.bincount(height))
    labelled = np.full(int(rows.widths.sum()), None, dtype=object)
    rivals = Rivals(order, rows, labelled, rights)
    position = (np.cumsum(rows.widths) - rows.widths)[height] + rivals.rank[row]
    labelled[position] = labels
    return rivals, position


def by_model(model: Ints, position: Ints, counts: Ints, models: int) -> tuple[Ints, Ints, Ints]:
    """Sort entries by model and position, adding up entries that share both."""
    key = model.astype(np.int64) * (int(position.max(initial=0)) + 1) + position
    if (key[1:] > key[:-1]).all():
        return np.searchsorted(model, np.arange(models + 1)), position.astype(np.int32), _narrow(counts)
    unique, total = summed(key, models * (int(position.max(initial=0)) + 1), counts)
    owner, spot = np.divmod(unique, int(position.max(initial=0)) + 1)
    starts = np.searchsorted(owner, np.arange(models + 1))
    return starts, spot.astype(np.int32), _narrow(total)


def _narrow(values: Ints) -> Ints:
    """Store counts in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def tally_array(dataset: str, models: Sequence[str], questions: Sequence[str], counts: Ints) -> Tally:
    """Build the tally of counts that are an array already: models x questions x categories, gold the first category.

    Models and questions must be sorted, and every model must have voted on every question.
    """
    kinds = counts.shape[2] - 1
    width = len(questions)
    rows = Rows.padded(width, np.full(kinds, width))
    rivals = Rivals(np.arange(width), rows, np.repeat(np.arange(1, kinds + 1).astype(str).astype(object), width))
    entries = kinds * width
    return Tally(
        dataset,
        tuple(models),
        tuple(questions),
        _narrow(counts.sum(axis=2)),
        _narrow(counts[:, :, 0]),
        rivals,
        np.arange(len(models) + 1) * entries,
        np.tile(np.arange(entries, dtype=np.int32), len(models)),
        _narrow(counts[:, :, 1:].transpose(0, 2, 1).reshape(-1)),
    )


def grid(model: Ints, column: Ints, votes: Ints, shape: tuple[int, int]) -> Ints:
    """Add votes up by model and question (or row)."""
    sums = np.bincount(model * shape[1] + column, votes, minlength=shape[0] * shape[1])
    return _narrow(sums.astype(np.int64).reshape(shape))
