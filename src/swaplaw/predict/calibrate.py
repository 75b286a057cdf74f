"""Calibrating the heuristic (the paper's Section "Calibrating the Heuristic at 40:60").

alpha-bar and gamma-bar are means over the pairs of a dataset; lambda is the slope of lift on swap mass through the
origin; the residual, what the swap mass leaves out, is followed over the whole grid of weights. Intervals come from
the jackknife: everything is calibrated anew without each part of the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isnan, sqrt
from typing import Any

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.errors import InputError, quote
from swaplaw.evidence.association import count, mean, r2, rho, rmse, slope
from swaplaw.evidence.interval import LEVEL, Interval
from swaplaw.evidence.jackknife import PARTS, Parts, jackknife, parts_of
from swaplaw.evidence.quantities import Quantities, quantities_of, sums_of
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.spans import Spans, batches, own_scores, spans_of_batch
from swaplaw.law.weights import DEFAULT_WEIGHT, PAPER_GRID, as_weight
from swaplaw.predict.law_file import Law
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.provenance import fingerprint_of
from swaplaw.votes.tally import Tally, tie_credit

AT_WEIGHT = ("alpha", "gamma", "lambda", "residual_at_weight_mean", "residual_at_weight_sd", "r2", "rho", "rmse")
ON_GRID = ("residual_mean", "residual_mean_absolute", "residual_sd", "residual_max")
INFLATED = ("residual_at_weight_sd", "r2", "rmse", "residual_mean_absolute", "residual_sd")
"""What noise makes larger: pairs that are equal in truth differ in a sample."""
ROOTS = ("residual_at_weight_sd", "rmse", "residual_sd")
"""What is worked out as a square, so that the noise in it can be taken off."""
NONE = ("residual_max",)
"""The largest of very many numbers is largely luck: no interval of it holds what it says."""
LIMITS = {"r2": (0.0, 1.0), "rho": (-1.0, 1.0), "alpha": (-1.0, 1.0), "gamma": (-1.0, 1.0)} | dict.fromkeys(
    ("residual_mean_absolute", *ROOTS), (0.0, 1.0)
)
"""What numbers cannot go beyond."""
WEIGHTS = len(PAPER_GRID)


def calibrate(
    votes: VotesLike,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = PARTS,
    level: float = LEVEL,
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
    seed, replicates : int
        How units are dealt into parts, each of which is left out once.
    level : float
        Level of the intervals.

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
    >>> law = sl.calibrate(sl.demo_votes(), "2/3")
    >>> round(law.alpha, 3), round(law.gamma, 3)
    (0.335, 0.138)
    """
    tally, x = inputs.tally(votes), as_weight(weight)
    parts, chosen = parts_of(tally, by=by, seed=seed, replicates=replicates), list(pairs(tally))
    parts.warn_few()
    sums = sums_of(chosen, x, parts)
    whole = Quantities(sums.sum(axis=0, keepdims=True), x)
    defined = _defined(tally, whole)
    here = _judged(AT_WEIGHT, sums, partial(_at_weight, x), level)
    residuals = residual_sums(chosen, parts)
    over = _judged(ON_GRID, np.concatenate([sums[:, :1], residuals], axis=1), _on_grid, level)
    lift = whole.lift[0]
    return Law(
        x,
        here["alpha"][0],
        here["gamma"][0],
        _known(here["lambda"][0]),
        {name: ends for name, (_, ends) in (here | over).items()},
        {
            **{name.removeprefix("residual_"): value for name, (value, _) in over.items()},
            "max_at": _largest(chosen, residuals.sum(axis=0) / whole.n),
            "cells": WEIGHTS * len(chosen),
            "at_weight": {
                "mean": here["residual_at_weight_mean"][0],
                "sd": here["residual_at_weight_sd"][0],
                "lift_sd": float(lift.std()),
            },
        },
        {"baseline_rmse": float(rmse(lift, 0 * lift))}
        | {name: _known(here[name][0]) for name in ("r2", "rho", "rmse")},
        _provenance(tally, parts, len(chosen), defined),
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _judged(
    names: Sequence[str], sums: Floats, statistic: Callable[[Floats], Floats], level: float
) -> dict[str, tuple[float, Interval | None]]:
    """Numbers with their intervals by name; squares become what they are squares of."""
    least, most = np.array([LIMITS.get(name, (-np.inf, np.inf)) for name in names]).T
    found = jackknife(sums, statistic, level=level, inflated=np.isin(names, INFLATED), least=least, most=most)
    named = {}
    for place, name in enumerate(names):
        value, ends = float(found.values[place]), None if name in NONE else found[place].interval
        if name in ROOTS:
            value, ends = sqrt(value), ends and replace(ends, low=sqrt(ends.low), high=sqrt(ends.high))
        named[name] = value, ends
    return named


def mean_rates(tally: Tally, weight: str | float | Fraction = DEFAULT_WEIGHT) -> tuple[float, float]:
    """alpha-bar and gamma-bar alone: what predicting needs, without intervals, residual and fit."""
    found = quantities_of(list(pairs(tally)), weight)
    _defined(tally, found)
    return float(mean(found.alpha[0])), float(mean(found.gamma[0]))


def _defined(tally: Tally, found: Quantities) -> dict[str, int]:
    """How many pairs define each rate; there is no law without one."""
    defined = {"alpha": int(count(found.alpha[0])), "gamma": int(count(found.gamma[0]))}
    for rate, cell in (("alpha", "rescue"), ("gamma", "damage")):
        if not defined[rate]:
            raise InputError(
                f"no pair of dataset {quote(tally.dataset)} has any {cell} mass, so {rate} cannot be calibrated: "
                "the models are right and wrong on the same questions"
            )
    return defined


def _at_weight(x: Fraction, sums: Floats) -> Floats:
    """The numbers of AT_WEIGHT (squares of ROOTS), calibrated on each sample."""
    found = Quantities(sums, x)
    alpha, gamma = mean(found.alpha), mean(found.gamma)
    lift, residual = found.lift, found.residual
    predicted = found.masses.predicted_swap(alpha[:, None], gamma[:, None])
    fit = r2(predicted, lift), rho(predicted, lift), rmse(predicted, lift) ** 2
    return np.stack([alpha, gamma, slope(found.swap, lift), mean(residual), residual.var(axis=-1), *fit], axis=-1)


def residual_sums(chosen: Sequence[Pair], parts: Parts) -> Floats:
    """What repair less corruption adds up to, for every pair at every weight of the grid: parts x weights x pairs.

    A question adds to a pair's residual where both models are wrong, or both right, and the vote changes that. Gold
    leads it on one span of weights, so from one weight of the grid to the next few questions change.
    """
    found = np.empty((parts.replicates, WEIGHTS, len(chosen)))
    first = 0
    for batch in batches(chosen):
        last = first + len(batch)
        found[:, :, first:last] = _residuals(batch, parts)
        first = last
    return found


def _residuals(batch: Sequence[Pair], parts: Parts) -> Floats:
    """The same for pairs that share a table of breakpoints."""
    breaks, spans, owner = spans_of_batch(batch)
    tally, question, copies = batch[0].tally, spans.row, np.ones(1)
    credit = np.array([0.0, *(tie_credit(1.0, size) for size in range(1, tally.rivals.rows.height + 2))])
    (alone, _), (a, b) = own_scores(tally, batch, owner, spans.row, credit)
    if tally.rights is not None:
        question, copies = (fact.take(spans.row) for fact in (tally.rights.question, tally.rights.copies))
    weight = ((1 - a) * (1 - b) + a * b) * copies
    cell = parts.member[question] * len(batch) + owner
    width = parts.replicates * len(batch)

    def added(place: Any, values: Floats) -> Floats:
        counted = np.flatnonzero(values)
        here = place[counted] * width + cell[counted] if isinstance(place, np.ndarray) else cell[counted]
        return np.bincount(here, values[counted], (WEIGHTS + 1) * width).astype(np.float64)

    steps = added(0, -alone * weight)
    for place, score in _steps(spans, np.array([breaks.slot(each) for each in PAPER_GRID])):
        steps += added(place, score * weight)
    by_weight = steps.reshape(WEIGHTS + 1, parts.replicates, len(batch))[:WEIGHTS]
    return by_weight.cumsum(axis=0).swapaxes(0, 1)


def _steps(spans: Spans, slots: Any) -> list[tuple[Any, Floats]]:
    """From which of some slots on, rising, each question's score changes, and by how much."""
    at_low, inside, at_high = (np.asarray(tie_credit(1.0, ties), dtype=np.float64) for ties in spans.ties)
    point = spans.low == spans.high
    inside, at_high = np.where(point, at_low, inside), np.where(point, at_low, at_high)
    changes = at_low, inside - at_low, at_high - inside, -at_high
    places = ((spans.low, "left"), (spans.low, "right"), (spans.high, "left"), (spans.high, "right"))
    return [
        (np.searchsorted(slots, bound, side), change)  # type: ignore[call-overload]
        for (bound, side), change in zip(places, changes, strict=True)
    ]


def _on_grid(sums: Floats) -> Floats:
    """The numbers of ON_GRID (squares of ROOTS) in each sample, from questions and residuals: samples x 26 x pairs."""
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = (sums[:, 1:] / sums[:, :1]).reshape(len(sums), -1)
    size = np.abs(residual)
    spread = mean((residual - mean(residual)[:, None]) ** 2)
    return np.stack([mean(residual), mean(size), spread, np.nanmax(size, axis=1)], axis=-1)


def _largest(chosen: Sequence[Pair], residual: Floats) -> dict[str, str]:
    """Where the largest residual is (weights x pairs): the first such weight, and its first pair."""
    weight, place = divmod(int(np.abs(residual).argmax()), len(chosen))
    worst = chosen[place]
    return {"primary": worst.primary, "secondary": worst.secondary, "weight": str(PAPER_GRID[weight])}


def _provenance(tally: Tally, parts: Parts, number: int, defined: dict[str, int]) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "dataset": tally.dataset,
        "fingerprint": fingerprint_of(tally),
        "models": list(tally.models),
        "questions": len(tally.questions),
        "pairs": number,
        "pairs_defining": defined,
        "resampled": parts.to_dict(),
        "swaplaw": version("swaplaw"),
    }
