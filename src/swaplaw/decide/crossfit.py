"""The one cross-fit: what every rule, and the single model, score on questions that had no part in the choice.

Questions (or whole clusters) are dealt into K folds, several times over. For each fold every rule makes its whole
choice on the other folds (who votes, at what weight, who is asked where nothing was said), and so is the best single
model chosen; all are then scored on the fold. The gain of a rule is the difference question by question. Both sides
choose on the same training questions, so neither has the luck of the choice on its side.

Whatever is said of a rule's gain, in any command, on the page or in Python, is read from here: the same votes, rule and
folds give the same number to the last digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._parallel import ALONE, Crew, Progress, Workers
from swaplaw._result import Result
from swaplaw.decide.defaults import FOLDS, REPEATS
from swaplaw.decide.policy import Silence
from swaplaw.errors import InputError, listing, quote
from swaplaw.evidence.interval import LEVEL, Effect, degrees_of, effect, student_tail
from swaplaw.evidence.units import resampling_units
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.law.weights import vote
from swaplaw.panels.line_search import climbed
from swaplaw.panels.panel import Panel, oriented
from swaplaw.votes.tally import Scores, Tally

if TYPE_CHECKING:
    from swaplaw.decide.rules import CombiningRule


@dataclass(frozen=True, order=True)
class Choice:
    """Who votes: members (places in a tally, the heaviest first) and weights, what silence does, who is asked next."""

    members: tuple[int, ...]
    weights: tuple[Fraction, ...]
    silence: Silence = "counts"
    fallback: tuple[int, ...] = ()
    """Asked in this order where nothing was said or a tie stands."""

    @property
    def everyone(self) -> frozenset[int]:
        """Members and fallback."""
        return frozenset(self.members) | frozenset(self.fallback)


def alone(model: int, silence: Silence = "counts") -> Choice:
    """One model by itself."""
    return Choice((model,), (Fraction(1),), silence)


def read_as(tally: Tally, silence: Silence) -> Tally:
    """The tally with silence as a choice wants it; votes that were counted without null votes stay so."""
    return tally if tally.silent == "ignored" else tally.silence(silence)


@dataclass(frozen=True)
class Scorer:
    """Scores of any choice on every question, as fractions of one; each choice is pooled once."""

    tally: Tally
    _known: dict[Choice, Floats] = field(default_factory=dict, repr=False, compare=False)
    _read: dict[Silence, Tally] = field(default_factory=dict, repr=False, compare=False)

    def read(self, silence: Silence) -> Tally:
        """The votes with silence as a choice wants it."""
        if silence not in self._read:
            self._read[silence] = read_as(self.tally, silence)
        return self._read[silence]

    def pooled(self, choice: Choice) -> Scores:
        """The exact scores of a choice."""
        return vote(self.read(choice.silence), choice.members, choice.weights, choice.fallback)

    def __call__(self, choice: Choice) -> Floats:
        """The scores of a choice as floats."""
        if choice not in self._known:
            pooled = self.pooled(choice)
            self._known[choice] = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)
        return self._known[choice]


def own_totals(tally: Tally, parts: Bools) -> tuple[Ints, int]:
    """Each model's own scores summed over each part (parts x models), in whole numbers, and what they are times of."""
    scale = int(np.lcm.reduce([scores.denominator for scores in tally.scores], dtype=object))
    dtype: Any = np.int64 if scale * len(tally.questions) < 2**62 else object
    rows = [scores.numerators.astype(dtype) * (scale // scores.denominator) for scores in tally.scores]
    return parts.astype(dtype) @ np.array(rows).T, scale


def best_singles(tally: Tally, parts: Bools) -> list[Choice]:
    """The most accurate single model of each part; of equals the first by name."""
    return [alone(int(row.argmax()), tally.silent) for row in own_totals(tally, parts)[0]]


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
    def with_whole(self) -> Bools:
        """All questions, then the training part of each fold: what a rule chooses on."""
        return np.concatenate([np.ones((1, self.tests.shape[1]), dtype=bool), ~self.tests])

    @property
    def numbers(self) -> Ints:
        """The fold of each question in every repeat: repeats x questions."""
        numbers: Ints = self.tests.reshape(self.repeats, self.folds, -1).argmax(axis=1)
        return numbers

    def on_tests(self, scores: Sequence[Floats]) -> Floats:
        """Take from each fold's scores those on the fold, averaged over repeats: one number for each question."""
        total = np.zeros(self.tests.shape[1])
        for values, test in zip(scores, self.tests, strict=True):
            total[test] += values[test]
        return total / self.repeats


def deal(member: Ints, *, folds: int = FOLDS, repeats: int = REPEATS, seed: int = 0) -> Folds:
    """Deal units into folds of equal size, again and again; at most as many folds as units, and then once."""
    if folds < 2:
        raise InputError(f"{folds} folds leave nothing to hold out: ask for 2 or more")
    if repeats < 1:
        raise InputError(f"there cannot be {repeats} repeats: ask for 1 or more")
    units = int(member.max()) + 1
    if units < 2:
        raise InputError("a single question (or cluster) leaves nothing to hold out: collect more of them")
    if folds >= units:
        # Leaving one unit out at a time: every deal is the same.
        folds, repeats = units, 1
    rng = np.random.default_rng([seed, folds, repeats])
    places = [rng.permutation(units) % folds for _ in range(repeats)]
    tests = np.concatenate([place[member] == np.arange(folds)[:, None] for place in places])
    return Folds(member, tests, folds, repeats)


@dataclass(frozen=True)
class Fitted:
    """One rule: what it chooses on all questions and on each training part, and what these choices score."""

    choice: Choice
    """What it chooses on all questions."""
    choices: tuple[Choice, ...] = field(repr=False)
    """What it chooses for each fold, on the others."""
    own: Floats = field(repr=False)
    """Score of the choice made on all questions, on each of these very questions."""
    scores: Floats = field(repr=False)
    """Held-out score of each question, averaged over repeats."""

    @cached_property
    def stability(self) -> float:
        """Share of folds on which the same models vote as on all questions."""
        return sum(set(each.members) == set(self.choice.members) for each in self.choices) / len(self.choices)

    @cached_property
    def ensembles(self) -> list[tuple[tuple[int, ...], float]]:
        """Every set of members that some fold chose, with the share of folds that did; the most frequent first."""
        counts = Counter(tuple(sorted(each.members)) for each in self.choices)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(members, count / len(self.choices)) for members, count in ranked]


@dataclass(frozen=True)
class Crossfit:
    """Every rule and the best single model on the same folds."""

    tally: Tally = field(repr=False)
    folds: Folds = field(repr=False)
    single: Fitted = field(repr=False)
    """The best single model, its null votes counted as these votes count them; chosen anew on every training part."""
    rules: Mapping[str, Fitted] = field(repr=False)

    def __getitem__(self, rule: str) -> Fitted:
        """One rule, by name."""
        if rule not in self.rules:
            raise InputError(f"rule {quote(rule)} was not compared; there are {listing(list(self.rules), 20)}")
        return self.rules[rule]

    @property
    def scores(self) -> dict[str, Floats]:
        """The held-out score of every question under every rule."""
        return {name: fitted.scores for name, fitted in self.rules.items()}

    def gain(self, rule: str) -> Effect:
        """What a rule gains over the single model, both chosen on other questions."""
        return self.over_single(self[rule].scores)

    def over_single(self, scores: Floats, less: float = 0.0) -> Effect:
        """What held-out scores gain over the single model, chosen on other questions, less a gain.

        Where several models are about as good, training parts take turns in choosing one that does worse on the test
        part. So by how much the one model that is best on all questions does better is a doubt about the gain: it is
        added to the standard error.
        """
        found = effect(scores - self.single.scores - less, self.folds.member)
        doubt = float((self.single.own - self.single.scores).mean())
        error = hypot(found.standard_error, doubt)
        degrees = degrees_of(np.bincount(self.folds.member))
        return replace(found, standard_error=error, p=float(student_tail(degrees, found.mean / error)))

    def in_sample(self, rule: str) -> Effect:
        """What a rule's choice gains over the best single model on the very questions that made both."""
        return effect(self[rule].own - self.single.own, self.folds.member)

    def surely_below(self, rule: str, gain: float) -> bool:
        """Whether a rule's gain is below this one, by a one-sided test at 5%."""
        return self.over_single(self[rule].scores, gain).p >= LEVEL

    def over_best(self, rule: str) -> float:
        """What a rule gains, held out, over the one model that is the best on all questions: the model's luck counts.

        An ensemble that gains only over models chosen on fewer questions gains nothing over the model that a user
        would deploy.
        """
        return float((self[rule].scores - self.single.own).mean())


def crossfit(
    tally: Tally, rules: Sequence[CombiningRule], folds: Folds, *, crew: Crew = ALONE, progress: Progress = iter
) -> Crossfit:
    """Judge rules, and the single model that they have to beat, on the same folds.

    Parameters
    ----------
    tally : Tally
        Votes that every model cast on every question.
    rules : sequence of CombiningRule
        What is judged, such as `RULES["smooth"]` of `swaplaw.decide.rules`.
    folds : Folds
        How questions are dealt (see `deal`).
    crew : Crew
        Who does the work; by default this process.
    progress : callable
        Wraps the rules as they are done.

    Returns
    -------
    Crossfit
        Held-out scores of every rule and of the single model, question by question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.decide.rules import RULES
    >>> tally = sl.demo_votes().tally()
    >>> found = crossfit(tally, [RULES["equal"]], deal(np.arange(len(tally.questions)), folds=5, repeats=1))
    >>> round(found.gain("equal").mean, 2)
    -0.04
    """
    parts, scores = folds.with_whole, Scorer(tally)
    made = crew.share(partial(_chosen, parts=parts), tally, rules, progress=progress)
    fitted = {rule.name: _fitted(choices, scores, folds) for rule, choices in zip(rules, made, strict=True)}
    return Crossfit(tally, folds, _fitted(best_singles(tally, parts), scores, folds), fitted)


def _chosen(tally: Tally, rule: CombiningRule, parts: Bools) -> Sequence[Choice]:
    return rule.choose(tally, parts)


def _fitted(choices: Sequence[Choice], scores: Callable[[Choice], Floats], folds: Folds) -> Fitted:
    whole, *others = choices
    return Fitted(whole, tuple(others), scores(whole), folds.on_tests([scores(each) for each in others]))


def held_out_weight(sheet: Scoresheet, folds: Folds) -> Floats:
    """Score each question of a pair at the best plateau of the folds without it, averaged over repeats."""
    totals = np.concatenate([sheet.sums_without(fold, folds.folds) for fold in folds.numbers])
    best = np.where(sheet.open, totals, -1).argmax(axis=1)
    weights = [sheet.weight(*sheet.run(row, stretch)) for row, stretch in zip(totals, best, strict=True)]
    return folds.on_tests([sheet.at(weight) for weight in weights])


PANEL_FOLDS, PANEL_REPEATS = 5, 2


@dataclass(frozen=True)
class HeldOutPanel(Result):
    """A panel judged on questions that had no part in choosing its weights."""

    accuracy: float
    """Mean accuracy at weights chosen on the other questions."""
    effect: Effect
    """What it gains over its best member, both chosen on the other questions."""
    folds: int
    repeats: int

    @property
    def lift(self) -> float:
        """Accuracy over the best member's."""
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


def _weighed(tally: Tally, part: Bools) -> Choice:
    """The weights that climbing along lines finds on a part: a choice needs no proof."""
    panel = oriented(tally.select(questions=part), range(len(tally.models)))
    return Choice(panel.indices, climbed(panel), silence=tally.silent)


def held_out_panel(
    panel: Panel,
    *,
    folds: int = PANEL_FOLDS,
    repeats: int = PANEL_REPEATS,
    seed: int = 0,
    workers: Workers = None,
    progress: Progress = iter,
) -> HeldOutPanel | None:
    """Judge a panel by repeated K-fold: weights chosen on K - 1 folds, scored on the other.

    Parameters
    ----------
    panel : Panel
        The models.
    folds, repeats, seed : int
        Parts that questions (or clusters) are dealt into, how often, and the seed.
    workers, progress
        Who does the work, and what shows it.

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
    names = [panel.tally.models[index] for index in sorted(panel.indices)]
    tally = panel.tally.select(models=names, questions=panel.common)
    member = resampling_units(tally).member
    if not member.any():
        return None
    dealt = deal(member, folds=folds, repeats=repeats, seed=seed)
    parts, scores = dealt.with_whole, Scorer(tally)
    made = list(Crew(workers).share(_weighed, tally, list(parts[1:]), progress=progress))
    held_out = dealt.on_tests([scores(choice) for choice in made])
    single = dealt.on_tests([scores(choice) for choice in best_singles(tally, parts[1:])])
    return HeldOutPanel(float(held_out.mean()), effect(held_out - single, member), dealt.folds, dealt.repeats)
