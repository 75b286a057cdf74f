"""Dates, times and moments in one spelling: ISO 8601, in UTC where the zone is named.

An answer is a time only if nothing is left of it when its date, its clock, its zone and small words are taken away. A
day that could be a month (`03/04/2024`) keeps its own spelling. Of several meanings, a zone has the usual one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from swaplaw.answers.characters import unify

LONGEST = 100
_MONTHS = """
    january jan januar janvier janv enero gennaio janeiro januari января январь
    february feb februar février fevrier febrero febbraio fevereiro februari февраля февраль
    march mar märz mars marzo março maart марта март
    april apr avril abril aprile апреля апрель
    may mai mayo maggio maio mei мая май
    june jun juni juin junio giugno junho июня июнь
    july jul juli juillet julio luglio julho июля июль
    august aug août aout agosto augustus августа август
    september sep sept septembre septiembre settembre setembro сентября сентябрь
    october oct oktober octobre octubre ottobre outubro октября октябрь
    november nov novembre noviembre novembro ноября ноябрь
    december dec dezember décembre diciembre dicembre dezembro декабря декабрь
"""
_MONTH = {name: place for place, names in enumerate(_MONTHS.strip().splitlines(), 1) for name in names.split()}
_NAME = rf"(?P<name>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\b\.?"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(r"\b(?:(mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|rs|rsday|urday)?)\b\.?")

OFFSETS = {
    "z": 0, "utc": 0, "gmt": 0, "ut": 0, "zulu": 0, "wet": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300,
    "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "akst": -540, "akdt": -480, "hst": -600, "bst": 60, "west": 60,
    "ist": 330, "cet": 60, "cest": 120, "met": 60, "mez": 60, "mesz": 120, "eet": 120, "eest": 180, "msk": 180,
    "sast": 120, "pkt": 300, "ict": 420, "sgt": 480, "hkt": 480, "awst": 480, "jst": 540, "kst": 540, "aest": 600,
    "aedt": 660, "nzst": 720, "nzdt": 780, "brt": -180,
}  # fmt: skip
"""Minutes east of UTC of zones by their usual meaning."""
_REGIONS = {
    "eastern": "America/New_York", "central": "America/Chicago", "mountain": "America/Denver",
    "pacific": "America/Los_Angeles", "et": "America/New_York", "pt": "America/Los_Angeles", "uk": "Europe/London",
    "central european": "Europe/Paris", "greenwich mean": "Etc/UTC", "coordinated universal": "Etc/UTC",
}  # fmt: skip

_CLOCK = re.compile(
    r"(?<![\d.:/-])(?P<hour>\d{1,2})(?:(?::|h)(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?)?"
    r"\s*(?P<half>[ap]\.?\s?m\b\.?)?(?![\d:/])"
)
_OFFSET = re.compile(
    r"(?:\b(?:utc|gmt)\s?)?(?<=[\d\stcz(])(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?(?!\d|:|-)"
)
_ZONE = re.compile(
    rf"(?<![a-z])(?:(?P<short>{'|'.join(sorted(OFFSETS, key=len, reverse=True))})(?![a-z])"
    r"|(?P<place>(?:africa|america|asia|atlantic|australia|europe|indian|pacific|etc)/[a-z_+\-/0-9]+)"
    rf"|(?P<region>{'|'.join(sorted(_REGIONS, key=len, reverse=True))})"
    r"(?:\s(?:standard|daylight|summer))?(?:\stime)?(?![a-z]))"
)
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d|[-/.]\d)",
        r"(?<!\d)(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d)",
        r"(?<!\d)(?P<first>\d{1,2})/(?P<other>\d{1,2})/(?P<year>\d{4})(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})[.\s/-]{{0,3}}{_NAME}[\s,/-]*(?P<year>\d{{4}})(?!\d)",
        rf"\b{_NAME}\s*(?P<day>\d{{1,2}})(?!\d|:),?\s*(?P<year>\d{{4}})(?!\d|:)",
        rf"\b{_NAME}[\s,/-]*(?P<year>\d{{4}})(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})[.\s/-]{{0,3}}{_NAME}",
        rf"\b{_NAME}\s*(?P<day>\d{{1,2}})(?!\d|:)",
        r"^(?P<year>\d{4})-(?P<month>\d{2})$",
        r"^(?P<month>\d{2})/(?P<year>\d{4})$",
        r"^(?:--)?(?P<month>\d{2})-(?P<day>\d{2})$",
    )
)
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})?)?(?![\d])")
_EPOCH = re.compile(r"@?(1\d{9})(?:000|\.0{1,9})?|@?(1\d{9})(\d{3})")
_HALVES = {"half past": 30, "quarter past": 15, "quarter to": -15}
_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SPOKEN = re.compile(rf"\b(?:a\s)?({'|'.join(_HALVES)})\s({'|'.join(_HOURS)}|\d{{1,2}})\b")
_FILLERS = re.compile(
    r"\b(?:the|of|on|at|in|de|do|del|um|uhr|le|den|am|date|time|year|local|morning|it|was|is|answer|hrs)\b|[,;()\s.·]+"
)


@lru_cache(maxsize=1 << 16)
def moment(text: str) -> str | None:
    """Write a date or a time in one way; None where a text is something else, or more than that.

    >>> moment("Wed Mar 25 11:31:05 EDT 2015"), moment("25/03/2015"), moment("half past three")
    ('2015-03-25T15:31:05Z', '2015-03-25', '03:30')
    >>> moment("before 2024-03-01") is moment("3/4/2024") is None
    True
    """
    if len(text) > LONGEST:
        return None
    plain = " ".join(unify(text).casefold().replace("*", "").replace("`", "").split()).strip(" .\"'")
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th|º|°|er|o|a)\b", "", plain)
    plain = re.sub(r"(\d{4})年(\d{1,2})月(\d{1,2})日", r"\1-\2-\3 ", plain)
    plain = re.sub(r"([a-z]{3}/\d{4}):(?=\d{2}:\d{2})", r"\1 ", plain)
    plain = re.sub(r"(?<=\d)t(?=\d)", " ", plain) if re.match(r"\d{4}-\d\d-\d\dt", plain) else plain
    if epoch := _EPOCH.fullmatch(plain):
        return _shown(datetime.fromtimestamp(int(epoch[1] or epoch[2]), UTC).replace(tzinfo=None), epoch[3] or "", True)
    if era := re.fullmatch(r"(?:(ad|bc|bce|ce)\s)?(\d{1,4})(?:\s(ad|bc|bce|ce))?", plain):
        named = era[1] or era[3]
        return None if named is None else f"{era[2].lstrip('0')} {'BC' if named.startswith('bc') else 'AD'}"
    if year := re.fullmatch(r"(?:in|the year|in the year)\s(\d{4})|(?:the\s)?(\d{4})s", plain):
        return year[1] or f"{year[2]}s"
    if day := _WEEKDAY.fullmatch(plain):
        return next(name for name in _DAYS if name.startswith(day[1]))
    return _read(plain)


def _read(plain: str) -> str | None:
    """Take date, clock and zone out of a text one after another; nothing may be left."""
    rest = " ".join(re.sub(r"\b(?:of|de|do|del|the)\b", " ", _WEEKDAY.sub(" ", plain)).split())
    clock, rest = _clock_in_words(rest)
    date = None
    if compact := re.fullmatch(r"(\d{4})(\d{2})(\d{2})(?:\s?t?(\d{2})(\d{2})(\d{2})?)?(z?)", rest.strip()):
        date = {"year": compact[1], "month": compact[2], "day": compact[3]}
        clock = (compact[4], compact[5], compact[6] or "00", "") if compact[4] else None
        rest = compact[7]
    else:
        late = re.search(rf"\b{_NAME}\s+\d{{1,2}},?\s+(\d{{1,2}}:\d{{2}}(?::\d{{2}})?.*)\s(\d{{4}})$", rest)
        if late:  # ctime puts the clock before the year.
            rest = f"{rest[: late.start(2)]} {late[3]} {late[2]}"
        for pattern in _DATES:
            if found := pattern.search(rest):
                date = found.groupdict()
                rest = rest[: found.start()] + " " + rest[found.end() :]
                break
    if clock is None and (found := _best_clock(rest)):
        hour, half = int(found["hour"]), (found["half"] or "")[:1]
        if half and not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p") if half else hour
        clock = (str(hour), found["minute"] or "0", found["second"] or "0", (found["part"] or "").rstrip("0"))
        rest = rest[: found.start()] + " " + rest[found.end() :]
    offset, rest = _offset(rest, date, clock) if clock else (None, rest)
    if _FILLERS.sub("", rest) or (date is None and clock is None):
        return None
    try:
        return _spelt(date, clock, offset)
    except (ValueError, OverflowError):
        return None


def _best_clock(rest: str) -> re.Match[str] | None:
    return next((found for found in _CLOCK.finditer(rest) if found["minute"] or found["half"]), None)


def _clock_in_words(rest: str) -> tuple[tuple[str, str, str, str] | None, str]:
    for word, hour in (("midnight", "0"), ("noon", "12"), ("midday", "12")):
        if re.search(rf"\b{word}\b", rest):
            return (hour, "0", "0", ""), re.sub(rf"(?:\b12(?::00)?\s)?\b{word}\b", " ", rest)
    if found := _SPOKEN.search(rest):
        spoken = _HOURS.index(found[2]) + 1 if found[2] in _HOURS else int(found[2])
        away = _HALVES[found[1]]
        clock = (str(spoken - (away < 0)), str(away % 60), "0", "")
        return clock, rest[: found.start()] + " " + rest[found.end() :]
    if found := re.search(r"(?<!\d)(\d{1,2})\so'?\s?clock\b|(?<!\d)(\d{2})(\d{2})\s(?:hours|hrs)\b", rest):
        clock = (found[1] or found[2], found[3] or "0", "0", "")
        return clock, rest[: found.start()] + " " + rest[found.end() :]
    return None, rest


Clock = tuple[str, str, str, str]


def _offset(rest: str, date: dict[str, str | None] | None, clock: Clock) -> tuple[int | None, str]:
    """The zone of a clock, in minutes east of UTC."""
    offset = None
    if found := _OFFSET.search(rest):
        minutes = int(found["hours"]) * 60 + int(found["minutes"] or 0)
        offset = -minutes if found["sign"] == "-" else minutes
        rest = rest[: found.start()] + " " + rest[found.end() :]
    if found := _ZONE.search(rest):
        rest = rest[: found.start()] + " " + rest[found.end() :]
        if offset is not None:
            return offset, rest
        if found["short"]:
            return OFFSETS[found["short"]], rest
        name = _REGIONS[found["region"]] if found["region"] else _place(found["place"])
        try:
            year, month, day = (int((date or {}).get(part) or 1) for part in ("year", "month", "day"))
            if date and date.get("name"):
                month = _MONTH[str(date["name"])]
            local = datetime(max(year, 1900), month, day, int(clock[0]), int(clock[1]), tzinfo=ZoneInfo(name))
        except (ValueError, OSError, KeyError):
            return None, f"{rest} unknown"
        away = local.utcoffset() or timedelta(0)
        return int(away.total_seconds()) // 60, rest
    return offset, rest


def _place(name: str) -> str:
    return "/".join("_".join(word.capitalize() for word in part.split("_")) for part in name.split("/"))


def _spelt(date: dict[str, str | None] | None, clock: Clock | None, offset: int | None) -> str | None:
    """One spelling of what was found."""
    at = None
    if clock:
        hour, minute, second = int(clock[0]), int(clock[1]), int(clock[2])
        at = timedelta(hours=hour, minutes=minute, seconds=second)
        if not (0 <= hour < 24 and minute < 60 and second < 60):
            return None
    if date is None:
        if at is None:
            return None
        shown = f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
        if offset is None:
            return shown
        minutes = (hour * 60 + minute - offset) % 1440
        return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{second:02}" if second else "") + "Z"
    if date.get("first"):
        first, other = int(date["first"] or 0), int(date["other"] or 0)
        if first <= 12 and other <= 12 and first != other:
            return None  # It could be either.
        date = {**date, "day": str(max(first, other)), "month": str(min(first, other))}
    month = _MONTH[date["name"] or ""] if date.get("name") else int(date["month"] or 0)
    day, year = date.get("day"), date.get("year")
    if year is None or day is None:
        if at is not None:
            return None
        datetime(int(year or 2000), month, int(day or 1))
        return f"{year}-{month:02}" if day is None else f"--{month:02}-{int(day):02}"
    written = datetime(int(year), month, int(day))
    if at is None:
        return f"{written:%Y-%m-%d}"
    if offset is None:
        return _shown(written + at, clock[3] if clock else "", False)
    return _shown(written + at - timedelta(minutes=offset), clock[3] if clock else "", True)


def _shown(written: datetime, part: str, zoned: bool) -> str:
    fraction = f".{part.rstrip('0')}" if part.rstrip("0") else ""
    return f"{written:%Y-%m-%dT%H:%M:%S}{fraction}{'Z' if zoned else ''}"
