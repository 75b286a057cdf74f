"""Agreement between two models' answers, wrong ones included: competitors of the law from the literature.

Both use vote shares as the models' answer probabilities, so they need no plurality and no tie-breaking. Abstention is
an answer like any other. Options that nobody voted for are not recorded in votes, and are not counted.
"""

from __future__ import annotations

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.law.pair import Pair
from swaplaw.predict.margins import Influence
from swaplaw.votes.tally import Tally


def kappa_p(pair: Pair) -> Influence:
    """CAPA: agreement of answers beyond what the accuracies make us expect (Goel et al. 2025).

    With c the mean chance that both give the same answer, p and q the mean shares of gold and k the number of wrong
    answers to a question, kappa_p = (c - e) / (1 - e), e = p q + (1 - p)(1 - q) mean(1 / k).
    """
    gold_a, gold_b, wrong = _agreement(pair)
    agree = gold_a * gold_b + wrong
    one_of = 1 / np.maximum(rivals_per_question(pair.tally)[pair.common], 1)
    c, p, q, k = (float(each.mean()) for each in (agree, gold_a, gold_b, one_of))
    expected = p * q + (1 - p) * (1 - q) * k
    if expected == 1:
        return Influence(np.nan, np.zeros(pair.n))
    value = (c - expected) / (1 - expected)
    move = (gold_a - p) * (q - (1 - q) * k) + (gold_b - q) * (p - (1 - p) * k) + (one_of - k) * (1 - p) * (1 - q)
    return Influence(value, ((agree - c) - (1 - value) * move) / (1 - expected) / pair.n)


def same_wrong(pair: Pair) -> Influence:
    """How often two models that are both wrong give the same answer (Kim et al. 2025), one sample of each."""
    gold_a, gold_b, wrong = _agreement(pair)
    both = (1 - gold_a) * (1 - gold_b)
    if not both.sum():
        return Influence(np.nan, np.zeros(pair.n))
    value = float(wrong.sum() / both.sum())
    return Influence(value, (wrong - value * both) / both.sum())


def rivals_per_question(tally: Tally) -> Floats:
    """How many answers other than gold anybody gave to each question."""
    voted = np.zeros(len(tally.rivals.question))
    voted[tally.positions] = 1
    return np.bincount(tally.rivals.question, voted, minlength=len(tally.questions)).astype(np.float64)


def _agreement(pair: Pair) -> tuple[Floats, Floats, Floats]:
    """Both models' shares of gold on the common questions, and the chance that they give the same wrong answer."""
    tally, where = pair.tally, pair.common
    votes_a, votes_b = (tally.votes[model][where].astype(np.float64) for model in (pair.a, pair.b))
    products = (tally.dense(pair.a) * tally.dense(pair.b)).astype(np.float64)
    wrong = np.bincount(tally.rivals.question, products, minlength=len(tally.questions))[where] / (votes_a * votes_b)
    return tally.gold[pair.a][where] / votes_a, tally.gold[pair.b][where] / votes_b, wrong
