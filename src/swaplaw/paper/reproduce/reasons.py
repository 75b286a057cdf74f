"""Why a synthetic twin differs from the paper, where it does: one sentence for each number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from swaplaw.paper.published import Comparison, Statement

INTERVAL = "interval ends follow from which questions agree, and that was not arranged"
ROUNDED = "the three published shares of this model add up to 100.1%, so one of them must differ"
READING = "the other reading of the same words is the one that was arranged"
FOLLOWS = {
    "forensic_threshold": "follows from the rescue mass, 1 + gap/r",
    "predicted_r2_worst": "follows from R² of the calibrated heuristic",
    "rescue_r2_worst": "follows from R² of the rescue mass",
    "forensic_plateau_high": "needs a ballot that turns between 1/6 and 1/5, and the drawn ballots have none to spare",
}
STOPPED = "arranging stopped here: swaps of whole ballots did not meet this value and all others at once"


def explained(comparisons: Iterable[Comparison], twin: bool) -> list[Comparison]:
    """Give every number of a twin that does not agree its reason; real votes have no such excuse."""
    return [
        replace(each, reason=_reason(each.published)) if twin and not each.within and not each.tolerance else each
        for each in comparisons
    ]


def _reason(said: Statement) -> str:
    if said.reading_of:
        return READING
    if said.id.startswith("abstentions."):
        return ROUNDED
    if said.id.endswith(("_low", "_high")) and said.id not in FOLLOWS:
        return INTERVAL
    return FOLLOWS.get(said.id, STOPPED)
