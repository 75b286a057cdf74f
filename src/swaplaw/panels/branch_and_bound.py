"""The best weights of a panel, proven: branch and bound over the simplex of positive weights.

Weight space is cut into simplices. On a simplex, a linear margin is decided by its signs at the corners: a rival
whose margin is nowhere negative is beaten throughout, one whose margin is nowhere positive beats gold throughout,
and only the rest is undecided. A simplex scores at most what is won throughout and all that is undecided; one that
can't beat the best score so far is dropped, the others are bisected where most planes cross. A level of simplices
is one batch of array operations, and each child looks only at what its parent left undecided, so the work shrinks
with the simplices. What bisection can't resolve, planes that meet in one ray, is settled exactly (`exact_cuts`).

Cuts are made so that no corner lies on an undecided plane (other than one that holds the whole edge). A face of the
arrangement that touches a simplex therefore never does so only from outside, and the bounds cover open cones and
all their faces alike. Corners are whole numbers: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from itertools import combinations, count

import numpy as np

from swaplaw._core.arrays import Bools, Ints
from swaplaw.panels.arrangement import Arrangement
from swaplaw.panels.cones import Ray, orthant, primitive, product, spanned, whole
from swaplaw.panels.exact_cuts import Best, Effort, OutOfTimeError, best_by_cuts

# A level with more undecided planes than this is worked off in halves, the more promising one first.
LARGEST_BATCH = 200_000
# A simplex that keeps all its planes through this many bisections holds planes that meet in one ray or flat. Waiting
# longer only makes more such simplices: each bisection doubles those along a flat, and each has to be settled alone.
PATIENCE = 2
# Panels of this many members and more are cut plane by plane from the start: bisection needs too many simplices there.
CUT_FROM = 5
# What a level costs beside its planes, in planes looked at.
BATCH = 1_000
# Lengths of the corners of the first simplex: primes keep cuts off the planes of small whole numbers.
LENGTHS = (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049)


@dataclass(frozen=True)
class Proof:
    """The best weights found, as whole numbers, and what is proven of all others. Scores are in questions."""

    plateau: Fraction | None
    """Best score of an open cone of weights; None where no score exceeds the floor."""
    plateau_at: Ray | None
    best: Fraction | None
    """Best score at any positive weights; more than `plateau` only on planes, where the least change loses it."""
    best_at: Ray | None
    bound: Fraction
    """No positive weights (that were looked for) score more than this, or than the floor."""


@dataclass(frozen=True)
class Batch:
    """Simplices, and the planes that are undecided on each."""

    corners: Ints
    """Whole-number corners: simplices x corners x members."""
    scale: Ints
    """Each corner's length as a power of two."""
    sure: Ints
    """Score of what is won throughout the simplex, in units."""
    reach: Ints
    """What the simplex scores at most, in units."""
    patience: Ints
    """How many more bisections may leave all planes undecided."""
    owner: Ints
    """The simplex of each undecided plane, rising."""
    plane: Ints
    """Which plane, rising within the simplex."""
    above: Ints
    below: Ints
    """The corners at which the margin is positive and negative, as bits."""

    def select(self, simplices: Bools) -> Batch:
        """Keep some simplices."""
        return self if simplices.all() else self.part(simplices, np.flatnonzero(simplices[self.owner]))

    def part(self, simplices: Bools, entries: Ints) -> Batch:
        """Keep some simplices, and only some of their planes."""
        return Batch(
            self.corners[simplices],
            self.scale[simplices],
            self.sure[simplices],
            self.reach[simplices],
            self.patience[simplices],
            (np.cumsum(simplices) - 1).take(self.owner.take(entries)),
            self.plane.take(entries),
            self.above.take(entries),
            self.below.take(entries),
        )


