"""Every number that the paper states in the prose of Sections 5.1 to 8 and Appendix C, from vote tables.

Numbers of datasets that a study lacks are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import fmean, pstdev

from swaplaw.evidence.interval import Interval
from swaplaw.evidence.lifts import lift_effect
from swaplaw.evidence.units import resampling_units
from swaplaw.law.pair import Outcome, pair
from swaplaw.paper.published import Comparison, Value, published
from swaplaw.paper.reproduce.study import Dataset, Study
from swaplaw.paper.reproduce.tables import percent
from swaplaw.predict.predictors import Predictor

Numbers = dict[str, Value]

CLOSE = Fraction(1, 1000)
"""Lift that the swap-mass rule may lose and still count as close: 0.1 pp."""


def compare_prose(study: Study) -> list[Comparison]:
    """Every stated number of the prose that this study can compute, beside the published one."""
    ours = numbers(study)
    return [
        Comparison(statement, ours[name], guessed=statement.grid and study.guessed)
        for name, statement in published().prose.items()
        if name in ours
    ]


def numbers(study: Study) -> Numbers:
    """Every stated number of the prose, by the id that it has among the published ones, in the paper's units."""
    found: Numbers = {}
    paper = {key: study.datasets[key] for key in published().datasets if key in study.datasets}
    whole = len(paper) == len(published().datasets)
    if whole:
        found |= _overall(list(paper.values()))
    for key, dataset in paper.items():
        found |= _of_dataset(key, dataset)
    if "supergpqa" in paper:
        found |= _calibration(study) | _lift(study.datasets["supergpqa"])
        found |= _validation(study, list(paper))
        found |= _worst(study, list(paper)) if whole else {}
    if "gpqa-diamond" in paper:
        found |= _rule_on_top(study.datasets["gpqa-diamond"])
    if "forensic" in paper:
        found |= _forensic(study.datasets["forensic"])
    return found


def _overall(datasets: Sequence[Dataset]) -> Numbers:
    ballots = sum(model.questions for dataset in datasets for model in dataset.models)
    shortfalls = {dataset.key: [_shortfall(row) for row in dataset.grid] for dataset in datasets}
    every = [shortfall for found in shortfalls.values() for shortfall in found]
    residuals = {
        dataset.key: [abs(float(outcome.residual)) for row in dataset.grid for outcome in row] for dataset in datasets
    }
    cells = [residual for found in residuals.values() for residual in found]
    return {
        "ties": 100 * sum(dataset.tied_at_all for dataset in datasets) / ballots,
        "ties_with_gold": 100 * sum(dataset.tied for dataset in datasets) / ballots,
        "gap_least": 100 * float(min(curve.masses.gap for dataset in datasets for curve in dataset.curves)),
        "gap_largest": 100 * float(max(curve.masses.gap for dataset in datasets for curve in dataset.curves)),
        "repair_mean": 100
        * max(abs(fmean(float(each.repaired) for each in dataset.at_weight)) for dataset in datasets),
        "corruption_mean": 100
        * max(abs(fmean(float(each.corrupted) for each in dataset.at_weight)) for dataset in datasets),
        "residual_grid_mean": 100 * max(fmean(found) for found in residuals.values()),
        "residual_grid_largest": 100 * max(cells),
        # The paper counts weight 0, where nothing is pooled and the residual is 0, as a cell, too.
        "residual_cells": len(cells) + len(every),
        "rule_pairs": len(every),
        "rule_within": sum(shortfall <= CLOSE for shortfall in every),
        "rule_shortfall": 100 * max(fmean(map(float, found)) for found in shortfalls.values()),
    }


def _chosen(row: Sequence[Outcome]) -> Outcome | None:
    """The weight that the swap-mass rule takes, the smallest of equally good ones; None is the primary alone."""
    best = max(row, key=lambda outcome: (outcome.swap, -outcome.weight))
    return best if best.swap > 0 else None


def _shortfall(row: Sequence[Outcome]) -> Fraction:
    """What the rule's weight lifts less than the best weight of the grid (or the primary alone)."""
    chosen = _chosen(row)
    return max(Fraction(0), *(outcome.lift for outcome in row)) - (chosen.lift if chosen else 0)


