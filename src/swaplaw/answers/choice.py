r"""Which option a completion names: strict, so that a vote is what the model said and never a guess of ours.

Only what is spoken counts: thinking is left out first (`spoken`). Then, in this order,

1. **declared** answers: the last line `ANSWER: X` (or `<answer>X</answer>`, or a field of JSON) and every `\boxed{X}`;
   all must name one option, and nothing said after them may name another;
2. answers **said** in a sentence ("the correct answer is (X)", "option X is correct", "I would choose X") or standing
   alone on a line; all must name one option;
3. **marked** answers: one letter in bold, a first line `X) …` or a last one `… (X)` with no other label beside it.

A correction ("Actually, B", "wait, no: B") takes back what was stated before it. Anything else is no answer: two
options, a hedge ("A or B", "B?"), a condition ("if the answer is B"), a letter out of range, a letter that only begins
a text ("A man", "B-cells"). Small letters count where nothing else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from swaplaw.answers import phrases
from swaplaw.answers.characters import unify
from swaplaw.answers.phrases import SEARCHED
from swaplaw.answers.structured import as_lines, from_json
from swaplaw.answers.thinking import spoken
from swaplaw.errors import InputError, quote

_UNSURE = "?"
"""What a statement names that settles on no single option."""
_MENTIONS = 400
"""Letters that are looked at in one line, from its end: nobody states an answer before so many others."""


def read_choice(text: str, options: int | Sequence[str]) -> str | None:
    r"""Return the label of the option that a completion names, or None where it names no single one.

    Parameters
    ----------
    text : str
        The completion, thinking included.
    options : int or sequence of str
        How many options there are (they are then A, B, C, …), or their labels, such as "ABCD" or ["yes", "no"].

    Returns
    -------
    str or None
        One of the labels; None is an abstention, never a guess.

    Raises
    ------
    InputError
        If the labels are not different, or too many.

    Examples
    --------
    >>> read_choice("20 m/s times 15 s is 300 m.\nANSWER: C", 4)
    'C'
    >>> read_choice("<think>It is A.</think>The answer is A. Wait, no: **(B)**.", 4)
    'B'
    >>> read_choice("ANSWER: A or B", 4) is read_choice("ANSWER: E", 4) is None
    True
    >>> read_choice("I would say yes.", ["yes", "no"])
    'yes'
    """
    if isinstance(options, int):
        found = _settled(spoken(text))
        return found if found is not None and ord(found) - ord("A") < options else None
    labels = _labels(tuple(options))
    said = spoken(text)
    found = _settled(labels.masked(said))
    return labels.meant.get(found) if found is not None else None


def letter(index: int) -> str:
    """Name the option at a position: A to Z, then 1, 2, … as Inspect does."""
    return chr(ord("A") + index) if index < 26 else str(index - 25)


def check_labels(labels: Sequence[str]) -> None:
    """Refuse labels that could not be told apart."""
    _labels(tuple(labels))


# Labels other than A, B, C, …

_STAND_INS = "BCDEFGHJKLMNOPQRSTUVWXYZ"
"""Letters that stand for labels that are words or numbers: "A" and "I" are words themselves."""


@dataclass(frozen=True)
class _Labels:
    """Labels as letters: those that are no letters are read through letters that stand for them."""

    meant: dict[str, str]
    words: re.Pattern[str] | None

    def masked(self, text: str) -> str:
        if self.words is None:
            return text
        hidden = re.sub(r"(?<!\w)[B-HJ-Z](?!\w)", "§", text)
        stand_ins = {label.casefold(): letter for letter, label in self.meant.items()}
        return self.words.sub(lambda word: stand_ins[word[0].casefold()], hidden)


@lru_cache(maxsize=64)
def _labels(labels: tuple[str, ...]) -> _Labels:
    folded = {label.casefold() for label in labels}
    if not labels or len(folded) < len(labels) or not all(label.strip() for label in labels):
        raise InputError(f"the labels are {quote(list(labels))}, expected different labels such as 'ABCD'")
    if all(re.fullmatch("[A-Za-z]", label) for label in labels):
        return _Labels({label.upper(): label for label in labels}, None)
    if len(labels) > len(_STAND_INS):
        raise InputError(f"{len(labels)} labels that are no letters are too many; at most {len(_STAND_INS)} are read")
    words = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    return _Labels(
        dict(zip(_STAND_INS, labels, strict=False)),
        re.compile(rf"(?<![\w.])(?:{words})(?![\w%]|[.,]\d)", re.IGNORECASE),
    )


# Statements


class _Kind(Enum):
    LINE = auto()
    BOXED = auto()
    SAID = auto()
    TAKEN_BACK = auto()
    DOUBTED = auto()


@dataclass(frozen=True)
class _Statement:
    kind: _Kind
    letter: str | None
    """None: an answer line without any letter, or words that take back what was stated."""


def _settled(visible: str) -> str | None:
    """The one letter that the strongest kind of statement names."""
    is_json, answer = from_json(visible)
    if is_json:
        return _agreed({_named(_plain(answer))}) if answer else None
    statements = _standing(list(_statements(visible)))
    if statements and statements[-1].letter is None:
        return None
    stated = [statement for statement in statements if statement.letter is not None]
    kinds = [statement.kind for statement in stated]
    lines = [place for place, kind in enumerate(kinds) if kind is _Kind.LINE]
    declared = sorted({*lines[-1:], *(place for place, kind in enumerate(kinds) if kind is _Kind.BOXED)})
    if declared:
        after = [place for place in range(declared[-1], len(stated)) if kinds[place] is _Kind.SAID]
        return _agreed({stated[place].letter for place in (*declared, *after)})
    return _agreed({statement.letter for statement in stated}) if stated else _agreed(_marked(visible))


def _standing(statements: list[_Statement]) -> list[_Statement]:
    """What is left of statements after corrections: those after the last one that has any after it."""
    marks = (_Kind.TAKEN_BACK, _Kind.DOUBTED)
    for place in range(len(statements) - 1, -1, -1):
        if statements[place].kind not in marks:
            continue
        after = [statement for statement in statements[place:] if statement.kind not in marks]
        if after:
            return after
        if statements[place].kind is _Kind.TAKEN_BACK and any(one.kind not in marks for one in statements[:place]):
            return [statements[place]]
    return [statement for statement in statements if statement.kind not in marks]


def _agreed(letters: set[str | None]) -> str | None:
    return letters.pop() if len(letters) == 1 and _UNSURE not in letters else None


def _statements(visible: str) -> Iterator[_Statement]:
    """Every statement, in the order in which they were made."""
    lines = [line for line in as_lines(visible).splitlines() if line.strip()]
    plain = [_plain(line) for line in lines]
    verdicts = _verdicts(plain)
    for number, line in enumerate(plain):
        if number in verdicts:
            if verdicts[number]:
                yield _Statement(_Kind.SAID, verdicts[number])
            continue
        head = phrases.LINE.match(line) or phrases.INLINE.search(line)
        rest = line[head.end() :] if head else line
        if head:
            below = plain[number + 1] if number + 1 < len(plain) else ""
            yield _Statement(_Kind.LINE, _named(rest if rest.strip() else below))
        for content in _boxes(lines[number]):
            if boxed := _named(_plain(content)):
                yield _Statement(_Kind.BOXED, boxed)
        yield from _said(rest, alone=head is None, all_there_is=len(plain) == 1)


def _boxes(line: str) -> Iterator[str]:
    r"""What stands inside each `\boxed{…}`, braces within it included."""
    for box in re.finditer(r"(?:boxed|fbox|framebox)\s{0,3}\{", line):
        depth, end = 1, box.end()
        for char in line[box.end() : box.end() + SEARCHED]:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                yield line[box.end() : end]
                break
            end += 1


_WRAPPERS = re.compile(
    r"\\?(?:boxed|fbox|framebox)(?=\s{0,3}\{)\s?|\\(?:text[a-z]*|math[a-z]+|operatorname|bf|rm|large|Large|huge|displaystyle)(?![a-z])\s?"
    r"|\\(?:color(?:box)?|textcolor)\s?\{[a-z]{1,20}\}|\\[()\[\],;:! ]|(?-i:</?(?:b|strong|i|em|code|u|mark)>)",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]{0,80}~~|<(s|del|strike)>[^<\n]{0,80}</\1>")
_BULLET = re.compile(r"\s{0,99}(?:[*•>#-]{1,9}\s{1,9}){0,9}")
_DRESS = str.maketrans(
    dict.fromkeys('_$~{}"') | dict(zip("【】「」『』〔〕〈〉《》。、", "()()()()()().,", strict=True))
)
_POINTERS = re.compile(
    r"^[\s→➜⇒=>▶►•·☞👉✅✔✓☑-]{1,9}(?=[(\[*']{0,3}(?:[A-Z]\b|[Oo]ption|[Aa]nswer|[Cc]orrect|[Ff]inal))"
)


def _plain(line: str) -> str:
    """Take Markdown, LaTeX and double quotes off, and bring look-alike characters and white space together."""
    shown = _BULLET.sub("", _STRUCK.sub(" ", line).replace("`", ""), count=1)
    bare = " ".join(unify(_WRAPPERS.sub("", shown)).translate(_DRESS).split())
    # Emphasis comes in pairs; a star that is left over means something: A* is an algorithm.
    return _POINTERS.sub("", bare.replace("*", "") if bare.count("*") % 2 == 0 else bare)


# Letters

_LETTER = re.compile(
    r"[\s'(\[<]{0,9}(?:(?:the\s)?(?:answer\s)?(?:option|choice|letter|answer)\s)?[\s'(\[<]{0,9}(?P<letter>[a-z])(?![a-z0-9_])"
    r"(?P<close>['\])>]{0,9})(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
# After a link, another letter is another option; after none it may begin the option's text, as in "D) A and C".
_ANOTHER = re.compile(
    r"(?:\s{0,3}(?:[,;/&+|-]|(?:and/or|and|or|nor|vs\.?|versus|oder|ou|或|to|bis)(?=\s|[A-Z])){1,3}\s{0,3}(?:(?:option|choice)\s)?['(\[]{0,3}|\s{0,3}[(\[])"
    r"(?-i:(?P<letter>[A-Z]))(?=\s{0,3}(?:$|[\].,;:/&!?)'|+]|(?:and|or|are|oder|ou)\b))",
    re.IGNORECASE,
)
# "A) Paris or B) Rome": a second option is labelled as the first is.
_OR_LABELLED = re.compile(
    r"\b(?:or|and)\s(?:option\s|choice\s)?[(\[]{0,3}(?P<letter>[A-Z])(?P<mark>[)\]:]|\.(?=\s{1,3}\S))"
)
_HEDGE = re.compile(
    r"[\s,;.(-]{0,9}(?:\?|(?:or|maybe|perhaps|possibly|probably|likely|if|unless|i\sguess|i\sam\snot|i'm\snot|not\ssure"
    r"|unsure|uncertain|but\s(?:maybe|perhaps|possibly|it\scould|i'm|i\sam))\b)",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"\s?[^\w?+*#-]{0,9}$|\s?[.!,;|](?=\s|$)|\s?:|\s(?:-{1,2}>?|=|→)\s|\s?\(|\s?(?:です|입니다|है)"
    r"|\s(?:because|since|as|due|given|which|where|with|rather|instead|not|so|but|for|is\s(?:the\s)?(?:correct|right|best|final))\b",
    re.IGNORECASE,
)


def _named(content: str) -> str | None:
    """The letter that a statement's content begins with; unsure where it goes on to another, None where it has none."""
    found = _LETTER.match(content[:SEARCHED])
    if found is None:
        return None
    letter, rest = found["letter"], found["rest"]
    bracketed = bool({")", "]"} & set(found["close"]))
    if letter.islower() and not bracketed and rest.strip(" .!"):
        return None
    if not bracketed and not _HEDGE.match(rest) and not _ANOTHER.match(rest) and not _FOLLOWS.match(rest):
        return None
    mark = found["close"][-1:] if bracketed else rest[:1]
    labelled = [other for other in _OR_LABELLED.finditer(rest) if other["mark"] == mark]
    others = {other["letter"] for other in (_ANOTHER.match(rest), *labelled) if other}
    if _HEDGE.match(rest) or others - {letter.upper()}:
        return _UNSURE
    return letter.upper()


