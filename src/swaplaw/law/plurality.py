"""The weighted plurality vote and its score, Eqs. (vote) and (score).

Votes are integers and weights rationals, so each question's vote is computed as whole numbers: the weighted
shares of Eq. (vote) times the common denominator of the weights and of the members' sample counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.votes.tally import Scores, Tally


def vote(tally: Tally, members: Sequence[int], weights: Sequence[Fraction]) -> Scores:
    """Pool members' shares at these weights and score the result on every question.

    Scores mean something only where all members answered; elsewhere they are 0.
    """
    margins = pooled_margins(tally, members, weights)
    answered = tally.answered[list(members)].all(axis=0)
    return Scores(np.where(answered, tally.rivals.tie_sizes(margins), 0))


def pooled_margins(tally: Tally, members: Sequence[int], weights: Sequence[Fraction]) -> Ints:
    """Add up the members' margins in whole numbers, each question on a scale of its own."""
    factors = whole_factors(tally, members, weights)
    bound = sum(int(factor.max(initial=0)) * int(tally.votes.max(initial=0)) for factor in factors)
    dtype = np.int64 if bound < 2**62 else object
    total = np.zeros(len(tally.rivals.question), dtype=dtype)
    for member, factor in zip(members, factors, strict=True):
        whole = factor.astype(dtype)
        spread = whole if len(whole) == 1 else whole.take(tally.rivals.question)
        total += tally.margins(member).astype(dtype) * spread
    return total


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
    counts = [np.maximum(tally.votes[member].astype(np.int64), 1).astype(object) for member in members]
    common = np.lcm.reduce(counts)
    return [w * (common // n) for w, n in zip(whole, counts, strict=True)]
