"""Options and words that the commands about evidence share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from swaplaw.cli._shared.output import load
from swaplaw.cli.options import leave_out
from swaplaw.cli.render import doubts_on_stderr, drawn, interval, over_grid, precise, size
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.votes.tally import Tally

__all__ = ["doubts_on_stderr", "drawn", "interval", "leave_out", "load_tally", "models_option"]
__all__ += ["over_grid", "precise", "size", "weight_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def models_option(command: Command) -> Command:
    """Add --without MODEL, as often as needed."""
    return click.option("--without", multiple=True, metavar="MODEL", help="Leave this model out (repeatable).")(command)


def weight_option(command: Command) -> Command:
    """Add the weight of a secondary."""
    words = "Weight of the secondary; the primary carries 1."
    return click.option("--weight", default=str(DEFAULT_WEIGHT), show_default=True, help=words)(command)


def load_tally(paths: Sequence[str], dataset: str | None, without: Sequence[str] = ()) -> Tally:
    """Count one dataset of VOTES, without some of its models and the questions that only they answered."""
    return leave_out(load(paths).tally(dataset), without)
