"""Answers that were given to other questions: nearly every right one is there, once, but not where it belongs.

Whoever guesses, even among the right answers of a task alone, gives some of them again and again, and others never. A
model whose rows were shuffled, or sorted by another key, gives each about as often as it is gold, and no oftener.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw.votes.checks.ballots import Ballots, Rows, added
from swaplaw.votes.checks.check import SURE

FAR, TOLD = 4.0, 3.0
"""Standard errors by which answers must be golds of other questions more evenly than guesses could be, and where wrong
answers of other models are such golds far less often."""
OFTENER = 3.0
"""How many times as often as those of other models."""
WASTED = 0.6
"""Share, at most, of the answers that guesses would give too often: near misses are a little more even than guesses."""
LESS = 1.5
"""How many times as often another model must be right at least."""
SELDOM, MOSTLY = 0.05, 0.5
"""Where no other model tells how often one can be right: the share of answers that are, and that are gold elsewhere."""


@dataclass(frozen=True)
class Scattered:
    """What a model's answers are worth where they stand, and at best if they were given to other questions."""

    own: float
    moved: float


@dataclass(frozen=True)
class Fleet:
    """What the models of a dataset are measured by."""

    as_gold: Ints
    """Which gold each answer is; the number of golds if it is none."""
    right: Floats
    """How often each model is right."""
    wrong: Ints
    """Wrong votes of each model."""
    elsewhere: Ints
    """Wrong votes of each model that are gold of another question."""

    def best_but(self, model: int) -> float:
        """How often the best other model is right; 0 if there is none."""
        return float(np.delete(self.right, model).max(initial=0.0))

    def stands_out(self, model: int) -> bool:
        """Whether a model's wrong answers are golds far more often than those of all other models."""
        others = [int(np.delete(votes, model).sum()) for votes in (self.elsewhere, self.wrong)]
        own = [int(votes[model]) for votes in (self.elsewhere, self.wrong)]
        return others[1] >= SURE and own[0] * others[1] > OFTENER * others[0] * own[1]


def fleet(ballots: Ballots) -> Fleet:
    """Measure the models of a dataset."""
    rows, names = ballots.answered, ballots.names
    places = {names.golds[place]: place for place in rows.golds.tolist()}
    as_gold = np.array([places.get(answer, rows.sizes.golds) for answer in names.answers])
    elsewhere = ~rows.right & (as_gold < rows.sizes.golds)[rows.answer]
    right, wrong, found = (
        added(rows.model, rows.votes * told, rows.sizes.models) for told in (rows.right, ~rows.right, elsewhere)
    )
    return Fleet(as_gold, right / np.maximum(1, right + wrong), wrong, found)


def scattered(rows: Rows, fleet: Fleet) -> Scattered | None:
    """Tell whether a model's right answers are given to other questions: its single votes, or its commonest answers."""
    model = int(rows.model[0])
    own, best = float(fleet.right[model]), fleet.best_but(model)
    alone = best <= SELDOM
    if own > (SELDOM if alone else best / LESS):
        return None
    least = TOLD if fleet.stands_out(model) else FAR
    for some in (rows, _commonest(rows)):
        if some.questions < SURE:
            continue
        free, spare = _left(some, fleet.as_gold)
        used, guesses = int(np.minimum(free, spare).sum()), int(spare.sum())
        if not guesses or (alone and used < MOSTLY * some.total):
            continue
        mean, error = _guessed(free, guesses)
        if used - mean > least * error and guesses - used <= WASTED * (guesses - mean):
            right = int(some.votes[some.right].sum())
            return Scattered(right / some.total, (right + used) / some.total)
    return None


def _left(rows: Rows, as_gold: Ints) -> tuple[Ints, Ints]:
    """Of each gold that is not always met: votes of its questions that are not right, and votes for it elsewhere."""
    golds = rows.sizes.golds
    asked, given = (added(place, rows.votes, golds)[:golds] for place in (rows.gold, as_gold[rows.answer]))
    kept = added(rows.gold, rows.votes * rows.right, golds)[:golds]
    some = asked > kept
    return (asked - kept)[some], (given - kept)[some]


def _commonest(rows: Rows) -> Rows:
    """One vote for each question that has one commonest answer: of equals, to take the first would be a habit."""
    most = np.zeros(rows.sizes.questions, dtype=np.int64)
    np.maximum.at(most, rows.question, rows.votes)
    top = rows.where(rows.votes == most[rows.question])
    some = top.where(np.bincount(top.question)[top.question] == 1)
    return replace(some, votes=np.ones_like(some.votes))


def _guessed(free: Ints, guesses: int) -> tuple[float, float]:
    """How many guesses would find a gold that is still free, and the standard error of that.

    Guesses fall on golds in proportion to how often each is free, which wastes the fewest. They are taken to be
    Poisson, given their number.
    """
    each, golds = np.unique(free, return_counts=True)
    moments = np.array([_filled(int(slots), guesses * int(slots) / int(free.sum())) for slots in each])
    mean, spread, shared, expected = (golds @ moments).tolist()
    return mean, float(np.sqrt(max(0.0, spread - shared**2 / expected)))


def _filled(slots: int, expected: float) -> Floats:
    """Of a Poisson number of guesses, those that find a slot: mean, variance, covariance with all; the mean of all."""
    number = np.arange(slots)
    chance = np.exp(number * np.log(expected) - expected - np.cumsum(np.log(np.maximum(number, 1))))
    empty = slots - number
    mean = slots - chance @ empty
    variance = slots**2 - chance @ (slots**2 - number**2) - mean**2
    shared = slots * expected - chance @ (empty * number) - mean * expected
    return np.array([mean, max(0.0, variance), shared, expected])
