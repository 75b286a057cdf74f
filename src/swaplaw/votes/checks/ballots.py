"""What checks look at, whole numbers to compare and sum and texts that are read once each; and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints
from swaplaw._result import Result
from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.answers.forms import letter as option_letter
from swaplaw.errors import several
from swaplaw.votes.codes import distinct, numbered, summed
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
SERIOUS = 0.05
"""A fault in this share of a model's votes or more is an error, not a warning."""
SURE = 20
"""Questions on which a model does the same thing before it is called a habit."""


@dataclass(frozen=True)
class Check(Result):
    """Something that looks wrong in votes."""

    name: str
    severity: Severity
    model: str | None
    """The model that it is about, if it is about one."""
    questions: int
    """How many questions are affected."""
    message: str
    """What is wrong, with an example."""
    fix: str
    """What would put it right."""
    dataset: str = ""
    share: float | None = None
    """The share of the model's votes that count as wrong and may be right, where that is what it says."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def votes_differ(votes: int, share: float) -> str:
    """Say how many votes differ, and which share of all they are.

    >>> votes_differ(1, 0.001), votes_differ(20, 0.1)
    ('1 vote (under 1%) differs', '20 votes (10%) differ')
    """
    shown = "under 1%" if share < 0.01 else f"{share:.0%}"
    return f"{several(votes, 'vote')} ({shown}) {'differs' if votes == 1 else 'differ'}"


LONG = 10
"""Digits of a number from which on it counts nothing."""
FEW_WRONG = 5
"""Wrong answers of a model from which on they tell whether questions have options."""
CHAINS = ("letter", "text", "numeric", "math")
"""Canonical forms by which an answer may turn out to be gold."""


@dataclass(frozen=True)
class Sizes:
    """How many different names there are, each of which has a place in a sorted list."""

    models: int
    questions: int
    answers: int
    golds: int


@dataclass(frozen=True)
class Rows:
    """A row for each model, question and answer, in any order."""

    model: Ints
    question: Ints
    answer: Ints
    """Its place among all answers; the place after the last one stands for no answer."""
    gold: Ints
    """The place of the question's gold; the place after the last one stands for an unknown one."""
    right: Bools
    labelled: Bools
    votes: Ints
    sizes: Sizes

    def where(self, chosen: Bools | Ints) -> Rows:
        """Some of the rows."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        columns = (each.name for each in fields(self) if each.name != "sizes")
        return replace(self, **{name: getattr(self, name).take(places) for name in columns})

    def merged(self) -> Rows:
        """The same votes, with those of one model, question and answer in one row."""
        key = 2 * (self.ballot * (self.sizes.answers + 1) + self.answer) + self.right
        ranked = np.sort(key)
        if (ranked[1:] != ranked[:-1]).all():
            return self
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return replace(self.where(first), votes=np.bincount(place, self.votes).astype(np.int64))

    def of(self, model: int) -> Rows:
        """The rows of a model, in their order."""
        order, starts = self._by_model
        return self.where(order[starts[model] : starts[model + 1]])

    @cached_property
    def _by_model(self) -> tuple[Ints, Ints]:
        """Places of all rows, model by model, and where each model's begin: looking for each one's would take long."""
        narrow = self.model.astype(np.min_scalar_type(self.sizes.models))  # Small numbers are sorted fastest.
        starts = np.concatenate([[0], np.bincount(self.model, minlength=self.sizes.models).cumsum()])
        return np.argsort(narrow, kind="stable"), starts

    @cached_property
    def ballot(self) -> Ints:
        """A number for each model's votes on a question."""
        return self.model * self.sizes.questions + self.question

    @cached_property
    def ballots(self) -> Ints:
        """The ballots that there are, rising."""
        return distinct(self.ballot, self.sizes.models * self.sizes.questions)[0]

    @cached_property
    def models(self) -> Ints:
        """The models that there are."""
        return np.flatnonzero(np.bincount(self.model, minlength=self.sizes.models))

    @cached_property
    def questions(self) -> int:
        """How many different questions there are."""
        return int(np.count_nonzero(np.bincount(self.question, minlength=self.sizes.questions)))

    @cached_property
    def asked(self) -> Ints:
        """How many different questions each model has."""
        return np.bincount(self.ballots // max(1, self.sizes.questions), minlength=self.sizes.models)

    @cached_property
    def cast(self) -> Ints:
        """Votes of each model."""
        return added(self.model, self.votes, self.sizes.models)

    @cached_property
    def answers(self) -> Ints:
        """The answers that there are, rising; no answer is not among them."""
        return np.flatnonzero(np.bincount(self.answer, minlength=self.sizes.answers)[: self.sizes.answers])

    @cached_property
    def golds(self) -> Ints:
        """The golds that there are, rising."""
        return np.flatnonzero(np.bincount(self.gold, minlength=self.sizes.golds)[: self.sizes.golds])

    @property
    def total(self) -> int:
        """All votes."""
        return int(self.votes.sum())

    @property
    def commonest(self) -> int:
        """The answer with the most votes, the first of equals."""
        return int(added(self.answer, self.votes, self.sizes.answers).argmax())

    def per(self, one: Ints, size: int, other: Ints, sizes: int) -> tuple[Ints, Ints, Ints]:
        """Votes of each two places that occur together: the one, the other (each below its size), and their votes."""
        found, votes = summed(one * sizes + other, size * sizes, self.votes)
        return found // max(1, sizes), found % max(1, sizes), votes


@dataclass(frozen=True)
class Ballots:
    """One dataset's votes, and the names whose places their rows hold."""

    dataset: str
    rows: Rows = field(repr=False)
    names: Names = field(repr=False)
    clusters: int | None
    """How many clusters there are, if there is such a column."""

    @cached_property
    def judged(self) -> Ballots:
        """The questions that have a label: nobody is wrong where nobody knows what is right."""
        labelled = self.rows.labelled
        return self if labelled.all() or not labelled.any() else replace(self, rows=self.rows.where(labelled))

    @cached_property
    def models(self) -> list[str]:
        """Every model, by name."""
        return [self.names.models[model] for model in self.rows.models]

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return self.rows.questions

    @cached_property
    def golds(self) -> set[str]:
        """All right answers."""
        return {self.names.golds[gold] for gold in self.rows.golds}

    @cached_property
    def answered(self) -> Rows:
        """Rows that are not abstentions."""
        given = self.rows.answer < self.rows.sizes.answers
        return self.rows if given.all() else self.rows.where(given)

    @cached_property
    def wrong(self) -> Rows:
        """Answers that are not right."""
        return self.answered.where(~self.answered.right)

    @cached_property
    def letters(self) -> bool:
        """Whether the right answers are letters of options."""
        return bool(self.golds) and all(len(option_letter(gold)) == 1 for gold in self.golds)

    @cached_property
    def closed(self) -> bool:
        """Whether a few answers are right again and again, and wrong ones are among them: questions have options."""
        few = 2 <= len(self.golds) <= 26 and (self.letters or 5 * len(self.golds) <= self.questions)
        return few and not self._measured and ((self.letters and not self.highest) or not self._open)

    @cached_property
    def _measured(self) -> bool:
        """Whether right answers are whole numbers with gaps between them, some below 0: these are no labels."""
        whole = {int(gold) for gold in self.golds} if self.highest else {0}
        return min(whole) < 0 and max(whole) - min(whole) >= len(whole)

    @cached_property
    def _open(self) -> bool:
        """Whether models that know right answers, if there are any, give wrong ones that are nobody's gold.

        A model knows them if it is right at least twice as often as guessing would be.
        """
        outside = self._by_name(self.where(self.wrong, lambda text: not self.is_option(text)).cast)
        wrong = self._by_name(self.wrong.cast)
        telling = [
            model
            for model in self.models
            if wrong[model] >= FEW_WRONG and self.correct[model] * len(self.golds) >= 2 * self.answers[model]
        ]
        return bool(telling) and all(2 * outside[model] > wrong[model] for model in telling)

    @cached_property
    def highest(self) -> int:
        """The size of the largest right answer, if all of them are whole numbers, else 0."""
        return max((abs(int(gold)) for gold in self.golds), default=0) if all(map(_is_whole, self.golds)) else 0

    @cached_property
    def _labels(self) -> set[str]:
        """Letters that may be options: golds, those before the last gold, and others that follow without a gap.

        A digit is no option where golds are letters, nor is X where the options are A to D.
        """
        golds = {option_letter(gold) for gold in self.golds}
        given = golds | {option_letter(text) for text in self.texts(self.answered)}
        if not all("A" <= gold <= "Z" for gold in golds):
            return golds | {text for text in given if len(text) == 1 and all(map(str.isdigit, {text} | golds))}
        if golds <= {"Y", "N"} or golds <= {"T", "F"}:
            return golds
        last = max(golds)
        while chr(ord(last) + 1) in given:
            last = chr(ord(last) + 1)
        return {chr(code) for code in range(ord("A"), ord(last) + 1)}

    @cached_property
    def _known(self) -> set[str]:
        return {form(chain)(gold) for chain in CHAINS for gold in self.golds}

    def is_option(self, text: str) -> bool:
        """Whether an answer is one of the options, however it is spelt; a wrong count may be above every gold."""
        if self.highest and _is_whole(text):
            return abs(int(text)) <= 2 * self.highest
        if self.letters:
            return option_letter(text) in self._labels
        return any(form(chain)(text) in self._known for chain in CHAINS)

    def texts(self, rows: Rows) -> list[str]:
        """The different answers of some rows, sorted."""
        return [self.names.answers[answer] for answer in rows.answers]

    def where(self, rows: Rows, told: Callable[[str], bool]) -> Rows:
        """The rows whose answer, read once for all of them, is told to be such."""
        chosen = [answer for answer in rows.answers.tolist() if told(self.names.answers[answer])]
        return rows.where(flags(chosen, rows.sizes.answers)[rows.answer])

    def first(self, rows: Rows) -> str:
        """An example: the commonest answer, the first of equals."""
        return self.names.answers[rows.commonest]

    def by_model(self, rows: Rows) -> Iterator[tuple[str, Rows]]:
        """The rows of each model, by name."""
        for model in rows.models:
            yield self.names.models[model], rows.of(model)

    @cached_property
    def votes(self) -> dict[str, int]:
        """Votes of each model."""
        return self._by_name(self.rows.cast)

    @cached_property
    def answers(self) -> dict[str, int]:
        """Votes of each model that are not abstentions."""
        return self._by_name(self.answered.cast)

    @cached_property
    def asked(self) -> dict[str, int]:
        """Questions that each model answered."""
        return self._by_name(self.answered.asked)

    @cached_property
    def correct(self) -> dict[str, int]:
        """Right votes of each model."""
        return self._by_name(self.answered.where(self.answered.right).cast)

    def _by_name(self, numbers: Ints) -> dict[str, int]:
        return dict(zip(self.names.models, numbers.tolist(), strict=True))

    def check(
        self,
        name: str,
        severity: Severity,
        model: str | None,
        questions: int,
        message: str,
        fix: str,
        share: float | None = None,
    ) -> Check:
        """A check of this dataset."""
        return Check(name, severity, model, questions, message, fix, self.dataset, share)


@dataclass(frozen=True)
class Names:
    """Every name in its place, sorted."""

    models: Sequence[str]
    answers: Sequence[str]
    golds: Sequence[str]
    questions: Sequence[str]


def from_table(votes: Votes, dataset: str) -> Ballots:
    """One dataset of a table."""
    import polars as pl

    counts, code = votes.counts, votes.codes
    graded = "correct" in counts.columns
    (models, model), (questions, question), (answers, answer), (golds, gold) = map(
        code, ("model", "question", "answer", "gold")
    )
    rows = Rows(
        model,
        question,
        answer,
        np.full(len(gold), len(golds)) if graded else gold,
        code.right,
        gold < len(golds),
        counts["votes"].to_numpy(),
        Sizes(len(models), len(questions), len(answers), len(golds)),
    )
    here = (counts["dataset"] == dataset).to_numpy()
    if not here.all():
        rows, counts = rows.where(here), counts.filter(pl.Series(here))
    # Nothing else parts votes for one answer.
    split = graded or "reason" in counts.columns
    clusters = counts["cluster"].n_unique() if "cluster" in counts.columns else None
    names = Names(models.to_list(), answers.to_list(), golds.to_list(), questions.to_list())
    return Ballots(dataset, rows.merged() if split else rows, names, clusters)


def from_tally(tally: Tally) -> Ballots:
    """Lay a tally's entries out as rows; the text of a right answer is gold's, or unknown."""
    import polars as pl

    rights = tally.rivals.rights
    question_of = np.arange(len(tally.questions)) if rights is None else rights.question
    copies = np.ones(len(question_of), dtype=np.int64) if rights is None else rights.copies
    first = np.searchsorted(question_of, question_of)
    model, row = np.nonzero(tally.gold)
    owner = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
    labels = pl.Series(tally.rivals.labels.tolist(), dtype=pl.String)
    golds = pl.Series(tally.golds or [None] * len(tally.questions), dtype=pl.String)
    said = [f"gold {number}" if number else "gold" for number in (np.arange(len(question_of)) - first).tolist()]
    texts = pl.concat([golds.gather(question_of).fill_null(pl.Series(said)), labels])
    answers, place = numbered(texts)
    right, known = numbered(golds)
    wrong = np.arange(len(owner))
    if rights is not None:
        # An answer is wrong if it is a rival in every row of its question; one of these rows tells of it.
        spots = np.unique(tally.positions)
        number = len(answers) + 1
        key = tally.rivals.question * number + place[len(question_of) :]
        often = np.bincount(key[spots], minlength=len(tally.questions) * number)
        everywhere = often[key] == np.bincount(question_of)[tally.rivals.question]
        told = everywhere & (tally.rivals.row == first[tally.rivals.row])
        wrong = np.flatnonzero(told[tally.positions])
    spot = tally.positions[wrong]
    places = np.concatenate([question_of[row], tally.rivals.question[spot]])
    rows = Rows(
        np.concatenate([model, owner[wrong]]),
        places,
        place[np.concatenate([row, len(question_of) + spot])],
        known[places],
        np.arange(len(places)) < len(row),
        np.ones(len(places), dtype=bool),
        np.concatenate([tally.gold[model, row] * copies[row], tally.counts[wrong]]).astype(np.int64),
        Sizes(len(tally.models), len(tally.questions), len(answers), len(right)),
    )
    names = Names(tally.models, answers.to_list(), right.to_list(), tally.questions)
    return Ballots(tally.dataset, rows, names, None if tally.clusters is None else len(set(tally.clusters)))


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < LONG


@cache
def form(chain: str) -> Canonicaliser:
    """A chain of canonical forms."""
    return canonicaliser([chain])


def added(place: Ints, votes: Ints, size: int) -> Ints:
    """Votes of each place below a size."""
    total: npt.NDArray[np.int64] = np.bincount(place, votes, minlength=size).astype(np.int64)
    return total


def flags(places: Ints | list[int], size: int) -> Bools:
    """A mask that is true at some places, with one more for no answer."""
    found = np.zeros(size + 1, dtype=bool)
    found[places] = True
    return found
