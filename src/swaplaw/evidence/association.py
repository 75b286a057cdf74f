"""How well one number per pair goes with another: R2, Spearman's rho and RMSE, for many draws at once.

Pairs are along the last axis; those for which either number is undefined (NaN) are left out. A correlation is
undefined where fewer than two pairs are left or where either number never varies.
"""

from __future__ import annotations

import numpy as np

from swaplaw._core.arrays import Floats, Ints


def r2(x: Floats, y: Floats) -> Floats:
    """Squared Pearson correlation."""
    squared: Floats = _pearson(*_both_defined(x, y)) ** 2
    return squared


def rho(x: Floats, y: Floats) -> Floats:
    """Spearman's rank correlation, with average ranks for ties."""
    x, y = _both_defined(x, y)
    return _pearson(average_ranks(x), average_ranks(y))


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


def average_ranks(x: Floats) -> Floats:
    """Rank from 0, ties sharing the average; NaN stay NaN."""
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=-1)
    place = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
    new = np.ones(x.shape, dtype=bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    # Seen from the end, a group's last place is where the group after it begins, less one.
    ends = np.ones(x.shape, dtype=bool)
    ends[..., :-1] = new[..., 1:]
    last = np.minimum.accumulate(np.where(ends, place, x.shape[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=-1)
    return np.where(np.isnan(x), np.nan, ranks)


def _both_defined(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Forget a pair's numbers where either is missing."""
    x, y = np.broadcast_arrays(x, y)
    undefined = np.isnan(x) | np.isnan(y)
    return np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)


def _pearson(x: Floats, y: Floats) -> Floats:
    """Pearson correlation of numbers that are undefined together."""
    u, v = _centred(x), _centred(y)
    with np.errstate(invalid="ignore"):
        found: Floats = np.nansum(u * v, axis=-1) / np.sqrt(np.nansum(u * u, axis=-1) * np.nansum(v * v, axis=-1))
    return np.clip(found, -1, 1)


def _centred(x: Floats) -> Floats:
    """Subtract the mean; exactly nothing is left of numbers that are all equal."""
    ends = np.where(np.isnan(x), -np.inf, x).max(axis=-1), np.where(np.isnan(x), np.inf, x).min(axis=-1)
    centre = np.where(ends[0] == ends[1], ends[0], mean(x))
    return x - centre[..., None]
