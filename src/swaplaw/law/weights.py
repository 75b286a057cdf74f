"""Vote weights: exact rationals, the paper's grid, and the simplest rational of an interval."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isfinite

from swaplaw.errors import InputError, quote

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
