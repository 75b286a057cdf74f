"""What long work shows on a terminal: how much is done, or at least what is being done, and for how long.

All of it goes to standard error and vanishes when the work ends. Where that is not a terminal, nothing is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")

_shown: list[Any] = []
"""What is under way, outermost first; only the innermost is drawn."""


def with_bar(work: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
    """Pass items through, with a bar that says how many are done."""
    if not sys.stderr.isatty():
        yield from work
        return
    with _display() as display:
        yield from display.track(work, total=total, description=label)


@contextmanager
def counting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to be told how much is done, and of how much."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    with _display() as display:
        task = display.add_task(label, total=None)
        yield lambda done, of: display.update(task, completed=done, total=of)


@contextmanager
def busy(label: str) -> Iterator[None]:
    """Say what is being done, and for how long, while nobody can tell how much is left."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with _display(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as display:
        display.add_task(label, total=None)
        yield


@contextmanager
def aside() -> Iterator[None]:
    """Clear the terminal while something is printed, then go on showing what is under way."""
    for display in _shown:
        display.stop()
    try:
        yield
    finally:
        if _shown:
            _shown[-1].start()


@contextmanager
def _display(*columns: Any) -> Iterator[Any]:
    """Draw on standard error; what was drawn before waits until this ends."""
    from rich.console import Console
    from rich.progress import Progress

    # Redirecting would send what is printed meanwhile to standard error.
    display = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with aside():
        _shown.append(display)
        try:
            with display:
                yield display
        finally:
            _shown.remove(display)
