"""Cascades: ask the secondary only where the primary's lead is small.

The primary answers first. Where its lead, its first answer's share less its second's, exceeds the threshold t, its
answer stands; elsewhere the secondary is asked, too, and the pair votes at weight x. The secondary's votes weigh x all
together, so where the lead exceeds x they can change nothing: with t = x a cascade decides as the pair does, and asks
less. With t below x it asks less still and may decide differently.

Either way accuracy is piecewise constant. Between two neighbouring leads t changes nothing, and between two
breakpoints x changes nothing: so one running sum over questions in the order of their leads, for every stretch of
weights (see `scoresheet`), holds the accuracy of every cascade there is, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.decide.defaults import FOLDS, REPEATS
from swaplaw.decide.holdout import deal
from swaplaw.decide.policy import Member, Policy, Voting
from swaplaw.errors import InputError, quote
from swaplaw.evidence.interval import Effect, effect
from swaplaw.evidence.units import resampling_units
from swaplaw.law.pair import Pair, pair
from swaplaw.law.scoresheet import Scoresheet, scoresheet
from swaplaw.votes.fingerprint import fingerprint_of
from swaplaw.votes.tally import Tally

How = Literal["cascade", "lossless", "pair"]
"""What is chosen on one part of the questions to be judged on another."""


@dataclass(frozen=True)
class Cascade:
    """One cascade on the questions that both models answered."""

    weight: Fraction
    threshold: Fraction | None
    """The secondary is asked where the primary's lead is at most this; None: never."""
    accuracy: Fraction
    lift: Fraction
    """Accuracy over the primary's."""
    asked: Fraction
    """Share of the questions on which the secondary is asked."""
    cost: float | None
    """Mean cost of a question, where costs are known."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "weight": str(self.weight),
            "threshold": None if self.threshold is None else str(self.threshold),
            "accuracy": float(self.accuracy),
            "lift": float(self.lift),
            "asked": float(self.asked),
            "cost": self.cost,
        }


@dataclass(frozen=True)
class HeldOutCascade:
    """A way of choosing judged on questions that had no part in the choice."""

    effect: Effect
    """Accuracy over the primary's."""
    accuracy: float
    asked: float
    cost: float | None
    gains: Floats = field(repr=False)
    """Score of each common question over the primary's, on average over the deals."""
    units: Ints = field(repr=False)
    """The unit of each common question."""

    def over(self, other: HeldOutCascade) -> Effect:
        """How much more accurate this way of choosing is than another, question by question."""
        return effect(self.gains - other.gains, self.units)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        rest = {"accuracy": self.accuracy, "asked": self.asked, "cost": self.cost}
        return {**ends(self.effect), **rest}


def ends(found: Effect) -> dict[str, float]:
    """A mean and its interval, ready for JSON."""
    return {"mean": found.mean, "low": found.low, "high": found.high}


