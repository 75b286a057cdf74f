"""Why a synthetic twin differs from the paper, where it does: one sentence for each number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from swaplaw.paper.published import Comparison, Statement

INTERVAL = "interval ends follow from which questions agree, and that was not arranged"
ROUNDED = "the three published shares of this model add up to 100.1%, so one of them must differ"
READING = "the other reading of the same words is the one that was arranged"
SHARP = (
    "17 forensic pairs have no rescue mass, and how much they lose follows from how blunt the drawn ballots are: "
    "moving ballots came no closer than 0.28, and cost other numbers"
)
FOLLOWS = {
    "predicted_r2": "predictors.predicted.supergpqa_r2",
    "predicted_rho": "predictors.predicted.supergpqa_rho",
    "phi_adj_rho": "predictors.phi_adj.supergpqa_rho",
    "swap_r2_least": "predictors.swap.gpqa-diamond_r2",
    "swap_rho_least": "predictors.swap.gpqa-diamond_rho",
    "predicted_r2_worst": "predictors.predicted.gpqa-diamond_r2",
    "gpqa_rho": "predictors.predicted.gpqa-diamond_rho",
    "forensic_rho": "predictors.predicted.forensic_rho",
    "gap_rho": "predictors.gap.supergpqa_rho",
    "gpqa_gap_rho": "predictors.gap.gpqa-diamond_rho",
    "forensic_gap_rho": "predictors.gap.forensic_rho",
    "forensic_threshold": "forensic_rescue",
}
"""Numbers that are stated twice, and where else."""
KNOWN = {"predictors.rescue.forensic_r2": SHARP, "rescue_r2_worst": SHARP}
STOPPED = "arranging stopped here: moving ballots did not meet this value and all others at once"


def explained(comparisons: Iterable[Comparison], twin: bool) -> list[Comparison]:
    """Give every number of a twin that does not agree its reason; real votes have no such excuse."""
    return [replace(each, reason=_reason(each.published)) if twin and not each.within else each for each in comparisons]


def _reason(said: Statement) -> str:
    if said.reading_of:
        return READING
    if said.id.startswith("abstentions."):
        return ROUNDED
    if said.id in FOLLOWS:
        return f"the same number as {FOLLOWS[said.id]}, or follows from it"
    if said.id.endswith(("_low", "_high")) and not said.grid:
        return INTERVAL
    return KNOWN.get(said.id, STOPPED)
