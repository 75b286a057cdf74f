"""How well one number per pair goes with another: R2, Spearman's rho and RMSE, for many samples at once.

Pairs are along the last axis; those for which either number is undefined (NaN) are left out. A correlation is
undefined where fewer than two pairs are left or where either number never varies.
"""

from __future__ import annotations

from math import nan, prod, sqrt, tanh

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw.evidence.interval import LEVEL, student

LEAST_MODELS = 6
"""With fewer models, leaving one out leaves too few pairs to rank."""
NEARLY_ONE = 0.999999
ROUNDING = 2.0**-40
"""Numbers of a fleet that differ by less than this part of the largest differ by rounding only."""


def r2(x: Floats, y: Floats) -> Floats:
    """Squared Pearson correlation."""
    squared: Floats = _pearson(*_both_defined(x, y)) ** 2
    return squared


def rho(x: Floats, y: Floats) -> Floats:
    """Spearman's rank correlation, with average ranks for ties.

    >>> float(rho(np.array([1.0, 5.0, 2.0]), np.array([0.1, 0.2, 0.4])))
    0.5
    """
    x, y = _both_defined(x, y)
    return _pearson(average_ranks(x), average_ranks(y))


def average_ranks(x: Floats) -> Floats:
    """Rank from 0, ties sharing the average; NaN stay NaN.

    Numbers that differ in their last bits only are ties: phi, say, is a quotient with a square root, and equal ones
    come out a bit apart where the masses behind them differ.
    """
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    order = np.argsort(rows, axis=1)  # NaN go last
    ordered = np.take_along_axis(rows, order, axis=1)
    size = np.nanmax(np.abs(rows), axis=1, initial=0, keepdims=True)
    with np.errstate(invalid="ignore"):
        new = ~(np.diff(ordered, axis=1, prepend=-np.inf) <= ROUNDING * size)
    group = np.cumsum(new.reshape(-1)) - 1
    place = np.broadcast_to(np.arange(x.shape[-1]), rows.shape).reshape(-1)
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (np.bincount(group, place) / np.bincount(group))[group].reshape(rows.shape), axis=1)
    return np.where(np.isnan(x), np.nan, ranks.reshape(x.shape))


def over_models(
    x: Floats, y: Floats, first: Ints, second: Ints, *, level: float = LEVEL
) -> tuple[float, float, float, Floats]:
    """Find Spearman's rho over pairs, its interval for other models of the same kind, and rho without each model.

    Pairs that share a model are not independent: what varies is the models. Each is left out in turn, and the
    jackknife's standard error of Fisher's z, with Student's quantile, gives the interval. The jackknife counts what is
    peculiar to a pair twice, once for each model; that part, at most the variance of as many independent pairs, is
    taken off again.

    Parameters
    ----------
    x, y
        Two numbers for each pair (last axis); of several samples (first axis) the mean of rho is taken.
    first, second
        The two models of each pair.
    level
        Confidence level.

    Returns
    -------
    tuple of three floats and an array
        Rho, the ends of the interval, NaN for fewer than `LEAST_MODELS` models, and rho without each model.
    """
    x, y = np.atleast_2d(x), np.atleast_2d(y)
    models = np.unique(np.concatenate([first, second]))
    kept = [(first != model) & (second != model) for model in models]
    without = np.array([mean(rho(x[:, own], y[:, own])) for own in kept])
    whole = float(mean(rho(x, y)))
    many = len(models)
    if many < LEAST_MODELS or np.isnan(without).any() or np.isnan(whole):
        return whole, nan, nan, without
    moved = fisher(without, most=0.999)
    variance = (many - 1) / many * float(((moved - moved.mean()) ** 2).sum())
    once = max(variance - 1 / (int(count((x + y)[0])) - 3), variance / 2)
    reach = student(many - 1, (1 - level) / 2) * sqrt(once)
    centre = float(fisher(np.array(whole), most=0.999))
    return whole, tanh(centre - reach), tanh(centre + reach), without


def fisher(correlation: Floats, most: float = NEARLY_ONE) -> Floats:
    """Fisher's z; correlations of 1 would be infinitely far out, so they count as nearly 1."""
    return np.arctanh(np.clip(correlation, -most, most))


def rmse(x: Floats, y: Floats) -> Floats:
    """Root of the mean squared difference."""
    return np.sqrt(mean((x - y) ** 2))


def slope(x: Floats, y: Floats) -> Floats:
    """Slope of the regression of y on x through the origin."""
    x, y = _both_defined(x, y)
    with np.errstate(invalid="ignore"):
        found: Floats = np.nansum(x * y, axis=-1) / np.nansum(x * x, axis=-1)
    return found


def mean(x: Floats) -> Floats:
    """Mean over the pairs that define x, NaN where none does."""
    with np.errstate(invalid="ignore"):
        found: Floats = np.nansum(x, axis=-1) / count(x)
    return found


def count(x: Floats) -> Ints:
    """How many pairs define x."""
    defined: Ints = (~np.isnan(x)).sum(axis=-1)
    return defined


def _both_defined(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Forget a pair's numbers where either is missing."""
    x, y = np.broadcast_arrays(x, y)
    undefined = np.isnan(x) | np.isnan(y)
    return np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)


def _pearson(x: Floats, y: Floats) -> Floats:
    """Pearson correlation of numbers that are undefined together."""
    u, v = _deviations(x), _deviations(y)
    with np.errstate(invalid="ignore"):
        found: Floats = np.nansum(u * v, axis=-1) / np.sqrt(np.nansum(u * u, axis=-1) * np.nansum(v * v, axis=-1))
    return np.clip(found, -1, 1)


def _deviations(x: Floats) -> Floats:
    """Distances from the mean; exactly nothing is left of numbers that are all equal."""
    least = np.where(np.isnan(x), np.inf, x).min(axis=-1, initial=np.inf)
    greatest = np.where(np.isnan(x), -np.inf, x).max(axis=-1, initial=-np.inf)
    centre = np.where(least == greatest, greatest, mean(x))
    return x - centre[..., None]
