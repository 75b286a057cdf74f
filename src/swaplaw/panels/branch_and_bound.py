"""Branch and bound over positive weights: simplices are bisected in batches, and where planes meet, cones are cut.

*Bisection.* On a simplex a rival whose margin is nowhere negative is beaten throughout, one whose margin is nowhere
positive beats gold throughout, and only the rest is undecided. A simplex scores at most what is won throughout and all
that is undecided; one that cannot beat the best score so far is dropped, the others are bisected where most planes
cross. A level of simplices is one batch of array operations, and each child looks only at what its parent left
undecided. Corners are whole numbers, so nothing is rounded, and never lie on an undecided plane: a face of the
arrangement that touches a simplex only from outside is not lost.

*Cuts.* Where bisection resolves nothing more (planes that meet in one ray), the plane that most depends on cuts the
cone into a negative, a zero and a positive part, until no plane parts what is left. This ends after finitely many cuts
wherever planes meet. Alone it would do, but takes five times as long for quartets on thousands of contested questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count
from math import lcm

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.panels.arrangement import Arrangement, Cone, Ray, orthant, primitive, product, spanned, whole
from swaplaw.panels.line_search import line_search
from swaplaw.votes.tally import tie_credit

CUT, BATCH = 500, 1_000
"""What a cut, and what a level of simplices, costs beside its planes, in planes looked at."""
LARGEST_BATCH = 200_000
"""A level with more undecided planes than this is worked off in halves, the more promising one first."""
PATIENCE = 2
"""Bisections that may leave a simplex all its planes, before they are taken to meet in one ray or flat."""
LENGTHS = tuple(length << 20 for length in (64007, 62989, 65521, 61403))
"""Of the corners of the first simplex: few planes of small numbers pass through middles, and 2^20 is halved often."""
LARGEST_MARGIN = 2**22
"""Larger ones would leave 64 bits at these corners."""


class OutOfWorkError(Exception):
    """The work that was allowed is spent before all was settled."""

    def __init__(self, reach: Fraction | None = None) -> None:
        super().__init__()
        self.reach = reach
        """What is left scores at most, in units, where that is known."""


@dataclass
class Work:
    """How much may still be done, in planes looked at: the same on every machine, unlike time."""

    left: float


@dataclass
class Best:
    """The best scores so far, in units of the arrangement, and where they were found."""

    arrangement: Arrangement
    plateau: int
    """Best score of an open cone (or the floor that any score of interest exceeds)."""
    face: Fraction
    """Best score of any cone (or that floor)."""
    plateau_at: Ray | None = None
    face_at: Ray | None = None
    work: Work | None = None

    def offer(self, score: Fraction | int, point: Ray, is_open: bool) -> None:
        """Keep a score if it is better."""
        if is_open and score > self.plateau:
            self.plateau, self.plateau_at = int(score), point
        if score > self.face:
            self.face, self.face_at = Fraction(score), point

    def try_point(self, point: Sequence[int]) -> None:
        """Keep some positive weights if their score is better."""
        those, column = self.arrangement, whole([point]).T
        is_open = bool(product(those.normals, column).all())
        self.offer(those.score(point) * those.unit, primitive(point), is_open)

    def climb(self) -> None:
        """Keep what climbing along lines finds."""
        self.try_point(line_search(self.arrangement).point)

    def enough(self, cone: Cone) -> Fraction | int:
        """What a cone has to score more than to matter."""
        return self.plateau if cone.is_open else self.face

    def spend(self, planes: int) -> None:
        """Account for work, and stop where none is left."""
        if self.work is not None:
            self.work.left -= planes
            if self.work.left < 0:
                raise OutOfWorkError


def branch_and_bound(best: Best, target: int | None = None) -> int | Fraction:
    """Search until nothing is left that could be better, or `target` is met; returns what the rest scores at most."""
    those = best.arrangement
    small = int(np.abs(those.normals).max(initial=1)) < LARGEST_MARGIN and those.credit.dtype != object
    if small and those.size <= len(LENGTHS):
        return _bisected(best, target)
    # Cutting plane by plane wants good weights first.
    best.climb()
    try:
        best_by_cuts(best, orthant(those.size), np.arange(len(those.normals)), Fraction(those.sure))
    except OutOfWorkError as left:
        return those.ceiling if left.reach is None else left.reach
    return -1


@dataclass(frozen=True)
class _Batch:
    """Simplices of positive weights, and the planes that are undecided on each."""

    owner: Ints
    """The simplex of each undecided plane, rising."""
    plane: Ints
    """Which plane, rising within the simplex."""
    sign: Ints
    """The sign of its margin at each corner: corners x planes, because short rows reduce slowly."""
    corners: Ints
    """Whole-number corners: simplices x corners x members."""
    sure: Ints
    """Score of what is won throughout the simplex, in units."""
    reach: Ints
    """What the simplex scores at most, in units."""
    patience: Ints
    """How many more bisections may leave all planes undecided."""

    def part(self, simplices: Bools) -> _Batch:
        """Keep some simplices."""
        kept = simplices[self.owner]
        own = (each[simplices] for each in (self.corners, self.sure, self.reach, self.patience))
        return _Batch((np.cumsum(simplices) - 1)[self.owner[kept]], self.plane[kept], self.sign[:, kept], *own)


def _bisected(best: Best, target: int | None) -> int:
    """Bisect until nothing better is left, or `target` is reached; returns the reach of what the work left over."""
    those = best.arrangement
    planes = np.arange(len(those.normals))
    corners = np.diag(np.array(LENGTHS[: those.size]))[None]
    bounds = (np.array([each]) for each in (those.sure, those.ceiling, PATIENCE))
    waiting = [(0, 0, _Batch(0 * planes, planes, np.sign(those.normals.T).astype(np.int8), corners, *bounds))]
    number = count(1)
    while waiting and (target is None or best.plateau < target):
        batch = heappop(waiting)[2]
        batch = batch.part(batch.reach > best.plateau)
        if not len(batch.sure):
            continue
        try:
            best.spend(BATCH + len(batch.owner))
            children = _halves(best, batch)
        except OutOfWorkError:
            return max(int(batch.reach.max()), -waiting[0][0] if waiting else -1)
        far = children.reach >= (np.median(children.reach) if len(children.owner) > LARGEST_BATCH else 0)
        for some in (children.part(far), children.part(~far)):
            if len(some.sure):
                heappush(waiting, (-int(some.reach.max()), next(number), some))
    return -1


def _halves(best: Best, batch: _Batch) -> _Batch:
    """Bisect every simplex on the edge that most undecided planes cross, and keep the halves that may be better.

    A plane through the middle of an edge would be a face of both halves and lie in neither, and odd numbers cannot be
    halved: such simplices, and those that bisection does not resolve, are cut plane by plane.
    """
    those, number = best.arrangement, len(batch.sure)
    edges = np.array(list(combinations(range(those.size), 2)))
    crossings = [np.bincount(batch.owner, batch.sign[i] != batch.sign[j], minlength=number) for i, j in edges]
    ends = edges[np.argmax(crossings, axis=0)].T
    middle = sum(batch.corners[np.arange(number), end] for end in ends)
    value = np.zeros(len(batch.owner), dtype=np.int64)
    for margin, part in zip(those.margins, middle.T, strict=True):  # Short rows reduce slowly.
        value += margin[batch.plane] * part[batch.owner]
    sign, entry = np.sign(value).astype(np.int8), np.arange(len(batch.owner))
    # Where the whole edge lies on a plane, its weights are not all positive.
    touched = (sign == 0) & np.logical_or.reduce([batch.sign[end[batch.owner], entry] != 0 for end in ends])
    stuck = (batch.patience == 0) | (middle % 2).any(axis=1) | (np.bincount(batch.owner, touched, number) > 0)
    for simplex in np.flatnonzero(stuck):
        cone, planes = spanned(batch.corners[simplex].tolist()), batch.plane[batch.owner == simplex]
        best_by_cuts(best, cone, planes, Fraction(int(batch.sure[simplex])))
    middle, sign, ends = middle[~stuck] // 2, sign[~stuck[batch.owner]], ends[:, ~stuck]
    batch = batch.part(~stuck)
    halves = [_half(best, batch, end, middle, sign) for end in ends]
    return _joined(*halves)


def _half(best: Best, batch: _Batch, end: Ints, middle: Ints, sign: Ints) -> _Batch:
    """Put the middle in the place of one end of each simplex's edge, and count what the corners decide then."""
    those, number = best.arrangement, len(batch.sure)
    corners, signs = batch.corners.copy(), batch.sign.copy()
    corners[np.arange(number), end] = middle
    signs[end[batch.owner], np.arange(len(batch.owner))] = sign
    question = those.question[batch.plane]
    starts, group = _runs(batch.owner * len(those.ties) + question)
    owner, credit = batch.owner[starts], those.credit[question[starts]]
    beaten = signs.max(axis=0, initial=-1) <= 0
    pending = ~beaten & (signs.min(axis=0, initial=1) < 0)
    lost, open_ = (np.bincount(group, each, len(starts)) > 0 for each in (beaten, pending))
    won = batch.sure + np.bincount(owner, credit * (~lost & ~open_), number).astype(np.int64)
    reach = won + np.bincount(owner, credit * (~lost & open_), number).astype(np.int64)
    # The most that is sure, and the most of a simplex on which nothing is undecided.
    for score in (won, np.where(won == reach, won, -1)):
        if score.max(initial=-1) > best.plateau:
            best.try_point(corners[score.argmax()].sum(axis=0).tolist())
    kept = pending & (~lost & open_)[group]
    same = np.bincount(batch.owner[kept], minlength=number) == np.bincount(batch.owner, minlength=number)
    patience = np.where(same, batch.patience - 1, PATIENCE)
    half = _Batch(batch.owner[kept], batch.plane[kept], signs[:, kept], corners, won, reach, patience)
    return half.part(reach > best.plateau)


