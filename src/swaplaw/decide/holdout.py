"""Held-out choice: what a rule for choosing an ensemble gains on questions that it has not seen.

Questions (or whole clusters) are dealt into K folds, several times over. For each fold the *whole* choice - which
models, which leads, at what weight, or none at all - is made on the other folds, and so is the choice of the best
single model that it has to beat; both are then scored on the fold. In-sample, the same rule is judged on the very
questions that it chose by; the difference is its optimism.

The held-out mean over questions is an unbiased estimate of what the rule gains when it chooses on (K - 1)/K of the
questions. How sure it is, is another matter: see `selection`.

Panels are held out by the same folds: their weights, or the panel itself, chosen anew on each training part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw._core.parallel import ALONE, Crew, Progress, Workers
from swaplaw._core.results import Result
from swaplaw.decide.choice import BestSingle, Choice, Recorded, Rule, Scorer, each
from swaplaw.decide.defaults import FOLDS, REPEATS
from swaplaw.errors import InputError
from swaplaw.evidence.interval import Effect, effect
from swaplaw.evidence.units import resampling_units
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.panels.exact import Certificate, certify
from swaplaw.panels.panel import Panel, oriented
from swaplaw.votes.tally import Tally


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

    @property
    def with_whole(self) -> Bools:
        """All questions, then each training part: what a rule that is judged in-sample and held out chooses on."""
        return np.concatenate([np.ones((1, self.tests.shape[1]), dtype=bool), self.trains])

    @property
    def numbers(self) -> Ints:
        """The fold of each question in every repeat: repeats x questions."""
        numbers: Ints = self.tests.reshape(self.repeats, self.folds, -1).argmax(axis=1)
        return numbers


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
    """Gain on each question of the choice made on all questions, including that one."""
    scores: Floats = field(repr=False)
    """Score on each question of what was chosen without it, averaged over repeats."""
    baseline_scores: Floats = field(repr=False)
    choices: tuple[Choice, ...] = field(repr=False)
    """The choice made for each fold."""
    baselines: tuple[Choice, ...] = field(repr=False)
    shift: float
    """How much more the choice made on all questions gains on all of them than the folds' choices do, on average."""

    @property
    def gains(self) -> Floats:
        """Held-out gain on each question."""
        return self.scores - self.baseline_scores

    @property
    def in_sample(self) -> float:
        """Mean gain of the choice on the questions that it was made on."""
        return float(self.own_gains.mean())

    @property
    def held_out(self) -> float:
        """Mean gain on questions that the choice had not seen."""
        return float(self.gains.mean())

    @property
    def optimism(self) -> float:
        """How much it flatters a choice to judge it on the questions that it was made on."""
        return self.in_sample - self.held_out

    @property
    def pools(self) -> bool:
        """Whether several models were chosen, on all questions or on any training part."""
        return any(len(made.members) > 1 for made in (self.choice, *self.choices))

    @cached_property
    def stability(self) -> float:
        """Share of folds on which the same models were chosen as on all questions."""
        return sum(made.ensemble == self.choice.ensemble for made in self.choices) / len(self.choices)

    @cached_property
    def ensembles(self) -> list[tuple[tuple[int, ...], float]]:
        """Every set of models that some fold chose, with the share of folds that did; the most frequent first."""
        counts = Counter(tuple(sorted(made.members)) for made in self.choices)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(members, count / len(self.choices)) for members, count in ranked]


def held_out(scorer: Scorer, rule: Rule, baseline: Rule, folds: Folds) -> HeldOut:
    """Judge a rule against a baseline rule, both choosing on training parts only.

    Parameters
    ----------
    scorer : Scorer
        Scores any choice on every question; `Recorded(tally)` does so with all recorded votes.
    rule : Rule
        What is judged; `each(tally, function)` makes a rule from any function of a training tally.
    baseline : Rule
        What it has to beat; `BestSingle` is the most accurate model.
    folds : Folds
        How questions are dealt; see `deal`.

    Returns
    -------
    HeldOut
        The choice on all questions, and the gains in-sample and held out.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.decide.choice import BestSingle, Recorded
    >>> from swaplaw.decide.rules import RULES
    >>> tally = sl.demo_votes().tally()
    >>> scorer, folds = Recorded(tally), deal(np.arange(len(tally.questions)), folds=5, repeats=1)
    >>> single = BestSingle(scorer, tuple(range(len(tally.models))))
    >>> round(held_out(scorer, each(tally, RULES["equal"].fit), single, folds).held_out, 2)
    -0.06
    """
    parts = folds.with_whole
    return judge(scorer, rule(parts), baseline(parts), folds)


