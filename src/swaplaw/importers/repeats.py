"""Rows that repeat a vote where votes are not numbered: they may be further samples, or the same row twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swaplaw.errors import quote
from swaplaw.votes import engines
from swaplaw.votes.codes import summed
from swaplaw.votes.table import Votes


def repeat_notes(votes: Votes) -> Iterator[str]:
    """Say so where a few questions have more votes of a model than most, and nothing numbers the votes."""
    if any("sample" in engines.columns(source.scan(), source.name) for source in votes.sources):
        return
    (datasets, d), (models, m), (questions, q) = map(votes.codes, ("dataset", "model", "question"))
    # Ballots in the order of dataset, model and question.
    keys = len(datasets) * len(models) * len(questions)
    ballots, numbers = summed((d * len(models) + m) * len(questions) + q, keys, votes.counts["votes"].to_numpy())
    different, times = np.unique(numbers, return_counts=True)
    usual = int(different[times.argmax()])
    more = np.flatnonzero(numbers > usual)
    if not len(more) or 2 * len(more) > len(ballots):
        return
    first = int(ballots[more[0]])
    model, question = models[first // len(questions) % len(models)], questions[first % len(questions)]
    such = f"{numbers[more[0]]} of {quote(model)} on {quote(question)}"
    yield (
        f"{len(more)} of {len(ballots)} pairs of a model and a question have more than {usual} "
        f"{'vote' if usual == 1 else 'votes'}, such as {such}: each row "
        "counts; remove rows that are there twice, or number the votes in a column 'sample'"
    )
