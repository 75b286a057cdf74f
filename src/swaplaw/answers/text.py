"""Forms of text that mean the same: case, punctuation, defanged names, MAC, hash, path and phone forms."""

import re

from swaplaw.answers.characters import visible

_WRAPPERS = ('"', "'", "`", "**", "__")
_HASH_NAME = re.compile(r"^(?:md5|sha-?1|sha-?256|sha-?512)\s*(?:hash|sum)?\s*[:=]?\s*", re.IGNORECASE)
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DRIVE = re.compile(r"^([a-z]):/")
_ABSTENTIONS = {
    "unknown", "n/a", "na", "not available", "not known", "i don't know", "i do not know", "don't know",
    "do not know", "cannot determine", "cannot be determined", "could not determine", "not determined",
    "could not be determined", "unable to determine", "undetermined", "no answer", "tbd", "not found", "null",
    "not applicable", "not sure", "no idea",
}  # fmt: skip
_EXCUSES = (
    "i don't know", "i do not know", "cannot determine", "cannot be determined", "could not determine",
    "could not be determined", "unable to determine", "unable to find", "could not find", "could not be found",
)  # fmt: skip


def unwrap(text: str) -> str:
    """Take off one pair of quotes, backticks or emphasis marks around the whole."""
    text = text.strip()
    for mark in _WRAPPERS:
        inner = text[len(mark) : -len(mark)]
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark) and mark not in inner:
            return inner.strip()
    return text


def refang(text: str) -> str:
    """Undo the defanging of names and addresses: hxxp://evil[.]com is http://evil.com."""
    text = re.sub(r"\bhxxp(s?)\b", r"http\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\[(?:\.|dot)\]|\((?:\.|dot)\)|\{(?:\.|dot)\}", ".", text, flags=re.IGNORECASE)
    text = re.sub(r"\[(?:@|at)\]|\((?:@|at)\)", "@", text, flags=re.IGNORECASE)
    return re.sub(r"\[(:|://|/)\]", r"\1", text)


def normalise(text: str) -> str:
    """Return the one string that stands for all forms of an answer.

    >>> normalise(" `WhitePepper[.]SU` ")
    'whitepepper.su'
    >>> normalise("00-21-5D-C8-0E-F2")
    '00:21:5d:c8:0e:f2'
    """
    text = unwrap(refang(visible(text))).replace("\n", " ").casefold()
    for form in (_mac, _hash, _path, _telephone):
        known = form(text)
        if known is not None:
            return known
    return " ".join(filter(None, (_bare(word) for word in text.split())))


def equivalents(gold: str) -> set[str]:
    """Return every normal form that an accepted answer stands for: a path may name its drive or not."""
    form = normalise(gold)
    forms = {form}
    if _DRIVE.match(form):
        forms.add(form[3:])
    elif "\\" in gold and "/" in form:
        forms.add(f"c:/{form}")
    return forms


def abstains(answer: str) -> bool:
    """Say whether an answer only says that there is none."""
    form = unwrap(visible(answer)).casefold().strip(" .!?-_…*()[]")
    excuse = len(form) <= 60 and form.startswith(_EXCUSES)
    return form in _ABSTENTIONS or excuse or not any(letter.isalnum() for letter in form)


def pieces(answer: str) -> list[str]:
    """Split a list answer without knowing the gold: by lines or semicolons, else by commas and 'and'."""
    return splittings(answer)[0]


def splittings(answer: str) -> list[list[str]]:
    """Return the ways to read an answer as a list, the plainest first."""
    text = _unbracket(visible(answer))
    rows = [_unbullet(row) for row in re.split(r"[\n;]", text)]
    rows = [row for row in rows if row]
    commas = [part for row in rows for part in re.split(r",\s+|,(?!\d)", row)]
    words = [part for piece in commas for part in re.split(r"\s+and\s+|\s*&\s+|^and\s+", piece)]
    finest = [part for piece in words for part in re.split(r"\s*[|/]\s*|:(?!/)|\s+", piece)]
    ways = [rows] if len(rows) > 1 else []
    for way in (words, commas, rows, finest):
        kept = [_unbullet(part) for part in way if _unbullet(part)]
        if kept and kept not in ways:
            ways.append(kept)
    return ways or [[]]


def _unbracket(text: str) -> str:
    """Read a JSON or Python list as lines."""
    if text.startswith("[") and text.endswith("]"):
        inner = re.findall(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', text)
        if inner:
            return "\n".join((first or second).replace("\\\\", "\\") for first, second in inner)
    return text


def _unbullet(row: str) -> str:
    return unwrap(re.sub(r"^\s*(?:[-*•·]|\(?\d{1,3}[.)])\s+", "", row).strip().rstrip(",;"))


def _bare(word: str) -> str:
    """Drop punctuation at a word's edges; a sign before a digit is part of a number."""
    sign = word[0] if re.match(r"[-+]\d", word) else ""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    return sign + word[start:end] if end > start else ""


def _mac(text: str) -> str | None:
    digits = re.sub(r"[:\-. ]", "", text)
    separated = re.fullmatch(r"[0-9a-f]{2}(?:[:\-. ]?[0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}", text)
    if not separated or not re.search(r"[:\-. a-f]", text):
        return None
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def _hash(text: str) -> str | None:
    digits = _HASH_NAME.sub("", text).removeprefix("0x").replace(" ", "").strip(".,")
    named = text.startswith("0x") and len(digits) >= 4
    return digits if re.fullmatch(r"[0-9a-f]+", digits) and (len(digits) in (32, 40, 64, 128) or named) else None


def _path(text: str) -> str | None:
    if "://" in text:
        scheme, rest = text.split("://", 1)
        return None if " " in text else f"{scheme}://{rest.rstrip('/.,')}"
    path = text.replace("\\", "/")
    if not re.match(r"[a-z]:/", path) and not ("/" in path and (" " not in path or "\\" in text)):
        return None
    path = re.sub(r"/+", "/", path).rstrip("/")
    return path.removeprefix("./").removeprefix("/") or None


def _telephone(text: str) -> str | None:
    if _IPV4.fullmatch(text) or not re.fullmatch(r"\+?[\d\s().\-]+", text):
        return None
    digits = re.sub(r"\D", "", text)
    return digits if 10 <= len(digits) <= 15 and not re.match(r"\d{4}-\d\d-\d\d", text) else None