def best_weights(
    arrangement: Arrangement,
    *,
    floor: Fraction | None = None,
    faces: bool = True,
    target: Fraction | None = None,
    start: Ray | None = None,
    deadline: float | None = None,
    effort: Effort | None = None,
) -> Proof:
    """Find the best positive weights and prove it.

    Only scores above `floor` are looked for, and only on open cones where not `faces`. The search begins at the
    weights `start`, and ends early when an open cone scores `target`, the deadline (of `time.monotonic`) passes or the
    effort is spent.
    """
    lowest = -1 if floor is None else floor * arrangement.unit
    best = Best(
        arrangement,
        plateau=int(lowest // 1),
        face=Fraction(lowest) if faces else Fraction(arrangement.ceiling),
        deadline=deadline,
        effort=effort,
    )
    if start is not None:
        on_planes = not product(arrangement.normals, whole([start]).T).all()
        best.offer(arrangement.score(start) * arrangement.unit, start, is_open=not on_planes)
    open_reach = _search(best, None if target is None else int(target * arrangement.unit))
    found = best.face_at is not None
    score, at = (best.face, best.face_at) if found else (best.plateau, best.plateau_at)
    proven = max(Fraction(open_reach), Fraction(best.plateau), best.face if found else Fraction(0), Fraction(lowest))
    unit = arrangement.unit
    return Proof(
        None if best.plateau_at is None else Fraction(best.plateau, unit),
        best.plateau_at,
        None if at is None else Fraction(score) / unit,
        at,
        proven / unit,
    )


def _search(best: Best, target: int | None) -> int | Fraction:
    """Cut or bisect until nothing is left that could be better; returns the reach of what the deadline left over."""
    those = best.arrangement
    if those.size < CUT_FROM:
        return _bisected(best, target)
    try:
        best_by_cuts(best, orthant(those.size), np.arange(len(those.normals)), Fraction(those.sure))
    except OutOfTimeError as left:
        return those.ceiling if left.reach is None else left.reach
    return -1


def _bisected(best: Best, target: int | None) -> int:
    pool = _Pool()
    pool.add(_first(best.arrangement))
    while batch := pool.take(best.plateau):
        try:
            best.check_time(BATCH + len(batch.owner))
            pool.add(*_refine(best, batch))
        except OutOfTimeError:
            return max(int(batch.reach.max()), pool.reach)
        if target is not None and best.plateau >= target:
            break
    return -1


class _Pool:
    """Batches that wait, those with the farthest reach first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Batch]] = []
        self._number = count()

    @property
    def reach(self) -> int:
        return -self._heap[0][0] if self._heap else -1

    def add(self, *batches: Batch) -> None:
        for batch in batches:
            if len(batch.sure):
                heappush(self._heap, (-int(batch.reach.max()), next(self._number), batch))

    def take(self, score: int) -> Batch | None:
        """The next batch, without simplices that can't beat a score."""
        while self._heap:
            batch = heappop(self._heap)[2]
            promising = batch.reach > score
            if promising.any():
                return batch if promising.all() else batch.select(promising)
        return None


def _first(those: Arrangement) -> Batch:
    """One simplex, whose corners are the members alone."""
    size = those.size
    planes = np.arange(len(those.normals))
    bits = (1 << np.arange(size)).astype(np.uint8)
    corners = np.diag(np.array(LENGTHS[:size]))[None]
    largest = int(np.abs(those.normals).max(initial=1))
    return Batch(
        corners if largest < 2**40 else corners.astype(object),
        np.zeros((1, size), dtype=np.int64),
        np.array([those.sure], dtype=those.credit.dtype),
        np.array([those.ceiling], dtype=those.credit.dtype),
        np.array([PATIENCE]),
        np.zeros(len(planes), dtype=np.int64),
        planes,
        ((those.normals > 0) * bits).sum(axis=1, dtype=np.uint8),
        ((those.normals < 0) * bits).sum(axis=1, dtype=np.uint8),
    )


def _refine(best: Best, batch: Batch) -> Iterator[Batch]:
    """Bisect every simplex once, and drop, settle or hand back the children."""
    those = best.arrangement
    children = _screen(those, _bisect(those, batch), best.plateau)
    _probe(best, children)
    children = children.select(children.reach > best.plateau)
    children = children.select(_contested(those, children) > best.plateau)
    stuck = (children.patience == 0) | _long(those, children)
    for simplex in np.flatnonzero(stuck):
        planes = children.plane[children.owner == simplex]
        best_by_cuts(best, spanned(children.corners[simplex].tolist()), planes, Fraction(int(children.sure[simplex])))
    children = children.select(~stuck)
    if len(children.owner) > LARGEST_BATCH and len(children.sure) > 1:
        far = np.zeros(len(children.sure), dtype=bool)
        far[np.argsort(-children.reach, kind="stable")[: len(far) // 2]] = True
        yield children.select(far)
        yield children.select(~far)
    else:
        yield children


def _bisect(those: Arrangement, batch: Batch) -> Batch:
    """Cut the edge of each simplex that most undecided planes cross: first all lower halves, then all upper ones."""
    number, size = batch.scale.shape
    edges = np.array(list(combinations(range(size), 2)))
    crossings = [
        np.bincount(batch.owner, ((batch.above >> i) ^ (batch.above >> j)) & 1, minlength=number) for i, j in edges
    ]
    one, other = edges[np.argmax(crossings, axis=0)].T
    middle, scale, sign = _cut(those, batch, one, other)

    row = np.arange(number)
    corners, scales, above, below = [], [], [], []
    for replaced in (other, one):
        corner, length = batch.corners.copy(), batch.scale.copy()
        corner[row, replaced], length[row, replaced] = middle, scale
        corners.append(corner)
        scales.append(length)
        bit = np.left_shift(1, replaced).astype(np.uint8).take(batch.owner)
        above.append((batch.above & ~bit) | bit * (sign > 0))
        below.append((batch.below & ~bit) | bit * (sign < 0))
    return Batch(
        np.concatenate(corners),
        np.concatenate(scales),
        np.tile(batch.sure, 2),
        np.tile(batch.reach, 2),
        np.tile(batch.patience, 2),
        np.concatenate([batch.owner, batch.owner + number]),
        np.tile(batch.plane, 2),
        np.concatenate(above),
        np.concatenate(below),
    )


def _cut(those: Arrangement, batch: Batch, one: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Points near the middle of an edge of each simplex, off all planes that don't hold the edge; and the signs there.

    Each plane passes through one point of the edge, so one of finitely many points is free.
    """
    row = np.arange(len(batch.sure))
    longest = np.maximum(batch.scale[row, one], batch.scale[row, other])
    ends = [batch.corners[row, end] << (longest - batch.scale[row, end])[:, None] for end in (one, other)]
    middle, scale = ends[0] + ends[1], longest + 1
    edge = (np.left_shift(1, one) | np.left_shift(1, other)).astype(np.uint8)
    held = ((batch.above | batch.below) & edge.take(batch.owner)) == 0
    for power in count(2):
        sign = _values(those, middle, batch)
        hit = np.unique(batch.owner[(sign == 0) & ~held])
        if not len(hit):
            return middle, scale, sign
        middle[hit] = (2**power - 1) * ends[0][hit] + (2**power + 1) * ends[1][hit]
        scale[hit] = longest[hit] + power + 1
    raise AssertionError("unreachable")


def _values(those: Arrangement, points: Ints, batch: Batch) -> Ints:
    """The margin of each undecided plane at a point of its simplex."""
    # Member by member: short rows reduce slowly.
    terms = (
        margin.take(batch.plane) * part.take(batch.owner) for margin, part in zip(those.margins, points.T, strict=True)
    )
    return reduce(np.add, terms)


def _screen(those: Arrangement, batch: Batch, score: int) -> Batch:
    """Decide what the signs at the corners decide, and keep simplices whose reach exceeds a score."""
    number = len(batch.sure)
    group, owner, question = _groups(those, batch)
    beaten = batch.above == 0
    pending = (batch.below != 0) & ~beaten
    lost, open_ = np.zeros(len(owner), dtype=bool), np.zeros(len(owner), dtype=bool)
    lost[group[beaten]] = True
    open_[group[pending]] = True
    credit = those.credit[question]
    won, maybe = ~lost & ~open_, ~lost & open_
    sure = batch.sure + _sums(owner[won], credit[won], number)
    reach = sure + _sums(owner[maybe], credit[maybe], number)
    promising = reach > score
    kept = np.flatnonzero(pending & (maybe & promising[owner])[group])
    same = np.bincount(batch.owner.take(kept), minlength=number) == np.bincount(batch.owner, minlength=number)
    patience = np.where(same, batch.patience - 1, PATIENCE)
    return replace(batch, sure=sure, reach=reach, patience=patience).part(promising, kept)


def _probe(best: Best, batch: Batch) -> None:
    """Score the middle of each simplex, and offer the best."""
    if not len(batch.sure):
        return
    those, number = best.arrangement, len(batch.sure)
    longest = batch.scale.max(axis=1, keepdims=True)
    middle = (batch.corners << (longest - batch.scale)[:, :, None]).sum(axis=1)
    values = _values(those, middle, batch)
    group, owner, question = _groups(those, batch)
    lost = np.zeros(len(owner), dtype=bool)
    lost[group[values <= 0]] = True
    score = batch.sure + _sums(owner[~lost], those.credit[question[~lost]], number)
    # A middle that lies on a plane is no point of an open cone.
    score[batch.owner[values == 0]] = -1
    highest = int(score.argmax())
    best.offer(int(score[highest]), primitive(middle[highest].tolist()), is_open=True)


def _contested(those: Arrangement, batch: Batch) -> Ints:
    """A closer bound: questions that want opposite sides of one plane can't all be won.

    Each undecided question is counted with one of its planes. On the plane itself both sides tie: for half at most, but
    for more of what is left to a question that ties anyway.
    """
    number = len(batch.sure)
    starts = _starts(batch.owner, those.question[batch.plane])
    owner, plane = batch.owner[starts], batch.plane[starts]
    code = owner * (int(those.plane.max(initial=0)) + 1) + those.plane[plane]
    order = np.argsort(code, kind="stable")
    owner, plane, code = owner[order], plane[order], code[order]
    question = those.question[plane]
    credit = those.credit[question]
    runs = np.flatnonzero(_starts(code))
    if not len(runs):
        return batch.sure
    sides = [np.add.reduceat(np.where(those.side[plane] == side, credit, 0), runs) for side in (1, -1)]
    most = np.maximum(*sides)
    if those.tied is not None:
        most = np.maximum(most, -(-np.add.reduceat(those.tied[question], runs) // those.parts))
    return batch.sure + _sums(owner[runs], most, number)


def _long(those: Arrangement, batch: Batch) -> Bools:
    """Whether corners have become too long for the next margins to fit 64 bits."""
    if batch.corners.dtype == object:
        return np.zeros(len(batch.sure), dtype=bool)
    largest = int(np.abs(those.normals).max(initial=1)) * those.size
    # Two corners are brought to one length before they are added, and cuts may have to move a few times.
    longest = batch.scale.max(axis=1) + max(LENGTHS).bit_length() + 8
    too_long: Bools = longest + largest.bit_length() > 62
    return too_long


def _groups(those: Arrangement, batch: Batch) -> tuple[Ints, Ints, Ints]:
    """Undecided questions of each simplex: the group of each plane, and each group's simplex and question."""
    question = those.question[batch.plane]
    starts = _starts(batch.owner, question)
    return np.cumsum(starts) - 1, batch.owner[starts], question[starts]


def _starts(*columns: Ints) -> Bools:
    """Where a run of equal values begins."""
    starts = np.zeros(len(columns[0]), dtype=bool)
    starts[:1] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def _sums(owner: Ints, credit: Ints, number: int) -> Ints:
    """Add credits up by simplex."""
    if credit.dtype == object:
        total = np.zeros(number, dtype=object)
        np.add.at(total, owner, credit)
        return total
    return np.bincount(owner, credit, minlength=number).astype(np.int64)
