"""`swaplaw summary`: the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swaplaw.cli.options import VotesGiven, command
from swaplaw.cli.render import Column, accuracy, answer, fleet_line, percent, show
from swaplaw.errors import printable

if TYPE_CHECKING:
    from swaplaw.evidence.interval import Effect
    from swaplaw.votes.position import PositionBias
    from swaplaw.votes.summary import ModelSummary
    from swaplaw.votes.tally import Silence, Tally


@command(example="swaplaw summary demo")
def summary(votes: VotesGiven, silence: Silence) -> None:
    """Show each model's single-sample and plurality accuracy, its abstentions by reason, and position bias.

    Position bias is the share of votes that would have to move for chosen positions to be even; it is shown where votes
    have the columns `position` and `options`, and flagged where chance would hardly make it.
    """
    from swaplaw.votes import position_bias
    from swaplaw.votes.summary import summary

    table = votes.votes()
    tallies = votes.tallies(table, silence)
    fleets = [with_effects(tally, summary(tally, position_bias(table, tally.dataset))) for tally in tallies]

    def shown() -> None:
        for tally, rows in zip(tallies, fleets, strict=True):
            show_fleet(tally, rows)

    answer({"models": [as_dict(row, found) for rows in fleets for row, found in rows]}, shown)


def with_effects(tally: Tally, rows: list[ModelSummary]) -> list[tuple[ModelSummary, Effect | None]]:
    """Each model with the interval of its accuracy."""
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.evidence.lifts import accuracy_effect
    from swaplaw.evidence.units import resampling_units

    units = resampling_units(tally)
    found = [(row, accuracy_effect(tally, tally.index(row.model), units)) for row in rows]
    warn_thin(judged for _, judged in found)
    return found


def as_dict(row: ModelSummary, found: Effect | None) -> dict[str, Any]:
    """One model for JSON, as the design fixes it, with the interval of its plurality accuracy."""
    return row.to_dict() | {"interval": None if found is None else [max(0.0, found.low), found.high]}


def show_fleet(tally: Tally, found: list[tuple[ModelSummary, Effect | None]]) -> None:
    """Print one dataset's models, the most accurate first."""
    rows = [row for row, _ in found]
    reasons = sorted({reason for row in rows for reason in row.reasons})
    shares = ["Single %", "Plurality %", "±", "Abstained %", *(f"{reason} %" for reason in reasons)]
    cells = [
        [
            row.model,
            str(row.questions),
            str(row.votes),
            percent(row.single),
            *accuracy(row.plurality, effect),
            percent(row.abstained),
            *(percent(row.reasons.get(reason, 0)) for reason in reasons),
        ]
        for row, effect in found
    ]
    if any(row.position for row in rows):
        shares += ["Position bias %", "Flag"]
        for row, line in zip(rows, cells, strict=True):
            bias = row.position
            line.append(percent(None if bias is None else bias.effect))
            line.append("biased" if bias and bias.flagged else "")
    missing = sum(row.missing for row in rows)
    notes = ["± is half of a 95% interval."]
    notes += [_swayed(row.model, row.position) for row in rows if row.position and row.position.flagged]
    if missing:
        notes.append(f"{missing} model-question pairs have no votes: pairs use the questions that both answered.")
    minor = {"Questions": 2, "Votes": 3, **{f"{reason} %": 1 for reason in reasons}}
    columns = [Column(name, minor=minor.get(name, 0)) for name in ["Questions", "Votes", *shares]]
    show(fleet_line(tally), [Column("Model", right=False), *columns], cells, "\n".join(notes))


def _swayed(model: str, bias: PositionBias) -> str:
    chance = "p < 0.001" if bias.adjusted < 0.001 else f"p = {bias.adjusted:.3f}"
    return (
        f"{printable(model)} chose position {bias.position} in {percent(bias.share)}% of {bias.votes} votes, where "
        f"{percent(bias.expected)}% would be even ({chance}): the place of an option sways it."
    )
