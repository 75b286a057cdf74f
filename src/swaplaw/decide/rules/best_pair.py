"""The pair and the weight with the highest accuracy, or a single model where no pair does better: exact."""

from __future__ import annotations

import numpy as np

from swaplaw._core.parallel import ALONE, Crew
from swaplaw.decide.choice import Choice, PairRule, Recorded, Rule, all_pairs
from swaplaw.decide.rules import CombiningRule
from swaplaw.votes.tally import Tally


def best_pair(tally: Tally) -> Choice:
    """Choose among all pairs at all weights."""
    (choice,) = pairs_at_once(tally, ALONE)(np.ones((1, len(tally.questions)), dtype=bool))
    return choice


def pairs_at_once(tally: Tally, crew: Crew) -> Rule:
    """Curves of all pairs serve all training parts."""
    models = tuple(range(len(tally.models)))
    return PairRule(Recorded(tally), models, all_pairs(models), crew=crew)


RULE = CombiningRule("best_pair", "the most accurate pair at its best weight", best_pair, at_once=pairs_at_once)
