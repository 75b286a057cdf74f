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
    drawn = [0] * len(ballot.units)
    if standing.decided:
        return drawn
    # After votes of weight g for the leader the lead is `lead + g` and `remaining - g` is open.
    short = standing.remaining - standing.lead
    costs = prices or [0.0] * len(drawn)
    left = ballot.left
    for member in sorted(ballot.members, key=lambda m: (-ballot.units[m], costs[m], m)):
        unit = ballot.units[member]
        needed = short // (2 * unit) + 1  # Smallest count with 2 * unit * count > short.
        drawn[member] = min(left[member], needed)
        short -= 2 * unit * drawn[member]
        if short < 0:
            break
    return drawn
