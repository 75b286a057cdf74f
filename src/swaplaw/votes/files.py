"""Where votes come from: files on disk, opened lazily, with errors that name the file and the line.

How much a file may unpack to, and what is no file at all, is bounded by `_files`; here is what tables look like.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw import _files
from swaplaw.errors import Fix, InputError, MissingExtraError, listing, quote
from swaplaw.votes.provenance import COUNTS, origin_in, provenance_in

if TYPE_CHECKING:
    import polars as pl

# Suffix -> format. Everything else in a directory is left alone.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
}
PACKABLE = ("csv", "jsonl", "json")
"""Formats that may be packed, with `.gz`, `.zst` or `.zip` after their suffix."""
STANDARD_INPUT = "-"
DELIMITERS = ",;\t|"
LONGEST_HEADER = 64 * 2**20
"""Bytes of a line of names: more than a million models need."""
NAMES = {"parquet": "Parquet", "csv": "CSV", "jsonl": "JSONL", "json": "JSON", "arrow": "Arrow", "excel": "Excel"}


@dataclass(frozen=True)
class Source:
    """One place that votes are read from; `scan` may be called again to find an offending row."""

    name: str
    scan: Callable[[], Any]
    """Gives the votes as a dataframe: a Polars one of files, any engine's own of dataframes."""
    first_line: int | None = None
    """Line of the first vote where rows are lines of text, so that errors can say where to look."""
    counted: bool = False
    """Whether rows are counts already (see `Votes.write_counts`), with their number of votes."""
    origin: Callable[[], Mapping[str, Any]] = dict
    """Tells how the votes came about, where that is recorded (see `provenance`)."""

    def place(self, row: int) -> str:
        """Say where row `row` (counted from 0) is."""
        line = f" (line {row + self.first_line})" if self.first_line is not None else ""
        return f"row {row + 1}{line}"


def format_of_table(file: Path) -> str | None:
    """Tell the format of a table by its suffix: None where it is none that is known."""
    suffix = file.suffix.lower()
    if suffix in _files.PACKED:
        inner = FORMATS.get(Path(file.stem).suffix.lower())
        return inner if inner in PACKABLE else None
    return FORMATS.get(suffix)


