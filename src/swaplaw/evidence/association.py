"""How well one number per pair goes with another: R2, Spearman's rho and RMSE, for many draws at once.

Pairs are along the last axis; those for which either number is undefined (NaN) are left out. A correlation is
undefined where fewer than two pairs are left or where either number never varies.
"""

from __future__ import annotations

from functools import cached_property
from math import nan, sqrt, tanh

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw.evidence.interval import LEVEL, student


class Against:
    """One number per pair that many others are correlated with: it is centred and ranked once.

    Parameters
    ----------
    y
        The number, pairs along the last axis.

    Examples
    --------
    >>> lift = Against(np.array([0.1, 0.2, 0.4]))
    >>> float(lift.rho(np.array([1.0, 5.0, 2.0])))
    0.5
    """

    def __init__(self, y: Floats) -> None:
        self.y = y
        self.defined = not np.isnan(y).any()

    @cached_property
    def varies(self) -> bool:
        """Whether it does in any draw: nothing correlates with what does not."""
        return not (self.defined and bool((self.y == self.y[..., :1]).all()))

    @cached_property
    def _plain(self) -> tuple[Floats, Floats]:
        return _deviations(self.y)

    @cached_property
    def _ranked(self) -> tuple[Floats, Floats]:
        return _deviations(average_ranks(self.y))

    def r2(self, x: Floats) -> Floats:
        """Squared Pearson correlation with another number."""
        if not self.varies:
            return self._undefined(x)
        if self._together(x):
            correlation = _pearson(_deviations(x), self._plain)
        else:
            x, y = _both_defined(x, self.y)
            correlation = _pearson(_deviations(x), _deviations(y))
        squared: Floats = correlation**2
        return squared

    def rho(self, x: Floats) -> Floats:
        """Spearman's rank correlation with another number, with average ranks for ties."""
        if not self.varies:
            return self._undefined(x)
        if self._together(x):
            return self._rank_correlation(_Order(x))
        x, y = _both_defined(x, self.y)
        return _pearson(_deviations(average_ranks(x)), _deviations(average_ranks(y)))

    def _rank_correlation(self, order: _Order) -> Floats:
        """Pearson's correlation of ranks: they are never laid out, as all but tied ones are known beforehand.

        Ranks are whole and half numbers, so that no sum here is rounded, whatever the order of addition.
        """
        deviations, squares = self._ranked
        own = deviations.reshape(-1).take(order.place)
        number = own.shape[-1]
        products = own @ (np.arange(number) - (number - 1) / 2)
        products += order.by_row(order.shift * own.reshape(-1)[order.tied])
        own_squares = (number**3 - number) / 12 - order.by_row(order.shift**2)
        with np.errstate(invalid="ignore"):
            found: Floats = products / np.sqrt(own_squares * squares)
        return np.clip(found, -1, 1)

    def _undefined(self, x: Floats) -> Floats:
        return np.full(np.broadcast_shapes(x.shape, self.y.shape)[:-1], np.nan)

    def _together(self, x: Floats) -> bool:
        """Whether every pair has both numbers."""
        return self.defined and x.shape == self.y.shape and not np.isnan(x).any()


def r2(x: Floats, y: Floats) -> Floats:
    """Squared Pearson correlation."""
    return Against(y).r2(x)


def rho(x: Floats, y: Floats) -> Floats:
    """Spearman's rank correlation, with average ranks for ties."""
    return Against(y).rho(x)


def over_models(
    x: Floats, y: Floats, first: Ints, second: Ints, *, level: float = LEVEL
) -> tuple[float, float, Floats]:
    """Interval of Spearman's rho over pairs for other models of the same kind, and rho without each model.

    Pairs that share a model are not independent: what varies is the models. Each is left out in turn, and the
    jackknife's standard error of Fisher's z, with Student's quantile, gives the interval. The jackknife counts what is
    peculiar to a pair twice, once for each model; that part, at most the variance of as many independent pairs, is
    taken off again.

    Parameters
    ----------
    x, y
        Two numbers for each pair.
    first, second
        The two models of each pair.
    level
        Confidence level.

    Returns
    -------
    tuple of float, float and array
        The ends of the interval, NaN for fewer than `LEAST_MODELS` models, and rho without each model.
    """
    models = np.unique(np.concatenate([first, second]))
    gone = (first == models[:, None]) | (second == models[:, None])
    without = rho(np.where(gone, np.nan, x), np.broadcast_to(y, gone.shape))
    whole = float(rho(x, y))
    many = len(models)
    if many < LEAST_MODELS or np.isnan(without).any() or np.isnan(whole):
        return nan, nan, without
    moved = _fisher(without)
    variance = (many - 1) / many * float(((moved - moved.mean()) ** 2).sum())
    once = max(variance - 1 / (int(count(x + y)) - 3), variance / 2)
    reach = student(many - 1, (1 - level) / 2) * sqrt(once)
    centre = float(_fisher(np.array(whole)))
    return tanh(centre - reach), tanh(centre + reach), without


LEAST_MODELS = 6
"""With fewer models, leaving one out leaves too few pairs to rank."""
_NEARLY_ONE = 0.999


def _fisher(correlation: Floats) -> Floats:
    """Fisher's z; correlations of 1 would be infinitely far out, so they count as nearly 1."""
    return np.arctanh(np.clip(correlation, -_NEARLY_ONE, _NEARLY_ONE))


