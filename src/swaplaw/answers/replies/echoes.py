"""Answers by an option's text: a reply that lists the options itself and then names one by its words."""

from __future__ import annotations

import re
from collections.abc import Set

from swaplaw.answers.hedges import hedged, negated
from swaplaw.answers.replies.letters import plain

_LISTED = re.compile(
    r"(?:^|(?<=[\s(]))[(\[]?(?P<letter>[A-Z])(?:[)\]]|[.:](?=\s))\s{0,2}(?P<text>[^\n;,:.()?!]{2,60}?)"
    r"(?=\s{0,2}(?:[;,:.(?!]|\sand\s|\sor\s|$|\s-\s|→|\s[(\[]?[A-Z][).\]:]))",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"[.!?;\n]\s|[!?;\n]|\.$")
_MOST = 26
_SELECTS = re.compile(
    r"\b(?:select\w{0,3}|choos\w{1,3}|choice|pick|answer(?!\s(?:choices|options)\b)"
    r"|final|conclu\w{1,4}|decision|verdict|result)\b[^?]{0,60}$",
    re.IGNORECASE,
)
"""The line above the option that is named without its description: "Step 3 - Select"."""


def echoed(visible: str, known: Set[str]) -> set[str]:
    """The one option of the reply's own list whose words, and no other's, are said after the list."""
    text = "\n".join(line for raw in visible.splitlines() if (line := plain(raw)))
    listed = [found for found in _LISTED.finditer(text) if found["letter"] in known][:_MOST]
    if again := _listed_again(text, listed):
        return {again}
    words = {found["letter"]: _words(found["text"]) for found in listed}
    if (
        len(listed) < 3
        or len(words) < len(listed)
        or sorted(words) != list(words)
        or len(set(words.values())) < len(words)
    ):
        return set()
    said: set[str] = set()
    for sentence in _SENTENCE.split(text[listed[-1].end() :])[
        1:
    ]:  # The first is what the list says of its last option.
        spoken = f" {_words(sentence)} "
        named = {letter for letter, option in words.items() if option and f" {option} " in spoken}
        if named and (negated(sentence) or hedged(sentence)):
            return set()
        said |= named
    return said if len(said) == 1 else set()


def _listed_again(text: str, listed: list[re.Match[str]]) -> str | None:
    """The option of a list that is repeated after other words as the last line, label and all."""
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if _LISTED.match(line)][: _MOST + 1]
    letters = [found["letter"] for found in listed]
    if len(places) != len(letters) or len(letters) < 3 or letters[:-1] != sorted(set(letters[:-1])):
        return None
    apart = places[-2] + 1 < places[-1] == len(lines) - 1
    if apart and lines[-1].rstrip(".") in {lines[at].rstrip(".") for at in places[:-1]}:
        return letters[-1]
    described = {(found["letter"], found["text"]) for found in listed[:-1]}
    named = (letters[-1], listed[-1]["text"]) in described and listed[-1].end() + 1 >= len(text)
    return letters[-1] if apart and named and _SELECTS.search(lines[-2]) else None


def _words(text: str) -> str:
    found = re.findall(r"\w+", text.casefold())
    return " ".join(found[1:] if found[:1] in (["the"], ["a"], ["an"]) else found)
