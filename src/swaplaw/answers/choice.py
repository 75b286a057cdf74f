r"""Which option a completion names: strict, so that a vote is what the model said and never a guess of ours.

Only what is spoken counts: thinking is left out first (`spoken`). Then, in this order,

1. **declared** answers: the last line `ANSWER: X` (or `<answer>X</answer>`, or a field of JSON) and every `\boxed{X}`;
   all must name one option, and nothing said after them may name another;
2. answers **said** in a sentence ("the correct answer is (X)", "option X is correct", "I would choose X") or standing
   alone on a line; all must name one option. What is said weakly ("the capital is B", a letter left at the end of a
   line, what the answer would be otherwise) counts only where nothing else is said;
3. **marked** answers: one letter in bold, a first line `X) …` or a last one `… (X)` with no other label beside it;
4. **implied** answers: an option's own words after a list of the options, the only option that is named in the place
   of an answer (`conclusion`), the one that is left where all others are denied, the one given most of the shares.

Where these settle nothing, every clause that names an option is **weighed** (`weighing`).

A correction ("Actually, B", "wait, no: B") takes back what was stated before it. Anything else is no answer: two
options, a strong hedge ("A or B", "B?"), a condition ("if the answer is B"), a letter out of range, a letter that only
begins a text ("A man", "B-cells"). Small letters count where nothing else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from string import ascii_uppercase

from swaplaw.answers.replies import doubts, phrases, praise
from swaplaw.answers.replies.bare import bare_answer
from swaplaw.answers.replies.letters import LETTER, MENTION, UNSURE, meant, named, plain
from swaplaw.answers.replies.marks import first_below, marked, verdicts
from swaplaw.answers.replies.phrases import SEARCHED
from swaplaw.answers.replies.structured import as_lines, from_json
from swaplaw.answers.replies.thinking import spoken
from swaplaw.errors import InputError, quote

_MENTIONS = 400
"""Letters that are looked at in one line, from its end: nobody states an answer before this many others."""


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
    labels = _letters(options) if isinstance(options, int) else _labels(tuple(options))
    known = labels.meant.keys()
    if (bare := bare_answer(text)) is not None and labels.meant.get(bare) == bare:
        return bare
    found = _settled(labels.masked(spoken(text)), known)
    return labels.meant[found] if found in known else None


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
    """Labels as letters: those that are not letters are read through letters that stand for them."""

    meant: dict[str, str]
    words: re.Pattern[str] | None

    def masked(self, text: str) -> str:
        if self.words is None:
            return text
        hidden = re.sub(r"(?<!\w)[B-HJ-Z](?!\w)", "§", text)
        stand_ins = {label.casefold(): letter for letter, label in self.meant.items()}
        return self.words.sub(lambda word: stand_ins[word[0].casefold()], hidden)


def _letters(count: int) -> _Labels:
    return _Labels({letter: letter for letter in ascii_uppercase[:count]}, None)


@lru_cache(maxsize=64)
def _labels(labels: tuple[str, ...]) -> _Labels:
    folded = {label.casefold() for label in labels}
    if not labels or len(folded) < len(labels) or not all(label.strip() for label in labels):
        raise InputError(f"the labels are {quote(list(labels))}, expected different labels such as 'ABCD'")
    if all(re.fullmatch("[A-Za-z]", label) for label in labels):
        return _Labels({label.upper(): label for label in labels}, None)
    if len(labels) > len(_STAND_INS):
        raise InputError(f"{len(labels)} labels that are not letters are too many; at most {len(_STAND_INS)} are read")
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
    WEAK = auto()
    TAKEN_BACK = auto()
    DOUBTED = auto()


@dataclass(frozen=True)
class _Statement:
    kind: _Kind
    letter: str | None
    """None: an answer line without any letter, or words that take back what was stated."""
    decided: bool = False
    """Whether the speaker decides ("so I'll answer A"), which settles what was weighed before."""


def _settled(visible: str, known: Set[str]) -> str | None:
    """The one letter that the strongest kind of statement names."""
    is_json, answer = from_json(visible)
    if is_json:
        return (_agreed({named(plain(answer))}) or _settled(f"Answer: {answer}", known)) if answer else None
    statements = _standing(list(_statements(visible)))
    if statements and statements[-1].letter is None:
        return None
    stated = [statement for statement in statements if statement.letter is not None]
    if any(statement.letter in known for statement in stated):  # Other letters are names of other things.
        stated = [
            statement for statement in stated if statement.kind is _Kind.LINE or statement.letter in {*known, UNSURE}
        ]
    if any(statement.kind is not _Kind.WEAK for statement in stated):
        stated = [statement for statement in stated if statement.kind is not _Kind.WEAK]
    if stated and stated[-1].letter != UNSURE:  # "A or B? I'd say B" settles it.
        stated = [one for one in stated if one.letter != UNSURE or one.kind in (_Kind.LINE, _Kind.BOXED)]
    if stated and stated[-1].decided:
        stated = [one for one in stated if one.decided or one.kind in (_Kind.LINE, _Kind.BOXED)]
    kinds = [statement.kind for statement in stated]
    lines = [place for place, kind in enumerate(kinds) if kind is _Kind.LINE]
    declared = sorted({*lines[-1:], *(place for place, kind in enumerate(kinds) if kind is _Kind.BOXED)})
    if declared:
        after = [place for place in range(declared[-1], len(stated)) if kinds[place] is _Kind.SAID]
        return _agreed({stated[place].letter for place in (*declared, *after)})
    if any(statement.letter == UNSURE and statement.kind in (_Kind.LINE, _Kind.BOXED) for statement in stated):
        return None
    if not stated:
        return _implied(visible, known)
    return _agreed({one.letter for one in stated})


_SHARE = re.compile(r"(?<![\w'])[(\[]?([A-Z])[)\]]?\s?[:=-]?\s?\(?(\d{1,3}(?:\.\d{1,4})?)\s?%")


def _likeliest(visible: str, known: Set[str]) -> set[str]:
    """The option that is given more than half, where every option is given a share: "A: 5%, B: 80%, C: 10%, D: 5%"."""
    shares = {found[1]: float(found[2]) for found in _SHARE.finditer(visible[-SEARCHED:])}
    whole = known <= shares.keys() and 98 <= sum(shares.values()) <= 102
    return {letter for letter, share in shares.items() if whole and share > 50}


def _implied(visible: str, known: Set[str]) -> str | None:
    """What is not said but marked, or said in an option's own words, or left where all others are denied."""
    if doubts.REVISED.search(visible[-SEARCHED:]):
        return None
    for found in (marked, _likeliest):
        if len(letters := found(visible, known)) == 1:
            return _agreed(letters)
    return None


