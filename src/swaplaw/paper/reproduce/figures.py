"""The paper's eleven figures, from vote tables and from the simulation, and three more of the same votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from swaplaw.errors import several
from swaplaw.evidence.lifts import lift_effect
from swaplaw.evidence.units import resampling_units
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.paper.published import published
from swaplaw.paper.reproduce.study import Dataset, Study
from swaplaw.paper.simulation import Theory
from swaplaw.paper.simulation_figures import decomposition_figure, theory_figure
from swaplaw.report.plots import (
    Lift,
    Scatter,
    Spread,
    contributions_figure,
    curves_figure,
    forest_figure,
    gap_figure,
    heat_map,
    scatter_figure,
    spread_figure,
    vote_map,
)

STRONGEST = 5
"""Pairs that the figure of the strongest forensic pairs shows."""
PLATEAU = (Fraction(1, 12), Fraction(1, 6))
"""The plateau that the paper's Figure cyber_weights shades."""


def figures(study: Study, theory: Theory) -> dict[str, Callable[[], Any]]:
    """Every figure under its label in the paper, to be drawn when called."""
    return {
        "theory": lambda: theory_figure(theory),
        "phiadj_sg": lambda: _dependence(study.calibration, "phi_adj", "φ adjusted", "Accuracy-adjusted correlation"),
        "validation": lambda: _validation(study),
        "exactness": lambda: _exactness(study),
        "decomp": lambda: decomposition_figure(theory),
        "calibration": lambda: _calibration(study),
        "meanlift": lambda: _mean_lift(study),
        "leading": lambda: _leading(study),
        "cyber_weights": lambda: _strongest(study.weighing),
        "phi_sg": lambda: _dependence(study.calibration, "phi", "φ", "Raw correlation of correctness"),
        "liftdelta": lambda: _lift_by_gap(study),
    }


def further(study: Study) -> dict[str, Callable[[], Any]]:
    """Pictures that the paper has not: lifts with their intervals, what makes them, and who is right where."""
    return {
        "lifts": lambda: _lifts_with_intervals(study.calibration, _label(study)),
        "contributions": lambda: contributions_figure(
            [
                (f"{dataset.title}: {code(dataset.top.primary)} + {code(dataset.top.secondary)}", outcome)
                for dataset in study.datasets.values()
                for outcome in [dataset.top.at(DEFAULT_WEIGHT)]
            ],
            "What makes the lift of each dataset's top-accuracy pair at 40:60",
            [_label(study), "In-sample; the tick marks the sum", "Signed: where ties share credit, corruption may add"],
        ),
        "votes": lambda: vote_map(
            study.weighing.tally,
            f"Who is right where, {study.weighing.title}",
            [_label(study), "Gold's share of each model's votes"],
        ),
    }


def _lifts_with_intervals(dataset: Dataset, label: str) -> Any:
    tally, weights = dataset.tally, (Fraction(1), DEFAULT_WEIGHT)
    units = resampling_units(tally, by="question")
    lifts = []
    for name, curve in zip(_names(dataset), dataset.curves, strict=True):
        found = lift_effect(tally, (tally.index(curve.primary), tally.index(curve.secondary)), weights, units)
        lift = 100 * float(curve.at(DEFAULT_WEIGHT).lift)
        low, high = (lift, lift) if found is None else (100 * found.low, 100 * found.high)
        lifts.append(Lift(name, lift, low, high))
    return forest_figure(
        lifts, f"Lift at 40:60, {dataset.title}", [label, "95% intervals over questions, each pair's own"]
    )


def code(model: str) -> str:
    """The paper's short name of a model, or its own."""
    return published().codes.get(model, model)


def _label(study: Study) -> str:
    if study.twin:
        return "SYNTHETIC votes: twins of the paper's datasets"
    return "SYNTHETIC votes" if study.synthetic else ""


def _dependence(dataset: Dataset, quantity: str, label: str, title: str) -> Any:
    order = [code(model.model) for model in dataset.models]
    values: Mapping[tuple[str, str], float | None] = {
        (code(curve.primary), code(curve.secondary)): None if value is None else float(value)
        for curve in dataset.curves
        for value in [getattr(curve.masses, quantity)]
    }
    return heat_map(values, order, label, f"{title}, {dataset.title}", "Models by accuracy, the most accurate first")


def _names(dataset: Dataset) -> list[str]:
    return [f"{code(curve.primary)} + {code(curve.secondary)}" for curve in dataset.curves]


def _lifts(dataset: Dataset) -> list[float]:
    return [100 * float(outcome.lift) for outcome in dataset.at_weight]


