"""How files are written and how untrusted ones are read: one durable writer, one bounded reader.

An output is the old file or the new one, never a part of either: it is written as a draft in the same folder, forced to
disk, and renamed. An input is a regular file whose unpacked size is bounded, absolutely and by how much was packed, and
whatever an engine says about it (exceptions and panics alike) becomes one line that names the file.
"""

from __future__ import annotations

import atexit
import contextlib
import gzip
import json
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from swaplaw.errors import Fix, InputError, MissingExtraError, quote

LARGEST = 8 * 2**30
"""Bytes that a packed file or standard input may have when unpacked …"""
RATIO, SMALL = 200, 64 * 2**20
"""… and how many times the packed size, where they are more than a few: honest votes stay below a hundred."""
LARGEST_WHOLE = 256 * 2**20
"""Bytes of what can only be read whole, such as one JSON document: Python needs eight times as many."""
BLOCK = 2**20
PACKED = (".gz", ".zst", ".zip")
"""Suffixes of packed files; what is packed is named by the suffix before."""
_MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}
ENGINES = (
    "polars",
    "narwhals",
    "pyo3_runtime",
    "pyarrow",
    "duckdb",
    "_duckdb",
    "dask",
    "distributed",
    "pyspark",
    "py4j",
    "pandas",
)
"""Packages whose exceptions are complaints about data; a panic of Polars comes from `pyo3_runtime`."""
_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)


@contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """Give a draft to write; when all went well, it replaces the file in one step, and else vanishes.

    A draft that another process is writing is locked. A link is refused: what it points to is not what was named.

    Raises
    ------
    InputError
        If the file cannot be written; the message names it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder, writing(f"{folder}/law.json") as draft:
    ...     _ = draft.write_text("{}")
    """
    file = Path(path)
    draft = file.with_name(f".{file.name}.part")
    lock, done = None, False
    try:
        mode = _mode_of(file)
        lock = _locked(draft)
        yield draft
        with draft.open("r+b") as written:
            os.fsync(written.fileno())
        draft.chmod(mode)
        draft.replace(file)
        done = True
        _sync(file.parent)
    except Exception as error:
        if isinstance(error, InputError) or not is_complaint(error):
            raise
        raise InputError(f"{quote(str(path), 200)}: cannot be written ({_said(error)})") from None
    finally:
        if lock is not None:
            os.close(lock)
            if not done:
                draft.unlink(missing_ok=True)


def _mode_of(file: Path) -> int:
    """The permissions of the file that is there, or of a new one; refuse what is no regular file."""
    try:
        state = file.lstat()
    except FileNotFoundError:
        if not file.parent.is_dir():
            name, folder = quote(str(file), 200), quote(str(file.parent), 200)
            raise InputError(f"{name}: there is no directory {folder}; make it first") from None
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(state.st_mode):
        kind = "a link: name the file that it stands for" if stat.S_ISLNK(state.st_mode) else "no regular file"
        raise InputError(f"{quote(str(file), 200)}: cannot be written: it is {kind}")
    return stat.S_IMODE(state.st_mode)


def _locked(draft: Path) -> int:
    """Open a draft for us alone; one that a killed process left is taken over."""
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Not on Windows.
        pass
    except OSError:
        os.close(descriptor)
        raise InputError(f"{quote(str(draft), 200)}: another process is writing this; wait until it ends") from None
    os.truncate(descriptor, 0)
    return descriptor


