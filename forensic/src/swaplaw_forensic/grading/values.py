"""Values that are known by their shape (addresses, hashes, names of files): found wherever an answer puts them."""

import re
from collections.abc import Callable
from ipaddress import ip_address

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import hedged, negated
from swaplaw.answers.text import normalise, refang
from swaplaw_forensic.grading.vocabulary import vocabulary

_ROLES = vocabulary("roles")
LONGEST = 60
"""Words beyond which an explanation is an essay."""

_HEX = r"[0-9a-f]"
_PATTERNS: dict[str, str] = {
    "ip": r"(?<![\w.:])\d{1,3}(?:\.\d{1,3}){3}(?![\w/]|\.\w)",
    "mac": rf"(?<![\w:.-])(?:{_HEX}{{1,2}}(?:[:-]{_HEX}{{1,2}}){{5}}|{_HEX}{{4}}(?:\.{_HEX}{{4}}){{2}}|{_HEX}{{12}})"
    r"(?![\w:-])",
    "ipv6": rf"(?<![\w.:])\[?(?:{_HEX}{{0,4}}:){{2,7}}{_HEX}{{0,4}}(?:%\w+)?\]?(?![\w/:])",
    "uuid": rf"(?<![\w-]){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?![\w-])",
    "hash": rf"(?<!\w){_HEX}{{32,128}}(?!\w)",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "url": r"[a-z][a-z0-9+.-]*://[^\s<>()\[\]\"'`]+",
    "domain": r"(?:[a-z][a-z0-9+.-]*://)?(?<![\w@.-])(?:[\w-]+\.)+[a-z]{2,24}\.?(?![\w@-])/?(?!\S*/)",
    "path": r"(?<!\S)[`\"'(]?(?:[a-z]:)?[\\/]?[\w.@#$+-]+(?:[\\/][\w.@#$+*-]*)+",
    "file": r"(?<![\w.@-])[\w()\[\]#@+-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{1,4}(?![\w@-]|\.\w)",
}
SPELLINGS = ("ip", "mac", "ipv6", "uuid", "hash")
"""Kinds whose spelling does not matter even where the exact text is asked for."""
_ASKED = {"domain": r"\b(?:domains?|host ?names?|sites?|servers?)\b", "file": r"\b(?:files?|archives?|documents?)\b"}


def kind_of(text: str, asked: str) -> str | None:
    """Return the kind of value that a gold is.

    >>> kind_of("10.2.28.88", ""), kind_of("evil.com", "Which domain was asked for?"), kind_of("Jeremy", "Who?")
    ('ip', 'domain', None)
    """
    for kind, pattern in _PATTERNS.items():
        words = _ASKED.get(kind)
        if (words is None or re.search(words, asked, re.IGNORECASE)) and re.fullmatch(pattern, text, re.IGNORECASE):
            return kind
    return None


def stated(wanted: str, answer: str, asked: str, *, exact: bool = False) -> bool:
    """Say whether an answer states this one value and no other of its kind, without denying or hedging it."""
    kind = kind_of(wanted, asked) if re.search(r"\w", asked) else None
    if kind is None or (exact and kind not in SPELLINGS):
        return False
    text = refang(visible(answer)).replace("**", " ").replace("](", " ")
    found = re.findall(_PATTERNS[kind], text, re.IGNORECASE)
    rest = re.sub(_PATTERNS[kind], " \ue000 ", text, flags=re.IGNORECASE)
    same = _SAME.get(kind, normalise)
    values = {same(one.strip("`\"'(")) for one in found} - {""}
    return values == {same(wanted)} and _harmless(rest, asked) and _makers_agree(text, wanted, kind)


def _harmless(rest: str, asked: str) -> bool:
    """Say whether the words around a value leave it standing as the answer."""
    words = re.findall(r"\w+", rest.casefold())
    known = set(re.findall(r"\w+", asked.casefold()))
    if len(words) > LONGEST or negated(rest) or hedged(rest) or "!=" in rest or "?" in rest:
        return False
    return not any(word.removesuffix("s") in _ROLES and word not in known for word in words)


def _makers_agree(text: str, wanted: str, kind: str) -> bool:
    """Say whether what Wireshark prints with the maker's name (Intel_b2:4d:ad) is the same hardware address."""
    tails = re.findall(rf"\b[a-z]\w*_((?:{_HEX}{{2}}:){{2}}{_HEX}{{2}})\b", text, re.IGNORECASE)
    return kind != "mac" or all(_mac(wanted).endswith(tail.casefold()) for tail in tails)


def _ip(text: str) -> str:
    try:
        return ip_address(text.strip("[]").partition("%")[0]).compressed
    except ValueError:
        return ""  # a time or a hardware address


def _mac(text: str) -> str:
    """Pad what some systems print without leading zeros: 0:19:d1:b2:4d:ad."""
    parts = re.split(r"[:-]", text.casefold())
    return normalise(":".join(part.zfill(2) for part in parts)) if len(parts) == 6 else normalise(text)


def _domain(text: str) -> str:
    return re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.casefold()).strip("./")


_SAME: dict[str, Callable[[str], str]] = {"ip": _ip, "ipv6": _ip, "mac": _mac, "domain": _domain}
