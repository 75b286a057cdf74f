"""Normal forms hold still, and numbers and times are read as a careful reader would."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw_forensic.grading.grade import abstains
from swaplaw_forensic.reading.kinds import MARK, cut_lines, key, marked, plain, refang
from swaplaw_forensic.reading.lists import pieces
from swaplaw_forensic.reading.remarks import claims, without_remarks
from swaplaw_forensic.reading.spans import amounts, instant, moments


def numbers(text: str) -> list[Fraction]:
    return [way[0][0] for way in amounts(text)[0]]


@given(st.text(max_size=200), st.sampled_from(["Which file?", "Who was it?", "How many hosts?", "?"]))
def test_normal_forms_are_stable_and_nothing_raises(text: str, asked: str) -> None:
    assert key(f"  {text}\n") == key(text)
    assert key(key(text)) == key(text)
    for reading in (abstains, pieces, amounts, moments):
        reading(text)
    assert without_remarks(text, asked) in ("", text) or len(without_remarks(text, asked)) <= len(text)
    claims(cut_lines(text, asked), asked)


@given(st.from_regex(r"[a-zA-Z][ -~]{0,20}[a-z0-9]", fullmatch=True), st.from_regex(r"[a-z0-9]{1,9}", fullmatch=True))
def test_a_gold_is_found_in_itself_and_marks_stand_for_nothing_else(gold: str, other: str) -> None:
    if key(gold):
        assert MARK in marked(plain(gold), gold, "Which one?", exact=False)
    assert MARK not in marked("", other, "Which one?", exact=True)


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}", fullmatch=True))
def test_case_quotes_and_final_punctuation_do_not_matter(word: str) -> None:
    assert key(word) == key(f'"{word.upper()}"') == key(f"{word.lower()}.")


@given(st.binary(min_size=6, max_size=6))
def test_all_forms_of_a_mac_are_one(data: bytes) -> None:
    text = data.hex()
    pairs = [text[n : n + 2] for n in range(0, 12, 2)]
    forms = {
        key(":".join(pairs)),
        key("-".join(pairs).upper()),
        key(f"{text[:4]}.{text[4:8]}.{text[8:]}"),
    }
    assert forms == {text}


@given(st.integers(-(10**9), 10**9), st.integers(0, 99))
def test_numbers_survive_their_spellings(whole: int, cents: int) -> None:
    value = Fraction(f"{whole}.{cents:02d}")
    assert numbers(f"{whole:,}.{cents:02d} EUR") == [value]
    assert numbers(f"{whole}.{cents:02d}") == [value]


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), st.integers(-14 * 4, 14 * 4))
def test_times_survive_their_spellings(clock: datetime, quarters: int) -> None:
    clock = clock.replace(microsecond=0)
    sign, minutes = "-" if quarters < 0 else "+", abs(quarters) * 15
    zone = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
    gold = instant(f"{clock.isoformat()}{zone}")
    for text in (f"{clock} {zone}", f"{clock:%B %d, %Y %I:%M:%S %p} UTC{zone}", f"{clock:%d %b %Y %H:%M:%S} {zone}"):
        ((moment,), _) = moments(text)
        assert moment.near(gold, Fraction(0), ("UTC",)), text


def test_gold_instants_must_name_their_zone() -> None:
    assert instant("2015-03-25T11:31:05-04:00") == datetime(2015, 3, 25, 15, 31, 5, tzinfo=UTC)
    with pytest.raises(ValueError, match="lacks a zone"):
        instant("2015-03-25T11:31:05")


def test_addresses_and_versions_are_not_numbers() -> None:
    assert numbers("10.2.28.88 and v6.2.0.2962") == []


@pytest.mark.parametrize("text", ["hxxps://a[.]b", "HXXPS://a(.)b", "https[:]//a[dot]b", "https[://]a{.}b"])
def test_refang(text: str) -> None:
    assert refang(text).lower() == "https://a.b"
