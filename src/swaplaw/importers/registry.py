"""The formats of logs: how each is told from the others, and how it is read.

The modules of this package that read formats are listed in `MODULES`; a format of your own is added with `register`.
Files that no format recognises are tables (see `tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from swaplaw.errors import InputError, quote
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
ADDED: list[Format] = []
"""Formats of others, in the order in which they were registered."""


@cache
def built_in() -> tuple[Format, ...]:
    """The formats of this package, imported when they are first asked for."""
    return tuple(form for module in MODULES for form in import_module(f"swaplaw.importers.{module}").FORMATS)


def formats() -> dict[str, Format]:
    """All formats by name."""
    return {form.name: form for form in (*built_in(), *ADDED)}


def register(form: Format) -> Format:
    """Add a format: from then on its files are recognised wherever votes are read.

    Parameters
    ----------
    form : Format
        Its name, how its files are recognised, and how they are read.

    Returns
    -------
    Format
        The same.

    Raises
    ------
    InputError
        If there is already a format of that name.

    Examples
    --------
    >>> def read(files, options, findings):
    ...     ...  # Returns a `Source` of votes: see `lm_eval` for one.
    >>> mine = register(Format("mine", lambda file: file.suffix == ".mine", read))
    >>> format_of(Path("votes.mine")).name
    'mine'
    >>> ADDED.remove(mine)
    """
    if form.name in formats():
        raise InputError(f"there is a format {quote(form.name)} already; choose another name")
    ADDED.append(form)
    return form


COLUMNS = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
"""Suffixes of tables that no built-in format uses for its logs."""


def format_of(file: Path) -> Format | None:
    """Find the format that recognises a file; None: it is a table, or nothing we know."""
    if not ADDED and file.suffix.lower() in COLUMNS:
        return None  # Importing every format, only for each to say no, takes longer than counting many votes.
    return next((form for form in formats().values() if form.recognises(file)), None)


def head(file: Path) -> bytes:
    """Read a file's beginning, which is enough to tell its format."""
    with file.open("rb") as handle:
        return handle.read(_SNIFFED)
