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

from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.laws.kinds import Alike, Influence, alike
from swaplaw.predict.laws.shares import wins_of


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
    return joint_influence(alike(pair), as_weight(weight)).value


def joint_influence(found: Alike, x: Fraction) -> Influence:
    """The joint law and the influence of each common question on it."""
    same_wins, apart_wins = wins_of(found.first, found.second, x)
    slope = -found.first.right
    for cell in found.cells:
        weight = cell * found.times
        many = float(weight @ found.contested)
        share = float(weight @ found.same) / many if many else 1.0
        moved = float(weight @ (same_wins - apart_wins)) / (many or 1.0)
        chance = share * same_wins + (1 - share) * apart_wins
        slope = slope + cell * (chance + moved * (found.same - share * found.contested))
    gain = float(slope @ found.times) / found.n
    return Influence(gain, (slope - gain) / found.n, found.kind)
