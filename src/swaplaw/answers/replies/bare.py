"""Replies that are nothing but an answer: "B", "(B).", "**B**", "ANSWER: B", and the like.

Most replies of a model that was asked for a letter are like this, and a server reads them by the thousand. They mean
what the whole reader says they mean; this only says it at once.
"""

from __future__ import annotations

import re

_STATED = r"(?:(?:the\s)?(?:(?:final|correct)\s)?answer(?:\sis:?|:)\s)?"
_DRESSED = r"(?P<bold>\*\*)?(?P<bracket>\()?(?-i:(?P<letter>[A-Z]))(?(bracket)\))(?(bold)\*\*)\.?"
_BARE = re.compile(_STATED + _DRESSED, re.IGNORECASE)
_LONGEST = 40


def bare_answer(text: str) -> str | None:
    """The letter that is all a reply says; None where it says more, or something else."""
    found = _BARE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    return None if found is None else found["letter"]
