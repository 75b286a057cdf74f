"""What the weights of a panel decide: for every question, the planes that gold's rivals lay through weight space.

With margins m_i of the members against one rival (as shares of their votes), gold holds against it exactly where
sum_i w_i m_i >= 0. On one question the weights at which gold is in the tie set therefore form a convex cone cut by
one plane a rival, and the best weights are the deepest point of as many such cones as there are questions. Only
positive weights are looked at here: a weight of 0 is a smaller panel.

Where the weights are positive, a rival that no member prefers to gold never holds gold back, one that nobody likes
less always beats it, one with no margins at all always ties. What is left are the questions that the weights
decide, each once, with the number of its copies.

A cone is kept by its extreme rays, in whole numbers, and which planes each of them lies on; it is cut by one plane at a
time (the double description method). The simplest weights of a cone are the smallest whole numbers in it: for two
members the simplest fraction of an interval, the first of the Stern-Brocot tree inside it; for more, the whole numbers
with the smallest sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm, prod

import numpy as np

from swaplaw._arrays import Bools, Ints
from swaplaw.law.weights import whole_factors
from swaplaw.votes.tally import Tally, tie_credit

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


@dataclass(frozen=True)
class Arrangement:
    """The planes of one panel over positive weights. Scores off all planes count in units of 1/`unit` question."""

    size: int
    """Number of members: the dimension of weight space."""
    unit: int
    sure: int
    """What the questions score that the weights don't decide, in units."""
    ties: Ints = field(repr=False)
    """Gold's tie where it leads, off all planes, for each question that the weights decide."""
    copies: Ints = field(repr=False)
    """How many questions each of these stands for."""
    question: Ints = field(repr=False)
    """The question of each plane, rising."""
    normals: Ints = field(repr=False)
    """Margins of each plane, as smallest whole numbers: planes x members."""

    @cached_property
    def credit(self) -> Ints:
        """What each question scores off the planes where gold leads, in units."""
        return self._credits(self.unit, self.ties)

    @cached_property
    def parts(self) -> int:
        """What a unit is divided into so that one rival more in a tie leaves whole parts."""
        return lcm(2, *(int(size) + 1 for size in np.unique(self.ties)))

    @cached_property
    def tied(self) -> Ints:
        """What each question scores at most on one of its planes, in `parts` of a unit."""
        return self._credits(self.unit * self.parts, self.ties + 1)

    def _credits(self, worth: int, sizes: Ints) -> Ints:
        """What questions of this worth score in ties of these sizes, for all their copies."""
        kinds, kind = np.unique(sizes, return_inverse=True)
        # Sums run through doubles, which hold whole numbers up to 2^53; beyond that Python's own take over.
        dtype = np.int64 if (self.sure + int(self.copies.sum())) * worth < 2**53 else object
        each = np.array([tie_credit(worth, int(size)) for size in kinds], dtype=dtype)
        credits_: Ints = each[kind] * self.copies.astype(dtype)
        return credits_

    @property
    def ceiling(self) -> int:
        """No weights score more than all questions that some weights win, in units."""
        return self.sure + int(self.credit.sum())

    @cached_property
    def largest(self) -> int:
        """The largest margin."""
        return int(np.abs(self.normals).max(initial=1))

    @cached_property
    def margins(self) -> Ints:
        """The normals by member: members x planes."""
        return np.ascontiguousarray(self.normals.T)

    @cached_property
    def first(self) -> Ints:
        """Where each question's planes begin."""
        return np.searchsorted(self.question, np.arange(len(self.ties)))

    @cached_property
    def plane(self) -> Ints:
        """Planes numbered so that equal ones share a number, whichever side they face."""
        return distinct(self.normals * self.side[:, None])

    @cached_property
    def side(self) -> Ints:
        """Which way each plane faces: the sign of its first margin that is not 0."""
        leading = (self.normals != 0).argmax(axis=1)
        return np.where(self.normals[np.arange(len(self.normals)), leading] > 0, 1, -1)

    def holds(self, points: Ints) -> tuple[Bools, Ints]:
        """Tell for each question and point (columns) whether gold is in the tie set, and with how many more rivals."""
        values = product(self.normals, points)
        if not len(self.ties):
            return np.empty((0, points.shape[1]), dtype=bool), np.empty((0, points.shape[1]), dtype=np.int64)
        least = np.minimum.reduceat(values, self.first, axis=0)
        return least >= 0, np.add.reduceat(values == 0, self.first, axis=0, dtype=np.int64)

    def scores(self, points: Ints) -> list[Fraction]:
        """Sum the scores of all questions at positive weights (columns), in questions."""
        holds, more = self.holds(points)
        size = np.where(holds, self.ties[:, None] + more, 0)
        total = [Fraction(self.sure, self.unit)] * points.shape[1]
        for tie in np.unique(size[holds]):
            won = self.copies @ (size == tie)
            total = [
                sum_ + tie_credit(Fraction(int(number)), int(tie)) for sum_, number in zip(total, won, strict=True)
            ]
        return total

    def score(self, point: Sequence[int]) -> Fraction:
        """Sum the scores of all questions at one point."""
        return self.scores(whole([point]).T)[0]

    def around(self, point: Sequence[int]) -> Region:
        """Find all weights that keep what gold wins and ties at a point."""
        holds, _ = self.holds(whole([point]).T)
        planes = self.normals[holds[:, 0][self.question]]
        values = product(planes, whole([point]).T)[:, 0]
        walls = np.concatenate([planes[values > 0], np.eye(self.size, dtype=planes.dtype)])
        return Region(narrowed(orthant(self.size), walls, planes[values == 0]), walls, planes[values == 0])

    def simplest(self, point: Sequence[int]) -> Ray:
        """Find the simplest weights that score what a point scores, holding what it holds."""
        region, score = self.around(point), self.score(point)
        return next(found for found in simplest(region.cone, region.walls, region.levels) if self.score(found) == score)

    def below(self, total: Fraction) -> Arrangement:
        """Add a question that outweighs all others, won where the secondaries weigh less than `total` together."""
        plane = whole([[total.numerator, *[-total.denominator] * (self.size - 1)]])
        return replace(
            self,
            ties=np.append(self.ties, 1),
            copies=np.append(self.copies.astype(self.credit.dtype), self.ceiling + 1),
            question=np.append(self.question, len(self.ties)),
            normals=np.concatenate([self.normals, plane]),
        )


