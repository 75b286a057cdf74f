"""From counted votes to a tally: which answers are right, and which are the rivals of each right one.

Categories are answers as they were counted: what can be known without gold. Each is right or wrong, by gold or by
grades; an answer that was graded both ways is what most of its votes say. Where a question has several right answers,
each has a row of its own (see `votes.tally`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints, alike, distinct
from swaplaw.errors import quote, several
from swaplaw.votes.tally import NO_NULLS, Nulls, RightSets, Rivals, Tally, arrange, by_model, grid

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

UNSTATED = "unstated"
"""The reason of a null vote that gives none."""
OPTIONS = "options"
"""The column that states how many options a question has. Votes are not counted by it: it comes with the counts, the
largest number that they state. A user's own column of that name, which holds something else, states nothing."""
FEWEST_OPTIONS, MOST_OPTIONS = 2, 26
"""Numbers beyond these are not numbers of options."""


class Codes:
    """Numbers the texts of a table's columns, each column once, when it is asked for."""

    def __init__(self, counts: pl.DataFrame) -> None:
        self.counts = counts
        self._found: dict[str, tuple[pl.Series, Ints]] = {}

    def __call__(self, column: str) -> tuple[pl.Series, Ints]:
        """The different texts of a column, sorted, and the place of each row's among them; null comes after all."""
        if column not in self._found:
            self._found[column] = numbered(self.counts[column])
        return self._found[column]

    @cached_property
    def right(self) -> Bools:
        """Which rows are right: by their grade, or where there are no grades because the answer is gold."""
        if "correct" in self.counts.columns:
            grades: Bools = self.counts["correct"].fill_null(False).to_numpy()
            return grades
        (answers, answer), (golds, gold) = self("answer"), self("gold")
        place = np.append(answers.search_sorted(golds).to_numpy().astype(np.int64), -1)
        # A gold that nobody gave, or that nobody knows, is no answer's place.
        place[:-1][~golds.is_in(answers.implode()).to_numpy()] = -1
        right: Bools = place.take(gold) == answer
        return right


def numbered(texts: pl.Series) -> tuple[pl.Series, Ints]:
    """The different texts, sorted, and the place of each among them; null comes after all."""
    import polars as pl

    names = texts.drop_nulls().unique().sort()
    places = texts.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(len(names)).to_numpy()
    return names, places


def tally_counts(
    dataset: str, counts: pl.DataFrame, unlabelled: int = 0, codes: Codes | None = None, *, merge_right: bool = False
) -> Tally:
    """Build the tally of one dataset from the counts of `Votes.counts`; unlabelled questions were left out.

    `merge_right` makes the right answers of a question one category.
    """
    from swaplaw.votes.contract import RIGHT

    code = Codes(counts) if codes is None else codes
    (models, m), (questions, q), (_, a) = code("model"), code("question"), code("answer")
    votes = counts["votes"].to_numpy()
    found, options = _categories(code, q, a), None
    cast = m, found.place, votes
    split = not merge_right and np.bincount(found.own[found.right]).max(initial=0) > 1
    sets = _right_sets(found.own, found.right, cast) if split else None
    if OPTIONS in counts.columns:
        wrong = found.own[~found.right & found.named]
        given = 1 + np.bincount(wrong, minlength=len(questions))
        options = stated_options(counts[OPTIONS].fill_null(0).to_numpy(), q, given)
    return Tally(
        dataset,
        tuple(models),
        tuple(questions),
        grid(m, q, votes, (len(models), len(questions))),
        *_sides(found, found.right, cast, len(models), sets),
        clusters=clusters_of(counts),
        nulls=_nulls(counts, m, q),
        merged_right=merge_right,
        unlabelled=unlabelled,
        counted=counts,
        only_grades=bool((counts["gold"] == RIGHT).all()),
        options=options,
    )


@dataclass(frozen=True)
class Categories:
    """The different answers to each question, null last: the same letter on two questions is two categories."""

    own: Ints
    """The question of each, rising."""
    texts: npt.NDArray[np.object_]
    """What each says; None is null."""
    named: Bools
    """Which are answers, and not null."""
    right: Bools
    place: Ints
    """Which category each count is of."""


def _categories(code: Codes, question: Ints, answer: Ints) -> Categories:
    counts, answers = code.counts, code("answer")[0]
    kinds = len(answers) + 1
    category, place = distinct(question * kinds + answer, kinds * len(code("question")[0]))
    own, name = np.divmod(category, kinds)
    right = np.zeros(len(own), dtype=bool)
    right[place[code.right]] = True
    if "correct" in counts.columns:
        # What was graded both ways is what most of its votes say.
        votes = counts["votes"].to_numpy()
        right = 2 * np.bincount(place, votes * code.right) > np.bincount(place, votes)
    return Categories(own, np.array([*answers, None], dtype=object)[name], name < len(answers), right, place)


