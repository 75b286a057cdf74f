"""Laws of lift from the models' own votes, which carry nothing from other votes: the margin, shares and joint law.

The paper's S-hat carries conversion rates from one dataset to another. These laws derive the rates of a pair from how
sure each of its models is. They extend the paper and are not the paper's. All that they know of a question are the two
ballots (votes for gold, for the best rival, cast, and how large the tie is) and whether the best rivals are the same
answer. Of ten thousand questions a few hundred kinds are left, so a law is worked out on kinds, each as often as it
occurs, and then told to the questions.

*Margin law.* The two models' margins (gold's share less the best rival's) are drawn independently of each other. Of
their overlap it needs the masses only.

*Shares law.* Every question belongs to the four cells of the law (only B right, only A, neither, both) in part or
wholly. Within a cell, draw a ballot of A and one of B independently, and let the best rivals be the same with the
chance s that they have in that cell. With g gold's share, t the best rival's and m = g - t, gold wins where

- the rivals are the same: m_A + x m_B > 0;
- they differ: m_A + x g_B > 0 and g_A + x m_B > 0, so that gold beats either.

Equality counts half. The lift is the sum over cells of mass times (chance that gold wins, less A's mean score there).
So two assumptions of the margin law are dropped: that a model is as unsure where the other is right as it is where the
other is wrong, and that both run after the same wrong answer. One is left: that within a cell the sureness of A says
nothing about that of B.

*Joint law.* Both margins are taken as they are, question by question, and only one thing is left to chance: whether the
best rivals are the same answer. It is one step short of pooling: exact but for third answers, for ties of three, and
for which questions the rivals coincide on. So it is a yardstick of what margins can tell at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import several
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

    def __repr__(self) -> str:
        return f"Margins({several(len(self), 'question')}, accuracy={float(self.accuracy):.4f})"

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

    def take(self, places: Ints) -> Margins:
        """The ballots at some places."""
        scores = Scores(self.scores.ties.take(places))
        gold, top, votes, rival = (each.take(places) for each in (self.gold, self.top, self.votes, self.rival))
        return Margins(gold, top, votes, scores, rival)


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

    Examples
    --------
    >>> import swaplaw as sl
    >>> tally = sl.demo_votes().tally()
    >>> margins_of(tally, tally.index("gpt-4"))
    Margins(100 questions, accuracy=0.8100)
    """
    tally = tally.principal
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


@dataclass(frozen=True)
class Alike:
    """Kinds of questions that a pair shares."""

    pair: Pair
    ballots_a: Margins = field(repr=False)
    """The primary's different ballots."""
    ballots_b: Margins = field(repr=False)
    of_a: Ints = field(repr=False)
    """Which of the primary's ballots each kind has."""
    of_b: Ints = field(repr=False)
    same: Bools = field(repr=False)
    """Whether both models' best rivals are the same answer."""
    times: Ints = field(repr=False)
    """How many questions are of each kind."""
    kind: Ints = field(repr=False)
    """Which kind each common question is."""

    @property
    def n(self) -> int:
        """How many questions there are."""
        return len(self.kind)

    @cached_property
    def first(self) -> Margins:
        """The primary's ballot of each kind."""
        return self.ballots_a.take(self.of_a)

    @cached_property
    def second(self) -> Margins:
        """The secondary's ballot of each kind."""
        return self.ballots_b.take(self.of_b)

    @cached_property
    def contested(self) -> Bools:
        """Whether both models have a rival with votes."""
        both: Bools = (self.first.top > 0) & (self.second.top > 0)
        return both

    @cached_property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """How far a question of each kind belongs to each cell: only B right, only A, neither, both."""
        a, b = self.first.right, self.second.right
        return (1 - a) * b, a * (1 - b), (1 - a) * (1 - b), a * b


@dataclass(frozen=True)
class Influence:
    """A number of a pair, and how it moves with the weight of each common question (to first order).

    The numbers here do not change when all weights grow alike, so value plus the weighted sum of slopes is the number
    of a bootstrap draw, to first order.
    """

    value: float
    by_kind: Floats = field(repr=False)
    """How far one question of each kind moves it."""
    kind: Ints = field(repr=False)
    """Which kind each common question is."""

    @property
    def slope(self) -> Floats:
        """How far each common question moves it."""
        return self.by_kind.take(self.kind)


