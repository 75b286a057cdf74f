"""From fitted weights to a choice: simple fractions of the largest weight."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.decide.choice import Choice, alone
from swaplaw.votes.tally import Tally

PARTS = 24
"""Weights are whole multiples of a part of the largest: 1/2, 2/3, 3/4 are among them, and rounding moves few votes."""


def accuracies(tally: Tally) -> list[Fraction]:
    """Each model's accuracy over the questions that it answered; 0 if it answered none."""
    answered = tally.answered.sum(axis=1)
    return [
        Fraction(scores.total, scores.denominator * int(number)) if number else Fraction(0)
        for scores, number in zip(tally.scores, answered, strict=True)
    ]


def leader(values: Sequence[Fraction]) -> int:
    """The place of the largest value; of equals the first, which is name order."""
    return max(range(len(values)), key=lambda place: values[place])


def rounded(weights: Floats, fallback: int) -> Choice:
    """Round weights to parts of the largest: that member first, then falling weight, equal weights by name.

    Where no weight is above 0, `fallback` is left alone.
    """
    top = float(weights.max(initial=0))
    if not top > 0:
        return alone(fallback)
    parts = np.rint(weights / top * PARTS).astype(int)
    members = sorted(np.flatnonzero(parts).tolist(), key=lambda member: (-parts[member], member))
    return Choice(tuple(members), tuple(Fraction(int(parts[member]), PARTS) for member in members))
