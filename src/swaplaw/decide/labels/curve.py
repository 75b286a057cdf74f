"""Bounds on a pair's lift at every weight, from the labels at hand.

On one question every category's pooled share is a line in the weight x, so the answers that lead form an upper
envelope: a few points at which the tie set changes, and open intervals between them. Between all questions' points
nothing changes, so the bounds on lift are a step function of x, exact at every weight.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from swaplaw.decide.labels.change import MOST_SPELLINGS, Change, changing_questions
from swaplaw.votes.ballots import Ballots

ZERO = Fraction(0)


@dataclass(frozen=True)
class Stretch:
    """Weights at which the bounds are the same: one point, or an open interval."""

    start: Fraction
    end: Fraction | None
    """None: without end. A point where it equals the start."""
    low: Fraction
    high: Fraction

    @property
    def weight(self) -> Fraction:
        """A weight inside."""
        if self.end is None:
            return self.start + 1
        return (self.start + self.end) / 2

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, weights as text."""
        end = None if self.end is None else str(self.end)
        return {"start": str(self.start), "end": end, "lift_low": float(self.low), "lift_high": float(self.high)}


@dataclass(frozen=True)
class CurveBounds:
    """Bounds on lift at every weight."""

    primary: str
    secondary: str
    n: int
    changed: int
    """Questions that change at some weight: with labels for these the whole curve is known."""
    changed_labelled: int
    stretches: tuple[Stretch, ...] = field(repr=False)

    @property
    def at_most(self) -> Stretch:
        """Where the upper bound is highest: no weight can help by more than that."""
        return max(self.stretches, key=lambda each: (each.high, -each.start))

    def at(self, weight: Fraction) -> Stretch:
        """The stretch that a weight above 0 is in."""
        place = bisect_left([each.start for each in self.stretches[1::2]], weight)
        point = self.stretches[2 * place + 1] if 2 * place + 1 < len(self.stretches) else None
        return point if point is not None and point.start == weight else self.stretches[2 * place]

    @property
    def known(self) -> bool:
        """Whether the lift is known exactly at every weight."""
        return all(each.low == each.high for each in self.stretches)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data."""
        most = self.at_most
        return {
            "primary": self.primary,
            "secondary": self.secondary,
            "n": self.n,
            "changed": self.changed,
            "changed_labelled": self.changed_labelled,
            "lift_at_most": float(most.high),
            "at_weight": str(most.weight),
            "known": self.known,
            "stretches": [each.to_dict() for each in self.stretches],
        }


def curve_bounds(ballots: Ballots, primary: str, secondary: str) -> CurveBounds:
    """Bound the lift of a pair at every weight above 0.

    Parameters
    ----------
    ballots : Ballots
        Counted votes, labelled or not.
    primary, secondary : str
        The pair.

    Returns
    -------
    CurveBounds
        Stretches of weights with their bounds, from 0 upwards, points and open intervals in turn.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.votes.ballots import ballots_of
    >>> found = curve_bounds(ballots_of(sl.demo_votes()).without_labels(), "gpt-4", "mistral-large")
    >>> found.changed, float(found.at_most.high)
    (17, 0.16)
    """
    a, b = ballots.index(primary), ballots.index(secondary)
    changing = changing_questions(ballots, a, b)
    points = sorted({point for place in np.flatnonzero(changing) for point in _points(ballots, a, b, int(place))})
    n = int(((ballots.votes[a] > 0) & (ballots.votes[b] > 0)).sum())
    # What no weight changes adds nothing at any.
    kept = ballots.select(changing)
    found = [_stretch(kept, a, b, start, end, n) for start, end in _parts(points)]
    return CurveBounds(
        primary,
        secondary,
        n,
        int(changing.sum()),
        int((changing & ballots.labelled).sum()),
        tuple(found),
    )


def _parts(points: Sequence[Fraction]) -> Iterator[tuple[Fraction, Fraction | None]]:
    """Points and the open intervals around them, from 0 upwards."""
    start = ZERO
    for point in points:
        yield start, point
        yield point, point
        start = point
    yield start, None


def _stretch(ballots: Ballots, a: int, b: int, start: Fraction, end: Fraction | None, n: int) -> Stretch:
    blank = Stretch(start, end, ZERO, ZERO)
    if not ballots.questions:
        return blank
    change = Change(ballots, (a, b), (Fraction(1), blank.weight))
    share = Fraction(change.n, n)
    return Stretch(start, end, change.low * share, change.high * share)


def _points(ballots: Ballots, a: int, b: int, question: int) -> frozenset[Fraction]:
    """Weights at which the tie set of one question may change; many questions look alike."""
    own = slice(ballots.starts[question], ballots.starts[question + 1])
    counts = tuple(sorted(zip(ballots.counts[a, own].tolist(), ballots.counts[b, own].tolist(), strict=True)))
    return _crossings(counts, int(ballots.votes[a, question]), int(ballots.votes[b, question]), ballots.graded)


@lru_cache(maxsize=65_536)
def _crossings(counts: tuple[tuple[int, int], ...], first: int, second: int, graded: bool) -> frozenset[Fraction]:
    """Where leaders change, of categories with these numbers of votes of the two models."""
    lines = [(Fraction(one, first), Fraction(other, second)) for one, other in counts]
    if graded:
        return _crossings_of_sets(lines)
    found = set()
    for (one, rise), (other, slope) in combinations(lines, 2):
        point = _crossing(one - other, rise - slope)
        if point is not None and one + point * rise == max(share + point * growth for share, growth in lines):
            found.add(point)
    return frozenset(found)


def _crossings_of_sets(lines: Sequence[tuple[Fraction, Fraction]]) -> frozenset[Fraction]:
    """Where a set of answers that are all right would be level with another answer."""
    if len(lines) > MOST_SPELLINGS:
        return frozenset()
    found = set()
    for size in range(1, len(lines)):
        for chosen in combinations(range(len(lines)), size):
            share, rise = (sum((lines[place][part] for place in chosen), ZERO) for part in (0, 1))
            for rival in set(range(len(lines))) - set(chosen):
                found.add(_crossing(share - lines[rival][0], rise - lines[rival][1]))
    return frozenset(point for point in found if point is not None)


def _crossing(apart: Fraction, growth: Fraction) -> Fraction | None:
    """The weight above 0 at which a lead of `apart` that grows by `growth` is nought."""
    point = -apart / growth if growth else ZERO
    return point if point > 0 else None
