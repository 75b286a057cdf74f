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

from swaplaw._files import is_complaint, regular
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import corpus, tables
from swaplaw.importers.corpus_tables import is_database
from swaplaw.importers.meaning import grouped
from swaplaw.importers.record import Findings, Options, Reading
from swaplaw.importers.registry import format_of, formats
from swaplaw.importers.spelling import EXACT, repeat_notes, spelling_notes
from swaplaw.votes import engines
from swaplaw.votes.contract import OPTIONAL, REQUIRED
from swaplaw.votes.files import FORMATS as TABLES
from swaplaw.votes.files import STANDARD_INPUT, Source, format_of_table, open_file, reading, standard_input
from swaplaw.votes.provenance import PROVENANCE, spelt
from swaplaw.votes.table import Votes, source_from


@dataclass(frozen=True)
class Imported:
    """Votes, how they were read, what is missing, and where they came from."""

    votes: Votes
    format: str
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]
    provenance: dict[str, Any]

    def write(self, path: str | Path, *, counts: bool = False) -> None:
        """Write the votes; Parquet carries the provenance in its metadata.

        Parameters
        ----------
        path : str or Path
            The file to write; its suffix says in which format.
        counts : bool
            Write how many votes each answer got, instead of the votes.
        """
        if counts:
            self.votes.write_counts(path, self.provenance)
            return
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


def read_votes(votes: Any, *more: str | Path, options: Options | None = None, **how: Any) -> Votes:
    """Read votes from files, logs of other tools, directories of them, and dataframes.

    All votes are checked against the contract. Columns of tables in other layouts are guessed, and notes say how.

    Parameters
    ----------
    votes : str, Path, dataframe, or iterable of paths
        Vote tables, logs, or directories; or a table in memory: pandas, Polars, Arrow, DuckDB, `datasets.Dataset`.
    *more : str or Path
        Further files.
    options : Options, optional
        What to decide about the import: scorer, filter, columns, reader and the like.
    **how
        The same, one by one: `columns={"gold": "key"}`, `model="gpt-4"`, `canonical="text"`, `reader="choice"`.

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
    chosen = Options.of(options, how)
    sources, notes = open_votes(votes if is_frame(votes) else [*_listed(votes), *more], chosen)
    read = grouped(Votes(tuple(sources), tuple(dict.fromkeys(notes))), chosen)
    return read.noting([*repeat_notes(read), *([] if chosen.canonical else spelling_notes(read))])


def votes_from(frame: Any, **how: Any) -> Votes:
    """Take votes from any dataframe: whatever layout a file may have, a table in memory may have.

    The engine that holds votes in the layout of the vote table counts them: Spark counts a Spark dataframe, DuckDB a
    DuckDB relation, and only counts come back. Tables of other layouts are brought over and mapped.

    Parameters
    ----------
    frame : dataframe
        pandas, Polars, PyArrow, DuckDB, PySpark, Dask, a `datasets.Dataset`, or columns in a dictionary.
    **how
        What `read_votes` takes: `columns={"gold": "key"}`, `model="gpt-4"`, `canonical="text"`.

    Returns
    -------
    Votes
        The vote table, checked against its contract.

    Raises
    ------
    InputError
        If it is not a dataframe, or breaks the contract; the message says where and what to do.

    Examples
    --------
    >>> import polars as pl
    >>> import swaplaw as sl
    >>> frame = pl.DataFrame({"id": ["1", "2"], "key": ["B", "A"], "gpt": ["B", "A"], "llama": ["A", "A"]})
    >>> sl.votes_from(frame, columns={"gold": "key"}).tally().models
    ('gpt', 'llama')
    """
    if not is_frame(frame):
        raise InputError(f"a {type(frame).__name__} is not a dataframe: `read_votes` takes paths")
    source = source_from(_framed(frame))
    return Votes((source,)) if not how and _has_layout(source) else read_votes(frame, **how)


def opened(votes: Any) -> Votes:
    """Votes in any form that is none of ours: paths of files, or a dataframe."""
    return votes_from(votes) if is_frame(votes) else read_votes(votes)


def import_votes(votes: Any, options: Options | None = None, **how: Any) -> Imported:
    """Read votes from logs and tables of any layout, and report how each column was read.

    Parameters
    ----------
    votes : str, Path, dataframe, or iterable of paths
        Logs, tables, directories, or a table in memory.
    options : Options, optional
        What to decide about the import: scorer, filter, columns and the like.
    **how
        The same, one by one (see `read_votes`).

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
    chosen = Options.of(options, how)
    findings = Findings()
    if is_frame(votes):
        form = "table"
        sources = [_read(tables.mapped, _in_memory(votes), chosen, findings)]
    else:
        groups = by_format(find(_listed(votes)), chosen)
        sources = [source for form, files in groups.items() for source in read(form, files, chosen, findings)]
        form = ", ".join(groups)
    read_so_far = grouped(Votes(tuple(sources)), chosen)
    findings.notes += read_so_far.notes
    findings.notes += [*repeat_notes(read_so_far), *([] if chosen.canonical else spelling_notes(read_so_far))]
    return Imported(
        read_so_far,
        form,
        tuple(dict.fromkeys(findings.readings)),
        tuple(dict.fromkeys(findings.notes)),
        _provenance(form, chosen, findings, read_so_far.origin),
    )


def is_frame(votes: Any) -> bool:
    """Whether votes are a table in memory, rather than paths."""
    return isinstance(votes, Mapping) or any(hasattr(type(votes), name) for name in ("columns", "column_names"))


