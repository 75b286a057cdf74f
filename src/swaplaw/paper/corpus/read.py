"""Read a downloaded corpus, whatever its files look like, and say what was read from where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.corpus.assemble import Assembly
from swaplaw.paper.corpus.columns import Layout, layout_of, likely, read_map
from swaplaw.paper.corpus.download import REPOSITORY
from swaplaw.paper.corpus.files import TABLES, File, files_of
from swaplaw.paper.corpus.tables import Table, tables_of
from swaplaw.paper.corpus.words import dataset_in
from swaplaw.paper.published import published

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

SAMPLES = 24
"""Votes per model and question that the paper's corpus has."""


@dataclass(frozen=True)
class Reading:
    """What was read of one dataset, and from where."""

    dataset: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.dataset}: {'; '.join(self.lines)}"


@dataclass(frozen=True)
class Corpus:
    """Votes by dataset, what they were read from, and what could not be read."""

    votes: Mapping[str, Votes]
    problems: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    unused: tuple[str, ...] = ()
    """Files that hold no table of votes, counts, grades, gold answers or reasons."""

    @property
    def missing(self) -> list[str]:
        """Datasets of the paper that are not here."""
        return [name for name in published().datasets if name not in self.votes]


def read_deciban(folder: str | Path, columns: Mapping[str, Any] | None = None, samples: int | None = SAMPLES) -> Corpus:
    """Read a downloaded corpus.

    Parameters
    ----------
    folder
        Where the corpus was downloaded into; files may lie in folders of any depth.
    columns
        Our column names and the files', where guessing will not do: one map for all files, or one per role (records,
        counts, grades, gold, reasons).
    samples
        Votes that every model must have on every question; None takes any number.

    Returns
    -------
    Corpus
        Votes by dataset, with what was read from where.

    Raises
    ------
    InputError
        Where no dataset can be read.

    Examples
    --------
    >>> read_deciban("deciban", {"question": "item", "gold": {"gold": "key"}})  # doctest: +SKIP
    """
    declared = read_map(columns or {})
    files, unread = _files(Path(folder))
    tables, problems, unused, damaged = _tables(files, declared)
    unused += unread
    votes, readings = {}, []
    for name in sorted({table.dataset for table in tables if table.dataset}, key=_order):
        assembly = Assembly(name, tables, samples, "answer" in declared["all"] or "records" in declared)
        if not any(table.dataset == name and table.layout.role in ("records", "counts") for table in tables):
            continue
        try:
            if name in damaged:
                raise InputError(f"not all of its files can be read, such as {damaged[name]}")
            votes[name] = _votes(assembly)
            readings.append(Reading(name, tuple(dict.fromkeys(assembly.said))))
        except InputError as error:
            problems.append(f"dataset {quote(name)} is refused: {error}")
    if not votes:
        reason = problems[0] if problems else "its tables hold gold answers, grades or reasons only"
        raise InputError(f"no votes could be read from {quote(str(folder), 200)}: {reason}")
    return Corpus(votes, tuple(problems), tuple(readings), tuple(unused))


def _votes(assembly: Assembly) -> Votes:
    from swaplaw.votes.table import votes_of

    return votes_of(assembly.frame())


def _files(folder: Path) -> tuple[list[File], list[str]]:
    name = quote(str(folder), 200)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{name} is a file: give the folder that the corpus was downloaded into")
    if not folder.exists():
        raise InputError(
            f"{name}: there is no such folder; download the corpus into it first: huggingface.co/datasets/{REPOSITORY}"
        )
    files, unread = files_of(folder)
    if not files:
        also = f" ({'; '.join(unread[:3])})" if unread else ""
        expected = f"{', '.join(TABLES)}, also compressed (.gz, .bz2, .xz, .zst, .zip)"
        raise InputError(f"{name}: no vote files in this folder{also}; expected {expected}")
    return files, unread


def _tables(
    files: Sequence[File], declared: Mapping[str, Mapping[str, str]]
) -> tuple[list[Table], list[str], list[str], dict[str, str]]:
    """Read every file that plays a role; what cannot be read is its dataset's problem, what has no role is unused."""
    tables: list[Table] = []
    problems: list[str] = []
    unused: list[str] = []
    damaged: dict[str, str] = {}
    names: set[str] = set()
    for file in files:
        try:
            layout = layout_of(file, declared)
            names |= set(layout.types)
            if layout.role == "other":
                unused.append(_unused(layout, declared))
                continue
            found = tables_of(layout)
            lost = [table for table in found if table.dataset is None and table.layout.role in ("records", "counts")]
            if lost:
                problems.append(
                    f"{quote(file.name, 200)}: neither a column nor the path says of which dataset these votes are"
                )
            tables += [table for table in found if table not in lost]
        except InputError as error:
            dataset = dataset_in(file.name)
            if dataset is None:
                problems.append(str(error))
            else:
                damaged.setdefault(dataset, str(error))
    _all_found(declared, names)
    if not any(table.layout.role in ("records", "counts") for table in tables):
        problems += [*damaged.values(), *unused]
    return tables, problems, unused, damaged


def _unused(layout: Layout, declared: Mapping[str, Mapping[str, str]]) -> str:
    """Say why a file plays no role, and how a map could give it one."""
    names = list(layout.types)
    lacking = [ours for ours in ("question", "model", "answer") if not likely(names, ours, declared.get("all", {}))]
    columns = listing(names, 20) if names else "none"
    return (
        f"{quote(layout.file.name, 200)}: no column for {listing(lacking)}; columns found: {columns}. If these are "
        'votes, map them: {"question": "…", "model": "…", "answer": "…", "gold": "…", "reason": "…"}, with the '
        "file's column names"
    )


def _all_found(declared: Mapping[str, Mapping[str, str]], names: set[str]) -> None:
    for role, columns in declared.items():
        for ours, theirs in columns.items():
            if theirs not in names:
                where = "any file" if role == "all" else f"any file of {role}"
                raise InputError(
                    f"there is no column {quote(theirs)}, which the map declares for {quote(ours)}, in {where}; "
                    f"columns found: {listing(sorted(names), 30)}"
                )


def _order(name: str) -> tuple[int, str]:
    known = list(published().datasets)
    return (known.index(name) if name in known else len(known), name)
