"""Numbers carry as many digits as their intervals can tell apart; the page's twin is held to this in a browser."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw._result import arrow, decimals, points, share
from swaplaw.evidence.interval import Effect


@pytest.mark.parametrize(
    ("half", "places", "shown"),
    [
        (0.25, 0, "+1"),
        (0.1, 0, "+1"),
        (0.065, 1, "+1.2"),
        (0.01, 1, "+1.2"),
        (0.0065, 2, "+1.23"),
        (0.00065, 3, "+1.235"),
        (0.000065, 4, "+1.2346"),
    ],
)
def test_two_digits_of_the_half_width(half: float, places: int, shown: str) -> None:
    assert decimals(-half, half) == places
    assert points(0.0123456, places) == shown


@given(st.floats(1e-4, 0.5))
def test_the_half_width_keeps_two_digits(half: float) -> None:
    """Shown with its own decimals, a half-width of 0.01 to 10 points has two significant digits (three at a carry)."""
    digits = share(half, decimals(-half, half)).replace(".", "").lstrip("0")
    assert 2 <= len(digits) <= 3


def test_without_an_interval_there_are_two_decimals() -> None:
    assert decimals(None, None) == decimals(0.1, 0.1) == 2
    assert points(Fraction(1, 8)) == "+12.50"


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [
        (0.0, 2, "0.00"),
        (-0.00004, 2, "0.00"),
        (0.00004, 2, "0.00"),
        (-0.00125, 2, "-0.13"),
        (0.00125, 2, "+0.13"),
        (0.005, 0, "+1"),
        (-1, 1, "-100.0"),
    ],
)
def test_signs_and_halves(value: float, places: int, shown: str) -> None:
    """What rounds to zero has no sign; halves go away from zero, as they do in JavaScript."""
    assert points(value, places) == shown


def test_an_arrow_only_where_the_interval_excludes_zero() -> None:
    assert [arrow(*ends) for ends in ((0.1, 0.2), (-0.2, -0.1), (0.0, 0.2), (-0.1, 0.1), (None, None))] == [
        "▲",
        "▼",
        "",
        "",
        "",
    ]


def test_an_effect_knows_its_decimals() -> None:
    assert Effect(0.01, 0.03, 2.0, 0.95, 0.4, 100, 100).places == 1