PREFIX = {"supergpqa": "", "gpqa-diamond": "gpqa_", "forensic": "forensic_"}


def _of_dataset(key: str, dataset: Dataset) -> Numbers:
    """Counts of pairs that gain, that no weight helps, and the best pair and trio."""
    prefix = PREFIX[key]
    found: Numbers = {
        f"{prefix}gaining": sum(outcome.lift > 0 for outcome in dataset.at_weight),
        f"{prefix}pair_lift": percent(dataset.best_pair[1].lift),
    }
    if key != "supergpqa":
        found[f"{prefix}harmful"] = sum(all(outcome.lift <= 0 for outcome in row) for row in dataset.grid)
    if dataset.best_trio:
        found[f"{prefix}trio_lift"] = percent(dataset.best_trio.lift)
    adjusted = [float(curve.masses.phi_adj) for curve in dataset.curves if curve.masses.phi_adj is not None]
    if key == "supergpqa":
        raw = [curve.masses.phi for curve in dataset.curves if curve.masses.phi is not None]
        found |= {"phi_least": min(raw), "phi_largest": max(raw)} if raw else {}
        found["pair_ceiling"] = percent(dataset.best_pair[0].masses.rescue)
        found["trio_ceiling"] = percent(dataset.best_trio.ceiling) if dataset.best_trio else None
    if key != "gpqa-diamond" and adjusted:
        found |= {f"{prefix}phi_adj_least": min(adjusted), f"{prefix}phi_adj_largest": max(adjusted)}
    return found


def _ends(name: str, interval: Interval | None) -> Numbers:
    return {
        f"{name}_low": None if interval is None else interval.low,
        f"{name}_high": None if interval is None else interval.high,
    }


def _calibration(study: Study) -> Numbers:
    law, outcomes = study.law, study.calibration.at_weight
    return {
        "alpha": law.alpha,
        **_ends("alpha", law.intervals["alpha"]),
        "gamma": law.gamma,
        **_ends("gamma", law.intervals["gamma"]),
        "lambda": law.slope,
        **_ends("lambda", law.intervals["lambda"]),
        "residual_mean": 100 * fmean(float(outcome.residual) for outcome in outcomes),
        "lift_deviation": 100 * pstdev(float(outcome.lift) for outcome in outcomes),
        "predicted_r2": law.fit["r2"],
        "predicted_rho": law.fit["rho"],
        "predicted_pairs": len(outcomes),
        "predicted_rmse": percent(law.fit["rmse"]),
    }


def _worst(study: Study, keys: Sequence[str]) -> Numbers:
    """Extremes over all three datasets."""

    def every(name: str, score: str) -> list[float]:
        rows = (row for key in keys for row in study.predictors[key].predictors if row.name == name)
        values = (getattr(row, score).value for row in rows)
        return [value for value in values if value is not None]

    return {
        "swap_r2_least": min(every("swap", "r2"), default=None),
        "swap_rho_least": min(every("swap", "rho"), default=None),
        "phi_r2_largest": max(every("phi", "r2"), default=None),
        "predicted_r2_worst": min(every("predicted", "r2"), default=None),
        "rescue_r2_worst": min(every("rescue", "r2"), default=None),
    }


def _validation(study: Study, keys: Sequence[str]) -> Numbers:
    scores = {key: {row.name: row for row in study.predictors[key].predictors} for key in keys}
    found: Numbers = {"phi_adj_rho": scores["supergpqa"]["phi_adj"].rho.value}
    for key in keys:
        prefix = PREFIX[key]
        predicted: Predictor = scores[key]["predicted"]
        found[f"{prefix}gap_rho"] = scores[key]["gap"].rho.value
        if prefix:
            found[f"{prefix}rho"] = predicted.rho.value
            found |= _ends(f"{prefix}rho", predicted.rho.interval)
            found[f"{prefix}rmse"] = percent(study.predictors[key].rmse.value)
        if key == "gpqa-diamond":
            found["gpqa_rmse_zero"] = percent(study.predictors[key].baseline_rmse.value)
        if key == "forensic":
            found["forensic_phi_pairs"] = scores[key]["phi"].n
    return found


