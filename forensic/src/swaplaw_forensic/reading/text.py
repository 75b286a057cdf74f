"""Forms of text that mean the same: case, punctuation, defanged names, MAC, hash, address, path and phone forms."""

import re
from ipaddress import ip_address

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import ABSTENTIONS, EXCUSES

_WRAPPERS = ('"', "'", "`", "**", "__")
_ANGLES = re.compile(r"<(\S+)>")
_DIGEST = r"md5|sha-?1|sha-?224|sha-?256|sha-?384|sha-?512|sha2-(?:224|256|384|512)"
_HASH_NAME = re.compile(rf"^(?:{_DIGEST})\s*(?:hash|sum|digest|checksum)?\s*[:=]?\s*", re.IGNORECASE)
# What md5sum and its kin print, and what BSD's and OpenSSL's do.
_GNU_LINE = re.compile(
    r"\\?([0-9a-f]{32,128}) [ *]?(?!(?:.*\s)?[0-9a-f]{32})(?:-|[^\s,;]*[./\\][^,;]*\w)", re.IGNORECASE
)
_BSD_LINE = re.compile(rf"(?:{_DIGEST}) ?\(.*\) ?= ?([0-9a-f]{{32,128}})", re.IGNORECASE)
_HASH_LENGTHS = (32, 40, 56, 64, 96, 128)
_URL = re.compile(
    r"(?:([a-z][a-z0-9+.-]*)://)?((?:[a-z0-9_-]+\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(:\d+)?(/\S*)?", re.I
)
_PORTS = {"http": ":80", "https": ":443", "ftp": ":21"}
# Wireshark names the maker in place of the first three bytes: IntelCor_c8:0e:f2 (00:21:5d:c8:0e:f2).
_VENDOR_MAC = re.compile(
    r"\w+_((?:[0-9a-f]{2}:){2}[0-9a-f]{2}) ?\(((?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})\)", re.IGNORECASE
)
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DRIVE = re.compile(r"^([a-z]):/")


def unwrap(text: str) -> str:
    """Take off one pair of quotes, backticks or emphasis marks around the whole, or a fence."""
    text = re.sub(r"^```\w*\n(.*?)\n?```$", r"\1", text.strip(), flags=re.DOTALL).strip()
    text = _ANGLES.sub(r"\1", text) if _ANGLES.fullmatch(text) else text
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
    text = unwrap(refang(visible(text))).replace("\n", " ")
    url = _url(text)
    if url is not None:
        return url
    text = text.casefold()
    for form in (_mac, _hash, _address, _path, _telephone):
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
    excuse = len(form) <= 60 and form.startswith(EXCUSES)
    return form in ABSTENTIONS or excuse or not any(letter.isalnum() for letter in form)


def _bare(word: str) -> str:
    """Drop punctuation at a word's edges; a sign before a digit is part of a number."""
    sign = word[0] if re.match(r"[-+]\d", word) else ""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    return sign + word[start:end] if end > start else ""


def _url(text: str) -> str | None:
    """Return a URL with its host in small letters; the path keeps its case, because servers do."""
    match = _URL.fullmatch(text.rstrip(".,"))
    if not match or not (match[1] or match[4]) or "\\" in text:
        return None
    scheme, port = (match[1] or "").casefold(), match[3] or ""
    port = "" if port == _PORTS.get(scheme, ":80") else port
    path = (match[4] or "").rstrip("/.,")
    return f"{scheme}://{match[2].casefold()}{port}{path}" if scheme else f"{match[2].casefold()}{port}{path}"


def _mac(text: str) -> str | None:
    vendor = _VENDOR_MAC.fullmatch(text)
    if vendor and vendor[2].replace("-", ":").endswith(vendor[1]):
        text = vendor[2]
    digits = re.sub(r"[:\-. ]", "", text)
    separated = re.fullmatch(r"[0-9a-f]{2}(?:[:\-. ]?[0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}", text)
    if not separated or not re.search(r"[:\-. a-f]", text):
        return None
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def _hash(text: str) -> str | None:
    line = _GNU_LINE.fullmatch(text) or _BSD_LINE.fullmatch(text)
    if line and len(line[1]) in _HASH_LENGTHS:
        return line[1]
    digits = _HASH_NAME.sub("", text).removeprefix("0x").replace(" ", "").strip(".,")
    named = text.startswith("0x") and len(digits) >= 4
    return digits if re.fullmatch(r"[0-9a-f]+", digits) and (len(digits) in _HASH_LENGTHS or named) else None


def _address(text: str) -> str | None:
    """Return the short form of an IPv6 address."""
    bare = text.strip("[]").partition("%")[0]
    if bare.count(":") < 2 or "." in bare:
        return None
    try:
        return ip_address(bare).compressed
    except ValueError:
        return None


def _path(text: str) -> str | None:
    if "://" in text:
        return None
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