def _sync(folder: Path) -> None:
    """Force a rename to disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    with writing(path) as draft:
        draft.write_bytes(content)


def regular(path: str | Path) -> Path:
    """Refuse what is no file: a pipe would wait for ever, a device would never end."""
    file, name = Path(path), quote(str(path), 200)
    try:
        mode = file.stat().st_mode
    except OSError as error:
        there = "there is no such file or directory" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{name}: {there}") from None
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "no regular file: write its content to one, or pipe it to `-`"
        raise InputError(f"{name}: it is {kind}")
    return file


@contextmanager
def allowing(size: int | None) -> Iterator[None]:
    """While in this context, files may have this many bytes when unpacked; None leaves the bounds as they are."""
    before = _allowed.set(size or _allowed.get())
    try:
        yield
    finally:
        _allowed.reset(before)


def require_small(size: int, name: str, largest: int = LARGEST_WHOLE) -> None:
    """Refuse what can only be read whole and is larger than allowed."""
    most = _allowed.get() or largest
    if size > most:
        raise InputError(
            f"{quote(name, 200)}: {size:,} bytes, of which at most {most:,} are read at once",
            Fix("max_unpacked", "BYTES", "split it, or allow more", "if you trust it"),
        )


def blocks(stream: Any, name: str, packed: int | None = None, largest: int = LARGEST) -> Iterator[bytes]:
    """The bytes of a stream, block by block, no more of them than allowed.

    Parameters
    ----------
    stream : binary file
        What is read; it may unpack as it goes.
    name : str
        What it is called in errors.
    packed : int, optional
        Its packed size, if it is packed: what it unpacks to is then bounded by a multiple of that, too.
    largest : int
        Bytes at most, unless more were allowed (see `allowing`).
    """
    allowed = _allowed.get()
    most = allowed or (largest if packed is None else min(largest, max(SMALL, RATIO * packed)))
    size = 0
    try:
        while block := stream.read(BLOCK):
            size += len(block)
            if size > most:
                raise InputError(
                    f"{quote(name, 200)}: more than {most:,} bytes"
                    f"{'' if packed is None else f' unpacked, from {packed:,} packed ones'}",
                    Fix("max_unpacked", "BYTES", "split it, or allow more", "if you trust it"),
                )
            yield block
    except InputError:
        raise
    except Exception as error:  # Each kind of packing has exceptions of its own.
        raise InputError(f"{quote(name, 200)}: it is not whole ({_said(error)}); write or pack it again") from None


def unpacked(file: Path, name: str = "") -> Path:
    """The file itself, or, where its suffix says that it is packed, what it holds, as a temporary file."""
    regular(file)
    if file.suffix.lower() not in PACKED:
        return file
    state = file.stat()
    version = state.st_mtime_ns, state.st_size, _allowed.get()
    return _unpacked(file.absolute(), file.suffix.lower(), name or str(file), version)


@lru_cache(maxsize=64)
def _unpacked(file: Path, suffix: str, name: str, version: tuple[int, int, int | None]) -> Path:
    """Unpack a file as it is now: one that is written again is unpacked again, and frames of the old one still hold."""
    plain = Path(tempfile.mkdtemp(dir=scratch())) / file.stem
    try:
        with _opened(file, suffix) as stream, plain.open("wb") as out:
            for block in blocks(stream, name, version[1]):
                out.write(block)
    except (InputError, MissingExtraError):
        raise
    except Exception as error:  # Each kind of packing has exceptions of its own.
        raise InputError(f"{quote(name, 200)}: it is not whole ({_said(error)}); write or pack it again") from None
    return plain


@contextmanager
def _opened(file: Path, suffix: str) -> Iterator[Any]:
    if suffix == ".gz":
        with gzip.open(file, "rb") as stream:
            yield stream
    elif suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("inspect", "reading files packed by zstd") from None
        with file.open("rb") as packed:
            stated = zstandard.frame_content_size(packed.read(18))
        with zstandard.open(file, "rb") as stream:
            yield stream
            # Its end may be missing without an error.
            if -1 < stated != stream.tell():
                raise OSError("it ends too early")
    else:
        with zipfile.ZipFile(file) as archive:
            members = [each for each in archive.infolist() if not each.is_dir()]
            if len(members) != 1:
                raise InputError(f"{quote(str(file), 200)}: it holds {len(members)} files; unpack it into a folder")
            with archive.open(members[0]) as stream:
                yield stream


def standard_input() -> Path:
    """Keep what comes on standard input in a temporary file without a suffix; unpacked, where it was packed."""
    file = Path(tempfile.mkdtemp(dir=scratch())) / "standard-input"
    with file.open("wb") as out:
        for block in blocks(sys.stdin.buffer, "standard input"):
            out.write(block)
    with file.open("rb") as start:
        magic = start.read(4)
    suffix = next((suffix for mark, suffix in _MAGIC.items() if magic.startswith(mark)), "")
    if not suffix or (suffix == ".zip" and b"xl/" in file.read_bytes()[:4096]):
        return file
    return unpacked(file.rename(file.with_name(file.name + suffix)), "standard input")


@lru_cache(maxsize=1)
def scratch() -> Path:
    """A folder for what is needed until the program ends."""
    folder = Path(tempfile.mkdtemp(prefix="swaplaw-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def read_json(content: str | bytes, name: str) -> Any:
    """Read one JSON document, said properly where it is none: cut off, nested too deeply, a key given twice.

    >>> read_json('{"gold": "A", "gold": "B"}', "votes.json")
    Traceback (most recent call last):
        ...
    swaplaw.errors.InputError: 'votes.json': the key 'gold' is there twice in one object; keep one of them
    """
    try:
        return json.loads(content, object_pairs_hook=_each_once)
    except _TwiceError as error:
        why = f"the key {quote(str(error))} is there twice in one object; keep one of them"
    except RecursionError:
        why = "lists and objects are nested too deeply; write each vote as one flat object"
    except ValueError as error:
        why = f"not JSON ({error}); write it again"
    raise InputError(f"{quote(name, 200)}: {why}")


class _TwiceError(Exception):
    """A key that an object has twice."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _TwiceError(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return found


def is_complaint(error: BaseException) -> bool:
    """Whether the system or an engine of dataframes complains about data. Panics of Polars are no `Exception`."""
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in ENGINES


def _said(error: BaseException) -> str:
    """What an error says, as one line."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split())[:200] or type(error).__name__
