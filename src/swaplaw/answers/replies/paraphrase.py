"""Roundabout ways to name an option, put plainly: "the latter", "the third option", "may I propose", "can't not be"."""

from __future__ import annotations

import re
from collections.abc import Set

_REACH = 200
"""How far back a pair of options may stand that "the latter" is about."""
_DRESSED = r"[*_(\['\"]{0,4}(?<!\w)(?P<%s>[A-Z])(?!\w)[*_)\]'\"]{0,4}"
_PAIR = re.compile(
    rf"{_DRESSED % 'former'}(?:\s\([^()\n]{{1,60}}\))?\s?(?:,?\s(?:and|or|vs\.?|versus|against|from)|/|&)"
    rf"\s?(?:(?:option|choice)\s)?{_DRESSED % 'latter'}"
)
_REFERENCE = re.compile(
    r"\bthe\s(?:(?P<former>former|first(?=\sof\s(?:these|those|the\stwo)\b))|latter|second(?=\sof\s(?:these|those|the\stwo)\b|\s?[.!]))"
    r"(?:\sof\s(?:these|those|the\stwo))?(?:\s(?:option|choice|one|answer))?\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;!?\n]|\bbut\b", re.IGNORECASE)
_ORDINALS = {
    **dict.fromkeys(("first", "1st"), 0),
    **dict.fromkeys(("second", "2nd"), 1),
    **dict.fromkeys(("third", "3rd"), 2),
    **dict.fromkeys(("fourth", "4th"), 3),
    **dict.fromkeys(("fifth", "5th"), 4),
    "last": -1,
}
_POSITION = re.compile(
    rf"\b(?:the\s(?P<ordinal>{'|'.join(_ORDINALS)})\s(?:(?:answer|listed)\s)?(?:option|choice|alternative)"
    r"|(?:option|choice)\s(?:no\.?\s|number\s|#)?(?P<number>[1-9]))\b"
    r"(?P<own>,?\s[(\[]?(?:option\s)?(?-i:(?P<letter>[A-Z])(?!\w|\s[a-z]))[)\]]?,?)?(?P<rest>[^.;\n]{0,99})",
    re.IGNORECASE,
)
_OTHER = re.compile(r"(?<![\w'])(?:[A-HJ-Z]|A(?!\s[a-z]))(?![\w'])")
_PROPOSAL = re.compile(
    r"\b(?:may|might|could|can|shall)\s(?:I|we)\s((?:\w{2,12}\s){0,3}(?:propose|suggest|offer|recommend|submit|put\sforward|nominate|present)\b[^?\n]{1,120})\?",
    re.IGNORECASE,
)
_DOUBLE = re.compile(
    r"\b(?P<who>it|this|that|the\sanswer)\s(?:can't|cannot|can\snot|couldn't|could\snot)\snot\sbe\b"
    r"|\b(?:there(?:'s|\sis)\s)?no\sway\s(?:that\s)?(?P<it>it|this|that|the\sanswer)(?:\sis\snot|\sisn't|'s\snot)\b"
    r"|\b(?:(?:you|one|we|I)\s)?(?:can't|cannot|couldn't)\s(?:really\s)?(?:go\swrong\swith|argue\swith|fault)\b"
    r"|\b(?:it(?:'s|\sis)\s)?hard\sto\s(?:argue\swith|dispute|fault|beat)\b"
    r"|\b(?:no\s?one|nobody)\s(?:would|could|can|will)\s(?:seriously\s)?(?:dispute|doubt|deny|question)(?:\sthat)?(?:\sthe\sanswer\sis)?\b",
    re.IGNORECASE,
)
"""Two negations say that it must be so."""
_CROSSED_OUT = re.compile(
    r"(?:\b(?:option|choice)\s)?(?<!\w)(?-i:[A-Z])\s?[(\[](?:(?:crossed|struck|scratched)(?:\s(?:out|off|through))?"
    r"|deleted|withdrawn|retracted|erased)[)\]](?:,?\sthen\b)?[.,;]?",
    re.IGNORECASE,
)
_MODESTY = re.compile(
    r"(?:^|,?\s)\(?(?:unless\sI(?:'m|\sam|'ve|\shave)?|if\sI(?:'m|\sam|'ve|\shave|\sdid)?(?:\snot|n't))"
    r"\s(?:(?:badly|seriously|completely)\s)?(?:mis\w{3,15}|wrong|overlook\w{0,3})[^.,;!?\n]{0,60}",
    re.IGNORECASE | re.MULTILINE,
)
"""What anybody may add to an answer: "unless I misread the question"."""
_SMALL = re.compile(
    r"(?:^(?:i\sthink\s)?|\b(?:it'?s|it\sis|(?:i'?d|i\swould)\s(?:say|pick|go\swith)|i\s(?:say|pick|choose)|answer\sis)\s)(?:option\s)?"
    r"(?:(?P<letter>[a-hj])\s(?:because|bc|cuz|coz|cause|since)(?![\w-])|(?<=\s)(?P<other>[b-hj]),(?=\s(?:the|all|it|that)\b))",
    re.MULTILINE,
)
"""A small letter in a careless sentence: "i think its b because …"."""
_REFERS = re.compile(
    r",\s(?:and|so)\s(?:that|this|it)(?:'s|\s(?:is|would\sbe))\s(?:therefore\s|thus\s)?"
    r"(?:the\s(?:answer|option|choice|one)\s(?:that\s)?I(?:'d|'ll|\swould|\swill|'m|\sam)?\s(?:choos|pick|select|giv|go|stick|submit|mark|settl|stand|keep)\w{0,4}"
    r"|my\s(?:final\s)?(?:answer|choice|pick|selection))\b",
    re.IGNORECASE,
)


