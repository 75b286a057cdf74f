"""Calibrating the heuristic (the paper's Section "Calibrating the Heuristic at 40:60").

alpha-bar and gamma-bar are means over the pairs of a dataset; lambda is the slope of lift on swap mass through the
origin; the residual, what the swap mass leaves out, is followed over the whole grid of weights. Every number has an
interval from the same bootstrap draws, in each of which everything is calibrated anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import compact, grid_for, reduced, rounded
from swaplaw._core.parallel import Backend, Crew, Progress
from swaplaw.errors import InputError, quote
from swaplaw.evidence.association import count, mean, r2, rho, rmse, slope
from swaplaw.evidence.bootstrap import Estimates, estimate, estimate_sums
from swaplaw.evidence.intervals import LEVEL
from swaplaw.evidence.percentiles import Method
from swaplaw.evidence.quantities import Quantities, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, PAPER_GRID
from swaplaw.predict.law_file import Law
from swaplaw.votes import given
from swaplaw.votes.fingerprint import fingerprint_of
from swaplaw.votes.given import VotesLike
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
    workers: int | None = None,
    backend: Backend = "processes",
    progress: Progress = iter,
) -> Law:
    """Freeze the conversion rates of a dataset at a weight, to predict the lift of other pairs by.

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
    backend : {"processes", "dask", "ray", "spark"}
        Where the workers are.
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
    tally = given.tally(votes)
    crew = Crew(workers, backend)
    draws = resampler(tally, by=by, seed=seed, replicates=replicates)
    chosen = list(pairs(tally))
    terms = terms_of(chosen, weight)
    found = terms.quantities()
    defined = _defined(tally, found)
    here = estimate(draws, terms, _at_weight, level=level, method=method, crew=crew)
    grid = _Grid(chosen, draws, crew, progress)
    over = estimate_sums(draws, grid.columns, grid.statistics, level=level, method=method, crew=crew)
    alpha, gamma, slope_, mean_here, sd_here, fit_r2, fit_rho, fit_rmse = (
        here[row].value for row in range(len(AT_WEIGHT))
    )
    if alpha is None or gamma is None:
        raise InputError(f"no pair of dataset {quote(tally.dataset)} defines a conversion rate")
    return Law(
        terms.weight,
        alpha,
        gamma,
        slope_,
        {**_intervals(AT_WEIGHT, here), **_intervals(ON_GRID, over)},
        {
            **{name.removeprefix("residual_"): over[row].value for row, name in enumerate(ON_GRID)},
            "max_at": grid.largest,
            "cells": grid.cells,
            "at_weight": {"mean": mean_here, "sd": sd_here, "lift_sd": float(found.lift.std())},
        },
        {"r2": fit_r2, "rho": fit_rho, "rmse": fit_rmse, "baseline_rmse": float(rmse(found.lift, 0 * found.lift))},
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


class _Grid:
    """The residual of every pair at every weight of the grid, as summands."""

    def __init__(self, chosen: Sequence[Pair], draws: Resampler, crew: Crew, progress: Progress) -> None:
        shares = crew.split([(pair.a, pair.b) for pair in chosen])
        parts = list(crew.share(_residuals, _Votes(chosen[0].tally, draws), shares, progress=progress))
        summands = np.concatenate([summands for summands, _ in parts], axis=1).reshape(-1, draws.units)
        sizes = [_by_unit(draws, pair, np.ones(pair.n)) for pair in chosen]
        self.columns = compact(np.concatenate([summands, sizes]).T.copy())
        self.scale = np.concatenate([scales for _, scales in parts], axis=1).reshape(-1)
        self.cells = len(self.scale)
        self.pairs = len(chosen)
        full = np.abs(self.residuals(self.columns.sum(axis=0, dtype=np.float64)))
        place, which = divmod(int(np.nanargmax(full)), self.pairs)
        worst = chosen[which]
        self.largest = {"primary": worst.primary, "secondary": worst.secondary, "weight": str(PAPER_GRID[place])}

    def residuals(self, sums: Floats) -> Floats:
        """Residuals of all cells (weights x pairs, flat) from weighted sums of the columns."""
        n = np.tile(sums[..., -self.pairs :], len(PAPER_GRID)).astype(np.float64)
        with np.errstate(invalid="ignore"):
            found: Floats = sums[..., : -self.pairs] / (n * self.scale)
        return found

    def statistics(self, sums: Floats) -> Floats:
        """The numbers of ON_GRID in each draw."""
        residual = self.residuals(sums)
        centre = mean(residual)
        spread = np.sqrt(mean((residual - centre[..., None]) ** 2))
        return np.stack([centre, mean(np.abs(residual)), spread, np.nanmax(np.abs(residual), axis=-1)], axis=-1)


@dataclass(frozen=True)
class _Votes:
    """What it takes to follow a pair over the grid."""

    tally: Tally
    draws: Resampler


def _residuals(votes: _Votes, places: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
    """What each unit adds to the residual at every weight of the grid of these pairs (weights first), and scales."""
    summands = np.empty((len(PAPER_GRID), len(places), votes.draws.units))
    scales = np.empty(summands.shape[:2])
    for which, (a, b) in enumerate(places):
        pair = Pair(votes.tally, a, b)
        for place, weight in enumerate(PAPER_GRID):
            gains, top = pair.gains(weight)
            residual, scale = reduced(gains[2] + gains[3], top)
            grid = grid_for(scale, pair.n)
            summands[place, which] = _by_unit(votes.draws, pair, rounded(residual, scale, grid))
            scales[place, which] = grid or scale
    return summands, scales


def _by_unit(draws: Resampler, pair: Pair, values: Ints | Floats) -> Floats:
    """Sum what a pair's common questions add, unit by unit."""
    sums = np.zeros(draws.units)
    np.add.at(sums, draws.member[pair.common], values.astype(np.float64))
    return sums


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
