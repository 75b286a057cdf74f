"""The best weights of a whole fleet, of any number of members, with a proof where one can be had; what each adds.

Up to `LARGEST_PANEL` members this is the certificate of the panel of all of them. Larger fleets have no cells and no
exact search: the mixed-integer program alone bounds them, and what it leaves open is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

from swaplaw._core.results import Result
from swaplaw.law.plurality import vote
from swaplaw.panels.certificates import BySolver, Certificate, Parts, Proof, certify
from swaplaw.panels.milp import TOLERANCE, affordable_nodes
from swaplaw.panels.panel import LARGEST_PANEL, Panel, oriented
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

LARGEST_PROGRAM = 200_000
"""Rivals times models beyond which no program is written: no solver would come to an end."""


@dataclass(frozen=True)
class FleetOptimum(Result):
    """The most accurate weights found over all models, and what is proven about all others."""

    weights: Mapping[str, Fraction]
    """By model, the most accurate one first; models without weight are left out."""
    accuracy: Fraction
    bound: Fraction
    """No weights have a higher accuracy than this."""
    proof: Proof
    fragile: bool = False
    """Whether exact ties give the accuracy, and the slightest change of weights loses it."""

    def rows(self) -> list[dict[str, Any]]:
        """One row per model that has weight."""
        return [{"model": model, "weight": str(weight)} for model, weight in self.weights.items()]

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        return {
            "weights": {model: str(weight) for model, weight in self.weights.items()},
            "accuracy": float(self.accuracy),
            "bound": float(self.bound),
            "proof": self.proof,
            "tolerance": TOLERANCE if self.proof == "solver" else None,
            "fragile": self.fragile,
        }


def fleet_optimum(
    votes: VotesLike,
    *,
    time_limit: float | None = None,
    effort: float | None = None,
    starts: Sequence[Mapping[int, Fraction]] = (),
) -> FleetOptimum:
    """Find the best weights of all models of a tally in which every model answered every question.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    time_limit : float, optional
        Seconds after which the search ends with what is proven by then.
    effort : float, optional
        The same in planes looked at, which does not depend on the machine.
    starts : sequence of mappings
        Weights that are already known, by place; if the search finds nothing better, the best of them is returned.

    Returns
    -------
    FleetOptimum
        The weights, their accuracy, a bound on all others, and what kind of proof that is.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.demo_votes().tally().select(models=["gpt-4", "mistral-large"])
    >>> fleet_optimum(two).to_dict()["weights"]
    {'gpt-4': '1', 'mistral-large': '1/9'}
    """
    tally = inputs.tally(votes)
    if len(tally.models) == 1:
        own = tally.scores[0]
        accuracy = Fraction(own.total, own.denominator * len(tally.questions))
        return FleetOptimum({tally.models[0]: Fraction(1)}, accuracy, accuracy, "exact")
    found = _certificate(tally, time_limit, effort)
    best = FleetOptimum(
        {member: weight for member, weight in zip(found.panel.members, found.best.weights, strict=True) if weight},
        found.best.accuracy,
        found.bound,
        found.proof,
        found.best.fragile,
    )
    known = [_known(tally, start, found) for start in starts]
    return max([best, *known], key=lambda one: one.accuracy)


def _certificate(tally: Tally, time_limit: float | None, effort: float | None) -> Certificate:
    panel = oriented(tally, range(len(tally.models)))
    if len(tally.models) <= LARGEST_PANEL:
        return certify(panel, time_limit=time_limit, effort=effort)
    parts = Parts(panel, None if time_limit is None else monotonic() + time_limit, {})
    for place in range(1, parts.size):
        parts.search_pair(place)
    # Nothing is proven yet of more than two members, but that somebody has to vote for gold.
    parts.bound = Fraction(int(tally.named.sum()), len(tally.questions))
    if tally.rivals.rows.widths.sum() * parts.size > LARGEST_PROGRAM:
        return parts.certificate()
    planes = len(parts.planes(tuple(range(parts.size))).normals)
    nodes = None if effort is None else affordable_nodes(planes, effort)
    return parts.certificate() if nodes == 0 else BySolver(parts).certificate(nodes)


def _known(tally: Tally, start: Mapping[int, Fraction], found: Certificate) -> FleetOptimum:
    pooled = vote(tally, list(start), list(start.values()))
    accuracy = Fraction(pooled.total, pooled.denominator * len(tally.questions))
    weights = {tally.models[place]: weight for place, weight in start.items()}
    return FleetOptimum(weights, accuracy, found.bound, "none" if accuracy < found.bound else found.proof)


def marginals(certificate: Certificate, *, time_limit: float | None = None) -> dict[str, Fraction]:
    """Compute how much accuracy is lost when each member leaves and the rest vote at their best weights.

    Parameters
    ----------
    certificate : Certificate
        What `certify` gave.
    time_limit : float, optional
        Seconds for each smaller panel.

    Returns
    -------
    dict of str to Fraction
        The loss without each member, on the same questions.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.panels.certify(sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large"]))
    >>> marginals(two)
    {'gpt-4': Fraction(2, 25), 'mistral-large': Fraction(0, 1)}
    """
    panel = certificate.panel
    same = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
    losses = {}
    for leaving in panel.indices:
        rest = [index for index in panel.indices if index != leaving]
        if len(rest) == 1:
            without = Panel(same, (rest[0],)).accuracies[0]
        else:
            without = certify(oriented(same, rest), time_limit=time_limit).best.accuracy
        losses[panel.tally.models[leaving]] = certificate.best.accuracy - without
    return losses
