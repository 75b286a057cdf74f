"""The running vote on one question, Eq. (vote), and the proof that it is decided.

Every sample of member m counts w_m / N_m for its answer; times a common denominator, all of it is whole numbers.

The vote is decided when the leader's lead over every rival exceeds all that is still open. Then no completion of the
remaining votes can change the winner or tie with it. The bound is tight: otherwise all remaining votes might go to one
rival (the null category is always possible), which would then tie or overtake. So a tie is only ever declared when all
votes are in.

Which samples to draw next: the fewest that could decide the vote.

One more vote for the leader adds its unit to the lead and takes it from what is open, so the heaviest samples come
first. As no smaller number of samples could decide, whatever they say, a whole wave can be drawn at once: sampling one
by one in the same order would need every one of them too.

The terms of a policy's decision, and the proof that nothing still to come can change it.

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
that may go down and would leave less) is above 0. The same sum with other terms proves a minimum plurality.

With `degrade: primary` or `unavailable` a member that goes down changes more than its own votes, so each member's
quorum is awaited. A cascade is decided by its primary alone where that leads by more than the threshold; members that
are then not asked have no part in the decision, nor has their health.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, lcm
from operator import add, mul, sub
from types import EllipsisType
from typing import Any, Final, Literal, NamedTuple, get_args

from swaplaw.decide.policy import Member, Silence, Voting
from swaplaw.errors import InputError, quote
from swaplaw.votes.tally import HEARD

Answer = str | None
"""A canonical category; None is the null category of abstentions."""
SILENT: Final = ...
"""What a sample says that adds to no category; its member's share is still taken over all its samples."""
Vote = Answer | EllipsisType


def heard(answer: Answer, reason: str | None, silence: Silence) -> Vote:
    """What a sample says: its answer, or where silence is ignored and it gave none, nothing."""
    return SILENT if answer is None and silence == "ignored" and reason not in HEARD else answer


class Standing(NamedTuple):
    """Who leads, by how much, and what is still open, in whole numbers on one scale."""

    leaders: tuple[Answer, ...]
    lead: int
    """Of a leader over the best category that is not one; 0 before the first vote and while leaders tie."""
    remaining: int
    """What all votes still to come weigh together."""

    @property
    def decided(self) -> bool:
        """No completion of the remaining votes changes the winner, or the tie set."""
        return self.remaining == 0 or self.lead > self.remaining


