"""Canonicalisers: what they bring together, what they leave alone, and that applying them twice changes nothing."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.answers.forms import CANONICALISERS, TYPES, canonicaliser
from swaplaw.votes.canonical import ungraded

SAME = [
    ("text", ["Paris", " paris. ", "“PARIS”", "ｐａｒｉｓ", "pa\u200bris", "(Paris)", "**Paris**"]),
    ("number", ["1234.5", "1,234.50", "1 234.5", "+1234.5", "12345e-1", "2469/2"]),
    ("number", ["2 km", "2000 m", "2,000 M"]),
    ("number", ["50%", "50 %", "50.0%"]),
    ("number", ["1 KiB", "1024 bytes", "1024 B"]),
    ("date", ["2024-03-03", "3 March 2024", "March 3rd, 2024", "2024/03/03", "Mar 3 2024"]),
    ("date", ["2024-03-03T08:00:00Z", "2024-03-03T10:00:00+02:00", "3 Mar 2024 08:00:00 UTC", "2024-03-03 08:00 GMT"]),
    ("hash", ["d41d8cd98f00b204e9800998ecf8427e", "MD5: D41D8CD98F00B204E9800998ECF8427E"]),
    ("ip", ["192.168.1.1", "192.168[.]1[.]1", "192[dot]168[dot]1[dot]1"]),
    ("ip", ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "[2001:db8::1]"]),
    ("url", ["https://evil.example/a", "hxxps://Evil[.]example:443/a/", "HTTPS://EVIL.EXAMPLE/a#top"]),
    ("path", ["C:/Users/bob", "c:\\Users\\bob\\", "C:\\\\Users\\bob"]),
    ("path", ["/etc/passwd", "/etc//passwd", "/etc/./passwd"]),
    ("math", ["1/2", "0.5", "\\boxed{\\frac{1}{2}}", "so $\\boxed{0.5}$.", "\\boxed{\\dfrac{1}{2}}"]),
    ("list", ["a; b", "B, a", "{a, b, a}", "a and b"]),
]
LEFT_ALONE = [
    ("date", "03/04/2024"),
    ("number", "at least 3"),
    ("number", "5 or 6"),
    ("number", "1/0"),
    ("number", "9" * 5000),
    ("hash", "abc"),
    ("ip", "999.1.1.1"),
    ("url", "not a url"),
    ("url", "http://[broken"),
    ("boxed", "\\boxed{unclosed"),
    ("path", "no slashes"),
    *(
        ("math", text)
        for text in (
            "1841-08-21",
            "3/4/2024",
            "1.2.3",
            "192.168.1.1",
            "0c2d568087",
            "2eb0f4740f",
            "1234ab",
            "+1-555-012-0034",
            "555-0123",
            "3-5",
            "2:1",
            "3-05",
            "05/06",
            "1e5",
        )
    ),
]


@pytest.mark.parametrize(("name", "spellings"), SAME)
def test_spellings_come_together(name: str, spellings: list[str]) -> None:
    assert len({canonicaliser([name])(text) for text in spellings}) == 1


@pytest.mark.parametrize(("name", "text"), LEFT_ALONE)
def test_what_is_not_recognised_stays(name: str, text: str) -> None:
    assert canonicaliser([name])(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("5 - 3", "2"), ("-3-5", "-8"), ("1/2", "0.5"), ("12/(4/3)", "9"), ("007", "7"), ("x-1-2", "x-3"), ("1+2-3", "0"),
     ("2.5-1", "1.5"), (r"\sqrt2", "2^(1/2)"), (r"\frac12", "0.5"), (r"2\pi", "2*\\pi"), ("1.05x", "1.05*x")],
)  # fmt: skip
def test_sums_are_still_calculated(text: str, value: str) -> None:
    assert canonicaliser(["math"])(text) == value


def test_different_answers_stay_apart() -> None:
    assert canonicaliser(["number"])("1.0000000000000000001") != canonicaliser(["number"])("1")
    assert canonicaliser(["number"])("1 m") != canonicaliser(["number"])("1 g")
    assert canonicaliser(["date"])("2024-03-03T10:00:00") != canonicaliser(["date"])("2024-03-03T10:00:00Z")
    assert canonicaliser(["text"])("(a) and (b)") == "(a) and (b)"


@given(name=st.sampled_from([*CANONICALISERS, *TYPES]), text=st.text(max_size=40))
def test_no_text_breaks_one(name: str, text: str) -> None:
    assert isinstance(canonicaliser([name])(text), str)


@given(
    name=st.sampled_from(["space", "case", "number", "date", "hash", "ip", "url", "path"]),
    text=st.one_of(st.text(max_size=20), st.from_regex(r"[-+]?[0-9]{1,4}(\.[0-9]{1,3})?( (km|kg|m))?", fullmatch=True)),
)
def test_twice_is_once(name: str, text: str) -> None:
    apply = canonicaliser([name])
    assert apply(apply(text)) == apply(text)


def test_names_are_checked() -> None:
    with pytest.raises(sl.InputError, match="there is no canonicaliser 'upper'; there are exact, unicode, space"):
        canonicaliser(["upper"])


GRADED = pl.DataFrame(
    {
        "question": ["q", "q", "r", "r"],
        "model": ["m", "n", "m", "n"],
        "answer": ["1,000", "1000.0", "nearly two", None],
        "gold": ["1000", "1000", "2", "2"],
        "correct": [True, True, True, False],
    }
)


def test_votes_as_deployment_sees_them() -> None:
    """Grades map every correct answer to gold; without them, only spelling counts."""
    votes = sl.votes_from(GRADED)
    graded, plain, canonical = votes.tally(), ungraded(votes, []).tally(), ungraded(votes, ["numeric"]).tally()
    assert [int(tally.gold.sum()) for tally in (graded, plain, canonical)] == [3, 0, 2]
