"""Where votes come from: files on disk, opened lazily, with errors that name the file and the line."""

from __future__ import annotations

import atexit
import codecs
import csv
import gzip
import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, MissingExtraError, quote
from swaplaw.votes.provenance import origin_in

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
PACKED = ("csv", "jsonl", "json")
"""Formats that may be packed by gzip, with `.gz` after their suffix."""
STANDARD_INPUT = "-"
DELIMITERS = ",;\t|"
MAX_UNPACKED = 16 * 2**30
MAX_JSON = 2**30
"""The largest JSON file of records: it can only be read whole."""
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
    """Whether rows are counts already (a tally on disk), with their number of votes."""
    origin: Callable[[], Mapping[str, Any]] = dict
    """Tells how the votes came about, where that is recorded (see `provenance`)."""
    numbers: Callable[[str, Sequence[str]], pl.LazyFrame] | None = None
    """Of a tally: gives the sample numbers that it keeps of a dataset's models (see `TallyFolder.numbers`)."""

    def place(self, row: int) -> str:
        """Say where row `row` (counted from 0) is."""
        line = f" (line {row + self.first_line})" if self.first_line is not None else ""
        return f"row {row + 1}{line}"


def format_of_table(file: Path) -> str | None:
    """Tell the format of a table by its suffix: None where it is none that is known."""
    suffix = file.suffix.lower()
    if suffix == ".gz":
        inner = FORMATS.get(Path(file.stem).suffix.lower())
        return inner if inner in PACKED else None
    return FORMATS.get(suffix)


def open_file(file: Path) -> Source:
    """Open one file of votes."""
    form = format_of_table(file)
    if form is None:
        raise InputError(
            f"{quote(str(file), 200)}: unknown file type {quote(file.suffix)}; expected {', '.join(FORMATS)}, "
            "or one of the text formats with .gz"
        )
    if file.stat().st_size == 0:
        raise InputError(f"{quote(str(file), 200)}: the file is empty; write at least one vote into it")
    readers = {"parquet": _scan_parquet, "csv": _scan_csv, "jsonl": _scan_jsonl, "json": _scan_json}
    reader = (readers | {"arrow": _scan_arrow, "excel": _scan_excel})[form]
    first_line = {"csv": 2, "jsonl": 1, "excel": 2}.get(form)
    if file.suffix.lower() == ".gz":
        return Source(str(file), lambda: reader(_unpacked(file)), first_line)
    origin = partial(origin_in, file) if form == "parquet" else dict
    return Source(str(file), lambda: reader(file), first_line, origin=origin)


def standard_input() -> Path:
    """Keep what comes on standard input in a temporary file, named by what it looks like."""
    content = sys.stdin.buffer.read()
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError):
            raise InputError("what comes on standard input is cut off: it is gzip, and ends too early") from None
    start = content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    first, _, rest = content.strip().partition(b"\n")
    suffix = ".parquet" if content.startswith(b"PAR1") else ".csv"
    if start == b"[" or (start == b"{" and not (rest.lstrip()[:1] == b"{" or first.endswith(b"}"))):
        suffix = ".json"
    elif start == b"{":
        suffix = ".jsonl"
    file = _scratch() / f"standard-input{suffix}"
    file.write_bytes(content)
    return file


@lru_cache(maxsize=1)
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="swaplaw-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _unpacked(file: Path) -> Path:
    """Unpack a gzip file beside other temporary files: scans can then stream it."""
    state = file.stat()
    return _unpacked_once(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _unpacked_once(file: Path, *version: int) -> Path:
    """Unpack a file as it is now: one that is written again is unpacked again, and frames of the old one still hold."""
    plain = _scratch() / f"{_digest(file, *version)}-{file.stem}"
    left = MAX_UNPACKED
    try:
        with gzip.open(file, "rb") as packed, plain.open("wb") as unpacked:
            while block := packed.read(1 << 20):
                left -= len(block)
                if left < 0:
                    raise InputError(f"{quote(str(file), 200)}: over {MAX_UNPACKED:,} bytes unpacked; split it")
                unpacked.write(block)
    except (OSError, EOFError) as error:
        raise InputError(f"{quote(str(file), 200)}: not a whole gzip file ({error}); pack it again") from None
    return plain


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
    start = _first_line(file)
    names = next(csv.reader([start.decode("utf-8-sig", "replace")], delimiter=separator), [])
    _check_names([name.strip() for name in names], file)


def _first_line(file: Path) -> bytes:
    """The first line of a text that is neither UTF-16 nor one long line by an old convention."""
    with file.open("rb") as handle:
        start = handle.readline(1 << 16)
    # Text in UTF-16 is half zeros, also where no mark at its beginning says so.
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start[:4]:
        raise InputError(f"{quote(str(file), 200)}: the file is UTF-16; save it as UTF-8")
    if b"\r" in start.strip():
        raise InputError(f"{quote(str(file), 200)}: its lines end in a carriage return alone; save it with line feeds")
    return start


def _check_names(names: list[str], file: Path) -> None:
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise InputError(f"{quote(str(file), 200)}: two columns are called {quote(twice[0])}; rename one of them")


def delimiter_of(file: Path) -> str:
    """Tell the delimiter of a text table: the one that its first line has most of, outside quotes."""
    with file.open("rb") as handle:
        header = handle.readline(1 << 16).decode("utf-8", "replace")
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=lambda mark: (bare.count(mark), -DELIMITERS.index(mark)))


