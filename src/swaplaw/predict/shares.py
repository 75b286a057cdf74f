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

from swaplaw._core.arrays import Floats, Ints
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.margins import Influence, Margins, margins_of

# Kinds of ballots that are compared at a time.
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
    return shares_influence(pair, as_weight(weight)).value


def shares_influence(pair: Pair, x: Fraction) -> Influence:
    """The shares law and the influence of each common question on it."""
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    a, b = first.right, second.right
    table = _Table(first, second, x)
    found = [table.cell(w) for w in ((1 - a) * b, a * (1 - b), (1 - a) * (1 - b), a * b)]
    gain = sum(value for value, _ in found) - a.sum()
    slope = sum((slope for _, slope in found), np.zeros(pair.n)) - a
    return Influence(float(gain / pair.n), (slope - gain / pair.n) / pair.n)


class _Table:
    """Which two kinds of ballots let gold win, where the best rivals are the same and where they differ."""

    def __init__(self, first: Margins, second: Margins, x: Fraction) -> None:
        (self.kinds_a, self.kind_a), (self.kinds_b, self.kind_b) = first.kinds, second.kinds
        largest = max(int(first.votes.max(initial=1)), int(second.votes.max(initial=1)))
        dtype = np.int64 if 2 * largest**2 * max(x.numerator, x.denominator) < 2**62 else object
        self.of_a, self.of_b = (kinds.astype(dtype) for kinds in (self.kinds_a, self.kinds_b))
        self.x = x
        self.contested = (first.top > 0) & (second.top > 0)
        self.same = self.contested & (first.rival == second.rival)

    def cell(self, weight: Floats) -> tuple[float, Floats]:
        """How many of a cell's questions gold wins, and how that moves with the weight of each question."""
        mass = weight.sum()
        if not mass:
            return 0.0, np.zeros(len(weight))
        in_a, in_b = (
            np.bincount(kind, weight, minlength=kinds.shape[1]).astype(np.float64)
            for kind, kinds in ((self.kind_a, self.kinds_a), (self.kind_b, self.kinds_b))
        )
        contested = float(weight @ self.contested)
        share = float(weight @ self.same) / contested if contested else 1.0
        (one_a, one_b), (other_a, other_b) = self._products(in_a, in_b)
        by_a = share * one_a + (1 - share) * other_a
        by_b = share * one_b + (1 - share) * other_b
        wins = float(in_a @ by_a)
        move = (in_a @ one_a - in_a @ other_a) * (self.same - share * self.contested) / (contested or 1.0)
        slope = weight * (by_a[self.kind_a] + by_b[self.kind_b] + move) / mass - weight * wins / mass**2
        return wins / mass, slope

    def _products(self, in_a: Floats, in_b: Floats) -> list[tuple[Floats, Floats]]:
        """The tables of wins times the weights of B's kinds, and of A's, for rivals that are the same and others."""
        by_a, by_b = np.zeros((2, len(in_a))), np.zeros((2, len(in_b)))
        here_a, here_b = np.flatnonzero(in_a), np.flatnonzero(in_b)
        step = max(1, BLOCK // max(1, len(here_b)))
        for start in range(0, len(here_a), step):
            rows = here_a[start : start + step]
            for which, wins in enumerate(self._wins(self.of_a[:, rows], self.of_b[:, here_b])):
                by_a[which, rows] = wins @ in_b[here_b]
                by_b[which, here_b] += in_a[rows] @ wins
        return [(by_a[0], by_b[0]), (by_a[1], by_b[1])]

    def _wins(self, of_a: Ints, of_b: Ints) -> tuple[Floats, Floats]:
        """1 where gold wins, 1/2 where it ties, in whole numbers."""
        (gold_a, top_a, votes_a), (gold_b, top_b, votes_b) = of_a[:, :, None], of_b[:, None, :]
        factor_a, factor_b = votes_b * self.x.denominator, votes_a * self.x.numerator
        lead_a, lead_b = (gold_a - top_a) * factor_a, (gold_b - top_b) * factor_b
        apart = np.minimum(lead_a + gold_b * factor_b, gold_a * factor_a + lead_b)
        return _half_sign(lead_a + lead_b), _half_sign(apart)


def _half_sign(values: Ints) -> Floats:
    signs: Floats = ((values > 0).astype(np.float64) + (values >= 0)) / 2
    return signs
