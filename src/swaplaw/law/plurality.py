"""The weighted plurality vote and its score, Eqs. (vote) and (score).

Votes are integers and weights rationals, so each question's vote is computed as whole numbers: the weighted
shares of Eq. (vote) times the common denominator of the weights and of the members' sample counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Ints
from swaplaw.votes.tally import Scores, Tally


def vote(tally: Tally, members: Sequence[int], weights: Sequence[Fraction], fallback: Sequence[int] = ()) -> Scores:
    """Pool members' shares at these weights and score the result on every question.

    Scores mean something only where all members answered; elsewhere they are 0. They are 0, too, where nobody who
    counts named gold, whoever is silent there. Fallback models are asked in turn where the vote so far leaves a tie
    (or said nothing: then every category is open): the votes of each decide among the tied categories and say nothing
    of others, as if it were a member of infinitesimal weight, far below that of the one before. What stays tied in the
    end shares the credit.
    """
    margins = pooled_margins(tally, members, weights)
    for model in fallback:
        margins = np.where(margins == 0, tally.margins(model), margins)
    asked = [*(member for member, weight in zip(members, weights, strict=True) if weight), *fallback]
    scored = tally.by_row(np.logical_and.reduce(tally.answered[list(members)])) & (tally.gold[asked] > 0).any(axis=0)
    return Scores(np.where(scored, tally.rivals.tie_sizes(margins), 0), tally.rights)


def pooled_margins(tally: Tally, members: Sequence[int], weights: Sequence[Fraction]) -> Ints:
    """Add up the members' margins in whole numbers, each question on a scale of its own."""
    factors = whole_factors(tally, members, weights)
    dtype = narrowest(sum(int(factor.max(initial=0)) * int(tally.votes.max(initial=0)) for factor in factors))
    total = np.zeros(len(tally.rivals.question), dtype=dtype)
    for member, factor in zip(members, factors, strict=True):
        whole = factor.astype(dtype)
        spread = whole if len(whole) == 1 else whole.take(tally.rivals.question)
        total += tally.margins(member).astype(dtype, copy=False) * spread
    return total


def narrowest(bound: int) -> npt.DTypeLike:
    """The type of the fewest bytes that holds whole numbers up to a bound in size; votes are added as fast as read."""
    return next((kind for kind in (np.int16, np.int32, np.int64) if bound < np.iinfo(kind).max // 2), object)


def whole_factors(tally: Tally, members: Sequence[int], weights: Sequence[Fraction]) -> list[Ints]:
    """Whole numbers proportional to weight / samples, one per question, or a single one where samples are even."""
    scale = lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * scale) for weight in weights]
    samples = [tally.samples[member] for member in members]
    even = [number for number in samples if number is not None]
    if len(even) == len(samples):
        common = lcm(*even)
        return [np.array([w * (common // n)], dtype=object) for w, n in zip(whole, even, strict=True)]
    # Missing answers count as one sample: their factor must only not divide by zero.
    counts = [np.maximum(tally.votes[member].astype(np.int64), 1) for member in members]
    largest = lcm(*(int(number) for number in np.flatnonzero(np.bincount(np.concatenate(counts)))))
    if largest * max(whole, default=0) >= 2**62:
        counts = [number.astype(object) for number in counts]
    common = np.lcm.reduce(counts)
    return [w * (common // n) for w, n in zip(whole, counts, strict=True)]