def open_file(file: Path, sheet: str | None = None) -> Source:
    """Open one file of votes; of an Excel file, the named sheet or the first."""
    form = format_of_table(file)
    if form is None:
        raise InputError(
            f"{quote(str(file), 200)}: unknown file type {quote(file.suffix)}; expected {', '.join(FORMATS)}, "
            f"or one of the text formats with {', '.join(_files.PACKED)}"
        )
    if _files.regular(file).stat().st_size == 0:
        raise InputError(f"{quote(str(file), 200)}: the file is empty; write at least one vote into it")
    readers = {"parquet": _scan_parquet, "csv": _scan_csv, "jsonl": _scan_jsonl, "json": _scan_json}
    reader = (readers | {"arrow": _scan_arrow, "excel": partial(_scan_excel, sheet=sheet)})[form]
    first_line = {"csv": 2, "jsonl": 1, "excel": 2}.get(form)
    origin = partial(origin_in, file) if form == "parquet" else dict

    def scan() -> pl.LazyFrame:
        with reading(source):
            return reader(_files.unpacked(file))

    counted = form == "parquet" and provenance_in(file).get(COUNTS) is True
    source = Source(str(file), scan, first_line, counted, origin)
    return source


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Turn what an engine complains of into an error that names the source, and says what to do."""
    try:
        yield
    except InputError as error:  # Of a column that is read by a function; the engine adds where it was called.
        if "\n\nThis error occurred" in str(error):
            raise InputError(str(error).partition("\n\nThis error occurred")[0]) from None
        raise
    except BaseException as error:
        if not _files.is_complaint(error):
            raise
        raise unreadable(source, error) from None


def standard_input() -> Path:
    """Keep what comes on standard input in a temporary file, named by what it looks like."""
    file = _files.standard_input()
    with file.open("rb") as handle:
        content = handle.read(2**20)
    start = content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    first, _, rest = content.strip().partition(b"\n")
    suffix = ".parquet" if content.startswith(b"PAR1") else ".csv"
    if start == b"[" or (start == b"{" and not (rest.lstrip()[:1] == b"{" or first.endswith(b"}"))):
        suffix = ".json"
    elif start == b"{":
        suffix = ".jsonl"
    return file.rename(file.with_name(f"standard-input{suffix}"))


def _scan_parquet(file: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(file)


def _scan_csv(file: Path) -> pl.LazyFrame:
    import polars as pl

    separator = delimiter_of(file)
    _check_header(file, separator)
    # Everything as text: type guessing would turn the question "01" into the number 1.
    return pl.scan_csv(file, infer_schema=False, separator=separator)


def _check_header(file: Path, separator: str) -> None:
    """Refuse text that is not UTF-8, and two columns of one name: nobody could say which is meant."""
    lines = io.StringIO(_first_line(file).decode("utf-8-sig", "replace"))
    try:
        names = next(csv.reader(lines, delimiter=separator), [])
    except csv.Error as error:
        raise InputError(f"{quote(str(file), 200)}: its header cannot be read ({error}); shorten its names") from None
    _check_names([name.strip() for name in names], file)


def _first_line(file: Path) -> bytes:
    """The whole first line of a text that is neither UTF-16 nor one long line by an old convention."""
    with file.open("rb") as handle:
        start = handle.readline(LONGEST_HEADER)
    # Text in UTF-16 is half zeros, also where no mark at its beginning says so.
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start[:4]:
        raise InputError(f"{quote(str(file), 200)}: the file is UTF-16; save it as UTF-8")
    if b"\r" in start.strip():
        raise InputError(f"{quote(str(file), 200)}: its lines end in a carriage return alone; save it with line feeds")
    return start


def _check_names(names: Sequence[str], file: Path) -> None:
    twice = sorted(name for name, number in Counter(names).items() if name and number > 1)
    if twice:
        raise InputError(f"{quote(str(file), 200)}: two columns are called {quote(twice[0])}; rename one of them")


def delimiter_of(file: Path) -> str:
    """Tell the delimiter of a text table: the one that its first line has most of, outside quotes."""
    bare = re.sub(r'"[^"]*"', "", _first_line(file).decode("utf-8", "replace"))
    return max(DELIMITERS, key=lambda mark: (bare.count(mark), -DELIMITERS.index(mark)))


def _scan_jsonl(file: Path) -> pl.LazyFrame:
    import polars as pl

    start = _first_line(file)
    if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        raise InputError(
            f"{quote(str(file), 200)}: it begins with a list, where each line must be an object; if the whole file is "
            "one list of objects, name it .json"
        )
    _refuse_keys_twice(file, start)
    return pl.scan_ndjson(_unmarked(file) if start.startswith(codecs.BOM_UTF8) else file, infer_schema_length=None)


def _refuse_keys_twice(file: Path, first: bytes) -> None:
    """Refuse objects that have a key twice, of which engines take the last: read them where keys outnumber lines."""
    try:
        keys = [json.dumps(key, ensure_ascii=False).encode() for key in json.loads(first.decode("utf-8-sig"))]
    except (ValueError, RecursionError):
        return  # What is wrong with it, its reading will say.
    done = 0
    with file.open("rb") as handle:
        while block := handle.readlines(_files.BLOCK):
            whole = b"".join(block)
            if any(whole.count(key) > len(block) for key in keys):
                for number, line in enumerate(block, done + 1):
                    if line.strip():
                        _files.read_json(line.decode("utf-8-sig", "replace"), f"{file}, line {number}")
            done += len(block)


def _unmarked(file: Path) -> Path:
    """Copy a file without the mark of UTF-8 that some editors put at its beginning: no object may begin with it."""
    state = file.stat()
    return _unmarked_once(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _unmarked_once(file: Path, *version: int) -> Path:
    plain = Path(tempfile.mkdtemp(dir=_files.scratch())) / file.name
    with file.open("rb") as marked, plain.open("wb") as unmarked:
        marked.seek(len(codecs.BOM_UTF8))
        shutil.copyfileobj(marked, unmarked)
    return plain


def _is_jsonl(file: Path) -> bool:
    """Whether a file is JSON Lines by another name: its first line is an object of its own."""
    with file.open("rb") as handle:
        line = handle.readline(1 << 20)
    try:
        return line.endswith(b"\n") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _scan_json(file: Path) -> pl.LazyFrame:
    """Read records: a list of objects, alone or as the only list of an object; or an object of columns."""
    import polars as pl

    name = quote(str(file), 200)
    _files.require_small(file.stat().st_size, str(file))
    try:
        document = _files.read_json(file.read_bytes(), str(file))
    except InputError:
        if not _is_jsonl(file):
            raise
        return _scan_jsonl(file)
    if isinstance(document, dict):
        document = _as_pandas_wrote(document)
    if isinstance(document, dict):
        lists = [value for value in document.values() if isinstance(value, list)]
        records = [value for value in lists if value and all(isinstance(row, dict) for row in value)]
        if len(lists) == len(document) and not records:
            return pl.DataFrame(document, strict=False).lazy()
        document = records[0] if len(records) == 1 else None
    if not isinstance(document, list) or not document or not all(isinstance(row, dict) for row in document):
        raise InputError(f"{name}: not a table in JSON; write a list of objects, one per vote: [{{...}}, {{...}}]")
    return pl.DataFrame(document, infer_schema_length=None, strict=False).lazy()


def _as_pandas_wrote(document: dict[str, Any]) -> Any:
    """Turn the layouts of pandas' `to_json` (columns, index, split) into columns or records."""
    if set(document) >= {"columns", "data"} and set(document) <= {"columns", "data", "index"}:
        rows = document["data"]
        even = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(document["columns"]) for row in rows
        )
        return [dict(zip(document["columns"], row, strict=True)) for row in rows] if even else document
    if not document or not all(isinstance(inner, dict) for inner in document.values()):
        return document
    if all(key.isdigit() for key in document):
        return list(document.values())
    if len({tuple(inner) for inner in document.values()}) == 1:
        return {name: list(inner.values()) for name, inner in document.items()}
    return document


