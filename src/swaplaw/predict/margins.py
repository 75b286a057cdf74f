"""Lift from margins: what each model's own votes say about a pair before a vote is pooled.

The paper's S-hat carries conversion rates from one dataset to another. The margin law carries nothing: it derives the
rates of a pair from how sure each of its models is. It extends the paper and is not the paper's.

`margin_lift` draws the two models' margins (gold's share less the best rival's) independently of each other. It needs
the models' votes, but not on the same questions (`margin_lift_apart`). `shares` has the law that knows more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.errors import InputError
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes.tally import Scores, Tally


@dataclass(frozen=True)
class Margins:
    """One model's own votes on some questions: all that the laws here know of them."""

    gold: Ints = field(repr=False)
    """Votes for gold."""
    top: Ints = field(repr=False)
    """Votes for the best rival; abstention is a rival."""
    votes: Ints
    """Votes cast."""
    scores: Scores = field(repr=False)
    """The model's own plurality score."""
    rival: Ints = field(repr=False)
    """Which rival is the best one, as a position in the tally; -1 where nobody voted for any."""

    def __len__(self) -> int:
        return len(self.votes)

    @property
    def lead(self) -> Ints:
        """Votes for gold less votes for the best rival: the margin before it is divided by the votes cast."""
        return self.gold - self.top

    @property
    def accuracy(self) -> Fraction:
        """Mean plurality score."""
        return Fraction(self.scores.total, self.scores.denominator * len(self))

    @cached_property
    def right(self) -> Floats:
        """The scores as floats."""
        return np.asarray(self.scores.numerators / self.scores.denominator, dtype=np.float64)

    @cached_property
    def kinds(self) -> tuple[Ints, Ints]:
        """The different ballots (gold, best rival, votes), and which of them each question has."""
        base = int(self.votes.max(initial=0)) + 1
        if base**3 >= 2**62:
            rows, kind = np.unique([self.gold, self.top, self.votes], axis=1, return_inverse=True)
            return rows, kind.reshape(-1)
        code, kind = np.unique((self.gold * base + self.top) * base + self.votes, return_inverse=True)
        return np.stack([code // base**2, code // base % base, code % base]), kind


def margins_of(tally: Tally, model: int, questions: Bools | None = None) -> Margins:
    """What one model's votes say by themselves.

    Parameters
    ----------
    tally
        The counted votes.
    model
        The model's place in the tally.
    questions
        Which questions to take (a mask); by default those that the model answered.

    Returns
    -------
    Margins
        Counts for gold and for the best rival, votes cast and own scores.
    """
    where = tally.answered[model] if questions is None else questions
    least, position = tally.strongest(model)
    rank = tally.rivals.rank
    gold = tally.gold[model].astype(np.int64)
    rival = np.full(len(gold), -1)
    contested = max(tally.rivals.rows.widths, default=0)
    rival[tally.rivals.order[:contested]] = position[:contested]
    top = gold - least.astype(np.int64).take(rank)
    votes = tally.votes[model].astype(np.int64)
    return Margins(gold[where], top[where], votes[where], Scores(tally.ties[model][where]), rival[where])


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
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    return _margin(first, second, as_weight(weight), pair.masses.rescue, pair.masses.damage)


def margin_lift_apart(
    first: Margins, second: Margins, phi_adj: float | Fraction, weight: str | float | Fraction = DEFAULT_WEIGHT
) -> Fraction:
    """Predict the lift of two models that were never asked the same questions.

    The accuracies and the margins come from each model's own sample of a benchmark, the overlap from phi_adj, which is
    known from elsewhere: 0 for models that err independently, 1 for a secondary that is right only where the primary
    is.

    Parameters
    ----------
    first, second : Margins
        The primary's and the secondary's own votes (see `margins_of`).
    phi_adj : float or Fraction
        The accuracy-adjusted correlation to assume.
    weight : str, float or Fraction
        The weight of the secondary.

    Returns
    -------
    Fraction
        The predicted lift.

    Raises
    ------
    InputError
        If phi_adj is impossible at these accuracies.
    """
    p, q = first.accuracy, second.accuracy
    rescue = q * (1 - p) * (1 - Fraction(phi_adj))
    if not 0 <= rescue <= min(q, 1 - p):
        raise InputError(f"phi_adj of {float(phi_adj):.3g} is impossible at accuracies {float(p):.3g}, {float(q):.3g}")
    return _margin(first, second, as_weight(weight), rescue, rescue + p - q)


def _margin(first: Margins, second: Margins, x: Fraction, rescue: Fraction, damage: Fraction) -> Fraction:
    sweep = _Sweep(first, second, x)
    right_a, right_b = first.scores.numerators, second.scores.numerators
    wrong_a, wrong_b = first.scores.denominator - right_a, second.scores.denominator - right_b
    wins, losses = sweep.wins(wrong_a, right_b), 1 - sweep.wins(right_a, wrong_b)
    return rescue * wins - damage * losses


class _Sweep:
    """All pairs of one question's margin of A and another's of B, by sorting: which sums are positive, which zero."""

    def __init__(self, first: Margins, second: Margins, x: Fraction) -> None:
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

    def slopes(self, of_a: Floats, of_b: Floats) -> tuple[float, Floats]:
        """The same chance as a float, and how it moves with the weight of each question (of A and of B at once)."""
        total_a, total_b = of_a.sum(), of_b.sum()
        if not total_a * total_b:
            return 0.0, np.zeros(len(of_a))
        by_a = np.asarray(self.below(of_b), dtype=np.float64) / 2
        # What B's questions are turned by: all of A less what lies below, found by adding A up along B's order.
        at_least = np.zeros(len(of_b) + 1)
        np.add.at(at_least, self.left, of_a / 2)
        np.add.at(at_least, self.to, of_a / 2)
        by_b = np.empty(len(of_b))
        by_b[self.order] = at_least[::-1].cumsum()[::-1][1:]
        chance = float(of_a @ by_a) / (total_a * total_b)
        slope = of_a * by_a / (total_a * total_b) + of_b * by_b / (total_a * total_b)
        return chance, slope - chance * (of_a / total_a + of_b / total_b)


def _ratios(top: Ints, bottom: Ints, exact: bool) -> npt.NDArray[np.generic]:
    if exact:
        return np.asarray(top / bottom)
    return np.array([Fraction(int(t), int(b)) for t, b in zip(top, bottom, strict=True)], dtype=object)


@dataclass(frozen=True)
class Influence:
    """A number of a pair, and how it moves with the weight of each common question (to first order).

    The numbers here do not change when all weights grow alike, so value plus the weighted sum of `slope` is the number
    of a bootstrap draw, to first order.
    """

    value: float
    slope: Floats = field(repr=False)


def margin_influence(pair: Pair, x: Fraction) -> Influence:
    """The margin law and the influence of each common question on it."""
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    masses = pair.masses
    value = float(_margin(first, second, x, masses.rescue, masses.damage))
    a, b, n = first.right, second.right, pair.n
    sweep = _Sweep(first, second, x)
    wins, wins_slope = sweep.slopes(1 - a, b)
    holds, holds_slope = sweep.slopes(a, 1 - b)
    rescue, damage = float(masses.rescue), float(masses.damage)
    slope = ((1 - a) * b - rescue) / n * wins + rescue * wins_slope
    slope -= (a * (1 - b) - damage) / n * (1 - holds) - damage * holds_slope
    return Influence(value, slope)
