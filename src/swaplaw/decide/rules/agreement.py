"""Weights without labels: whoever agrees with the weighted majority is trusted more (EM for one-coin voters [1]_).

Each model answers a question rightly with a probability of its own, and else errs evenly among the other answers. What
is right is unknown: its probability follows from everybody's answers, and each model's probability from how much of its
votes falls on what is probably right; both are worked out in turn until they settle. Gold is one answer among others
here, so no label has any effect.

References
----------
.. [1] A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm.
   Journal of the Royal Statistical Society C 28(1), 20-28.
"""

from __future__ import annotations

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import rounded
from swaplaw.decide.rules._shares import Shares, shares_of
from swaplaw.votes.tally import Tally

STEPS = 200
SETTLED = 1e-9


def agreement(tally: Tally) -> Choice:
    """Weigh every model by the log-odds of being right, estimated without labels."""
    shares = shares_of(tally).answered()
    return rounded(abilities(shares), fallback=0)


def abilities(shares: Shares) -> Floats:
    """Weights of one-coin voters, none below 0, from votes alone."""
    if not shares.questions:
        return np.zeros(shares.models)
    voted = np.asarray(shares.matrix.sum(axis=0), dtype=np.float64).ravel()
    options = max(2.0, len(shares.question) / shares.questions)
    weights = np.ones(shares.models)
    for _ in range(STEPS):
        # One vote right and one wrong keep everybody's probability between 0 and 1.
        right = (shares.fallen(shares.probabilities(weights)) + 1) / (voted + 2)
        before, weights = weights, np.maximum(np.log(right / (1 - right) * (options - 1)), 0)
        if np.abs(weights - before).max() < SETTLED:
            break
    return weights


RULE = CombiningRule("agreement", "weights from agreement alone, without labels (EM)", agreement, needs_labels=False)
