"""Collecting until decided: whom to ask what next, and when to stop.

A primary and one or more secondaries are named before anything is asked. Questions come in an order that only the seed
determines (clusters stay together). The primary is asked first. A secondary is asked only where it could change the
vote: where the primary's leading answer is ahead by more than the secondary's weight, no answer of the secondary can
matter, so the change is known to be 0. After every wave each secondary is judged by evidence that is valid at every
look (see `evidence.anytime`), and collecting stops when

- some secondary is shown to gain over the primary alone (its e-value, adjusted for all secondaries, reaches 20), or
- every secondary is shown to gain less than the smallest gain worth having, or
- there are no questions left.

Secondaries that gain too little are not asked again. Of the others, the half that is nearest to a decision goes on
first. All of this depends on votes that are there, so the guarantee stands, and a collection that was interrupted
goes on as if nothing had happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.errors import InputError, quote
from swaplaw.evidence.anytime import GUARANTEE, Anytime, adjusted, anytime_effect, e_value, reaches
from swaplaw.evidence.interval import LEVEL
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.votes.tally import tie_credit

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

WAVE = 20
"""Questions after which there is a look."""
Ballot = Counter[str | None]
Finding = Literal["gain", "too_little", "open"]


@dataclass(frozen=True)
class Secondary:
    """One secondary at this look."""

    model: str
    questions: int
    """Questions that it is judged on."""
    asked: int
    """Of these, the ones on which it could change the vote, and was asked."""
    effect: Anytime
    """Its lift over the primary."""
    gain_adjusted: float
    """The e-value against "it does not gain", adjusted for all secondaries."""
    too_little: float
    """The e-value against "it gains at least the smallest gain worth having"."""
    finding: Finding

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "secondary": self.model,
            "verdict": self.finding,
            "questions": self.questions,
            "asked": self.asked,
            "e_adjusted": self.gain_adjusted,
            "e_too_little": self.too_little,
            **self.effect.to_dict(),
        }


@dataclass(frozen=True)
class Decision:
    """What a collection has decided so far."""

    finding: Finding
    primary: str
    weight: Fraction
    min_gain: float
    level: float
    secondaries: tuple[Secondary, ...]
    planned: int
    """Questions that there are."""

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, the weight as text."""
        return {
            "verdict": self.finding,
            "primary": self.primary,
            "weight": str(self.weight),
            "min_gain": self.min_gain,
            "planned": self.planned,
            "secondaries": [each.to_dict() for each in self.secondaries],
            "needed": 1 / (1 - self.level),
            "guarantee": GUARANTEE.format(error=f"{100 * (1 - self.level):g}%"),
        }


@dataclass(frozen=True)
class Steering:
    """Whom to ask what next; the same votes always give the same answer.

    Examples
    --------
    >>> plan = Steering("a", ("b",), {str(number): None for number in range(100)}, wave=2)
    >>> sorted(plan.next(None)) == ["a"], len(plan.next(None)["a"])
    (True, 2)
    """

    primary: str
    secondaries: tuple[str, ...]
    questions: Mapping[str, str | None] = field(repr=False)
    """Questions, and the cluster of each where there are any."""
    weight: Fraction = DEFAULT_WEIGHT
    min_gain: float = MIN_GAIN
    level: float = LEVEL
    wave: int = WAVE
    seed: int = 0
    samples: int = 1
    """Votes per model and question; a question with fewer, as after a kill, counts as not asked yet."""

    def __post_init__(self) -> None:
        if not self.secondaries or self.primary in self.secondaries:
            raise InputError("deciding needs a primary and at least one other model to add to it")
        if not 0 <= self.min_gain < 1:
            raise InputError(f"a smallest gain of {self.min_gain} is not a fraction of one: give 0.01 for 1 point")
        if self.weight <= 0:
            raise InputError(f"weight {self.weight} gives the other models no vote: give a weight above 0, such as 2/3")

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Questions in the order in which they are asked; those of one cluster stand together."""
        return tuple(sorted(self.questions, key=lambda name: (self._key(self._unit(name)), self._key(name))))

    @cached_property
    def units(self) -> Ints:
        """The unit of each question, numbered in that order."""
        names = [self._unit(question) for question in self.order]
        return np.cumsum([0, *(one != other for one, other in pairwise(names))])

    def _unit(self, question: str) -> str:
        return self.questions[question] or question if self._clustered else question

    @cached_property
    def _clustered(self) -> bool:
        return len(set(self.questions.values())) > 1

    def _key(self, name: str) -> bytes:
        return sha256(f"{self.seed}\0{name}".encode()).digest()

    def next(self, votes: Votes | None) -> dict[str, tuple[str, ...]]:
        """For each model to be asked now, all questions that it must have answered then; nothing once decided."""
        seen = _Seen.of(self, votes)
        found = self._decide(seen)
        left = [each for each in found.secondaries if each.finding == "open" and each.questions < len(self.order)]
        if found.finding != "open" or not left:
            return {}
        left.sort(key=lambda each: (-self._nearness(each), each.model))
        first = left[: (len(left) + 1) // 2]
        goals = {each.model: self._up_to((each.questions // self.wave + 1) * self.wave) for each in first}
        if seen.primary < max(goals.values()):
            return {self.primary: self.order[: max(goals.values())]}
        return {model: tuple(filter(seen.is_open, self.order[:goal])) for model, goal in goals.items()}

    def decide(self, votes: Votes | None) -> Decision:
        """What the votes at hand decide."""
        return self._decide(_Seen.of(self, votes))

    def _decide(self, seen: _Seen) -> Decision:
        judged = []
        for model in self.secondaries:
            reached = self._whole(seen.reached(model))
            questions = self.order[:reached]
            values = np.array([seen.change(model, question) for question in questions], dtype=np.float64)
            judged.append((model, reached, sum(map(seen.is_open, questions)), values))
        effects = [self._effect(values) for *_, values in judged]
        shown = adjusted([each.gain for each in effects])
        found = []
        for (model, reached, asked, values), effect, e in zip(judged, effects, shown, strict=True):
            little = self._too_little(values)
            finding: Finding = (
                "gain" if reaches(e, self.level) else "too_little" if reaches(little, self.level) else "open"
            )
            found.append(Secondary(model, reached, asked, effect, e, little, finding))
        findings = {each.finding for each in found}
        overall: Finding = "gain" if "gain" in findings else "open" if "open" in findings else "too_little"
        return Decision(overall, self.primary, self.weight, self.min_gain, self.level, tuple(found), len(self.order))

    @cached_property
    def _largest(self) -> int:
        return int(np.bincount(self.units).max())

    def _members(self, values: Floats) -> Ints | None:
        return self.units[: len(values)] if self._clustered else None

    def _effect(self, values: Floats) -> Anytime:
        return anytime_effect(values, self._members(values), largest=self._largest, level=self.level)

    def _too_little(self, values: Floats) -> float:
        return e_value(-values, self._members(values), null=-self.min_gain, largest=self._largest)

    def _nearness(self, each: Secondary) -> float:
        """How near a secondary is to a decision, either way."""
        return max(log(each.gain_adjusted), log(each.too_little)) if each.questions else 0.0

    def _whole(self, reached: int) -> int:
        """Questions of complete waves: who was killed inside one looks when everybody does, and decides the same."""
        ends = [self._up_to(goal) for goal in range(self.wave, len(self.order) + self.wave, self.wave)]
        return max((end for end in ends if end <= reached), default=0)

    def _up_to(self, goal: int) -> int:
        """The first questions, and the rest of the last one's cluster."""
        return min(
            len(self.order), int(np.searchsorted(self.units, self.units[min(goal, len(self.order)) - 1], "right"))
        )


