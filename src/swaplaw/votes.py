"""The vote table: the one currency of swaplaw.

A long table, one row a vote, with the columns `question`, `model`, `answer` (null = abstention) and `gold`,
and optionally `dataset`, `sample`, `cluster`, `reason`, `correct`, `cost` and `tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.contract import Violations, blank_is_null, conform
from swaplaw.errors import InputError, listing, quote
from swaplaw.sources import Source, open_sources, unreadable

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.tally import Tally


def read_votes(paths: str | Path | Iterable[str | Path], *more: str | Path) -> Votes:
    """Read votes from files (Parquet, CSV, JSONL) and directories of them, and hold them to the contract."""
    first = [paths] if isinstance(paths, str | Path) else list(paths)
    return Votes(tuple(open_sources([*first, *more])))


def votes_from(frame: Any) -> Votes:
    """Take votes from any dataframe that narwhals knows (pandas, Polars, PyArrow, DuckDB, …)."""
    import narwhals as nw
    import polars as pl

    name = f"the given {type(frame).__module__.split('.')[0]} {type(frame).__name__}"
    if isinstance(frame, pl.LazyFrame):
        return Votes((Source(name, lambda: frame),))
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(f"{name} is not a dataframe: pass pandas, Polars, PyArrow, DuckDB or a file's path") from None
    eager = native.collect(backend="polars") if isinstance(native, nw.LazyFrame) else native
    lazy = eager.to_polars().lazy()
    return Votes((Source(name, lambda: lazy),))


@dataclass(frozen=True)
class Votes:
    """A vote table that keeps the contract; rows stay where they are, only counts are held."""

    sources: tuple[Source, ...]

    def __post_init__(self) -> None:
        assert self.counts is not None  # Counting checks the contract: no Votes exist that break it.

    @property
    def frame(self) -> pl.LazyFrame:
        """Every vote, lazily, all columns included."""
        import polars as pl

        frames = [conform(source) for source in self.sources]
        graded = ["correct" in frame.collect_schema().names() for frame in frames]
        if any(graded) and not all(graded):
            literal = (pl.col("answer") == pl.col("gold")).alias("correct")
            frames = [
                frame if has_grades else frame.with_columns(literal)
                for frame, has_grades in zip(frames, graded, strict=True)
            ]
        return pl.concat(frames, how="diagonal_relaxed")

    @cached_property
    def counts(self) -> pl.DataFrame:
        """How many votes each answer got: one row per dataset, question, model and answer."""
        import polars as pl

        frame = self.frame
        columns = frame.collect_schema().names()
        keys = ["dataset", "question", "model", "answer", "gold", "cluster", "reason", "correct"]
        queries = [frame.group_by([key for key in keys if key in columns]).agg(pl.len().alias("votes"))]
        if "sample" in columns:
            numbers = pl.col("sample")
            queries.append(
                frame.group_by("dataset", "question", "model").agg(
                    numbers.n_unique().alias("numbers"),
                    numbers.null_count().alias("unnumbered"),
                    pl.len().alias("rows"),
                )
            )
        counts, *samples = self._collect(queries)
        counts = counts.with_columns(blank_is_null())
        Violations(self.sources, counts, samples[0] if samples else None).check()
        return counts

    def _collect(self, queries: list[pl.LazyFrame]) -> list[pl.DataFrame]:
        import polars as pl

        try:
            return pl.collect_all(queries)
        except (pl.exceptions.PolarsError, OSError) as error:
            # Only now is it worth reading the files one by one to find the broken one.
            for source in self.sources:
                try:
                    conform(source).select(pl.len()).collect()
                except (pl.exceptions.PolarsError, OSError) as cause:
                    raise unreadable(source, cause) from None
            raise unreadable(self.sources[0], error) from None

    @property
    def datasets(self) -> list[str]:
        """The names of the datasets, sorted."""
        return sorted(self.counts["dataset"].unique())

    def tally(self, dataset: str | None = None) -> Tally:
        """Count one dataset's votes per model, question and category."""
        from swaplaw.tally import tally_counts

        names = self.datasets
        if dataset is None and len(names) > 1:
            raise InputError(f"these votes hold {len(names)} datasets ({listing(names)}); name the one to analyse")
        chosen = names[0] if dataset is None else dataset
        if chosen not in names:
            raise InputError(f"there is no dataset {quote(chosen)} in these votes; there are {listing(names)}")
        return tally_counts(chosen, self.counts.filter(self.counts["dataset"] == chosen))

    def write(self, path: str | Path) -> None:
        """Write the votes in the format that the file's suffix names; Parquet is the native form."""
        file = Path(path)
        writers = {".parquet": "sink_parquet", ".csv": "sink_csv", ".jsonl": "sink_ndjson"}
        if file.suffix not in writers:
            raise InputError(f"{quote(str(path), 200)}: cannot write {quote(file.suffix)}; use {', '.join(writers)}")
        getattr(self.frame, writers[file.suffix])(file)
