"""An optional stop with a stated error bound, as in adaptive consistency but for the weighted vote of several members.

Each member's answers are taken as draws from a distribution of its own with a uniform Dirichlet prior over the
categories seen so far and one for all others. Against one rival, the member's remaining votes then follow a
Dirichlet-multinomial law over (leader, rival, rest). Convolving the members gives the probability that the rival ties
or overtakes; the sum over rivals bounds the probability that the final winner differs from the present leader.
Sampling stops when that bound is at most `error`. Under the prior the decision then differs from the full vote with
probability at most `error`, however often one looks, because the bound holds given all that was seen at the stop.

Floats decide when to stop here, never who wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from swaplaw.serve.voting.ballot import Answer, Ballot

MOST_REMAINING = 200
"""Beyond this many open votes of one member the bound is not computed: the vote is far from decided anyway."""


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
    after = Ballot(ballot.weights, ballot.samples)
    after.counts = [
        votes + Counter({answer: min(number, left)}) for votes, left in zip(ballot.counts, ballot.left, strict=True)
    ]
    return error_bound(after, enough)


def _overtakes(ballot: Ballot, leader: Answer, theirs: Sequence[int], lead: int, categories: int) -> float:
    """Probability that a rival with `theirs` votes of each member ends level with the leader or ahead of it."""
    swing = {0: 1.0}
    *others, last = [member for member in ballot.members if ballot.left[member]]
    for member in others:
        moved: dict[int, float] = {}
        unit, left = ballot.units[member], ballot.left[member]
        gains = _gains(*_posterior(ballot, member, leader, theirs[member], categories), left)
        for base, chance in swing.items():
            for gain, likelihood in enumerate(gains, -left):
                moved[base + unit * gain] = moved.get(base + unit * gain, 0.0) + chance * likelihood
        swing = moved
    unit, left = ballot.units[last], ballot.left[last]
    tails = _tails(*_posterior(ballot, last, leader, theirs[last], categories), left)
    # Of the last member at least this net gain is needed, rounded up.
    needed = ((-((base - lead) // unit), chance) for base, chance in swing.items())
    return sum(chance * tails[max(0, gain + left)] for gain, chance in needed if gain <= left)


def _posterior(ballot: Ballot, member: int, leader: Answer, theirs: int, categories: int) -> tuple[int, int, int]:
    """Pseudo-counts of leader, rival and all categories together."""
    votes = ballot.counts[member]
    return votes[leader] + 1, theirs + 1, votes.total() + categories


@lru_cache(maxsize=2048)
def _gains(leader: int, rival: int, total: int, left: int) -> tuple[float, ...]:
    """Chance of each net gain, from -left to left, of the rival on the leader among Dirichlet-multinomial votes."""
    own, theirs = np.meshgrid(np.arange(left + 1), np.arange(left + 1), indexing="ij")
    possible = own + theirs <= left
    own, theirs = own[possible], theirs[possible]
    terms = _log_terms(leader, left)[own] + _log_terms(rival, left)[theirs]
    terms += _log_terms(total - leader - rival, left)[left - own - theirs]
    chances = np.exp(terms - _log_terms(total, left)[left])
    return tuple(np.bincount(theirs - own + left, chances, 2 * left + 1).tolist())


@lru_cache(maxsize=2048)
def _tails(leader: int, rival: int, total: int, left: int) -> tuple[float, ...]:
    """Chance of at least each net gain."""
    return tuple(np.cumsum(_gains(leader, rival, total, left)[::-1])[::-1].tolist())


def _log_terms(start: int, most: int) -> NDArray[np.float64]:
    """Log of start (start + 1) … (start + k - 1) / k! for each k up to `most`."""
    steps = np.arange(most)
    with np.errstate(divide="ignore"):  # No pseudo-count, no votes: the chance of any is 0.
        return np.concatenate([[0.0], np.cumsum(np.log(start + steps) - np.log(steps + 1))])
