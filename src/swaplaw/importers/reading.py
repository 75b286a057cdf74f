"""Reading votes from what people already have: logs of other tools, and tables of any layout.

`import_votes(paths)` is the one entry: it finds out what each file is, reads it, and says how and what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from swaplaw._files import regular
from swaplaw.errors import InputError, quote
from swaplaw.importers import tables
from swaplaw.importers.meaning import grouped
from swaplaw.importers.record import Findings, Options, Reading
from swaplaw.importers.registry import FORMATS, format_of
from swaplaw.importers.repeats import repeat_notes
from swaplaw.importers.spelling import EXACT, spelling_notes
from swaplaw.votes.contract import REQUIRED
from swaplaw.votes.files import FORMATS as TABLES
from swaplaw.votes.files import STANDARD_INPUT, Source, format_of_table, open_file, standard_input
from swaplaw.votes.provenance import PROVENANCE, spelt
from swaplaw.votes.table import Votes
from swaplaw.votes.tally_folder import is_tally, open_tally

TALLY = "tally"
"""What a folder is that `write_tally` wrote: its votes are counted already."""


@dataclass(frozen=True)
class Imported:
    """Votes, how they were read, what is missing, and where they came from."""

    votes: Votes
    format: str
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]
    provenance: dict[str, Any]

    def write(self, path: str | Path) -> None:
        """Write the votes; Parquet carries the provenance in its metadata.

        Parameters
        ----------
        path : str or Path
            The file to write; its suffix says in which format.
        """
        self.votes.write(path, metadata={PROVENANCE: json.dumps(self.provenance, sort_keys=True)})

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        return {
            "format": self.format,
            "votes": int(self.votes.counts["votes"].sum()),
            "datasets": self.votes.datasets,
            "models": sorted(self.votes.counts["model"].unique()),
            "columns": [reading.to_dict() for reading in self.readings],
            "notes": list(self.notes),
            "provenance": self.provenance,
        }


def read_votes(paths: str | Path | Iterable[str | Path], *more: str | Path, options: Options | None = None) -> Votes:
    """Read votes from files, logs of other tools, and directories of them.

    All votes are checked against the contract. Columns of tables in other layouts are guessed, and notes say how.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Vote tables, logs, or directories.
    *more : str or Path
        Further ones.
    options : Options, optional
        What to decide about the import: scorer, filter, columns, reader and the like.

    Returns
    -------
    Votes
        All of them as one vote table.

    Raises
    ------
    InputError
        If a file is missing, unreadable, or breaks the contract; the message says where and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import swaplaw as sl
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "votes.csv"
    ...     _ = file.write_text("question,model,answer,gold\\n1,a,A,A\\n1,b,B,A\\n")
    ...     sl.read_votes(file)
    Votes(2 votes of 'votes')
    """
    chosen = options or Options()
    sources, notes = open_votes([*_listed(paths), *more], chosen)
    votes = grouped(Votes(tuple(sources), tuple(dict.fromkeys(notes))), chosen)
    return votes.noting([*repeat_notes(votes), *([] if chosen.canonical else spelling_notes(votes))])


def import_votes(paths: str | Path | Iterable[str | Path], options: Options | None = None) -> Imported:
    """Read votes from logs and tables of any layout, and report how each column was read.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Logs, tables, or directories.
    options : Options, optional
        What to decide about the import: scorer, filter, columns and the like.

    Returns
    -------
    Imported
        The votes, how they were read, what is missing, and where they came from.

    Raises
    ------
    InputError
        If a file is missing, unreadable, or cannot be mapped; the message says where and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import swaplaw as sl
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "votes.csv"
    ...     _ = file.write_text("question,model,answer,gold\\n1,a,A,A\\n1,b,B,A\\n")
    ...     sl.import_votes(file).format
    'votes'
    """
    chosen = options or Options()
    findings = Findings()
    groups = by_format(find(_listed(paths)))
    sources = [source for form, files in groups.items() for source in read(form, files, chosen, findings)]
    form = ", ".join(groups)
    votes = grouped(Votes(tuple(sources)), chosen)
    findings.notes += votes.notes
    findings.notes += [*repeat_notes(votes), *([] if chosen.canonical else spelling_notes(votes))]
    return Imported(
        votes,
        form,
        tuple(dict.fromkeys(findings.readings)),
        tuple(dict.fromkeys(findings.notes)),
        _provenance(form, chosen, findings, votes.origin),
    )


def _listed(paths: Any) -> list[Any]:
    """One path or several as a list; a dataframe would be read as the names of its columns."""
    if isinstance(paths, str | PathLike):
        return [paths]
    if isinstance(paths, Iterable) and not isinstance(paths, bytes | dict) and not hasattr(paths, "columns"):
        return list(paths)
    raise InputError(
        f"a {type(paths).__name__} is not a path: name a file, a directory, or several (`votes_from` takes dataframes)"
    )


def open_votes(paths: Iterable[str | Path], options: Options | None = None) -> tuple[list[Source], list[str]]:
    """Open vote tables as they are, logs and tables of other layouts as votes; also what is to be said about them."""
    chosen = options or Options()
    # The form "exact" changes no answer: a vote table is then opened as it is.
    mapped = replace(chosen, canonical=() if chosen.canonical == (EXACT,) else chosen.canonical).to_dict()
    findings = Findings()
    sources: list[Source] = []
    for form, files in by_format(find(paths)).items():
        if form == TALLY:
            sources += map(open_tally, files)
        elif form == "votes" and not mapped:
            sources += map(open_file, files)
        elif form == "table":
            sources += [_open_table(file, chosen, findings) for file in files]
        else:
            sources += read(form, files, chosen, findings)
    return sources, findings.notes


def _open_table(file: Path, options: Options, findings: Findings) -> Source:
    """Map a table's columns, and say which were guessed; one that cannot be mapped is held to the contract as it is."""
    try:
        own = Findings()
        source = _read(tables.read, file, options, own)
    except tables.NoColumnError:
        if options.to_dict():
            raise
        return open_file(file)
    findings.add(own)
    guessed = [f"{reading.column} from {quote(reading.source)}" for reading in own.readings if reading.guessed]
    if guessed:
        findings.notes.append(f"{quote(str(file), 100)}: read {', '.join(dict.fromkeys(guessed))} (guessed)")
    return source


