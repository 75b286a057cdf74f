"""Letters of options in a line: the line undressed, the letter that a statement names, and whether it is meant."""

from __future__ import annotations

import re
from functools import lru_cache

from swaplaw.answers.characters import latin, unify
from swaplaw.answers.replies import doubts, phrases
from swaplaw.answers.replies.phrases import SEARCHED

UNSURE = "?"
"""What a statement names that settles on no single option."""

_WRAPPERS = re.compile(
    r"\\?(?:boxed|fbox|framebox)(?=\s{0,3}\{)\s?|\\(?:begin|end)\{[a-z*]{1,20}\}(?:\{[clr|]{1,9}\})?"
    r"|\\(?:text[a-z]*|math[a-z]+|bold(?:symbol|math)?|bm|pmb|mbox|operatorname|underline|bf|rm|large|Large|huge|displaystyle)(?![a-z])\s?"
    r"|\\(?:color(?:box)?|textcolor)\s?\{[a-z]{1,20}\}|\\[()\[\],;:! ]"
    r"|(?-i:</?(?:b|strong|i|em|code|u|mark|p|div|span|li|h[1-6])>)",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]{0,80}~~|<(s|del|strike)>[^<\n]{0,80}</\1>")
_BULLET = re.compile(r"\s{0,99}(?:[*•>#-]{1,9}\s{1,9}){0,9}")
_DRESS = str.maketrans(
    dict.fromkeys('_$~{}"')
    | dict(zip("【】「」『』〔〕〈〉《》", "()()()()()()", strict=True))
    | {"。": ". ", "、": ", "}
)
_POINTERS = re.compile(
    r"^[\s→➜⇒=>▶►•·☞👉✅✔✓☑-]{1,9}(?=[(\[*']{0,3}(?:[A-Z]\b|[Oo]ption|[Aa]nswer|[Cc]orrect|[Ff]inal))"
)


_PAUSE = re.compile(r"(?:\.\.\.|…)(?=[A-Z]\b)")


@lru_cache(maxsize=512)  # Each stage of the reading undresses the same lines.
def plain(line: str) -> str:
    """Take Markdown, LaTeX and double quotes off, and bring look-alike characters and white space together."""
    shown = _BULLET.sub("", _STRUCK.sub(" ", line).replace("`", "").replace("\\ ", " "), count=1)
    shown = _PAUSE.sub(r"\g<0> ", shown)
    bare = latin(" ".join(unify(_WRAPPERS.sub("", shown)).translate(_DRESS).split()))
    # Emphasis comes in pairs; a star that is left over means something: A* is an algorithm.
    return _POINTERS.sub("", bare.replace("*", "") if bare.count("*") % 2 == 0 else bare)


