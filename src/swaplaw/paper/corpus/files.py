"""Files of a corpus, read a few columns at a time: text that nobody needs is never held.

Parquet and CSV are scanned by Polars; JSON lines, compressed or not, are parsed in blocks, because a schema inferred
from a whole file of reasoning text would hold all of it.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    import polars as pl

FORMATS = (".parquet", ".pq", ".csv", ".csv.gz", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".json")
BLOCK = 8 * 2**20
"""Bytes of JSON lines that are parsed together."""


@dataclass(frozen=True)
class File:
    """One file of the corpus."""

    path: Path
    folder: Path
    """The corpus's own folder."""

    @property
    def name(self) -> str:
        """Its path inside the corpus."""
        return self.path.relative_to(self.folder).as_posix()

    @property
    def form(self) -> str:
        """The suffix that says how to read it."""
        return next(form for form in sorted(FORMATS, key=len, reverse=True) if self.path.name.lower().endswith(form))

    def schema(self) -> dict[str, Any]:
        """Names and types of its columns, from as little of the file as will do."""
        import polars as pl

        if self._lines:
            found: dict[str, Any] = {}
            for block, _ in zip(self._blocks(), range(2), strict=False):
                for name, kind in block.schema.items():
                    if found.get(name, pl.Null) == pl.Null:
                        found[name] = kind
            return found
        return dict(self._guarded(lambda: self._scan().collect_schema()))

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of all rows."""
        import polars as pl

        if self._lines:
            parts = [_project(block, columns) for block in self._blocks()]
            return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame()
        found: pl.DataFrame = self._guarded(lambda: self._scan().select(columns).collect(engine="streaming"))
        return found

    @property
    def _lines(self) -> bool:
        return self.form.startswith((".jsonl", ".ndjson"))

    def _guarded(self, get: Any) -> Any:
        import polars as pl

        try:
            return get()
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            detail = str(error).strip().split("\n")[0]
            raise InputError(f"{quote(self.name, 200)}: not readable as {self.form} ({detail})") from None

    def _scan(self) -> pl.LazyFrame:
        import polars as pl

        if self.form in (".parquet", ".pq"):
            return pl.scan_parquet(self.path)
        if self.form == ".json":
            return _objects(self).lazy()
        if self.form == ".csv.gz":
            # Unpacked beside, not in memory: Polars would hold all of it.
            unpacked = Path(_Unpacked.of(self.path))
            return pl.scan_csv(unpacked, infer_schema=False)
        # Everything as text: type guessing would turn the question "01" into the number 1.
        return pl.scan_csv(self.path, infer_schema=False)

    def _blocks(self) -> Iterator[pl.DataFrame]:
        """Parse the lines block by block."""
        import polars as pl

        first = 1
        for block in _whole_lines(self.path):
            try:
                yield pl.read_ndjson(io.BytesIO(block), infer_schema_length=None)
            except pl.exceptions.PolarsError:
                yield _line_by_line(self, block, first)
            first += block.count(b"\n")


def files_of(folder: Path) -> list[File]:
    """Every file of the corpus that may hold a table; hidden folders (a download's own records) are left alone."""
    found = [
        File(path, folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name.lower().endswith(FORMATS)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    return [file for file in found if file.path.stat().st_size]


class _Unpacked:
    """Compressed tables, unpacked once into a folder that goes with the process."""

    _folder: tempfile.TemporaryDirectory[str] | None = None
    _known: dict[Path, str] = {}  # noqa: RUF012  One per process, on purpose.

    @classmethod
    def of(cls, path: Path) -> str:
        if cls._folder is None:
            cls._folder = tempfile.TemporaryDirectory(prefix="swaplaw-corpus-")
        if path not in cls._known:
            target = Path(cls._folder.name) / f"{len(cls._known)}.csv"
            with gzip.open(path, "rb") as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, 2**20)
            cls._known[path] = str(target)
        return cls._known[path]


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Blocks of a file that end where lines end."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        rest = b""
        while chunk := lines.read(BLOCK):
            block = rest + chunk
            end = block.rfind(b"\n") + 1
            rest = block[end:]
            if block[:end].strip():
                yield block[:end]
        if rest.strip():
            yield rest + b"\n"


def _line_by_line(file: File, block: bytes, first: int) -> pl.DataFrame:
    """Read a block whose values Polars finds no common type for (or that is broken: then say which line)."""
    import polars as pl

    rows = []
    for number, line in enumerate(block.splitlines(), start=first):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"{quote(file.name, 200)}: line {number} is not a JSON object ({str(error).splitlines()[0]})"
            ) from None
        if not isinstance(row, dict):
            raise InputError(f"{quote(file.name, 200)}: line {number} is not a JSON object")
        rows.append({name: _as_text(value) for name, value in row.items()})
    return pl.from_dicts(rows, infer_schema_length=None)


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _project(block: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns as text (lists and objects as JSON): blocks may differ in types."""
    import polars as pl

    return block.select(
        as_text(pl.col(name), block.schema[name]) if name in block.columns else pl.lit(None, pl.String).alias(name)
        for name in columns
    )


def as_text(column: pl.Expr, kind: Any) -> pl.Expr:
    """A column of any type as text; what is nested becomes JSON."""
    import polars as pl

    if isinstance(kind, pl.Struct):
        return column.struct.json_encode()
    if isinstance(kind, pl.List | pl.Array):
        return column.map_elements(lambda values: json.dumps(values.to_list()), return_dtype=pl.String)
    return column.cast(pl.String)


def _objects(file: File) -> pl.DataFrame:
    """A JSON file that is an array of objects; other JSON (a card, a description) has no table."""
    import polars as pl

    document = json.loads(file.path.read_text(encoding="utf-8"))
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        return pl.DataFrame()
    rows = [{name: _as_text(value) for name, value in row.items()} for row in document]
    return pl.from_dicts(rows, infer_schema_length=None) if rows else pl.DataFrame()
