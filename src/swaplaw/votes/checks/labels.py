"""Are the labelled questions like the others?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from swaplaw.votes.checks.check import Check

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

FAR = 4.0
"""Standard errors between the two kinds of questions before they count as different."""


def chosen_labels(votes: Votes, dataset: str) -> Iterator[Check]:
    """Labels on questions that differ from the others: what they show is not true of all."""
    import polars as pl

    if not votes.counts["gold"].null_count():
        return
    counts = votes.counts.filter(pl.col("dataset") == dataset)
    said = counts.group_by("question", "answer").agg(pl.col("votes").sum(), pl.col("gold").is_not_null().any())
    each = said.group_by("question").agg(
        (pl.col("votes").max() / pl.col("votes").sum()).alias("agreed"), pl.col("gold").any()
    )
    known, unknown = (each.filter(pl.col("gold") == have)["agreed"].to_numpy() for have in (True, False))
    n, rest = len(known), len(unknown)
    if min(n, rest) < 2:
        return
    own, other = known.mean(), unknown.mean()
    error = (known.var(ddof=1) / n + unknown.var(ddof=1) / rest) ** 0.5
    if abs(own - other) > FAR * error:
        yield Check(
            "chosen_labels", "warning", None, rest,
            f"the {n:,} questions with a label are not like the {rest:,} without: {own:.0%} of votes agree on "
            f"them, {other:.0%} on the others; accuracies and gains here are those of the labelled ones",
            "judge lift by `labels`, which needs no others; or label questions that are drawn at random from all",
            dataset,
        )  # fmt: skip