def centred_correlations(replicates: Floats, values: Floats) -> Floats:
    """Move bootstrap draws of correlations (last axis) so that their median is the estimate, on Fisher's scale.

    A draw repeats questions, so its correlations are noisier than the sample's own and lie nearer to zero: left
    as they are, their percentiles may not even contain the estimate.
    """
    z = _fisher(replicates)
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(z).all(axis=-1)
        median = np.full(z.shape[:-1], np.nan)
        median[known] = np.nanmedian(z[known], axis=-1)
    shift = np.where(np.isnan(values), np.nan, _fisher(values) - median)
    moved: Floats = np.tanh(z + shift[..., None])
    return moved


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


# Numbers of a fleet that differ by less than this part of the largest differ by rounding only.
ROUNDING = 2.0**-40


def average_ranks(x: Floats) -> Floats:
    """Rank from 0, ties sharing the average; NaN stay NaN.

    Numbers that differ in their last bits only are ties: phi, say, is a quotient with a square root, and equal ones
    come out a bit apart where the masses behind them differ.
    """
    order = _Order(x)
    ranks = np.empty(x.shape)
    ordered = np.broadcast_to(np.arange(x.shape[-1], dtype=np.float64), x.shape).copy()
    ordered.reshape(-1)[order.tied] += order.shift
    ranks.reshape(-1)[order.place] = ordered
    return np.where(np.isnan(x), np.nan, ranks)


class _Order:
    """The order of numbers along the last axis, and which of them are tied."""

    def __init__(self, x: Floats) -> None:
        x = np.ascontiguousarray(x)
        self.shape = x.shape
        number = x.shape[-1]
        rows = x.reshape(-1, number)
        self.place = _sorted_places(rows)
        self.place += number * np.arange(len(rows))[:, None]
        """Where in all of x the smallest number of a row is, then the next, and so on."""
        ordered = x.reshape(-1).take(self.place)
        size = np.maximum(ordered[:, -1:], -ordered[:, :1])
        if not np.isfinite(size).all():
            size = np.where(np.isfinite(rows), np.abs(rows), 0).max(axis=-1, initial=0, keepdims=True)
        like_last = np.zeros(rows.shape, dtype=bool)
        with np.errstate(invalid="ignore"):
            np.less_equal(np.diff(ordered, axis=-1), ROUNDING * size, out=like_last[:, 1:])
        self.tied, self.shift = _shifts(np.flatnonzero(like_last))
        self.place = self.place.reshape(x.shape)

    def by_row(self, values: Floats) -> Floats:
        """Sums of what tied numbers have, one for each row."""
        rows = int(np.prod(self.shape[:-1]))
        sums = np.bincount(self.tied // self.shape[-1], values, minlength=rows).astype(np.float64)
        return sums.reshape(self.shape[:-1])


def _sorted_places(rows: Floats) -> Ints:
    """Where the smallest number of each row is, then the next; numbers that are tied may come in any order.

    Whole numbers that hold value and place together are sorted in a third of the time of looking for the places. They
    hold values to within a fraction of what counts as tied.
    """
    number = rows.shape[-1]
    bits = max(number - 1, 1).bit_length()
    size = np.maximum(rows.max(axis=-1, initial=0), -rows.min(axis=-1, initial=0))[:, None]
    if bits > _PLACE_BITS or not (np.isfinite(size) & ((size == 0) | (size > _TINY))).all():
        return np.argsort(rows, axis=-1)
    scale = np.divide(2.0 ** (61 - bits), size, out=np.zeros_like(size), where=size > 0)
    keys: Ints = (rows * scale).astype(np.int64)
    keys <<= bits
    keys |= np.arange(number)
    keys.sort(axis=-1)
    keys &= 2**bits - 1
    return keys


_PLACE_BITS = 16
"""With more bits for places, values would be held too coarsely."""
_TINY = 1e-200


def _shifts(like_last: Ints) -> tuple[Ints, Floats]:
    """Which places are tied, and how far each is from the middle of its group, given those like the one before."""
    begins = np.flatnonzero(np.diff(like_last, prepend=-2) != 1)
    first = like_last[begins] - 1
    reach = np.diff(begins, append=len(like_last))
    within = np.arange(len(like_last) + len(first)) - np.repeat(begins + np.arange(len(first)), reach + 1)
    middle = np.repeat(reach / 2, reach + 1)
    return np.repeat(first, reach + 1) + within, middle - within


def _both_defined(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Forget a pair's numbers where either is missing."""
    x, y = np.broadcast_arrays(x, y)
    undefined = np.isnan(x) | np.isnan(y)
    return np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)


def _pearson(x: tuple[Floats, Floats], y: tuple[Floats, Floats]) -> Floats:
    """Pearson correlation of numbers that are undefined together, from their deviations and the sums of squares."""
    (u, squares_u), (v, squares_v) = x, y
    products = np.einsum("...i,...i->...", u, v)
    if np.isnan(products).any():
        products = np.nansum(u * v, axis=-1)
    with np.errstate(invalid="ignore"):
        found: Floats = products / np.sqrt(squares_u * squares_v)
    return np.clip(found, -1, 1)


def _deviations(x: Floats) -> tuple[Floats, Floats]:
    """Distances from the mean, and the sum of their squares; exactly nothing is left of numbers that are all equal."""
    if not np.isnan(x).any():
        # The same, without looking for what is not there.
        least, greatest = x.min(axis=-1), x.max(axis=-1)
        centre = np.where(least == greatest, greatest, x.sum(axis=-1) / max(x.shape[-1], 1))
        apart = x - centre[..., None]
        return apart, np.einsum("...i,...i->...", apart, apart)
    ends = np.where(np.isnan(x), -np.inf, x).max(axis=-1), np.where(np.isnan(x), np.inf, x).min(axis=-1)
    centre = np.where(ends[0] == ends[1], ends[0], mean(x))
    found = x - centre[..., None]
    return found, np.nansum(found * found, axis=-1)
