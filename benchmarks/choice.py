"""Held-out choice: one matrix product a pair against selecting and counting every training part anew."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import swaplaw as sl
from benchmarks.harness import Row, seconds
from swaplaw.decide.choice import Choice, PairRule, Recorded, all_pairs, alone, each
from swaplaw.decide.holdout import deal
from swaplaw.votes.tally import Tally

PARTS = 10
"""Training parts that the plain way is timed on; it takes as long for each of the hundred that we do."""


def measure() -> Iterator[Row]:
    tally = sl.demo_votes().tally()
    models = tuple(range(len(tally.models)))
    trains = deal(np.arange(len(tally.questions))).trains
    rule, plain = PairRule(Recorded(tally), models, all_pairs(models)), each(tally, choose)
    assert [c.members for c in rule(trains[:PARTS])] == [c.members for c in plain(trains[:PARTS])]
    ours = seconds(lambda: rule(trains), repeats=3)
    theirs = seconds(lambda: plain(trains[:PARTS]), repeats=3) * len(trains) / PARTS
    yield Row("choose among 36 pairs at every weight, 10 x 10 folds", ours, theirs, "select and curve each part", 5)


def choose(part: Tally) -> Choice:
    """The rule as its words say: every curve of the training part, from its votes."""
    own = [Fraction(int(scores.numerators.sum()), scores.denominator) for scores in part.scores]
    leader = max(range(len(own)), key=lambda model: (own[model], -model))
    best, choice = own[leader], alone(leader)
    for curve in sl.law.curves(part):
        plateau = curve.best_plateau
        value = plateau.outcome.accuracy * curve.n
        if value > best:
            members = part.index(curve.primary), part.index(curve.secondary)
            best, choice = value, Choice(members, (Fraction(1), plateau.weight))
    return choice
