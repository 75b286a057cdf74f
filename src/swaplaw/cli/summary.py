"""`swaplaw summary`: the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._common import Column, accuracy, emit, fleet_line, load_tallies, percent, show, votes_options

if TYPE_CHECKING:
    from swaplaw.effect import Effect
    from swaplaw.summary import ModelSummary
    from swaplaw.tally import Tally


@click.command("summary")
@votes_options
def command(votes: tuple[str, ...], dataset: str | None, as_json: bool) -> None:
    """Show each model's single-sample and plurality accuracy, and its abstentions by reason."""
    from swaplaw import summary

    fleets = [(tally, summary(tally)) for tally in load_tallies(votes, dataset)]
    if as_json:
        emit({"models": [as_dict(row, found) for fleet in fleets for row, found in with_effects(*fleet)]})
        return
    for tally, rows in fleets:
        show_fleet(tally, rows)


def with_effects(tally: Tally, rows: list[ModelSummary]) -> list[tuple[ModelSummary, Effect | None]]:
    """Each model with the interval of its accuracy."""
    from swaplaw.effect import accuracy_effect, units_of

    member = units_of(tally)
    return [(row, accuracy_effect(tally, tally.index(row.model), member)) for row in rows]


def as_dict(row: ModelSummary, found: Effect | None) -> dict[str, Any]:
    """One model for JSON, as the design fixes it, with the interval of its plurality accuracy."""
    return row.to_dict() | {"interval": None if found is None else [max(0.0, found.lo), found.hi]}


def show_fleet(tally: Tally, rows: list[ModelSummary]) -> None:
    """Print one dataset's models, the most accurate first."""
    reasons = sorted({reason for row in rows for reason in row.reasons})
    shares = ["Single %", "Plurality %", "±", "Abstained %", *(f"{reason} %" for reason in reasons)]
    cells = [
        [
            row.model,
            str(row.questions),
            str(row.votes),
            percent(row.single),
            *accuracy(row.plurality, found),
            percent(row.abstained),
            *(percent(row.reasons.get(reason, 0)) for reason in reasons),
        ]
        for row, found in with_effects(tally, rows)
    ]
    missing = sum(row.missing for row in rows)
    notes = ["± is half of a 95% interval."]
    if missing:
        notes.append(f"{missing} model-question pairs have no votes: pairs use the questions that both answered.")
    minor = {"Questions": 2, "Votes": 3, **{f"{reason} %": 1 for reason in reasons}}
    columns = [Column(name, minor=minor.get(name, 0)) for name in ["Questions", "Votes", *shares]]
    show(fleet_line(tally), [Column("Model", right=False), *columns], cells, " ".join(notes))
