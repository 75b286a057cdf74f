"""Greedy selection by mutual information: relevant models first, as long as they are not redundant [1]_.

Each model is taken as a channel that tells gold with its accuracy and errs evenly otherwise; two models are redundant
as far as their answers agree. Models are added by relevance less mean redundancy, and of all the leading groups the
one whose log-odds vote is the most accurate is chosen.

References
----------
.. [1] H. Peng, F. Long and C. Ding (2005). Feature selection based on mutual information: criteria of max-dependency,
   max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8).
"""

from __future__ import annotations

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader, rounded
from swaplaw.decide.rules._shares import Shares, shares_of
from swaplaw.decide.rules.log_odds import odds_weights
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally


def information(tally: Tally) -> Choice:
    """Choose a group of relevant models that repeat each other little, at log-odds weights."""
    own = accuracies(tally)
    shares = shares_of(tally)
    options = max(2.0, len(shares.question) / shares.questions)
    relevance = channel(np.array([float(one) for one in own]), options)
    order = _ranked(relevance, channel(agreement_of(shares), options))
    weights = odds_weights(own, len(tally.questions))
    groups = [np.where(np.isin(np.arange(len(own)), order[:size]), weights, 0) for size in range(1, len(own) + 1)]
    choices = [rounded(group, leader(own)) for group in groups]
    return max(choices, key=lambda choice: _score(tally, choice))


def channel(right: Floats, options: float) -> Floats:
    """Bits that a channel carries which tells one of several options with some probability, and else errs evenly."""
    p = np.clip(right, 1e-12, 1 - 1e-12)
    bits = np.log2(options) + p * np.log2(p) + (1 - p) * np.log2((1 - p) / (options - 1)) if options > 1 else 0 * p
    # Worse than chance is as good as a hint, but no vote can take it.
    return np.where(p > 1 / options, bits, 0.0)


def agreement_of(shares: Shares) -> Floats:
    """How often two models give the same answer, models x models."""
    return shares.products / shares.questions


def _ranked(relevance: Floats, redundancy: Floats) -> list[int]:
    order = [int(relevance.argmax())]
    while len(order) < len(relevance):
        value = relevance - redundancy[:, order].mean(axis=1)
        value[order] = -np.inf
        order.append(int(value.argmax()))
    return order


def _score(tally: Tally, choice: Choice) -> float:
    pooled = vote(tally, choice.members, choice.weights)
    return pooled.total / pooled.denominator


RULE = CombiningRule("information", "greedy selection by mutual information, at log-odds weights", information)
