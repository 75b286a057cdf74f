"""Until every command is converted: the options of `render` and `options` in the old way."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from swaplaw._parallel import busy
from swaplaw.cli._shared.reading import reading_of_run, reading_options, refuse_grades, refuse_reading_options
from swaplaw.cli.options import CREW, _crew, _without_label
from swaplaw.cli.render import (
    _FORMAT,
    _STDOUT,
    BY_CONSTRUCTION,
    FORMATS,
    INTERVALS,
    Column,
    accuracy,
    at_joints,
    chosen_format,
    emit,
    fitting,
    fleet_line,
    header,
    intervals_of,
    lift,
    number,
    over_pairs,
    percent,
    places_of,
    points,
    progress_bar,
    rate,
    remark,
    say,
    show,
    tell,
    warn_of,
    widths_of,
    with_bar,
    wrapped,
)

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Tally

__all__ = [
    "BY_CONSTRUCTION",
    "INTERVALS",
    "Column",
    "accuracy",
    "at_joints",
    "chosen_format",
    "emit",
    "fitting",
    "fleet_line",
    "header",
    "intervals_of",
    "json_option",
    "lift",
    "load",
    "load_tallies",
    "number",
    "over_pairs",
    "percent",
    "places_of",
    "points",
    "progress_bar",
    "rate",
    "remark",
    "say",
    "show",
    "table_options",
    "tell",
    "votes_options",
    "widths_of",
    "with_bar",
    "workers_options",
    "wrapped",
]

Command = TypeVar("Command", bound=Callable[..., Any])


def table_options(command: Command) -> Command:
    """Add --json, and --format, which `show` and `say` obey."""

    def keep(context: click.Context, _: click.Parameter, value: str) -> None:
        context.meta[_FORMAT] = value

    chosen = click.option(
        "--format",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Print tables as text, Markdown or CSV (with CSV, all else goes to stderr).",
    )
    return json_option("Print one JSON document instead of tables.")(chosen(command))


def json_option(help: str) -> Callable[[Command], Command]:
    """Make --json, under which nothing but `emit` reaches standard output, whatever a library prints."""

    def keep(context: click.Context, _: click.Parameter, value: bool) -> bool:
        if value:
            context.meta[_STDOUT] = sys.stdout
            context.with_resource(contextlib.redirect_stdout(sys.stderr))
        return value

    return click.option("--json", "as_json", is_flag=True, callback=keep, help=help)


def workers_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --workers and --cluster; the command gets `workers`."""

    @wraps(command)
    def equipped(*arguments: Any, workers: int | None, cluster: str | None, **options: Any) -> Any:
        return command(*arguments, **_crew(workers, cluster), **options)

    for name in ("cluster", "workers"):
        equipped = click.option(f"--{name}", **CREW[name].settings)(equipped)
    return equipped


def votes_options(command: Command) -> Command:
    """Add VOTES, how they are read, --dataset, --format and --json to a command."""
    command = reading_options(table_options(command))
    command = click.option("--dataset", metavar="NAME", help="Analyse this dataset only.")(command)
    return click.argument("votes", nargs=-1, required=True, metavar="VOTES...")(command)


def load(paths: Sequence[str], *, warn: bool = True, as_spelt: bool = False) -> Votes:
    """Read VOTES: files, logs, directories, or `demo` and `demo:NAME` for bundled votes; warn of what looks wrong.

    `as_spelt` keeps answers as they are spelt where nothing else was asked for, however unlike gold that is.
    """
    from swaplaw import demo_votes, read_votes
    from swaplaw.votes.bundled import bundled_name

    bundled = bundled_name(paths[0]) if len(paths) == 1 else None
    if bundled is not None:
        refuse_reading_options(paths[0])
        return demo_votes(bundled)
    options = reading_of_run()
    if as_spelt and not options.canonical:
        options = replace(options, canonical=("exact",))
    with busy("Reading votes"):
        votes = read_votes(paths, options=options)
    remark([*votes.notes, *_without_label(votes)])
    refuse_grades(votes)
    if warn:
        warn_of(votes)
    return votes


def load_tallies(paths: Sequence[str], dataset: str | None) -> list[Tally]:
    """Count every dataset of VOTES, or the one that is named."""
    votes = load(paths)
    return [votes.tally(name) for name in ([dataset] if dataset is not None else votes.datasets)]
