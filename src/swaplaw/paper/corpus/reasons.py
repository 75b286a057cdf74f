"""Reasons of abstentions: joined to votes where they stand in tables of their own, and put into our words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, listing
from swaplaw.paper.corpus.source import CELL, span
from swaplaw.paper.corpus.tables import Table, reason_names

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("reason", "finish", "abstained", "parsed")


def with_reasons(frame: pl.DataFrame, tables: Sequence[Table]) -> pl.DataFrame:
    """Join what separate tables say about why there is no answer: by sample, or else by model and question."""
    import polars as pl

    extra = pl.concat([table.frame for table in tables], how="diagonal_relaxed").unique()
    # A table for all datasets has rows of the others, too.
    extra = extra.join(frame.select("question").unique(), on="question", how="semi")
    names = listing([table.name for table in tables], 4)
    if "sample" in frame.columns and "sample" in extra.columns:
        return _by_sample(frame, extra, names)
    return _by_cell(frame, extra, names)


def _by_sample(frame: pl.DataFrame, extra: pl.DataFrame, names: str) -> pl.DataFrame:
    import polars as pl

    key = [*CELL, "sample"]
    if extra.select(key).is_duplicated().any():
        raise InputError(f"{names}: two different reasons for the same {', '.join(key)}")
    lost = extra.join(frame, on=key, how="anti").height
    if lost:
        low, high = span(frame["sample"]), span(extra["sample"])
        raise InputError(
            f"{lost:,} of {len(extra):,} rows of {names} belong to no vote (samples of the votes run from {low}, of "
            f"the reasons from {high})"
        )
    given = [name for name in COLUMNS if name in extra.columns]
    joined = frame.join(extra.select(*key, *(pl.col(name).alias(f"{name}_too") for name in given)), on=key, how="left")
    for name in given:
        own = [name] if name in frame.columns else []
        joined = joined.with_columns(pl.coalesce(*own, f"{name}_too").alias(name)).drop(f"{name}_too")
    if "reason" in given:
        _fitting(joined, names)
    return joined


def _fitting(frame: pl.DataFrame, names: str) -> None:
    """Refuse reasons that went to the wrong votes: some null votes without one, and some answers with one."""
    import polars as pl

    words = reason_names(frame["reason"].drop_nulls().unique())
    real = pl.col("reason").replace_strict(words, default=None, return_dtype=pl.String).is_not_null()
    silent = pl.col("answer").is_null()
    if "abstained" in frame.columns or "parsed" in frame.columns:
        return
    bare, idle = frame.filter(silent & ~real).height, frame.filter(~silent & real).height
    if bare and idle:
        raise InputError(
            f"the reasons in {names} do not fit the votes: {bare:,} abstentions have none, and {idle:,} answers have "
            "one; are samples numbered from 0 in one table and from 1 in the other?"
        )


def _by_cell(frame: pl.DataFrame, extra: pl.DataFrame, names: str) -> pl.DataFrame:
    """Share the null votes of a model and question out between the reasons that are listed for them."""
    import polars as pl

    column = next((name for name in ("reason", "finish") if name in extra.columns), None)
    if column is None:
        raise InputError(f"{names} say which votes are abstentions, but they share no sample number with the votes")
    words = reason_names(extra[column].drop_nulls().unique())
    why = pl.col(column).replace_strict(words, default=None, return_dtype=pl.String)
    listed = extra.with_columns(why.alias("why")).drop_nulls("why").group_by(*CELL, "why").len("number")
    counts = frame if "votes" in frame.columns else frame.with_columns(pl.lit(1, pl.Int64).alias("votes"))
    silent = counts.filter(pl.col("answer").is_null())
    silent = silent.group_by(CELL).agg(pl.col("votes").sum(), pl.exclude("votes").first())
    both = silent.join(listed.group_by(CELL).agg(pl.col("number").sum()), on=CELL, how="full", coalesce=True)
    off = both.filter(pl.col("votes").fill_null(0) != pl.col("number").fill_null(0)).height
    if off:
        raise InputError(
            f"{names} do not list as many reasons as there are abstentions for {off:,} pairs of model and question"
        )
    shared = silent.drop("votes", "reason", strict=False).join(listed, on=CELL)
    shared = shared.rename({"number": "votes", "why": "reason"}).with_columns(pl.col("votes").cast(pl.Int64))
    spoken = counts.filter(pl.col("answer").is_not_null()).drop("sample", strict=False)
    return pl.concat([spoken, shared.drop("sample", strict=False)], how="diagonal_relaxed")
