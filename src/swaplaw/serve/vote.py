"""The running vote on one question, Eq. (vote), and how far it is from being decided.

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
from types import EllipsisType
from typing import Final, NamedTuple

from swaplaw.decide.policy import Silence
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


class Ballot:
    """The votes of one question as they come in; members are numbered in the policy's order, the primary first."""

    def __init__(self, weights: Sequence[Fraction], samples: Sequence[int]) -> None:
        self.weights = tuple(weights)
        self.samples = list(samples)
        """N of each member; less than planned where samples were lost, 0 where the member is out."""
        self.counts: list[Counter[Answer]] = [Counter() for _ in samples]
        """Each member's votes, by answer."""
        self.cast_by = [0] * len(self.samples)
        """How many samples of each member have come, silent ones included."""
        self._standing: Standing | None = None
        self._rescale()

    def _rescale(self) -> None:
        self.scale, self.units = _whole_units(self.weights, tuple(self.samples))
        self._standing = None

    @property
    def left(self) -> list[int]:
        """Votes of each member that are still to come."""
        return list(map(sub, self.samples, self.cast_by))

    def cast(self, member: int, vote: Vote) -> None:
        """Count one sample."""
        if self.samples[member] <= self.cast_by[member]:
            raise ValueError(f"member {member} has cast all of its {self.samples[member]} votes")
        if vote is not SILENT:
            self.counts[member][vote] += 1
        self.cast_by[member] += 1
        self._standing = None

    def lose(self, member: int) -> None:
        """Give up a sample that will never come: the member's share is taken over one less."""
        if self.left[member] <= 0:
            raise ValueError(f"member {member} has no vote to lose")
        self.samples[member] -= 1
        self._rescale()

    def drop(self, member: int) -> None:
        """Take a member out of the vote; the others keep their weights, which is to renormalise them."""
        self.counts[member].clear()
        self.cast_by[member] = self.samples[member] = 0
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
            scores = self.scores()
            top, rival = sorted([0, 0, *scores.values()])[:-3:-1]
            leaders = tuple(answer for answer, score in scores.items() if score == top)
            self._standing = Standing(leaders, top - rival, sum(map(mul, self.units, self.left)))
        return self._standing

    def preferred(self, tied: Sequence[Answer]) -> Answer:
        """The category that is served of those that are tied; none where nobody named any.

        It is the one with the largest share of the primary, then of the next member, and so on; if all their shares
        are equal, an answer before null, then in text order. Ties need all votes (see above), so early stopping cannot
        change this choice.
        """

        def preference(answer: Answer) -> tuple[list[int], bool, str]:
            return [-votes[answer] for votes in self.counts], answer is None, answer or ""

        return min(tied, key=preference, default=None)

    def wave(self, bar: int = 0, prices: Sequence[float] | None = None) -> list[int]:
        """The fewest samples of each member that could tell whether the lead ends above a bar.

        As no smaller number could, whatever the samples say, a whole wave can be drawn at once: sampling one by one in
        the same order would need every one of them too. Of samples that weigh the same, the cheaper ones go first,
        then the earlier member's.
        """
        _, lead, remaining = self.standing()
        # After votes of weight g for the leader the lead is `lead + g` and `remaining - g` is open.
        weight = (remaining - lead + bar) // 2 + 1
        if bar:  # So many against it settle that it ends below.
            weight = min(weight, max(1, (lead + remaining - bar + 1) // 2))
        drawn, left, costs = [0] * len(self.units), self.left, prices or [0.0] * len(self.units)
        for member in sorted(self.members, key=lambda m: (-self.units[m], costs[m], m)):
            if weight <= 0:
                break
            drawn[member] = min(left[member], -(-weight // self.units[member]))
            weight -= self.units[member] * drawn[member]
        return drawn


@lru_cache(maxsize=256)
def _whole_units(weights: tuple[Fraction, ...], samples: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """What one sample of each member weighs, w / N, times the scale (given first) that makes them whole numbers."""
    units = [w / n if n else Fraction(0) for w, n in zip(weights, samples, strict=True)]
    scale = lcm(*(unit.denominator for unit in units))
    return scale, tuple(int(unit * scale) for unit in units)