@dataclass(frozen=True)
class Region:
    """Weights with one outcome: where all `walls` are positive and all `levels` zero."""

    cone: Cone
    walls: Ints
    levels: Ints

    @property
    def least_total(self) -> Fraction:
        """The smallest total weight of the secondaries that the region comes near to, the primary carrying 1."""
        return min(Fraction(sum(ray[1:]), ray[0]) for ray in self.cone.rays if ray[0])


def arrangement(tally: Tally, members: Sequence[int], questions: Bools) -> Arrangement:
    """Lay out the planes of these members on these questions (all of which they answered)."""
    rivals, owners = tally.rivals, tally.rivals.rows.owner
    # Member by member: short rows reduce slowly.
    margins = np.stack([tally.margins(member) for member in members])
    likes, dislikes = np.logical_or.reduce(margins > 0), np.logical_or.reduce(margins < 0)
    number = len(rivals.order)
    # What nobody names never wins, whoever is silent beside it.
    open_ = tally.by_row(questions) & tally.gold[list(members)].any(axis=0)
    rows = np.ones(number, dtype=np.int64) if tally.rights is None else tally.rights.copies[rivals.order]
    lost = _any(owners[dislikes & ~likes], number) | ~open_[rivals.order]
    ties = 1 + np.bincount(owners[~likes & ~dislikes], minlength=number)
    unit = lcm(*(int(size) for size in np.unique(ties[~lost])))

    parting = np.flatnonzero(likes & dislikes & ~lost[owners])
    owner = owners[parting]
    decided = _any(owner, number)
    numbers = np.bincount(ties[~lost & ~decided], rows[~lost & ~decided])
    sure = sum(tie_credit(unit * int(number), size) for size, number in enumerate(numbers) if number)
    # A rival that every member prefers to another is beaten, strictly, wherever the other doesn't beat gold.
    tight = ~_dominated(owner, margins[:, parting])
    parting, owner = parting[tight], owner[tight]
    normals = _normals(tally, members, margins[:, parting], rivals.question[parting])
    return Arrangement(len(members), unit, sure, *_merge(owner, normals, ties, rows))


