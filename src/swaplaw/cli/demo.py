"""`swaplaw demo`: the whole path on the bundled real votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli import curve as curve_command
from swaplaw.cli import pairs as pairs_command
from swaplaw.cli import summary as summary_command
from swaplaw.cli._common import emit, number, percent, points

if TYPE_CHECKING:
    from swaplaw.curve import Curve
    from swaplaw.summary import ModelSummary

PAIRS_SHOWN = 8


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
def command(as_json: bool) -> None:
    """Show fleet, pairs, best weight and verdict for nine real models on a hundred exam questions."""
    from swaplaw import curves, demo_votes, pairs, summary
    from swaplaw.weights import DEFAULT_WEIGHT

    tally = demo_votes().tally()
    fleet = summary(tally)
    found = [(pair, pair.at(DEFAULT_WEIGHT)) for pair in pairs(tally)]
    drawn = list(curves(tally))
    best = max(drawn, key=lambda curve: curve.best_plateau.outcome.accuracy)
    if as_json:
        emit(
            {
                "models": [row.to_dict() for row in fleet],
                "weight": str(DEFAULT_WEIGHT),
                "pairs": [pairs_command.as_dict(*row) for row in found],
                "best": curve_command.as_dict(best),
                "verdict": verdict(fleet[0], best, len(drawn)),
            }
        )
        return
    summary_command.show_fleet(tally, fleet)
    title = f"The {PAIRS_SHOWN} of {len(found)} pairs with the largest lift at weight {DEFAULT_WEIGHT}"
    pairs_command.show_pairs(title, DEFAULT_WEIGHT, found, top=PAIRS_SHOWN)
    curve_command.show_optima(best)
    click.echo(verdict(fleet[0], best, len(drawn))["words"])


def verdict(single: ModelSummary, best: Curve, candidates: int) -> dict[str, Any]:
    """Say in plain words what these votes suggest, against the best single model."""
    plateau = best.best_plateau
    gain = plateau.outcome.accuracy - single.plurality
    chosen = f"chosen from {candidates} pairs on the same {best.n} questions, so expect less on new ones"
    if gain > 0:
        words = (
            f"Verdict: {best.primary} with {best.secondary} at weight {plateau.weight} answers "
            f"{percent(plateau.outcome.accuracy)}% here, {points(gain)} pp over the best single model "
            f"({single.model}, {percent(single.plurality)}%); {chosen}."
        )
    else:
        words = f"Verdict: no pair beats {single.model} alone ({percent(single.plurality)}%) on these votes."
    return {
        "words": words,
        "single": {"model": single.model, "accuracy": number(single.plurality)},
        "pair": {"primary": best.primary, "secondary": best.secondary, "weight": str(plateau.weight)},
        "gain": number(gain),
        "candidates": candidates,
    }
