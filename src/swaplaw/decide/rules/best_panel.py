"""The most accurate panel of up to three models at certified weights, among the most accurate models."""

from __future__ import annotations

from swaplaw.decide.choice import Choice, alone
from swaplaw.decide.holdout import choice_of
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader
from swaplaw.panels.search import best_panels
from swaplaw.votes.tally import Tally

CANDIDATES = 6
"""Panels are made of this many of the most accurate models: 20 panels of three."""
LARGEST = 3


def best_panel(tally: Tally) -> Choice:
    """Choose members and weights, proven best; equally good: the smaller panel."""
    own = accuracies(tally)
    strong = sorted(sorted(range(len(own)), key=lambda model: (-own[model], model))[:CANDIDATES])
    some = tally.select(models=[tally.models[model] for model in strong])
    sizes = range(2, min(LARGEST, len(strong)) + 1)
    found = [best_panels(some, size, top=1).panels[0] for size in sizes]
    best = max(found, key=lambda one: one.recommended.accuracy, default=None)
    if best is None or best.recommended.accuracy <= max(own):
        return alone(leader(own))
    choice = choice_of(best)
    return Choice(tuple(strong[member] for member in choice.members), choice.weights)


RULE = CombiningRule("best_panel", "the most accurate panel of up to 3 of the 6 best models, certified", best_panel)
