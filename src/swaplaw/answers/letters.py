"""Letters of options: how they are called, labels that are no letters, and options' texts in place of letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase

from swaplaw.errors import InputError, quote

_STAND_INS = "BCDEFGHJKLMNOPQRSTUVWXYZ"
"""Letters that stand for labels that are words or numbers: "A" and "I" are words themselves."""
_LONGEST_TEXT = 300
_NEUTRAL = "\u2731word"
"""What stands in place of an option's own words, where they are no words of the speaker."""


def letter(index: int) -> str:
    """Name the option at a position: A to Z, then 1, 2, … as Inspect does."""
    return chr(ord("A") + index) if index < 26 else str(index - 25)


_BARE = re.compile(r"\s*[(\[]?([A-Za-z])[)\].:]?\s*")


def bare_letter(text: str) -> str | None:
    """The letter of an option, as a capital, where a text is nothing else.

    >>> bare_letter("(b)"), bare_letter("B."), bare_letter("B. Paris")
    ('B', 'B', None)
    """
    found = _BARE.fullmatch(text)
    return found[1].upper() if found else None


@dataclass(frozen=True)
class Labels:
    """Labels as letters: those that are not letters are read through letters that stand for them."""

    meant: dict[str, str]
    words: re.Pattern[str] | None = None

    def masked(self, text: str) -> str:
        """Write the letters that stand for labels in place of them."""
        if self.words is None:
            return text
        hidden = re.sub(r"(?<!\w)[B-HJ-Z](?!\w)", "§", text)
        stand_ins = {label.casefold(): stand_in for stand_in, label in self.meant.items()}
        return self.words.sub(lambda word: stand_ins[" ".join(word[0].casefold().split())], hidden)


def labels_of(options: int | Sequence[str]) -> Labels:
    """Settle what the options are called.

    Raises
    ------
    InputError
        If the labels are not different, or too many.
    """
    if isinstance(options, int):
        return Labels({name: name for name in ascii_uppercase[:options]})
    return _labels(tuple(options))


@lru_cache(maxsize=64)
def _labels(labels: tuple[str, ...]) -> Labels:
    folded = {label.casefold() for label in labels}
    if not labels or len(folded) < len(labels) or not all(label.strip() for label in labels):
        raise InputError(f"the labels are {quote(list(labels))}, expected different labels such as 'ABCD'")
    if all(re.fullmatch("[A-Za-z]", label) for label in labels):
        return Labels({label.upper(): label for label in labels})
    if len(labels) > len(_STAND_INS):
        raise InputError(f"{len(labels)} labels that are not letters are too many; at most {len(_STAND_INS)} are read")
    plain = [" ".join(label.split()) for label in labels]
    return Labels(dict(zip(_STAND_INS, plain, strict=False)), _words(tuple(plain)))


def _words(labels: tuple[str, ...]) -> re.Pattern[str]:
    one_of = "|".join(re.escape(label).replace(r"\ ", r"\s+") for label in sorted(labels, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{one_of})(?![\w%]|[.,]\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Texts:
    """What the options say: their words are then not taken for the speaker's, and may stand for their letters."""

    labels: Labels
    """The texts as labels of their own."""
    letters: dict[str, str]
    """The letter of each text."""

    def hidden(self, text: str) -> str:
        """Put a neutral word in place of each option's text, so that its "yes" or "wrong" is no verdict."""
        assert self.labels.words is not None
        return self.labels.words.sub(_NEUTRAL, text)


@lru_cache(maxsize=256)
def texts_of(texts: tuple[str, ...], names: tuple[str, ...]) -> Texts | None:
    """Settle what the options' texts are; None where they cannot be told apart, or from letters."""
    plain = [" ".join(text.split()).rstrip(".") for text in texts]
    folded = {text.casefold() for text in plain}
    usable = len(folded) == len(plain) == len(names) <= len(_STAND_INS) and all(plain)
    if not usable or any(len(text) > _LONGEST_TEXT or re.fullmatch(r"\W*\w?\W*", text) for text in plain):
        return None
    return Texts(
        Labels(dict(zip(_STAND_INS, plain, strict=False)), _words(tuple(plain))), dict(zip(plain, names, strict=True))
    )
