"""When sampling stops, and what is drawn until then: one rule for serving and for replaying recorded votes.

An optional stop with a stated error bound, as in adaptive consistency but for the weighted vote of several members.

Each member's answers are taken as draws from a distribution of its own with a uniform Dirichlet prior over the
categories seen so far and one for all others. Against one rival, the member's remaining votes then follow a
Dirichlet-multinomial law over (leader, rival, rest). Convolving the members gives the probability that the rival ties
or overtakes; the sum over rivals bounds the probability that the final winner differs from the present leader.
Sampling stops when that bound is at most `error`. Under the prior the decision then differs from the full vote with
probability at most `error`, however often one looks, because the bound holds given all that was seen at the stop.

Floats decide when to stop here, never who wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any, Literal

import numpy as np
from numpy.fft import irfft, rfft
from numpy.typing import NDArray

from swaplaw.errors import InputError, quote
from swaplaw.serve.vote import SILENT, Answer, Ballot, Terms, Vote, heaviest, wave

Stopped = Literal["exact", "statistical", "cascade", "all"]
"""What ended the sampling; `cascade`: the primary's lead, so that the others were not asked."""
ROUNDS = 2
"""Waves of an exact stop before the rest is drawn at once, unless a policy says otherwise: see `swaplaw replay`."""


@dataclass(frozen=True)
class Stop:
    """Why sampling ended."""

    how: Stopped
    error_bound: float | None = None
    """Of a statistical stop: the probability, at most and under its prior, that the rest would change the outcome."""


@dataclass(frozen=True)
class StopRule:
    """When to stop; without `exact`, all samples are drawn."""

    exact: bool = True
    error: float | None = None
    """Also stop when a change has at most this probability."""
    rounds: int | None = None
    """Draw all that is left after this many rounds."""


def stop_rule(serving: Mapping[str, Any]) -> StopRule:
    """The rule that `serving` states: exact within two rounds where it says nothing of `stop`."""
    stop = serving.get("stop", {"rounds": ROUNDS})
    kinds: dict[str, type | tuple[type, ...]] = {"exact": bool, "error": float, "rounds": int}
    sound = isinstance(stop, Mapping) and all(
        key in kinds and (value is None or isinstance(value, kinds[key])) for key, value in stop.items()
    )
    if not sound:
        raise InputError(f"serving.stop is {quote(stop)}, expected an object with exact, error or rounds")
    return StopRule(**stop)


