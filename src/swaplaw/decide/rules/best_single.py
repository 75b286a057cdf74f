"""The most accurate model by itself: what every ensemble has to beat."""

from __future__ import annotations

from swaplaw.decide.choice import Choice, alone
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader
from swaplaw.votes.tally import Tally


def best_single(tally: Tally) -> Choice:
    """Choose the most accurate model; equal accuracies: name order."""
    return alone(leader(accuracies(tally)))


RULE = CombiningRule("best_single", "the most accurate model alone", best_single)