class Ballot:
    """The votes of one question as they come in; members are numbered in the policy's order, the primary first."""

    def __init__(self, weights: Sequence[Fraction], samples: Sequence[int]) -> None:
        self.weights = tuple(weights)
        self.samples = list(samples)
        """N of each member; less than planned where samples were lost, 0 where the member is out."""
        self._counts: list[Counter[Answer]] = [Counter() for _ in samples]
        self._cast = [0] * len(self.samples)
        self._standing: Standing | None = None
        self._rescale()

    @property
    def counts(self) -> list[Counter[Answer]]:
        """Each member's votes, by answer."""
        return self._counts

    def backed(self, answer: Answer, number: int) -> Ballot:
        """As it would stand after this many more samples of each member, as far as they are open, for one answer."""
        more = [min(number, left) for left in self.left]
        new = self.empty()
        new.samples = list(self.samples)
        new.scale, new.units = self.scale, self.units
        new._counts = [votes + Counter({answer: extra}) for votes, extra in zip(self._counts, more, strict=True)]
        new._cast = list(map(add, self._cast, more))
        return new

    def empty(self) -> Ballot:
        """A ballot like this one before its first vote: the scale need not be found again."""
        new = object.__new__(Ballot)
        new.weights, new.samples, new.scale, new.units = self.weights, list(self.samples), self.scale, self.units
        new._counts, new._cast, new._standing = [Counter() for _ in self.samples], [0] * len(self.samples), None
        return new

    def alone(self, member: int) -> Ballot:
        """One member's own vote, as it stands now."""
        own = Ballot(self.weights[member : member + 1], self.samples[member : member + 1])
        own._counts, own._cast = self._counts[member : member + 1], self._cast[member : member + 1]
        return own

    def own_lead(self, member: int) -> int:
        """By how many votes a member's own first choice leads; 0 where its first choices tie."""
        first, second, *_ = sorted([*self._counts[member].values(), 0, 0], reverse=True)
        return first - second

    def cast_by(self, member: int) -> int:
        """How many samples of a member have come, silent ones included."""
        return self._cast[member]

    def _rescale(self) -> None:
        self.scale, self.units = _whole_units(self.weights, tuple(self.samples))
        self._standing = None

    @property
    def left(self) -> list[int]:
        """Votes of each member that are still to come."""
        return list(map(sub, self.samples, self._cast))

    def cast(self, member: int, vote: Vote) -> None:
        """Count one sample."""
        if self.samples[member] <= self._cast[member]:
            raise ValueError(f"member {member} has cast all of its {self.samples[member]} votes")
        if vote is not SILENT:
            self._counts[member][vote] += 1
        self._cast[member] += 1
        self._standing = None

    def lose(self, member: int) -> None:
        """Give up a sample that will never come: the member's share is taken over one less."""
        if self.left[member] <= 0:
            raise ValueError(f"member {member} has no vote to lose")
        self.samples[member] -= 1
        self._rescale()

    def drop(self, member: int) -> None:
        """Take a member out of the vote; the others keep their weights, which is to renormalise them."""
        self._counts[member].clear()
        self._cast[member] = self.samples[member] = 0
        self._rescale()

    @property
    def members(self) -> list[int]:
        """The members that have a say."""
        return [member for member, n in enumerate(self.samples) if n]

    def scores(self) -> Counter[Answer]:
        """The vote vector of Eq. (vote), times `scale`."""
        scores: Counter[Answer] = Counter()
        for unit, votes in zip(self.units, self.counts, strict=True):
            for answer, count in votes.items():
                scores[answer] += unit * count
        return scores

    def standing(self) -> Standing:
        """Who leads now; worked out again when votes have changed."""
        if self._standing is None:
            self._standing = self._stand()
        return self._standing

    def _stand(self) -> Standing:
        remaining = sum(map(mul, self.units, self.left))
        scores = self.scores()
        if not scores:
            return Standing((), 0, remaining)
        top = max(scores.values())
        leaders = tuple(answer for answer, score in scores.items() if score == top)
        rival = max((score for answer, score in scores.items() if answer != leaders[0]), default=0)
        return Standing(leaders, top - rival, remaining)

    @property
    def decided(self) -> bool:
        """Whether sampling may stop."""
        return self.standing().decided

    def shares(self, member: int) -> dict[Answer, Fraction]:
        """The member's share of each answer among the votes it has cast, the largest first."""
        cast = self._cast[member]
        return {answer: Fraction(count, cast) for answer, count in self.counts[member].most_common()}

    def preferred(self, tied: Sequence[Answer]) -> Answer:
        """The category that is served of those that are tied; none where nobody named any.

        It is the one with the largest share of the primary, then of the next member, and so on; if all their shares
        are equal, an answer before null, then in text order. Ties need all votes (see above), so early stopping cannot
        change this choice.
        """
        if len(tied) <= 1:
            return tied[0] if tied else None

        def preference(answer: Answer) -> tuple[list[int], bool, str]:
            return [-votes[answer] for votes in self.counts], answer is None, answer or ""

        return min(tied, key=preference)


