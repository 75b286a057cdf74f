"""Values that are known by their shape (addresses, hashes, names of files): found wherever an answer puts them."""

import re
from collections.abc import Callable
from ipaddress import ip_address

from swaplaw.answers.characters import visible
from swaplaw_forensic.reading.remarks import harmless
from swaplaw_forensic.reading.text import normalise, refang

_HEX = r"[0-9a-f]"
_HOST = r"(?:[\w-]+\.)+[a-z]{2,24}"
_PATTERNS: dict[str, str] = {
    "port": rf"(?:[a-z][a-z0-9+.-]*://)?(?<![\w@.-])(?:{_HOST}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}):\d{{1,5}}(?![\w.:])/?",
    "ip": r"(?<![\w.:])\[?(?:::ffff:)?\d{1,3}(?:\.\d{1,3}){3}\]?(?:/\d{1,2}|:\d{1,5})?(?![\w/]|\.\w|-\d)",
    "mac": rf"(?<![\w:.-])(?:{_HEX}{{1,2}}(?:[:-]{_HEX}{{1,2}}){{5}}|{_HEX}{{4}}(?:\.{_HEX}{{4}}){{2}}|{_HEX}{{12}})"
    r"(?![\w:-])",
    "ipv6": rf"(?<![\w.:])\[?(?:{_HEX}{{0,4}}:){{2,7}}{_HEX}{{0,4}}(?:%\w+)?\]?(?![\w/:])",
    "hash": rf"(?<!\w){_HEX}{{32,128}}(?!\w)",
    "uuid": rf"\{{?(?<![\w-]){_HEX}{{8}}-?(?:{_HEX}{{4}}-?){{3}}{_HEX}{{12}}(?![\w-])\}}?",
    "iban": r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?(?!\w)",
    "drive": r"(?<![\w\\/])[a-z]:[\\/]?(?![\w\\/])",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "url": r"[a-z][a-z0-9+.-]*://[^\s<>()\[\]\"'`]+",
    "domain": rf"(?:[a-z][a-z0-9+.-]*://)?(?<![\w@.-]){_HOST}\.?(?![\w@-])/?(?!\S*/)",
    "path": r"(?<!\S)[`\"'(]?(?:[a-z]:)?[\\/]?[\w.@#$+-]+(?:[\\/][\w.@#$+*-]*)+",
    "file": r"(?<![\w.@/\\-])(?:[a-z]:)?(?:[\\/]?[\w.@#$+()\[\]-]+[\\/])*[\w()\[\]#@+-]+(?:\.[\w-]+)*\."
    r"(?=[a-z0-9]*[a-z])[a-z0-9]{1,5}(?![\w@-]|\.\w|[\\/]\w)",
}
SPELLINGS = ("port", "ip", "mac", "ipv6", "uuid", "hash", "iban", "file")
"""Kinds whose spelling does not matter even where the exact text is asked for."""
_ASKED = {
    "domain": r"\b(?:domains?|host ?names?|sites?|servers?)\b",
    "file": r"\b(?:files?|archives?|documents?|programs?|executables?|binar(?:y|ies)|scripts?|names?)\b",
    "iban": r"\b(?:iban|account)\b",
}
_ASKS_PATH = re.compile(r"\b(?:path|where|location|directory|folder)\b", re.IGNORECASE)
# What stands beside an address in the output of `ip` and `ifconfig`.
_MASKS = re.compile(r"\b(?:brd|broadcast|netmask|mask)\s+\S+", re.IGNORECASE)
_SPELT_PORT = re.compile(
    rf"({_HOST}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}),?\s+(?:on\s+)?(?:tcp\s+)?port\s+(\d+)", re.IGNORECASE
)


def kind_of(text: str, asked: str) -> str | None:
    """Return the kind of value that a gold is.

    >>> kind_of("10.2.28.88", ""), kind_of("evil.com", "Which domain was asked for?"), kind_of("Jeremy", "Who?")
    ('ip', 'domain', None)
    """
    for kind, pattern in _PATTERNS.items():
        words = _ASKED.get(kind)
        if (words is None or re.search(words, asked, re.IGNORECASE)) and re.fullmatch(pattern, text, re.IGNORECASE):
            return None if kind == "file" and _ASKS_PATH.search(asked) else kind
    return None


def stated(wanted: str, answer: str, asked: str, *, exact: bool = False) -> bool:
    """Say whether an answer states this one value and no other of its kind, without denying or hedging it."""
    kind = kind_of(wanted, asked) if re.search(r"\w", asked) else None
    if kind is None or (exact and kind not in SPELLINGS):
        return False
    text = refang(visible(answer)).replace("**", " ").replace("](", " ")
    text = _SPELT_PORT.sub(r"\1:\2", text) if kind == "port" else _MASKS.sub(" ", text) if kind == "ip" else text
    found = re.findall(_PATTERNS[kind], text, re.IGNORECASE)
    rest = re.sub(_PATTERNS[kind], " \ue000 ", text, flags=re.IGNORECASE)
    same = _SAME.get(kind, normalise)
    values = {same(one.strip("`\"'(")) for one in found} - {""}
    if exact and kind == "file":
        values = {re.split(r"[\\/]", one)[-1] for one in found}
        return values == {wanted} and harmless(rest, asked)
    return values == {same(wanted)} and harmless(rest, asked) and _makers_agree(text, wanted, kind)


def _makers_agree(text: str, wanted: str, kind: str) -> bool:
    """Say whether what Wireshark prints with the maker's name (Intel_b2:4d:ad) is the same hardware address."""
    tails = re.findall(rf"\b[a-z]\w*_((?:{_HEX}{{2}}:){{2}}{_HEX}{{2}})\b", text, re.IGNORECASE)
    return kind != "mac" or all(_mac(wanted).endswith(tail.casefold()) for tail in tails)


def _ip(text: str) -> str:
    bare = re.sub(r"(?<=\d)\]?(?:/|:)\d{1,5}$", "", text) if "." in text else text
    try:
        found = ip_address(bare.strip("[]").partition("%")[0])
    except ValueError:
        return ""  # a time or a hardware address
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).compressed


def _mac(text: str) -> str:
    """Pad what some systems print without leading zeros: 0:19:d1:b2:4d:ad."""
    parts = re.split(r"[:-]", text.casefold())
    return normalise(":".join(part.zfill(2) for part in parts)) if len(parts) == 6 else normalise(text)


def _domain(text: str) -> str:
    return re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.casefold()).strip("./")


def _alphanumeric(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


_SAME: dict[str, Callable[[str], str]] = {
    "ip": _ip, "ipv6": _ip, "mac": _mac, "domain": _domain, "port": _domain, "uuid": _alphanumeric,
    "iban": _alphanumeric, "drive": _alphanumeric, "file": lambda text: re.split(r"[\\/]", text)[-1].casefold(),
}  # fmt: skip
