"""`swaplaw checks`: what looks wrong in votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, load, show, votes_options
from swaplaw.errors import several

if TYPE_CHECKING:
    from swaplaw.votes.checks import Check


@click.command("checks", cls=Command)
@votes_options
def command(votes: tuple[str, ...], dataset: str | None, as_json: bool) -> None:
    """Look for what is wrong in VOTES before anything is concluded from them.

    An error means that the votes do not mean what they seem to: `recommend` gives no verdict on them. A warning means
    that a conclusion may be weaker than it looks.
    """
    from swaplaw.votes.checks import find_checks, position_checks

    table = load(votes, warn=False, as_spelt=True)
    found = find_checks(table, dataset) + position_checks(table, dataset)
    if as_json:
        emit({"checks": [check.to_dict() for check in found]})
        return
    show_checks(found, len(table.datasets) > 1 and dataset is None)


def show_checks(found: tuple[Check, ...], several_datasets: bool) -> None:
    """Print the checks, the most serious first."""
    columns = [Column(name, right=name == "Questions") for name in ("Severity", "Check", "Questions", "What", "Fix")]
    rows = [
        [
            check.severity,
            check.name,
            str(check.questions),
            f"{check.dataset}: {check.message}" if several_datasets else check.message,
            check.fix,
        ]
        for check in found
    ]
    show(several(len(found), "check") if found else "Nothing looks wrong.", columns, rows)
