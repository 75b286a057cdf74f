"""One equivalence: labelled pairs of every kind, what a gold leaves open, and texts that want to take long."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.answers.mathematics import mathematics
from swaplaw.answers.quantities import bare_number, quantity
from swaplaw.answers.same import disputes, key, same
from swaplaw.answers.times import moment

from support.data import DATA


@cache
def pairs() -> list[tuple[str, str, str, bool]]:
    """Kind, two texts, and whether they are the same answer, written before there was any code for them."""
    return [tuple(json.loads(line)) for line in (DATA / "pairs.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("kind", "right"), [("mathematics", 0.95), ("quantities", 0.96), ("times", 0.98)])
def test_labelled_pairs_are_told_apart_and_never_wrongly_put_together(kind: str, right: float) -> None:
    known = [pair for pair in pairs() if pair[0] == kind]
    judged = [(one, other, equal, same(one, other)) for _, one, other, equal in known]
    assert len(known) > 150
    assert sum(equal == found for *_, equal, found in judged) >= right * len(known)
    assert [(one, other) for one, other, equal, found in judged if found and not equal] == []


def test_it_does_not_matter_which_comes_first() -> None:
    based = [pair for pair in pairs() if "_" not in pair[1] + pair[2]]
    assert [pair for pair in based if same(pair[1], pair[2]) != same(pair[2], pair[1])] == []


@pytest.mark.parametrize(
    ("answer", "gold", "equal"),
    [
        ("5", "5 apples", True),
        ("5 cm", "5", True),
        (r"5\text{ cm}", "5", True),
        ("5 cm", "5 m", False),
        ("2516", "2516_8", True),
        ("2516_8", "2516", False),
        ("2516", "2516_{8}", True),
        ("2517", "2516_8", False),
        ("x = 5", "5", True),
        (r"x=2 \text{ or } x=3", "2, 3", True),
        ("x=2, y=3", "x=3, y=2", False),
        ("0.5", "0.5%", False),
        ("50", "50%", True),
        ("90%", r"90^\circ", False),
        ("$50", "50 euros", False),
        ("1990s", "1990", False),
        ("noon", "12", False),
    ],
)
def test_a_gold_may_leave_open_what_its_question_states(answer: str, gold: str, equal: bool) -> None:
    assert same(answer, gold) is equal


@pytest.mark.parametrize(
    ("read", "text", "spelt"),
    [
        (quantity, "half a million", "500000"),
        (quantity, "-$2.50", "-2.5 USD"),
        (quantity, "−40 °F", "233.15 K"),
        (quantity, "5 ft 3 in", "1.6002 m"),
        (quantity, "PT1H30M", "5400 s"),
        (quantity, "3 cats and 4 dogs", None),
        (quantity, "1/0", None),
        (moment, "9 PM Eastern Time, June 15 2021", "2021-06-16T01:00:00Z"),
        (moment, "2024-02-30", None),
        (moment, "25:00", None),
        (moment, "quarter to nine", "08:45"),
        (mathematics, r"\log_{2}\frac18", "-3"),
        (mathematics, r"\frac{x^2-1}{x-1}", "x+1"),
        (mathematics, r"1 \le x < 2", "[1, 2)"),
        (mathematics, r"\lceil 3.2 \rceil", "4"),
    ],
)
def test_spellings(read: object, text: str, spelt: str | None) -> None:
    assert callable(read)
    assert read(text) == spelt


def test_numbers_as_they_are_written() -> None:
    assert bare_number("three dozen eggs") == (Fraction(36), "egg")
    assert bare_number("Paris") is None


@given(st.text(max_size=60) | st.text("0123456789.,+-*/^(){}[]\\ xye=<>!%$_|°km:TZ", max_size=80))
def test_no_text_breaks_a_key_and_a_text_is_itself(text: str) -> None:
    assert isinstance(key(text), str)
    assert same(text, text)


HOSTILE = [
    "(" * 200 + "1" + ")" * 200,
    r"((x+y+z+a)^{12})^{12}",
    "99!^{99!}",
    "9" * 399,
    "2^{" * 100 + "2" + "}" * 100,
    "5" + "!" * 300,
    "1e999",
    r"(99999989)^{1/2}",
    "1." + "3" * 300 + "...",
    "1 m " * 30,
    "12:" * 33,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_get_short_keys(text: str) -> None:
    assert len(key(text)) <= len(text) + 700


def test_a_second_opinion_lists_what_it_sees_otherwise() -> None:
    asked = [("1/2", "0.5"), ("0.33", "1/3"), ("0.33", "1/3")]
    assert disputes(asked, lambda answer, gold: True) == [("0.33", "1/3", False)]


def test_without_a_second_opinion_it_is_said() -> None:
    with pytest.raises(sl.InputError, match="needs math-verify"):
        disputes([("1", "1")])
