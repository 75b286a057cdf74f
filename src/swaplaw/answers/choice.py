r"""Which option a completion names: strict, so that a vote is what the model said and never a guess of ours.

Only what is spoken counts: thinking is left out first (`spoken`). Then, in this order,

1. **declared** answers: the last line `ANSWER: X` (or `<answer>X</answer>`) and every `\boxed{X}`; all must name one
   option, and nothing said after them may name another;
2. answers **said** in a sentence ("the correct answer is (X)", "option X is correct", "I choose X") or standing alone
   on a line; all must name one option;
3. **marked** answers: one letter in bold, or a first line `X) …` with no other label below it.

Anything else is no answer: two options, a hedge ("A or B", "B?"), a condition ("if the answer is B"), a letter out of
range, a letter that only begins a text ("A man", "B-cells"). Small letters count where nothing else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from swaplaw.answers.forms import unicode

_SEARCHED = 300
"""No answer is longer: what a statement says is read so far, which also keeps the time linear."""
_LONGEST = 100_000
"""Completions are untrusted: of what is spoken, the end is read, and time does not depend on what a model says."""
_UNSURE = "?"
"""What a statement names that settles on no single option."""


def extract(text: str, options: int) -> int | None:
    r"""Return the position (from 0) of the option that a completion names, or None (`no_parse`).

    >>> extract("20 m/s times 15 s is 300 m.\nANSWER: C", 4)
    2
    >>> extract("<think>It is A.</think>The answer is **(B)**.", 4)
    1
    >>> extract("ANSWER: A or B", 4) is extract("ANSWER: E", 4) is None
    True
    """
    letter = _settled(spoken(text))
    position = None if letter is None else ord(letter) - ord("A")
    return position if position is not None and position < options else None


def letter(index: int) -> str:
    """Name the option at a position: A to Z, then 1, 2, … as Inspect does."""
    return chr(ord("A") + index) if index < 26 else str(index - 25)


# Thinking

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis|inner_monologue|cot)"
_TAG = re.compile(
    rf"<\s?(?P<slash>/?)\s?(?P<name>{_NAMES})(?:\s[^<>]{{0,200}})?>"
    r"|[\[◁](?P<slash2>/?)(?P<name2>think)[\]▷]"
    r"|<\|(?P<turn>begin|end)_of_thought\|>"
    # Channels of one message: only the final one is spoken.
    r"|(?P<channel><\|channel\|?>\s*(?:analysis|thought|commentary)\b)"
    r"|(?P<final><\|channel\|>\s*final\b)|(?P<pause><\|(?:end|return)\|>|<channel\|>)",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:end_of_turn|eos|bos|pad)>", re.IGNORECASE)


def spoken(text: str) -> str:
    """Leave out thinking: what stands between its tags, before a tag that only closes, after one that never closes."""
    kept: list[str] = []
    within: list[str] = []
    start = 0
    for tag in _TAG.finditer(text):
        if not within:
            kept.append(text[start : tag.start()])
        start = tag.end()
        name, closes = _read_tag(tag)
        if not closes:
            within.append(name)
        elif name in within:
            while within.pop() != name:
                pass
        elif not within and not tag["pause"]:
            kept.clear()  # The tag that opened it was in the prompt: all so far was thinking.
    if not within:
        kept.append(text[start:])
    return _TOKENS.sub("\n", "\n".join(kept)[-_LONGEST:])


def _read_tag(tag: re.Match[str]) -> tuple[str, bool]:
    """Which kind of thinking a tag bounds, and whether it closes it."""
    if tag["channel"] or tag["final"] or tag["pause"]:
        return "channel", not tag["channel"]
    if tag["turn"]:
        return "thought", tag["turn"].lower() == "end"
    return (tag["name"] or tag["name2"]).lower(), bool(tag["slash"] or tag["slash2"])


# Statements


class _Kind(Enum):
    LINE = auto()
    BOXED = auto()
    SAID = auto()


@dataclass(frozen=True)
class _Statement:
    kind: _Kind
    letter: str | None
    """None: an answer line without any letter."""


def _settled(visible: str) -> str | None:
    """The one letter that the strongest kind of statement names."""
    statements = list(_statements(visible))
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


def _agreed(letters: set[str | None]) -> str | None:
    return letters.pop() if len(letters) == 1 and _UNSURE not in letters else None


_ANSWER_TAG = re.compile(rf"<answer>(.{{0,{_SEARCHED}}}?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)


def _statements(visible: str) -> Iterator[_Statement]:
    """Every statement, in the order in which they were made."""
    tagged = _ANSWER_TAG.sub(lambda tag: f"\nANSWER: {' '.join(tag[1].split())}\n", visible)
    lines = [line for line in tagged.splitlines() if line.strip()]
    plain = [_plain(line) for line in lines]
    for number, line in enumerate(plain):
        head = _LINE.match(line) or _INLINE.search(line)
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
    for box in re.finditer(r"\\(?:boxed|fbox|framebox)\s{0,3}\{", line):
        depth, end = 1, box.end()
        for char in line[box.end() : box.end() + _SEARCHED]:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                yield line[box.end() : end]
                break
            end += 1


_WRAPPERS = re.compile(
    r"\\(?:boxed|fbox|framebox|text[a-z]*|math[a-z]+|operatorname|bf|rm|displaystyle)(?![a-z])\s?|\\[()\[\],;:! ]"
    r"|(?-i:</?(?:b|strong|i|em|code)>)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[*•>#-]+\s+)*")
_DRESS = str.maketrans("", "", '_$~{}"')


def _plain(line: str) -> str:
    """Take Markdown, LaTeX and double quotes off, and bring look-alike characters and white space together."""
    bare = unicode(_WRAPPERS.sub("", _BULLET.sub("", line.replace("`", ""), count=1))).translate(_DRESS)
    bare = " ".join(bare.split())
    # Emphasis comes in pairs; a star that is left over means something: A* is an algorithm.
    return bare.replace("*", "") if bare.count("*") % 2 == 0 else bare


# Letters

_LETTER = re.compile(
    r"[\s'(\[<]*(?:(?:the\s+)?(?:option|choice|letter|answer)\s+)?[\s'(\[<]*(?P<letter>[a-z])(?!\w)"
    r"(?P<close>['\])>]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
# After a link, another letter is another option; after none it may begin the option's text, as in "D) A and C".
_ANOTHER = re.compile(
    r"(?:\s*(?:[,;/&+|-]|(?:and/or|and|or|nor|vs\.?|versus)(?=\s))+\s*(?:(?:option|choice)\s+)?['(\[]*|\s*[(\[])"
    r"(?-i:(?P<letter>[A-Z]))(?=\s*(?:$|[\].,;:/&!?)'|+]|(?:and|or|are)\b))",
    re.IGNORECASE,
)
# "A) Paris or B) Rome": a second option is labelled as the first is.
_OR_LABELLED = re.compile(r"\b(?:or|and)\s+(?:option\s+|choice\s+)?[(\[]*(?P<letter>[A-Z])(?P<mark>[)\]:]|\.(?=\s+\S))")
_HEDGE = re.compile(
    r"[\s,;.(-]*(?:\?|(?:or|maybe|perhaps|possibly|probably|likely|if|unless|i\s+guess|i\s+am\s+not|i'm\s+not|not\s+sure"
    r"|unsure|uncertain|but\s+(?:maybe|perhaps|possibly|it\s+could|i'm|i\s+am))\b)",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"\s*[^\w?+*#-]*$|\s*[.!,;](?=\s|$)|\s*:|\s+(?:-+>?|=|→)\s|\s*\("
    r"|\s+(?:because|since|as|due|given|which|where|with|rather|instead|not|so|but|is\s+(?:the\s+)?(?:correct|right|best|final))\b",
    re.IGNORECASE,
)


def _named(content: str) -> str | None:
    """The letter that a statement's content begins with; unsure where it goes on to another, None where it has none."""
    found = _LETTER.match(content[:_SEARCHED])
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


