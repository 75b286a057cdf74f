"""A policy's way through one question: what is asked next, and the proof that nothing still to come can change it.

A decision is a row of **stages**, each a vote. The members vote; where they leave a tie, or nothing was said, the
fallback models vote one after the other among what is still open. A cascade begins with a stage of its primary alone,
which decides where that leads by more than a threshold; what it said counts in the members' vote, too. So each stage
goes on to the next unless its lead ends above a bar, which is 0 but for a cascade's first.

What is decided is a function of every sample's fate: its answer, or that it was lost. A member that keeps less than its
quorum of samples is down and has no say; `degrade` says what follows. Stopping early must leave that function's value
as it is, for every completion of the votes and every failure still possible.

- *Votes.* All that is open may go to one rival: its members' units count against the lead.
- *Losses.* A member that loses a sample has its share taken over one less. With c of its N votes for a rival that share
  becomes c/(N-1), which is at most (c+1)/N: losing a sample does no more than giving it to the rival. So losses are
  covered by the line above.
- *Drops.* A member that has not yet cast its quorum may still go down, and take the votes it cast with it. Whether it
  stays or goes, the worse for the leader is counted, member by member.

So the leader stays in front for certain when, against each rival, the sum over members of `lead - open` (or 0, for one
that may go down and would leave less) is above 0. With `degrade: primary` or `unavailable` a member that goes down
changes more than its own votes, so each member's quorum is awaited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from operator import mul
from typing import Any, Literal, get_args

from swaplaw.decide.policy import Policy
from swaplaw.errors import InputError, quote
from swaplaw.serve.vote import SILENT, Answer, Ballot, Vote

Stopped = Literal["exact", "cascade", "all"]
"""What ended the sampling; `cascade`: the primary's lead, so that the others were not asked."""
Degrade = Literal["renormalise", "primary", "unavailable"]
ROUNDS = 2
"""Waves of an exact stop before the rest is drawn at once, unless a policy says otherwise: see `swaplaw replay`."""


@dataclass(frozen=True)
class StopRule:
    """When to stop; without `exact`, all samples are drawn."""

    exact: bool = True
    rounds: int | None = None
    """Draw all that is left after this many rounds."""


def stop_rule(serving: Mapping[str, Any]) -> StopRule:
    """The rule that `serving` states: exact within two rounds where it says nothing of `stop`."""
    stop = serving.get("stop", {"rounds": ROUNDS})
    kinds: dict[str, type | tuple[type, ...]] = {"exact": bool, "rounds": (int, type(None))}
    if not isinstance(stop, Mapping) or not all(key in kinds and isinstance(stop[key], kinds[key]) for key in stop):
        raise InputError(f"serving.stop is {quote(stop)}, expected an object with exact or rounds")
    return StopRule(**stop)


@dataclass(frozen=True)
class Terms:
    """What decides, whatever the votes."""

    weights: tuple[Fraction, ...]
    """Of the members; whoever else is asked is a fallback model."""
    quorum: Fraction = Fraction(1, 2)
    degrade: Degrade = "renormalise"
    threshold: Fraction | None = None
    """Of a cascade: ask the others when the primary's lead is at most this share of its votes."""
    prices: tuple[float, ...] | None = None
    """What a sample of each member costs, to prefer the cheaper of equals."""


def terms_of(policy: Policy, prices: Sequence[float] | None = None) -> Terms:
    """The terms that a policy's file states; what it holds under `serving` may be anything."""
    degrade = policy.serving.get("degrade", "renormalise")
    if degrade not in get_args(Degrade):
        raise InputError(f"serving.degrade is {quote(degrade)}, expected one of {', '.join(get_args(Degrade))}")
    quorum = as_share(policy.serving.get("quorum", "1/2"), "serving.quorum")
    weights = tuple(member.weight for member in policy.members)
    costs = prices or [member.price or 0.0 for member in policy.members]
    return Terms(weights, quorum, degrade, policy.voting.threshold, tuple(costs[: len(weights)]))