def plainly(text: str, known: Set[str]) -> str:
    """Rewrite references to options as the options that they are about, and twisted statements as plain ones."""
    text = _DOUBLE.sub(lambda found: f"{found['who'] or found['it'] or 'it'} must be", text)
    text = _PROPOSAL.sub(r"I \1.", text)
    text = _MODESTY.sub("", _CROSSED_OUT.sub("", text))
    text = _SMALL.sub(lambda found: f"it is {(found['letter'] or found['other']).upper()} because", text)
    text = _REFERS.sub(lambda found: _referred_to(found, known), text)
    lettered = (
        len(known & set(_OTHER.findall(text))) > 1
    )  # "Option 3" is C only beside options that are called A and B.
    text = _POSITION.sub(lambda found: _at(found, sorted(known), lettered=lettered), text)
    return _REFERENCE.sub(lambda found: _one_of_pair(text, found, known), text)


def _referred_to(found: re.Match[str], known: Set[str]) -> str:
    """The only option that "and that is my answer" can be about, said plainly."""
    about = _CLAUSE.split(found.string[max(0, found.start() - _REACH) : found.start()])[-1]
    named = set(_OTHER.findall(about))
    return f". My answer is {named.pop()}" if len(named) == 1 and named <= known else found[0]


def _one_of_pair(text: str, found: re.Match[str], known: Set[str]) -> str:
    """The one that a reference is about of the two options that were last named together."""
    pairs = list(_PAIR.finditer(text, max(0, found.start() - _REACH), found.start()))
    letter = pairs[-1]["former" if found["former"] else "latter"] if pairs else None
    return f"option {letter}" if letter in known else found[0]


def _at(found: re.Match[str], letters: list[str], *, lettered: bool) -> str:
    """The option at a position, unless another letter is named beside it ("the first option that I tried was C")."""
    place = int(found["number"]) - 1 if found["number"] else _ORDINALS[found["ordinal"].lower()]
    own = {found["letter"]} if found["own"] else set()
    beside = own | set(_OTHER.findall(found["rest"]))
    if place >= len(letters) or beside - {letters[place]} or not (own or lettered):
        return found[0]
    return f"option {letters[place]}{found['rest']}"
