"""Times and amounts wherever an answer puts them: found here, read by the core."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from swaplaw.answers.characters import visible
from swaplaw.answers.quantities import measure
from swaplaw.answers.times import moment
from swaplaw_forensic.reading.kinds import MARK

_TIMELIKE = re.compile(r"\d[:/.-]\d\d?\b|\d{4}\W.*[a-z]{3}|[a-z]{3}.*\W\d{4}|\d{8}|\d\s*[ap]\.?m\b", re.IGNORECASE)
# Zones with several meanings in use.
_MEANINGS = {"CST": "-06:00 +08:00 -05:00", "IST": "+05:30 +02:00 +01:00", "BST": "+01:00 +06:00"}
Read = TypeVar("Read")
LONGEST = 9
"""Words of a time or an amount."""
_EDGES = " \t,;:()[]{}\"'`*"
_DIGITS = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|million|dozen)\b|\b(?:twen|thir|for|fif|six|seven|eigh|nine)ty-",
    re.IGNORECASE,
)


def scan(text: str, read: Callable[[str], Read | None]) -> tuple[list[Read], str]:
    """Return what can be read in a text, the longest stretches of words first, and the text with marks in its place."""
    words = list(re.finditer(r"\S+", text))
    found, rest, at, last = [], [], 0, 0
    while at < len(words):
        step = 1
        for end in range(min(len(words), at + LONGEST), at, -1):
            raw = text[words[at].start() : words[end - 1].end()]
            part = raw.strip(_EDGES)
            if part and "\n" not in raw and _DIGITS.search(part) and (value := read(part)) is not None:
                start = words[at].start() + raw.index(part)
                found.append(value)
                rest += [text[last:start], MARK]
                last, step = start + len(part), end - at
                break
        at += step
    return found, "".join([*rest, text[last:]])


@dataclass(frozen=True)
class Moment:
    """A point in time as it was written."""

    said: str
    """In the one spelling: ISO 8601, with Z where the zone is known, and as much of it as there is."""
    part: str

    def near(self, gold: datetime, tolerance: Fraction, zones: tuple[str, ...]) -> bool:
        """Compare with a gold instant; an answer without a zone may be meant in any of `zones`."""
        if re.match(r"\d\d:", self.said):  # a clock beside a date that stands elsewhere
            days = (f"{gold + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1))
            whole = (moment(f"{day} {self.said}") for day in days)
            return any(Moment(one, self.part).near(gold, tolerance, zones) for one in whole if one)
        meant = [self.said] if self.said.endswith("Z") else [moment(f"{self.said} {zone}") for zone in zones]
        for name, offsets in _MEANINGS.items():
            if re.search(rf"\b{name}\b", self.part):
                meant = [moment(re.sub(rf"\b{name}\b", offset, self.part)) for offset in offsets.split()]
        # Leaving out the seconds is rounding down, not an error.
        rounded = self.said.removesuffix("Z").endswith(":00") and not re.search(r":\d\d:00|\d{10}", self.part)
        for text in meant:
            if not text or not re.match(r"\d{4}-\d\d-\d\d", text) or ("T" not in self.said and tolerance < 86_400):
                continue
            late = Fraction((gold - datetime.fromisoformat(text).replace(tzinfo=UTC)) / timedelta(seconds=1))
            if abs(late) <= tolerance or (rounded and 0 <= late < 60):
                return True
        return False


def _readable(text: str) -> str:
    """Write dates as the core reads them: with colons (EXIF), the month first, Unix time with a fraction."""
    text = re.sub(r"(?<!\d)(\d{4}):(\d\d):(\d\d)(?!:?\d)", r"\1-\2-\3", visible(text))
    text = re.sub(r"(?<![\d.])(1\d{9})\.\d+", r"\1", text)
    return re.sub(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)",
                  lambda m: f"{m[3]}-{m[1]}-{m[2]}" if int(m[1]) <= 12 else f"{m[3]}-{m[2]}-{m[1]}", text)  # fmt: skip


@lru_cache(maxsize=4096)
def moments(text: str) -> tuple[tuple[Moment, ...], str]:
    """Return every date and time of a text, and what is left of it; a date and a clock apart belong together.

    >>> [one.said for one in moments("seen on Wed Mar 25 11:31:05 EDT 2015")[0]]
    ['2015-03-25T15:31:05Z']
    """
    found, rest = scan(_readable(text), _moment)
    if sorted(("T" in one.said, ":" in one.said) for one in found) == [(False, False), (False, True)]:
        day, clock = sorted(found, key=lambda one: ":" in one.said)
        joined = _moment(f"{day.part} {clock.part}")
        found = [joined] if joined else found
    return tuple(found), rest


def _moment(part: str) -> Moment | None:
    said = moment(part) if _TIMELIKE.search(part) else None
    return Moment(said, part) if said and re.search(r"\d-\d|\d:\d", said) else None


def instant(text: str) -> datetime:
    """Read a gold instant, which must name its zone."""
    said = moment(text) or ""
    if not said.endswith("Z"):
        raise ValueError(f"{text} lacks a zone")
    return datetime.fromisoformat(said)


Amount = tuple[Fraction, str]
"""A number in base units, and what it is a number of."""


@lru_cache(maxsize=4096)
def amounts(text: str) -> tuple[tuple[tuple[Amount, ...], ...], str]:
    """Return every number of a text with its unit (in each meaning of the unit), and what is left of it.

    >>> amounts("46 ms, 30 beacons")[0]
    (((Fraction(23, 500), 's'),), ((Fraction(30, 1), ''),))
    """
    # A point or a comma may set thousands apart: 1.234,50.
    text = re.sub(
        r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d{1,2})(?!\d)", lambda m: f"{m[1].replace('.', '')}.{m[2]}", visible(text)
    )
    text = re.sub(r"(?<=[A-Za-z]),(?=\d)", ", ", text.replace("(s)", "s"))
    text = re.sub(r"(\d\.\d{3,})\s*°?\s*(?:north|east|[ne])\b", r"\1°", text, flags=re.IGNORECASE)
    text = re.sub(r"(\d+\.\d{3,})\s*°?\s*(?:south|west|[sw])\b", r"-\1°", text, flags=re.IGNORECASE)
    found, rest = scan(text, _amount)
    return tuple(found), rest


def _amount(part: str) -> tuple[Amount, ...] | None:
    length = re.fullmatch(r"(?:(\d+):)?(\d+):([0-5]\d)(?:\.0+)?", part)
    if length:
        part = f"{length[1] or 0} h {length[2]} min {length[3]} s"
    # KB is 1000 bytes to some and 1024 to others.
    sizes = re.compile(r"(?<![a-z])([kmgt])(?:b|bytes?)\b", re.IGNORECASE)
    decimal = sizes.sub(lambda size: f"{size[1].upper().replace('K', 'k')}B", part)
    words = decimal.rstrip(".").split()
    # The last of them may only say what was counted.
    if len(words) > 1 and words[-1].isalpha() and not _DIGITS.search(words[-1]) and unit_of(words[-1]) is None:
        return None
    # 52.224 may be thousands, too.
    grouped = re.sub(r"^(\d{1,3})\.(\d{3})(?!\d)", r"\1\2", decimal)
    both = (measure(grouped), measure(decimal), measure(sizes.sub(lambda size: f"{size[1].upper()}iB", part)))
    return tuple(dict.fromkeys(one for one in both if one)) or None


def unit_of(name: str) -> str | None:
    """Return what a unit measures, if it is known.

    >>> unit_of("bytes"), unit_of("beacons")
    ('bit', None)
    """
    # What is counted makes no compound.
    found = measure(f"1 {name}") if measure(f"1 {name}/m") else None
    return None if found is None else found[1]
