"""Files of a corpus, read a few columns at a time: text that nobody needs is never held.

Parquet, Arrow and CSV are scanned by Polars; JSON, compressed or not, is parsed in blocks, because a schema inferred
from a whole file of reasoning text would hold all of it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote
from swaplaw.paper.corpus.nested import json_rows
from swaplaw.paper.corpus.zstandard import unpack_zstandard

if TYPE_CHECKING:
    import polars as pl

TABLES = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".tsv", ".jsonl", ".ndjson", ".json")
PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": unpack_zstandard}
UNREAD = (
    *(".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar", ".tgz", ".7z", ".rar", ".xlsx", ".xls", ".sqlite", ".db"),
    *(".duckdb", ".pkl", ".npz", ".h5"),
)
"""What may hold votes and is not read: worth a line."""
BLOCK = 8 * 2**20
"""Bytes of JSON that are parsed together."""
BROKEN = (OSError, EOFError, ValueError, zipfile.BadZipFile, lzma.LZMAError)
"""What reading a damaged file raises."""


@dataclass(frozen=True)
class File:
    """One file of the corpus."""

    path: Path
    folder: Path
    """The corpus's own folder."""
    member: str | None = None
    """Its name inside the archive at `path`."""

    @property
    def name(self) -> str:
        """Its path inside the corpus."""
        outer = self.path.relative_to(self.folder).as_posix()
        return outer if self.member is None else f"{outer}/{self.member}"

    @property
    def form(self) -> str:
        """The suffix that says how to read it."""
        return _form(self.name) or ""

    def schema(self) -> dict[str, Any]:
        """Names and types of its columns, from as little of the file as will do."""
        import polars as pl

        if self._json:
            found: dict[str, Any] = {}
            for block, _ in zip(self._guarded_blocks(), range(2), strict=False):
                for name, kind in block.schema.items():
                    if found.get(name, pl.Null) == pl.Null:
                        found[name] = kind
            return found
        return dict(self._guarded(lambda: self._scan().collect_schema()))

    def read(self, columns: Sequence[str], fields: Collection[str] = ()) -> pl.DataFrame:
        """Some columns of all rows; of lists of records, only the named fields."""
        import polars as pl

        if self._json:
            parts = [_project(block, columns, fields) for block in self._guarded_blocks()]
            return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame()
        found: pl.DataFrame = self._guarded(lambda: self._some(columns, fields).collect(engine="streaming"))
        return found

    def _some(self, columns: Sequence[str], fields: Collection[str]) -> pl.LazyFrame:
        scanned = self._scan()
        types = scanned.collect_schema() if fields else {}
        return scanned.select(_slim(name, types.get(name), fields) for name in columns)

    @property
    def _json(self) -> bool:
        return self.form in (".jsonl", ".ndjson", ".json")

    def _guarded(self, get: Any) -> Any:
        import polars as pl

        try:
            return get()
        except (pl.exceptions.PolarsError, *BROKEN) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InputError:
        if isinstance(error, InputError):
            return InputError(f"{quote(self.name, 200)}: {error}")
        detail = str(error).strip().split("\n")[0]
        return InputError(f"{quote(self.name, 200)}: not readable as {self.form} ({detail or 'cut off or damaged'})")

    def _scan(self) -> pl.LazyFrame:
        import polars as pl

        file = self.path if self.member is None and self._packing is None else _Unpacked.of(self)
        if self.form in (".parquet", ".pq"):
            return pl.scan_parquet(file)
        if self.form in (".arrow", ".feather"):
            try:
                found = pl.scan_ipc(file)
                found.collect_schema()
            except pl.exceptions.PolarsError:
                # Hugging Face's own files are streams, without the index at the end.
                found = pl.read_ipc_stream(file).lazy()
            return found
        # Everything as text: type guessing would turn the question "01" into the number 1.
        return pl.scan_csv(file, infer_schema=False, separator=self._separator())

    def _separator(self) -> str:
        """A tab, or what stands between the names of the first line."""
        if self.form == ".tsv":
            return "\t"
        with self.open() as lines:
            header = lines.readline(2**16).decode("utf-8", "replace")
        return max(",;\t|", key=header.count)

    @property
    def _packing(self) -> Any:
        return PACKED.get(Path(self.name).suffix.lower())

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes, unpacked on the way."""
        with ExitStack() as stack:
            stream: IO[bytes]
            if self.member is None:
                stream = stack.enter_context(self.path.open("rb"))
            else:
                stream = stack.enter_context(stack.enter_context(zipfile.ZipFile(self.path)).open(self.member))
            yield stream if self._packing is None else stack.enter_context(self._packing(stream, "rb"))

    def _guarded_blocks(self) -> Iterator[pl.DataFrame]:
        try:
            yield from self._lines() if self.form != ".json" else self._document()
        except InputError:
            raise
        except BROKEN as error:
            raise self._unreadable(error) from None

    def _lines(self) -> Iterator[pl.DataFrame]:
        """Parse the lines block by block."""
        import polars as pl

        first = 1
        for block in _whole_lines(self):
            try:
                yield pl.read_ndjson(io.BytesIO(block), infer_schema_length=None)
            except pl.exceptions.PolarsError:
                yield _line_by_line(self, block, first)
            first += block.count(b"\n")

    def _document(self) -> Iterator[pl.DataFrame]:
        """Parse the records of a document, a few thousand at a time."""
        rows: list[dict[str, str | None]] = []
        held = 0
        with self.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig") as text:
            for row in json_rows(text, self.name):
                rows.append({name: _as_text(value) for name, value in row.items()})
                held += sum(len(value or "") for value in rows[-1].values())
                if held > BLOCK or len(rows) == BLOCK // 2**10:
                    yield _texts(rows)
                    rows, held = [], 0
        if rows:
            yield _texts(rows)


def files_of(folder: Path) -> tuple[list[File], list[str]]:
    """Every file of the corpus that may hold a table, and a line about those that cannot be read.

    Hidden folders (a download's own records) are left alone.
    """
    found: list[File] = []
    unread: list[str] = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or not path.stat().st_size:
            continue
        if path.suffix.lower() == ".zip":
            try:
                found += _members(path, folder)
            except BROKEN as error:
                unread.append(f"{quote(File(path, folder).name, 200)}: not readable as .zip ({error})")
        elif _form(path.name):
            found.append(File(path, folder))
        elif path.name.lower().endswith(UNREAD):
            unread.append(f"{quote(File(path, folder).name, 200)}: not read; expected {', '.join(TABLES)}")
    return found, unread


def _members(path: Path, folder: Path) -> list[File]:
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.file_size and _form(entry.filename)]
    # Archives made on a Mac hold a shadow of every file.
    names = [entry.filename for entry in entries if not entry.filename.startswith("__MACOSX")]
    return [File(path, folder, name) for name in sorted(names)]


def _form(name: str) -> str | None:
    """How a file is read, told by its name; compression aside."""
    bare = name.lower()
    for packing in PACKED:
        bare = bare.removesuffix(packing)
    return next((form for form in TABLES if bare.endswith(form)), None)


class _Unpacked:
    """Compressed tables, unpacked once into a folder that goes with the process."""

    _folder: tempfile.TemporaryDirectory[str] | None = None
    _known: dict[File, Path] = {}  # noqa: RUF012  One per process, on purpose.

    @classmethod
    def of(cls, file: File) -> Path:
        if cls._folder is None:
            cls._folder = tempfile.TemporaryDirectory(prefix="swaplaw-corpus-")
        if file not in cls._known:
            target = Path(cls._folder.name) / f"{len(cls._known)}{file.form}"
            with file.open() as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, 2**20)
            cls._known[file] = target
        return cls._known[file]


def _whole_lines(file: File) -> Iterator[bytes]:
    """Blocks of a file that end where lines end."""
    with file.open() as lines:
        rest = b""
        while chunk := lines.read(BLOCK):
            block = rest + chunk if rest else chunk.removeprefix(b"\xef\xbb\xbf")
            end = block.rfind(b"\n") + 1
            rest = block[end:]
            if block[:end].strip():
                yield block[:end]
        if rest.strip():
            yield rest + b"\n"


def _line_by_line(file: File, block: bytes, first: int) -> pl.DataFrame:
    """Read a block whose values Polars finds no common type for (or that is broken: then say which line)."""
    rows = []
    for number, line in enumerate(block.split(b"\n"), start=first):
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
    return _texts(rows)


def _texts(rows: list[dict[str, str | None]]) -> pl.DataFrame:
    import polars as pl

    return pl.from_dicts(rows, infer_schema_length=None)


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _slim(name: str, kind: Any, fields: Collection[str]) -> pl.Expr:
    """A column, without the fields of its records that nobody asked for: they may hold long texts."""
    import polars as pl

    if not isinstance(kind, pl.List) or not isinstance(kind.inner, pl.Struct):
        return pl.col(name)
    kept = [field.name for field in kind.inner.fields if field.name in fields]
    return (
        pl.col(name).list.eval(pl.struct(pl.element().struct.field(field) for field in kept)) if kept else pl.col(name)
    )


def _project(block: pl.DataFrame, columns: Sequence[str], fields: Collection[str] = ()) -> pl.DataFrame:
    """Some columns as text (lists and objects as JSON): blocks may differ in types."""
    import polars as pl

    if fields:
        block = block.select(_slim(name, block.schema[name], fields) for name in columns if name in block.columns)
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
