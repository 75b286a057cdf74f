"""Merging tallies in memory: other models, other questions or more samples of the same dataset, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swaplaw.errors import InputError, quote
from swaplaw.votes.counts import tally_counts
from swaplaw.votes.options import OPTIONS
from swaplaw.votes.table import add_up
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    import polars as pl


def merge_tallies(tallies: Sequence[Tally]) -> Tally:
    """Add up the counts of several tallies of one dataset.

    Parameters
    ----------
    tallies : sequence of Tally
        At least one. Votes that two of them count are counted twice: only tallies on disk know sample numbers.

    Returns
    -------
    Tally
        The same for any order of merging.

    Raises
    ------
    InputError
        If they are of different datasets, or disagree about a question's gold answer or cluster.
    """
    import polars as pl

    names = sorted({tally.dataset for tally in tallies})
    if len(names) != 1:
        raise InputError(f"tallies of one dataset can be merged, not of {len(names)}: {', '.join(map(quote, names))}")
    if len({tally.golds is None for tally in tallies}) > 1:
        raise InputError("tallies with and without grades cannot be merged: grade all answers, or none")
    counts = pl.concat([_counts(tally) for tally in tallies], how="diagonal_relaxed")
    for column in ("gold", "cluster"):
        if column in counts.columns:
            _one_each(counts, column)
    unlabelled = max(tally.unlabelled for tally in tallies)
    return tally_counts(names[0], add_up(counts.lazy()).collect(), unlabelled)


def _counts(tally: Tally) -> pl.DataFrame:
    """The counts by name: a row for each model, question, answer and reason."""
    import polars as pl

    model, question = np.nonzero(tally.gold)
    named = tally.rivals.named[tally.positions]
    owner = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))[named]
    positions, nulls = tally.positions[named], tally.nulls
    place = np.concatenate([question, tally.rivals.question[positions], nulls.question])
    golds = pl.Series(tally.golds or [_GRADED] * len(tally.questions), dtype=pl.String)
    rivals = pl.Series(tally.rivals.labels[positions].tolist(), dtype=pl.String)
    silent = pl.Series([None] * len(nulls.votes), dtype=pl.String)
    answers = pl.concat([golds.gather(question), rivals])
    frame = pl.DataFrame(
        {
            "model": pl.Series(tally.models).gather(np.concatenate([model, owner, nulls.model])),
            "question": pl.Series(tally.questions).gather(place),
            "answer": pl.concat([answers, silent]),
            "reason": pl.concat(
                [
                    pl.Series([None] * len(answers), dtype=pl.String),
                    pl.Series(nulls.names, dtype=pl.String).gather(nulls.reason),
                ]
            ),
            "gold": golds.gather(place),
            "votes": np.concatenate([tally.gold[model, question], tally.counts[named], nulls.votes]).astype(np.int64),
        }
    )
    if tally.golds is None:
        right = np.arange(len(place)) < len(question)
        frame = frame.with_columns(pl.Series("correct", right))
    if tally.clusters is not None:
        frame = frame.with_columns(pl.Series("cluster", tally.clusters, dtype=pl.String).gather(place))
    if tally.options is not None:
        frame = frame.with_columns(pl.Series(OPTIONS, tally.options[place]))
    return frame


_GRADED = "(graded)"
"""Stands for the right answers of a question that were graded, whatever they said."""


def _one_each(counts: pl.DataFrame, column: str) -> None:
    import polars as pl

    values = counts.group_by("question").agg(pl.col(column).n_unique().alias("number")).filter(pl.col("number") > 1)
    if not values.is_empty():
        question = values["question"].min()
        raise InputError(f"the tallies disagree about the {column} of question {quote(question)}; correct one of them")