_WORD = r"(?:answer|ans\.?|antwort|réponse|respuesta|risposta|resposta|jawaban|ответ|答案|回答|解答|答え|정답|답변)"
_FINAL = r"(?:(?:the|my|our|final|correct|best|right|most|appropriate)\s+)"
_SUBJECT = rf"(?:{_FINAL}*{_WORD}(?:\s+(?:choice|option|letter))?|{_FINAL}+(?:option|choice))"
_LONE = r"[(\['<]*[A-Z][)\]'>]*[.!]?\s*$"
_LINE = re.compile(
    rf"(?:(?:so|thus|therefore|hence)\b[\s,:]*)?{_SUBJECT}(?:\s*(?:\bis|是|为)?\s*[:=-]|是|为|\s+(?=(?-i:{_LONE})))",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\bANSWER\s?:|\b[Ff]inal [Aa]nswer\s?:|\banswer:(?=\s?[A-Z][\s,]*$)")

_SURELY = r"(?:\s+(?:clearly|definitely|indeed|therefore|thus|simply|obviously))?"
_TOLD = re.compile(
    rf"\b(?:answer|choice|option)(?:\s+here|\s+to\s+(?:this|the)\s+question)?"
    rf"(?:\s+(?:is|must\s+be|has\s+to\s+be|should\s+be|would\s+be){_SURELY}\s*[:,]?|\s?[:=])\s*"
    r"|\bI(?:'ll|'d|\s+will|\s+would|\s+therefore|\s+thus)?\s+"
    r"(?:choose|chose|pick|select|go\s+with|went\s+with|settle\s+on|vote\s+for)\s*:?\s*",
    re.IGNORECASE,
)
_PRAISED = re.compile(
    r"(?:\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+[('\[]*(?P<option>[A-Z])[)'\]]*\s+is\s+(?:the\s+)?(?:correct|right)\b"
    r"(?!\s+(?:only|if|in|that|about|when|for|but))"
    r"|(?<![\w'-])[('\[]{0,3}(?P<bare>[A-Z])[)'\]]*\s+is\s+the\s+(?:(?:correct|right|best|final|only)\s+){0,2}"
    r"(?:answer|option|choice)\b)(?!\s*\?)"
)
_LINKED = re.compile(r"\b(?:or|and|nor|neither)\s*$", re.IGNORECASE)
# A bare letter is an option where a clause begins with it: "so B is the answer", not "vitamin B is the answer".
_BEGINS = re.compile(
    r"(?:^|[.,:;!?-]|\b(?:so|therefore|thus|hence|that|then|think|believe|conclude))\s*$", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|whether|suppos\w*|assum\w*|unless|imagine)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|doubt|unlikely|maybe|perhaps|might|could|may|possibly|probably|neither)\b|n't\b",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(r"[.!?]|\b(?:so|therefore|thus|hence|but|because)\b", re.IGNORECASE)


