"""Regular expressions that users write: run by RE2, whose time is linear in the text whatever the pattern is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.errors import InputError, quote

LONGEST_PATTERN = 2000
_MEMORY = 8 * 2**20
"""Bytes that a compiled pattern may take."""


@dataclass(frozen=True)
class Pattern:
    r"""A regular expression whose last match is the answer: its first group that matched, or all of it.

    >>> Pattern(r"#### (-?[0-9.,]+)").last("3 * 4 = 12\n#### 12")
    '12'
    """

    text: str

    def __post_init__(self) -> None:
        """Refuse what RE2 cannot take, and say why."""
        if not self.text:
            raise InputError("the regular expression is empty; give one whose first group is the answer")
        if len(self.text) > LONGEST_PATTERN:
            raise InputError(f"the regular expression is longer than {LONGEST_PATTERN} characters; shorten it")
        _ = self._compiled

    @cached_property
    def _compiled(self) -> Any:
        import re2

        settings = re2.Options()
        settings.log_errors = False
        settings.max_mem = _MEMORY
        try:
            return re2.compile(self.text, settings)
        except (re2.error, UnicodeError) as error:
            raise InputError(
                f"{quote(self.text)} is not a regular expression that can be run in linear time ({_reason(error)}); "
                "write it without look-around and back-references"
            ) from None

    def last(self, text: str) -> str | None:
        """Return the last match's first group that is not empty, or the whole match; None where there is no match."""
        last = deque(self._compiled.finditer(storable(text)), maxlen=1)
        return _taken(last[0]) or None if last else None

    def all(self, text: str) -> list[str]:
        """Return every match, each as `last` would."""
        return [_taken(found) for found in self._compiled.finditer(storable(text))]

    def without(self, text: str) -> str:
        """Leave out every match."""
        return str(self._compiled.sub("", storable(text)))


def _taken(found: Any) -> str:
    groups = found.groups()
    return next((str(group) for group in groups if group), "") if groups else str(found.group())


def _reason(error: Exception) -> str:
    inner = error.args[0] if error.args else "unknown"
    return inner.decode(errors="replace") if isinstance(inner, bytes) else str(inner)
