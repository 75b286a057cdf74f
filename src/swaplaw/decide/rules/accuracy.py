"""Weights in proportion to accuracy."""

from __future__ import annotations

import numpy as np

from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader, rounded
from swaplaw.votes.tally import Tally


def accuracy(tally: Tally) -> Choice:
    """Weigh every model by its own accuracy."""
    found = accuracies(tally)
    return rounded(np.array([float(one) for one in found]), leader(found))


RULE = CombiningRule("accuracy", "weights in proportion to accuracy", accuracy)