@dataclass(frozen=True)
class Cascades:
    """Every cascade of a pair.

    Parameters
    ----------
    pair
        The two models.
    costs
        What the votes of each model on each common question cost, models x questions, the primary first; None where
        that is not known.
    """

    pair: Pair
    costs: Floats | None = field(default=None, repr=False)

    @cached_property
    def sheet(self) -> Scoresheet:
        """The pair's scores at every weight."""
        return scoresheet(self.pair)

    @cached_property
    def leads(self) -> list[Fraction]:
        """The primary's lead on each common question."""
        tally, a = self.pair.tally, self.pair.a
        first, second = _first_two(tally, a)
        cast = tally.votes[a]
        places = np.flatnonzero(self.pair.common)
        return [Fraction(int(first[q]) - int(second[q]), int(cast[q])) for q in places]

    @cached_property
    def levels(self) -> list[Fraction]:
        """Every different lead, rising: all thresholds that matter."""
        return sorted(set(self.leads))

    @cached_property
    def _rank(self) -> Ints:
        place = {lead: number for number, lead in enumerate(self.levels)}
        return np.array([place[lead] for lead in self.leads])

    @cached_property
    def _gains(self) -> Ints:
        """What asking the secondary adds to each question's score, times the sheet's scale: stretches x questions."""
        values: Ints = self.sheet.values[:, np.flatnonzero(self.pair.common)].astype(np.int64)
        gains: Ints = values - values[0]
        return gains

    def totals(self, part: Bools | None = None) -> Ints:
        """Lift summed over a part of the common questions, times the scale: stretches x (levels + 1), exact.

        Column 0 never asks; column k asks up to level k - 1.
        """
        order, ends = self._in_order
        gains = self._gains[:, order] if part is None else self._gains[:, order] * part[order]
        sums = np.zeros((len(gains), len(ends) + 1), dtype=np.int64)
        np.cumsum(gains, axis=1, out=gains)
        sums[:, 1:] = gains[:, ends]
        return sums

    @cached_property
    def _in_order(self) -> tuple[Ints, Ints]:
        """The questions by their leads, and where among them each level's last one is."""
        order = np.argsort(self._rank, kind="stable")
        ends = np.searchsorted(self._rank[order], np.arange(len(self.levels)), side="right") - 1
        return order, ends

    @cached_property
    def front(self) -> list[Cascade]:
        """The best cascades for what they ask: each is more accurate than all that ask less."""
        totals = np.where(self.sheet.open[:, None], self.totals(), np.iinfo(np.int64).min)
        best = totals.max(axis=0)
        kept = [0, *(k for k in range(1, len(best)) if best[k] > best[:k].max())]
        return [self._cascade(totals, k) for k in kept]

    def best(self, part: Bools | None = None, most_asked: float = 1.0) -> tuple[Fraction, Fraction | None]:
        """Weight and threshold of the most accurate cascade on a part; of equals, the one that asks least.

        `most_asked` is the largest share of questions to ask on.
        """
        totals = np.where(self.sheet.open[:, None], self.totals(part), np.iinfo(np.int64).min)
        chosen = self._rank if part is None else self._rank[part]
        asked = np.concatenate([[0], np.cumsum(np.bincount(chosen, minlength=len(self.levels)))])
        totals[:, asked > most_asked * len(chosen)] = np.iinfo(np.int64).min
        column = int(totals.max(axis=0).argmax())
        return self._weight(totals, column), self._threshold(column)

    def at(self, weight: Fraction, threshold: Fraction | None) -> Cascade:
        """Score one cascade."""
        asks = self.asks(threshold)
        stretch = int(np.searchsorted(self.sheet.firsts, self.sheet.breaks.slot(weight), side="right")) - 1
        return self._made(weight, threshold, int(self._gains[stretch, asks].sum()), asks)

    def asks(self, threshold: Fraction | None) -> Bools:
        """The common questions on which the secondary is asked."""
        return np.array([threshold is not None and lead <= threshold for lead in self.leads], dtype=bool)

    def gains(self, weight: Fraction, threshold: Fraction | None) -> Floats:
        """Score of each common question over the primary's."""
        stretch = int(np.searchsorted(self.sheet.firsts, self.sheet.breaks.slot(weight), side="right")) - 1
        found: Floats = np.where(self.asks(threshold), self._gains[stretch], 0) / self.sheet.scale
        return found

    def held_out(
        self,
        *,
        most_asked: float = 1.0,
        how: How = "cascade",
        folds: int = FOLDS,
        repeats: int = REPEATS,
        seed: int = 0,
    ) -> HeldOutCascade:
        """Judge the choice by repeated K-fold: weight and threshold chosen on K - 1 folds, scored on the other.

        Parameters
        ----------
        most_asked
            Largest share of the training questions to ask the secondary on; only a `cascade` keeps to it.
        how
            What is chosen: weight and threshold of a `cascade`; the weight of a `pair`, which always asks; or the
            weight of a pair that is asked where it can matter (`lossless`: the threshold is the weight).
        folds, repeats, seed
            How the questions are dealt.
        """
        units = resampling_units(self.pair.tally).among(self.pair.common)
        dealt = deal(units.member, folds=folds, repeats=repeats, seed=seed)
        gain, asked = np.zeros(self.pair.n), np.zeros(self.pair.n)
        for test in dealt.tests:
            weight, threshold = self._chosen(~test, how, most_asked)
            gain[test] += self.gains(weight, threshold)[test]
            asked[test] += self.asks(threshold)[test]
        gain, asked = gain / dealt.repeats, asked / dealt.repeats
        found = effect(gain, dealt.member)
        cost = None if self.costs is None else float((self.costs[0] + asked * self.costs[1]).mean())
        accuracy = float(self.pair.masses.p) + found.mean
        return HeldOutCascade(found, accuracy, float(asked.mean()), cost, gain, dealt.member)

    def _chosen(self, part: Bools, how: How, most_asked: float) -> tuple[Fraction, Fraction | None]:
        if how == "cascade":
            return self.best(part, most_asked)
        weight = self._best_pair(part)
        return weight, self.levels[-1] if how == "pair" else weight

    def _best_pair(self, part: Bools) -> Fraction:
        totals = np.where(self.sheet.open[:, None], self.totals(part), np.iinfo(np.int64).min)
        return self._weight(totals, len(self.levels))

    def _cascade(self, totals: Ints, column: int) -> Cascade:
        threshold = self._threshold(column)
        return self._made(self._weight(totals, column), threshold, int(totals[:, column].max()), self.asks(threshold))

    def _made(self, weight: Fraction, threshold: Fraction | None, total: int, asks: Bools) -> Cascade:
        n = self.pair.n
        lift = Fraction(total, self.sheet.scale * n)
        cost = None if self.costs is None else float((self.costs[0] + asks * self.costs[1]).mean())
        return Cascade(weight, threshold, self.pair.masses.p + lift, lift, Fraction(int(asks.sum()), n), cost)

    def _weight(self, totals: Ints, column: int) -> Fraction:
        if column == 0:
            return Fraction(0)
        own = totals[:, column]
        return self.sheet.weight(*self.sheet.run(own, int(own.argmax())))

    def _threshold(self, column: int) -> Fraction | None:
        return None if column == 0 else self.levels[column - 1]


