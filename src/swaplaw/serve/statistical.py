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

from collections.abc import Iterable
from functools import lru_cache
from math import exp, lgamma

from swaplaw.serve.ballot import Answer, Ballot

MOST_REMAINING = 200
"""Beyond this many open votes of one member the bound is not computed: the vote is far from decided anyway."""


def error_bound(ballot: Ballot) -> float:
    """Upper bound, under the prior, on the probability that the remaining votes change the outcome."""
    standing = ballot.standing()
    if standing.decided:
        return 0.0
    if len(standing.leaders) != 1 or max(ballot.left) > MOST_REMAINING:
        return 1.0
    (leader,) = standing.leaders
    scores = ballot.scores()
    rivals: list[Answer | _Unseen] = [answer for answer in scores if answer != leader]
    risks = (_overtakes(ballot, leader, rival, scores[leader]) for rival in [*rivals, _UNSEEN])
    return _capped_sum(risks)


class _Unseen:
    """Stands for the categories that nobody has named yet."""


_UNSEEN = _Unseen()


def _capped_sum(risks: Iterable[float]) -> float:
    total = 0.0
    for risk in risks:
        total += risk
        if total >= 1:
            return 1.0
    return total


def _overtakes(ballot: Ballot, leader: Answer, rival: Answer | _Unseen, score: int) -> float:
    """Probability that the rival ends level with the leader or ahead of it."""
    categories = len(ballot.scores()) + 1
    lead = score - (0 if isinstance(rival, _Unseen) else ballot.scores()[rival])
    swing = {0: 1.0}
    for member in ballot.members:
        votes, left, unit = ballot.counts[member], ballot.left[member], ballot.units[member]
        if not left:
            continue
        theirs = 0 if isinstance(rival, _Unseen) else votes[rival]
        gains = _gains(votes[leader] + 1, theirs + 1, votes.total() + categories, left)
        moved: dict[int, float] = {}
        for base, chance in swing.items():
            for gain, likelihood in enumerate(gains, -left):
                moved[base + unit * gain] = moved.get(base + unit * gain, 0.0) + chance * likelihood
        swing = moved
    return sum(chance for gain, chance in swing.items() if gain >= lead)


@lru_cache(maxsize=4096)
def _gains(leader: int, rival: int, total: int, left: int) -> tuple[float, ...]:
    """Chance of each net gain, from -left to left, of the rival on the leader among `left` Dirichlet-multinomial votes.

    `leader`, `rival` and `total` are posterior pseudo-counts; whatever is neither leader nor rival is `total` less both.
    """
    chances = [0.0] * (2 * left + 1)
    rest = total - leader - rival
    whole = _log_rising(total, left) - lgamma(left + 1)
    for own in range(left + 1):
        for theirs in range(left - own + 1):
            others = left - own - theirs
            if others and not rest:
                continue
            log = _log_term(leader, own) + _log_term(rival, theirs) + (_log_term(rest, others) if others else 0.0)
            chances[theirs - own + left] += exp(log - whole)
    return tuple(chances)


def _log_rising(start: int, steps: int) -> float:
    """Log of start (start + 1) … (start + steps - 1)."""
    return lgamma(start + steps) - lgamma(start)


def _log_term(start: int, steps: int) -> float:
    return _log_rising(start, steps) - lgamma(steps + 1)
