"""The terms of a policy's decision, and the proof that nothing still to come can change it.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from types import EllipsisType
from typing import Any, Literal, get_args

from swaplaw.decide.policy import Member, Voting
from swaplaw.errors import InputError, quote
from swaplaw.serve.voting.ballot import Answer, Ballot

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
        primary, bar = ballot.alone(0).standing(), self.threshold * ballot.samples[0]
        lead, left = primary.lead // ballot.alone(0).units[0], ballot.left[0]
        if lead - left > bar and not self.may_fall(ballot, 0):
            return False
        return True if lead + left <= bar else None

    def active(self, ballot: Ballot) -> Ballot:
        """The votes that decide: all, or in a cascade the primary's until the others are asked."""
        return ballot if self.asks_others(ballot) else ballot.alone(0)

    def winner(self, ballot: Ballot) -> Answer:
        """The category that wins: the plurality's, or null where it is short of the share it needs."""
        ballot = self.active(ballot)
        leader = ballot.winner()
        if leader is None or not self.plurality:
            return leader
        total = sum((ballot.weights[member] for member in ballot.members), Fraction(0))
        return leader if Fraction(ballot.scores()[leader], ballot.scale) >= self.plurality * total else None

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
