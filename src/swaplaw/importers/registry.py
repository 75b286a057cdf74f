"""The formats of logs: how each is told from the others, and how it is read.

The modules of this package that read formats are listed in `MODULES`; a format of your own is added with `register`.
Files that no format recognises are tables (see `tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from swaplaw._result import Registry
from swaplaw.importers.record import Findings, Options
from swaplaw.votes.files import Source

_SNIFFED = 1 << 16


@dataclass(frozen=True)
class Format:
    """One format of logs."""

    name: str
    recognises: Callable[[Path], bool]
    """Whether a file is of this format, judged by its name and beginning (see `head`)."""
    read: Callable[[Sequence[Path], Options, Findings], Source]
    """Spool the votes of files of this format, and report in the findings how they were read."""


MODULES = ("corpus", "eee", "helm", "inspect", "lm_eval", "tools")
"""The modules of this package that read formats; each lists its own in `FORMATS`."""


def _built_in() -> None:
    for module in MODULES:
        for form in import_module(f"swaplaw.importers.{module}").FORMATS:
            FORMATS.register(form.name, form)


FORMATS: Registry[Format] = Registry("format", _built_in)


def register(form: Format) -> None:
    """Add a format: from then on its files are recognised wherever votes are read.

    Parameters
    ----------
    form : Format
        Its name, how its files are recognised, and how they are read.

    Raises
    ------
    InputError
        If there is already a format of that name.

    Examples
    --------
    >>> def read(files, options, findings):
    ...     ...  # Returns a `Source` of votes: see `lm_eval` for one.
    >>> register(Format("mine", lambda file: file.suffix == ".mine", read))
    >>> format_of(Path("votes.mine")).name
    'mine'
    >>> FORMATS.unregister("mine")
    """
    FORMATS.register(form.name, form)


COLUMNS = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
"""Suffixes of tables that no built-in format uses for its logs."""


def format_of(file: Path) -> Format | None:
    """Find the format that recognises a file; None: it is a table, or nothing we know."""
    if FORMATS.untouched and file.suffix.lower() in COLUMNS:
        return None  # Importing every format, only for each to say no, takes longer than counting many votes.
    return next((form for form in map(FORMATS.__getitem__, FORMATS) if form.recognises(file)), None)


def head(file: Path) -> bytes:
    """Read a file's beginning, which is enough to tell its format."""
    with file.open("rb") as handle:
        return handle.read(_SNIFFED)
