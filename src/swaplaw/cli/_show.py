"""Tables and JSON on stdout, progress on stderr."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click


def print_json(document: Any) -> None:
    """Print exactly one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print plain columns: text left, numbers right; nothing is cut, so that it can be piped."""
    cells = [[str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(len(row[number]) for row in cells) for number in range(len(columns))]
    numeric = [
        bool(rows) and all(isinstance(row[number], int) or str(row[number]).replace(".", "").isdigit() for row in rows)
        for number in range(len(columns))
    ]
    for row in cells:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        click.echo("  ".join(parts).rstrip())


@contextlib.contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal or not total, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