def judge(scorer: Scorer, made: Sequence[Choice], against: Sequence[Choice], folds: Folds) -> HeldOut:
    """Judge choices against others, each made on all questions first, then on the training part of each fold."""
    choice, *choices = made
    single, *singles = against
    own = scorer.score(choice) - scorer.score(single)
    scores, baseline_scores = ([scorer.score(each) for each in some] for some in (choices, singles))
    return HeldOut(
        choice,
        single,
        own,
        on_tests(scores, folds),
        on_tests(baseline_scores, folds),
        tuple(choices),
        tuple(singles),
        float(own.mean()) - _mean(scores) + _mean(baseline_scores),
    )


def _mean(scores: list[Floats]) -> float:
    return sum(float(row.mean()) for row in scores) / len(scores)


def held_out_weight(sheet: Scoresheet, folds: Folds) -> Floats:
    """Score each question at the pair's best plateau on the folds without it, averaged over repeats."""
    totals = np.concatenate([sheet.sums_without(fold, folds.folds) for fold in folds.numbers])
    best = np.where(sheet.open, totals, -1).argmax(axis=1)
    weights = [sheet.weight(*sheet.run(row, stretch)) for row, stretch in zip(totals, best, strict=True)]
    return on_tests([sheet.at(weight) for weight in weights], folds)


def on_tests(scores: list[Floats], folds: Folds) -> Floats:
    """Take from each fold's scores those on the fold, averaged over repeats: one number per question."""
    total = np.zeros(folds.tests.shape[1])
    for values, test in zip(scores, folds.tests, strict=True):
        total[test] += values[test]
    return total / folds.repeats


PANEL_FOLDS, PANEL_REPEATS = 5, 2
PART_WORK = 3e4
"""Planes looked at for a panel's weights on one training part, before they are left to line search."""


@dataclass(frozen=True)
class HeldOutPanel(Result):
    """A panel with weights that were chosen on other questions than they are judged on."""

    accuracy: float
    effect: Effect
    """Lift over the member that was most accurate on the questions that chose the weights."""
    folds: int
    repeats: int

    @property
    def lift(self) -> float:
        """Mean lift."""
        return self.effect.mean

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "lift": self.lift,
            "interval": [self.effect.low, self.effect.high],
            "folds": self.folds,
            "repeats": self.repeats,
        }


def held_out_panel(
    panel: Panel,
    *,
    folds: int = PANEL_FOLDS,
    repeats: int = PANEL_REPEATS,
    seed: int = 0,
    work: float = PART_WORK,
    workers: Workers = None,
    progress: Progress = iter,
) -> HeldOutPanel | None:
    """Judge a panel by repeated K-fold: weights chosen on K - 1 folds, scored on the other.

    Parameters
    ----------
    panel : Panel
        The models.
    folds, repeats : int
        Parts that questions (or clusters) are dealt into, and how often.
    seed : int
        The same seed gives the same folds.
    work : float, optional
        Planes that may be looked at on each training part.
    workers : int, optional
        Share the folds among this many; the numbers stay the same.
    progress : callable
        Wraps the training parts, for each of which weights are certified.

    Returns
    -------
    HeldOutPanel or None
        None where a single question or cluster leaves nothing to hold out.

    Examples
    --------
    >>> import swaplaw as sl
    >>> votes = sl.demo_votes()
    >>> found = held_out_panel(sl.panel(votes, ["gpt-4", "mistral-large"]), repeats=1)
    >>> found.accuracy, round(found.lift, 2)
    (0.8, -0.01)
    """
    members = sorted(panel.indices)
    tally = panel.tally.select(models=[panel.tally.models[index] for index in members], questions=panel.common)
    member = resampling_units(tally).member
    if not member.any():
        return None
    scorer = Recorded(tally)
    dealt = deal(member, folds=folds, repeats=repeats, seed=seed)
    crew = Crew(workers)
    rules = (
        weights_rule(tally, range(len(members)), work=work, crew=crew, progress=progress),
        BestSingle(scorer, tuple(range(len(members)))),
    )
    scores, alone = (on_tests([scorer.score(made) for made in rule(dealt.trains)], dealt) for rule in rules)
    return HeldOutPanel(float(scores.mean()), effect(scores - alone, member), dealt.folds, dealt.repeats)


def weights_rule(
    tally: Tally,
    members: Sequence[int],
    *,
    work: float = PART_WORK,
    crew: Crew = ALONE,
    progress: Progress = iter,
) -> Rule:
    """Given members, choose their weights: the best ones, or the best plateau where these are fragile.

    What branch and bound does not finish within the work stands at what climbing along lines finds: a choice needs no
    proof.
    """

    def choose(train: Tally) -> Choice:
        return choice_of(certify(oriented(train, members), work=work))

    return each(tally, choose, crew, progress)


def choice_of(found: Certificate) -> Choice:
    """What a certificate would have deployed: members of weight 0 are not."""
    weights = zip(found.panel.indices, found.recommended.weights, strict=True)
    members, kept = zip(*((index, weight) for index, weight in weights if weight), strict=True)
    return Choice(members, kept)
