"""The paper's first look beyond pairs: every trio on a grid of 24ths of the primary's vote, for both secondaries.

A grid maximum in-sample, as in the paper's Table trios. Votes are whole numbers, 24 for the primary and 1 to 24 for
each secondary, so ties are exact. Questions on which no weights can change the outcome are counted once and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import lcm

import numpy as np

from swaplaw._arrays import Bools, Ints
from swaplaw.votes.tally import Tally

PARTS = 24
LARGEST_FLEET = 10
"""Models that trios are made of, the most accurate: as many as the paper has."""
GRID = np.array(list(product(range(1, PARTS + 1), repeat=2)))


@dataclass(frozen=True)
class Trio:
    """A primary, two secondaries and their best weights on the grid."""

    members: tuple[str, str, str]
    weights: tuple[Fraction, Fraction]
    lift: Fraction
    ceiling: Fraction
    """Union rescue mass: the primary wrong, some secondary right."""


def best_trio(tally: Tally) -> Trio | None:
    """Find the trio with the largest lift, each on the questions that all three answered; None where there is none."""
    ranked = sorted(range(len(tally.models)), key=lambda model: (-_accuracy(tally, model), tally.models[model]))
    trios = [_on_grid(tally, trio) for trio in combinations(ranked[:LARGEST_FLEET], 3)]
    found = [trio for trio in trios if trio is not None]
    return max(found, key=lambda trio: (trio.lift, [-weight for weight in trio.weights]), default=None)


def _accuracy(tally: Tally, model: int) -> Fraction:
    scores = tally.scores[model]
    return Fraction(int(scores.numerators.sum()), scores.denominator * int(tally.answered[model].sum()))


def _on_grid(tally: Tally, trio: Sequence[int]) -> Trio | None:
    common: Bools = np.logical_and.reduce(tally.answered[list(trio)], axis=0)
    if not common.any():
        return None
    if not common.all():
        tally = tally.select(models=[tally.models[model] for model in trio], questions=common)
        trio = sorted(range(3), key=lambda model: (-_accuracy(tally, model), tally.models[model]))
    margins = _margins(tally, trio)
    own = tally.scores[trio[0]]
    # Gold keeps or loses a question at all positive weights where no margin, or all of some rival's, are against it.
    secure = tally.rivals.rows.maximum((-margins).max(axis=0), -1).take(tally.rivals.rank) < 0
    lost = tally.rivals.rows.maximum(-(margins.max(axis=0)), -1).take(tally.rivals.rank) > 0
    sums, scale = _scores(tally, margins, ~(secure | lost))
    base = Fraction(int(own.numerators.sum()), own.denominator)
    best = int(sums.argmax())
    a, b = (Fraction(int(part), PARTS) for part in GRID[best])
    lift = (Fraction(int(sums[best]), scale) + int(secure.sum()) - base) / len(tally.questions)
    names = (tally.models[trio[0]], tally.models[trio[1]], tally.models[trio[2]])
    return Trio(names, (a, b), lift, _ceiling(tally, trio))


def _margins(tally: Tally, trio: Sequence[int]) -> Ints:
    """Margins of the three as whole numbers on one scale a question, where sample counts differ, too."""
    margins = np.stack([tally.margins(model) for model in trio]).astype(np.int64)
    votes = tally.votes[list(trio)].astype(np.int64)
    factors = np.lcm.reduce(votes, axis=0) // votes
    if (factors != 1).any():
        margins *= factors[:, tally.rivals.question]
    narrow = 3 * PARTS * int(np.abs(margins).max(initial=0)) < 2**15
    return margins.astype(np.int16) if narrow else margins


def _scores(tally: Tally, margins: Ints, open_: Ints) -> tuple[Ints, int]:
    """Sum of scores over the open questions at every point of the grid, and its denominator."""
    position = np.flatnonzero(open_[tally.rivals.question])
    question = tally.rivals.question[position]
    order = np.argsort(question, kind="stable")
    position, question = position[order], question[order]
    starts = np.flatnonzero(np.diff(question, prepend=-1))
    if not len(starts):
        return np.zeros(len(GRID), dtype=np.int64), 1
    weights = np.column_stack([np.full(len(GRID), PARTS), GRID]).astype(margins.dtype)
    pooled = weights @ margins[:, position]
    least = np.minimum.reduceat(pooled, starts, axis=1)
    ties = 1 + np.add.reduceat(pooled == 0, starts, axis=1, dtype=np.int16)
    ties[least < 0] = 0
    ways = np.unique(ties[ties > 0]).tolist()
    scale = lcm(*ways)
    # Many rivals may tie, so a common scale may be too large for any but Python's own numbers.
    shares = [np.count_nonzero(ties == way, axis=1).astype(object) * (scale // way) for way in ways]
    return sum(shares, np.zeros(len(GRID), dtype=object)), scale


def _ceiling(tally: Tally, trio: Sequence[int]) -> Fraction:
    scores = [tally.scores[model] for model in trio]
    scale = lcm(*(each.denominator for each in scores))
    dtype = np.int64 if scale**3 * len(tally.questions) < 2**63 else object
    wrong = [scale - each.numerators.astype(dtype) * (scale // each.denominator) for each in scores]
    # Primary wrong, less primary and both secondaries wrong.
    total = (wrong[0] * (scale**2 - wrong[1] * wrong[2])).sum()
    return Fraction(int(total), scale**3 * len(tally.questions))
