"""Settle a small cone of weights exactly, plane by plane: its open parts, their faces, and the faces of these.

Each plane that parts the cone cuts it into a negative, a zero and a positive part, until no plane parts what is
left; parts that can't beat the best so far are dropped. This ends after finitely many cuts wherever planes meet,
also where many of them meet in one ray, which bisection alone would never resolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.panels.arrangement import Arrangement, Cone, Ray, product
from swaplaw.votes.tally import tie_credit

CUT = 500
"""What a cut costs beside its planes, in planes looked at."""


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

    def enough(self, cone: Cone) -> Fraction | int:
        """What a cone has to score more than to matter."""
        return self.plateau if cone.is_open else self.face

    def spend(self, planes: int) -> None:
        """Account for work, and stop where none is left."""
        if self.work is not None:
            self.work.left -= planes
            if self.work.left < 0:
                raise OutOfWorkError


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