def _provenance(form: str, options: Options, findings: Findings, origin: Mapping[str, Any]) -> dict[str, Any]:
    """Where votes came from. No time of day: the same logs give the same bytes."""
    from importlib.metadata import version

    return {
        "version": version("swaplaw"),
        "format": form,
        "options": options.to_dict(),
        "reader": origin.get("reader"),
        **{name: value for name, value in origin.items() if name != "reader"},
        "files": findings.files,
        "notes": list(dict.fromkeys(findings.notes)),
    }


def read(form: str, files: list[Path], options: Options, findings: Findings) -> list[Source]:
    """Read files of one format; each source keeps how its votes came about."""
    if form in FORMATS:
        return [_read(FORMATS[form].read, files, options, findings)]
    return [_read(tables.read, file, options, findings) for file in files]


def _read(how: Callable[[Any, Options, Findings], Source], what: Any, options: Options, findings: Findings) -> Source:
    own = Findings()
    source = how(what, options, own)
    findings.add(own)
    return replace(source, origin=lambda: spelt(own.origin, options.canonical))


def find(paths: Iterable[str | Path]) -> list[Path]:
    """List the files that hold votes, each once: of a directory, all that are recognised, however deep."""
    found: dict[Path, Path] = {}
    for given in _fetched(paths):
        if not isinstance(given, str | PathLike) or not str(given):
            raise InputError(f"{quote(given)} is not a path: name a file, a directory, or several")
        path = standard_input() if str(given) == STANDARD_INPUT else Path(given)
        if not path.exists():
            raise InputError(f"{quote(str(path), 200)}: there is no such file or directory")
        files = (
            [path if path.is_dir() else regular(path)]
            if not path.is_dir() or is_tally(path)
            else sorted(file for file in path.rglob("*") if _is_input(file))
        )
        if not files:
            raise InputError(
                f"{quote(str(path), 200)}: no vote files and no logs in this directory; "
                f"expected .eval, .json (Inspect, HELM) or {', '.join(TABLES)}"
            )
        for file in files:
            found.setdefault(file.resolve(), file)
    if not found:
        raise InputError("no votes given: name a file, a directory, or several")
    return list(found.values())


def _fetched(paths: Iterable[str | Path]) -> Iterator[str | Path]:
    """Fetch the files of datasets on the Hugging Face hub; other paths stay as they are."""
    for path in paths:
        if str(path).startswith("hf:"):
            from swaplaw.importers import hub

            yield from hub.download(str(path))[1]
        else:
            yield path


def _is_input(file: Path) -> bool:
    """Whether a file in a directory is a log or a table; manifests, results and the like are left alone."""
    if not file.is_file() or any(part.startswith(".") for part in file.parts[-2:]):
        return False
    if file.suffix.lower() in (".json", ".xlsx"):
        return format_of(file) is not None  # Settings, results and reports lie about as JSON and Excel too.
    return format_of_table(file) is not None or format_of(file) is not None


def by_format(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Sort files by what they are."""
    groups: dict[str, list[Path]] = {}
    for file in files:
        groups.setdefault(detect(file), []).append(file)
    return groups


def detect(file: Path) -> str:
    """Tell what a file is: the name of a format, `votes` (the native layout) or `table`."""
    return TALLY if is_tally(file) else _log_format(file) or _table_format(file)


def _log_format(file: Path) -> str | None:
    form = format_of(file)
    return None if form is None else form.name


def _table_format(file: Path) -> str:
    try:
        frame = open_file(file).scan()
        if not set(REQUIRED) <= set(frame.collect_schema().names()):
            return "table"
        gold = frame.select("gold").head(1).collect()["gold"]
    except InputError:
        raise
    except Exception:  # Unreadable: the reader will say what is wrong with it.
        return "votes"
    listed = (
        gold.dtype.is_nested()
        or frame.collect_schema()["answer"].is_nested()
        or any(str(first).startswith("[") for first in gold)
    )
    schema = frame.collect_schema()
    floats = any(schema[column].is_float() for column in REQUIRED)
    return "table" if listed or floats else "votes"