_MENTION = re.compile(
    r"(?<![\w.+])(?<!\w')(?P<letter>[A-Z]|[b-hj-z](?=\s?[.)\]]?\s{0,3}$)|(?<=[(\[])[a-z](?=[)\]]))(?![a-zA-Z0-9_+#]|'\w)"
)


def _said(line: str, *, alone: bool, all_there_is: bool) -> Iterator[_Statement]:
    """Statements in the sentences of a line, or a letter that is all of it."""
    bare = phrases.NUMBER.sub("", line, count=1) if alone and len(line) <= SEARCHED else line
    found = _LETTER.match(bare) if alone and len(line) <= SEARCHED else None
    if found and found["rest"].strip(" ✅✔✓☑👍🎯") in ("", ".", "!", ":"):
        if found["letter"].isupper() or found["close"] or all_there_is:
            yield _Statement(_Kind.SAID, found["letter"].upper())
        return
    mentions = list(_MENTION.finditer(line))[-_MENTIONS:]
    told = [(mention.start(), named) for mention in mentions if (named := _told(line, mention))]
    marks = [(mark.start(), mark) for mark in phrases.CORRECTION.finditer(line)]
    kept: list[tuple[int, _Statement]] = [(start, _Statement(_Kind.SAID, named)) for start, named in told]
    for start, mark in marks:
        kept.append((start, _Statement(_Kind.TAKEN_BACK if mark["strong"] else _Kind.DOUBTED, None)))
    yield from (statement for _, statement in sorted(kept, key=lambda pair: pair[0]))


