"""Characters that look alike, that nobody sees, or that no file can hold: cleaned in one place for every reader."""

from __future__ import annotations

import re
import unicodedata

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´"), "'") | dict.fromkeys(map(ord, "“”„‟″«»"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_INVISIBLE = dict.fromkeys(
    # Soft hyphens, zero-width characters, direction marks, variation selectors, byte-order marks.
    (
        0xAD,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
    ),
) | {0xFEFF: None}
# Letters in circles, squares and flags, which no compatibility form takes apart.
_EMBLEMS = {first + place: chr(ord("A") + place) for first in (0x1F150, 0x1F170, 0x1F1E6) for place in range(26)}
_LATIN = str.maketrans("АВСЕНІКМОРТХасеАΑΒΕΖΗΙΚΜΝΟΤΧ", "ABCEHIKMOPTXaceAABEZHIKMNOTX")
_ALONE = re.compile(r"(?<!\w)[АВСЕНІКМОРТХасеΑΒΕΖΗΙΚΜΝΟΤΧ](?=[^\w\s]|\s{0,9}$)")
_CHARACTERS = _INVISIBLE | _QUOTES | _DASHES | _EMBLEMS


_UNLIKE = re.compile("[" + "".join(re.escape(chr(code)) for code in _CHARACTERS) + "]")


def unify(text: str) -> str:
    """Bring look-alikes together: compatibility forms, typographic quotes and dashes, invisible characters.

    >>> unify("Ａｎｓｗｅｒ\u200b： “Ｃ”")
    'Answer: "C"'
    """
    plain = _UNLIKE.sub(lambda found: _CHARACTERS[ord(found[0])] or "", text)
    return plain if unicodedata.is_normalized("NFKC", plain) else unicodedata.normalize("NFKC", plain)


def latin(text: str) -> str:
    """Read Cyrillic and Greek letters that look Latin as Latin where they stand alone at the end of a clause.

    >>> latin("Ответ: \u0412."), latin("\u0412 этом")
    ('Ответ: B.', '\u0412 этом')
    """
    return _ALONE.sub(lambda found: found[0].translate(_LATIN), text)


def visible(text: str) -> str:
    """Keep what a person sees: characters unified, control characters and runs of blanks as one blank (lines stay)."""
    seen = "".join(" " if unicodedata.category(char) == "Cc" and char != "\n" else char for char in unify(text))
    return "\n".join(" ".join(line.split()) for line in seen.strip().splitlines())


def storable(text: str) -> str:
    """Replace lone surrogates, which no file format can hold."""
    return text.encode("utf-8", "replace").decode()
