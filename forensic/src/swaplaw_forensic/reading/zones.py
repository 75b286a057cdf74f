"""Time zones as people write them: offsets, abbreviations with all their meanings, names, and IANA zones."""

import re
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

# Minutes east of UTC. Several values are several meanings in use (India, Israel and Ireland all say IST).
ABBREVIATIONS: dict[str, tuple[int, ...]] = {
    "z": (0,), "utc": (0,), "gmt": (0,), "ut": (0,), "zulu": (0,), "wet": (0,), "west": (60,),
    "est": (-300,), "edt": (-240,), "et": (-300, -240), "cst": (-360, 480, -300), "cdt": (-300,),
    "ct": (-360, -300), "mst": (-420,), "mdt": (-360,), "mt": (-420, -360), "pst": (-480,),
    "pdt": (-420,), "pt": (-480, -420), "akst": (-540,), "akdt": (-480,), "hst": (-600,), "ast": (-240, 180),
    "adt": (-180,), "nst": (-210,), "ndt": (-150,), "bst": (60, 360), "ist": (330, 120, 60), "idt": (180,),
    "cet": (60,), "cest": (120,), "met": (60,), "mest": (120,), "mez": (60,), "mesz": (120,), "eet": (120,),
    "eest": (180,), "msk": (180,), "trt": (180,), "sast": (120,), "wat": (60,), "cat": (120,), "eat": (180,),
    "gst": (240,), "pkt": (300,), "npt": (345,), "ict": (420,), "wib": (420,), "sgt": (480,), "hkt": (480,),
    "awst": (480,), "jst": (540,), "kst": (540,), "acst": (570,), "acdt": (630,), "aest": (600,), "aedt": (660,),
    "nzst": (720,), "nzdt": (780,), "brt": (-180,), "art": (-180,), "clt": (-240,), "cot": (-300,), "pet": (-300,),
}  # fmt: skip
_REGIONS: dict[str, tuple[int, int]] = {
    "eastern": (-300, -240), "central": (-360, -300), "mountain": (-420, -360), "pacific": (-480, -420),
    "atlantic": (-240, -180), "alaska": (-540, -480), "greenwich mean": (0, 0), "coordinated universal": (0, 0),
    "universal": (0, 0), "british": (0, 60), "western european": (0, 60), "central european": (60, 120),
    "eastern european": (120, 180), "japan": (540, 540), "india": (330, 330), "china": (480, 480),
    "korea": (540, 540), "moscow": (180, 180),
}  # fmt: skip
_OFFSET = r"(?:utc|gmt)?\s?[-+](?:0?\d|1[0-4])(?::?[0-5]\d)?(?![\d:])"
_NAME = rf"(?:{'|'.join(_REGIONS)})\s+(?:(?:standard|daylight|summer)\s+)?time(?:\s+\(us\s*&\s*canada\))?"
_IANA = r"(?:africa|america|antarctica|asia|atlantic|australia|europe|indian|pacific|us|etc)/[a-z_+\-/0-9]+"
_WORDS = "|".join(sorted(ABBREVIATIONS, key=len, reverse=True))
ZONE = rf"(?:{_OFFSET}|{_IANA}\b|{_NAME}|(?:{_WORDS})\b(?![-/+]\w))"
"""A pattern of every zone that is understood, to be used without regard to case."""


@lru_cache(maxsize=4096)
def zone_offsets(zone: str, clock: datetime | None = None) -> tuple[int, ...]:
    """Return every offset that a zone may mean, in minutes east of UTC.

    Parameters
    ----------
    zone : str
        `UTC`, `EDT`, `-04:00`, `UTC-4`, `Eastern Daylight Time`, `America/New_York`.
    clock : datetime, optional
        The local time, which decides on daylight saving in an IANA zone.

    Raises
    ------
    ValueError
        If the zone is not known.

    Examples
    --------
    >>> zone_offsets("CST")
    (-360, 480, -300)
    >>> zone_offsets("America/New_York", datetime(2015, 3, 25))
    (-240,)
    """
    name = " ".join(zone.strip().casefold().split())
    if name in ABBREVIATIONS:
        return ABBREVIATIONS[name]
    match = re.fullmatch(r"(?:utc|gmt)?\s?([-+])(\d{1,2}):?(\d{2})?", name)
    if match:
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= 14 * 60:
            return (minutes if match[1] == "+" else -minutes,)
    elif re.fullmatch(_NAME, name):
        return _named(name)
    elif "/" in name:
        return _iana(zone.strip(), clock)
    raise ValueError(f"not a zone: {zone}")


def zone_offset(zone: str) -> int:
    """Return minutes east of UTC for `UTC`, `EDT`, `-04:00` or `UTC-4`; of several meanings, the usual one."""
    return zone_offsets(zone)[0]


def _named(name: str) -> tuple[int, ...]:
    region = next(region for region in _REGIONS if name.startswith(region))
    standard, daylight = _REGIONS[region]
    if "standard" in name:
        return (standard,)
    return (daylight,) if re.search("daylight|summer", name) else tuple(dict.fromkeys((standard, daylight)))


def _iana(name: str, clock: datetime | None) -> tuple[int, ...]:
    known = "/".join(part if "_" in part else part.title() for part in name.split("/"))
    for spelling in (name, known, name.upper()):
        try:
            moment = (clock or datetime(2000, 1, 1)).replace(tzinfo=ZoneInfo(spelling))
        except (OSError, ValueError, KeyError):
            continue
        offset = moment.utcoffset()
        if offset is not None:
            return (int(offset.total_seconds()) // 60,)
    raise ValueError(f"not a zone: {name}")
