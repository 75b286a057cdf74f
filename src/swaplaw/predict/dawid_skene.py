"""Dawid and Skene's model: who errs how, and what is right, from answers alone.

Every model has a confusion matrix: how often it answers j where g is right. What is right is unknown; its probability
follows from everybody's answers and matrices, and each matrix from what is probably right. Both are worked out in turn
(EM [1]_), from shares of votes, beginning with the vote of all. It takes questions that share their answers (letters).

Models that err alike look like models that are right: where wrong answers agree, every estimate from agreement alone is
too high.

References
----------
.. [1] A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm.
   Journal of the Royal Statistical Society C 28(1), 20-28.
"""

from __future__ import annotations

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.errors import InputError

STEPS = 100
SETTLED = 1e-5
"""Gain in log-likelihood per vote below which it ends: going on would fit matrices to noise."""
LEAST = 1e-10
"""No probability is taken to be smaller."""


def dawid_skene(shares: Floats, steps: int = STEPS, settled: float = SETTLED) -> Floats:
    """Estimate how likely each answer is right.

    Parameters
    ----------
    shares : array
        Models x questions x answers: the share of each answer in a model's votes.
    steps : int
        Rounds of EM at most.
    settled : float
        Gain in log-likelihood per vote below which it ends.

    Returns
    -------
    array
        Questions x answers: probabilities.

    Raises
    ------
    InputError
        If the array does not have three dimensions, or a question has no answer.

    Examples
    --------
    >>> votes = np.eye(2)[[[0, 1, 0], [0, 1, 0], [0, 1, 1]]]
    >>> dawid_skene(votes).argmax(axis=1).tolist()
    [0, 1, 0]
    """
    if shares.ndim != 3:
        raise InputError(f"shares have {shares.ndim} dimensions; give models x questions x answers")
    right: Floats = shares.sum(axis=0)
    total = right.sum(axis=1, keepdims=True)
    if not (total > 0).all():
        raise InputError("a question has no answer: leave it out")
    right = right / total
    votes, before = float(shares.sum()), -np.inf
    for _ in range(steps):
        right, likelihood = _expect(shares, right.mean(axis=0), _confusion(shares, right))
        if (likelihood - before) / votes < settled:
            break
        before = likelihood
    return right


def _confusion(shares: Floats, right: Floats) -> Floats:
    """How often each model answers j where g is right: models x j x g."""
    counted = np.maximum(np.einsum("mij,ig->mjg", shares, right, optimize=True), LEAST)
    found: Floats = counted / counted.sum(axis=1, keepdims=True)
    return found


def _expect(shares: Floats, priors: Floats, confusion: Floats) -> tuple[Floats, float]:
    """How likely each answer is right, given everybody's answers, and the log-likelihood of these."""
    logs = np.log(np.maximum(priors, LEAST)) + np.einsum("mij,mjg->ig", shares, np.log(confusion), optimize=True)
    top = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - top)
    total = odds.sum(axis=1, keepdims=True)
    return odds / total, float((top + np.log(total)).sum())
