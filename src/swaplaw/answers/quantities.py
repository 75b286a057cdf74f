"""Numbers and moments inside an answer, read without guessing more than a careful reader would."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from swaplaw.answers.characters import visible

_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d{1,3}(?:[ '\u00a0]\d{3})+(?:[.,]\d+)?|\d[\d.,]*(?:e[-+]?\d+)?)(?!\w)",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360,
    "pst": -480, "pdt": -420, "bst": 60, "cet": 60, "cest": 120,
}  # fmt: skip
_MONTH = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_ZONE = r"(?:utc|gmt)?\s?[-+]\d{1,2}(?::?\d{2})?(?!\d)|z\b|utc|gmt|[ecmp][sd]t\b|bst\b|cest\b|cet\b"
_CLOCK = (
    r"(?:(?:\s*,?\s*at\s+|[t, ]\s*)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    rf"\s*(?P<half>[ap]\.?m\b\.?)?\s*\(?(?P<zone>{_ZONE})?\)?)?"
)
_MOMENTS = [
    re.compile(rf"(?<!\d)(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d){_CLOCK}", re.I),
    re.compile(rf"(?<!\d)(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/(?P<year>\d{{4}})(?!\d){_CLOCK}", re.I),
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){_CLOCK}", re.I),
    re.compile(rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}[\s,-]+(?P<year>\d{{4}}){_CLOCK}", re.I),
]


@dataclass(frozen=True)
class Moment:
    """A point in time as it was written."""

    clock: datetime
    """Without zone, as written."""
    offset: int | None
    """Minutes east of UTC, where the answer says so."""
    precision: str
    """`second`, `minute` or `day`."""

    def matches(self, gold: datetime, tolerance: Fraction, zones: tuple[str, ...]) -> bool:
        """Compare with a gold instant; an answer without zone may be meant in any of `zones`."""
        if self.precision == "day" and tolerance < 86_400:
            return False
        offsets = [self.offset] if self.offset is not None else [zone_offset(zone) for zone in zones]
        for offset in offsets:
            late = Fraction(
                (gold - (self.clock - timedelta(minutes=offset)).replace(tzinfo=UTC)) / timedelta(seconds=1)
            )
            # Leaving out the seconds is rounding down, not an error.
            if abs(late) <= tolerance or (self.precision == "minute" and 0 <= late < 60):
                return True
        return False

    def canonical(self) -> str:
        """Return the gold-free category: an instant where the zone is given, else the clock as written."""
        if self.offset is None:
            return f"{self.clock:%Y-%m-%dT%H:%M:%S}"
        return f"{self.clock - timedelta(minutes=self.offset):%Y-%m-%dT%H:%M:%S}Z"


def numbers(text: str) -> list[Fraction]:
    """Return every number in a text, in order.

    >>> numbers("1,234.50 EUR")
    [Fraction(2469, 2)]
    """
    text = visible(text).casefold()
    if text.strip(" .") in _WORDS:
        return [Fraction(_WORDS.index(text.strip(" .")))]
    return [value for match in _NUMBER.finditer(text) if (value := _number(match.group())) is not None]


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
    """Return every date, with its time and zone where given; a bare ten-digit number is Unix time."""
    text = visible(text)
    if re.fullmatch(r"\d{10}(?:\.\d+)?|\d{13}", text):
        seconds = int(text[:10])
        return [Moment(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), 0, "second")]
    found: list[tuple[int, Moment]] = []
    for pattern in _MOMENTS:
        for match in pattern.finditer(text):
            moment = _moment(match)
            if moment is not None:
                found.append((match.start(), moment))
    return [moment for _, moment in sorted(found, key=lambda item: item[0])]


def without_moments(text: str) -> str:
    """Blank out the dates and times, so that their digits match nothing else."""
    for pattern in _MOMENTS:
        text = pattern.sub(" ", text)
    return text


def _moment(match: re.Match[str]) -> Moment | None:
    part = match.groupdict()
    month = _MONTHS.index(part["name"][:3].casefold()) + 1 if part.get("name") else int(part["month"])
    day, year, hour = int(part["day"]), int(part["year"]), int(part["hour"] or 0)
    if month > 12 and match.re is _MOMENTS[1]:
        month, day = day, month
    if part["half"]:
        hour = hour % 12 + (12 if part["half"].casefold().startswith("p") else 0)
    try:
        clock = datetime(year, month, day, hour, int(part["minute"] or 0), int(part["second"] or 0))
    except ValueError:
        return None
    precision = "second" if part["second"] else "minute" if part["minute"] else "day"
    offset = zone_offset(part["zone"]) if part["zone"] else None
    if offset is not None and abs(offset) > 14 * 60:
        offset = None  # "16:54-16:58" is a span, not a zone
    return Moment(clock, offset, precision)


def zone_offset(zone: str) -> int:
    """Return minutes east of UTC for `UTC`, `EDT`, `-04:00` or `UTC-4`."""
    name = zone.strip().casefold().replace(" ", "")
    if name in _ZONES:
        return _ZONES[name]
    match = re.fullmatch(r"(?:utc|gmt)?([-+])(\d{1,2}):?(\d{2})?", name)
    if not match:
        raise ValueError(f"not a zone: {zone}")
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    return minutes if match[1] == "+" else -minutes


def instant(text: str) -> datetime:
    """Read a gold instant, which must name its zone."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"{text} lacks a zone")
    return value.astimezone(UTC)