LETTER = re.compile(
    rf"[\s'(\[<✅✔✓☑👉]{{0,9}}(?P<option>{phrases.OPTION_WORD}|(?:option|choice|answer)[_-]?(?=[a-z]$))?[\s'(\[<]{{0,9}}(?P<letter>[a-z])(?![a-z0-9_])"
    r"(?P<close>['\])>]{0,9})(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
# After a link, another letter is another option; after none it may begin the option's text, as in "D) A and C".
_ANOTHER = re.compile(
    r"(?:\s{0,3}(?:[,;/&+|→⇒>-]|=>|(?:and/or|and|or|nor|vs\.?|versus|oder|ou|или|veya|lub|或|to|bis)(?=\s|[A-Z])){1,3}\s{0,3}(?:(?:option|choice)\s)?['(\[]{0,3}|\s{0,3}[(\[])"
    r"(?-i:(?!I(?:\s(?:and|&|only)|,)\s(?:I|V|and|only))(?P<letter>[A-Z])(?!\.\s[a-z]))(?=\s{0,3}(?:$|[\].,;:/&!?)'|+]|(?:and|or|are|oder|ou|und|et|y|e|и|или|ve|i|oraz|lub|en|och)\b))",
    re.IGNORECASE,
)
# "A) Paris or B) Rome": a second option is labelled as the first is.
_OR_LABELLED = re.compile(
    r"\b(?:or|and)\s(?:option\s|choice\s)?[(\[]{0,3}(?P<letter>[A-Z])(?P<mark>[)\]:]|\.(?=\s{1,3}\S))"
)
_HEDGE = re.compile(
    r"[\s,;(-]{0,9}(?:if|unless)\b|[\s,;.(-]{0,9}(?:\?|(?:or|maybe|perhaps|possibly|alternatively|i\sguess|i\sam\snot|i'm\snot|not\ssure"
    r"|unsure|uncertain|but\s(?:maybe|perhaps|possibly|(?:it\s)?(?:could|might|may)\b|i'm|i\sam))\b)",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"\s?[^\w?+*#-]{0,9}$|\s?[.!,;|](?=\s|$|[^\x00-\x7f])|[;|](?=\w{2})|/(?=[a-z]{3})|\s?:|\s(?:-{1,2}>?|=|→)\s|\s?[(\[←]|\s?(?:です|입니다|है|(?:选项|项)?(?:是|为)?正确|が正し|が正解|选项|项(?!错))|d[iıuü]r\b"
    rf"|\s(?:{phrases.GOES_ON}|wählen|nehmen|sagen|porque|parce|car|weil|da|denn|perché|poiché|потому|omdat|karena|vì|is\s(?:the\s)?(?:correct|right|best|final))\b",
    re.IGNORECASE,
)


def named(content: str) -> str | None:
    """The letter that a statement's content begins with; unsure where it goes on to another, None where it has none."""
    found = LETTER.match(content[:SEARCHED])
    if found is None:
        return None
    letter, rest = found["letter"], found["rest"]
    bracketed = bool({")", "]"} & set(found["close"]))
    if (
        letter.islower()
        and not bracketed
        and rest.strip(" .!")
        and rest[:1] not in ";|"
        and not (found["option"] and rest[:1] in ",:.")
    ):
        return None
    goes_on = any(follows.match(rest) for follows in (_HEDGE, _ANOTHER, _FOLLOWS, phrases.ABROAD))
    if not bracketed and not goes_on:
        return None
    mark = found["close"][-1:] if bracketed else rest[:1]
    labelled = [other for other in _OR_LABELLED.finditer(rest) if other["mark"] == mark]
    others = {other["letter"] for other in (_ANOTHER.match(rest), *labelled) if other}
    if _HEDGE.match(rest) or others - {letter.upper()}:
        return UNSURE
    return letter.upper()


OF_A_SPECIES = (
    r"\.\s[a-z]{3,20}\s"
    r"(?:is|are|was|were|has|have|can|may|lives?|causes?|produces?|grows?|infections?|bacteria)\b"
)
"""After the letter of a genus: "E. coli is …"."""
MENTION = re.compile(
    # Letters of scripts without blanks are words to `\w`, but an option may follow them.
    r"(?<![^\W\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af])(?<![.+])(?<!\w')(?<![A-Za-z]\()(?<![A-Z]-)"
    r"(?P<letter>[A-Z]|[b-hj-z](?=\s?[.)\]]{0,2}\s{0,3}$|\sis\s)|a(?=\)[.]?\s{0,3}$)|(?<=\bis\s)a(?=[.!]\s{0,3}$)"
    r"|(?<=\bis\s)[a-j](?=\)\s\w)|(?<=\bla\s)[a-j](?=\))|(?<=[(\[])[a-z](?=[)\]])|(?<=\b(?i:option|choice)\s)[a-j](?=[,;:]\s))"
    rf"(?![a-zA-Z0-9_+#]|'(?!d[iıuü]r\b)\w|\(\w{{1,3}}[),|/]|{OF_A_SPECIES})"
)
"""A letter that may name an option: a capital, or a small one where it ends the line or stands in brackets."""


def _own_part(sentence: str) -> str:
    """What is about the statement itself of the words before it: "While A seems right at first, the answer is …"."""
    start = max((found.end() for found in MENTION.finditer(sentence) if found["letter"] != "I"), default=0)
    ends = re.search("[,;]", sentence[start:])
    return sentence[start + ends.start() :] if start and ends else sentence


def meant(before: str, lead: str = "") -> bool:
    """Whether a statement stands on its own: no condition in its sentence, no doubt in its clause, nobody else's."""
    sentence = doubts.CONCLUSION.split(before)[-1]
    clause = doubts.CLAUSE.split(sentence)[-1]
    open_ended = "anything" in lead  # "It can't be anything other than B" denies the others.
    found = (
        doubts.CONDITION.search(sentence + lead),
        doubts.EARLIER.search(_own_part(sentence)),
        None if open_ended else doubts.DOUBT.search(clause),
        doubts.REPORTED.search(clause + lead),
    )
    return not any(found)
