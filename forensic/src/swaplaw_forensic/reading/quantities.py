"""Numbers, with their units, and moments inside an answer, read without guessing more than a careful reader would."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from swaplaw.answers.characters import visible
from swaplaw_forensic.reading.units import SYMBOLS, UNITS
from swaplaw_forensic.reading.zones import ZONE, zone_offsets

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORD = "|".join([*_VALUES, *_SCALES])
_SPELLED = re.compile(
    rf"(?<![\w-])(?:a\s+(?:{'|'.join(_SCALES)})|(?:{'|'.join(_VALUES)}))(?:(?:\s+and\s+|[\s-]+)(?:{_WORD}))*(?![\w-])",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d{1,3}(?:[ '\u00a0]\d{3})+(?:[.,]\d+)?|\d[\d.,]*(?:e[-+]?\d+)?)(?!\w)",
    re.IGNORECASE,
)
_SCALED = re.compile(r"\s*(hundred|thousand|million|billion|dozen)\b", re.IGNORECASE)
_AFTER = re.compile(rf"\s*\(?\s*({'|'.join(re.escape(s) for s in SYMBOLS)}|us\$|[a-zµμ]+)(?:\(s\))?", re.IGNORECASE)
_BEFORE = re.compile(rf"({'|'.join(re.escape(s) for s in SYMBOLS)}|us\$|\b[a-z]{{3}})\s*$", re.IGNORECASE)
# "46s": a unit that is written onto its number.
_LETTERS = "|".join(sorted((name for name in UNITS if name.isalpha()), key=len, reverse=True))
_GLUED = re.compile(rf"(?<![\w.])([-+]?\d+(?:[.,]\d+)?)({_LETTERS})\b", re.IGNORECASE)
_SOUTH_WEST = re.compile(r"\s*(?:°\s*(?:s|w)|°?\s*(?:south|west))\b", re.IGNORECASE)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?(?![\d:])"
    rf"\s*(?P<half>[ap]\.?\s?m\b\.?)?(?P<zones>(?:\s*(?:local time)?\s*[/,]?\s*\(?{ZONE}\)?){{0,2}})",
    re.IGNORECASE,
)
_DATES = [
    re.compile(
        r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.:])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d|[-/.:]\d)", re.I
    ),
    re.compile(r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)", re.I),
    re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d|\.\d)", re.I),
    re.compile(rf"(?:{_WEEKDAY},?\s+)?\b{_MONTH}\s+{_DAY},?\s+(?P<year>\d{{4}})\b", re.I),
    re.compile(rf"(?:{_WEEKDAY},?\s+)?(?<!\d){_DAY}(?:\s+of)?[\s/-]+{_MONTH}[\s,/-]+(?P<year>\d{{4}})(?!\d)", re.I),
]
# `date` and ctime put the clock before the year.
_CTIME = re.compile(
    rf"(?:{_WEEKDAY},?\s+)?\b{_MONTH}\s+{_DAY},?\s+(?P<clock>\d{{1,2}}:\d{{2}}:\d{{2}}(?:\.\d+)?(?:\s?[ap]m)?)"
    rf"(?:\s+(?P<zone>{ZONE}))?\s+(?P<year>\d{{4}})(?!\d)(?:\s+\(?(?P<late>{ZONE})\)?)?",
    re.I,
)
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})t(\d{2})(\d{2})(\d{2})(?:\.\d+)?(?!\d)", re.I)
_EPOCH = re.compile(r"(?<![\w.])@?(?P<whole>\d{10})(?:\d{3}|\d{6}|\d{9}|\.\d+)?(?![\w.]*\d)")
_EPOCH_WORDS = re.compile(
    r"(?:unix|epoch|posix|time(?:stamp)?|seconds|milliseconds|ms|since|1970(?:-01-01)?|utc|the|\W)*", re.IGNORECASE
)
_JOIN = re.compile(rf"[\s,;T@(:-]*(?:at\s+|on\s+|{_WEEKDAY}[\s,)]*)*", re.IGNORECASE)


@dataclass(frozen=True)
class Amount:
    """A number as it was written, with the word or sign that stands at it."""

    value: Fraction
    unit: str | None = None
    """A unit that is known."""
    noun: str | None = None
    """A word after the number that is not a known unit."""
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Moment:
    """A point in time as it was written."""

    clock: datetime
    """Without zone, as written."""
    offsets: tuple[int, ...] | None
    """Minutes east of UTC that the zone may mean; None without zone, none at all for one that cannot be."""
    precision: str
    """`second`, `minute` or `day`."""
    zone: str = ""

    def matches(self, gold: datetime, tolerance: Fraction, zones: tuple[str, ...]) -> bool:
        """Compare with a gold instant; an answer without zone may be meant in any of `zones`."""
        if self.precision == "day" and tolerance < 86_400:
            return False
        offsets = self.offsets
        if offsets is None:
            offsets = tuple(offset for zone in zones for offset in zone_offsets(zone, self.clock)[:1])
        for offset in offsets:
            late = Fraction((gold - self._instant(offset)) / timedelta(seconds=1))
            # Leaving out the seconds is rounding down, not an error.
            if abs(late) <= tolerance or (self.precision == "minute" and 0 <= late < 60):
                return True
        return False

    def _instant(self, offset: int) -> datetime:
        try:
            return (self.clock - timedelta(minutes=offset)).replace(tzinfo=UTC)
        except OverflowError:
            return self.clock.replace(tzinfo=UTC)

    def canonical(self) -> str:
        """Return the gold-free category: an instant where the zone is given, else the clock as written."""
        if self.offsets is not None and len(self.offsets) == 1:
            return f"{self._instant(self.offsets[0]):%Y-%m-%dT%H:%M:%S}Z"
        return f"{self.clock:%Y-%m-%dT%H:%M:%S}{f' {self.zone}' if self.zone else ''}"


@dataclass(frozen=True)
class Times:
    """The moments of a text, and what was not read as one."""

    moments: tuple[Moment, ...]
    spans: tuple[tuple[int, int], ...]
    text: str
    undated: bool = False
    """A clock stands there without any date."""

    def rest(self, mark: str = " ") -> str:
        """Return the text with `mark` in place of each moment."""
        out, at = [], 0
        for start, end in self.spans:
            out += [self.text[at:start], mark]
            at = max(at, end)
        return "".join([*out, self.text[at:]])


def numbers(text: str) -> list[Fraction]:
    """Return every number in a text, in order.

    >>> numbers("1,234.50 EUR"), numbers("fifty-one words")
    ([Fraction(2469, 2)], [Fraction(51, 1)])
    """
    return [amount.value for amount in amounts(text)]


def amounts(text: str) -> list[Amount]:
    """Return every number in a text with its unit.

    >>> [(amount.value, amount.unit, amount.noun) for amount in amounts("46 ms, 30 beacons")]
    [(Fraction(46, 1), 'ms', None), (Fraction(30, 1), None, 'beacons')]
    """
    text = _GLUED.sub(r"\1 \2", _SPELLED.sub(_digits, visible(text).casefold()))
    found = []
    for match in _NUMBER.finditer(text):
        value = _number(match.group())
        if value is None:
            continue
        end = match.end()
        scale = _SCALED.match(text, end)
        if scale:
            value, end = value * _SCALES[scale[1].casefold()], scale.end()
        unit, noun = _unit(text[: match.start()], text[end:])
        if _SOUTH_WEST.match(text, end):
            value, unit, noun = -value, "deg", None
        found.append(Amount(value, unit, noun, (match.start(), end)))
    return found


def _digits(match: re.Match[str]) -> str:
    """Turn number words into digits."""
    total, part = 0, 0
    for word in re.findall(rf"\b(?:{_WORD})\b", match.group().casefold()):
        if word in _VALUES:
            part += _VALUES[word]
        elif word in ("hundred", "dozen"):
            part = max(part, 1) * _SCALES[word]
        else:
            total, part = total + max(part, 1) * _SCALES[word], 0
    return str(total + part)


def _unit(before: str, after: str) -> tuple[str | None, str | None]:
    following = _AFTER.match(after)
    word = following[1].casefold() if following else None
    if word in UNITS:
        return word, None
    leading = _BEFORE.search(before)
    if leading and leading[1].casefold() in UNITS:
        return leading[1].casefold(), word
    return None, word


def _number(text: str) -> Fraction | None:
    text = re.sub(r"[ '\u00a0]", "", text).rstrip(".,")
    sign = -1 if text.startswith("-") else 1
    text = text.lstrip("+-")
    if text.startswith("0x"):
        return Fraction(sign * int(text, 16)) if len(text) <= 34 else None
    mantissa, _, exponent = text.partition("e")
    if len(mantissa) > 40 or len(exponent) > 3:
        return None  # no honest answer is that long, and exact arithmetic would choke on it
    if "." in mantissa and "," in mantissa:
        decimal = max(mantissa.rfind("."), mantissa.rfind(","))
        mantissa = re.sub(r"[.,]", "", mantissa[:decimal]) + "." + mantissa[decimal + 1 :]
    elif re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:\.\d{3}){2,}", mantissa):
        mantissa = re.sub(r"[.,]", "", mantissa)
    else:
        mantissa = mantissa.replace(",", ".")
    if mantissa.count(".") > 1:
        return None  # an address or a version, not a number
    return sign * Fraction(f"{mantissa}e{exponent}" if exponent else mantissa)


def moments(text: str) -> list[Moment]:
    """Return every date, with its time and zone where given; a bare ten-digit number is Unix time.

    >>> [moment.canonical() for moment in moments("Wed Mar 25 11:31:05 EDT 2015")]
    ['2015-03-25T15:31:05Z']
    """
    return list(times(text).moments)


def without_moments(text: str) -> str:
    """Blank out the dates and times, so that their digits match nothing else."""
    return times(text, epochs=False).rest()


def times(text: str, *, epochs: bool = True) -> Times:
    """Read all moments of a text; `epochs` reads numbers of ten digits as Unix time, if nothing else is said."""
    # Web servers write 25/Mar/2015:15:31:05.
    text = re.sub(r"([a-z]{3}/\d{4}):(?=\d{2}:\d{2})", r"\1 ", visible(text), flags=re.IGNORECASE)
    if epochs:
        match = _EPOCH.search(text)
        if match and _EPOCH_WORDS.fullmatch(text[: match.start()] + " " + text[match.end() :]):
            return Times((_epoch(match),), ((match.start(), match.end()),), text)
    found = sorted([*_whole(text), *_dated(text)], key=lambda row: row[1])
    undated = any(moment is None for moment, _ in found)
    kept = [(moment, span) for moment, span in found if moment is not None]
    return Times(tuple(moment for moment, _ in kept), tuple(span for _, span in kept), text, undated)


def _epoch(match: re.Match[str]) -> Moment:
    clock = datetime.fromtimestamp(int(match["whole"]), UTC).replace(tzinfo=None)
    return Moment(clock, (0,), "second", "UTC")


def _whole(text: str) -> Iterator[tuple[Moment | None, tuple[int, int]]]:
    """Yield the forms that hold date and clock in one: ctime, `date`, compact ISO."""
    for match in _CTIME.finditer(text):
        clock = _CLOCK.match(match["clock"])
        if clock:
            moment = _moment(match, clock, match["zone"] or match["late"] or "")
            if moment:
                yield moment, match.span()
    for match in _COMPACT.finditer(text):
        zone = re.match(rf"\s*\(?({ZONE})\)?", text[match.end() :], re.I)
        try:
            written = datetime.strptime("".join(match.groups()), "%Y%m%d%H%M%S")
        except ValueError:
            continue
        end = match.end() + (zone.end() if zone else 0)
        offsets, name = _zone(zone[1] if zone else "", written)
        yield Moment(written, offsets, "second", name), (match.start(), end)


def _dated(text: str) -> Iterator[tuple[Moment | None, tuple[int, int]]]:
    """Pair every clock with its date: the one beside it, or else the one before it."""
    covered = [match.span() for pattern in (_CTIME, _COMPACT) for match in pattern.finditer(text)]
    dates = [m for pattern in _DATES for m in pattern.finditer(text) if not _inside(m.span(), covered) and _moment(m)]
    dates = [m for m in dates if not any(o is not m and o.start() <= m.start() < m.end() <= o.end() for o in dates)]
    clocks = [m for m in _CLOCK.finditer(text) if not _inside(m.span(), covered + [date.span() for date in dates])]
    used: set[int] = set()
    for clock in clocks:
        date, span = _date_of(clock, dates, text, used)
        yield (_moment(date, clock) if date else None), span
    for date in dates:
        if date.start() not in used:
            yield _moment(date), date.span()


def _inside(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] < end for start, end in others)


def _date_of(
    clock: re.Match[str], dates: list[re.Match[str]], text: str, used: set[int]
) -> tuple[re.Match[str] | None, tuple[int, int]]:
    for date in dates:
        between = text[date.end() : clock.start()] if date.end() <= clock.start() else "x"
        if date.start() not in used and _JOIN.fullmatch(between):
            used.add(date.start())
            return date, (date.start(), clock.end())
    for date in dates:
        between = text[clock.end() : date.start()] if clock.end() <= date.start() else "x"
        if date.start() not in used and _JOIN.fullmatch(between):
            used.add(date.start())
            return date, (clock.start(), date.end())
    earlier = [date for date in dates if date.end() <= clock.start()]
    for date in earlier[-1:]:
        used.add(date.start())
        return date, clock.span()
    return None, clock.span()


def _moment(date: re.Match[str], clock: re.Match[str] | None = None, zone: str = "") -> Moment | None:
    part = date.groupdict()
    month = _MONTHS.index(part["name"][:3].casefold()) + 1 if part.get("name") else int(part["month"])
    day, year = int(part["day"]), int(part["year"])
    if month > 12 and date.re is _DATES[1]:
        month, day = day, month
    given = clock.groupdict() if clock else {}
    hour = int(given.get("hour") or 0)
    if given.get("half"):
        hour = hour % 12 + (12 if given["half"].casefold().startswith("p") else 0)
    try:
        written = datetime(year, month, day, hour, int(given.get("minute") or 0), int(given.get("second") or 0))
    except ValueError:
        return None
    precision = "second" if given.get("second") else "minute" if given.get("minute") else "day"
    offsets, name = _zone(f"{zone} {given.get('zones') or ''}", written)
    return Moment(written, offsets, precision, name)


def _zone(text: str, clock: datetime) -> tuple[tuple[int, ...] | None, str]:
    """Read one zone, or two that must agree: "EDT (UTC-4)"."""
    names = [" ".join(match.group().split()) for match in re.finditer(ZONE, text, re.IGNORECASE)]
    offsets: tuple[int, ...] | None = None
    for name in names:
        try:
            meant = zone_offsets(name, clock)
        except ValueError:
            meant = ()
        offsets = meant if offsets is None else tuple(offset for offset in offsets if offset in meant)
    return offsets, names[0].upper() if names else ""


def instant(text: str) -> datetime:
    """Read a gold instant, which must name its zone."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"{text} lacks a zone")
    return value.astimezone(UTC)
