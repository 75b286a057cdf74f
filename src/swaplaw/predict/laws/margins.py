"""Lift from margins: what each model's own votes say about a pair before a vote is pooled.

The paper's S-hat carries conversion rates from one dataset to another. The margin law carries nothing: it derives the
rates of a pair from how sure each of its models is. It extends the paper and is not the paper's.

`margin_lift` draws the two models' margins (gold's share less the best rival's) independently of each other. It needs
the models' votes, but of their overlap the masses only. `shares` has the law that knows more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Floats, Ints
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.laws.kinds import Alike, Influence, Margins, alike


def margin_lift(pair: Pair, weight: str | float | Fraction = DEFAULT_WEIGHT) -> Fraction:
    """Predict a pair's lift from its masses and each model's margins; nothing is fitted or pooled.

    L(x) = r P_R[m_A + x m_B > 0] - d P_D[m_A + x m_B < 0], with the margins of the two models drawn independently: in
    P_R from the questions that A gets wrong and those that B gets right, in P_D the other way round. Fractional scores
    are weights, and equality counts half.

    Parameters
    ----------
    pair : Pair
        The two models, on the questions that both answered.
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.

    Returns
    -------
    Fraction
        The predicted lift, exact: every pair of questions is summed.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")
    >>> round(float(sl.predict.margin_lift(two, "2/3")), 4)
    0.0103
    """
    found = alike(pair)
    sweep = _Sweep(found.first, found.second, as_weight(weight))
    return _margin(sweep, found.times, found.times, pair.masses.rescue, pair.masses.damage)


def _margin(sweep: _Sweep, times_a: Ints, times_b: Ints, rescue: Fraction, damage: Fraction) -> Fraction:
    """The margin law of ballots that occur so often."""
    of_a, of_b = sweep.first.scores, sweep.second.scores
    right_a, right_b = of_a.numerators * times_a, of_b.numerators * times_b
    wrong_a, wrong_b = of_a.denominator * times_a - right_a, of_b.denominator * times_b - right_b
    wins, losses = sweep.wins(wrong_a, right_b), 1 - sweep.wins(right_a, wrong_b)
    return rescue * wins - damage * losses


class _Sweep:
    """All pairs of one question's margin of A and another's of B, by sorting: which sums are positive, which zero."""

    def __init__(self, first: Margins, second: Margins, x: Fraction) -> None:
        self.first, self.second = first, second
        bound = int(first.votes.max(initial=1)) * int(second.votes.max(initial=1)) * x.denominator * (int(x) + 1)
        # Below the bound equal rationals are equal floats and different ones different: each is rounded once.
        exact = bound < 2**50
        self.a = _ratios(first.lead, first.votes, exact)
        self.b = _ratios(-second.lead * x.numerator, second.votes * x.denominator, exact)
        self.order = np.argsort(self.b, kind="stable")
        ordered = self.b[self.order]
        self.left, self.to = (np.searchsorted(ordered, self.a, side) for side in ("left", "right"))

    def below(self, of_b: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Twice the weight of B's questions that turn each of A's positive, ties counting half."""
        running = np.concatenate([of_b[:0].sum(keepdims=True), np.cumsum(of_b[self.order])])
        twice: npt.NDArray[np.generic] = running[self.left] + running[self.to]
        return twice

    def wins(self, of_a: Ints, of_b: Ints) -> Fraction:
        """The chance that the sum is positive, with these weights of A's and B's questions; 0 where there are none."""
        total = int(of_a.sum()) * int(of_b.sum())
        if not total:
            return Fraction(0)
        dtype = np.int64 if 2 * total < 2**62 else object
        return Fraction(int((of_a.astype(dtype) * self.below(of_b.astype(dtype))).sum()), 2 * total)

    def slopes(self, of_a: Floats, of_b: Floats, times: Ints) -> tuple[float, Floats, Floats]:
        """The same chance as a float, and how it moves with one question's ballot of A and with its ballot of B."""
        all_a, all_b = of_a * times, of_b * times
        total_a, total_b = all_a.sum(), all_b.sum()
        if not total_a * total_b:
            return 0.0, np.zeros(len(of_a)), np.zeros(len(of_a))
        by_a = np.asarray(self.below(all_b), dtype=np.float64) / 2
        # What B's questions are turned by: all of A less what lies below, found by adding A up along B's order.
        at_left, at_right = (np.bincount(ends, all_a / 2, minlength=len(of_b) + 1) for ends in (self.left, self.to))
        by_b = np.empty(len(of_b))
        by_b[self.order] = (at_left + at_right)[::-1].cumsum()[::-1][1:]
        chance = float(all_a @ by_a) / (total_a * total_b)
        moved_a = of_a * (by_a / (total_a * total_b) - chance / total_a)
        return chance, moved_a, of_b * (by_b / (total_a * total_b) - chance / total_b)


def _ratios(top: Ints, bottom: Ints, exact: bool) -> npt.NDArray[np.generic]:
    if exact:
        return np.asarray(top / bottom)
    return np.array([Fraction(int(t), int(b)) for t, b in zip(top, bottom, strict=True)], dtype=object)


@dataclass(frozen=True)
class MarginParts:
    """The margin law of a pair, and how it moves: with the cells of a question, and with either ballot by itself.

    A question moves it by its part of the rescue mass times `by_rescue`, of the damage mass times `by_damage`, and by
    what its two ballots do. Ballots count by margin and tie only, so that few numbers say all of it.
    """

    value: float
    by_rescue: float
    by_damage: float
    by_a: Floats = field(repr=False)
    """For each kind of question, what the primary's ballot does."""
    by_b: Floats = field(repr=False)


def margin_parts(found: Alike, x: Fraction) -> MarginParts:
    """The margin law and what it moves by."""
    masses, n = found.pair.masses, found.n
    sweep = _Sweep(found.first, found.second, x)
    value = float(_margin(sweep, found.times, found.times, masses.rescue, masses.damage))
    a, b = found.first.right, found.second.right
    wins, wins_a, wins_b = sweep.slopes(1 - a, b, found.times)
    holds, holds_a, holds_b = sweep.slopes(a, 1 - b, found.times)
    rescue, damage = float(masses.rescue), float(masses.damage)
    # What keeps the law the same when all weights grow alike is put down to the primary's ballot.
    level = (damage * (1 - holds) - rescue * wins) / n
    by_a, by_b = rescue * wins_a + damage * holds_a + level, rescue * wins_b + damage * holds_b
    return MarginParts(value, wins / n, -(1 - holds) / n, by_a, by_b)


def margin_influence(found: Alike, x: Fraction) -> Influence:
    """The margin law and the influence of each common question on it."""
    parts = margin_parts(found, x)
    rescue, damage, *_ = found.cells
    slope = rescue * parts.by_rescue + damage * parts.by_damage + parts.by_a + parts.by_b
    return Influence(parts.value, slope, found.kind)
