"""Options of the commands whose work can be shared out."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any

import click

from swaplaw._core.parallel import BACKENDS, Backend, Crew
from swaplaw.cli._shared.output import tell
from swaplaw.errors import InputError, LostWorkerWarning


def workers_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --workers, --backend and --cluster; the command gets `workers` and `backend`, the cluster is connected."""

    @wraps(command)
    def equipped(*arguments: Any, workers: int | None, backend: Backend, cluster: str | None, **options: Any) -> Any:
        Crew(workers, backend)
        if cluster is not None:
            _connect(backend, cluster)
        with losses_on_stderr(), redirect_stdout(_Own(sys.stdout)):
            return command(*arguments, workers=workers, backend=backend, **options)

    for option in (
        click.option("--cluster", metavar="ADDRESS", help="A running cluster; by default a local one is started."),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default="processes",
            show_default=True,
            help="Where the workers run: on this machine, or on a cluster.",
        ),
        click.option(
            "--workers",
            type=int,
            metavar="N",
            help="Share the work among this many; the results are the same. By default this process does it alone "
            "(others take a second or more to start, and pay off on ten seconds of work or more), or a whole cluster.",
        ),
    ):
        equipped = option(equipped)
    return equipped


def _connect(backend: str, cluster: str) -> None:
    if backend == "processes":
        raise InputError("--cluster names a running cluster: say of what kind with --backend dask, ray or spark")
    from swaplaw._core.clusters import connect

    connect(backend, cluster)


class _Own:
    """Standard output for the command alone: what other threads print (Ray's do) goes to standard error."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, threading.current_thread()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream if threading.current_thread() is self._thread else sys.stderr, name)


@contextmanager
def losses_on_stderr() -> Iterator[None]:
    """Say on standard error, as it happens, that a worker was lost."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **rest: Any) -> None:
        if issubclass(category, LostWorkerWarning):
            tell(f"swaplaw: note: {message}")
        else:
            usual(message, category, *place, **rest)

    with warnings.catch_warnings():
        warnings.simplefilter("always", LostWorkerWarning)
        warnings.showwarning = show
        yield