@dataclass(frozen=True)
class Candidates:
    """Votes as they are before anybody labels them: every answer to a question is right in its turn."""

    tally: Tally
    """Each answer that was named has a row, in the order of the questions: what it would score, were it right."""
    answers: npt.NDArray[np.object_]
    """What each row says; None where nobody named an answer to the question."""
    labelled: Bools
    """Which questions have a label."""
    right: Bools
    """Which rows are right, as far as is known."""
    several: bool
    """Whether several answers to a question may be right, as where answers are graded; else at most one is."""

    @property
    def question(self) -> Ints:
        """The question of each row, rising."""
        assert self.tally.rights is not None
        return self.tally.rights.question

    def knowing(self, questions: Bools | None = None) -> Candidates:
        """The same votes with the labels of some questions only (a mask), or of none."""
        labelled = np.zeros_like(self.labelled) if questions is None else self.labelled & questions
        return replace(self, labelled=labelled, right=self.right & labelled[self.question])


def candidates(votes: Votes, dataset: str | None = None, models: Sequence[str] | None = None) -> Candidates:
    """Count the votes of one dataset with every answer right in its turn, with whatever labels there are.

    Parameters
    ----------
    votes : Votes
        The vote table; `gold` may be missing for some or all questions.
    dataset : str, optional
        Which dataset to count, where the votes hold several.
    models : sequence of str, optional
        Count only these.
    """
    import polars as pl

    chosen, counts = votes.counts_of(dataset)
    code = Codes(counts if models is None else counts.filter(pl.col("model").is_in(list(models))))
    counts, graded = code.counts, "correct" in code.counts.columns
    (names, m), (questions, q), (answers, a), (golds, gold) = map(code, ("model", "question", "answer", "gold"))
    if graded and votes.merge_right:
        # Right answers take the place of the first of their question.
        first = np.full(len(questions), len(answers))
        np.minimum.at(first, q[code.right], a[code.right])
        a = np.where(code.right, first[q], a)
    found = _categories(code, q, a)
    cast = m, found.place, counts["votes"].to_numpy()
    sets = _right_sets(found.own, found.named, cast, apart=True)
    tally = Tally(
        chosen,
        tuple(names),
        tuple(questions),
        grid(m, q, cast[2], (len(names), len(questions))),
        *_sides(found, found.named, cast, len(names), sets),
        clusters=clusters_of(counts),
    )
    labelled = np.zeros(len(questions), dtype=bool)
    labelled[q[gold < len(golds)]] = True
    literal = (pl.col("answer") == pl.col("gold")).fill_null(False)
    loose = pl.col("gold").is_not_null() & (literal != pl.col("correct").fill_null(False))
    several = graded and bool(counts.select(loose.any()).item())
    # Of a question where nobody named an answer, the row is that of no category: -1.
    texts, right = ([*each, none] for each, none in ((found.texts, None), (found.right, False)))
    return Candidates(
        tally,
        np.array(texts, dtype=object)[sets[1]],
        labelled,
        np.array(right)[sets[1]] & labelled[sets[0].question],
        several,
    )


def _sides(
    categories: Categories,
    right: Bools,
    cast: tuple[Ints, Ints, Ints],
    models: int,
    sets: tuple[RightSets, Ints] | None,
) -> tuple[Ints, Rivals, Ints, Ints, Ints]:
    """Set right answers apart from their rivals: gold, rivals, starts, positions and counts of a tally.

    `cast` is the model, the category and the number of votes; `sets` are the rows of right answers, where a question
    has several that are not one category.
    """
    own, (model, place, votes) = categories.own, cast
    number, rights, rival = int(own.max(initial=-1)) + 1, None, np.flatnonzero(~right)
    row, gold = own[rival], np.where(right, own, -1)
    if sets is not None:
        rights, golds = sets
        row, rival = _rivals(rights, golds, own)
        gold, number = np.full(len(own), -1), len(golds)
        gold[golds[golds >= 0]] = np.flatnonzero(golds >= 0)
    rivals, spots = arrange(row, number, categories.texts[rival], rights)
    entry, position = _entries(place, rival, spots, len(own))
    golden = gold.take(place) >= 0
    for_gold = grid(model[golden], gold.take(place[golden]), votes[golden], (models, number))
    return for_gold, rivals, *by_model(model[entry], position, votes[entry], models)


