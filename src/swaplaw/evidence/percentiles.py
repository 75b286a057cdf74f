"""Intervals from bootstrap replicates, for what is not a mean: expanded percentile (the default), percentile and BCa.

A percentile interval from n units is too narrow by about sqrt((n - 1) / n), and takes a normal quantile where
Student's belongs: with ten clusters a nominal 95% covers about 90%. The expanded percentile interval (Hesterberg,
"What teachers should know about the bootstrap", 2015) takes percentiles further out by just that much; with thousands
of questions it is the percentile interval. BCa (Efron 1987) corrects bias and skewness, not small n.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import isnan, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.threads import in_threads
from swaplaw.errors import InputError
from swaplaw.evidence.interval import LEVEL, Interval, check_level, student

Method = Literal["expanded", "percentile", "bca", "student"]
METHODS: tuple[Method, ...] = ("expanded", "percentile", "bca")
"""Ways to read an interval off bootstrap replicates; means have their own, "student" (see `interval`)."""

_NORMAL = NormalDist()


def as_interval(low: float, high: float, level: float, method: Method) -> Interval | None:
    """Make an interval of two bounds; None where no replicate was defined."""
    return None if isnan(low) or isnan(high) else Interval(float(low), float(high), level, method)


def bounds(
    replicates: Floats,
    *,
    units: int,
    level: float = LEVEL,
    method: Method = "expanded",
    estimate: Floats | None = None,
    jackknife: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Find the ends of many intervals at once; replicates are along the last axis, NaN where undefined.

    They are put in another order along that axis, in place: there may be hundreds of megabytes of them.
    BCa needs also the full-sample estimates and the jackknife values (along their last axis).
    """
    if method not in METHODS:
        raise InputError(f"there is no interval method {method!r}; there are {', '.join(METHODS)}")
    check_level(level)
    tail = (1 - level) / 2
    if method == "bca":
        if estimate is None or jackknife is None:
            raise ValueError("BCa needs the estimates and the jackknife")
        shares = _bca_shares(replicates, estimate, jackknife, tail)
    else:
        z = _expanded(units, tail) if method == "expanded" else -_NORMAL.inv_cdf(tail)
        shares = np.array(_NORMAL.cdf(-z)), np.array(_NORMAL.cdf(z))
    return _quantile(replicates, shares[0]), _quantile(replicates, shares[1])


def _quantile(replicates: Floats, share: Floats) -> Floats:
    """Read a quantile of each row's defined values, interpolating between neighbours."""
    if share.ndim == 0 and replicates.ndim > 2:
        # One by one, so that each fits the cache, and at once, because NumPy partitions without holding up others.
        return np.stack(in_threads(partial(_quantile, share=share), replicates))
    if share.ndim == 0 and not np.isnan(np.min(replicates)):
        return _partition_quantile(replicates, float(share))
    defined = np.maximum((~np.isnan(replicates)).sum(axis=-1), 1)
    place = share * (defined - 1)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, defined - 1)
    replicates.sort(axis=-1)  # NaN go last
    low, high = (np.take_along_axis(replicates, index[..., None], axis=-1)[..., 0] for index in (below, above))
    return _between(low, high, place - below)


def _partition_quantile(replicates: Floats, share: float) -> Floats:
    """The same place in every row: partitioning is several times faster than sorting."""
    place = share * (replicates.shape[-1] - 1)
    below = int(place)
    replicates.partition(below, axis=-1)
    low = replicates[..., below].copy()
    high = replicates[..., below + 1 :].min(axis=-1) if place > below else low
    return _between(low, high, place - below)


def _between(low: Floats, high: Floats, part: Floats | float) -> Floats:
    # Written so that two equal neighbours give themselves, not something a rounding away.
    between: Floats = low + (high - low) * part
    return between


def _bca_shares(replicates: Floats, estimate: Floats, jackknife: Floats, tail: float) -> tuple[Floats, Floats]:
    """Where BCa reads its percentiles, from the bias z0 and the acceleration a."""
    at = np.asarray(estimate)[..., None]
    defined = np.maximum((~np.isnan(replicates)).sum(axis=-1), 1)
    # Replicates equal to the estimate count half: statistics of votes are discrete.
    share = ((replicates < at).sum(axis=-1) + (replicates <= at).sum(axis=-1)) / (2 * defined)
    # All replicates on one side would put z0 at infinity: as if half a replicate were on the other.
    share = np.clip(share, 0.5 / defined, 1 - 0.5 / defined)
    bias = np.vectorize(_NORMAL.inv_cdf, otypes=[float])(share)
    acceleration = _acceleration(jackknife)
    low, high = (
        np.vectorize(_NORMAL.cdf, otypes=[float])(bias + (bias + z) / (1 - acceleration * (bias + z)))
        for z in (_NORMAL.inv_cdf(tail), -_NORMAL.inv_cdf(tail))
    )
    return low, high


def _acceleration(jackknife: Floats) -> Floats:
    """Skewness of the jackknife, over six; 0 where nothing varies."""
    known = ~np.isnan(jackknife)
    filled = np.where(known, jackknife, 0)
    mean = filled.sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
    deviation = np.where(known, mean[..., None] - filled, 0)
    spread = (deviation**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0, (deviation**3).sum(axis=-1) / (6 * spread**1.5), 0.0)


@lru_cache
def _expanded(units: int, tail: float) -> float:
    """The normal quantile to read percentiles at: Student's, widened by the bias of the plug-in variance."""
    return student(units - 1, tail) * sqrt(units / (units - 1))
