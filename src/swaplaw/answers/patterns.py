"""How the answer of a completion is read: text in, canonical category or None (an abstention) out.

Completions are untrusted: only their last `LONGEST_TEXT` characters are searched, and answers longer than
`LONGEST_ANSWER` are none, so that neither time nor memory depends on what a model says.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Sequence

from swaplaw.answers.forms import canonicaliser
from swaplaw.errors import InputError, quote

Reader = Callable[[str], str | None]

LONGEST_TEXT = 20_000
LONGEST_ANSWER = 500
CHOICES = "ABCDEFGHIJ"


def reader(
    read: str,
    *,
    choices: Sequence[str] = CHOICES,
    pattern: str | None = None,
    field: str = "answer",
    canonical: Sequence[str] | None = None,
) -> Reader:
    """Build the reader that a policy names; `canonical` is the chain of canonicalisers that follows it."""
    find: Reader = _whole
    if read == "choice":
        find = _choice(choices)
    elif read == "boxed":
        find = _boxed
    elif read == "regex":
        find = _regex(pattern)
    elif read == "json":
        find = _json_field(field)
    spell = _speller(DEFAULT_CANONICAL[read] if canonical is None else canonical)

    def answer(text: str) -> str | None:
        found = find(_after_thinking(text)[-LONGEST_TEXT:])
        if found is None or len(found) > LONGEST_ANSWER:
            return None
        return spell(found).strip() or None

    return answer


DEFAULT_CANONICAL: dict[str, tuple[str, ...]] = {
    "choice": (),
    "boxed": ("math",),
    "regex": ("unicode", "space", "punctuation"),
    "json": ("unicode", "space"),
    "text": ("text",),
}


def _speller(names: Sequence[str]) -> Callable[[str], str]:
    if not names:
        return lambda text: text
    chain = canonicaliser(list(names))
    # The chain remembers what it has seen, which suits tables; a server that runs for months must not.
    return getattr(chain, "__wrapped__", chain)


def _after_thinking(text: str) -> str:
    """Leave out a reasoning model's thoughts."""
    return text.rpartition("</think>")[2]


def _whole(text: str) -> str:
    return text


def _boxed(text: str) -> str | None:
    # The canonicaliser `boxed` opens the box; what matters here is that there is one.
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    return text[start : start + LONGEST_ANSWER] if start >= 0 else None


def _regex(pattern: str | None) -> Reader:
    if not pattern:
        raise InputError("answers are read by a regular expression, but none is given: set `pattern`")
    try:
        search = re.compile(pattern)
    except re.error as error:
        raise InputError(f"{quote(pattern)} is not a regular expression ({error})") from None

    def last(text: str) -> str | None:
        found = deque(search.finditer(text), maxlen=1)
        return found[0][1 if search.groups else 0] if found else None

    return last


def _json_field(field: str) -> Reader:
    """Read a field (`a.b` reaches inside) of the completion's JSON, which may stand in a code fence or after prose."""

    def value(text: str) -> str | None:
        found = _last_object(text)
        for key in field.split("."):
            if not isinstance(found, dict):
                return None
            found = found.get(key)
        if found is None or isinstance(found, str):
            return found
        return json.dumps(found, sort_keys=True, ensure_ascii=False)

    return value


def _last_object(text: str) -> object:
    """The last whole JSON object that starts a line, or the whole text."""
    decode = json.JSONDecoder().raw_decode
    starts = [match.start(1) for match in re.finditer(r"(?:^|\n|```json|```)\s*(\{)", text)]
    for start in reversed(starts[-50:]):
        try:
            return decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _choice(choices: Sequence[str]) -> Reader:
    """Read the letter that a completion settles on: the last stated answer, or a completion that is just the letter."""
    labels = {choice.casefold(): choice for choice in choices}
    if not labels or len(labels) < len(choices) or not all(labels):
        raise InputError(f"the choices are {quote(list(choices))}, expected different labels such as 'ABCD'")
    label = "|".join(re.escape(choice) for choice in sorted(labels, key=len, reverse=True))
    dressed = rf"[\s*_`\"'(\[{{$]*(?:\\boxed\{{|\\text\{{)?\(?({label})(?![A-Za-z0-9])"
    stated = re.compile(rf"\b(?:answer|choice|option)\b[\"'*_]*\s*(?:is|are|[:=])?\s*[:=]?{dressed}", re.IGNORECASE)
    boxed = re.compile(rf"\\boxed\{{\s*(?:\\text\{{)?\(?({label})\)?\s*\}}", re.IGNORECASE)
    alone = re.compile(rf"[\s*_`\"'(\[]*({label})(?:[\s*_`\"')\].]*$|[).:]\s)", re.IGNORECASE)

    def letter(text: str) -> str | None:
        matches = [*stated.finditer(text), *boxed.finditer(text)]
        found = max(matches, key=lambda match: match.end(1), default=None) or alone.match(text)
        return labels[found[1].casefold()] if found else None

    return letter
