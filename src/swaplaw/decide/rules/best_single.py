"""The most accurate model by itself: what every ensemble has to beat."""

from __future__ import annotations

from fractions import Fraction

from swaplaw.decide.choice import Choice, alone
from swaplaw.decide.rules import CombiningRule
from swaplaw.votes.tally import Tally


def best_single(tally: Tally) -> Choice:
    """Choose the most accurate model; equal accuracies: name order."""
    return alone(max(range(len(tally.models)), key=lambda model: _accuracy(tally, model)))


def _accuracy(tally: Tally, model: int) -> Fraction:
    scores = tally.scores[model]
    return Fraction(scores.total, scores.denominator * int(tally.answered[model].sum()))


RULE = CombiningRule("best_single", "the most accurate model alone", best_single)
