"""How answers are read from completions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.answers import Reader
from swaplaw.answers.readers import LONGEST_ANSWER
from swaplaw.errors import InputError


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is (C).", "C"),
        ("Answer: **b**", "B"),
        ("B", "B"),
        ("(D)", "D"),
        ("C) because it is so", "C"),
        ("c", "C"),
        ("The answer is A. No wait, the answer is B.", "B"),
        ("$\\boxed{D}$", "D"),
        ("answer is \\boxed{\\text{A}}", "A"),
        ('{"answer": "E"}', "E"),
        ("<think>The answer is A.</think>The answer is B", "B"),
        ("A car is what I would choose", None),
        ("The answer is unclear", None),
        ("The answer is Both", None),
        ("Between A and B I cannot say", None),
        ("F", None),
        ("", None),
    ],
)
def test_choice(text: str, answer: str | None) -> None:
    assert Reader("choice", labels="ABCDE").read(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [("so \\boxed{1,000}", "1000"), ("\\boxed{\\frac{1}{2}}", "1/2"), ("\\boxed{3} no, \\boxed{4}", "4"), ("42", None)],
)
def test_boxed(text: str, answer: str | None) -> None:
    assert Reader("boxed").read(text) in (answer, {"1/2": "0.5"}.get(answer or "", answer))


def test_regex_takes_the_last_match_and_its_first_group() -> None:
    assert Reader("regex", pattern=r"FLAG\{(\w+)\}").read("FLAG{a} then FLAG{b}") == "b"
    assert Reader("regex", pattern=r"\d+").read("1 and 22") == "22"
    assert Reader("regex", pattern=r"\d+").read("none") is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "Paris"}', "Paris"),
        ('Sure:\n```json\n{"answer": " Paris "}\n```', "Paris"),
        ('{"answer": 7}', "7"),
        ('{"answer": {"b": 1, "a": 2}}', '{"a": 2, "b": 1}'),
        ('{"answer": null}', None),
        ('{"other": 1}', None),
        ("[1]", None),
        ("{" * 5000, None),
    ],
)
def test_json(text: str, answer: str | None) -> None:
    assert Reader("json").read(text) == answer


def test_json_reaches_inside() -> None:
    assert Reader("json", field="a.b").read('{"a": {"b": "x"}}') == "x"


def test_text_is_normalised() -> None:
    read = Reader("text").read
    assert read("  “New   York”. ") == read("new york") == "new york"
    assert read(" \n ") is None


def test_an_endless_answer_is_none() -> None:
    assert Reader("text", canonical=[]).read("x" * (LONGEST_ANSWER + 1)) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "regex"}, "pattern"),
        ({"kind": "regex", "pattern": "("}, "regular expression"),
        ({"kind": "choice", "labels": "AA"}, "different labels"),
        ({"kind": "choice", "labels": ""}, "different labels"),
        ({"kind": "text", "canonical": ["nonsense"]}, "nonsense"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Reader(**options)


@given(st.text(max_size=300), st.sampled_from(["choice", "boxed", "json", "text"]))
def test_no_text_breaks_a_reader(text: str, read: str) -> None:
    found = Reader(read).read(text)
    assert found is None or (found and found == found.strip())
    assert Reader(read).read(text) == found