def _standing(statements: list[_Statement]) -> list[_Statement]:
    """What is left of statements after corrections: those after the last one that has any after it."""
    marks = (_Kind.TAKEN_BACK, _Kind.DOUBTED)
    stated = [place for place, statement in enumerate(statements) if statement.kind not in marks]
    if not stated:
        return []
    ended = [statement for statement in statements[stated[-1] + 1 :] if statement.kind is _Kind.TAKEN_BACK]
    if ended:
        return ended[:1]
    before = [place for place in range(stated[-1]) if statements[place].kind in marks]
    return [statements[place] for place in stated if not before or place > before[-1]]


def _agreed(letters: Set[str | None]) -> str | None:
    return next(iter(letters)) if len(letters) == 1 and UNSURE not in letters else None


def _statements(visible: str) -> Iterator[_Statement]:
    """Every statement, in the order in which they were made."""
    lines = [line for line in _BOX_END.sub("\\g<0>\n", as_lines(visible)).splitlines() if line.strip()]
    bare = [plain(line) for line in lines]
    judged = verdicts(bare)
    last_box = len(lines)
    for number, line in enumerate(bare):
        if number in judged:
            if judged[number]:
                yield _Statement(_Kind.SAID, judged[number])
            continue
        head = phrases.LINE.match(line) or phrases.INLINE.search(line)
        if head and not meant(line[: head.start()][-SEARCHED:]):
            continue  # "Common wrong answer: C".
        rest = line[head.end() :] if head else line
        if head:
            below = first_below(bare, number)
            kind = _Kind.WEAK if _YOURS.search(line[: head.end()]) else _Kind.LINE
            yield _Statement(kind, named(rest if rest.strip() else below) or _bracketed_last(rest))
        for content in _boxes(lines[number]):
            if boxed := named(plain(content)):
                if any(doubts.MENDED.search(between) for between in bare[last_box + 1 : number + 1]):
                    yield _Statement(_Kind.DOUBTED, None)
                yield _Statement(_Kind.BOXED, boxed)
                last_box = number
        yield from _said(rest, alone=head is None, all_there_is=len(bare) == 1)


_BOX_END = re.compile(r"\\boxed\s{0,3}\{[^{}\n]{0,60}\}\$?\.?(?=[^\n]{0,300}\\boxed)")
"""A box with another one after it in its line: what stands between them may be a correction."""
_YOURS = re.compile(r"\b(?:your|his|her|their|user's|student's|candidate's)\s\w{4,9}\W{0,3}$", re.IGNORECASE)
"""The head of a line that gives somebody else's answer, where another is given."""


