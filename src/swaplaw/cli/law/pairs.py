"""`swaplaw pairs`: every pair at one weight."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    Column,
    emit,
    fleet_line,
    intervals_of,
    lift,
    load_tallies,
    number,
    over_pairs,
    percent,
    places_of,
    points,
    rate,
    say,
    show,
    votes_options,
)
from swaplaw.cli._shared.reading import only_grades
from swaplaw.errors import several
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.evidence.intervals import Effect
    from swaplaw.law.pair import Outcome, Pair
    from swaplaw.votes.tally import Tally

MASSES = (
    *("p", "q", "gap", "collective", "rescue", "damage", "both_right", "both_wrong"),
    *("phi", "phi_max", "phi_adj", "ceiling"),
)
OUTCOME = ("alpha", "gamma", "beta", "kappa", "lift", "swap", "residual")


@click.command("pairs", cls=Command)
@votes_options
@click.option(
    "--weight", default=str(DEFAULT_WEIGHT), show_default=True, help="Weight of the secondary; the primary carries 1."
)
@doubts_on_stderr()
def command(votes: tuple[str, ...], dataset: str | None, as_json: bool, weight: str) -> None:
    """Show the law for every pair at one weight: masses, correlation, rates, lift and swap mass."""
    from swaplaw.law import as_weight

    x = as_weight(weight)
    tallies = load_tallies(votes, dataset)
    if only_grades():
        show_masses(tallies, as_json)
        return
    fleets = []
    for tally in tallies:
        possible = comb(len(tally.models), 2)
        rows = pooled(tally, x)
        fleets.append((fleet_line(tally), rows, possible - len(rows)))
    if as_json:
        emit(
            {
                "weight": str(x),
                "pairs": [as_dict(*found) for _, rows, _ in fleets for found in rows],
                "disjoint": sum(disjoint for _, _, disjoint in fleets),
            }
        )
        return
    for line, rows, disjoint in fleets:
        show_pairs(f"{line}; {several(len(rows), 'pair')} at weight {x}", x, rows)
        if disjoint:
            say(f"{disjoint} more pairs of models have no question in common: nothing can be said about them.\n")


UNPOOLED = "these votes only say right or wrong, and rates and lift need the answers"


def show_masses(tallies: Sequence[Tally], as_json: bool) -> None:
    """Show what right or wrong is enough for: the masses of each pair, its correlation and its ceiling."""
    from swaplaw.law.pair import oriented_pairs, places_of_pairs

    found = [pair for tally in tallies for pair in oriented_pairs(tally, list(places_of_pairs(tally)))]
    if as_json:
        nothing: dict[str, Any] = dict.fromkeys((*OUTCOME, "lift_interval"))
        emit({"weight": None, "pairs": [described(pair) | nothing for pair in found], "note": UNPOOLED})
        return
    names = ["n", "p %", "q %", "rescue %", "damage %", "phi_adj", "Ceiling pp"]
    cells = [
        [
            *(pair.primary, pair.secondary, str(pair.n)),
            *(percent(getattr(pair.masses, name)) for name in ("p", "q", "rescue", "damage")),
            *(rate(pair.masses.phi_adj), points(pair.masses.ceiling)),
        ]
        for pair in found
    ]
    heads = [Column("Primary", right=False), Column("Secondary", right=False), *map(Column, names)]
    show(f"{len(found)} pairs", heads, cells, f"No lift: {UNPOOLED}.")


Row = tuple["Pair", "Outcome", "Effect | None"]
"""A pair, its vote at the weight, and its lift with an interval."""


def pooled(tally: Tally, weight: Fraction) -> list[Row]:
    """Pool every pair at a weight."""
    from swaplaw._core.parallel import ALONE
    from swaplaw.evidence.intervals import warn_thin
    from swaplaw.evidence.lifts import pair_effects
    from swaplaw.evidence.units import resampling_units
    from swaplaw.law.pair import at_least_one, places_of_pairs

    units, watched = resampling_units(tally), over_pairs(tally, "Pooling pairs")
    found = (pair_effects(tally, share, weight, units) for share in watched(ALONE.split(places_of_pairs(tally))))
    rows = list(at_least_one(tally, chain.from_iterable(found)))
    warn_thin(judged for _, _, judged in rows)
    return rows


def as_dict(pair: Pair, outcome: Outcome, found: Effect | None) -> dict[str, Any]:
    """One pair for JSON, as the design fixes it."""
    return {
        **described(pair),
        **{name: number(getattr(outcome, name)) for name in OUTCOME},
        "lift_interval": None if found is None else [found.low, found.high],
    }


def described(pair: Pair) -> dict[str, Any]:
    """Tell which pair it is, and its masses."""
    return {
        "dataset": pair.tally.dataset,
        "primary": pair.primary,
        "secondary": pair.secondary,
        "n": pair.n,
        "of": pair.of,
        **{name: number(getattr(pair.masses, name)) for name in MASSES},
    }


def show_pairs(title: str, weight: Fraction, rows: Sequence[Row], top: int | None = None) -> None:
    """Print pairs, the largest lift first."""
    ordered = sorted(rows, key=lambda row: (-row[1].lift, row[0].primary, row[0].secondary))[:top]
    minor = {"gamma": 6, "alpha": 5, "rescue %": 4, "n": 3, "S* pp": 2, "phi_adj": 1}
    names = ["n", "p %", "q %", "rescue %", "phi_adj", "alpha", "gamma", "Lift pp", "±", "S* pp"]
    cells = [
        [
            pair.primary,
            pair.secondary,
            str(pair.n) if pair.n == pair.of else f"{pair.n} of {pair.of}",
            *(percent(value) for value in (pair.masses.p, pair.masses.q, pair.masses.rescue)),
            *(rate(value) for value in (pair.masses.phi_adj, outcome.alpha, outcome.gamma)),
            *lift(outcome.lift, found),
            points(outcome.swap, places_of(found)),
        ]
        for pair, outcome, found in ordered
    ]
    gain = sum(outcome.lift > 0 for _, outcome, _ in rows)
    verb = "gains" if 1 in (gain, len(rows)) else "gain"
    note = (
        f"{gain} of {several(len(rows), 'pair')} {verb} at weight {weight}. The order is in-sample: the top "
        f"pair's lift is inflated by selection. {intervals_of(found for *_, found in rows)}"
    )
    models = [Column("Primary", right=False), Column("Secondary", right=False)]
    show(title, [*models, *(Column(name, minor=minor.get(name, 0)) for name in names)], cells, note)
