"""Answers that do not commit: hedges, alternatives, negations, bounds in place of values, and none at all."""

import re

_NEGATION = re.compile(
    r"(?<![\w/\\.-])(?:not|never|no|none|neither|nor|cannot|without|except|excluding|nobody|nothing|false|wrong|"
    r"incorrect|unlike|disabled|absent|hardly|excluded|dismissed|discarded|rejected|refuted|disproved|doubt|decoy|"
    r"bogus)(?![\w/\\-]|\.\w)|n't\b|\b(?:rather than|instead of|other than|no longer|ruled out|false lead|red herring|"
    r"(?:any|every)(?:thing|one|body) but|all but)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?<![\w/\\.-])(?:or|either|maybe|perhaps|possibly|probably|likely|presumably|might|unsure|unclear|uncertain|"
    r"alternatively|guess|guessing|guessed|vs|versus|apparently|seemingly|seems|unlikely|doubtful|supposedly|"
    r"allegedly|potentially|assume|assumed|assuming|tentatively|plausibly|conceivably)(?![\w/\\-]|\.\w)|"
    r"\b(?:may be|could be|could have been|"
    r"appears to be|i think|i believe|not sure|not certain|if not|and/or)\b|\?\s*\)?\s*$",
    re.IGNORECASE,
)
_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|half"
)
_BOUND = re.compile(
    r"\b(?:more|less|fewer|greater|larger|smaller|other|higher|lower) than\b|\bat (?:least|most)\b|\bup to\b|"
    r"\b(?:nearly|almost|exceed(?:s|ing)?|minimum|maximum|within|upwards of|as (?:many|much|few) as)\b|"
    rf"\b(?:over|under|above|below|beyond|past|from|between)\s+(?:[\d$€£]|(?:{_NUMBER_WORDS})\b)|"
    r"\bor (?:more|less|fewer|so)\b|\bat the (?:latest|earliest|least|most)\b|\d\s*per\s+[a-z]|"
    r"\bplus or minus\b|[<>≥≤±]|\d\s*\+(?!\d)|\d\s*(?:to|through|until)\s+\d|\d\s*\.\.\.?\s*\d|\bdozens of\b",
    re.IGNORECASE,
)
_ROUGH = re.compile(
    r"[~≈]|\b(?:about|around|approx(?:imately)?|roughly|circa|ca\.|estimated|some)(?!\w)|\d-?ish\b", re.IGNORECASE
)
_BESIDE = re.compile(r"\b(?:before|after|since|until|prior to|following|by|earlier|later)\b", re.IGNORECASE)

ABSTENTIONS = {
    "unknown", "n/a", "na", "not available", "not known", "i don't know", "i do not know", "don't know",
    "do not know", "cannot determine", "cannot be determined", "could not determine", "not determined",
    "could not be determined", "unable to determine", "undetermined", "no answer", "tbd", "not found", "null",
    "not applicable", "not sure", "no idea",
}  # fmt: skip
"""Whole answers that say that there is none."""
EXCUSES = (
    "i don't know", "i do not know", "cannot determine", "cannot be determined", "could not determine",
    "could not be determined", "unable to determine", "unable to find", "could not find", "could not be found",
)  # fmt: skip
"""How short answers begin that say that there is none."""


def negated(text: str) -> bool:
    """Say whether a text denies something.

    >>> negated("Windows Search was not enabled"), negated("enabled")
    (True, False)
    """
    return _NEGATION.search(text) is not None


def hedged(text: str) -> bool:
    """Say whether a text leaves a choice open.

    >>> hedged("Chrome or Firefox"), hedged("Chrome, probably"), hedged("Chrome")
    (True, True, False)
    """
    return _HEDGE.search(text) is not None


def bounds(text: str) -> bool:
    """Say whether a number is bounded rather than given.

    >>> bounds("more than 30"), bounds("30+"), bounds("30 requests over HTTP")
    (True, True, False)
    """
    return _BOUND.search(text) is not None


def rough(text: str) -> bool:
    """Say whether a value is called approximate.

    >>> rough("about 30"), rough("30")
    (True, False)
    """
    return _ROUGH.search(text) is not None


def beside(text: str) -> bool:
    """Say whether a text speaks of a time before or after the one that it gives."""
    return _BESIDE.search(text) is not None
