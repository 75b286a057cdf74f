"""Rows that repeat a vote where votes are not numbered: they may be further samples, or the same row twice."""

from __future__ import annotations

from collections.abc import Iterator

from swaplaw.errors import quote
from swaplaw.votes.table import Votes


def repeat_notes(votes: Votes) -> Iterator[str]:
    """Say so where a few questions have more votes of a model than most, and nothing numbers the votes."""
    import polars as pl

    if "sample" in votes.frame.collect_schema().names():
        return
    ballots = votes.counts.group_by("dataset", "question", "model").agg(pl.col("votes").sum())
    usual = int(min(ballots["votes"].mode().to_list()))
    more = ballots.filter(pl.col("votes") > usual).sort("dataset", "model", "question")
    if more.is_empty() or 2 * more.height > ballots.height:
        return
    _, question, model, number = more.row(0)
    yield (
        f"{more.height} of {ballots.height} pairs of a model and a question have more than {usual} "
        f"{'vote' if usual == 1 else 'votes'}, such as {number} of {quote(model)} on {quote(question)}: each row "
        "counts; remove rows that are there twice, or number the votes in a column 'sample'"
    )
