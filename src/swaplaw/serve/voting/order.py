"""Which samples to draw next: the fewest that could decide the vote.

One more vote for the leader adds its unit to the lead and takes it from what is open, so the heaviest samples come
first. As no smaller number of samples could decide, whatever they say, a whole wave can be drawn at once: sampling one
by one in the same order would need every one of them too.
"""

from __future__ import annotations

from collections.abc import Sequence

from swaplaw.serve.voting.ballot import Ballot


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
