"""A value and the remark beside it: "Jeremy (found in the diary)" says Jeremy.

A remark claims nothing: it repeats the question, or tells where a value comes from or how it was found. What denies,
hedges, gives the value another role or puts a second one beside it, is no remark.
"""

import itertools
import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import hedged, negated
from swaplaw_forensic.reading.kinds import MARK

WORDS: dict[str, str] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
LONGEST = 60
"""Words beyond which an explanation is an essay."""
_SOURCES, _PLACES, _FILLERS, _ROLES = (
    frozenset(WORDS[name].split()) for name in ("sources", "places", "fillers", "roles")
)
_OPPOSITES, _SYNONYMS = ([frozenset(line.split()) for line in WORDS[name].strip().splitlines()]
                         for name in ("opposites", "synonyms"))  # fmt: skip
_CONTRAST = re.compile(
    r"\b(?:but|however|although|though|instead|actually|otherwise|correction|also|another|whereas|while|except)\b", re.I
)
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_BREAK = re.compile(r"\s*\n\s*|\s+[-–—]+\s+|[;,:]\s+|\.\s+(?=[A-Z])|\s+(?:=|->|=>|→)\s+")
# Names of fields, as tools print them.
_LABEL = re.compile(
    r"(?<!\S)(?:[A-Za-z]+(?:[-_.][A-Za-z]+)+|[A-Za-z]*[a-z][A-Z]\w*|[A-Z]{2,4})\s?(?::|={1,2})\s*(?=" + MARK + ")"
)
_JOINED = re.compile(
    rf"\b(?:before|after|since|until|than)\s+{MARK}|(?:\b(?:and|und|et|y|и)|[&+])\s+{MARK}|{MARK}\W?\s+(?:(?:and|und|et|y|и)\b|[&+])"
)
_VERB = re.compile(r"(?:on|in|of|did|do|does|were|was|are|is|have|has|lie|with|by|for|from|to|that|can|between)\Z")
_WORD = re.compile(r"[\w/\\.~][\w.'/\\:=-]*[\w'/\\]|\w")


def remark_in(answer: str, asked: str) -> bool:
    """Say whether an answer has a remark beside what else it says.

    >>> remark_in("Jeremy (found in the diary)", "Who?"), remark_in("Jeremy (or Bob)", "Who?")
    (True, False)
    """
    return without_remarks(answer, asked) != answer


def without_remarks(answer: str, asked: str) -> str:
    """Return an answer without its remarks, line by line: each line gives a value of its own."""
    lines = []
    for line in answer.splitlines():
        left = _BRACKETS.sub(lambda found: "" if is_remark(found[1], asked) else found[0], line)
        parts = [part for part in _BREAK.split(left) if part.strip()]
        kept = [part for part in parts if not is_remark(part, asked)]
        lines.append(kept[0] if len(kept) == 1 < len(parts) else left)
    return "\n".join(line for line in lines if line.strip() and not is_remark(line, asked)) or answer


def claims(rest: str, asked: str, rivals: Callable[[str], list[str]] | None = None, *, phrase: bool = False) -> str:
    """Say what keeps the text around a value (a mark stands for it) from being remarks; nothing where it is.

    Beside a value that is known by its shape, a second one would be known, too (`rivals` finds it): words alone are no
    second answer. Beside a plain word, any word may be one.
    """
    if doubted(rest, asked):
        return "it is denied, hedged or said of something else"
    owned = re.search(rf"{MARK}'s\s(\w+)", rest)
    if _JOINED.search(rest) or (owned and not _akin(owned[1].casefold(), asked)):
        return "another value is joined to it"
    rest = _LABEL.sub("", rest)
    first = rest.index(MARK) if MARK in rest else 0
    outer = rest[:first] + without_asides(rest[first:], asked)
    if rivals is not None:
        clauses = re.split(rf"({_BREAK.pattern}|[|()]+|(?<=\S)/(?=\S))", outer)
        said = "".join(clause for clause in clauses if not is_remark(clause, asked))
        others = [one for one in rivals(said) if not repeats(one, asked)]
        if phrase:  # one of several in a row
            others += [
                one for one in clauses[::2] if len(one.split()) == 1 and MARK not in one and not repeats(one, asked)
            ]
        return f'"{others[0][:60]}" stands beside it' if others else ""
    for clause in re.split(rf"[()\[\]]|{_BREAK.pattern}", outer) if re.search(r"\w", asked) else ():
        for segment in clause.split(MARK):
            own = MARK not in clause
            more = _goes_on if own else _leads_up if clause.startswith(segment) else repeats
            if not (repeats(segment, asked) or is_remark(segment, asked) or more(segment, asked)):
                return f'"{segment.strip()[:60]}" stands beside it'
    return ""


def without_asides(text: str, asked: str) -> str:
    """Return a text without the brackets that are only about what stands before them."""
    return _BRACKETS.sub(lambda found: " " if _aside(found[1], asked) else found[0], text)


def _aside(text: str, asked: str) -> bool:
    """Say whether what stands in brackets behind a value is about it: several words that add no further one."""
    if MARK in text or re.match(r"(?:and|&|plus|later|then|formerly|renamed|née|aka|alias)\b", text, re.IGNORECASE):
        return False
    if re.match(r"\s*\d", text):
        return False
    fields = [field for field in text.split(",") if field.strip()]
    return is_remark(text, asked) or all(
        len(field.split()) > 1 or re.search(r"[\\/=]", field) or repeats(field, asked) for field in fields
    )


