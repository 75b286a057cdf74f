"""Vote tables changed in ways that no rule for combining models should mind."""

from __future__ import annotations

import numpy as np
import polars as pl

import swaplaw as sl
from swaplaw.votes.tally import Tally

from support.data import real_votes


def frame(dataset: str = "gpqa-diamond") -> pl.DataFrame:
    """Real votes of one dataset, without what rules do not look at."""
    every = pl.read_parquet(real_votes("best-of-infinity.parquet"))
    return every.filter(pl.col("dataset") == dataset).select("dataset", "question", "model", "sample", "answer", "gold")


def tally(rows: pl.DataFrame) -> Tally:
    """The tally of a vote table."""
    return sl.votes_from(rows).tally()


def with_copy(rows: pl.DataFrame, model: str, name: str) -> pl.DataFrame:
    """The votes of a model cast once more, under another name."""
    return pl.concat([rows, rows.filter(pl.col("model") == model).with_columns(model=pl.lit(name))])


def with_junk(rows: pl.DataFrame, names: list[str], options: str = "ABCD") -> pl.DataFrame:
    """Models that answer at random, as often as the first model does."""
    rng = np.random.default_rng(0)
    first = rows.filter(pl.col("model") == rows["model"].min())
    junk = [
        first.with_columns(model=pl.lit(name), answer=pl.Series(rng.choice(list(options), len(first))))
        for name in names
    ]
    return pl.concat([rows, *junk])


def relabelled(rows: pl.DataFrame, options: str = "ABCD") -> pl.DataFrame:
    """Options renamed, on every question by a permutation of its own."""
    rng = np.random.default_rng(0)
    questions = rows["question"].unique().sort()
    names = pl.concat(
        pl.DataFrame({"question": question, "old": list(options), "new": list(rng.permutation(list(options)))})
        for question in questions
    )
    for column in ("answer", "gold"):
        rows = (
            rows.join(names, left_on=["question", column], right_on=["question", "old"], how="left")
            .with_columns(pl.col("new").alias(column))
            .drop("new")
        )
    return rows
