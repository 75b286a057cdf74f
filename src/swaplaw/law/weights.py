"""Vote weights, exact rationals, and the weighted plurality vote at them, Eqs. (vote) and (score).

Votes are integers and weights rationals, so each question's vote is computed as whole numbers: the weighted
shares of Eq. (vote) times the common denominator of the weights and of the members' sample counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, lcm

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Ints
from swaplaw.errors import InputError, quote
from swaplaw.votes.tally import Scores, Tally

# Every weight that the paper names, filled up to its 25 points from 1/24 to 24.
PAPER_GRID = tuple(
    Fraction(top, bottom)
    for top, bottom in (
        *[(1, 24), (1, 12), (1, 11), (1, 8), (1, 6), (1, 5), (1, 4), (1, 3), (2, 5), (1, 2), (3, 5), (2, 3), (3, 4)],
        *[(1, 1), (5, 4), (3, 2), (2, 1), (5, 2), (3, 1), (4, 1), (5, 1), (6, 1), (8, 1), (12, 1), (24, 1)],
    )
)
# Short on purpose: Fraction("1e999999999") is valid and would take all memory.
_WEIGHT = re.compile(r"[+-]?(\d{1,50}(/\d{1,50})?|\d{0,50}\.?\d{0,50}(e[+-]?\d{1,2})?)", re.IGNORECASE | re.ASCII)
DEFAULT_WEIGHT = Fraction(2, 3)
"""The paper's 40:60 split."""


def as_weight(value: str | int | float | Fraction) -> Fraction:
    """Read a weight exactly: "2/3", "0.4", 2 and Fraction(2, 3) are what they say; 0.4 is 2/5.

    Parameters
    ----------
    value : str, int, float or Fraction
        The weight; a float means the decimal that it prints as.

    Returns
    -------
    Fraction
        The exact weight, 0 or more.

    Raises
    ------
    InputError
        If it is not a number, or negative.

    Examples
    --------
    >>> as_weight("2/3"), as_weight(0.4)
    (Fraction(2, 3), Fraction(2, 5))
    """
    try:
        if isinstance(value, float) and not isfinite(value):
            raise ValueError
        if isinstance(value, str) and not _WEIGHT.fullmatch(value.strip()):
            raise ValueError
        # A float means the decimal that it prints as: Fraction(0.4) would be 3602879701896397/2**53.
        weight = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InputError(f"weight {quote(value)} is not a number: give a fraction such as 2/3 or 0.4") from None
    if weight < 0:
        raise InputError(f"weight {quote(str(value))} is negative: give 0 or more (0 is the primary alone)")
    return weight


def simplest_between(low: Fraction, high: Fraction | None) -> Fraction:
    """Find the rational with the smallest denominator strictly between `low` and `high` (None: no bound).

    It is the first fraction of the Stern-Brocot tree inside the interval, found by continued fractions.

    >>> simplest_between(Fraction(1, 12), Fraction(1, 6))
    Fraction(1, 7)
    """
    top, bottom = (high.numerator, high.denominator) if high is not None else (1, 0)
    return Fraction(*_simplest(low.numerator, low.denominator, top, bottom))


def _simplest(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    """The simplest fraction strictly between a/b and c/d, where 1/0 means no bound."""
    whole = a // b
    if (whole + 1) * d < c:
        return whole + 1, 1
    # Everything inside is whole + 1/y with y > 1, and the simplest x has the simplest y.
    top, bottom = _simplest(d, c - whole * d, b, a - whole * b)
    return whole * top + bottom, top


def paper_rule(swaps: npt.ArrayLike) -> Fraction:
    """The paper's choice, given the swap mass at each weight of its grid: the smallest weight with the largest.

    >>> paper_rule([0, 0.02, 0.02, *[0] * 22])
    Fraction(1, 12)
    """
    return PAPER_GRID[int(np.argmax(swaps))]


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