def _framed(frame: Any) -> Any:
    """A table in memory as a frame that is known: dictionaries of columns and datasets become Polars'."""
    import polars as pl

    if isinstance(frame, Mapping):
        if splits := [name for name, part in frame.items() if hasattr(part, "column_names")]:
            raise InputError(f"this dataset has the parts {listing(splits)}: pass one of them")
        return pl.DataFrame(dict(frame), strict=False)
    converted = getattr(frame, "to_polars", None)
    return converted() if hasattr(frame, "info") and hasattr(frame, "features") and converted else frame


def _in_memory(frame: Any) -> Source:
    """A table in memory as rows that can be mapped."""
    given = _framed(frame)
    name = source_from(given).name
    rows = given if engines.is_polars(given) else engines.to_polars(given, name)
    return Source(name, lambda: rows.lazy())


def _listed(paths: Any) -> list[Any]:
    """One path or several as a list."""
    if isinstance(paths, str | PathLike):
        return [paths]
    if isinstance(paths, Iterable) and not isinstance(paths, bytes):
        return list(paths)
    raise InputError(
        f"a {type(paths).__name__} is not a dataframe and not a path: name a file, a directory, or several"
    )


def open_votes(votes: Any, options: Options | None = None) -> tuple[list[Source], list[str]]:
    """Open vote tables as they are, logs and tables of other layouts as votes; also what is to be said about them."""
    chosen = options or Options()
    # The form "exact" changes no answer: a vote table is then opened as it is.
    asked = replace(chosen, canonical=() if chosen.canonical == (EXACT,) else chosen.canonical).to_dict()
    findings = Findings()
    if is_frame(votes):
        source = source_from(_framed(votes))
        if asked or not _is_native(source):
            source = _open_table(_in_memory(votes), tables.mapped, chosen, findings)
        return [source], findings.notes
    sources: list[Source] = []
    for form, files in by_format(find(votes), chosen).items():
        if form == "votes" and not asked:
            sources += map(open_file, files)
        elif form == "table":
            sources += [_open_table(file, tables.read, chosen, findings) for file in files]
        else:
            sources += read(form, files, chosen, findings)
    return sources, findings.notes


def _open_table(what: Any, how: Callable[..., Source], options: Options, findings: Findings) -> Source:
    """Map a table's columns, and say which were guessed; one that cannot be mapped is held to the contract as it is."""
    try:
        own = Findings()
        source = _read(how, what, options, own)
    except tables.NoColumnError:
        opened = what if isinstance(what, Source) else open_file(what)
        names = opened.scan().collect_schema().names()
        if options.to_dict() or not set(names) <= {*REQUIRED, *OPTIONAL}:
            raise
        return opened
    findings.add(own)
    guessed = [f"{reading.column} from {quote(reading.source)}" for reading in own.readings if reading.guessed]
    if guessed:
        findings.notes.append(f"{quote(source.name, 100)}: read {', '.join(dict.fromkeys(guessed))} (guessed)")
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
    if known := formats().get(form) if form not in ("votes", "table") else None:
        return [_read(known.read, files, options, findings)]
    return [_read(tables.read, file, options, findings) for file in files]


def _read(how: Callable[[Any, Options, Findings], Source], what: Any, options: Options, findings: Findings) -> Source:
    own = Findings()
    with reading(what if isinstance(what, Source) else Source(str(what[0] if isinstance(what, list) else what), dict)):
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
        files = _files(path)
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


def _files(path: Path) -> list[Path]:
    """The inputs at a path: a folder whose tables complete each other is one input, a corpus."""
    if not path.is_dir():
        return [regular(path)]
    found = sorted(file for file in path.rglob("*") if _is_input(file))
    logs = (format_of(file) is not None for file in found if not is_database(file))
    return [path] if found and not any(logs) and corpus.is_corpus(path) else found


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


def by_format(files: Iterable[Path], options: Options) -> dict[str, list[Path]]:
    """Sort files by what they are."""
    groups: dict[str, list[Path]] = {}
    for file in files:
        groups.setdefault(detect(file, options), []).append(file)
    return groups


def detect(file: Path, options: Options | None = None) -> str:
    """Tell what a file is: the name of a format, `votes` (the native layout) or `table`."""
    if file.is_dir():
        return "corpus"
    form = format_of(file)
    if form is not None:
        return form.name
    try:
        return "votes" if _is_native(open_file(file, options.sheet if options else None)) else "table"
    except BaseException as error:
        if not is_complaint(error):
            raise
        return "votes"  # Unreadable: the reader will say what is wrong with it.


def _is_native(source: Source) -> bool:
    """Whether a table has the layout of the vote table, and no golds that are lists written as text."""
    if not _has_layout(source):
        return False
    frame = source.scan()
    first = frame.lazy().select("gold").head(1).collect()["gold"] if engines.is_polars(frame) else ()
    return not any(str(gold).startswith("[") for gold in first)


def _has_layout(source: Source) -> bool:
    """Whether a table has the columns of the vote table, its cells no lists and no floats."""
    frame = source.scan()
    if not set(REQUIRED) <= set(engines.columns(frame, source.name)):
        return False
    if engines.is_polars(frame):
        schema: Mapping[str, Any] = frame.lazy().collect_schema()
    else:
        schema = engines.narwhal(frame, source.name).collect_schema()
    return not any(schema[column].is_float() or schema[column].is_nested() for column in REQUIRED)