def _bracketed_last(rest: str) -> str | None:
    """The only letter of an answer line, in brackets at its end: "Answer: the median (D)"."""
    found = re.search(r"\(([A-Z])\)[.!]?$", rest[-SEARCHED:])
    others = {mention["letter"] for mention in MENTION.finditer(rest[-SEARCHED:])}
    return found[1] if found and others == {found[1]} and meant(rest[-SEARCHED:][: found.start()]) else None


def _boxes(line: str) -> Iterator[str]:
    r"""What stands inside each `\boxed{…}`, braces within it included."""
    yield from re.findall(r"\\boxed\s{1,3}([A-Z])\b", line)
    yield from re.findall(r"\[\[([A-Z])\]\]", line)
    for box in re.finditer(r"(?<![Nn]ot \\)(?:boxed|fbox|framebox)\s{0,3}\{", line):
        depth, end = 1, box.end()
        for char in line[box.end() : box.end() + SEARCHED]:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                yield line[box.end() : end]
                break
            end += 1


# Sentences

_STATEMENT = re.compile(r"\bstatements?\s\(?$", re.IGNORECASE)
_GOES_ON = re.compile(r"[\w?+*#]")
_LONE = re.compile(r"(?<!\w)[A-H]\s{0,2}$")
_NEAR = 120
"""How far before a letter its lead may begin."""
_SHORT = 60
"""In so short a line, a small letter at the end is an option: "it's b"."""


def _said(line: str, *, alone: bool, all_there_is: bool) -> Iterator[_Statement]:
    """Statements in the sentences of a line, or a letter that is all of it."""
    bare = phrases.NUMBER.sub("", line, count=1) if alone and len(line) <= SEARCHED else line
    found = LETTER.match(bare) if alone and len(line) <= SEARCHED else None
    if found and not _GOES_ON.search(found["rest"]):
        if found["letter"].isupper() or found["close"] or all_there_is:
            yield _Statement(_Kind.SAID, found["letter"].upper())
        return
    if found and found["letter"].isupper() and phrases.TAIL.match(found["close"] + found["rest"]):
        yield _Statement(_Kind.SAID, found["letter"])
        return
    mentions = list(MENTION.finditer(line))[-_MENTIONS:]
    made = [(mention.start(), said) for mention in mentions if (said := _told(line, mention))]
    for mark in doubts.CORRECTION.finditer(line):
        made.append((mark.start(), _Statement(_Kind.TAKEN_BACK if mark["strong"] else _Kind.DOUBTED, None)))
    yield from (statement for _, statement in sorted(made, key=lambda pair: pair[0]))


def _told(line: str, mention: re.Match[str]) -> _Statement | None:
    """What a mention states, where the words around it state it as the answer."""
    start, small = mention.start(), mention["letter"].islower()
    if mention["letter"] == "I" and _STATEMENT.search(line[max(0, start - 20) : start]):
        return None  # "Statement I" is the first of several statements.
    before, after = line[max(0, start - SEARCHED) : start], line[mention.end() : mention.end() + SEARCHED]
    near = before[-_NEAR:]
    lead, kind = phrases.FREE.search(near), _Kind.SAID
    labelled = near[-1:] == "(" and after[:1] == ")" and _praised(near, after)  # "(a) is the only one that …".
    if lead is None and small and (len(line) > _SHORT or mention["letter"] == "i") and not labelled:
        return None
    if lead is None:
        lead, kind = _bound(near, after)
    if (phrases.EQUALLY.search(near) and phrases.ENDS.match(after)) or praise.AS_WELL.match(after):
        return _Statement(_Kind.SAID, UNSURE)
    if praise.SAYS_SO.search(near) and praise.SAYS.match(after) and "?" not in after:
        return _Statement(_Kind.SAID, mention["letter"].upper())
    if lead is not None:
        asked = (
            after.lstrip(" )]'")[:1] == "?"
            or (_ASKS.search(lead[0]) and _QUESTION.match(after))
            or phrases.REJECTED.match(after)
            or _at_first(after)
        )
        if asked or not meant(before[: len(before) - len(near) + lead.start()], lead[0]):
            return None
        stated = named(line[start - _opened(near) : start + SEARCHED]) or _with_text(before, mention["letter"], after)
        if stated is not None:
            return _Statement(kind, stated, decided=stated != UNSURE and _DECIDES.search(lead[0]) is not None)
    if not _praised(near, after) or not meant(before) or _granted(before, after) or _at_first(after):
        return None
    return _Statement(_Kind.SAID, UNSURE if praise.ALSO.match(after) else mention["letter"].upper())


_OWN_TEXT = re.compile(
    r"\s(?!(?:vitamin|cell|lymphocyte|major|minor|flat|sharp|movie|string)s?\b)(?P<text>[a-z]{2,20}(?:\s[a-z]{2,20}){0,2})[.!]?(?=\s[A-Z]|\s{0,3}$)"
)