def _scan_jsonl(file: Path) -> pl.LazyFrame:
    import polars as pl

    start = _first_line(file)
    if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        raise InputError(
            f"{quote(str(file), 200)}: it begins with a list, where each line must be an object; if the whole file is "
            "one list of objects, name it .json"
        )
    return pl.scan_ndjson(_unmarked(file) if start.startswith(codecs.BOM_UTF8) else file, infer_schema_length=None)


def _unmarked(file: Path) -> Path:
    """Copy a file without the mark of UTF-8 that some editors put at its beginning: no object may begin with it."""
    state = file.stat()
    plain = _scratch() / f"{_digest(file, state.st_mtime_ns, state.st_size)}-unmarked-{file.name}"
    with file.open("rb") as marked, plain.open("wb") as unmarked:
        marked.seek(len(codecs.BOM_UTF8))
        shutil.copyfileobj(marked, unmarked)
    return plain


def _digest(file: Path, *version: int) -> str:
    return hashlib.sha256(f"{file.resolve()} {version}".encode()).hexdigest()[:16]


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
    if file.stat().st_size > MAX_JSON:
        raise InputError(f"{name}: larger than {MAX_JSON:,} bytes, too large for JSON that is read whole; write JSONL")
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        if _is_jsonl(file):
            return _scan_jsonl(file)
        raise InputError(f"{name}: not JSON ({error}); write a list of objects, one per vote") from None
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
    return pl.read_ipc_stream(file).lazy() if streamed else pl.scan_ipc(file)


def _scan_excel(file: Path) -> pl.LazyFrame:
    """Read the first sheet, every cell as text."""
    import polars as pl

    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("excel", "reading Excel files") from None
    try:
        book = load_workbook(file, read_only=True, data_only=True)
    except Exception as error:  # A zip file that is cut off, or no Excel file at all.
        raise InputError(
            f"{quote(str(file), 200)}: not a readable Excel file ({error}); save it again, or as CSV"
        ) from None
    rows = [[_cell(value) for value in row] for row in book.worksheets[0].iter_rows(values_only=True)]
    book.close()
    rows = [row for row in rows if any(value is not None for value in row)]
    if len(rows) < 2:
        raise InputError(f"{quote(str(file), 200)}: the first sheet has no votes below its header; move them there")
    names = [name if name is not None else f"column {number}" for number, name in enumerate(rows[0], 1)]
    _check_names(names, file)
    return pl.DataFrame(rows[1:], schema=dict.fromkeys(names, pl.String), orient="row").lazy()


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def unreadable(source: Source, error: Exception) -> InputError:
    """Turn an engine's complaint about a file into one that says where and what to do."""
    name = quote(source.name, 200)
    form = format_of_table(Path(source.name))
    if isinstance(error, InputError):
        return error
    detail = str(error).strip().split("\n")[0]
    if "utf-8" in detail.lower():
        return InputError(f"{name}: the file is not UTF-8 ({detail}); save it as UTF-8")
    lines = form == "jsonl" or (form == "json" and _is_jsonl(Path(source.name)))
    if lines and (fault := _first_fault(Path(source.name))):
        return InputError(f"{name}: {fault}")
    kind = NAMES.get(form or "", "vote")
    return InputError(f"{name}: not a readable {kind} file ({detail}); write the file again or check its type")


def _first_fault(file: Path) -> str | None:
    """Which line is the first that is no JSON object, and what to do about it."""
    with gzip.open(file, "rb") if file.suffix.lower() == ".gz" else file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(codecs.BOM_UTF8)
            if text.strip() and (fault := _fault(text)):
                return f"line {number} {fault}"
    return None


def _fault(line: bytes) -> str | None:
    """What is wrong with a line that should be a JSON object.

    >>> _fault(b'{"answer": NaN}')
    'has NaN, which is not JSON; write null where a value is missing, and put what is an answer in quotes'
    """
    constants: list[str] = []
    try:
        found = json.loads(line.decode(), parse_constant=constants.append)
    except (ValueError, RecursionError) as error:
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
