"""What the rules of `combine` choose when labels are missing."""

from __future__ import annotations

import numpy as np

from swaplaw.decide.crossfit import Choice
from swaplaw.decide.rules import RULES
from swaplaw.errors import InputError, quote
from swaplaw.votes.ballots import Ballots


def choice_of(ballots: Ballots, rule: str) -> Choice:
    """Choose members and weights by a rule: from the labels at hand, or from votes alone where it needs none."""
    found = RULES[rule]
    if found.needs_labels and not ballots.labelled.any():
        free = ", ".join(name for name in RULES if not RULES[name].needs_labels)
        raise InputError(f"rule {quote(rule)} needs labels, and there are none yet; these need none: {free}")
    tally = ballots.tally(labelled=found.needs_labels)
    everyone = np.logical_and.reduce(tally.votes > 0)
    if not everyone.any():
        raise InputError(f"no question of dataset {quote(ballots.dataset)} was answered by every model")
    return found.on_all(tally.select(questions=everyone))