def _with_text(before: str, letter: str, after: str) -> str | None:
    """The letter before its option's bare text: "I choose E pink", where "pink" was spoken of before without it."""
    text = _OWN_TEXT.match(after)
    if text is None or letter in "AI" or letter.islower():
        return None
    spoken_of = re.findall(rf"(\b[A-Z]\s)?\b{text['text']}\b", before, re.IGNORECASE)
    return letter if spoken_of and not any(spoken_of) else None


def _granted(before: str, after: str) -> bool:
    """Whether praise is only granted: "although B looks right, C is"."""
    sentence = doubts.CONCLUSION.split(before)[-1]
    return doubts.CONCESSION.search(sentence) is not None and "," in after.partition(".")[0]


def _at_first(after: str) -> bool:
    """Whether a letter was the answer only for a moment: "A seems right at first"."""
    return _FIRST_SIGHT.search(after[:40].partition(",")[0]) is not None


_NEXT_OPTION = re.compile(r"[^.;]{0,60}\bis\s(?:option|choice)\s\(?[A-Z]\b", re.IGNORECASE)
_FIRST_SIGHT = re.compile(r"\b(?:at\sfirst|initially|at\sa\sglance|on\sthe\ssurface)\b", re.IGNORECASE)
_OTHER_OPTION = re.compile(r"\b(?:option|choice)\s\(?[A-Z]\b[^.;]{0,60}$", re.IGNORECASE)
_ASKS = re.compile(r"\bis\sit\b", re.IGNORECASE)
_QUESTION = re.compile(r"[^.!?]{0,99}\?")
_LAST = re.compile(r"['\])>]{0,3}(?:,\sthen)?[.!]?\s{0,3}")
_DECIDES = re.compile(r"\b(?:I|we)\b(?!\s\w{1,12}\s(?:think|believe))|\b(?:my|final)\b", re.IGNORECASE)


def _bound(near: str, after: str) -> tuple[re.Match[str] | None, _Kind]:
    """A lead that counts where the letter ends its clause, and how strong it is."""
    if phrases.LINKED.search(near) or (phrases.ADDRESSED.search(near) and after[:1] == ","):
        return None, _Kind.SAID
    ends = phrases.ENDS.match(after)
    gap = phrases.ELSEWHERE.search(near) if ends or after[:1] == ")" or phrases.ABROAD.match(after) else None
    labelled = after[:1] == ")"  # "Hence (C) increase": what follows is the option's text.
    others = _OTHER_OPTION.search(near[:-8]) or _NEXT_OPTION.match(after)
    pointed = None if others or phrases.SPOKEN_OF.match(after) else phrases.NAMED_OPTION.search(near)
    if (ends or labelled) and (lead := phrases.BOUND.search(near)):
        return lead, _Kind.SAID
    if (ends or labelled) and pointed:
        # "Glycolysis (option A) occurs elsewhere" names an option in passing.
        return pointed, _Kind.SAID if ends or pointed[0][0] != "(" else _Kind.WEAK
    if gap and not (ends or labelled or gap["gap"].strip()):
        gap = None  # "вариант A относится к…" speaks of an option.
    if gap and not doubts.DOUBT.search(gap["gap"]) and not phrases.DENIED.search(gap["gap"]):
        return gap, _Kind.SAID
    if not ends:
        return None, _Kind.SAID
    related, weak = phrases.RELATES.search(near), phrases.IS.search(near)
    if related and not _LONE.search(near[: related.start("verb")]):
        return related, _Kind.SAID
    if weak and not phrases.TURNS.search(after):
        return weak, _Kind.WEAK
    alone = phrases.ALONE.search(near) if _LAST.fullmatch(after) or phrases.TAIL.match(after) else None
    if alone:
        return alone, _Kind.WEAK
    return None, _Kind.SAID


def _praised(near: str, after: str) -> bool:
    """Whether the words around a letter call it the right one: "option C is correct", "which makes C the answer"."""
    if phrases.LINKED.search(near):
        return False
    if phrases.OPTION.search(near):
        return any(words.match(after) for words in (praise.PRAISE, praise.FITS, praise.GLOWING))
    begins = near[-1:] in ("(", "[") or phrases.BEGINS.search(near) is not None
    return begins and any(words.match(after) for words in (praise.PRAISE, praise.FITS, praise.GLOWING))


def _opened(near: str) -> int:
    """How many characters right before a letter belong to it: brackets, quotes and the word "option"."""
    called = phrases.CALLED.search(near)
    return len(near) - (called.start() if called else len(near.rstrip("([<'")))