def graded_both_ways(counts: pl.DataFrame) -> list[str]:
    """Say which answers some votes of a question grade right and others wrong, if there are any."""
    import polars as pl

    if "correct" not in counts.columns:
        return []
    right, total = pl.col("votes").filter("correct").sum(), pl.col("votes").sum()
    answers = counts.filter(pl.col("answer").is_not_null()).group_by("dataset", "question", "answer")
    found = answers.agg(right.alias("right"), total.alias("votes")).filter(
        pl.col("right").is_between(1, pl.col("votes") - 1)
    )
    if found.is_empty():
        return []
    question, answer, said, of = found.sort("dataset", "question", "answer").row(0)[1:]
    return [
        f"{several(len(found), 'answer')} graded both right and wrong on the same question, such as {quote(answer)} on "
        f"question {quote(question)} ({said:,} of {several(of, 'vote')} say right): each is what most of its votes say"
    ]


def _right_sets(
    own: Ints, right: Bools, cast: tuple[Ints, Ints, Ints], *, apart: bool = False
) -> tuple[RightSets, Ints]:
    """The rows of all questions, and the right category of each, -1 where nobody named one.

    Right answers of a question with the same votes from every model score the same: one row stands for all of them,
    unless they are kept `apart`.
    """
    model, place, votes = cast
    chosen = np.flatnonzero(right)
    spot = np.full(len(own), -1)
    spot[chosen] = np.arange(len(chosen))

    def facts() -> Iterator[Ints]:
        yield own[chosen]
        for one in range(int(model.max(initial=-1)) + 1):
            theirs = np.flatnonzero((model == one) & right.take(place))
            yield np.bincount(spot.take(place[theirs]), votes[theirs], len(chosen)).astype(np.int64)

    kind, first = alike([spot[chosen]] if apart else facts())
    copies = np.bincount(kind)
    nobody = np.flatnonzero(np.bincount(own[chosen], minlength=int(own.max(initial=-1)) + 1) == 0)
    question = np.concatenate([own[chosen[first]], nobody])
    golds = np.concatenate([chosen[first], np.full(len(nobody), -1)])
    copies = np.concatenate([copies, np.ones(len(nobody), dtype=copies.dtype)])
    order = np.lexsort((golds, question))
    return RightSets(question[order], copies[order]), golds[order]


def _rivals(rights: RightSets, golds: Ints, own: Ints) -> tuple[Ints, Ints]:
    """Every other category of a row's question is its rival: the row and the category of each."""
    number = np.bincount(own)
    row, step = _steps(number.take(rights.question))
    category = (np.cumsum(number) - number).take(rights.question).take(row) + step
    rival = category != golds.take(row)
    return row[rival], category[rival]


def _entries(place: Ints, rival: Ints, spots: Ints, categories: int) -> tuple[Ints, Ints]:
    """Where counts go: each stands at every position at which its category is a rival."""
    ordered, number = spots[np.argsort(rival, kind="stable")], np.bincount(rival, minlength=categories)
    entry, step = _steps(number.take(place))
    return entry, ordered[(np.cumsum(number) - number).take(place).take(entry) + step]


def _steps(sizes: Ints) -> tuple[Ints, Ints]:
    """Runs of these sizes, one after another: the run of each item, and its place in the run."""
    run = np.repeat(np.arange(len(sizes)), sizes)
    return run, np.arange(len(run)) - (np.cumsum(sizes) - sizes).take(run)


def clusters_of(counts: pl.DataFrame) -> tuple[str, ...] | None:
    """Name the cluster of each question, in the order of the questions' names; None where there are none."""
    if "cluster" not in counts.columns or counts["cluster"].is_null().all():
        return None
    return tuple(counts.select("question", "cluster").unique().sort("question")["cluster"])


def _nulls(counts: pl.DataFrame, model: Ints, question: Ints) -> Nulls:
    """The null votes among the counts, which are of these models and questions."""
    import polars as pl

    null = counts["answer"].is_null().to_numpy()
    if not null.any():
        return NO_NULLS
    rows = counts.filter(null)
    reasons = rows["reason"].fill_null(UNSTATED) if "reason" in rows.columns else pl.Series([UNSTATED] * len(rows))
    names, reason = numbered(reasons)
    return Nulls(model[null], question[null], reason, rows["votes"].to_numpy(), tuple(names))


def stated_options(stated: Ints, question: Ints, answers: Ints) -> Ints | None:
    """The number of options of each question, 0 where none is stated; None where none is stated anywhere.

    Parameters
    ----------
    stated : array
        The number that each count states, 0 where it states none.
    question : array
        The question of each count.
    answers : array
        How many different answers each question got, gold included: it has at least as many options.
    """
    most = np.zeros(len(answers), dtype=np.int64)
    np.maximum.at(most, question, stated)
    return np.where(most > 0, np.maximum(most, answers), 0) if most.any() else None
