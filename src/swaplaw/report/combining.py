"""The section on combining the whole fleet: every rule on the same questions, beside the best weights of all."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError
from swaplaw.report.parts import MILLION, most_accurate
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw._parallel import Progress
    from swaplaw.decide.combine import RuleResult
    from swaplaw.evidence.interval import Effect
    from swaplaw.evidence.units import Unit
    from swaplaw.panels.exact import FleetOptimum

LEFT_OUT = ("best_panel",)
"""Rules that certify weights on every training fold: the sections on pairs and panels have what these would choose."""


def combining_part(
    tally: Tally,
    *,
    work: float,
    prices: Mapping[str, float] | None,
    by: Unit | None,
    folds: int,
    repeats: int,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Compare all quick rules, and search the best weights of all with some work."""
    from swaplaw.decide.combine import combine
    from swaplaw.decide.rules import RULES
    from swaplaw.evidence.interval import warn_thin

    if len(tally.models) < 2:
        raise InputError(f"There is only one model, {tally.models[0]}: there is nothing to combine.")
    fleet = most_accurate(tally)
    rules = [name for name in RULES if name not in LEFT_OUT]
    given = None if prices is None else {model: prices[model] for model in fleet.models if model in prices}
    found = combine(
        fleet,
        rules=rules,
        prices=given,
        by=by,
        folds=folds,
        repeats=repeats,
        seed=seed,
        proof=bool(work),
        work=MILLION * work,
        progress=progress,
    )
    warn_thin((one.gain for one in found.rules), "intervals of ways to combine")
    places = {model: tally.index(model) for model in fleet.models}
    return {
        "baseline": places[found.baseline],
        "accuracy": float(found.baseline_accuracy),
        "models": len(fleet.models),
        "n": len(found.tally.questions),
        "of": found.of,
        "priced": prices is not None,
        "rules": [_rule(one, places) for one in found.rules],
        "optimum": None if found.optimum is None else _optimum(found.optimum, places),
    }


def _rule(one: RuleResult, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "rule": one.rule.name,
        "summary": one.rule.summary,
        "needs_labels": one.rule.needs_labels,
        "weights": _weights(one.weights, places),
        "accuracy": float(one.accuracy),
        "held_out": one.held_out,
        "in_sample": one.in_sample.mean,
        "gain": _ends(one.gain),
        "best": one.probability_best,
        "cost": one.cost,
    }


def _optimum(found: FleetOptimum, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "weights": _weights(found.weights, places),
        "accuracy": float(found.accuracy),
        "bound": float(found.bound),
        "proof": found.proof,
        "fragile": found.fragile,
    }


def _weights(weights: Mapping[str, Fraction], places: Mapping[str, int]) -> list[list[Any]]:
    return [[places[model], str(weight)] for model, weight in weights.items()]


def _ends(found: Effect) -> list[float]:
    return [found.mean, found.low, found.high]
