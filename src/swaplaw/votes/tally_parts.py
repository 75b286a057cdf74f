"""Parts of a tally that is being written: each source's counts, which the engine that holds the votes wrote to disk.

A part is there only when it is whole, so a run that was stopped finds what it need not count again. Sample numbers are
no part of it: of the few ballots that they matter for, the source is asked for them.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote
from swaplaw.votes import engines
from swaplaw.votes.contract import blanks_to_null, rows_of, typed
from swaplaw.votes.files import Source, unreadable
from swaplaw.votes.tally_folder import MANIFEST

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Part:
    """What one source adds to a tally."""

    source: Source
    number: int
    path: Path
    """A file, or a folder of files, in the types of the engine that wrote it."""

    def counts(self) -> pl.LazyFrame:
        """Its counts, in the contract's types; `part` says which part it is."""
        import polars as pl

        frame = typed(self.source, self._written()).with_columns(pl.col("votes").cast(pl.Int64))
        return blanks_to_null(frame).with_columns(pl.lit(self.number, dtype=pl.UInt32).alias("part"))

    @property
    def numbered(self) -> bool:
        """Whether its votes have sample numbers."""
        return engines.MARK in self._written().collect_schema().names()

    def numbers(self, dataset: str, ballots: pl.DataFrame) -> pl.DataFrame:
        """The sample numbers of a dataset's `ballots` (`model`, `question`, `ballot`): runs from `first` to `last`.

        Of votes a run is a single number. The same number may come twice.
        """
        import polars as pl

        if self.source.counted:
            return self._numbers_kept(dataset, ballots)
        frame = self.source.scan()
        if engines.is_polars(frame) or not engines.is_lazy(frame):
            rows = rows_of(replace(self.source, scan=lambda: frame)).filter(pl.col("dataset") == dataset)
            numbers = engines.sought_polars(rows, ballots)
        else:
            file = self.path.with_suffix(".ballots")
            self._as_spelt(dataset, ballots).write_parquet(file)
            numbers = engines.sought_foreign(frame, self.source.name, file)
        return numbers.select(pl.col("ballot").cast(pl.UInt32), first="sample", last="sample")

    def _numbers_kept(self, dataset: str, ballots: pl.DataFrame) -> pl.DataFrame:
        assert self.source.numbers is not None
        kept = self.source.numbers(dataset, ballots["model"].unique().to_list())
        runs = kept.join(ballots.lazy(), on=["model", "question"]).select("ballot", "first", "last")
        found = runs.collect(engine="streaming")
        if not (found["first"] <= found["last"]).all():
            name = quote(self.source.name, 200)
            raise InputError(f"{name}: not a tally (runs must not end before they begin); write it again")
        return found

    def _as_spelt(self, dataset: str, ballots: pl.DataFrame) -> pl.DataFrame:
        """Ballots as the engine that holds the votes spells them: whole numbers may be ids there, and yes or no."""
        import polars as pl

        written = self._written()
        keys = [key for key in engines.BALLOT if key in written.collect_schema().names()]
        both = typed(self.source, written.with_columns(pl.col(keys).name.prefix("spelt ")))
        found = both.filter(pl.col("dataset") == dataset).join(ballots.lazy(), on=["model", "question"])
        spelt = found.select("ballot", *(pl.col(f"spelt {key}").alias(key) for key in keys))
        return spelt.unique().collect(engine="streaming")

    def _written(self) -> pl.LazyFrame:
        import polars as pl

        files = sorted(self.path.glob("**/*.parquet")) if self.path.is_dir() else [self.path]
        return engines.whole_options(engines.whole_marks(pl.scan_parquet(files)))


def part_of(source: Source, folder: Path, number: int) -> Part:
    """Count one source into a file or folder of its own, unless that is there already."""
    path = folder / f"{number:06}-{_identity(source)}.parquet"
    if not path.exists():
        draft = path.with_suffix(".draft")
        if draft.is_dir():
            shutil.rmtree(draft)
        _count_into(source, draft)
        draft.replace(path)
    return Part(source, number, path)


def _identity(source: Source) -> str:
    """A name for what a source holds, so that a run which goes on does not take it for another."""
    file = Path(source.name)
    known = [source.name]
    if file.exists():
        stat = (file / MANIFEST if source.counted else file).stat()
        known += [str(file.resolve()), str(stat.st_size), str(stat.st_mtime_ns)]
    return hashlib.sha256("\0".join(known).encode()).hexdigest()[:16]


def _count_into(source: Source, file: Path) -> None:
    """Let the engine that holds the votes count them, and write the counts."""
    frame = source.scan()
    if source.counted:
        _sink(source, frame, file)
    elif engines.is_polars(frame) or not engines.is_lazy(frame):
        # What was scanned once is not scanned again: votes may be made or fetched by scanning.
        _sink(source, engines.count_polars(rows_of(replace(source, scan=lambda: frame))), file)
    else:
        native = engines.counting(frame, source.name).to_native()
        write = next((how for name, how in _WRITERS.items() if type(native).__module__.startswith(name)), None)
        if write is None:
            engines.count_foreign(frame, source.name).write_parquet(file)
            return
        try:
            write(native, str(file))
        except Exception as error:  # Every engine has exceptions of its own.
            raise engines.unreadable_frame(source.name, error) from None


def _sink(source: Source, counts: pl.LazyFrame, file: Path) -> None:
    import polars as pl

    try:
        counts.sink_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise unreadable(source, error) from None


_WRITERS: dict[str, Callable[[Any, str], object]] = {
    "duckdb": lambda relation, file: relation.write_parquet(file),
    "_duckdb": lambda relation, file: relation.write_parquet(file),
    "pyspark": lambda frame, file: frame.write.mode("overwrite").parquet(file),
    "dask": lambda frame, file: frame.to_parquet(file, write_index=False),
}
"""How engines write: with their own executors."""
