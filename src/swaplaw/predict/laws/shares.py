"""The shares law: lift from what each model's ballots look like in each cell, and whether their best rivals coincide.

Every question belongs to the four cells of the law (only B right, only A, neither, both) in part or wholly. Within a
cell, draw a ballot of A and one of B independently, and let the best rivals be the same with the chance s that they
have in that cell. With g gold's share, t the best rival's and m = g - t, gold wins where

- the rivals are the same: m_A + x m_B > 0;
- they differ: m_A + x g_B > 0 and g_A + x m_B > 0, so that gold beats either.

Equality counts half. The lift is the sum over cells of mass times (chance that gold wins, less A's mean score there).

Compared with the margin law this drops two assumptions: that a model is as unsure where the other is right as it is
where the other is wrong, and that both models run after the same wrong answer. One is left: that within a cell the
sureness of A says nothing about that of B. Where all ballots of a cell are alike (one sample per model, say) it holds,
and the law is exact but for third answers and ties of three. It extends the paper and is not the paper's.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.laws.kinds import Alike, Influence, Margins, alike

# Ballots that are compared at a time.
BLOCK = 2**21


def shares_lift(pair: Pair, weight: str | float | Fraction = DEFAULT_WEIGHT) -> float:
    """Predict a pair's lift from its models' shares in each cell, without pooling a vote.

    Parameters
    ----------
    pair : Pair
        The two models, on the questions that both answered.
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.

    Returns
    -------
    float
        The predicted lift; every pair of ballots in a cell is summed.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")
    >>> round(sl.predict.shares_lift(two, "2/3"), 3)
    -0.018
    """
    return shares_influence(alike(pair), as_weight(weight)).value


def shares_influence(found: Alike, x: Fraction) -> Influence:
    """The shares law and the influence of each common question on it."""
    a, n, cells = found.first.right, found.n, np.stack(found.cells)
    wins, slopes = _won(found, cells, x)
    gain = wins.sum() - a @ found.times
    slope = slopes.sum(axis=0) - a
    return Influence(float(gain / n), (slope - gain / n) / n, found.kind)


def _won(found: Alike, cells: Floats, x: Fraction) -> tuple[Floats, Floats]:
    """How many of each cell's questions gold wins, and how that moves with one question of each kind."""
    weight = cells * found.times
    mass = weight.sum(axis=1)
    in_a, in_b = _by_ballot(weight, found.of_a, found.ballots_a), _by_ballot(weight, found.of_b, found.ballots_b)
    contested = weight @ found.contested
    share = np.divide(weight @ found.same, contested, out=np.ones(4), where=contested > 0)
    (one_a, one_b), (other_a, other_b) = _products(found, in_a, in_b, x)
    by_a = share * one_a + (1 - share) * other_a
    by_b = share * one_b + (1 - share) * other_b
    wins = (in_a * by_a).sum(axis=0)
    apart = ((in_a * one_a).sum(axis=0) - (in_a * other_a).sum(axis=0)) / np.where(contested > 0, contested, 1)
    moved = apart[:, None] * (found.same - share[:, None] * found.contested)
    some = np.where(mass > 0, mass, 1)
    slope = cells * ((by_a.T[:, found.of_a] + by_b.T[:, found.of_b] + moved) / some[:, None])
    return wins / some, slope - cells * (wins / some**2)[:, None]


def _by_ballot(weight: Floats, of: Ints, ballots: Margins) -> Floats:
    """The weight of each ballot in each cell: ballots x cells."""
    sums = [np.bincount(of, own, minlength=len(ballots)) for own in weight]
    return np.stack(sums, axis=1).astype(np.float64)


def _products(found: Alike, in_a: Floats, in_b: Floats, x: Fraction) -> list[tuple[Floats, Floats]]:
    """The tables of wins times the weights of B's ballots, and of A's, for rivals that are the same and others."""
    by_a, by_b = np.zeros((2, *in_a.shape)), np.zeros((2, *in_b.shape))
    here_a, here_b = np.flatnonzero(in_a.any(axis=1)), np.flatnonzero(in_b.any(axis=1))
    second = found.ballots_b.take(here_b)
    step = max(1, BLOCK // max(1, len(here_b)))
    for start in range(0, len(here_a), step):
        rows = here_a[start : start + step]
        for which, wins in enumerate(wins_of(found.ballots_a.take(rows), second, x, every=True)):
            by_a[which, rows] = wins @ in_b[here_b]
            by_b[which, here_b] += wins.T @ in_a[rows]
    return [(by_a[0], by_b[0]), (by_a[1], by_b[1])]


def wins_of(first: Margins, second: Margins, x: Fraction, *, every: bool = False) -> tuple[Floats, Floats]:
    """1 where gold wins, 1/2 where it ties, by whole numbers: with the same best rival, and with different ones.

    Ballots are taken side by side, or (`every`) each of A with each of B.
    """
    largest = max(int(first.votes.max(initial=1)), int(second.votes.max(initial=1)))
    dtype = np.int64 if 2 * largest**2 * max(x.numerator, x.denominator) < 2**62 else object
    gold_a, lead_a, votes_a, gold_b, lead_b, votes_b = (
        each.astype(dtype) for each in (first.gold, first.lead, first.votes, second.gold, second.lead, second.votes)
    )
    if every:
        gold_a, lead_a, votes_a = gold_a[:, None], lead_a[:, None], votes_a[:, None]
    factor_a, factor_b = votes_b * x.denominator, votes_a * x.numerator
    lead_a, lead_b = lead_a * factor_a, lead_b * factor_b
    apart = np.minimum(lead_a + gold_b * factor_b, gold_a * factor_a + lead_b)
    return _half_sign(lead_a + lead_b), _half_sign(apart)


def _half_sign(values: Ints) -> Floats:
    signs: Floats = ((values > 0).astype(np.float64) + (values >= 0)) / 2
    return signs