class Sampling:
    """What to draw next of one question, round by round, until the rule lets it stop."""

    def __init__(self, rule: StopRule, terms: Terms, prices: Sequence[float] | None = None) -> None:
        self._rule, self._terms, self._prices = rule, terms, prices
        self.rounds = 0
        """How often the question has waited for its slowest sample."""
        self._before = 0
        """Rounds of a cascade that asked its primary alone: those that ask all are counted afresh."""
        self._all = terms.threshold is None
        self._cuttable = False

    def next(self, ballot: Ballot) -> Stop | list[int]:
        """Stop, or draw these samples of each member."""
        if (stop := self._stop(ballot)) is not None:
            return stop
        asks = self._terms.asks_others(ballot)
        if asks and not self._all:
            self._all, self._before = True, self.rounds
        self._cuttable = self.at_once
        plan = self._plan(ballot) if asks else self._primary(ballot)
        self.rounds += 1
        return plan

    def cut(self, ballot: Ballot) -> bool:
        """Whether samples that are on their way are no longer needed.

        All of a wave are needed, as fewer could not have decided; only the rest, drawn at once, can be cut short.
        """
        return self._rule.exact and self._cuttable and self._terms.settled(ballot)

    @property
    def at_once(self) -> bool:
        """Whether the rest is drawn in one go."""
        rule = self._rule
        return not rule.exact or (rule.rounds is not None and self.rounds - self._before >= rule.rounds)

    def _stop(self, ballot: Ballot) -> Stop | None:
        asks = self._terms.asks_others(ballot)
        if asks is False and ((self._rule.exact and self._terms.settled(ballot)) or not ballot.left[0]):
            return Stop("cascade")
        if not any(ballot.left):
            return Stop("all")
        if self._rule.exact and self._terms.settled(ballot):
            return Stop("exact")
        if self._rule.error is not None and asks and any(ballot.counts):
            bound = error_bound(ballot, enough=self._rule.error)
            if bound <= self._rule.error and not any(self._terms.quorum_left(ballot)):
                return Stop("statistical", bound)
        return None

    def _plan(self, ballot: Ballot) -> list[int]:
        if self.at_once:
            return ballot.left
        likely = wave(ballot, self._prices) if self._rule.error is None else fewest(ballot, self._rule.error)
        planned = [max(pair) for pair in zip(likely, self._terms.quorum_left(ballot), strict=True)]
        return planned if any(planned) else self._to_be_sure(ballot)

    def _to_be_sure(self, ballot: Ballot) -> list[int]:
        """The leader is known unless a member goes down, or wants a larger share: draw the fewest that could tell."""
        terms = self._terms
        lacking = [
            min(left, need - ballot.cast_by(member)) if terms.may_fall(ballot, member) else 0
            for member, (left, need) in enumerate(zip(ballot.left, terms.needs, strict=True))
        ]
        if any(lacking):
            return lacking
        total = sum((ballot.weights[member] for member in ballot.members), Fraction(0)) * ballot.scale
        bar, own = terms.plurality * total, max(ballot.scores().values(), default=0)
        short, spare = bar - own, own + ballot.standing().remaining - bar
        return heaviest(ballot, max(1, min(ceil(short), floor(spare) + 1)), self._prices)

    def _primary(self, ballot: Ballot) -> list[int]:
        """Draw the fewest of the primary's samples that could show on which side of the threshold its lead ends."""
        left = ballot.left[0]
        others = [0] * (len(ballot.samples) - 1)
        if self.at_once or self._terms.threshold is None or self._terms.asks_others(ballot) is False:
            return [left, *others]
        threshold, lead = self._terms.threshold, ballot.own_lead(0)
        bar, times = threshold.numerator * ballot.samples[0], threshold.denominator
        above = (bar - (lead - left) * times) // (2 * times) + 1
        below = -((bar - (lead + left) * times) // (2 * times))
        lacking = self._terms.needs[0] - ballot.cast_by(0)
        return [min(left, max(1, lacking if above <= 0 else min(above, max(below, 1)))), *others]


MOST_SWINGS = 2**15
MOST_REMAINING = 200
"""Beyond this many open votes of one member the bound is not computed: the vote is far from decided anyway."""


class Course:
    """A policy's way through one question: the vote of its members, then of one fallback model after the other.

    A fallback model is asked where the vote so far leaves a tie, or where nothing was said, which leaves every category
    open. Its own plurality among what is open decides; what it says of other categories adds nothing. What is tied in
    the end shares credit, and one of it is served (see `Ballot.preferred`).
    """

    def __init__(
        self,
        rule: StopRule,
        terms: Terms,
        ballot: Ballot,
        fallback: Sequence[tuple[int, int]] = (),
        prices: Sequence[float] | None = None,
    ) -> None:
        self.terms, self.ballot = terms, ballot
        self.fallback = [Ballot([Fraction(1)], [samples]) for samples, _ in fallback]
        """The votes of each fallback model: those for what was open when it was asked."""
        self.leaders: tuple[Answer, ...] = ()
        """The categories that are tied for the win so far."""
        self.stop: Stop | None = None
        """What ended the members' vote, or a statistical stop that ended that of a fallback model."""
        self._rule, self._needs = rule, [need for _, need in fallback]
        self._stage = -1
        self._sampling = Sampling(rule, terms, prices)
        self._rounds = 0

    @property
    def rounds(self) -> int:
        """How often the question has waited for its slowest sample."""
        return self._rounds + self._sampling.rounds

    def next(self) -> Stop | list[int]:
        """Stop, or draw these samples of each member, then of each fallback model."""
        while isinstance(step := self._sampling.next(self._voting), Stop):
            self.leaders = self._left_open()
            self.stop = step if self.stop is None or step.how == "statistical" else self.stop
            if len(self.leaders) == 1 or self._stage + 1 == len(self.fallback):
                return self.stop
            self._stage += 1
            self._rounds = self.rounds
            self._sampling = Sampling(self._rule, Terms(self._needs[self._stage : self._stage + 1]))
        members, plan = len(self.ballot.samples), [0] * (len(self.ballot.samples) + len(self.fallback))
        start = 0 if self._stage < 0 else members + self._stage
        plan[start : start + len(step)] = step
        return plan

    def cast(self, number: int, vote: Vote) -> None:
        """Count a sample of a member or, numbered after the members, of the fallback model that is being asked."""
        ballot, place = self.ballot_of(number)
        is_open = ballot is self.ballot or not self.leaders or vote in self.leaders
        ballot.cast(place, vote if is_open else SILENT)

    def lose(self, number: int, samples: int) -> bool:
        """Give up samples that will never come; False where too few are left for a say."""
        ballot, place = self.ballot_of(number)
        for _ in range(samples):
            ballot.lose(place)
        needs = self.terms.needs if ballot is self.ballot else self._needs[number - len(self.ballot.samples) :]
        return ballot.samples[place] >= needs[place]

    def drop(self, number: int) -> None:
        """Take a model out: from now on it has no say."""
        ballot, place = self.ballot_of(number)
        ballot.drop(place)

    def has_say(self, number: int) -> bool:
        """Whether a model is not out."""
        ballot, place = self.ballot_of(number)
        return ballot.samples[place] > 0

    def ballot_of(self, number: int) -> tuple[Ballot, int]:
        """Where the samples of a model are counted: the ballot, and the model's place in it."""
        members = len(self.ballot.samples)
        return (self.ballot, number) if number < members else (self.fallback[number - members], 0)

    def cut(self) -> bool:
        """Whether samples that are on their way are no longer needed."""
        return self._sampling.cut(self._voting)

    @property
    def winner(self) -> Answer:
        """The category that is served."""
        return self.terms.active(self.ballot).preferred(self.leaders)

    @property
    def _voting(self) -> Ballot:
        return self.ballot if self._stage < 0 else self.fallback[self._stage]

    def _left_open(self) -> tuple[Answer, ...]:
        if self._stage < 0:
            return self.terms.leaders(self.ballot)
        return self._voting.standing().leaders or self.leaders


def error_bound(ballot: Ballot, enough: float = 1.0) -> float:
    """Upper bound, under the prior, on the probability that the remaining votes change the outcome.

    Summing stops above `enough`: whoever asks will not stop sampling then.
    """
    standing = ballot.standing()
    if standing.decided:
        return 0.0
    if len(standing.leaders) != 1 or max(ballot.left) > MOST_REMAINING:
        return 1.0
    (leader,) = standing.leaders
    scores = ballot.scores()
    top = scores.pop(leader)
    # An unseen category stands for all that nobody has named yet: it has no votes.
    rivals = [(score, [votes[answer] for votes in ballot.counts]) for answer, score in scores.most_common()]
    unseen = (0, [0] * len(ballot.counts))
    total = 0.0
    for score, theirs in [*rivals, unseen]:
        total += _overtakes(ballot, leader, theirs, top - score, categories=len(scores) + 2)
        if total > enough:
            break
    return min(1.0, total)


def fewest(ballot: Ballot, error: float) -> list[int]:
    """The smallest equal number of samples of each member after which sampling could stop: if all back the leader.

    Before the first vote they would have to agree, which is the same.
    """
    most = max(ballot.left)
    leaders = ballot.standing().leaders
    backed = leaders[0] if leaders else ""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if _bound_if_backed(ballot, backed, middle, error) <= error:
            high = middle
        else:
            low = middle + 1
    return [min(low, left) for left in ballot.left]


def _bound_if_backed(ballot: Ballot, answer: Answer, number: int, enough: float) -> float:
    return error_bound(ballot.backed(answer, number), enough)


def _overtakes(ballot: Ballot, leader: Answer, theirs: Sequence[int], lead: int, categories: int) -> float:
    """Probability that a rival with `theirs` votes of each member ends level with the leader or ahead of it."""
    open_members = [member for member in ballot.members if ballot.left[member]]
    states = tuple(
        (ballot.units[m], ballot.left[m], *_posterior(ballot, m, leader, theirs[m], categories)) for m in open_members
    )
    return _reaches(states, lead)


@lru_cache(maxsize=2**18)
def _reaches(states: tuple[tuple[int, int, int, int, int], ...], lead: int) -> float:
    """Probability that what a rival gains of all members is at least the lead; questions often share their states.

    Gains of the members add up, so their chances convolve: a product of Fourier transforms, all of one length.
    """
    most = sum(unit * left for unit, left, *_ in states)
    # On a long scale gains are rounded up and the lead down, so that the bound stays one.
    step = -(-most // MOST_SWINGS)
    places = [-(-unit * np.arange(-left, left + 1) // step) for unit, left, *_ in states]
    lowest = [int(own[0]) for own in places]
    widest = sum(int(own[-1] - own[0]) for own in places)
    length = min(odd << (widest // odd).bit_length() for odd in (1, 3, 5))
    chances = np.zeros((len(states), length))
    for row, own, (_, left, *posterior) in zip(chances, places, states, strict=True):
        row[own - own[0]] = _gains(*posterior, left)
    total = irfft(np.multiply.reduce(rfft(chances), axis=0), length)
    needed = lead // step - sum(lowest)
    return float(np.maximum(total[max(0, needed) :], 0.0).sum()) if needed < length else 0.0


def _posterior(ballot: Ballot, member: int, leader: Answer, theirs: int, categories: int) -> tuple[int, int, int]:
    """Pseudo-counts of leader, rival and all categories together."""
    votes = ballot.counts[member]
    return votes[leader] + 1, theirs + 1, votes.total() + categories


@lru_cache(maxsize=2**14)
def _gains(leader: int, rival: int, total: int, left: int) -> NDArray[np.float64]:
    """Chance of each net gain, from -left to left, of the rival on the leader among Dirichlet-multinomial votes."""
    own, theirs = _splits(left)
    terms = _log_terms(leader, left)[own] + _log_terms(rival, left)[theirs]
    terms += _log_terms(total - leader - rival, left)[left - own - theirs]
    chances: NDArray[Any] = np.bincount(theirs - own + left, np.exp(terms - _log_terms(total, left)[left]))
    return chances


@lru_cache(maxsize=MOST_REMAINING + 1)
def _splits(left: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every way in which votes may go to the leader and to the rival."""
    own, theirs = np.indices((left + 1, left + 1)).reshape(2, -1)
    possible = own + theirs <= left
    return own[possible], theirs[possible]


@lru_cache(maxsize=2**12)
def _log_terms(start: int, most: int) -> NDArray[np.float64]:
    """Log of start (start + 1) … (start + k - 1) / k! for each k up to `most`."""
    steps = np.arange(most)
    with np.errstate(divide="ignore"):  # No pseudo-count, no votes: the chance of any is 0.
        return np.concatenate([[0.0], np.cumsum(np.log(start + steps) - np.log(steps + 1))])
