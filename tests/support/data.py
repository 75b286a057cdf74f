"""The real data that tests use: all of it in the repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

DATA = Path(__file__).resolve().parent.parent / "data"


def real_votes(name: str = "") -> Path:
    """A real vote table, or the folder of them."""
    found = DATA / "votes" / name
    if not found.exists():
        raise FileNotFoundError(found)
    return found


def datasets(folder: Path = DATA / "votes") -> Iterator[tuple[str, pl.DataFrame]]:
    """Every real dataset as a vote table."""
    both = pl.read_parquet(folder / "best-of-infinity.parquet")
    for (name,), rows in sorted(both.group_by("dataset"), key=lambda item: str(item[0])):
        yield str(name), rows
    yield "renze-temperature", pl.read_parquet(folder / "renze-temperature.parquet")
    yield "renze-exams", _unambiguous(pl.read_parquet(folder / "renze-exams.parquet"))
    yield "reasoning-gym", pl.read_parquet(folder / "reasoning-gym.parquet")
    mmlu = pl.read_parquet(folder / "mmlu-pro.parquet")
    for (subject,), rows in sorted(mmlu.group_by("cluster"), key=lambda item: str(item[0])):
        yield f"mmlu-pro: {subject}", rows
    yield "mmlu-pro", mmlu


def _unambiguous(rows: pl.DataFrame) -> pl.DataFrame:
    """Name questions by exam, number and gold, and leave out those that still share a name."""
    named = rows.with_columns(question=pl.concat_str("cluster", "question", "gold", separator="/"))
    twice = named.filter(pl.len().over("question", "model", "sample") > 1)["question"].unique()
    return named.filter(~pl.col("question").is_in(twice.implode()))
