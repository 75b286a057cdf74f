"""`swaplaw curve`: one pair at every weight."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    Column,
    emit,
    header,
    intervals_of,
    lift,
    load,
    number,
    percent,
    places_of,
    points,
    show,
    tell,
    votes_options,
)
from swaplaw.errors import InputError, listing, quote

if TYPE_CHECKING:
    from swaplaw.evidence.intervals import Effect
    from swaplaw.law.curve import Curve, Optimum
    from swaplaw.law.pair import Pair
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Tally


@click.command("curve", cls=Command)
@votes_options
@click.option("--primary", required=True, metavar="MODEL", help="The model that carries weight 1.")
@click.option("--secondary", required=True, metavar="MODEL", help="The model whose weight varies.")
@click.option("--at", "weight", metavar="X", help="List the questions that this weight changes.")
@doubts_on_stderr()
def command(
    votes: tuple[str, ...], dataset: str | None, as_json: bool, primary: str, secondary: str, weight: str | None
) -> None:
    """Show the exact lift of one pair at every weight: its steps, its best weight and its best plateau."""
    from swaplaw import pair
    from swaplaw.law import as_weight
    from swaplaw.law.curve import curve_of

    x = None if weight is None else as_weight(weight)
    chosen = pair(_tally_of(load(votes), dataset, primary, secondary), primary, secondary)
    if chosen.masses.gap < 0:
        tell(f"note: {quote(secondary)} is the more accurate of the two on their {chosen.n} questions")
    found = curve_of(chosen)
    if as_json:
        emit(as_dict(found) | ({} if x is None else {"at": changes_dict(chosen, x)}))
        return
    header(chosen.tally, primary, secondary)
    show_optima(chosen, found)
    show_grid(chosen, found)
    if x is not None:
        show_changes(chosen, x)


def _tally_of(votes: Votes, dataset: str | None, *models: str) -> Tally:
    """The one dataset that holds both models."""
    if dataset is not None:
        return votes.tally(dataset)
    tallies = [votes.tally(name) for name in votes.datasets]
    holding = [tally for tally in tallies if all(model in tally.models for model in models)]
    if len(holding) > 1:
        names = listing([tally.dataset for tally in holding])
        raise InputError(f"{len(holding)} datasets hold both models ({names}); pick one with --dataset")
    # With no dataset for both, the first one's error names what is missing.
    return (holding or tallies)[0]


def bound(weight: Fraction | None) -> str:
    """An end of a range of weights; no end is inf."""
    return "inf" if weight is None else str(weight)


def as_dict(curve: Curve) -> dict[str, Any]:
    """The whole curve for JSON, as the design fixes it."""
    return {
        "dataset": curve.dataset,
        "primary": curve.primary,
        "secondary": curve.secondary,
        "n": curve.n,
        "of": curve.of,
        "pieces": [
            {
                "lo": bound(piece.low),
                "hi": bound(piece.high),
                "lift": number(piece.lift),
                "swap": number(piece.swap),
                "accuracy": number(piece.outcome.accuracy),
            }
            for piece in curve.pieces
        ],
        **{
            name: {
                "weight": str(best.weight),
                "lo": bound(best.low),
                "hi": bound(best.high),
                "lift": number(best.lift),
                "swap": number(best.swap),
                "fragile": best.fragile,
            }
            for name, best in _optima(curve).items()
        },
    }


def _optima(curve: Curve) -> dict[str, Optimum]:
    return {"best_lift": curve.best_lift, "best_swap": curve.best_swap, "best_plateau": curve.best_plateau}


def changes_dict(pair: Pair, weight: Fraction) -> dict[str, Any]:
    """What one weight changes, for JSON."""
    outcome = pair.at(weight)
    return {
        "weight": str(weight),
        "lift": number(outcome.lift),
        **{name: number(getattr(outcome, name)) for name in ("rescued", "damaged", "repaired", "corrupted")},
        "changes": [
            {"question": change.question, "kind": change.kind, "credit": number(change.credit)}
            for change in pair.changes(weight)
        ],
    }


def _effects(pair: Pair) -> Callable[[Fraction], Effect | None]:
    """Lift with its interval at any weight."""
    from swaplaw.evidence.intervals import warn_thin
    from swaplaw.evidence.lifts import lift_effect
    from swaplaw.evidence.units import resampling_units

    units = resampling_units(pair.tally)

    def judged(weight: Fraction) -> Effect | None:
        found = lift_effect(pair.tally, (pair.a, pair.b), (Fraction(1), weight), units)
        warn_thin([found])
        return found

    return judged


def show_optima(pair: Pair, curve: Curve) -> None:
    """Print the best weights."""
    effect = _effects(pair)
    judged = {name: effect(best.weight) for name, best in _optima(curve).items()}
    names = {"best_lift": "Best lift", "best_swap": "Best S* (paper's rule)", "best_plateau": "Best plateau"}
    cells = [
        [
            names[name],
            str(best.weight),
            f"{bound(best.low)} to {bound(best.high)}",
            percent(best.outcome.accuracy),
            *lift(best.lift, found),
            points(best.swap, places_of(found)),
            "isolated point: fragile" if best.fragile else "",
        ]
        for name, best in _optima(curve).items()
        for found in [judged[name]]
    ]
    columns = [Column("", right=False), *map(Column, ["Weight", "Range", "Accuracy %", "Lift pp", "±", "S* pp"])]
    show(
        f"{curve.primary} + {curve.secondary}: {curve.n} of {curve.of} questions, {len(curve.pieces)} pieces",
        [*columns, Column("", right=False)],
        cells,
        f"Chosen on these same questions: expect less on new ones. {intervals_of(judged.values())}",
    )


def show_grid(pair: Pair, curve: Curve) -> None:
    """Print the curve at the paper's grid."""
    effect = _effects(pair)
    grid = [
        [str(at.weight), percent(at.accuracy), *lift(at.lift, found), points(at.swap, places_of(found))]
        for at in curve.grid()
        for found in [effect(at.weight)]
    ]
    show("At the paper's grid", list(map(Column, ["Weight", "Accuracy %", "Lift pp", "±", "S* pp"])), grid)


def show_changes(pair: Pair, weight: Fraction) -> None:
    """Print the questions that one weight changes."""
    changes = pair.changes(weight)
    cells = [[change.kind, change.question, f"{float(change.credit):+.3g}"] for change in changes]
    show(
        f"What weight {weight} changes: lift {points(pair.at(weight).lift, places_of(_effects(pair)(weight)))} pp",
        [Column("Kind", right=False), Column("Question", right=False), Column("Credit")],
        cells,
        "" if changes else "Nothing: every question is scored as the primary alone scores it.",
    )