def _joined(one: _Batch, other: _Batch) -> _Batch:
    """Two batches as one."""
    own = ((getattr(one, name), getattr(other, name)) for name in ("corners", "sure", "reach", "patience"))
    owner = np.concatenate([one.owner, other.owner + len(one.sure)])
    plane, sign = np.concatenate([one.plane, other.plane]), np.concatenate([one.sign, other.sign], axis=1)
    return _Batch(owner, plane, sign, *map(np.concatenate, own))


def best_by_cuts(best: Best, cone: Cone, planes: Ints, sure: Fraction) -> None:
    """Offer `best` the best open cone and the best face within a cone.

    `planes` are all that may part the cone, in order of their questions; `sure` is the score of all other questions.
    """
    waiting = [_Piece(cone, planes, sure, Fraction(best.arrangement.ceiling))]
    while waiting:
        piece = waiting.pop()
        if piece.reach <= best.enough(piece.cone):
            continue
        try:
            best.spend(CUT + len(piece.planes))
        except OutOfWorkError:
            raise OutOfWorkError(max(one.reach for one in [piece, *waiting])) from None
        waiting += _parts(best, piece)


@dataclass(frozen=True)
class _Piece:
    """A cone that is not settled yet."""

    cone: Cone
    planes: Ints
    """All that may part the cone, in order of their questions."""
    sure: Fraction
    """The score of all other questions."""
    reach: Fraction
    """What the cone scores at most, in units."""


