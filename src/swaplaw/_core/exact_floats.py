"""Whole numbers held as floats, narrow enough for BLAS and wide enough that no sum is ever rounded.

Sums of whole numbers below 2^53 are exact in 64-bit floats (below 2^24 in 32-bit ones), so a matrix product of them
is exact whatever the order in which a library adds.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from swaplaw._core.arrays import Floats, Ints


def reduced(values: Ints, scale: int) -> tuple[Ints, int]:
    """Cancel what all values and their scale have in common."""
    shared = gcd(scale, int(np.gcd.reduce(values, axis=None)))
    return values // shared, scale // shared


def grid_for(scale: int, n: int) -> int:
    """0 where sums of n terms on this scale are exact in a float; else a power of two to round the terms to.

    Only ties of many different sizes need that (their least common multiple explodes). Rounding terms, not sums, keeps
    sums exact; the few bits to spare are for clusters of very different sizes.
    """
    return 0 if n * scale < 2**48 else int(2 ** (48 - n.bit_length()))


def rounded(values: Ints, scale: int, grid: int) -> Ints:
    """Bring values from their scale to the nearest points of the grid, if there is one."""
    if not grid:
        return values
    rounded: Ints = (values.astype(object) * (2 * grid) + scale) // (2 * scale)
    return rounded


def compact(columns: Floats) -> Floats:
    """Hold columns in 32 bits where even then no weighted sum can be rounded: products run twice as fast."""
    largest = len(columns) * float(np.abs(columns).max(initial=0))
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)