def _told(line: str, mention: re.Match[str]) -> str | None:
    """The letter of a mention, where the words around it state it as the answer."""
    start, end = mention.start(), mention.end()
    before, after = line[max(0, start - SEARCHED) : start], line[end : end + SEARCHED]
    near = before[-120:]
    letter = mention["letter"].upper()
    if lead := phrases.FREE.search(near):
        named = _named(line[start - _opened(near) : start + SEARCHED])
        if named and after.lstrip(" )]'")[:1] != "?":
            return named if _meant(before[: len(before) - len(near) + lead.start()]) else None
        return None
    if not mention["letter"].isupper():
        return None
    lead = phrases.BOUND.search(near) or phrases.NAMED_OPTION.search(near)
    if lead and phrases.ENDS.match(after) and not phrases.LINKED.search(near):
        named = _named(line[start - _opened(near) : start + SEARCHED])
        return named if named and _meant(before[: len(before) - len(near) + lead.start()]) else None
    praised = phrases.PRAISE.match(after) or (phrases.ONLY.search(near) and phrases.REMAINS.match(after))
    if (
        praised
        and not phrases.LINKED.search(near)
        and (phrases.OPTION.search(near) or phrases.BEGINS.search(near) or near[-1:] in "([")
    ):
        return letter if _meant(before) else None
    return None


