"""Where a reply ends: before it runs on to a question of its own making, and before an item that breaks off."""

from __future__ import annotations

import re

from swaplaw.answers.replies.letters import plain

_RUN_ON = re.compile(r"\n[^\w\n]{0,9}(?:question|q|human|user)\s{0,2}\d{0,4}\s{0,2}:", re.IGNORECASE)
_LETTER_LINE = re.compile(r"\W{0,5}[A-Z]\b\W{0,5}(?:\n|$)")


def before_run_on(text: str) -> str | None:
    """What is said before the reply goes on to another question, as models without a stop token do."""
    mark = _RUN_ON.search(text)
    return text[: mark.start()] if mark and not _LETTER_LINE.match(text, mark.end()) else None


def answers_several(text: str) -> bool:
    """Whether a reply gives a letter to each of several questions: "Question 1: B", "Question 2: D"."""
    mark = _RUN_ON.search(text)
    return mark is not None and _LETTER_LINE.match(text, mark.end()) is not None


_LABELLED = re.compile(r"\(?(?P<letter>[A-Z])[.):]\s?(?P<text>.*)")
_ENDED = re.compile(r"[.!?;:)][\s*_]{0,4}$")


def without_stump(text: str) -> str:
    """Leave out the last item of a list of options where it breaks off: a label alone, or half a sentence."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 3 or len(lines[-1]) > 1000:
        return text
    last, above = (_LABELLED.match(plain(line)) for line in (lines[-1], lines[-2]))
    if last is None or above is None or ord(last["letter"]) != ord(above["letter"]) + 1:
        return text
    half = last["letter"] > "B" and _ENDED.search(lines[-2]) and not _ENDED.search(lines[-1]) and " " in last["text"]
    return "\n".join(lines[:-1]) if half or not last["text"].strip() else text
