"""How many digits a number deserves: as many as its interval can tell apart.

A lift of +1.2345 points with an interval of 6.5 points to either side is +1.2: the interval's half-width is shown with
two significant digits, and the number with as many decimals. Terminal, verdict and page round by this rule alone; the
page's script has it once more (`report/assets/numbers.js`), and tests hold the two together.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

PLAIN = 2
"""Decimals of percentage points that have no interval."""
ARROWS = ("▲", "▼")
_LEAST = (10.0, 1.0, 0.1, 0.01)
"""Half-widths in points from which on 0, 1, 2, 3 decimals show two significant digits; below the last, 4 do."""


def decimals(low: float | None, high: float | None) -> int:
    """Decimals in percentage points of a fraction of one whose interval is this."""
    if low is None or high is None or low == high:
        return PLAIN
    half = 50 * (high - low)
    return next((place for place, least in enumerate(_LEAST) if half >= least), len(_LEAST))


def share(value: Fraction | float, places: int = 1) -> str:
    """A fraction of one in per cent, halves rounded away from zero."""
    size = Decimal(abs(100 * float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"-{size}" if value < 0 and size else f"{size}"


def points(value: Fraction | float, places: int = PLAIN) -> str:
    """A difference of fractions of one in signed percentage points; what rounds to zero has no sign."""
    text = share(value, places)
    return f"+{text}" if value > 0 and Decimal(text) else text


def arrow(low: float | None, high: float | None) -> str:
    """Up or down where the interval excludes zero, else nothing."""
    if low is None or high is None:
        return ""
    up, down = ARROWS
    return up if low > 0 else down if high < 0 else ""