def as_share(value: Any, name: str) -> Fraction:
    """Read a share above 0 and up to 1, exact."""
    try:
        share = Fraction(value) if isinstance(value, str) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise InputError(f"{name} is {quote(value)}, expected a fraction above 0 and up to 1 as text, such as '1/2'")
    return share


class Stage:
    """One vote on the way to a decision: some models, and how far their leader must lead to decide it."""

    def __init__(self, terms: Terms, models: Sequence[int], samples: Sequence[int], threshold: Fraction | None) -> None:
        self.models = list(models)
        weights = [terms.weights[model] if model < len(terms.weights) else Fraction(1) for model in models]
        self.ballot = Ballot(weights, [samples[model] for model in models])
        self.needs = [ceil(terms.quorum * samples[model]) for model in models]
        """Samples of each model below which it is down."""
        self.threshold = threshold
        """Of a cascade's first stage."""
        self._awaits = terms.degrade != "renormalise" and models[0] < len(terms.weights)

    def decides(self) -> bool | None:
        """Whether its leader decides, for certain: else the next stage does. None while that is open."""
        ballot = self.ballot
        _, lead, remaining = ballot.standing()
        if not remaining:
            return lead > self.bar
        if lead > self.bar + remaining and not any(self.awaited()) and self._leads_surely():
            return True
        return False if lead + remaining <= self.bar else None

    @property
    def bar(self) -> int:
        """What the lead must exceed."""
        if not self.threshold:
            return 0
        whole: int = sum(map(mul, self.ballot.units, self.ballot.samples))
        return self.threshold.numerator * whole // self.threshold.denominator

    def awaited(self) -> list[int]:
        """Samples of each model that its quorum still lacks, where one that is down changes more than its votes."""
        return self._lacking() if self._awaits else [0] * len(self.models)

    def _lacking(self) -> list[int]:
        """Samples of each model without which it may still go down."""
        ballot = self.ballot
        return [
            min(left, max(0, need - cast))
            for left, need, cast in zip(ballot.left, self.needs, ballot.cast_by, strict=True)
        ]

    def _leads_surely(self) -> bool:
        """No rival, one that nobody has named yet among them, catches up if all that is open goes to it."""
        ballot, may_fall = self.ballot, self._lacking()
        if not any(may_fall):
            return True  # The plain lead over all that is open has shown it.
        (leader,) = ballot.standing().leaders
        rivals = [[votes[answer] for votes in ballot.counts] for answer in ballot.scores() if answer != leader]
        for theirs in [*rivals, [0] * len(self.models)]:
            own = [
                unit * (votes[leader] - rival - left)
                for unit, votes, rival, left in zip(ballot.units, ballot.counts, theirs, ballot.left, strict=True)
            ]
            if sum(min(each, 0) if falls else each for each, falls in zip(own, may_fall, strict=True)) <= 0:
                return False
        return True

    def plan(self, prices: Sequence[float] | None) -> list[int]:
        """The fewest samples of each model that could tell; of a leader in front, those without which some may fall."""
        standing = self.ballot.standing()
        if standing.lead > self.bar + standing.remaining:
            return self._lacking()
        return [max(pair) for pair in zip(self.ballot.wave(self.bar, prices), self.awaited(), strict=True)]