def _said(line: str, *, alone: bool, all_there_is: bool) -> Iterator[_Statement]:
    """Statements in the sentences of a line, or a letter that is all of it."""
    found = _LETTER.match(line) if alone and len(line) <= _SEARCHED else None
    if found and found["rest"].strip() in ("", ".", "!"):
        if found["letter"].isupper() or found["close"] or all_there_is:
            yield _Statement(_Kind.SAID, found["letter"].upper())
        return
    told: list[tuple[int, str]] = []
    for match in _TOLD.finditer(line):
        content = line[match.end() : match.end() + _SEARCHED]
        named = _named(content)
        letter = _LETTER.match(content)
        # In a sentence, "a" and "i" are words.
        if named and letter and (letter["letter"] not in "ai" or letter["close"]) and letter["rest"].strip()[:1] != "?":
            told.append((match.start(), named))
    for match in _PRAISED.finditer(line):
        before = line[max(0, match.start() - _SEARCHED) : match.start()]
        if not _LINKED.search(before) and (match["option"] or match[0][0] in "([" or _BEGINS.search(before)):
            told.append((match.start(), match["option"] or match["bare"]))
    for start, named in sorted(told):
        if _meant(line[max(0, start - _SEARCHED) : start]):
            yield _Statement(_Kind.SAID, named)


def _meant(before: str) -> bool:
    """Whether a statement stands on its own: no condition in its sentence, no doubt in its clause."""
    sentence = _CONCLUSION.split(before)[-1]
    return not _CONDITION.search(sentence) and not _DOUBT.search(re.split(r"[,;:]|\band\b", sentence)[-1])


# Marks

_BOLD = re.compile(
    r"(\*\*|__)\s?(?:[Oo]ption\s)?[(\[]?(?P<letter>[A-Z])(?:[)\].:]{0,2}\s?|[)\].:]{1,2}\s[^*_\n]{0,200})\1"
    r"|<(b|strong)>\s?[(\[]?(?P<html>[A-Z])[)\].:]{0,2}\s?</\3>"
)
_LABEL = re.compile(r"[(\[]?(?P<letter>[A-Z])(?:[)\]]|\.(?=\s)|:(?=\s)(?!\s[A-Z]\b))\s*\S")


def _marked(visible: str) -> set[str | None]:
    """Letters in bold, and labels of lines where the first line has one."""
    marked: set[str | None] = {bold["letter"] or bold["html"] for bold in _BOLD.finditer(visible)}
    labels = [_LABEL.match(_plain(line)) for line in visible.splitlines() if line.strip()]
    return marked | {label["letter"] for label in labels if label and labels[0]}