def _predicted(study: Study, dataset: Dataset) -> list[float]:
    alpha, gamma = Fraction(study.law.alpha), Fraction(study.law.gamma)
    return [100 * float(curve.masses.predicted_swap(alpha, gamma)) for curve in dataset.curves]


def _panel(study: Study, dataset: Dataset, predictor: str, values: list[float]) -> Scatter:
    table = study.predictors[dataset.key]
    found = next(row for row in table.predictors if row.name == predictor)
    r2, rho = (f"{value:.2f}" if value is not None else "undefined" for value in (found.r2.value, found.rho.value))
    note = f"R² {r2}, ρ {rho}, {several(found.n, 'pair')}"
    return Scatter(
        dataset.title, values, _lifts(dataset), _names(dataset), note, list(study.datasets).index(dataset.key)
    )


def _validation(study: Study) -> Any:
    """The frozen heuristic on the datasets that it was not calibrated on (on its own, where there is no other)."""
    others = [each for each in study.datasets.values() if each is not study.calibration] or [study.calibration]
    return scatter_figure(
        [_panel(study, dataset, "predicted", _predicted(study, dataset)) for dataset in others],
        "calibrated heuristic Ŝ (pp)",
        "observed lift at 40:60 (pp)",
        f"The heuristic calibrated on {study.calibration.title}, carried over",
        [_label(study), "Dashed: perfect prediction"],
    )


def _exactness(study: Study) -> Any:
    return scatter_figure(
        [
            _panel(study, dataset, "swap", [100 * float(outcome.swap) for outcome in dataset.at_weight])
            for dataset in study.datasets.values()
        ],
        "measured swap mass S* (pp)",
        "observed lift at 40:60 (pp)",
        "The measured swap mass against observed lift",
        [_label(study), "Retrospective: both come from the pooled votes. Dashed: S* = lift"],
    )


def _calibration(study: Study) -> Any:
    dataset = study.calibration
    return scatter_figure(
        [_panel(study, dataset, "predicted", _predicted(study, dataset))],
        "calibrated heuristic Ŝ (pp)",
        "observed lift at 40:60 (pp)",
        "The heuristic on the votes that calibrated it",
        [_label(study), f"In-sample: alpha {study.law.alpha:.3f}, gamma {study.law.gamma:.3f}"],
    )


def _mean_lift(study: Study) -> Any:
    spreads = []
    for dataset in study.datasets.values():
        lifts = np.array([[100 * float(outcome.lift) for outcome in row] for row in dataset.grid])
        low, high = np.quantile(lifts, [0.25, 0.75], axis=0)
        spreads.append(Spread(dataset.title, dataset.weights, lifts.mean(axis=0).tolist(), low.tolist(), high.tolist()))
    pairs = ", ".join(str(len(dataset.curves)) for dataset in study.datasets.values())
    return spread_figure(
        spreads,
        "Mean lift over all pairs, by weight",
        [_label(study), f"Bands: the middle half of the pairs ({pairs} pairs). Dots: {_searched(study)}"],
    )


def _searched(study: Study) -> str:
    """Whose weights were searched."""
    return (
        "25 weights, 13 of them named by the paper" if study.guessed else f"the {len(study.grid or ())} weights given"
    )


def _leading(study: Study) -> Any:
    series = [
        (f"{dataset.title}: {code(dataset.top.primary)} + {code(dataset.top.secondary)}", dataset.top)
        for dataset in study.datasets.values()
    ]
    return curves_figure(
        series, "Exact lift of each dataset's top-accuracy pair", [_label(study), "In-sample, at every weight"]
    )


def _strongest(dataset: Dataset) -> Any:
    strongest = sorted(dataset.curves, key=lambda curve: (-curve.masses.collective, curve.primary, curve.secondary))
    series = [(f"{code(curve.primary)} + {code(curve.secondary)}", curve) for curve in strongest[:STRONGEST]]
    label = "SYNTHETIC votes. " if dataset.synthetic else ""
    return curves_figure(
        series,
        f"Exact lift of the most accurate pairs, {dataset.title}",
        f"{label}In-sample; shaded: the paper's plateau, 1/12 to 1/6",
        plateau=PLATEAU,
    )


def _lift_by_gap(study: Study) -> Any:
    panels = [
        Scatter(
            dataset.title, [100 * float(curve.masses.gap) for curve in dataset.curves], _lifts(dataset), _names(dataset)
        )
        for dataset in study.datasets.values()
    ]
    return gap_figure(panels, "Observed lift at 40:60 against the accuracy gap", _label(study))