def _any(questions: Ints, number: int) -> Bools:
    found = np.zeros(number, dtype=bool)
    found[questions] = True
    return found


def _dominated(owner: Ints, margins: Ints) -> Bools:
    """Which rivals have margins nowhere smaller, and somewhere larger, than those of another of the same question."""
    order = np.argsort(owner, kind="stable")
    number = np.bincount(owner)
    number = number[number > 0]
    # All ordered pairs of one question's rivals.
    first = np.repeat(np.cumsum(number) - number, number**2)
    place = np.arange(len(first)) - np.repeat(np.cumsum(number**2) - number**2, number**2)
    one, other = np.divmod(place, np.repeat(number, number**2))
    this, that = order[first + one], order[first + other]
    higher, equal = np.zeros(len(this), dtype=bool), np.ones(len(this), dtype=bool)
    for margin in margins:
        ours, theirs = margin[this], margin[that]
        higher |= ours > theirs
        equal &= ours >= theirs
    dominated = np.zeros(len(owner), dtype=bool)
    dominated[this[higher & equal]] = True
    return dominated


def _normals(tally: Tally, members: Sequence[int], margins: Ints, question: Ints) -> Ints:
    """Margins as shares, brought to the smallest whole numbers of the same direction."""
    factors = whole_factors(tally, members, [Fraction(1)] * len(members))
    columns = [factor if len(factor) == 1 else factor[question] for factor in factors]
    largest = max(int(column.max(initial=0)) for column in columns) * int(tally.votes.max(initial=0))
    dtype = np.int64 if largest < 2**62 else object
    normals = np.stack(
        [margin.astype(dtype) * column.astype(dtype) for margin, column in zip(margins, columns, strict=True)]
    )
    normals //= np.gcd.reduce(normals)
    whole = normals.astype(np.int64) if np.abs(normals).max(initial=0) < 2**62 else normals
    return np.ascontiguousarray(whole.T)


def _merge(owner: Ints, normals: Ints, ties: Ints, copies: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Make questions with the same planes and ties one: (ties, copies, question, normals)."""
    kind = distinct(normals)
    order = np.lexsort((kind, owner))
    owner, kind, normals = owner[order], kind[order], normals[order]
    names, first, question, planes = np.unique(owner, return_index=True, return_inverse=True, return_counts=True)
    rows = np.full((len(names), 1 + int(planes.max(initial=0))), -1)
    rows[:, 0] = ties[names]
    rows[question, 1 + np.arange(len(owner)) - first[question]] = kind
    same = distinct(rows)
    _, chosen = np.unique(same, return_index=True)
    kept = np.zeros(len(names), dtype=bool)
    kept[chosen] = True
    number = np.zeros(len(names), dtype=np.int64)
    number[chosen] = np.bincount(same, copies[names])
    place = np.cumsum(kept) - 1
    use = kept[question]
    return ties[names[kept]], number[kept], place[question[use]], normals[use]


def distinct(rows: Ints) -> Ints:
    """Number the rows of a matrix so that equal rows share a number."""
    if rows.dtype == object:
        known: dict[tuple[int, ...], int] = {}
        return np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.int64)
    low, high = rows.min(axis=0, initial=0), rows.max(axis=0, initial=0)
    ranges = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    packed = np.zeros(len(rows), dtype=np.int64)
    if prod(ranges) < 2**62:
        # One number says it all: the places of a number with a base for each column.
        for column, first, base in zip(rows.T, low, ranges, strict=True):
            packed = packed * base + (column - first)
        return np.unique(packed, return_inverse=True)[1]
    for column in rows.T:
        # Number after each column: numbers stay below the number of rows, so a pair of them fits 64 bits.
        _, code = np.unique(column, return_inverse=True)
        _, packed = np.unique(packed * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    return packed