@lru_cache(maxsize=256)
def _whole_units(weights: tuple[Fraction, ...], samples: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """What one sample of each member weighs, w / N, times the scale (given first) that makes them whole numbers."""
    units = [w / n if n else Fraction(0) for w, n in zip(weights, samples, strict=True)]
    scale = lcm(*(unit.denominator for unit in units))
    return scale, tuple(int(unit * scale) for unit in units)


def wave(ballot: Ballot, prices: Sequence[float] | None = None) -> list[int]:
    """How many samples to draw next of each member; all zeros when the vote is decided.

    Of samples that weigh the same, the cheaper ones go first, then the earlier member's.
    """
    standing = ballot.standing()
    if standing.decided:
        return [0] * len(ballot.units)
    # After votes of weight g for the leader the lead is `lead + g` and `remaining - g` is open: 2 g must exceed this.
    return heaviest(ballot, (standing.remaining - standing.lead) // 2 + 1, prices)


def heaviest(ballot: Ballot, weight: int, prices: Sequence[float] | None = None) -> list[int]:
    """The fewest open samples that weigh at least so much together."""
    drawn, left = [0] * len(ballot.units), ballot.left
    costs = prices or [0.0] * len(drawn)
    for member in sorted(ballot.members, key=lambda m: (-ballot.units[m], costs[m], m)):
        unit = ballot.units[member]
        drawn[member] = min(left[member], -(-weight // unit))
        weight -= unit * drawn[member]
        if weight <= 0:
            break
    return drawn


Degrade = Literal["renormalise", "primary", "unavailable"]
NullWin = Literal["abstain", "primary", "primary_text", "error"]


@dataclass(frozen=True)
class Terms:
    """What decides: `needs` is each member's quorum in samples."""

    needs: Sequence[int]
    degrade: Degrade = "renormalise"
    plurality: Fraction = Fraction(0)
    """Least share of all weight that a winning answer needs; else the null category wins."""
    threshold: Fraction | None = None
    """Of a cascade: ask the others when the primary's lead is at most this share of its votes."""

    def settled(self, ballot: Ballot) -> bool:
        """Whether no completion of the remaining votes, and no failure, changes the outcome."""
        asks = self.asks_others(ballot)
        if asks is None:
            return False
        if not asks:
            return not self.plurality or self._of_primary.settled(ballot.alone(0))
        if not any(ballot.left):
            return True
        if any(self.quorum_left(ballot)):
            return False
        standing = ballot.standing()
        sure = standing.lead > standing.remaining and self._leads_surely(ballot, standing.leaders[0])
        if not self.plurality:
            return sure
        if sure and (standing.leaders[0] is None or self._certainly_enough(ballot, standing.leaders[0])):
            return True
        return self._certainly_short(ballot)

    @cached_property
    def _of_primary(self) -> Terms:
        """The terms of a primary that decides alone."""
        return Terms(self.needs[:1], plurality=self.plurality)

    def asks_others(self, ballot: Ballot) -> bool | None:
        """Whether all members have a say: always without a threshold; None while the primary's votes leave it open.

        With lead L and l of n votes open the final lead is from L - l to L + l; losing one of them can neither lift
        the one share above the threshold nor bring the other down to it, as no share exceeds 1.
        """
        if self.threshold is None or not ballot.samples[0]:
            return True
        lead, left = ballot.own_lead(0), ballot.samples[0] - ballot.cast_by(0)
        bar, times = self.threshold.numerator * ballot.samples[0], self.threshold.denominator
        if (lead - left) * times > bar and not self.may_fall(ballot, 0):
            return False
        return True if (lead + left) * times <= bar else None

    def active(self, ballot: Ballot) -> Ballot:
        """The votes that decide: all, or in a cascade the primary's until the others are asked."""
        return ballot if self.asks_others(ballot) else ballot.alone(0)

    def leaders(self, ballot: Ballot) -> tuple[Answer, ...]:
        """The categories that are tied for the win: null alone where they are short of the share that they need."""
        ballot = self.active(ballot)
        leaders = ballot.standing().leaders
        if not self.plurality:
            return leaders
        total = sum((ballot.weights[member] for member in ballot.members), Fraction(0))
        own = Fraction(ballot.scores()[leaders[0]] if leaders else 0, ballot.scale)
        return leaders if own >= self.plurality * total else (None,)

    def may_fall(self, ballot: Ballot, member: int) -> bool:
        """Whether a member has a say but might still go down."""
        cast = ballot.cast_by(member)
        return cast < self.needs[member] and cast < ballot.samples[member]

    def quorum_left(self, ballot: Ballot) -> list[int]:
        """Samples of each member that its quorum still lacks, where a member that is down changes the decision."""
        if self.degrade == "renormalise":
            return [0] * len(ballot.samples)
        return [
            min(left, max(0, need - ballot.cast_by(member)))
            for member, (left, need) in enumerate(zip(ballot.left, self.needs, strict=True))
        ]

    def _leads_surely(self, ballot: Ballot, leader: Answer) -> bool:
        """No rival, one that nobody has named yet among them, catches up if all that is open goes to it."""
        if not any(self.may_fall(ballot, member) for member in ballot.members):
            return True  # The plain lead over all that is open has shown it.

        def leads(theirs: Sequence[int]) -> bool:
            own = [votes[leader] for votes in ballot.counts]
            return self._worst(ballot, lambda m: ballot.units[m] * (own[m] - theirs[m] - ballot.left[m])) > 0

        return all(leads(theirs) for answer, theirs in _named_and_not(ballot) if answer != leader)

    def _certainly_enough(self, ballot: Ballot, leader: Answer) -> bool:
        """The leader's share stays at or above the plurality if all that is open goes elsewhere."""
        own = [votes[leader] for votes in ballot.counts]
        return self._worst(ballot, lambda m: ballot.units[m] * own[m] - self._needed(ballot, m)) >= 0

    def _certainly_short(self, ballot: Ballot) -> bool:
        """No answer reaches the plurality even if all that is open goes to it."""

        def short(own: Sequence[int]) -> bool:
            most = [count + left for count, left in zip(own, ballot.left, strict=True)]
            return self._worst(ballot, lambda m: self._needed(ballot, m) - ballot.units[m] * most[m]) > 0

        return all(short(own) for answer, own in _named_and_not(ballot) if answer is not None)

    def _needed(self, ballot: Ballot, member: int) -> Fraction:
        return self.plurality * ballot.weights[member] * ballot.scale

    def _worst(self, ballot: Ballot, value: Callable[[int], Fraction | int]) -> Fraction | int:
        """Sum a value over members, each that may go down counted as gone where that leaves less."""
        total: Fraction | int = 0
        for member in ballot.members:
            own = value(member)
            total += min(own, 0) if self.may_fall(ballot, member) else own
        return total


def terms_of(members: Sequence[Member], voting: Voting, serving: Mapping[str, Any]) -> Terms:
    """The terms that a policy's file states; what `serving` holds may be anything."""
    degrade = serving.get("degrade", "renormalise")
    if degrade not in get_args(Degrade):
        raise InputError(f"serving.degrade is {quote(degrade)}, expected one of {', '.join(get_args(Degrade))}")
    quorum = as_share(serving.get("quorum", "1/2"), "serving.quorum")
    plurality = as_share(serving["plurality"], "serving.plurality") if serving.get("plurality") else Fraction(0)
    needs = tuple(ceil(quorum * member.samples) for member in members)
    return Terms(needs, degrade, plurality, voting.threshold)


def as_share(value: Any, name: str) -> Fraction:
    """Read a share above 0 and up to 1, exact."""
    try:
        share = Fraction(value) if isinstance(value, str) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise InputError(f"{name} is {quote(value)}, expected a fraction above 0 and up to 1 as text, such as '1/2'")
    return share


def _named_and_not(ballot: Ballot) -> list[tuple[Answer | EllipsisType, list[int]]]:
    """Every category with its votes of each member; last, one that nobody has named yet."""
    named: list[tuple[Answer | EllipsisType, list[int]]] = [
        (answer, [votes[answer] for votes in ballot.counts]) for answer in ballot.scores()
    ]
    return [*named, (..., [0] * len(ballot.counts))]
