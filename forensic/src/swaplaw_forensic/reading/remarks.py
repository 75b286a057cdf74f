"""A value and the remark beside it: "Jeremy (found in the diary)" says Jeremy.

A remark claims nothing: it tells where a value comes from or how it was found. What denies, hedges, speaks of another
role, or puts a second value of the same shape beside the first, is no remark.
"""

import re
from functools import lru_cache

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import hedged, negated
from swaplaw_forensic.reading.vocabulary import WORDS, vocabulary

LONGEST = 60
"""Words beyond which an explanation is an essay."""
MOST_SPLITS = 12
_SOURCES, _RENAMING, _FILLERS = vocabulary("sources"), vocabulary("renaming"), vocabulary("fillers")
_ROLES = vocabulary("roles")
_OPPOSITES = [frozenset(line.split()) for line in WORDS["opposites"].strip().splitlines()]
_CONTRAST = re.compile(
    r"\b(?:but|however|although|though|instead|actually|otherwise|correction|also|another|whereas|while|except)\b", re.I
)
_BREAK = re.compile(r"\s*\n\s*|\s+[-–—]+\s+|[;,:]\s+|\.\s+(?=[A-Z])|\s+(?=[(\[])")
_WORD = re.compile(r"[\w/\\][\w.'/\\:=-]*[\w'/\\]|\w")
_CLOCK = re.compile(r"\d:[0-5]\d")
_PLACE = re.compile(r"\b(?:from|in|inside|of|with|on|at|by|per|via|see|under|using)\s+(?:the\s+)?\S+", re.I)


def values(answer: str, asked: str) -> list[str]:
    """Return the answer, and what is left of it when remarks before or behind it are taken away.

    >>> values("Jeremy (found with the Sleuth Kit in /evidence)", "Who?")[1]
    'Jeremy'
    >>> values("Jeremy (or Bob)", "Who?")
    ['Jeremy (or Bob)']
    """
    found, waiting = {answer: None}, [answer]
    while waiting and len(found) < 4 * MOST_SPLITS:
        text = waiting.pop(0)
        for mark in list(_BREAK.finditer(text))[:MOST_SPLITS]:
            head, tail = text[: mark.start()].strip(), text[mark.end() :].strip()
            left = [head] if is_remark(tail, asked, beside=head) else []
            if mark.group().strip() in (",", ":", "") and is_remark(head, asked, beside=tail):
                left.append(tail)
            waiting += [one for one in left if one and one not in found]
            found |= dict.fromkeys(one for one in left if one)
    return list(found)


def bare(answer: str, asked: str) -> str:
    """Return an answer without its remarks, line by line: each line gives a value of its own."""
    return "\n".join(min(values(line, asked), key=len) for line in answer.splitlines())


@lru_cache(maxsize=8192)
def is_remark(text: str, asked: str, beside: str = "") -> bool:
    """Say whether a text only tells where the value beside it comes from."""
    words = [word.casefold() for word in _WORD.findall(visible(text))]
    if not words or len(words) > LONGEST or not harmless(text, asked) or _CONTRAST.search(text):
        return False
    while len(words) > 1 and (words[0] in _FILLERS or words[0] == "all") and words[0] not in _SOURCES:
        words = words[1:]
    first = words[0]
    told = first in _SOURCES or (first.endswith("ed") and first not in _RENAMING)
    bracketed = text[:1] in "([" and ("/" in first or "." in first)
    return (told or bracketed) and not _rival(text, beside)


def harmless(text: str, asked: str) -> bool:
    """Say whether the words around a value leave it standing as the answer."""
    known = set(re.findall(r"\w+", asked.casefold()))
    words = re.findall(r"\w+", text.casefold())
    if len(words) > LONGEST or negated(text) or hedged(text) or "!=" in text or "?" in text:
        return False
    return not any(word.removesuffix("s") in _ROLES and word not in known for word in words)


def contradicts(text: str, asked: str) -> bool:
    """Say whether a text speaks of the opposite of what was asked for: GET requests in place of POST requests.

    >>> contradicts("19 GET requests", "How many POST requests?"), contradicts("19 requests", "How many POST requests?")
    (True, False)
    """
    said, known = (
        {word.removesuffix("s") for word in re.findall(r"[a-z]+", part.casefold())} for part in (text, asked)
    )
    return any(group & known and group & said and not group & said & known for group in _OPPOSITES)


def shape(text: str) -> str | None:
    """Return the shape of a token, if it has one that names of values share."""
    if re.fullmatch(r"\[?(?:::ffff:)?\d{1,3}(?:\.\d{1,3}){3}\]?(?:[:/]\d+)?", text, re.IGNORECASE):
        return "address"
    if re.fullmatch(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}", text, re.IGNORECASE):
        return f"hash {len(text)}"
    if re.fullmatch(r"(?=.*\d)(?=.*[a-z])[0-9a-z-]{10,}", text, re.IGNORECASE):
        return "identifier"
    if re.fullmatch(r"\S+\.[a-z][a-z0-9]{1,4}", text, re.IGNORECASE):
        return "file"
    return None


def tokens(text: str) -> list[str]:
    """Return the words of a text without the punctuation at their edges."""
    return [bare for word in text.split() if (bare := word.strip(".,;:()[]\"'`"))]


def _rival(remark: str, value: str) -> bool:
    """Say whether a remark holds something of the same shape as the value beside it: a second name."""
    shapes = {found for token in tokens(value) if (found := shape(token)) is not None}
    if _CLOCK.search(remark) and _CLOCK.search(value):
        return True
    if "file" in shapes:
        remark = _PLACE.sub(" ", remark)  # of a file one says in which other file it was found
    return any(shape(token) in shapes for token in tokens(remark))
