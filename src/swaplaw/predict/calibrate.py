"""Calibrating the heuristic (the paper's Section "Calibrating the Heuristic at 40:60").

alpha-bar and gamma-bar are means over the pairs of a dataset; lambda is the slope of lift on swap mass through the
origin; the residual, what the swap mass leaves out, is followed over the whole grid of weights. Every number has an
interval from the same bootstrap draws, in each of which everything is calibrated anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw.errors import InputError, quote
from swaplaw.evidence.association import count, mean, r2, rho, rmse, slope
from swaplaw.evidence.bootstrap import Estimates, estimate, estimate_counts
from swaplaw.evidence.interval import LEVEL
from swaplaw.evidence.percentiles import Method
from swaplaw.evidence.quantities import Quantities, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.predict.law_file import Law
from swaplaw.predict.residual_grid import residual_grid
from swaplaw.votes import inputs
from swaplaw.votes.fingerprint import fingerprint_of
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

Item = TypeVar("Item")

AT_WEIGHT = ("alpha", "gamma", "lambda", "residual_at_weight_mean", "residual_at_weight_sd", "r2", "rho", "rmse")
ON_GRID = ("residual_mean", "residual_mean_absolute", "residual_sd", "residual_max")


def calibrate(
    votes: VotesLike,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = DEFAULT_REPLICATES,
    level: float = LEVEL,
    method: Method = "expanded",
    workers: Workers = None,
    progress: Progress = iter,
) -> Law:
    """Freeze the conversion rates of a dataset at a weight, in order to predict the lift of other pairs.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    by : {"question", "cluster"}, optional
        What is resampled; by default clusters where there are several.
    seed : int
        The same seed gives the same numbers.
    replicates : int
        Bootstrap draws.
    level : float
        Level of the intervals.
    method : {"expanded", "percentile", "bca"}
        How intervals are read off the draws.
    workers : int, optional
        Share pairs and draws among this many; the numbers stay the same.
    progress : callable
        Wraps the shares of the work as they are done.

    Returns
    -------
    Law
        Mean rates, lambda, residual and fit, with intervals; `.write("law.json")` keeps it.

    Raises
    ------
    InputError
        If no pair defines a rate.

    Examples
    --------
    >>> import swaplaw as sl
    >>> law = sl.calibrate(sl.demo_votes(), "2/3", replicates=200)
    >>> round(law.alpha, 3), round(law.gamma, 3)
    (0.335, 0.138)
    """
    tally = inputs.tally(votes)
    crew = Crew(workers)
    draws = resampler(tally, by=by, seed=seed, replicates=replicates)
    chosen = list(pairs(tally))
    terms = terms_of(chosen, weight)
    found = terms.quantities()
    defined = _defined(tally, found)
    here = estimate(draws, terms, _at_weight, level=level, method=method, crew=crew)
    x, lift = terms.weight, found.lift
    # The summands at this weight make room for those of the grid.
    del terms, found
    grid = residual_grid(chosen, draws, crew, progress)
    over = estimate_counts(draws, grid.statistics, level=level, method=method, crew=crew, size=grid.batch)
    alpha, gamma, slope_, mean_here, sd_here, fit_r2, fit_rho, fit_rmse = (
        here[row].value for row in range(len(AT_WEIGHT))
    )
    if alpha is None or gamma is None:
        raise InputError(f"no pair of dataset {quote(tally.dataset)} defines a conversion rate")
    return Law(
        x,
        alpha,
        gamma,
        slope_,
        {**_intervals(AT_WEIGHT, here), **_intervals(ON_GRID, over)},
        {
            **{name.removeprefix("residual_"): over[row].value for row, name in enumerate(ON_GRID)},
            "max_at": grid.largest(),
            "cells": grid.cells,
            "at_weight": {"mean": mean_here, "sd": sd_here, "lift_sd": float(lift.std())},
        },
        {"r2": fit_r2, "rho": fit_rho, "rmse": fit_rmse, "baseline_rmse": float(rmse(lift, 0 * lift))},
        _provenance(tally, draws, len(chosen), defined),
    )


def mean_rates(tally: Tally, weight: str | float | Fraction = DEFAULT_WEIGHT) -> tuple[float, float]:
    """alpha-bar and gamma-bar alone: what predicting needs, without intervals, residual and fit."""
    found = terms_of(list(pairs(tally)), weight).quantities()
    _defined(tally, found)
    return float(mean(found.alpha)), float(mean(found.gamma))


def _defined(tally: Tally, found: Quantities) -> dict[str, int]:
    """How many pairs define each rate; there is no law without one."""
    defined = {"alpha": int(count(found.alpha)), "gamma": int(count(found.gamma))}
    for rate, cell in (("alpha", "rescue"), ("gamma", "damage")):
        if not defined[rate]:
            raise InputError(
                f"no pair of dataset {quote(tally.dataset)} has any {cell} mass, so {rate} cannot be calibrated: "
                "the models are right and wrong on the same questions"
            )
    return defined


def _at_weight(found: Quantities) -> Floats:
    """The numbers of AT_WEIGHT, calibrated on each draw."""
    alpha, gamma = mean(found.alpha), mean(found.gamma)
    lift, residual = found.lift, found.residual
    predicted = found.predicted_swap(alpha[..., None], gamma[..., None])
    return np.stack(
        [
            alpha,
            gamma,
            slope(found.swap, lift),
            mean(residual),
            residual.std(axis=-1),
            r2(predicted, lift),
            rho(predicted, lift),
            rmse(predicted, lift),
        ],
        axis=-1,
    )


def _intervals(names: Sequence[str], found: Estimates) -> dict[str, Any]:
    return {name: found[row].interval for row, name in enumerate(names)}


def _provenance(tally: Tally, draws: Resampler, number: int, defined: dict[str, int]) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "dataset": tally.dataset,
        "fingerprint": fingerprint_of(tally),
        "models": list(tally.models),
        "questions": len(tally.questions),
        "pairs": number,
        "pairs_defining": defined,
        "resampled": draws.to_dict(),
        "swaplaw": version("swaplaw"),
    }
