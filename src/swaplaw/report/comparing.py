"""The section on who beats whom: paired differences between the models, largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.evidence.units import Unit

MOST = 30
"""Comparisons that the page shows; all of them count in Holm's adjustment."""


def comparing_part(tally: Tally, by: Unit | None) -> dict[str, Any]:
    """Compare every two models on the questions that both answered."""
    from swaplaw.decide.compare import compare

    if len(tally.models) < 2:
        raise InputError(f"There is one model only, {tally.models[0]}: there is nothing to compare.")
    found = compare(tally, by=by)
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
    return {
        "rows": rows[:MOST],
        "of": len(rows),
        "significant": sum(one.p_adjusted < 0.05 for one in found.comparisons),
        "disjoint": found.disjoint,
    }
