"""Conditional rates: how often gold wins at which margin, learnt on some votes and applied to others.

A competitor of the laws that fit nothing. For the questions that only one of two models gets right, gold's chance to
win the pooled vote is counted by the pooled margin (m_A + x m_B) / (1 + x), in bins, over all pairs of a dataset. A
pair of other votes is then predicted from its own margins on the same questions, nothing of it being pooled.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw.law.pair import Pair
from swaplaw.law.weights import vote
from swaplaw.predict.laws.kinds import margins_of

BINS = 10


def conditional_rates(pairs: Iterable[Pair], x: Fraction) -> Floats:
    """How often gold wins by pooled margin, where only the secondary is right and where only the primary is.

    Parameters
    ----------
    pairs : iterable of Pair
        The pairs to learn from; each question of each pair counts once.
    x : Fraction
        The weight of the secondary.

    Returns
    -------
    array
        Chances, 2 x bins; NaN where no question fell.
    """
    won, asked = np.zeros((2, BINS)), np.zeros((2, BINS))
    for pair in pairs:
        pooled = vote(pair.tally, [pair.a, pair.b], [Fraction(1), x])
        score = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)[pair.common]
        place, masses = _placed(pair, x)
        for cell, mass in enumerate(masses):
            won[cell] += np.bincount(place, mass * score, minlength=BINS)
            asked[cell] += np.bincount(place, mass, minlength=BINS)
    rates: Floats = np.where(asked > 0, won / np.where(asked > 0, asked, 1), np.nan)
    return rates


def conditional_lift(pair: Pair, x: Fraction, rates: Floats) -> float:
    """Predict a pair's lift by rates from other votes.

    Parameters
    ----------
    pair : Pair
        The two models.
    x : Fraction
        The weight of the secondary, which the rates have to be learnt at.
    rates : array
        What `conditional_rates` gave; a bin that nothing is known of counts as the sign of its margin.

    Returns
    -------
    float
        The predicted lift.
    """
    place, masses = _placed(pair, x)
    chance = np.where(np.isnan(rates), np.arange(BINS) >= BINS / 2, rates)
    rescued = masses[0] @ chance[0][place]
    damaged = masses[1] @ (1 - chance[1][place])
    return float(rescued - damaged) / pair.n


def _placed(pair: Pair, x: Fraction) -> tuple[Ints, tuple[Floats, Floats]]:
    """The bin of each common question, and how far only the secondary or only the primary is right there."""
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    pooled = (first.lead / first.votes + float(x) * (second.lead / second.votes)) / (1 + float(x))
    place = np.clip(np.floor((pooled + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)
    a, b = first.right, second.right
    return place, ((1 - a) * b, a * (1 - b))
