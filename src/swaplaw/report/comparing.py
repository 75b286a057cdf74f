"""The section on who beats whom: paired differences between the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError
from swaplaw.votes.summary import summary
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.evidence.units import Unit

MOST = 45
"""Comparisons that the page lists. Of more, those of the most accurate model; Holm's adjustment is over all."""


def comparing_part(tally: Tally, by: Unit | None) -> dict[str, Any]:
    """Compare every two models on the questions that both answered."""
    from swaplaw.decide.compare import compare
    from swaplaw.evidence.interval import warn_thin

    if len(tally.models) < 2:
        raise InputError(f"There is only one model, {tally.models[0]}: there is nothing to compare.")
    found = compare(tally, by=by)
    warn_thin((one.effect for one in found.comparisons), "intervals between two models")
    rows = [
        {
            "first": tally.index(one.first),
            "second": tally.index(one.second),
            "n": one.effect.n,
            "difference": [one.difference, one.effect.low, one.effect.high],
            "p": one.p_adjusted,
            "mcnemar": one.mcnemar,
            "detectable": one.detectable,
            "needed": one.needed,
        }
        for one in found.comparisons
    ]
    listed = rows if len(rows) <= MOST else _of_the_best(tally, rows)[:MOST]
    return {
        "rows": listed,
        "of": len(rows),
        "significant": sum(one.p_adjusted < 0.05 for one in found.comparisons),
        "disjoint": found.disjoint,
    }


def _of_the_best(tally: Tally, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The comparisons of the most accurate model, the closest rivals first."""
    best = tally.index(summary(tally)[0].model)
    return sorted((row for row in rows if best in (row["first"], row["second"])), key=lambda row: row["difference"][0])
