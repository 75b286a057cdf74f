"""Proofs in batches: the simplex of positive weights is bisected, and what signs at corners decide is counted.

On a simplex a rival whose margin is nowhere negative is beaten throughout, one whose margin is nowhere positive beats
gold throughout, and only the rest is undecided. A simplex scores at most what is won throughout and all that is
undecided; one that cannot beat the best score so far is dropped, the others are bisected where most planes cross. A
level of simplices is one batch of array operations, and each child looks only at what its parent left undecided. What
bisection cannot resolve, planes that meet in one ray, is cut plane by plane (`cuts`).

Cuts are made so that no corner lies on an undecided plane (other than one that holds the whole edge). A face of the
arrangement that touches a simplex therefore never does so only from outside, and the bounds cover open cones and
all their faces alike. Corners are whole numbers: nothing is rounded.

Without this file, cutting plane by plane proves the same: as fast on votes of real models, 6 to 15 times slower for
quartets on thousands of contested questions, of which a search has hundreds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count

import numpy as np

from swaplaw._arrays import Bools, Ints
from swaplaw.panels.arrangement import Arrangement, primitive, spanned
from swaplaw.panels.cuts import Best, OutOfWorkError, best_by_cuts

LARGEST_BATCH = 200_000
"""A level with more undecided planes than this is worked off in halves, the more promising one first."""
PATIENCE = 2
"""Bisections that may leave a simplex all its planes, before they are taken to meet in one ray or flat."""
BATCH = 1_000
"""What a level costs beside its planes, in planes looked at."""
LENGTHS = (1009, 1013, 1019, 1021)
"""Lengths of the corners of the first simplex: primes keep cuts off the planes of small whole numbers."""
LARGEST = 2**50
"""Margins at corners above this are left to exact cuts: the next ones, and those at middles, are a few times larger."""


@dataclass(frozen=True)
class Batch:
    """Simplices, and the planes that are undecided on each."""

    corners: Ints
    """Whole-number corners: simplices x corners x members."""
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
    sign: Ints
    """The sign of its margin at each corner: corners x planes, because short rows reduce slowly."""

    def part(self, simplices: Bools, entries: Bools | None = None) -> Batch:
        """Keep some simplices, and only some of their planes."""
        kept = simplices[self.owner] if entries is None else entries
        return Batch(
            self.corners[simplices],
            self.sure[simplices],
            self.reach[simplices],
            self.patience[simplices],
            (np.cumsum(simplices) - 1)[self.owner[kept]],
            self.plane[kept],
            self.sign[:, kept],
        )


def fits(those: Arrangement) -> bool:
    """Whether bisection can be used: few members, and numbers that 64 bits hold for some levels."""
    small = those.largest < 2**30 and object not in (those.credit.dtype, those.tied.dtype)
    return those.size <= len(LENGTHS) and small


def bisected(best: Best, target: int | None) -> int:
    """Bisect until nothing better is left, or `target` is reached; returns the reach of what the work left over."""
    waiting: list[tuple[int, int, Batch]] = []
    number = count()

    def wait(batch: Batch) -> None:
        if len(batch.sure):
            heappush(waiting, (-int(batch.reach.max()), next(number), batch))

    wait(_first(best.arrangement))
    while waiting and (target is None or best.plateau < target):
        batch = heappop(waiting)[2]
        batch = batch.part(batch.reach > best.plateau)
        if not len(batch.sure):
            continue
        try:
            best.spend(BATCH + len(batch.owner))
            children = _refined(best, batch)
        except OutOfWorkError:
            return max(int(batch.reach.max()), -waiting[0][0] if waiting else -1)
        if len(children.owner) > LARGEST_BATCH:
            far = children.reach >= np.median(children.reach)
            wait(children.part(far))
            children = children.part(~far)
        wait(children)
    return -1


def _first(those: Arrangement) -> Batch:
    """One simplex, whose corners are the members alone."""
    planes = np.arange(len(those.normals))
    return Batch(
        np.diag(np.array(LENGTHS[: those.size]))[None],
        np.array([those.sure]),
        np.array([those.ceiling]),
        np.array([PATIENCE]),
        np.zeros_like(planes),
        planes,
        np.sign(those.margins).astype(np.int8),
    )


def _refined(best: Best, batch: Batch) -> Batch:
    """Bisect every simplex once; children that cannot be better are dropped, those that bisection is stuck on cut."""
    those = best.arrangement
    children = _decided(those, _halves(those, batch), best.plateau)
    _try_middles(best, children)
    children = children.part(children.reach > best.plateau)
    children = children.part(_contested(those, children) > best.plateau)
    stuck = (children.patience == 0) | (children.corners.sum(axis=2).max(axis=1, initial=0) * those.largest > LARGEST)
    for simplex in np.flatnonzero(stuck):
        planes = children.plane[children.owner == simplex]
        best_by_cuts(best, spanned(children.corners[simplex].tolist()), planes, Fraction(int(children.sure[simplex])))
    return children.part(~stuck)


def _halves(those: Arrangement, batch: Batch) -> Batch:
    """Cut the edge of each simplex that most undecided planes cross: first all lower halves, then all upper ones."""
    number, row = len(batch.sure), np.arange(len(batch.sure))
    edges = np.array(list(combinations(range(those.size), 2)))
    crossings = [np.bincount(batch.owner, batch.sign[i] != batch.sign[j], minlength=number) for i, j in edges]
    one, other = edges[np.argmax(crossings, axis=0)].T
    middle, sign = _cut(those, batch, one, other)
    halves = []
    for replaced in (other, one):
        corners, signs = batch.corners.copy(), batch.sign.copy()
        corners[row, replaced] = middle
        signs[replaced[batch.owner], np.arange(len(batch.owner))] = sign
        halves.append(replace(batch, corners=corners, sign=signs))
    lower, upper = halves
    return Batch(
        np.concatenate([lower.corners, upper.corners]),
        np.tile(batch.sure, 2),
        np.tile(batch.reach, 2),
        np.tile(batch.patience, 2),
        np.concatenate([batch.owner, batch.owner + number]),
        np.tile(batch.plane, 2),
        np.concatenate([lower.sign, upper.sign], axis=1),
    )


def _cut(those: Arrangement, batch: Batch, one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Points near the middle of an edge of each simplex, off all planes that don't hold the edge; and the signs there.

    Each plane passes through one point of the edge, so one of finitely many points is free.
    """
    row, entry = np.arange(len(batch.sure)), np.arange(len(batch.owner))
    low, high = batch.corners[row, one], batch.corners[row, other]
    # Powers of two bring the ends to about one length.
    doublings = np.rint(np.log2(low.sum(axis=1) / high.sum(axis=1))).astype(np.int64)[:, None]
    low, high = low << np.maximum(-doublings, 0), high << np.maximum(doublings, 0)
    held = (batch.sign[one[batch.owner], entry] == 0) & (batch.sign[other[batch.owner], entry] == 0)
    middle = low + high
    for power in count(2):
        sign = np.sign(_values(those, middle, batch)).astype(np.int8)
        hit = np.unique(batch.owner[(sign == 0) & ~held])
        if not len(hit):
            return middle, sign
        middle[hit] = (2**power - 1) * low[hit] + (2**power + 1) * high[hit]
    raise AssertionError("unreachable")