class Course:
    """The stages of one question, one after the other.

    A fallback model's own plurality among what is open decides; what it says of other categories adds nothing. What is
    tied in the end shares credit, and one of it is served (see `Ballot.preferred`).
    """

    def __init__(self, terms: Terms, rule: StopRule, samples: Sequence[int]) -> None:
        members = len(terms.weights)
        self.terms, self._rule, self._asked = terms, rule, len(samples)
        self.main = Stage(terms, range(members), samples, None)
        """The members' vote."""
        self._stages = [self.main, *(Stage(terms, [model], samples, None) for model in range(members, len(samples)))]
        if terms.threshold is not None:
            self._stages.insert(0, Stage(terms, [0], samples, terms.threshold))
        self._at = 0
        self.leaders: tuple[Answer, ...] = ()
        """The categories that are tied for the win so far."""
        self.stopped: Stopped = "all"
        """What ended the members' vote."""
        self.rounds = 0
        """How often the question has waited for its slowest sample."""
        self.at_once = False
        """Whether all that is left was drawn last."""
        self._before = 0

    def next(self) -> list[int] | None:
        """The samples to draw next of each model; None when all is decided."""
        while self._over(stage := self._stages[self._at]):
            if self._close(stage) or self._at + 1 == len(self._stages):
                return None
            self._at += 1
            self._before = self.rounds
        rounds = self._rule.rounds
        self.at_once = not self._rule.exact or (rounds is not None and self.rounds - self._before >= rounds)
        self.rounds += 1
        drawn = stage.ballot.left if self.at_once else stage.plan(self.terms.prices)
        plan = [0] * self._asked
        for model, number in zip(stage.models, drawn, strict=True):
            plan[model] = number
        return plan

    def _over(self, stage: Stage) -> bool:
        return not any(stage.ballot.left) or (self._rule.exact and stage.decides() is not None)

    def _close(self, stage: Stage) -> bool:
        """Take up what a stage says; True where it decides."""
        decides = bool(stage.decides())
        if decides or stage.threshold is None:
            self.leaders = stage.ballot.standing().leaders or self.leaders
            if stage.threshold is not None:
                self.stopped = "cascade"
            elif stage is self.main and any(stage.ballot.left):
                self.stopped = "exact"
        return decides

    def cast(self, model: int, vote: Vote) -> None:
        """Count a sample of a member, or of the fallback model that is being asked."""
        is_open = model < len(self.terms.weights) or not self.leaders or vote in self.leaders
        for stage, place in self._places(model):
            stage.ballot.cast(place, vote if is_open else SILENT)

    def lose(self, model: int, samples: int) -> bool:
        """Give up samples that will never come; False where too few are left for a say."""
        for stage, place in self._places(model):
            for _ in range(samples):
                stage.ballot.lose(place)
        stage, place = self.vote_of(model)
        return stage.ballot.samples[place] >= stage.needs[place]

    def drop(self, model: int) -> None:
        """Take a model out: from now on it has no say."""
        for stage, place in self._places(model):
            stage.ballot.drop(place)

    def has_say(self, model: int) -> bool:
        """Whether a model is not out."""
        stage, place = self.vote_of(model)
        return stage.ballot.samples[place] > 0

    def vote_of(self, model: int) -> tuple[Stage, int]:
        """The vote that a model has its part in, and its place there."""
        return self._places(model)[-1]

    def _places(self, model: int) -> list[tuple[Stage, int]]:
        return [(stage, stage.models.index(model)) for stage in self._stages if model in stage.models]

    def cut(self) -> bool:
        """Whether samples that are on their way are no longer needed.

        All of a wave are needed, as fewer could not have decided; only the rest, drawn at once, can be cut short.
        """
        return self._rule.exact and self.at_once and bool(self._stages[self._at].decides())

    @property
    def deciding(self) -> Ballot:
        """The vote that fallback models only settle: the members', or that of a cascade's primary."""
        return self._stages[0].ballot if self.stopped == "cascade" else self.main.ballot

    @property
    def winner(self) -> Answer:
        """The category that is served."""
        return self.deciding.preferred(self.leaders)

    def ask_primary(self) -> None:
        """Let the primary decide alone, by what it has said and may still say."""
        own = Stage(self.terms, [0], self.main.ballot.samples[:1], None)
        own.needs, own.ballot.counts = self.main.needs[:1], self.main.ballot.counts[:1]
        own.ballot.cast_by = self.main.ballot.cast_by[:1]
        self.main, self._stages, self._at, self._before = own, [own], 0, self.rounds
        self.leaders, self.stopped = (), "all"