def _opened(near: str) -> int:
    """How many brackets and quotes stand right before a letter."""
    return len(near) - len(near.rstrip("([<'"))


def _meant(before: str) -> bool:
    """Whether a statement stands on its own: no condition in its sentence, no doubt in its clause."""
    sentence = phrases.CONCLUSION.split(before)[-1]
    return not phrases.CONDITION.search(sentence) and not phrases.DOUBT.search(phrases.CLAUSE.split(sentence)[-1])


# Verdicts

_GOOD = r"✅|✔|✓|☑|correct|right|true|yes"
_BAD = r"❌|✗|✘|✖|×|incorrect|wrong|false|no|not correct|not right"
_VERDICT = re.compile(
    rf"(?:option\s|choice\s)?[(\[]?(?P<letter>[A-Z])(?![\w'])[)\].:]{{0,2}}(?:\sis)?(?P<text>.{{0,{SEARCHED}}}?)"
    rf"[\s:,(|-]{{0,5}}(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))[\s.!)|]{{0,4}}\ufe0f?$",
    re.IGNORECASE,
)


def _verdicts(lines: list[str]) -> dict[int, str]:
    """Lines that judge one option each ("C: correct"), where at least two do: the letter judged right, or nothing."""
    found = {
        number: verdict
        for number, line in enumerate(lines)
        if len(line) <= SEARCHED and (verdict := _VERDICT.match(line))
    }
    if len({verdict["letter"] for verdict in found.values()}) < 2:
        return {}
    return {number: verdict["letter"].upper() if verdict["good"] else "" for number, verdict in found.items()}


