"""A reader as data: how completions become answers, written down so that votes and policies can carry it.

The same reader reads what is judged and what is served: collections and imports record it with their votes, a policy
signs it, and the server builds its reader from that record. Completions are untrusted: thinking is left out, of the
rest only the last `thinking.LONGEST` characters are read, and answers longer than `LONGEST_ANSWER` are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from swaplaw.answers.choice import declared, read_choice
from swaplaw.answers.forms import canonicaliser
from swaplaw.answers.letters import labels_of, letter
from swaplaw.answers.patterns import Pattern
from swaplaw.answers.thinking import spoken
from swaplaw.errors import InputError, listing, quote

VERSION = 8
"""Counts up whenever some completion would be read differently; 1 was the time before readers were recorded."""
LONGEST_ANSWER = 500
DEFAULT_CANONICAL: dict[str, tuple[str, ...]] = {
    "choice": (),
    "boxed": ("math",),
    "regex": ("unicode", "space", "punctuation"),
    "json": ("unicode", "space"),
    "text": ("text",),
}
"""The kinds of readers, and the canonical forms that follow each where none are named."""
KINDS = tuple(DEFAULT_CANONICAL)
LABELS = tuple("ABCDEFGHIJ")


@dataclass(frozen=True)
class Reader:
    r"""How a completion is read: text in, canonical answer or None (an abstention) out.

    Parameters
    ----------
    kind : str
        `choice` (a label, strictly), `boxed` (the last LaTeX box), `regex` (the last match of `pattern`), `json` (a
        field of the last object) or `text` (all that is said).
    labels : sequence of str
        Of `choice`: the labels of the options.
    pattern : str, optional
        Of `regex`: a regular expression in RE2's syntax; its first group is the answer.
    field : str
        Of `json`: the field that holds the answer; `a.b` reaches inside.
    canonical : sequence of str, optional
        Names of canonical forms that the answer passes through; by default those that fit the kind.
    version : int
        The rules by which completions are read.

    Raises
    ------
    InputError
        If there is no such kind, version, label or canonical form, or the pattern cannot be run in linear time.

    Examples
    --------
    >>> Reader("choice", labels="ABCD").read("The answer is C. Option A is wrong.")
    'C'
    >>> Reader("regex", pattern=r"FLAG\{(\w+)\}").read("FLAG{a}, no, FLAG{b}")
    'b'
    >>> Reader.from_dict(Reader("boxed").to_dict()).read("so \\boxed{1,000}")
    '1000'
    """

    kind: str = "choice"
    labels: Sequence[str] = LABELS
    pattern: str | None = None
    field: str = "answer"
    canonical: Sequence[str] | None = None
    version: int = VERSION

    def __post_init__(self) -> None:
        """Refuse what could not be read by, and settle on lists that cannot change."""
        if self.kind not in DEFAULT_CANONICAL:
            raise InputError(f"there is no reader {quote(self.kind)}; there are {listing(KINDS)}")
        if self.version != VERSION:
            raise InputError(
                f"answers are to be read by version {quote(self.version)} of the reader, and this swaplaw has version "
                f"{VERSION}: read and judge the votes again, or use the swaplaw that wrote this"
            )
        object.__setattr__(self, "labels", tuple(self.labels))
        chain = DEFAULT_CANONICAL[self.kind] if self.canonical is None else self.canonical
        object.__setattr__(self, "canonical", tuple(chain))
        if self.kind == "regex" and not self.pattern:
            raise InputError("answers are read by a regular expression, but none is given: set `pattern`")
        _ = self._find, self._spell

    @classmethod
    def of_options(cls, count: int) -> Reader:
        """Read a choice among a number of options, which are labelled A, B, C and so on.

        Parameters
        ----------
        count : int
            How many options a question has.
        """
        return cls("choice", labels=tuple(letter(place) for place in range(count)))

    def read(self, text: str, texts: Sequence[str] | None = None) -> str | None:
        """Return the answer of a completion, or None where it gives none.

        Parameters
        ----------
        text : str
            A reply.
        texts : sequence of str, optional
            Of `choice`: what the options say, where that is known.
        """
        found = read_choice(text, self.labels, texts) if self.kind == "choice" else self._find(text)
        if found is None or len(found) > LONGEST_ANSWER:
            return None
        return self._spell(found).strip() or None

    def declared(self, text: str) -> str | None:
        """Return the answer where a reply's last line declares it and nothing else in the reply could change that.

        It costs little whatever the reply says, so that a server can ask it first, on its event loop; None says that
        `read` is needed.

        Parameters
        ----------
        text : str
            A reply.
        """
        found = declared(text, self.labels) if self.kind == "choice" else None
        return None if found is None else self._spell(found).strip() or None

    def gold(self, text: str) -> str:
        """Spell a gold answer as this reader spells the answers that it reads.

        >>> Reader("choice").gold(" b) "), Reader("text").gold("Paris.")
        ('B', 'paris')

        Parameters
        ----------
        text : str
            The right answer, as a dataset states it.
        """
        if self.kind == "choice":
            return self.read(text) or text
        return self._spell(text)

    def to_dict(self) -> dict[str, Any]:
        """Write it down, ready for JSON: only what this kind looks at."""
        used: dict[str, Any] = {"kind": self.kind, "version": self.version}
        if self.kind == "choice":
            used["labels"] = list(self.labels)
        if self.kind == "regex":
            used["pattern"] = self.pattern
        if self.kind == "json":
            used["field"] = self.field
        return used | {"canonical": list(self.canonical or ())}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Reader:
        """Build the reader that `to_dict` wrote down.

        Raises
        ------
        InputError
            If something in it is unknown or of the wrong type, or written for another version.

        Parameters
        ----------
        document : mapping
            What `to_dict` gave.
        """
        kinds = {"kind": str, "version": int, "labels": list, "pattern": str, "field": str, "canonical": list}
        for name, value in document.items():
            if name not in kinds:
                raise InputError(f"{quote(name)} is not a part of a reader; there are {listing(list(kinds))}")
            if not isinstance(value, kinds[name]) or (
                isinstance(value, list) and not all(isinstance(item, str) for item in value)
            ):
                raise InputError(f"the reader's {name} is {quote(value)}, expected {_expected(kinds[name])}")
        if "kind" not in document or "version" not in document:
            raise InputError("a reader needs its kind and its version")
        return cls(**document)

    @cached_property
    def _find(self) -> Callable[[str], str | None]:
        if self.kind == "choice":
            labels_of(self.labels)
            return spoken
        if self.kind == "regex":
            pattern = Pattern(self.pattern or "")
            return lambda text: pattern.last(spoken(text))
        if self.kind == "json":
            return lambda text: _json_field(spoken(text), self.field)
        return (lambda text: _boxed(spoken(text))) if self.kind == "boxed" else spoken

    @cached_property
    def _spell(self) -> Callable[[str], str]:
        chain = canonicaliser(list(self.canonical or ()))
        # The chain remembers what it has seen, which suits tables; a server that runs for months must not.
        return getattr(chain, "__wrapped__", chain)


def _expected(kind: type) -> str:
    return {str: "text", int: "a whole number", list: "a list of texts"}[kind]


def _boxed(text: str) -> str | None:
    # The canonical form `boxed` opens the box; what matters here is that there is one.
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    return text[start : start + LONGEST_ANSWER] if start >= 0 else None


def _json_field(text: str, field: str) -> str | None:
    """Read a field (`a.b` reaches inside) of the completion's JSON, which may stand in a code fence or after prose."""
    found = _last_object(text)
    for key in field.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, sort_keys=True, ensure_ascii=False)


_LONGEST_OBJECT = 20_000
_TRIES = 20
_OBJECT = re.compile(r"(?:^|\n|```json|```)[ \t]{0,20}(\{)")


def _last_object(text: str) -> object:
    """The last whole JSON object that starts a line: a bounded number of tries at texts of bounded length."""
    decode = json.JSONDecoder().raw_decode
    starts = [match.start(1) for match in _OBJECT.finditer(text)]
    for start in reversed(starts[-_TRIES:]):
        try:
            return decode(text[start : start + _LONGEST_OBJECT])[0]
        except (ValueError, RecursionError):
            continue
    return None
