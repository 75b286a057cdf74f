"""Polyhedral cones in exact whole numbers: where the vote of a panel stays the same.

The weights of k members, up to scale, are the rays of the positive orthant, and every rival of gold on a question
is a plane through the origin that parts them. So whatever a panel's vote does is decided on cones. A cone is kept
by its extreme rays, and which planes each of them lies on; it is cut by one plane at a time (the double
description method).

The simplest weights of a cone are the smallest whole numbers in it: for two members the simplest fraction of an
interval, the first of the Stern-Brocot tree inside it; for more, the whole numbers with the smallest sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

import numpy as np

from swaplaw._core.arrays import Ints

Ray = tuple[int, ...]
"""Whole numbers; as a ray, without a common divisor."""


@dataclass(frozen=True)
class Cone:
    """All positive combinations of some rays: open within the span of its rays."""

    rays: tuple[Ray, ...]
    tight: tuple[int, ...]
    """For each ray, the planes of earlier cuts that it lies on, as bits."""
    cuts: int
    """How many planes have been counted: the next bit."""
    is_open: bool = True
    """Whether the cone has the dimension of the space, so that small changes of weight stay inside."""

    @cached_property
    def matrix(self) -> Ints:
        """The rays as the columns of a matrix."""
        return whole(self.rays).T

    @property
    def inside(self) -> Ray:
        """Some point of the cone: the sum of its rays."""
        return primitive([sum(part) for part in zip(*self.rays, strict=True)])

    def cut(self, normal: Ray) -> tuple[Cone | None, Cone | None, Cone | None]:
        """Cut by a plane: the parts where it is negative, zero and positive, None for those that are empty."""
        values = [sum(map(int.__mul__, normal, ray)) for ray in self.rays]
        above = [i for i, value in enumerate(values) if value > 0]
        below = [i for i, value in enumerate(values) if value < 0]
        if not above or not below:
            return (self, None, None) if below else (None, None, self) if above else (None, self, None)
        bit = 1 << self.cuts
        on = [(self.rays[i], self.tight[i] | bit) for i, value in enumerate(values) if value == 0]
        on += [
            (self._meet(i, j, values), (self.tight[i] & self.tight[j]) | bit)
            for i in above
            for j in below
            if self._adjacent(i, j)
        ]
        return self._of(on, below, self.is_open), self._of(on, [], False), self._of(on, above, self.is_open)

    def _of(self, on: list[tuple[Ray, int]], kept: list[int], is_open: bool) -> Cone:
        rays = [*on, *((self.rays[i], self.tight[i]) for i in kept)]
        return Cone(tuple(ray for ray, _ in rays), tuple(tight for _, tight in rays), self.cuts + 1, is_open)

    def _meet(self, above: int, below: int, values: Sequence[int]) -> Ray:
        """Where the edge between two rays crosses the plane."""
        return primitive(
            [values[above] * b - values[below] * a for a, b in zip(self.rays[above], self.rays[below], strict=True)]
        )

    def _adjacent(self, i: int, j: int) -> bool:
        """Whether two rays span an edge: no other ray lies on all the planes that both lie on."""
        shared = self.tight[i] & self.tight[j]
        return not any(other & shared == shared for at, other in enumerate(self.tight) if at not in (i, j))


def spanned(corners: Sequence[Sequence[int]]) -> Cone:
    """The simplex of as many corners as there are dimensions."""
    every = (1 << len(corners)) - 1
    tight = tuple(every ^ (1 << corner) for corner in range(len(corners)))
    return Cone(tuple(primitive(corner) for corner in corners), tight, len(corners))


def orthant(dimensions: int) -> Cone:
    """All positive weights."""
    return spanned(np.eye(dimensions, dtype=int).tolist())


def narrowed(cone: Cone, walls: Ints, levels: Ints) -> Cone:
    """Cut a cone down to where all `levels` are zero and all `walls` positive, which must be somewhere."""
    for level in levels:
        _, cone, _ = cone.cut(tuple(map(int, level)))  # type: ignore[assignment]
    while len(walls):
        values = product(walls, cone.matrix)
        worst = int(values.min(axis=1).argmin())
        if values[worst].min() >= 0:
            break
        _, _, cone = cone.cut(tuple(map(int, walls[worst])))  # type: ignore[assignment]
    return cone


def product(normals: Ints, columns: Ints) -> Ints:
    """Values of planes at points, in 64 bits where these suffice."""
    reach = int(np.abs(normals).max(initial=0)) * int(np.abs(columns).max(initial=0)) * normals.shape[1]
    if reach >= 2**62:
        normals, columns = normals.astype(object), columns.astype(object)
    values: Ints = normals @ columns
    return values


def primitive(vector: Sequence[int]) -> Ray:
    """The smallest whole numbers of the same direction."""
    shared = gcd(*(int(part) for part in vector)) or 1
    return tuple(int(part) // shared for part in vector)


def whole(rows: Sequence[Sequence[int]]) -> Ints:
    """An array of whole numbers, of 64 bits where they fit."""
    largest = max((abs(part) for row in rows for part in row), default=0)
    return np.array(rows, dtype=np.int64 if largest < 2**62 else object)


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