def _leads_up(segment: str, asked: str) -> bool:
    """Say whether a sentence leads up to a value: "the device runs" names nothing, but for what a verb may be."""
    words = re.findall(r"\w+", segment)
    new = [word for word in words if word.casefold() not in _FILLERS and not _akin(word.casefold(), asked)]
    begun = words[0].casefold() in _FILLERS or _akin(words[0].casefold(), asked)
    return (
        begun
        and len(new) <= 2
        and all(re.fullmatch(r"[a-z]+(?:s|ed|ing)", word) for word in new)
        and "and" not in words
    )


def miscounted(rest: str, asked: str, unit: str | None = None) -> bool:
    """Say whether the words behind a number say that something else was counted than what the question counts.

    >>> miscounted(f"{MARK} accounts", "How many attempts on that account failed?")
    True
    """
    if not re.search(r"\w", asked):
        return False
    question = None if unit else re.search(r"how many ((?:[\w-]+ ?){1,5})(.*)", asked.casefold())
    for behind in re.findall(rf"{MARK}((?: [^\W\d_][\w-]*)+)", rest):
        words = behind.casefold().split()
        noun = words[: next((n for n, word in enumerate(words) if word in _FILLERS or word in _SOURCES), len(words))]
        counted = list(itertools.takewhile(lambda word: not _VERB.match(word), question[1].split())) if question else []
        counted += [] if unit else re.findall(r"\w+ed\b", asked.casefold())
        if noun and not any(_akin(word, " ".join(counted)) for word in noun):
            return True
    return False


def _goes_on(clause: str, asked: str) -> bool:
    """Say whether a clause of its own goes on with a word of the question: "created with net user"."""
    words = re.findall(r"\w+", clause.casefold())
    return bool(words) and words[0].endswith("ed") and _akin(words[0], asked)


def doubted(text: str, asked: str) -> bool:
    """Say whether words around a value deny it, leave it open, or give it a role that was not asked for."""
    words = re.findall(r"\w+", text.casefold())
    # The question's own words deny nothing: "which password was guessed?"
    own = re.sub(r"\w{5,}", lambda word: "" if word[0].casefold() in known_words(asked) else word[0], text)
    if (
        len(words) > LONGEST
        or negated(own)
        or hedged(own)
        or _CONTRAST.search(own)
        or re.search(r"\?(?!\w)|≠|!=", text)
    ):
        return True
    # A role that only stands in the sentence (sent to the server) is not the value's.
    own = re.sub(
        r"\b(?:to|from|by|of|on|at|with|via|through|for|in|against)\s+(?:(?:the|an?|its|their)\s+)?\w+", " ", own
    )
    said = re.findall(r"\w+", own.casefold())
    return contradicts(text, asked) or any(
        word.removesuffix("s") in _ROLES and word not in known_words(asked) for word in said
    )


@lru_cache(maxsize=8192)
def is_remark(text: str, asked: str) -> bool:
    """Say whether a text only tells where the value beside it comes from."""
    words = [word.casefold() for word in _WORD.findall(visible(text))]
    while len(words) > 1 and (words[0] in _FILLERS or words[0] == "all") and words[0] not in _SOURCES | _PLACES:
        words = words[1:]
    if not words or doubted(text, asked):
        return False
    # What is asked for is no place to look.
    return words[0] in _SOURCES or (words[0] in _PLACES and words[0] not in known_words(asked))


@lru_cache(maxsize=8192)
def repeats(text: str, asked: str) -> bool:
    """Say whether a text only repeats the question: it claims nothing."""
    words = [word for word in re.findall(r"\w+", visible(text).casefold()) if word not in _FILLERS]
    return all(_akin(word, asked) for word in words)


@lru_cache(maxsize=16384)
def _akin(word: str, asked: str) -> bool:
    """Say whether a word is one of the question's, in any of its forms, or stands for one."""
    return any(
        word == known or len(re.match(r"(.*).*\n\1", f"{word}\n{known}")[1]) >= max(4, min(len(word), len(known)) - 2)  # type: ignore[index]
        for known in known_words(asked)
    )


@lru_cache(maxsize=1024)
def known_words(asked: str) -> frozenset[str]:
    """Return the words of a question, and those that stand for them."""
    words = set(re.findall(r"\w+", asked.casefold()))
    words |= {word.removesuffix("s") for word in words}
    return frozenset(words.union(*(group for group in _SYNONYMS if words & group)))


@lru_cache(maxsize=8192)
def contradicts(text: str, asked: str) -> bool:
    """Say whether a text speaks of the opposite of what was asked for: GET requests in place of POST requests.

    >>> contradicts("19 GET requests", "How many POST requests?"), contradicts("19 requests", "How many POST requests?")
    (True, False)
    """
    said, known = (
        {word.removesuffix("s") for word in re.findall(r"[a-z]+", part.casefold())} for part in (text, asked)
    )
    return any(group & known and group & said and not group & said & known for group in _OPPOSITES)