def _lift(dataset: Dataset) -> Numbers:
    """Section 7 on the calibration set: the largest lift, the top-accuracy pair, and mean lift by weight."""
    top = dataset.top
    best = max(top.grid(dataset.weights), key=lambda outcome: (outcome.lift, -outcome.weight))
    means = dict(zip(dataset.weights, dataset.mean_lifts, strict=True))
    positive = [weight for weight, lift in means.items() if lift > 0]
    return {
        "largest_lift": percent(max(outcome.lift for outcome in dataset.at_weight)),
        "top_lift": percent(top.at("2/3").lift),
        "top_best_lift": percent(best.lift),
        "top_best_weight": str(best.weight),
        "top_alone": percent(top.masses.p),
        "top_pooled": percent(best.accuracy),
        "mean_peak": str(max(means, key=lambda weight: (means[weight], -weight))),
        "mean_positive": str(max(positive)) if positive else "none",
    }


def _rule_on_top(dataset: Dataset) -> Numbers:
    row = dataset.top.grid(dataset.weights)
    chosen = _chosen(row)
    return {
        "gpqa_top_best": percent(max(outcome.lift for outcome in row)),
        "gpqa_rule_weight": str(chosen.weight) if chosen else "0",
        "gpqa_rule_predicted": percent(chosen.swap) if chosen else 0.0,
        "gpqa_rule_realised": percent(chosen.lift) if chosen else 0.0,
    }


def _forensic(dataset: Dataset) -> Numbers:
    top = dataset.top
    row = top.grid(dataset.weights)
    best = max(row, key=lambda outcome: (outcome.lift, -outcome.weight))
    place = row.index(best)
    end = place
    while end + 1 < len(row) and row[end + 1].lift == best.lift:
        end += 1
    changes = pair(dataset.tally, top.primary, top.secondary).changes(best.weight)
    gained: dict[str, Fraction] = {}
    for change in changes:
        gained[change.question] = gained.get(change.question, Fraction(0)) + change.credit
    rescued = {change.question: gained[change.question] for change in changes if change.kind == "rescued"}
    beyond = [top.at(4).lift, *(piece.lift for piece in top.pieces if piece.high is None or piece.high > 4)]
    threshold = top.masses.threshold
    return {
        "forensic_mean_lift": 100 * fmean(float(outcome.lift) for outcome in dataset.at_weight),
        "forensic_top_primary": top.primary,
        "forensic_top_secondary": top.secondary,
        "forensic_top_lift": percent(top.at("2/3").lift),
        "forensic_plateau_low": str(best.weight),
        "forensic_plateau_high": str(row[end].weight),
        "forensic_best_lift": percent(best.lift),
        "forensic_best_pooled": percent(best.accuracy),
        "forensic_alone": percent(top.masses.p),
        "forensic_rescued": len(rescued),
        "forensic_rescued_whole": sum(credit == 1 for credit in rescued.values()),
        **_where_rescued(dataset, rescued),
        **_question_level_low(dataset, best.weight),
        "forensic_limit": percent(top.at(4).lift),
        "forensic_limit_least": percent(min(beyond)),
        "forensic_limit_largest": percent(max(beyond)),
        "forensic_rescue": percent(top.masses.rescue),
        "forensic_gap": percent(top.masses.gap),
        "forensic_threshold": None if threshold is None else float(threshold),
    }


def _where_rescued(dataset: Dataset, rescued: Iterable[str]) -> Numbers:
    """How many challenges the rescued questions are from, where the votes say what questions are nested in."""
    clusters = dataset.tally.clusters
    if clusters is None:
        return {}
    of = dict(zip(dataset.tally.questions, clusters, strict=True))
    return {"forensic_rescued_challenges": len({of[question] for question in rescued})}


def _question_level_low(dataset: Dataset, weight: Fraction) -> Numbers:
    """Lower end of the interval of the top pair's lift; questions are the units, as in the paper."""
    tally, top = dataset.tally, dataset.top
    members = (tally.index(top.primary), tally.index(top.secondary))
    found = lift_effect(tally, members, (Fraction(1), weight), resampling_units(tally, by="question"))
    return {} if found is None else {"forensic_interval_low": percent(found.low)}
