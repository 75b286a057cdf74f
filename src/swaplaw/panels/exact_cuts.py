"""Settle a small cone of weights exactly, plane by plane: its open parts, their faces, and the faces of these.

Each plane that parts the cone cuts it into a negative, a zero and a positive part, until no plane parts what is
left; parts that can't beat the best so far are dropped. This ends after finitely many cuts wherever planes meet,
also where many of them meet in one ray, which bisection alone would never resolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.panels.arrangement import Arrangement
from swaplaw.panels.cones import Cone, Ray, product

CUT = 500
"""What a cut costs beside its planes, in planes looked at."""


class OutOfTimeError(Exception):
    """The deadline has passed, or the effort is spent, before a cone was settled."""


@dataclass
class Effort:
    """How much work may still be done, in planes looked at: the same on every machine, unlike time."""

    left: float

    def spend(self, work: float) -> None:
        """Stop where nothing is left."""
        self.left -= work
        if self.left < 0:
            raise OutOfTimeError


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
    deadline: float | None = None
    effort: Effort | None = None

    def offer(self, score: Fraction | int, point: Ray, is_open: bool) -> None:
        """Keep a score if it is better."""
        if is_open and score > self.plateau:
            self.plateau, self.plateau_at = int(score), point
        if score > self.face:
            self.face, self.face_at = Fraction(score), point

    def check_time(self, work: int) -> None:
        """Stop where the time is up, or where so much work is more than may still be done."""
        if self.effort is not None:
            self.effort.spend(work)
        if self.deadline is not None and monotonic() >= self.deadline:
            raise OutOfTimeError


def best_by_cuts(best: Best, cone: Cone, planes: Ints, sure: Fraction) -> None:
    """Offer `best` the best open cone and the best face within a cone.

    `planes` are all that may part the cone, in order of their questions; `sure` is the score of all other questions.
    """
    best.check_time(CUT + len(planes))
    those = best.arrangement
    values = product(those.normals[planes], cone.matrix)
    high, low = values.max(axis=1), values.min(axis=1)
    names, group = np.unique(those.question[planes], return_inverse=True)
    lost = np.bincount(group, (high <= 0) & (low < 0)) > 0
    parted = (high > 0) & (low < 0)
    pending = (np.bincount(group, parted) > 0) & ~lost
    credit = _credits(those, names, np.bincount(group, (high == 0) & (low == 0)).astype(np.int64))

    won = sure + _sum(credit[~lost & ~pending])
    reach = won + _sum(credit[pending])
    if reach <= (best.plateau if cone.is_open else best.face):
        return
    if not pending.any():
        best.offer(reach, cone.inside, cone.is_open)
        return
    weight = np.bincount(those.plane[planes], np.where(parted & pending[group], credit[group].astype(float), 0))
    chosen = int(np.flatnonzero((those.plane[planes] == weight.argmax()) & parted)[0])
    negative, zero, positive = cone.cut(tuple(map(int, those.normals[planes[chosen]])))
    kept = planes[pending[group]]
    for part in (negative, positive, zero):
        if part is not None:
            best_by_cuts(best, part, kept, won)


def _credits(those: Arrangement, names: Ints, zeros: Ints) -> Ints:
    """What each question scores where it is won: whole units off all planes, fractions of them on planes."""
    if not zeros.any():
        return those.credit[names]
    credits = [
        Fraction(int(copies) * those.unit, int(ties + zero))
        for copies, ties, zero in zip(those.copies[names], those.ties[names], zeros, strict=True)
    ]
    return np.array(credits, dtype=object)


def _sum(credits: Ints) -> Fraction:
    """Add up exactly, at the speed of NumPy where all are whole."""
    return sum(credits, Fraction(0)) if credits.dtype == object else Fraction(int(credits.sum()))