# Marks

_BOLD = re.compile(
    r"(\*\*|__)\s?(?:[Oo]ption\s)?[(\[]?(?P<letter>[A-Z])(?:[)\].:]{0,2}\s?|[)\].:]{1,2}\s[^*_\n]{0,200})\1"
    r"|<(b|strong)>\s?[(\[]?(?P<html>[A-Z])[)\].:]{0,2}\s?</\3>"
)
_LABEL = re.compile(
    r"(?:(?:[Oo]ption|[Cc]hoice)\s)?[(\[]?(?P<letter>[A-Z]|[a-z](?=\)))"
    r"(?:[)\]]|\.(?=\s)|\.(?=[A-Z][a-z])|:(?=\s)(?!\s[A-Z]\b)|\s-{1,2}\s(?![A-Z]\b)|,\s(?=[A-Z][a-z]|because)|\s\((?![A-Z]\))"
    r"|\s(?=because\b|since\b|as it\b))\s{0,3}\S"
)
_INNER = re.compile(r"(?<![\w'])[(\[]?(?P<letter>[A-Z])(?:[)\]]|[.:]\s)")
_TRAIL = re.compile(
    r"(?:[(\[](?:option\s|choice\s)?(?P<letter>[A-Z])[)\]]|\s[-→⇒]\s{0,2}(?P<bare>[A-Z]))[.!]?\s?$"
    r"|(?<=[.!]\s)(?P<last>[A-Z])[.!]?$",
    re.IGNORECASE,
)


def _marked(visible: str) -> set[str | None]:
    """Letters in bold, labels of lines where the first line has one, and a letter that ends the last line."""
    marked: set[str | None] = {bold["letter"] or bold["html"] for bold in _BOLD.finditer(visible)}
    plain = [line for raw in visible.splitlines() if (line := _plain(raw))]
    labels = [_LABEL.match(line) for line in plain]
    marked |= {label["letter"].upper() for label in labels if label and labels[0]}
    if marked and labels[0] and (rest := plain[0][labels[0].end() - 1 : SEARCHED]):
        marked |= {inner["letter"] for inner in _INNER.finditer(rest)} if len(plain) == 1 else set()
    return marked or (_trailing(plain[-1]) if plain else set())


def _trailing(line: str) -> set[str | None]:
    found = _TRAIL.search(line[-SEARCHED:])
    letter = found and (found["letter"] or found["bare"] or found["last"])
    if not found or not letter or not letter.isupper() or not _meant(line[-SEARCHED:][: found.start()]):
        return set()
    others = {mention["letter"] for mention in _MENTION.finditer(line[-SEARCHED:]) if mention["letter"] not in "AIai"}
    return {letter} if others <= {letter} else set()