def _values(those: Arrangement, points: Ints, batch: Batch) -> Ints:
    """The margin of each undecided plane at a point of its simplex."""
    # Member by member: short rows reduce slowly.
    values = np.zeros(len(batch.owner), dtype=np.int64)
    for margin, part in zip(those.margins, points.T, strict=True):
        values += margin[batch.plane] * part[batch.owner]
    return values


def _decided(those: Arrangement, batch: Batch, score: int) -> Batch:
    """Count what the signs at the corners decide, and keep simplices whose reach exceeds a score."""
    number = len(batch.sure)
    group, owner, question = _groups(those, batch)
    beaten = batch.sign.max(axis=0) <= 0
    pending = (batch.sign.min(axis=0) < 0) & ~beaten
    lost, open_ = np.zeros(len(owner), dtype=bool), np.zeros(len(owner), dtype=bool)
    lost[group[beaten]] = True
    open_[group[pending]] = True
    credit = those.credit[question]
    won, maybe = ~lost & ~open_, ~lost & open_
    sure = batch.sure + _sums(owner[won], credit[won], number)
    reach = sure + _sums(owner[maybe], credit[maybe], number)
    promising = reach > score
    kept = pending & (maybe & promising[owner])[group]
    same = np.bincount(batch.owner[kept], minlength=number) == np.bincount(batch.owner, minlength=number)
    patience = np.where(same, batch.patience - 1, PATIENCE)
    return replace(batch, sure=sure, reach=reach, patience=patience).part(promising, kept)


def _try_middles(best: Best, batch: Batch) -> None:
    """Score the middle of each simplex, and offer the best."""
    if not len(batch.sure):
        return
    those, middle = best.arrangement, batch.corners.sum(axis=1)
    values = _values(those, middle, batch)
    group, owner, question = _groups(those, batch)
    lost = np.zeros(len(owner), dtype=bool)
    lost[group[values <= 0]] = True
    score = batch.sure + _sums(owner[~lost], those.credit[question[~lost]], len(batch.sure))
    # A middle that lies on a plane is no point of an open cone.
    score[batch.owner[values == 0]] = -1
    highest = int(score.argmax())
    best.offer(int(score[highest]), primitive(middle[highest].tolist()), is_open=True)


def _contested(those: Arrangement, batch: Batch) -> Ints:
    """A closer bound: questions that want opposite sides of one plane can't all be won.

    Each undecided question is counted with one of its planes. On the plane itself both sides tie: for half at most, but
    for more of what is left to a question that ties anyway.
    """
    _, owner, question = _groups(those, batch)
    plane = batch.plane[_starts(batch.owner, those.question[batch.plane])]
    code = owner * (int(those.plane.max(initial=0)) + 1) + those.plane[plane]
    order = np.argsort(code, kind="stable")
    owner, plane, code, question = owner[order], plane[order], code[order], question[order]
    runs = np.flatnonzero(_starts(code))
    if not len(runs):
        return batch.sure
    credit = those.credit[question]
    sides = [np.add.reduceat(np.where(those.side[plane] == side, credit, 0), runs) for side in (1, -1)]
    tied = -(-np.add.reduceat(those.tied[question], runs) // those.parts)
    return batch.sure + _sums(owner[runs], np.maximum.reduce([*sides, tied]), len(batch.sure))


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
    return np.bincount(owner, credit, minlength=number).astype(np.int64)