@dataclass(frozen=True)
class _Seen:
    """The votes at hand."""

    plan: Steering
    ballots: Mapping[tuple[str, str], Ballot]
    """By model and question."""
    golds: Mapping[str, str]

    @classmethod
    def of(cls, plan: Steering, votes: Votes | None) -> _Seen:
        ballots: dict[tuple[str, str], Ballot] = {}
        golds: dict[str, str] = {}
        if votes is not None:
            names = ("model", "question", "answer", "gold", "votes")
            for model, question, answer, gold, number in votes.counts.select(names).iter_rows():
                ballots.setdefault((model, question), Counter())[answer] += number
                if gold is not None:
                    golds[question] = gold
        whole = {place: ballot for place, ballot in ballots.items() if ballot.total() >= plan.samples}
        return cls(plan, whole, golds)

    @cached_property
    def primary(self) -> int:
        """How far the primary has come."""
        return _first_missing([(self.plan.primary, question) in self.ballots for question in self.plan.order])

    def reached(self, model: str) -> int:
        """How far a secondary has come: where it cannot matter, nobody waits for it."""
        known = [
            (model, question) in self.ballots or not self.is_open(question)
            for question in self.plan.order[: self.primary]
        ]
        return _first_missing(known)

    def is_open(self, question: str) -> bool:
        """Whether any votes of a secondary could change what the primary's votes say."""
        own = self.ballots[self.plan.primary, question]
        first, second, *_ = [*sorted(own.values(), reverse=True), 0, 0]
        return Fraction(first - second, own.total()) <= self.plan.weight

    def change(self, model: str, question: str) -> Fraction:
        """What the secondary's votes change in the score of a question."""
        if not self.is_open(question):
            return Fraction(0)
        if question not in self.golds:
            raise InputError(
                f"question {quote(question)} has no label, and deciding needs one wherever the vote may change: "
                "collect without deciding, and label the questions that `labels` names"
            )
        own, other = self.ballots[self.plan.primary, question], self.ballots[model, question]
        pooled = {
            answer: Fraction(own[answer], own.total()) + self.plan.weight * Fraction(other[answer], other.total())
            for answer in own.keys() | other.keys()
        }
        gold = self.golds[question]
        return _score(pooled, gold) - _score({answer: Fraction(votes) for answer, votes in own.items()}, gold)


def _score(shares: Mapping[str | None, Fraction], gold: str) -> Fraction:
    """Eq. (score): what gold gets of a vote."""
    top = max(shares.values())
    leading = [answer for answer, share in shares.items() if share == top]
    return tie_credit(Fraction(1), len(leading)) if gold in leading else Fraction(0)


def _first_missing(there: Sequence[bool]) -> int:
    return next((place for place, known in enumerate(there) if not known), len(there))