def _scan_arrow(file: Path) -> pl.LazyFrame:
    import polars as pl

    with file.open("rb") as handle:
        streamed = handle.read(6) != b"ARROW1"
    with _quiet():
        if streamed:
            return pl.read_ipc_stream(file).lazy()
        pl.read_ipc(file, n_rows=1)
    return pl.scan_ipc(file)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what an engine prints when it panics off standard error: its error is raised as well, and said in a line."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _scan_excel(file: Path, sheet: str | None = None) -> pl.LazyFrame:
    """Read a sheet, by default the first, every cell as text."""
    import polars as pl

    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("excel", "reading Excel files") from None
    try:
        _files.require_small(sum(each.file_size for each in zipfile.ZipFile(file).infolist()), str(file))
        book = load_workbook(file, read_only=True, data_only=True)
        chosen = book.sheetnames[0] if sheet is None else sheet
        if chosen not in book.sheetnames:
            raise InputError(f"{quote(str(file), 200)}: no sheet {quote(chosen)}; there are {listing(book.sheetnames)}")
        rows = [[_cell(value) for value in row] for row in book[chosen].iter_rows(values_only=True)]
        others = [name for name in book.sheetnames if name != chosen]
        book.close()
    except InputError:
        raise
    except Exception as error:  # A zip file that is cut off, or no Excel file at all.
        raise InputError(
            f"{quote(str(file), 200)}: not a readable Excel file ({error}); save it again, or as CSV"
        ) from None
    rows = [row for row in rows if any(value is not None for value in row)]
    if len(rows) < 2:
        named = Fix("sheet", "NAME", f"of {listing(others)}, name the one that has") if others else ()
        raise InputError(f"{quote(str(file), 200)}: sheet {quote(chosen)} has no votes below its header", named)
    names = [name if name is not None else f"column {number}" for number, name in enumerate(rows[0], 1)]
    _check_names(names, file)
    return pl.DataFrame(rows[1:], schema=dict.fromkeys(names, pl.String), orient="row").lazy()


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def unreadable(source: Source, error: BaseException) -> InputError:
    """Turn an engine's complaint about a file, or its panic, into one that says where and what to do."""
    name = quote(source.name, 200)
    form = format_of_table(Path(source.name))
    if isinstance(error, InputError):
        return error
    detail = str(error).strip().split("\n")[0][:200]
    if "utf-8" in detail.lower():
        return InputError(f"{name}: the file is not UTF-8 ({detail}); save it as UTF-8")
    try:
        if form == "jsonl" or (form == "json" and _is_jsonl(Path(source.name))):
            _find_fault(_files.unpacked(Path(source.name)), name)
    except InputError as fault:
        return fault
    kind = NAMES.get(form or "", "vote")
    return InputError(f"{name}: not a readable {kind} file ({detail}); write the file again or check its type")


def _find_fault(file: Path, name: str) -> None:
    """Raise for the first line that is no JSON object."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(codecs.BOM_UTF8)
            if text.strip() and (fault := _fault(text)):
                raise InputError(f"{name}: line {number} {fault}")


def _fault(line: bytes) -> str | None:
    """What is wrong with a line that should be a JSON object.

    >>> _fault(b'{"answer": NaN}')
    'has NaN, which is not JSON; write null where a value is missing, and put what is an answer in quotes'
    """
    constants: list[str] = []
    try:
        found = json.loads(line.decode(), parse_constant=constants.append)
    except RecursionError:
        return "is nested too deeply; write each vote as one flat object"
    except ValueError as error:
        reason = getattr(error, "msg", str(error))
        if not line.endswith(b"\n"):
            return f"is cut off, and the file with it ({reason}); copy the file again, or remove that line"
        return f"is not a JSON object ({reason}); correct or remove that line"
    if constants:
        return (
            f"has {constants[0]}, which is not JSON; write null where a value is missing, and put what is an answer in "
            "quotes"
        )
    return None if isinstance(found, dict) else "is not a JSON object; correct or remove that line"
