"""How often each unit is drawn when as many are drawn, with replacement, as there are units.

Drawing is most of the work of a bootstrap, so it is done without drawing units one by one. Independent Poisson counts
that add up to m are m units drawn at random; drawing the missing ones at random makes it as many as there are units.
The rate is a little below one, so that hardly ever too many are drawn (those replicates are drawn again, which favours
no outcome); with few units it is 0, and all are drawn one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw.rows import Ints

Counts = npt.NDArray[np.uint8]
"""A byte is enough: the chance that one of n units is drawn more than 255 times is below 1 / 255!."""

_MARGIN = 5.0
"""Standard deviations by which the Poisson counts stay below the number of units."""
_CELLS = 2**16
_ESCAPE = _CELLS - 1


def multinomial(source: np.random.SFC64, units: int, replicates: int, margin: float = _MARGIN) -> Counts:
    """Draw `units` of as many units in each replicate (an even number of them): units x replicates."""
    pairs = _PoissonPairs.of_rate(max(0.0, 1 - margin / sqrt(units)))
    counts = pairs.draw(source, units, replicates)
    while (over := (missing := units - _totals(counts)) < 0).any():
        counts[:, over] = pairs.draw(source, units, replicates)[:, over]
    drawn = uniform(source, units, int(missing.sum()))
    np.add.at(counts.reshape(-1), drawn * replicates + np.repeat(np.arange(replicates), missing), np.uint8(1))
    return counts


def _totals(counts: Counts) -> Ints:
    totals: Ints = counts.sum(axis=0, dtype=np.uint32).astype(np.int64)  # narrower sums take half the time
    return totals


@dataclass(frozen=True)
class _PoissonPairs:
    """Two Poisson counts at a time from 16 random bits, by a table of what they mean.

    A pair of counts has as many cells of the table as its chance fills wholly. Cells left over send on to `rest`, where
    what is left of the chances decides by a full-size random number: so chances are as exact as floats are.
    """

    table: npt.NDArray[np.uint16]
    values: npt.NDArray[np.uint16]
    rest: npt.NDArray[np.float64]
    """Running sum of the chances left over."""

    @staticmethod
    @lru_cache(maxsize=8)
    def of_rate(rate: float) -> _PoissonPairs:
        """Make the table for counts of one rate."""
        chances = [exp(-rate)]
        while chances[-1] > 2**-60:
            chances.append(chances[-1] * rate / len(chances))
        cells = np.outer(chances, chances).ravel() * _CELLS
        high, low = np.divmod(np.arange(len(cells)), len(chances))
        values = (high * 256 + low).astype(np.uint16)
        whole = cells.astype(np.int64)
        table = np.full(_CELLS, _ESCAPE, dtype=np.uint16)
        table[: whole.sum()] = np.repeat(values, whole)
        return _PoissonPairs(table, values, np.cumsum(cells - whole))

    def draw(self, source: np.random.SFC64, units: int, replicates: int) -> Counts:
        """Draw units x replicates independent counts."""
        pairs = self.table.take(_bits(source, units * replicates // 2, np.uint16))
        escaped = np.flatnonzero(pairs == _ESCAPE)
        places = np.random.Generator(source).random(len(escaped)) * self.rest[-1]
        pairs[escaped] = self.values[np.searchsorted(self.rest, places, side="right")]
        return pairs.view(np.uint8).reshape(units, replicates)


def uniform(source: np.random.SFC64, below: int, size: int) -> Ints:
    """Whole numbers from 0 to `below` - 1, each as likely as any other to within 2^-32.

    Scaling 32 random bits takes half the time of NumPy's own way, which draws again for the last of those 2^-32.
    """
    bits = _bits(source, size, np.uint32).astype(np.uint64)
    bits *= np.uint64(below)
    bits >>= np.uint64(32)
    return bits.view(np.int64)


def _bits(source: np.random.SFC64, size: int, dtype: type[np.unsignedinteger[Any]]) -> npt.NDArray[Any]:
    """Random whole numbers of a size in bits."""
    each = 8 // np.dtype(dtype).itemsize
    return source.random_raw(-(-size // each)).view(dtype)[:size]
