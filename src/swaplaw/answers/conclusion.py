"""The option that a reply ends up with, where it says so in words that no list knows.

A letter that stands where an option would (after "to", "is", "option", or as a clause of its own) is the answer if it
is the only option that the reply names, or the only one in the last sentence that names any; unless a word of that
sentence weighs, rejects, doubts or asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from swaplaw.answers.doubts import CONDITION, DOUBT, EARLIER, REPORTED
from swaplaw.answers.letters import MENTION, meant, plain
from swaplaw.answers.phrases import GOES_ON, SEARCHED

_LONGEST = 3000
"""Characters that are looked at, from the end."""
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)\s|\n")
_BETWEEN = re.compile(r"^\W{0,3}(?:torn\s)?between\s[^,]{1,40},\s", re.IGNORECASE)
_OPTION = (
    r"(?:(?:option|choice|answer|letter|alternative|opción|opção|opzione|seçenek|cevap|antwort|réponse|вариант"
    r"|odpowiedź)\s)"
)
_PLACED = re.compile(
    r"(?:[\w,:;)]\s(?:to|for|in|on|at|by|with|as|under|towards?)"
    r"|(?:^|[\s,:;(-])(?:is|be|it's|that's|so|say|thus|hence|therefore|like|just|only|makes?|making|go|going|leaves|leaving"
    r"|choos\w{1,3}|chose|pick\w{0,3}|select\w{0,3}|mark|circle|tick|want|gets?|gives?|favou?rs?|suggests?|supports?"
    r"|lean(?:ing)?|guess(?:ing)?|put|wager|suspect|fits|matches|\w{3,12}ly|seems?|looks?|für|para|per|pour|la|le|die))"
    rf"[,:]?\s(?:the\s)?{_OPTION}?[#(\['<]{{0,3}}$|\b{_OPTION}[#(\['<]{{0,3}}$|(?:^|[:;,]\s|\s-\s)[#(\['<]{{0,3}}$",
    re.IGNORECASE,
)
"""Before a letter in the place of an option: after a verb or a preposition, or as a clause of its own."""
_LEFT = re.compile(
    r"['\])>]{0,3}(?:\s?$|\s?[.,;!:)](?![\w\\])|\s-\s|'d[iıuü]r"
    rf"|\s(?:{GOES_ON}|best|in\sthe|your|my|entscheiden|wählen|ş\w{{2,9}}|dır)(?!\w))",
    re.IGNORECASE,
)
_WEIGHED = re.compile(
    r"\b(?:(?:consider|examin|check|evaluat|test|eliminat|reject|exclud|discard|compar|start|turn|regard|avoid|skip|cross"
    r"|remov|leav(?=e\b)|contradict|explain|discuss|confus|mistak|miss|look|see|mis|rul|know|justif|reconsider|strik|dismiss"
    r"|dislik|refut|disprov|mov|begin|add|refer|belong|relat|convert|attract|transfer|thank|need|oppos|denot|label|call|nam"
    r"|mark(?=ed))\w{0,5}|about|against|let(?!\sme\sgo)|options|choices|answers|unlike|than|versus|why|what|how|which\sof|or"
    r"|and|between|both|was|were|had|next|first|second|back|otherwise|yours|none|nothing|same|neither|nor|no|any|all"
    r"|each|every|close|similar|equal|equivalent|proportional|relative|parallel|perpendicular|according|key|dear|grade"
    r"|except|without|unclear|ambiguous|please)\b|^as\sin\b|[∈=<>+?]",
    re.IGNORECASE,
)
"""Words of a sentence that names an option without choosing it."""
_ARTICLE = re.compile(rf"\s(?!(?:{GOES_ON}|to|then|and|or|is|was|are|vs|in)\b)[a-z]")
_LISTED = re.compile(r"(?:option\s|choice\s|statement\s)?[(\[]?[A-Z](?![\w'])", re.IGNORECASE)
"""The beginning of a sentence about one option, in a list of them."""


def concluded(visible: str, known: Set[str]) -> set[str]:
    """The one option that the reply, or else its last sentence that names any, names in the place of an answer."""
    text = "\n".join(line for raw in visible[-_LONGEST:].splitlines() if (line := plain(raw)))
    sentences = [
        (named, sentence)
        for raw in _SENTENCE.split(text)
        if (named := set(_options(sentence := _BETWEEN.sub("", raw)[:SEARCHED], known)))
    ]
    if not sentences:
        return set()
    every = set.union(*(named for named, _ in sentences))
    if len(every) == 1:
        return every if any(_chosen(sentence) for _, sentence in sentences) else set()
    last, sentence = sentences[-1]
    return last if len(last) == 1 and not _LISTED.match(sentence) and _chosen(sentence) else set()


def _options(sentence: str, known: Set[str]) -> Iterator[str]:
    return (found["letter"].upper() for found in _mentions(sentence) if found["letter"].upper() in known)


def _mentions(sentence: str) -> Iterator[re.Match[str]]:
    """Letters that are neither the speaker nor an article."""
    for found in MENTION.finditer(sentence):
        if found["letter"] != "I" and not (found["letter"] == "A" and _ARTICLE.match(sentence, found.end())):
            yield found


def _chosen(sentence: str) -> bool:
    """Whether a sentence that names one option chooses it."""
    if any(words.search(sentence) for words in (_WEIGHED, DOUBT, CONDITION, EARLIER, REPORTED)):
        return False
    return any(
        _PLACED.search(before := sentence[: found.start()]) and _LEFT.match(sentence, found.end()) and meant(before)
        for found in _mentions(sentence)
    )
