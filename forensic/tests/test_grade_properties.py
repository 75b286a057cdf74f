"""What holds of every answer in a tier, whatever the gold is."""

from datetime import UTC, datetime, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from swaplaw_forensic.challenges.gold import Gold, parse_gold
from swaplaw_forensic.challenges.manifest import Question, Tier
from swaplaw_forensic.grading.grade import grade

WORDS = st.from_regex(r"[a-z]{3,9}[0-9]{1,3}", fullmatch=True)
ADDRESSES = st.ip_addresses(v=4).map(str)
MOMENTS = st.datetimes(datetime(1995, 1, 1), datetime(2035, 1, 1)).map(lambda d: d.replace(microsecond=0, tzinfo=UTC))
ZONES = st.sampled_from(
    ["UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney", "America/Sao_Paulo"]
)
DOUBTS = (
    "not {}",
    "never {}",
    "maybe {}",
    "{} or {other}",
    "probably {}",
    "either {} or {other}",
    "{}?",
    "{other}, not {}",
)


def gold(tier: str, asked: str = "Which one is it?", **row: object) -> Gold:
    return parse_gold(Question("q", asked, "text", cast("Tier", tier)), row, "test")


def right(key: Gold, answer: str) -> bool:
    return grade(key, answer).outcome == "correct"


@given(ADDRESSES, ADDRESSES, st.sampled_from(["{}", " {}\n", "`{}`", '"{}"', "Which one: {}", "It is {}"]))
def test_exact(address: str, other: str, frame: str) -> None:
    key = gold("exact", accept=[address])
    assert right(key, frame.format(address))
    assert right(key, frame.format(address.replace(".", "[.]")))
    assume(other != address)
    assert not right(key, frame.format(other))
    assert not any(right(key, doubt.format(address, other=other)) for doubt in DOUBTS)
    assert not right(key, f"{address} {other}")


@given(WORDS, WORDS)
def test_normalised(word: str, other: str) -> None:
    key = gold("normalised", accept=[word])
    assert right(key, word.upper())
    assert right(key, f"**{word}**")
    assume(other != word)
    assert not right(key, other)
    assert not any(right(key, doubt.format(word, other=other)) for doubt in DOUBTS)


@given(st.integers(2, 10**6), st.integers(1, 10**6))
def test_number(value: int, other: int) -> None:
    count = gold("number", "How many items are there?", accept=[str(value)])
    assert right(count, f"{value:,}")
    assert right(count, f"{value} items")
    assert not any(
        right(count, form.format(value)) for form in ("more than {}", "{}%", "{} ms", "~{}", "{}+", "not {}", "-{}")
    )
    assume(other != value)
    assert not right(count, str(other))
    assert not right(count, f"{value} or {other}")


@given(st.integers(1, 10**6))
def test_units_convert_and_others_are_wrong(value: int) -> None:
    key = gold("number", accept=[str(value)], unit="s")
    assert right(key, f"{value * 1000} ms")
    assert right(key, f"{value}s")
    assert right(gold("number", accept=[str(60 * value)], unit="s"), f"{value} min")
    assert not right(key, f"{value} ms")
    assert not right(key, f"{value} EUR")
    assert not right(key, f"{value} h")


@given(MOMENTS, ZONES, st.integers(3, 10**6))
def test_time(moment: datetime, zone: str, late: int) -> None:
    key = gold("time", accept=[moment.isoformat()], tolerance=2)
    local = moment.astimezone(ZoneInfo(zone))
    assert right(key, f"{local:%Y-%m-%d %H:%M:%S%z}")
    assert right(key, f"{moment:%a %b %d %H:%M:%S UTC %Y}")
    assert right(key, f"{moment:%d %B %Y, %I:%M:%S %p} UTC")
    assert right(key, f"{moment:%Y%m%dT%H%M%SZ}")
    assert not right(key, f"{moment + timedelta(seconds=late):%Y-%m-%d %H:%M:%S} UTC")
    assert not right(key, f"{moment:%Y-%m-%d %H:%M:%S} QQT")
    assert not right(key, f"{moment:%Y-%m-%d %H:%M:%S} or {moment + timedelta(seconds=late):%H:%M:%S} UTC")
    if local.utcoffset():
        assert not right(key, f"{moment:%Y-%m-%d %H:%M:%S} {zone}")


@given(st.lists(WORDS, min_size=2, max_size=6, unique=True), st.sampled_from(["\n", ", ", "; ", "\n- "]), st.randoms())
def test_set(words: list[str], mark: str, chance: object) -> None:
    key = gold("set", items=words, threshold=0.75)
    shuffled = sorted(words, key=lambda _: chance.random())  # type: ignore[attr-defined]
    assert right(key, mark.join(shuffled))
    wrong = [f"wrong{number}x" for number in range(2 * len(words))]
    assert not right(key, mark.join(shuffled + wrong))
    assert not right(key, mark.join(f"not {word}" for word in words))
    assert not right(key, mark.join(wrong))


@given(WORDS, WORDS)
def test_regex(word: str, other: str) -> None:
    key = gold("regex", patterns=[rf"(?:the )?{word}(?:[ ,].*)?"], category=word)
    assert right(key, word)
    assert right(key, f"the {word}")
    assert not right(key, f"{word}, or {other}")
    assert not right(key, f"{word} was never there")
