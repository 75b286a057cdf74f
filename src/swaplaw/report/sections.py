"""Sections of the page: who beats whom, panels of three, ways to combine, screening, labels, and what calls buy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw.decide.crossfit import deal
from swaplaw.decide.labels.bounds import Change, narrowing
from swaplaw.errors import InputError
from swaplaw.evidence.units import resampling_units
from swaplaw.law.pair import pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.report.words import asked, likely, point_words
from swaplaw.votes.counts import candidates
from swaplaw.votes.summary import summary
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw._parallel import Progress
    from swaplaw.decide.combine import RuleResult
    from swaplaw.decide.front import Point
    from swaplaw.decide.recommend import Recommendation
    from swaplaw.evidence.interval import Effect
    from swaplaw.evidence.units import Unit
    from swaplaw.panels.exact import FleetOptimum
    from swaplaw.predict.law_file import Law
    from swaplaw.votes.table import Votes

LARGE_FLEET = 40
"""Of more models, the most accurate ones are decided among and screened: all pairs of all models take minutes."""
PANELS = 5
PANEL_SIZE = 3
PANEL_FOLDS = 5
MILLION = 1e6
LEAST_HALVED = 4
"""Units that can be halved: fewer clusters are split by question instead."""
MOST_DOTS = 2_000
"""Pairs that the screening picture shows; of more, evenly many along the prediction."""


def panels_part(tally: Tally, work: float, seed: int, progress: Progress) -> dict[str, Any]:
    """The best panels of three, their weights certified, with held-out accuracy."""
    from swaplaw.decide.crossfit import held_out_panel
    from swaplaw.panels.search import best_panels

    if len(tally.models) < PANEL_SIZE:
        raise InputError(f"A panel of {PANEL_SIZE} needs {PANEL_SIZE} models; there are {len(tally.models)}.")
    if not work:
        raise InputError("Left out of this report; `swaplaw panel` searches them.")
    rows: list[dict[str, Any]] = []
    # The first step is the search, then each panel that it found is held out.
    for step in progress(range(PANELS + 1)):
        if step == 0:
            searched = best_panels(tally, PANEL_SIZE, top=PANELS, work=MILLION * work)
        elif step <= len(searched.panels):
            one = searched.panels[step - 1]
            judged = held_out_panel(one.panel, folds=PANEL_FOLDS, repeats=1, seed=seed)
            shown = one.recommended
            rows.append(
                {
                    "members": [tally.index(name) for name in one.panel.members],
                    "weights": [str(weight) for weight in shown.weights],
                    "alone": float(one.panel.accuracies[0]),
                    "accuracy": float(shown.accuracy),
                    "held_out": None if judged is None else judged.accuracy,
                    "effect": None if judged is None else [judged.lift, judged.effect.low, judged.effect.high],
                    "n": one.panel.n,
                }
            )
    rows.sort(key=lambda row: -(row["held_out"] or 0.0))
    return {"rows": rows, "of": searched.of, "complete": searched.complete, "gap": float(searched.gap)}


def most_accurate(tally: Tally) -> Tally:
    """The most accurate models of a large fleet, on the questions that any of them answered."""
    if len(tally.models) <= LARGE_FLEET:
        return tally
    kept = sorted(row.model for row in summary(tally)[:LARGE_FLEET])
    answered = np.logical_or.reduce([tally.answered[tally.index(model)] for model in kept])
    return tally.select(models=kept, questions=answered)


def screening_part(
    tally: Tally, law: Law | None, by: Unit | None, seed: int, progress: Progress = iter
) -> dict[str, Any]:
    """Predicted against observed lift: with a law from elsewhere, or one from the other half of the questions."""
    from swaplaw.predict.calibrate import mean_rates

    if len(tally.models) < 2:
        raise InputError("Screening compares pairs, and there is only one model.")
    fleet = most_accurate(tally)
    if law is not None:
        judged, source, weight, rates = fleet, "a law calibrated elsewhere", law.weight, (law.alpha, law.gamma)
    else:
        units = resampling_units(tally, by)
        if units.count < LEAST_HALVED:
            units = resampling_units(tally, "question")
        if units.count < LEAST_HALVED:
            raise InputError("Too few questions to calibrate a law on one half and judge it on the other.")
        half = deal(units.member, folds=2, repeats=1, seed=seed).tests[0]
        train = _answered(fleet.select(questions=half))
        judged = _answered(fleet.select(questions=~half))
        weight, rates = DEFAULT_WEIGHT, mean_rates(train)
        source = f"a law calibrated on {len(train.questions)} questions, judged on the other {len(judged.questions)}"
    alpha, gamma = map(Fraction, rates)
    dots = []
    for pair in progress(list(pairs(judged))):
        predicted, observed = pair.masses.predicted_swap(alpha, gamma), pair.at(weight).lift
        dots.append((round(float(predicted), 6), round(float(observed), 6), pair.primary, pair.secondary))
    dots.sort()
    shown = dots if len(dots) <= MOST_DOTS else [dots[i * len(dots) // MOST_DOTS] for i in range(MOST_DOTS)]
    same_sign = sum((predicted > 0) == (observed > 0) for predicted, observed, _, _ in dots)
    return {
        "source": source,
        "models": len(fleet.models),
        "weight": str(weight),
        "alpha": rates[0],
        "gamma": rates[1],
        "dots": [[x, y, tally.index(a), tally.index(b)] for x, y, a, b in shown],
        "of": len(dots),
        "same_sign": same_sign,
    }


def _answered(tally: Tally) -> Tally:
    """Without models that answered none of these questions: calibration has nothing to say of them."""
    kept = [
        model for model, any_ in zip(tally.models, np.logical_or.reduce(tally.answered, axis=1), strict=True) if any_
    ]
    if len(kept) < 2:
        raise InputError("Half of the questions leave fewer than two models that answered any.")
    return tally if len(kept) == len(tally.models) else tally.select(models=kept)


def now_part(found: Recommendation) -> dict[str, Any]:
    """What to deploy today, what it costs and how sure its gain is, beside the best single model with all its calls."""
    point, gain, alone = found.now.point, found.now.gain, found.judge.point(None)
    return {
        "asked": asked(found),
        "calls": point.calls,
        "cost": point.cost,
        "accuracy": found.now.accuracy,
        "gain": [gain.mean, gain.low, gain.high],
        "likely": likely(gain.above(0)),
        "alone": {"calls": alone.calls, "cost": alone.cost, "accuracy": alone.accuracy},
    }


def telling_part(found: Recommendation) -> list[dict[str, Any]]:
    """The most telling operating points, the cheapest first, and what is deployed among them."""
    shown = {point.plan: point for point in (found.now.point, *found.telling)}
    return [
        _point(point, found.min_gain) | {"now": plan == found.now.point.plan}
        for plan, point in sorted(shown.items(), key=lambda one: one[1].price)
    ]


def front_part(found: Recommendation) -> dict[str, Any]:
    """What calls buy: the operating points of the fleet."""
    return {
        "n": len(found.tally.questions),
        "priced": found.judge.prices is not None,
        "points": [_point(point, found.min_gain) for point in found.points],
    }


def _point(point: Point, min_gain: float) -> dict[str, Any]:
    return {"name": point_words(point), **point.to_dict(min_gain)}


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
