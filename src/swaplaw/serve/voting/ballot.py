"""The running vote on one question, Eq. (vote), and the proof that it is decided.

Every sample of member m counts w_m / N_m for its answer; times a common denominator, all of it is whole numbers.

The vote is decided when the leader's lead over every rival exceeds all that is still open. Then no completion of the
remaining votes can change the winner or tie with it. The bound is tight: otherwise all remaining votes might go to one
rival (the null category is always possible), which would then tie or overtake. So a tie is only ever declared when all
votes are in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from operator import mul, sub
from typing import NamedTuple

Answer = str | None
"""A canonical category; None is the null category of abstentions."""


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

    @counts.setter
    def counts(self, counts: list[Counter[Answer]]) -> None:
        self._counts = counts
        self._cast = [votes.total() for votes in self._counts]
        self._standing = None

    def empty(self) -> Ballot:
        """A ballot like this one before its first vote: the scale need not be found again."""
        new = object.__new__(Ballot)
        new.weights, new.samples, new.scale, new.units = self.weights, list(self.samples), self.scale, self.units
        new._counts, new._cast, new._standing = [Counter() for _ in self.samples], [0] * len(self.samples), None
        return new

    def alone(self, member: int) -> Ballot:
        """One member's own vote, as it stands now."""
        own = Ballot(self.weights[member : member + 1], self.samples[member : member + 1])
        own.counts = self.counts[member : member + 1]
        return own

    def cast_by(self, member: int) -> int:
        """How many votes a member has cast."""
        return self._cast[member]

    def _rescale(self) -> None:
        self.scale, self.units = _whole_units(self.weights, tuple(self.samples))
        self._standing = None

    @property
    def left(self) -> list[int]:
        """Votes of each member that are still to come."""
        return list(map(sub, self.samples, self._cast))

    def cast(self, member: int, answer: Answer) -> None:
        """Count one vote."""
        if self.samples[member] <= self._cast[member]:
            raise ValueError(f"member {member} has cast all of its {self.samples[member]} votes")
        self._counts[member][answer] += 1
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

    def winner(self) -> Answer:
        """The winning category.

        Of a tie, the one with the largest share of the primary, then of the next member, and so on; if all their
        shares are equal, an answer before null, then in text order. Ties need all votes (see above), so early
        stopping cannot change this choice.
        """
        leaders = self.standing().leaders
        if not leaders:
            raise ValueError("no vote has been cast")
        if len(leaders) == 1:
            return leaders[0]

        def preference(answer: Answer) -> tuple[list[int], bool, str]:
            return [-votes[answer] for votes in self.counts], answer is None, answer or ""

        return min(leaders, key=preference)


@lru_cache(maxsize=256)
def _whole_units(weights: tuple[Fraction, ...], samples: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """What one sample of each member weighs, w / N, times the scale (given first) that makes them whole numbers."""
    units = [w / n if n else Fraction(0) for w, n in zip(weights, samples, strict=True)]
    scale = lcm(*(unit.denominator for unit in units))
    return scale, tuple(int(unit * scale) for unit in units)
