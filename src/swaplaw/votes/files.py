"""Where votes come from: files on disk, opened lazily, with errors that name the file and the line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    import polars as pl

# Suffix -> format. Everything else in a directory is left alone.
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Source:
    """One place that votes are read from; `scan` may be called again to find an offending row."""

    name: str
    scan: Callable[[], Any]
    """Gives the votes as a dataframe: a Polars one of files, any engine's own of dataframes."""
    first_line: int | None = None
    """Line of the first vote where rows are lines of text, so that errors can say where to look."""

    def place(self, row: int) -> str:
        """Say where row `row` (counted from 0) is."""
        line = f" (line {row + self.first_line})" if self.first_line is not None else ""
        return f"row {row + 1}{line}"


def open_file(file: Path) -> Source:
    """Open one file of votes."""
    form = FORMATS.get(file.suffix.lower())
    if form is None:
        raise InputError(
            f"{quote(str(file), 200)}: unknown file type {quote(file.suffix)}; expected {', '.join(FORMATS)}"
        )
    if file.stat().st_size == 0:
        raise InputError(f"{quote(str(file), 200)}: the file is empty; write at least one vote into it")
    reader, first_line = {"parquet": (_scan_parquet, None), "csv": (_scan_csv, 2), "jsonl": (_scan_jsonl, 1)}[form]
    return Source(str(file), lambda: reader(file), first_line)


def _scan_parquet(file: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(file)


def _scan_csv(file: Path) -> pl.LazyFrame:
    import polars as pl

    # Everything as text: type guessing would turn the question "01" into the number 1.
    return pl.scan_csv(file, infer_schema=False)


def _scan_jsonl(file: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_ndjson(file, infer_schema_length=None)


def unreadable(source: Source, error: Exception) -> InputError:
    """Turn an engine's complaint about a file into one that says where and what to do."""
    name = quote(source.name, 200)
    suffix = Path(source.name).suffix.lower()
    detail = str(error).strip().split("\n")[0]
    if FORMATS.get(suffix) == "jsonl" and (broken := _first_broken_line(Path(source.name))):
        line, reason = broken
        return InputError(f"{name}: line {line} is not a JSON object ({reason}); mend or remove that line")
    kind = {"parquet": "Parquet", "csv": "CSV", "jsonl": "JSONL"}.get(FORMATS.get(suffix, ""), "vote")
    return InputError(f"{name}: not a readable {kind} file ({detail}); write the file again or check its type")


def _first_broken_line(file: Path) -> tuple[int, str] | None:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                if not isinstance(json.loads(line), dict):
                    return number, "a value that is not an object"
            except ValueError as error:
                return number, str(error).split("\n")[0]
    return None
