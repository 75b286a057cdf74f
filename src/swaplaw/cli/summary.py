"""`swaplaw summary`: the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from swaplaw.cli._common import Column, emit, fleet_line, load_tallies, percent, show, votes_options

if TYPE_CHECKING:
    from swaplaw.summary import ModelSummary
    from swaplaw.tally import Tally


@click.command("summary")
@votes_options
def command(votes: tuple[str, ...], dataset: str | None, as_json: bool) -> None:
    """Show each model's single-sample and plurality accuracy, and its abstentions by reason."""
    from swaplaw import summary

    fleets = [(tally, summary(tally)) for tally in load_tallies(votes, dataset)]
    if as_json:
        emit({"models": [row.to_dict() for _, rows in fleets for row in rows]})
        return
    for tally, rows in fleets:
        show_fleet(tally, rows)


def show_fleet(tally: Tally, rows: list[ModelSummary]) -> None:
    """Print one dataset's models, the most accurate first."""
    reasons = sorted({reason for row in rows for reason in row.reasons})
    columns = ["Questions", "Votes", "Single %", "Plurality %", "Abstained %", *(f"{reason} %" for reason in reasons)]
    cells = [
        [
            row.model,
            str(row.questions),
            str(row.votes),
            percent(row.single),
            percent(row.plurality),
            percent(row.abstained),
            *(percent(row.reasons.get(reason, 0)) for reason in reasons),
        ]
        for row in rows
    ]
    missing = sum(row.missing for row in rows)
    show(
        fleet_line(tally),
        [Column("Model", right=False), *map(Column, columns)],
        cells,
        f"{missing} model-question pairs have no votes: pairs use the questions that both answered." if missing else "",
    )
