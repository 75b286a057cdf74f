"""Answers put in categories without gold, as a deployment could: by canonical forms, or by a judge of their meaning.

A judge says which free answers are the same, and what it said is kept in a file and reused, so that the same votes give
the same categories again. It is any function; `importers.meaning` makes one of any Inspect model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swaplaw._files import write_text
from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.errors import InputError, quote
from swaplaw.votes.table import Votes, votes_of

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.answers.readers import Reader


Judge = Callable[[str, str, str], bool]
"""Whether two answers to a question (by its id) mean the same."""
Groups = Mapping[str, Mapping[str, Mapping[str, str]]]
MOST_CATEGORIES = 50
"""Categories of a question that an answer is compared with, the most frequent first."""


def canonicalise(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Canonicalise answers and golds alike."""
    import polars as pl

    spell = canonicaliser(names)
    return frame.with_columns(_mapped(pl.col(name), spell).alias(name) for name in ("answer", "gold"))


def read_answers(frame: pl.LazyFrame, reader: Reader) -> pl.LazyFrame:
    """Read the answers of completions, and spell the golds as the reader spells answers."""
    import polars as pl

    read = pl.col("answer").map_batches(
        lambda texts: pl.Series([None if text is None else reader.read(text) for text in texts], dtype=pl.String),
        return_dtype=pl.String,
        is_elementwise=True,
    )
    return frame.with_columns(read.alias("answer"), _mapped(pl.col("gold"), reader.gold).alias("gold"))


def _mapped(column: pl.Expr, apply: Canonicaliser) -> pl.Expr:
    """Canonicalise each distinct value once."""
    import polars as pl

    def batch(values: pl.Series) -> pl.Series:
        distinct = values.drop_nulls().unique()
        return values.replace_strict(distinct, [apply(text) for text in distinct], default=None, return_dtype=pl.String)

    return column.map_batches(batch, return_dtype=pl.String, is_elementwise=True)


def ungraded(votes: Votes, names: Sequence[str]) -> Votes:
    """The votes as deployment would see them: answers canonicalised, no grades, correct only if spelt like gold."""
    return votes_of(canonicalise(votes.frame, names).drop("correct", strict=False))


@dataclass(frozen=True)
class Grouping:
    """Which category each answer was put in: dataset, question, answer, category."""

    judge: str
    """What judged, so that a file says where it came from."""
    groups: Groups

    def apply(self, votes: Votes) -> Votes:
        """Put every answer in its category; answers that were never judged stay as they are, and grades go.

        Parameters
        ----------
        votes : Votes
            The votes that were grouped, or others on the same questions.

        Returns
        -------
        Votes
            The same votes, with categories for answers and golds.
        """
        import polars as pl

        known = self._frame().lazy()
        frame = votes.frame.drop("correct", strict=False)
        for column in ("answer", "gold"):
            keys = ["dataset", "question", column]
            named = known.rename({"answer": column})
            frame = frame.join(named, on=keys, how="left", maintain_order="left")
            frame = frame.with_columns(pl.coalesce("category", column).alias(column)).drop("category")
        return votes_of(frame.collect())

    def _frame(self) -> pl.DataFrame:
        import polars as pl

        rows = [
            (dataset, question, answer, category)
            for dataset, questions in self.groups.items()
            for question, answers in questions.items()
            for answer, category in answers.items()
        ]
        names = ("dataset", "question", "answer", "category")
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    def unjudged(self, votes: Votes) -> int:
        """How many different answers to its questions were never judged."""
        given = votes.counts.select("dataset", "question", "answer").drop_nulls().unique()
        return given.join(self._frame(), on=["dataset", "question", "answer"], how="anti").height

    def write(self, path: str | Path) -> None:
        """Keep the assignments in a JSON file."""
        text = json.dumps({"judge": self.judge, "groups": self.groups}, ensure_ascii=False, indent=1, sort_keys=True)
        write_text(path, text + "\n")


def read_grouping(path: str | Path) -> Grouping:
    """Read assignments that were kept.

    Raises
    ------
    InputError
        If the file is missing, or holds something else.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        return Grouping(str(document["judge"]), document["groups"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{quote(str(path), 200)}: not a file of grouped answers ({quote(str(error), 80)})") from None


def group_answers(
    votes: Votes,
    same: Judge,
    judge: str,
    progress: Callable[[int], None] | None = None,
    known: Grouping | None = None,
) -> Grouping:
    """Group the answers of every question by meaning, the most frequent spelling first.

    Parameters
    ----------
    votes : Votes
        Votes whose answers are free text.
    same : callable
        Says whether two answers to a question mean the same; asked about each answer and each category's first one.
    judge : str
        What judges, for the record.
    progress : callable, optional
        Told after each question how many are done.
    known : Grouping, optional
        What was judged before: those assignments stay, and only other answers are judged.

    Returns
    -------
    Grouping
        The assignments: `apply` them, and `write` them to use them again.
    """
    import polars as pl

    counted = votes.counts.group_by("dataset", "question", "answer").agg(pl.col("votes").sum())
    golds = votes.counts.select(
        "dataset", "question", pl.col("gold").alias("answer"), pl.lit(0).alias("votes")
    ).unique()
    both = pl.concat([counted, golds], how="vertical_relaxed").drop_nulls("answer")
    ordered = both.group_by("dataset", "question", "answer").agg(pl.col("votes").sum())
    ordered = ordered.sort(["dataset", "question", "votes", "answer"], descending=[False, False, True, False])
    before = {} if known is None else known.groups
    groups = {dataset: {name: dict(own) for name, own in questions.items()} for dataset, questions in before.items()}
    for done, ((dataset, question), part) in enumerate(ordered.group_by("dataset", "question", maintain_order=True), 1):
        found = groups.setdefault(str(dataset), {}).setdefault(str(question), {})
        for answer in part["answer"]:
            if answer in found:
                continue
            firsts = list(dict.fromkeys(found.values()))[:MOST_CATEGORIES]
            found[answer] = next((first for first in firsts if same(str(question), answer, first)), answer)
        if progress is not None:
            progress(done)
    return Grouping(judge, groups)
