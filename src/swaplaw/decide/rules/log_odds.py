"""Weights by the log-odds of being right.

For independent voters and two options, log(p / (1 - p)) is the best weight there is [1]_. Models are not independent,
and questions have more options, so this is a rule of thumb; a model that is right less than half the time gets none.

References
----------
.. [1] S. Nitzan and J. Paroush (1982). Optimal decision rules in uncertain dichotomous choice situations. International
   Economic Review 23(2), 289-297.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader, rounded
from swaplaw.votes.tally import Tally


def log_odds(tally: Tally) -> Choice:
    """Weigh every model by the log-odds of its accuracy."""
    found = accuracies(tally)
    return rounded(odds_weights(found, len(tally.questions)), leader(found))


def odds_weights(accuracy: Sequence[Fraction] | Floats, questions: int) -> Floats:
    """Log-odds of accuracies, none below 0; half a right and half a wrong answer keep perfect models finite."""
    right = np.array([float(one) * questions for one in accuracy])
    odds: Floats = np.log((right + 0.5) / (questions - right + 0.5))
    return np.maximum(odds, 0)


RULE = CombiningRule("log_odds", "weights by the log-odds of being right (Nitzan and Paroush)", log_odds)
