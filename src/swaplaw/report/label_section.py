"""The section on labels: how the bounds on one pair's lift narrow as labels come in."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from swaplaw.decide.labels.bounds import Change, narrowing
from swaplaw.errors import InputError
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.votes.counts import candidates

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes


def labels_part(votes: Votes, dataset: str, best: tuple[str, str] | None) -> dict[str, Any]:
    """Bounds on the lift of the pair that the page begins with, from no label to all at hand."""
    if best is None:
        raise InputError("Bounds on lift need a pair, and there is none.")
    found = candidates(votes, dataset, models=best)
    members = found.tally.index(best[0]), found.tally.index(best[1])
    change = Change(found, members, (Fraction(1), DEFAULT_WEIGHT))
    if not change.n:
        raise InputError("The two models have no question in common.")
    known = change.answered & found.labelled
    return {
        "primary": best[0],
        "secondary": best[1],
        "weight": str(DEFAULT_WEIGHT),
        "n": change.n,
        "labelled": int(known.sum()),
        "changed": int(change.changed.sum()),
        "changed_labelled": int((change.changed & known).sum()),
        "low": float(change.low),
        "high": float(change.high),
        "steps": narrowing(change),
    }
