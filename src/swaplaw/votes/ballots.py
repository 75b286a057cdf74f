"""Votes as they were cast, whether or not anybody knows the right answers.

A tally sets gold apart from its rivals, so it needs a label for every question. Ballots don't: they count the votes of
every category, and know which questions have a label, and which categories are right there. Where answers are graded,
several spellings may be right, and count as one answer; otherwise at most one category is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints
from swaplaw.errors import InputError, quote, several, suggestion

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Tally


@dataclass(frozen=True, repr=False)
class Ballots:
    """Counts per model and category; the categories of a question stand together."""

    dataset: str
    models: tuple[str, ...]
    questions: tuple[str, ...]
    question: Ints = field(repr=False)
    """The question that each category belongs to, in order."""
    answers: npt.NDArray[np.object_] = field(repr=False)
    """What each category says; None is the null category."""
    counts: Ints = field(repr=False)
    """Votes: models x categories."""
    labelled: Bools = field(repr=False)
    """Which questions have a label."""
    right: Bools = field(repr=False)
    """Which categories are right, as far as is known."""
    graded: bool = False
    """Whether several spellings of an answer may be right."""
    clusters: tuple[str, ...] | None = field(default=None, repr=False)
    """What each question is nested in, where that is known."""

    def __repr__(self) -> str:
        known = f"{int(self.labelled.sum()):,} of {several(len(self.questions), 'question')} labelled"
        return f"Ballots({self.dataset!r}: {len(self.models)} models, {known})"

    @cached_property
    def starts(self) -> Ints:
        """Where each question's categories begin (and, last, where they end)."""
        return np.searchsorted(self.question, np.arange(len(self.questions) + 1))

    @cached_property
    def votes(self) -> Ints:
        """Votes cast: models x questions."""
        return np.add.reduceat(self.counts, self.starts[:-1], axis=1)

    @cached_property
    def null(self) -> Bools:
        """Which categories are null, which is never right."""
        return np.array([answer is None for answer in self.answers], dtype=bool)

    def index(self, model: str) -> int:
        """Find a model by name."""
        if model not in self.models:
            raise InputError(
                f"there is no model {quote(model)} in dataset {quote(self.dataset)}; {suggestion(model, self.models)}"
            )
        return self.models.index(model)

    def with_labels(self, labels: Mapping[str, str]) -> Ballots:
        """Add labels: question to right answer, spelt as in the votes; an answer that nobody gave may be right, too."""
        place = {question: number for number, question in enumerate(self.questions)}
        labelled, right = self.labelled.copy(), self.right.copy()
        for question, answer in labels.items():
            if question not in place:
                raise InputError(f"there is a label for question {quote(question)}, which has no votes")
            number = place[question]
            own = slice(self.starts[number], self.starts[number + 1])
            given = self.answers[own] == answer
            if labelled[number] and (given != right[own]).any():
                raise InputError(f"question {quote(question)} already has another label than {quote(answer)}")
            labelled[number], right[own] = True, given
        return replace(self, labelled=labelled, right=right)

    def tally(self, *, labelled: bool = True) -> Tally:
        """Count as a tally does: the questions with a label, or all of them as if none had one."""
        from swaplaw.votes.counts import sides
        from swaplaw.votes.tally import Tally

        kept = self.labelled if labelled else np.ones(len(self.questions), dtype=bool)
        own = kept[self.question]
        model, place = np.nonzero(self.counts[:, own])
        cast = model, place, self.counts[:, own][model, place]
        question, right = (np.cumsum(kept) - 1)[self.question[own]], self.right[own] & labelled
        names = np.array(self.questions, dtype=object)[kept]
        return Tally(
            self.dataset,
            self.models,
            tuple(names),
            self.votes[:, kept],
            *sides(question, right, self.answers[own], cast, len(self.models), merge_right=True),
            clusters=None if self.clusters is None else tuple(np.array(self.clusters, dtype=object)[kept]),
            unlabelled=len(self.questions) - len(names),
        )

    def select(self, questions: Bools) -> Ballots:
        """Keep some questions (a mask)."""
        own = questions[self.question]
        return replace(
            self,
            questions=tuple(np.array(self.questions, dtype=object)[questions]),
            question=(np.cumsum(questions) - 1)[self.question[own]],
            answers=self.answers[own],
            counts=self.counts[:, own],
            labelled=self.labelled[questions],
            right=self.right[own],
            clusters=None if self.clusters is None else tuple(np.array(self.clusters, dtype=object)[questions]),
        )

    def without_labels(self) -> Ballots:
        """The same votes, as if nobody had labelled a question."""
        return self.knowing(np.zeros(len(self.questions), dtype=bool))

    def knowing(self, questions: Bools) -> Ballots:
        """The same votes with the labels of some questions only."""
        labelled = self.labelled & questions
        return replace(self, labelled=labelled, right=self.right & labelled[self.question])


def ballots_of(votes: Votes, dataset: str | None = None, models: Sequence[str] | None = None) -> Ballots:
    """Count the votes of one dataset per model and category, with whatever labels there are.

    Parameters
    ----------
    votes : Votes
        The vote table; `gold` may be missing for some or all questions.
    dataset : str, optional
        Which dataset to count, where the votes hold several.
    models : sequence of str, optional
        Count only these.

    Returns
    -------
    Ballots
        Counts of every category.

    Raises
    ------
    InputError
        If the votes hold several datasets and none is named.
    """
    import polars as pl

    from swaplaw.votes.counts import clusters_of

    chosen, counts = votes.counts_of(dataset)
    if models is not None:
        counts = counts.filter(pl.col("model").is_in(list(models)))
    names, questions = (sorted(counts[column].unique()) for column in ("model", "question"))
    graded = "correct" in counts.columns
    grade = pl.col("correct") if graded else pl.col("answer") == pl.col("gold")
    rows = counts.with_columns(grade.fill_null(False).alias("right"))
    named = (
        rows.group_by("question", "answer")
        .agg(pl.col("right").any(), pl.col("gold").first())
        .sort("question", "answer", nulls_last=True)
    )
    place = {key: number for number, key in enumerate(named.select("question", "answer").iter_rows())}
    table = np.zeros((len(names), len(place)), dtype=np.int64)
    order = {model: number for number, model in enumerate(names)}
    for model, question, answer, number in rows.select("model", "question", "answer", "votes").iter_rows():
        table[order[model], place[question, answer]] += number
    numbers = {question: number for number, question in enumerate(questions)}
    own = np.array([numbers[question] for question in named["question"]])
    labelled = np.zeros(len(questions), dtype=bool)
    labelled[own[named["gold"].is_not_null().to_numpy()]] = True
    right = named["right"].to_numpy() & labelled[own]
    answers = np.array(named["answer"].to_list(), dtype=object)
    literal = bool((right == (answers == np.array(named["gold"].to_list(), dtype=object)))[labelled[own]].all())
    loose = graded and not literal
    clusters = clusters_of(counts)
    return Ballots(chosen, tuple(names), tuple(questions), own, answers, table, labelled, right, loose, clusters)
