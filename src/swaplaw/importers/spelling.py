"""Answers that differ from gold only in how they are written: reconciled by a stated form, or refused with the fix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swaplaw.answers.forms import canonicaliser
from swaplaw.errors import InputError, quote
from swaplaw.votes.table import Votes

FORM = "text"
EXACT = "exact"
_LETTER = re.compile(r"[(\[]?[A-Za-z][)\].:]?")


def spelling_notes(votes: Votes) -> Iterator[str]:
    """Refuse votes whose letters, or all of whose answers, never count for their spelling; note lesser differences.

    Raises
    ------
    InputError
        If a multiple-choice table spells letters in two ways, or no answer at all is spelt like a gold and some would
        be in the canonical form `text`.
    """
    counts = votes.counts
    if "correct" in counts.columns:
        return
    pairs = counts.select("answer", "gold").drop_nulls().unique(maintain_order=True)
    spell = canonicaliser([FORM])
    differ = [(answer, gold) for answer, gold in pairs.iter_rows() if answer != gold and spell(answer) == spell(gold)]
    if not differ:
        return
    answer, gold = differ[0]
    what = f"{len(differ)} answers differ from gold only in spelling, such as {quote(answer)} and {quote(gold)}"
    letters = all(_LETTER.fullmatch(text.strip()) for pair in differ for text in pair)
    if letters or not (pairs["answer"] == pairs["gold"]).any():
        name = quote(votes.sources[0].name, 200)
        raise InputError(
            f"{name}: {what}; read them in the canonical form {FORM!r}, or in {EXACT!r} if the spelling is meant"
        )
    yield f"{what}; the canonical form {FORM!r} would count them"
