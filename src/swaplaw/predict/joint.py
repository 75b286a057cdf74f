"""The joint law: lift from both models' margins on the same questions, without knowing which answers they gave.

The margin and the shares law draw the two models' ballots independently of each other, in the whole dataset or within a
cell. But where a question is hard for one model it tends to be hard for the other, so margins depend on each other. The
joint law takes them as they are, question by question, and leaves only one thing to chance: whether the models' best
rivals are the same answer, which they are with the chance s that they have in the question's cell. As in the shares
law, gold wins where m_A + x m_B > 0 if they are, and where it beats either rival if they are not; equality counts half.

It is one step short of pooling: exact but for third answers, for ties of three, and for which questions the rivals
coincide on. So it needs as much as pooling does, the same questions for both models, and is a yardstick of what
margins can tell at all. It extends the paper and is not the paper's.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.margins import Influence, Margins, margins_of


def joint_lift(pair: Pair, weight: str | float | Fraction = DEFAULT_WEIGHT) -> float:
    """Predict a pair's lift from both models' margins on every question, without pooling a vote.

    Parameters
    ----------
    pair : Pair
        The two models, on the questions that both answered.
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.

    Returns
    -------
    float
        The predicted lift.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")
    >>> round(sl.predict.joint_lift(two, "2/3"), 3), float(two.at("2/3").lift)
    (-0.024, -0.03)
    """
    return joint_influence(pair, as_weight(weight)).value


def joint_influence(pair: Pair, x: Fraction) -> Influence:
    """The joint law and the influence of each common question on it."""
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    a, b = first.right, second.right
    same_wins, apart_wins = _wins(first, second, x)
    contested = (first.top > 0) & (second.top > 0)
    same = contested & (first.rival == second.rival)
    slope = -a
    for weight in ((1 - a) * b, a * (1 - b), (1 - a) * (1 - b), a * b):
        many = float(weight @ contested)
        share = float(weight @ same) / many if many else 1.0
        moved = float(weight @ (same_wins - apart_wins)) / (many or 1.0)
        slope = slope + weight * (share * same_wins + (1 - share) * apart_wins + moved * (same - share * contested))
    gain = float(slope.sum()) / pair.n
    return Influence(gain, (slope - gain) / pair.n)


def _wins(first: Margins, second: Margins, x: Fraction) -> tuple[Floats, Floats]:
    """1 where gold wins, 1/2 where it ties, in whole numbers: with the same best rival, and with different ones."""
    largest = max(int(first.votes.max(initial=1)), int(second.votes.max(initial=1)))
    dtype = np.int64 if 2 * largest**2 * max(x.numerator, x.denominator) < 2**62 else object
    factor_a = second.votes.astype(dtype) * x.denominator
    factor_b = first.votes.astype(dtype) * x.numerator
    lead_a, lead_b = first.lead * factor_a, second.lead * factor_b
    apart = np.minimum(lead_a + second.gold * factor_b, first.gold * factor_a + lead_b)
    same, other = (((values > 0).astype(np.float64) + (values >= 0)) / 2 for values in (lead_a + lead_b, apart))
    return same, other