def cascades(
    tally: Tally, primary: str, secondary: str, costs: Mapping[str, Mapping[str, float]] | None = None
) -> Cascades:
    """Lay out every cascade of two models.

    Parameters
    ----------
    tally
        The votes.
    primary, secondary
        The model that answers first, and the one that is asked where its lead is small.
    costs
        For each model and question, what its votes cost (in money or tokens).

    Returns
    -------
    Cascades
        The front of accuracy against the share asked, and every single cascade.

    Raises
    ------
    InputError
        If a model is not there, or the two have no question in common.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = cascades(sl.demo_votes().tally(), "claude-3-opus-20240229", "gpt-4")
    >>> found.front[0].asked, found.front[-1].lift >= found.front[0].lift
    (Fraction(0, 1), True)
    """
    chosen = pair(tally, primary, secondary)
    return Cascades(chosen, None if costs is None else _costs(chosen, costs))


def _costs(chosen: Pair, costs: Mapping[str, Mapping[str, float]]) -> Floats:
    names = [chosen.tally.questions[place] for place in np.flatnonzero(chosen.common)]
    rows = []
    for model in (chosen.primary, chosen.secondary):
        known = costs.get(model, {})
        if missing := [name for name in names if name not in known]:
            raise InputError(f"there is no cost of {quote(model)} on question {quote(missing[0])}")
        rows.append([float(known[name]) for name in names])
    return np.array(rows)


def cascade_policy(
    found: Cascades, chosen: Cascade, held_out: HeldOutCascade, prices: Sequence[float | None] = (None, None)
) -> Policy:
    """The policy that deploys a cascade."""
    tally, two = found.pair.tally, found.pair
    names = (two.primary, two.secondary)
    weights = (Fraction(1), chosen.weight)
    number = 1 if chosen.threshold is None else 2
    members = tuple(
        Member(name, weight, int(tally.votes[tally.index(name)].max()), price)
        for name, weight, price in zip(names[:number], weights, prices, strict=False)
    )
    evidence = {"cascade": chosen.to_dict(), "held_out": held_out.to_dict()}
    data = {"dataset": tally.dataset, "questions": two.n, "of": two.of, "fingerprint": fingerprint_of(tally)}
    return Policy(members, "cascade", evidence, data, voting=Voting(threshold=chosen.threshold))


def _first_two(tally: Tally, model: int) -> tuple[Ints, Ints]:
    """The largest and second largest count of a model on each question, gold and null among them."""
    counts = np.concatenate([tally.gold[model].astype(np.int64), tally.dense(model)])
    question = np.concatenate([np.arange(len(tally.questions)), tally.rivals.question])
    order = np.lexsort((-counts, question))
    starts = np.searchsorted(question[order], np.arange(len(tally.questions)))
    ranked = np.append(counts[order], 0)
    ends = np.append(starts[1:], len(order))
    second = np.where(starts + 1 < ends, ranked[np.minimum(starts + 1, len(order))], 0)
    return ranked[starts], second