def _parts(best: Best, piece: _Piece) -> list[_Piece]:
    """Settle a cone, or cut it by the plane that most depends on."""
    those, cone, planes = best.arrangement, piece.cone, piece.planes
    if not len(planes):
        best.offer(piece.sure, cone.inside, cone.is_open)
        return []
    values = product(those.normals[planes], cone.matrix)
    high, low = values.max(axis=1), values.min(axis=1)
    first, group = _runs(those.question[planes])
    lost = np.logical_or.reduceat((high <= 0) & (low < 0), first)
    parted = (high > 0) & (low < 0)
    pending = np.logical_or.reduceat(parted, first) & ~lost
    credit = _credits(those, those.question[planes[first]], np.add.reduceat((high == 0) & (low == 0), first, dtype=int))

    won, enough = piece.sure + credit.sum(~lost & ~pending), best.enough(cone)
    if won + credit.sum(pending) <= enough:
        return []
    if not pending.any():
        best.offer(won, cone.inside, cone.is_open)
        return []
    deciding = np.flatnonzero(parted & pending[group])
    number, side, asked = those.plane[planes[deciding]], those.side[planes[deciding]], group[deciding]
    weight, order = _one_plane_each(number, side, asked, credit)
    reach = won + _contested(credit, asked[order], number[order], side[order])
    if reach <= enough:
        return []
    cut = tuple(map(int, those.normals[planes[deciding[weight.argmax()]]]))
    kept = planes[pending[group]]
    # The last is looked at first.
    return [_Piece(part, kept, won, reach) for part in reversed(cone.cut(cut)) if part is not None]


def _one_plane_each(number: Ints, side: Ints, question: Ints, credit: _Credits) -> tuple[Floats, Ints]:
    """How much depends on each plane, and for each question its plane with the most on the weaker side."""
    own = credit.whole[question].astype(float)
    total = np.asarray(np.bincount(number, own), dtype=np.float64)
    above = np.asarray(np.bincount(number, np.where(side > 0, own, 0)), dtype=np.float64)
    order = np.lexsort((-total[number], -np.minimum(above, total - above)[number], question))
    return total[number], order[_runs(question[order])[0]]


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Where each run of equal values begins, and the run that each value is in."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return np.flatnonzero(starts), np.cumsum(starts) - 1


@dataclass(frozen=True)
class _Credits:
    """What questions score where they are won, as whole numbers of parts of a unit."""

    whole: Ints
    tied: Ints
    """The same where they tie with one rival more."""
    parts: int

    def sum(self, chosen: Bools) -> Fraction:
        """Add some of them up, in units."""
        return Fraction(int(self.whole[chosen].sum()), self.parts)


def _credits(those: Arrangement, questions: Ints, zeros: Ints) -> _Credits:
    """Credits on a cone, on which each question ties with these further rivals, beside those off all planes."""
    sizes = those.ties[questions] + zeros
    parts = lcm(*(int(size) for size in np.unique(np.concatenate([sizes, sizes + 1]))))
    largest = those.unit * parts * int(those.copies.sum())
    dtype = np.int64 if largest < 2**53 else object
    whole = those.copies[questions].astype(dtype) * (those.unit * parts)
    return _Credits(tie_credit(whole, sizes), tie_credit(whole, sizes + 1), parts)


def _contested(credit: _Credits, question: Ints, plane: Ints, side: Ints) -> Fraction:
    """What questions score together at most, each with one of its planes and the side that it has to be on.

    Those that want opposite sides of one plane can't all be won; on the plane itself both tie.
    """
    order = np.argsort(plane, kind="stable")
    runs, _ = _runs(plane[order])
    question, above = question[order], side[order] > 0
    whole = credit.whole[question]
    options = (np.where(above, whole, 0), np.where(above, 0, whole), credit.tied[question])
    most = np.maximum.reduce([np.add.reduceat(option, runs) for option in options])
    return Fraction(int(most.sum()), credit.parts)
