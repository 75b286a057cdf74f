"""Held-out choice: what a rule for choosing an ensemble gains on questions that it has not seen.

Questions (or whole clusters) are dealt into K folds, several times over. For each fold the *whole* choice - which
models, which leads, at what weight, or none at all - is made on the other folds, and so is the choice of the best
single model that it has to beat; both are then scored on the fold. In-sample, the same rule is judged on the very
questions that it chose by; the difference is its optimism.

The held-out mean over questions is an unbiased estimate of what the rule gains when it chooses on (K - 1)/K of the
questions. How sure it is, is another matter: see `selection`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from swaplaw.choice import Choice, Rule, Scorer
from swaplaw.errors import InputError
from swaplaw.rows import Bools, Ints
from swaplaw.scoresheet import Scoresheet
from swaplaw.wholes import Floats

FOLDS, REPEATS = 10, 10


@dataclass(frozen=True)
class Folds:
    """Repeated deals of units into folds."""

    member: Ints = field(repr=False)
    """The unit (question or cluster) that each question belongs to."""
    tests: Bools = field(repr=False)
    """The questions of each fold, repeats x folds of them: parts x questions."""
    folds: int
    repeats: int

    @property
    def trains(self) -> Bools:
        """The training part that goes with each fold: all other questions."""
        return ~self.tests


def deal(member: Ints, *, folds: int = FOLDS, repeats: int = REPEATS, seed: int = 0) -> Folds:
    """Deal units into folds of equal size, again and again; at most as many folds as units, and then once."""
    if folds < 2:
        raise InputError(f"{folds} folds leave nothing to hold out: ask for 2 or more")
    if repeats < 1:
        raise InputError(f"there cannot be {repeats} repeats: ask for 1 or more")
    units = int(member.max()) + 1
    if folds >= units:
        # Leaving one unit out at a time: every deal is the same.
        folds, repeats = units, 1
    rng = np.random.default_rng([seed, folds, repeats])
    places = [rng.permutation(units) % folds for _ in range(repeats)]
    tests = np.concatenate([place[member] == np.arange(folds)[:, None] for place in places])
    return Folds(member, tests, folds, repeats)


@dataclass(frozen=True)
class HeldOut:
    """A rule judged in-sample and held out, as gains over the best single model."""

    choice: Choice
    """What the rule chooses on all questions."""
    baseline: Choice
    """The single model to beat, chosen on all questions."""
    own_gains: Floats = field(repr=False)
    """Gain on each question of the choice made on all questions, that one among them."""
    scores: Floats = field(repr=False)
    """Score on each question of what was chosen without it, averaged over repeats."""
    baseline_scores: Floats = field(repr=False)
    choices: tuple[Choice, ...] = field(repr=False)
    """The choice made for each fold."""
    baselines: tuple[Choice, ...] = field(repr=False)

    @property
    def gains(self) -> Floats:
        """Held-out gain on each question."""
        return self.scores - self.baseline_scores

    @property
    def in_sample(self) -> float:
        """Mean gain of the choice on the questions that it was made by."""
        return float(self.own_gains.mean())

    @property
    def held_out(self) -> float:
        """Mean gain on questions that the choice had not seen."""
        return float(self.gains.mean())

    @property
    def optimism(self) -> float:
        """By how much judging a choice on the questions it was made by flatters it."""
        return self.in_sample - self.held_out

    @cached_property
    def stability(self) -> float:
        """Share of folds on which the same models were chosen as on all questions."""
        return sum(made.ensemble == self.choice.ensemble for made in self.choices) / len(self.choices)

    @cached_property
    def ensembles(self) -> list[tuple[tuple[int, ...], float]]:
        """Every set of models that some fold chose, and the share of folds that did, most often first."""
        counts = Counter(tuple(sorted(made.members)) for made in self.choices)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(members, count / len(self.choices)) for members, count in ranked]


def held_out(scorer: Scorer, rule: Rule, baseline: Rule, folds: Folds) -> HeldOut:
    """Judge a rule against a baseline rule, both choosing on training parts only."""
    everything = np.ones((1, folds.tests.shape[1]), dtype=bool)
    parts = np.concatenate([everything, folds.trains])
    choice, *choices = rule(parts)
    single, *singles = baseline(parts)
    return HeldOut(
        choice,
        single,
        scorer.score(choice) - scorer.score(single),
        on_tests([scorer.score(made) for made in choices], folds),
        on_tests([scorer.score(made) for made in singles], folds),
        tuple(choices),
        tuple(singles),
    )


def held_out_weight(sheet: Scoresheet, folds: Folds) -> Floats:
    """Score each question at the pair's best plateau on the folds without it, averaged over repeats."""
    totals = sheet.sums(folds.trains)
    best = np.where(sheet.open, totals, -1).argmax(axis=1)
    weights = [sheet.weight(*sheet.run(row, stretch)) for row, stretch in zip(totals, best, strict=True)]
    return on_tests([sheet.at(weight) for weight in weights], folds)


def on_tests(scores: list[Floats], folds: Folds) -> Floats:
    """Take from each fold's scores those on the fold, averaged over repeats: one number per question."""
    total = np.zeros(folds.tests.shape[1])
    for values, test in zip(scores, folds.tests, strict=True):
        total[test] += values[test]
    return total / folds.repeats
