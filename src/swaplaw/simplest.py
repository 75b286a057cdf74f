"""The simplest weights of a cone: the smallest whole numbers that lie in it.

For two members these are the simplest fraction of an interval, the first of the Stern-Brocot tree inside it; for
more, the whole numbers with the smallest sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from swaplaw.cone import Cone, Ray, product
from swaplaw.rows import Ints

# Cones too thin to hold a point with a sum up to this are answered by some point inside.
LARGEST_SUM = 2**15


def simplest(cone: Cone, walls: Ints, levels: Ints) -> Iterator[Ray]:
    """Yield the whole-number points where `walls` are positive and `levels` zero, which is `cone`.

    They come by rising sum, equal sums by falling first number (smallest total of the others), and last comes some
    point inside.
    """
    touching = walls[(product(walls, cone.matrix) == 0).any(axis=1)]
    normals = np.concatenate([touching, levels, -levels])
    # Whole numbers that are positive are at least 1.
    least = np.array([1] * len(touching) + [0] * (2 * len(levels)))
    first, last = 1, 4
    while first <= LARGEST_SUM:
        points = _points(cone, normals, least, np.arange(first, last + 1))
        order = np.lexsort((*points[:, 1:].T[::-1], -points[:, 0], points.sum(axis=1)))
        for point in points[order]:
            yield tuple(map(int, point))
        first, last = last + 1, 2 * last
    yield cone.inside


def _points(cone: Cone, normals: Ints, least: Ints, sums: Ints) -> Ints:
    """All points of these sums: run through all coordinates but two, and solve for those."""
    size = len(cone.rays[0])
    partial = np.empty((len(sums), 0), dtype=np.int64)
    for coordinate in range(size - 2):
        shares = [Fraction(ray[coordinate], sum(ray)) for ray in cone.rays]
        low, high = _between(min(shares), max(shares), sums)
        partial, sums = _spread(partial, sums, low, high)
    rest = sums - partial.sum(axis=1)
    # With n the last coordinate but one and rest - n the last, each plane bounds n.
    fixed = least - product(partial, normals[:, :-2].T) - product(rest[:, None], normals[:, -1:].T)
    slope = normals[:, -2] - normals[:, -1]
    low, high = np.zeros_like(rest), rest.copy()
    for column, rise in zip(fixed.T, slope, strict=True):
        if rise > 0:
            low = np.maximum(low, -(-column // rise))
        elif rise < 0:
            high = np.minimum(high, -column // -rise)
        else:
            high = np.where(column > 0, -1, high)
    partial, rest = _spread(partial, rest, low, high)
    return np.column_stack([partial, rest - partial[:, -1]])


def _between(low: Fraction, high: Fraction, sums: Ints) -> tuple[Ints, Ints]:
    """The whole numbers between two shares of each sum."""
    reach = max(low.numerator, high.numerator, low.denominator, high.denominator) * int(sums[-1] if len(sums) else 0)
    exact = sums if reach < 2**62 else sums.astype(object)
    return (
        (-(-exact * low.numerator // low.denominator)).astype(np.int64),
        (exact * high.numerator // high.denominator).astype(np.int64),
    )


def _spread(partial: Ints, sums: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Add a coordinate that runs from `low` to `high`."""
    number = np.maximum(high - low + 1, 0)
    row = np.repeat(np.arange(len(sums)), number)
    value = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number) + low[row]
    return np.column_stack([partial[row], value]), sums[row]
