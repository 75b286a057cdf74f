"""Lists inside an answer: rows, the fields of a row, and the ways in which a list may be punctuated."""

import json
import re
from functools import lru_cache

from swaplaw.answers.characters import visible
from swaplaw.answers.times import LONGEST
from swaplaw_forensic.reading.kinds import MARK, unwrap
from swaplaw_forensic.reading.spans import moments

_BULLET = re.compile(r"^\s*(?:[-*•·–]|\(?\d{1,3}[.)]|\(?[a-z][)])\s+")
_FIELD = re.compile(r"\t|\s*\|\s*|;\s*|,\s+|,(?!\d)|\s+(?:and|&|plus)\s+|^and\s+|\s+(?:/|->|=>|→|--|-)\s+")
_RULE = re.compile(r"[\s|:+=-]+")
_DETAIL = re.compile(
    r"(?:v(?:ersion)?\.?\s*|build\s*|rev\.?\s*)?[-+~#]?[\d.,:x%/ -]*\d[\d.,:x%/ -]*"
    r"(?:\s*(?:bytes?|[kmgt]i?b|s|ms|sec(?:ond)?s?|min(?:ute)?s?|hours?|times?|bits?|%|x|×))?"
    r"|[0-9a-f]{32,128}|(?:\d+|x)-?bit|(?:md5|sha-?1|sha-?256)\W*[0-9a-f]*|(?:utc|gmt|z|local time)\W*|\W*",
    re.IGNORECASE,
)


def pieces(answer: str) -> list[str]:
    """Split a list answer without knowing the gold: by lines or semicolons, else by commas and 'and'.

    >>> pieces("b.txt, a.txt and c.txt")
    ['b.txt', 'a.txt', 'c.txt']
    """
    return splittings(answer)[0]


def splittings(answer: str) -> list[list[str]]:
    """Return the ways to read an answer as a list, the plainest first."""
    whole = rows(answer)
    commas = [part for row in whole for part in re.split(r",\s+|,(?!\d)", row)]
    words = [part for piece in commas for part in re.split(r"\s+and\s+|\s*&\s+|^and\s+", piece)]
    split = [part for row in whole for part in fields(row)]
    finest = [part for piece in words for part in re.split(r"\s*(?:\||/(?!tcp|udp))\s*|:(?!/)|\s+", piece)]
    ways = [whole] if len(whole) > 1 else []
    for way in (words, commas, split, whole, finest):
        kept = [_bare(part) for part in way if _bare(part)]
        if kept and kept not in ways:
            ways.append(kept)
    return ways or [[]]


def rows(answer: str) -> list[str]:
    """Return the lines of a list: of a JSON array, a table, bullets, or of one line with semicolons."""
    text = _unbracket(visible(re.sub(r"^\s*```\w*\n|\n```\s*$", "", answer)))
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if "|" in line and _RULE.fullmatch(line)]
    # The head of a table is the line above its rule.
    lines = [line for number, line in enumerate(lines) if number not in rules and number + 1 not in rules]
    found = [_bare(row.strip().strip("|") if row.strip().startswith("|") else row) for row in lines]
    found = [row for row in found if row]
    if found and found[0].endswith(":") and len(found) > 1:
        found = found[1:]  # a line that only announces the list
    return [part for row in found for part in (_bare(piece) for piece in row.split(";")) if part]


def fields(row: str) -> list[str]:
    """Split a row into its fields, leaving what stands in brackets whole.

    >>> fields("Chrome, 41.0 (Google, Inc.) and Opera")
    ['Chrome', '41.0 (Google, Inc.)', 'Opera']
    """
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match.group())
        return f"\x00{len(hidden) - 1}\x00"

    cover = re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"", hide, row)
    parts = [part.strip() for part in _FIELD.split(cover) if part and part.strip()]
    return [re.sub(r"\x00(\d+)\x00", lambda match: hidden[int(match[1])], part) for part in parts]


@lru_cache(maxsize=4096)
def is_detail(field: str) -> bool:
    """Say whether a field only describes what stands beside it: a number, version, size, hash, time or remark.

    >>> [is_detail(text) for text in ("41.0.2272", "12 KB", "(deleted)", "2015-03-25 11:31:05", "Firefox")]
    [True, True, True, True, False]
    """
    if len(field) > LONGEST:
        return False
    text = re.sub(r"\([^()]*\)", "", moments(field)[1].replace(MARK, " ")).strip()
    return _DETAIL.fullmatch(text) is not None


def _unbracket(text: str) -> str:
    """Read a JSON or Python list as lines."""
    if text.startswith("[") and text.endswith("]"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
            return "\n".join(str(item) for item in value)
        inner = re.findall(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', text)
        if inner:
            return "\n".join((first or second).replace("\\\\", "\\") for first, second in inner)
    return text


def _bare(row: str) -> str:
    return unwrap(_BULLET.sub("", row).strip().rstrip(",;"))
