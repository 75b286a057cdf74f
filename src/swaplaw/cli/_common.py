"""What the commands share: where votes come from, and how numbers reach people and programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from swaplaw.tally import Tally
    from swaplaw.votes import Votes

Command = TypeVar("Command", bound=Callable[..., Any])

DEMO = "demo"
"""Stands for the bundled real votes wherever VOTES is asked for."""


def votes_options(command: Command) -> Command:
    """Add VOTES, --dataset and --json to a command."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")(
        command
    )
    command = click.option("--dataset", metavar="NAME", help="Analyse this dataset only.")(command)
    return click.argument("votes", nargs=-1, required=True, metavar="VOTES...")(command)


def load(paths: Sequence[str]) -> Votes:
    """Read VOTES: files, logs, directories, or the word `demo` for the bundled votes."""
    from swaplaw import demo_votes, read_votes

    if list(paths) == [DEMO]:
        return demo_votes()
    votes = read_votes(paths)
    remark(votes.notes)
    return votes


def remark(notes: Sequence[str]) -> None:
    """Say on standard error what a reader should know about where votes came from."""
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)


def load_tallies(paths: Sequence[str], dataset: str | None) -> list[Tally]:
    """Count every dataset of VOTES, or the one that is named."""
    votes = load(paths)
    return [votes.tally(name) for name in ([dataset] if dataset is not None else votes.datasets)]


def emit(document: Any) -> None:
    """Print exactly one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def number(value: Fraction | float | None) -> float | None:
    """A fraction of one for JSON; undefined is null."""
    return None if value is None else float(value)


@dataclass(frozen=True)
class Column:
    """One column of a printed table."""

    name: str
    right: bool = True


def show(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Print a table: native to a terminal, plain and never cut off elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(Text(column.name), justify="right" if column.right else "left", overflow="fold")
    for row in rows:
        # Names come from other people's files: as text, they can carry no markup and no control characters.
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(Text(title, style="bold"), table, *([Text(note)] if note else []), sep="\n", soft_wrap=not rows)


def printable(text: str) -> str:
    """Escape what could move a terminal's cursor or hide text."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def percent(value: Fraction | float | None) -> str:
    """A share as per cent, with one decimal."""
    return "–" if value is None else f"{100 * float(value):.1f}"


def points(value: Fraction | float | None) -> str:
    """A difference as signed percentage points, with two decimals."""
    return "–" if value is None else f"{100 * float(value):+.2f}"


def rate(value: Fraction | float | None) -> str:
    """A rate or correlation, with two decimals."""
    return "–" if value is None else f"{float(value):.2f}"