def alike(pair: Pair) -> Alike:
    """Count the kinds of questions that two models share."""
    (ballots_a, kind_a, rival_a), (ballots_b, kind_b, rival_b) = (_ballots(pair.tally, m) for m in (pair.a, pair.b))
    code = kind_a * (2 * len(ballots_b))
    code += kind_b
    code += kind_b
    code += rival_a == rival_b
    if pair.n < pair.of:
        code = code[pair.common]
    found, times, kind = _counted(code, 2 * len(ballots_a) * len(ballots_b))
    of_a, rest = np.divmod(found, 2 * len(ballots_b))
    return Alike(pair, ballots_a, ballots_b, of_a, rest // 2, rest % 2 == 1, times, kind)


def _ballots(tally: Tally, model: int) -> tuple[Margins, Ints, Ints]:
    """A model's different ballots, which of them each question has, and the best rival if it has votes at all."""

    def derive() -> tuple[tuple[Margins, Ints, Ints], int]:
        whole = margins_of(tally, model, np.ones(len(tally.questions), dtype=bool))
        columns = [whole.gold, whole.top, whole.votes, whole.scores.ties.astype(np.int64)]
        code = np.zeros(len(whole), dtype=np.int64)
        for column in columns:
            # Numbered anew after each column, so that codes never outgrow 64 bits.
            code = np.unique(code * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
        _, first = np.unique(code, return_index=True)
        # Without votes a rival is like no other model's.
        rival = np.where(whole.top > 0, whole.rival, -1 - model)
        found = whole.take(first), code, rival
        return found, 2 * code.nbytes

    found: tuple[Margins, Ints, Ints] = tally.derived(("ballots", model), derive)
    return found


# Codes are counted in a table of all that there could be, as long as it has no more places than this per question.
_SPREAD = 8


def _counted(code: Ints, codes: int) -> tuple[Ints, Ints, Ints]:
    """The different codes, how often each occurs, and which of them each question has."""
    if codes > _SPREAD * len(code):
        found, kind, times = np.unique(code, return_inverse=True, return_counts=True)
        return found, times, kind
    counts = np.bincount(code, minlength=codes)
    found = np.flatnonzero(counts)
    place = np.empty(codes, dtype=np.intp)
    place[found] = np.arange(len(found))
    return found, counts[found], place.take(code)


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
    return _margin(sweep, found.times, pair.masses.rescue, pair.masses.damage)


def _margin(sweep: _Sweep, times: Ints, rescue: Fraction, damage: Fraction) -> Fraction:
    """The margin law of ballots that occur so often."""
    of_a, of_b = sweep.first.scores, sweep.second.scores
    right_a, right_b = of_a.numerators * times, of_b.numerators * times
    wrong_a, wrong_b = of_a.denominator * times - right_a, of_b.denominator * times - right_b
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


def margin_influence(found: Alike, x: Fraction) -> Influence:
    """The margin law and the influence of each common question on it."""
    masses, n = found.pair.masses, found.n
    sweep = _Sweep(found.first, found.second, x)
    value = float(_margin(sweep, found.times, masses.rescue, masses.damage))
    a, b = found.first.right, found.second.right
    wins, wins_a, wins_b = sweep.slopes(1 - a, b, found.times)
    holds, holds_a, holds_b = sweep.slopes(a, 1 - b, found.times)
    rescue, damage = float(masses.rescue), float(masses.damage)
    # What keeps the law the same when all weights grow alike is put down to the primary's ballot.
    level = (damage * (1 - holds) - rescue * wins) / n
    by_a, by_b = rescue * wins_a + damage * holds_a + level, rescue * wins_b + damage * holds_b
    in_rescue, in_damage, *_ = found.cells
    return Influence(value, in_rescue * (wins / n) + in_damage * (-(1 - holds) / n) + by_a + by_b, found.kind)


# Ballots that are compared at a time.
BLOCK = 2**21


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
