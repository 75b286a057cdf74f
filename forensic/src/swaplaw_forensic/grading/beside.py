"""What may stand beside a member of a list: words about it, never names of others."""

import re
from collections.abc import Collection

from swaplaw_forensic.reading.lists import fields, is_detail
from swaplaw_forensic.reading.remarks import shape, tokens
from swaplaw_forensic.reading.vocabulary import vocabulary

MARK = "\ue000"
"""Stands where a part of the member was found."""
# A row that names one thing may say this much more about it; a record may have this many more words and fields.
WORDS_BESIDE, WORDS_OF_RECORD, FIELDS_OF_RECORD = 7, 12, 4
_DESCRIPTIONS = vocabulary("descriptions")
# A second number beside the one that was asked for.
_MORE_NUMBERS = re.compile(rf"{MARK}\s+\d+(?![\w.:])|(?<![\w.:])\d+\s+{MARK}(?=[^{MARK}]*\Z)")
_LINKS = vocabulary("links")


def little(rest: str, parts: Collection[str], known: Collection[str], *, record: bool) -> bool:
    """Say whether what stands beside the parts of a member is about it, rather than further answers.

    Parameters
    ----------
    rest : str
        The row in small letters, with `MARK` in place of each part.
    parts : collection of str
        The parts that were found.
    known : collection of str
        Words that claim nothing new: of the question, and of all members.
    record : bool
        Whether the member is a record of several parts.
    """
    text = re.sub(rf"(?:[a-z]:|(?<!\S))/\S*|\S*{MARK}/\S*\.\w+", lambda m: MARK * m[0].count(MARK), rest)
    if re.search(rf"{MARK}\s?/\s?\w|\w\s?/\s?{MARK}", text) and not record:
        return False
    if _rivals(text, parts) or (sum(part.isdecimal() for part in parts) == 1 and _MORE_NUMBERS.search(text)):
        return False
    open_text = re.sub(r"\([^()]*\)", lambda m: MARK * m[0].count(MARK), text)
    foreign = [field for field in claims(open_text) if MARK not in field]
    words = _words(open_text)
    if record:
        strangers = any(strange(field, known) for field in claims(re.sub("[()]", ",", text)))
        return len(words) <= WORDS_OF_RECORD and len(foreign) <= FIELDS_OF_RECORD and not strangers
    return len(words) <= WORDS_BESIDE and not foreign and not strange(text, known)


def claims(row: str) -> list[str]:
    """Return the fields of a row that are not details, alternatives behind a slash apart."""
    parts = [part for field in fields(row) for part in re.split(rf"(?<=[\w{MARK}])/(?=\w)", field)]
    return [part for part in parts if not is_detail(part)]


def _words(text: str) -> list[str]:
    return re.findall(r"(?<!\w)[^\W\d_][\w'-]*", text)


def strange(text: str, known: Collection[str]) -> bool:
    """Say whether words that describe nothing stand there without making a sentence.

    >>> strange("firefox, opera", ()), strange("the default browser", ()), strange("used to erase files", ())
    (True, False, False)
    """
    words = _words(text)
    if all(word in _DESCRIPTIONS or word in known or word in _LINKS for word in words):
        return False
    return not any(word in _LINKS for word in words)


def _rivals(text: str, parts: Collection[str]) -> bool:
    """Say whether something of the same shape as a part stands beside it: a second name, not a remark."""
    shapes = {found for part in parts if (found := shape(part)) is not None}
    return any(shape(token) in shapes for token in tokens(text) if MARK not in token)
