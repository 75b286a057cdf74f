r"""Which option a completion names: strict, so that a vote is what the model said and never a guess of ours.

Only what is spoken counts: thinking is left out first. A last line that declares the answer settles it at once
(`declared`). Else the reply becomes a string of word classes (`lexicon`), and each letter in it states something by the
words before and after it, in this order:

1. **declared**: a line `ANSWER: X`, a box, a tag or a field of JSON; all must name one option, and nothing said later
   may name another;
2. **said**: "the correct answer is X", "I would choose X", "so X", or a letter alone on a line; all must agree;
3. **praised**: "X is correct", "only X fits"; all must agree;
4. **named**: "the capital is X", where the sentence ends with it;
5. **marked**: one letter in bold, the label of the first or last line, where no other line has one.

A correction ("wait", "actually") takes back what was stated before it. Two options, a strong hedge ("A or B", "maybe
B", "B?"), a condition, a denial, somebody else's answer, or a letter out of range are no answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum

from swaplaw.answers.characters import latin, unify
from swaplaw.answers.letters import Labels, labels_of, texts_of
from swaplaw.answers.lexicon import classified
from swaplaw.answers.structured import as_lines
from swaplaw.answers.thinking import spoken

_MENTIONS = 300
"""Letters that are looked at, from the end: nobody states an answer before this many others."""
_SHORT = 30
"""In so few words, a small letter is an option: "its b"."""
_UNSURE = "?"
"""What a statement names that settles on no single option."""


def read_choice(text: str, options: int | Sequence[str], texts: Sequence[str] | None = None) -> str | None:
    r"""Return the label of the option that a completion names, or None where it names no single one.

    Parameters
    ----------
    text : str
        The completion, thinking included.
    options : int or sequence of str
        How many options there are (they are then A, B, C, …), or their labels, such as "ABCD" or ["yes", "no"].
    texts : sequence of str, optional
        What the options say, in order. Their words are then no verdicts on other options, and where a reply states no
        letter, it may state an option's text.

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
    >>> read_choice("I would say yes.", 3, texts=["yes", "no", "maybe"])
    'A'
    """
    labels = labels_of(options)
    if (at_once := _declared(text, labels)) is not None:
        return at_once
    said = spoken(text)
    if texts is not None and (known := texts_of(tuple(texts), tuple(labels.meant.values()))) is not None:
        found = _settled(labels.masked(known.hidden(said)), labels.meant.keys())
        if found is None:
            by_text = _settled(known.labels.masked(said), known.labels.meant.keys())
            return known.letters[known.labels.meant[by_text]] if by_text in known.labels.meant else None
    else:
        found = _settled(labels.masked(said), labels.meant.keys())
    return labels.meant.get(found or "")


# Declared at once

_LAST = re.compile(
    r"(?:^|\n)[ \t>*_#]{0,9}(?:(?:(?:the )?(?:final|correct) )?answer(?: is)?[ :*_]{1,9}|(?P<box>\$?\\boxed\{))?"
    r"[(*_]{0,3}(?P<letter>[A-Z])(?(box)\}\$?)(?:[)_. \t]|\*\*){0,9}\s{0,99}\Z",
    re.IGNORECASE,
)
_LATE = 200
_STATES = re.compile(
    r"answer|boxed|\n\s{0,9}q[^\n]{0,20}:|\"|[<\[]\s?[/|]?[a-z]|wait|actually|here(?: is|'s) my|^analysis|[^\x00-\x7f]",
    re.IGNORECASE,
)
_HEADED = re.compile(r"answer|boxed", re.IGNORECASE)


def declared(text: str, options: int | Sequence[str]) -> str | None:
    """Return the label that a reply's last line declares, where nothing else in it could change that; None otherwise.

    It costs a small part of `read_choice`, never differs from it where it gives a label, and settles almost every
    reply to a prompt that asks for a last line `ANSWER: X`. A server can call it on its event loop, and read only the
    rest of the replies elsewhere.

    >>> declared("20 m/s times 15 s is 300 m.\\nANSWER: C", 4), declared("It must be C.", 4)
    ('C', None)

    Parameters
    ----------
    text : str
        The completion.
    options : int or sequence of str
        How many options there are, or their labels.
    """
    return _declared(text, labels_of(options))


def _declared(text: str, labels: Labels) -> str | None:
    found = _LAST.search(text[-_LATE:]) if labels.words is None else None
    if found is None or not found["letter"].isupper():
        return None
    start = max(0, len(text) - _LATE) + found.start()
    alone = not text[:start].strip()
    if not alone and (not _HEADED.search(found[0]) or _STATES.search(text, 0, start)):
        return None
    return labels.meant.get(found["letter"])


# Undressing

_LATEX = re.compile(
    r"\\(?:text[a-z]*|math[a-z]+|bold(?:symbol|math)?|bm|mbox|operatorname|underline|bf|rm|[lL]arge|LARGE|huge)(?![a-z])\s?"
    r"|\\(?:displaystyle|quad|qquad)(?![a-z])|\\(?:color(?:box)?|textcolor)\s?\{[a-z]{1,20}\}"
    r"|\\(?:begin|end)\{[a-z*]{1,20}\}|\\[\[\]()!,;: ]"
)
_ANGLED = re.compile("<([A-Z])>")
_HTML = re.compile(r"</?(?:b|strong|i|em|code|u|mark|p|div|span|li|h[1-6])>")
_STRUCK = re.compile(r"~~[^~\n]{0,80}~~|<(s|del|strike)>[^<\n]{0,80}</\1>")
_BOX = re.compile(
    r"(?<![Nn]ot )(?<!\w)\\?(?:boxed|fbox|framebox)\s{0,3}"
    r"(?:\{([^{}\n]{0,300}(?:\{[^{}\n]{0,200}\}[^{}\n]{0,99}){0,3})\}|([A-Z])\b)"
)
_BRACES = re.compile(r"\{[\s{]{1,9}|\}[\s}]{1,9}(?=\})|\s{1,9}\}")
_DOUBLE = re.compile(r"\[\[([A-Z])\]\]")
_STARS = re.compile(r"\*{1,3}([^*\n]{1,300})\*{1,3}")
_NEXT = re.compile(r"\n\s{0,9}#{0,4}\s?(?:Question|Q)\s?\d{0,3}:(?!\s{0,9}\*{0,2}[(]?[A-Z]\b)")


def _plain(text: str) -> str:
    """Take Markdown, LaTeX and tags off; what stood in bold or in a box is marked."""
    if not text.isascii():
        text = latin(unify(text.replace("【", "(").replace("】", ")").replace("「", "(").replace("」", ")")))
    if (asked := _NEXT.search(text)) and text[: asked.start()].strip():
        text = text[: asked.start()]  # It runs on to a question of its own making.
    text = as_lines(text)
    if "\\" in text or "[[" in text or "boxed" in text:
        text = _BRACES.sub(lambda found: found[0].strip()[0], _LATEX.sub(" ", text))
        text = _DOUBLE.sub("\n\x03 \\1\n", _BOX.sub("\n\x03 \\1\\2\n", text))
    if "<" in text or "~~" in text:
        text = _ANGLED.sub("(\\1)", _HTML.sub("", _STRUCK.sub(" ", text)))
    if "*" in text:
        text = _STARS.sub("\x02\\1\x02", text)
    return text


# Letters among words

_WORDLIKE = set("qwtNOBZGXCTSPJroimecsbkUhuvz!&|")
_AFTER_A = set("qy|&bcms!BvkXJzNOh")


@dataclass
class _Words:
    """A reply as classes of words, with the places of its letters."""

    classes: str
    tokens: list[str]
    bold: set[int]
    only: bool
    """Whether a single option is named in all of it."""

    def letter(self, place: int) -> str:
        return self.tokens[place].upper()


def _words(text: str, known: Collection[str]) -> _Words:
    """Say which single letters are options, and set those apart that are dressed as labels."""
    tokens, classes = classified(text)
    kept = [place for place, kind in enumerate(classes) if kind]
    tokens, classes = [tokens[place] for place in kept], [classes[place] for place in kept]
    tokens, classes = ["\n", *tokens, "\n", "\n"], ["\n", *classes, "\n", "\n"]
    places = [place for place, kind in enumerate(classes) if kind in "Ll"]
    for place in places[:-_MENTIONS]:
        classes[place] = "w"
    bold: set[int] = set()
    for place in places[-_MENTIONS:]:
        classes[place] = _mention(tokens, classes, place, known)
        if classes[place] == "D" and classes[place - 1] == "*":
            bold.add(place)
    kept = [place for place, kind in enumerate(classes) if kind not in ("", "*")]
    moved = {old: new for new, old in enumerate(kept) if old in bold}
    named = {tokens[place].upper() for place in places[-_MENTIONS:] if classes[place] in "LD"}
    shown = "".join([classes[place] for place in kept])
    return _Words(shown, [tokens[place] for place in kept], set(moved.values()), len(named) == 1)


def _mention(tokens: list[str], classes: list[str], place: int, known: Collection[str]) -> str:
    """The class of a single letter: an option, bare (`L`) or set apart (`D`); another name (`M`); or a word."""
    token, before, after = tokens[place], classes[place - 1], classes[place + 1]
    if before == "u" or (before in "&,|" and classes[place - 2] == "M"):
        return "M"
    starts = before == "\n" or (before in "-*(#" and classes[place - 2] == "\n")
    dressed = (
        after == ")"
        or (before == "*" and after in "*.:)")
        or (starts and after in ".:-" and classes[place + 2] not in ("\n", "=", "."))
    )
    if token in "AI" and not dressed and before not in "O(":
        word = after in _WORDLIKE and tokens[place + 1][:1].islower()
        if token == "I" and (word or after in ",CTkqmr"):
            return "S"
        if token == "A" and word and after not in _AFTER_A:
            return "t"
    if token == "I" and tokens[place - 1].lower().startswith("statement"):
        return "M"
    if token.upper() not in known:
        return "M" if token.isupper() else "w"
    if token.islower():
        short = len(tokens) < _SHORT
        ends = after in "\n.,;*y" and (before in "BZ:*C(JN#" or (short and before in "\nTtr"))
        option = before == "O" or (starts and after in "yB" and short)
        if not dressed and not ((option or ends) and (token not in "ai" or (len(tokens) < 6 and before in "\nB"))):
            return "w"
    if not dressed:
        return "L"
    if before == "(" and after == ")":
        classes[place - 1] = ""
    if after in ").:":
        classes[place + 1] = ""
    return "D"


# Statements


class _Level(IntEnum):
    """How plainly something is stated: what is stated more plainly counts, and the rest does not."""

    NAMED = 1
    PRAISED = 2
    SAID = 3
    DECLARED = 4


@dataclass(frozen=True)
class _Statement:
    place: int
    level: _Level
    letter: str
    """`_UNSURE` where it settles on no single option; empty where what was stated is taken back."""


_F = "[trOoN:(]"
_STRONG = re.compile(
    rf"XOB[trO:(]{{0,2}}$|[NOZ][^.?;\nLDM!,bi]{{0,8}}(?:,[^.,\nLD!]{{0,6}},)?[BZ=][trosSOG:T(,]{{0,5}}$"
    rf"|G[wNOtyu]{{0,5}}B[trosO:(]{{0,3}}$|Z{_F}{{0,3}}$|GN{_F}{{0,3}}$|N:{_F}{{0,3}}$"
    rf"|[NO][yJtB]{{0,2}}![GtX]{{1,2}}B[trO:(]{{0,2}}$|S[tTrmb]{{0,3}}[CT]{_F}{{0,3}}J?{_F}{{0,2}}$|(?:^|[\n.,;&sbr(])t?C{_F}{{0,3}}$|GJ{_F}{{0,2}}$"
)
_BOUND = re.compile(
    r"(?:^|[\n.,;:(&sbrky-])[tr]{0,2}J[trsON:(]{0,4}$|Gw{1,2}aO?$|(?:(?<![LDM])s[,:.-]{0,2}|(?:^|(?<=[\n.;?,]))[ts,]{0,3}r[,:-]{0,2}|k!?[,:.-]{0,2}|[qU]!?[,:.-]{1,2})[trsO(]{0,3}$"
    r"|![tOB]{0,3}[LD],?[b,][trOJ]{0,3}$|[^\n][,:-]t?O$|(?:^|[\n.,;:(s-])[tG]{0,3}N$|(?:^|[.,;:?D-])!,[trO]{0,2}$|[,.;\n]b[trO]{0,3}$"
)
_WEAK = re.compile(r"(?<![LDM])[BJ][trsO:(]{0,3}$|\(O$")
_START = re.compile("^[(O]?$")
_TROUBLED = re.compile(r".{0,6}[UqkmX!i?=]")
_CLOSING = re.compile(r"^[^LDM!mXPi?]*[:-][tr]{0,2}$")
_SENTENCES = re.compile(r"[.?\n]")
_END = re.compile("z?\n")
_SENTENCE = re.compile(r"z?(?:,?[ro]{1,2})?[.\n]|,?[yb]|,t?N[.\n]")
_ENDS = re.compile(r"z?(?:G[.\n]|&[o!]|[.\n;:(?a-]|,(?!t?[LD])|[/oybrzhkcqU]|s[^LDM]|!t?O?[LD]|[tr]{1,3}[.\n,]|[|][w])")
_JOINED = re.compile(
    r"(?:z?\)?(?:(?:[;,]?[|/],?|,[|&]?|&)[trOomZB(]{0,3}(?=[LD](?!z?\)?t?[!BvX]))|;(?=[LD][.\n])|[;,.]?\(?[|][trOomZB(!,]{0,3})"
    r"|[.:)]?[wtM%]{1,8}(?:,&?|[&|;])?O?(?=D)|[.:)]?[wtM]{1,6}[|]O?(?=L[.:)]))(?P<other>[LD])"
)
_DOUBTED = re.compile(
    r"z?\)?\?|z!|z?,?i|z?,?\(?[b&|]{0,2}[tSB]{0,2}m"
    r"|,?b(?:[LD]Bm|[tSJw]?m|(?![LDO])[^.\nLD]{0,8}[X!](?!t?O?[LD]))"
)
_AS_WELL = re.compile("z?B?t?h[rGm]")
_GOOD = re.compile(
    r"z?[:-]?(?:\([^()\n]{0,20}\))?[wtrBvoysSJOu0a/-]{0,9}?(?:G|B[tw]{0,3}N(?![B:=]))"
    r"(?![OwNt]{0,2}[oy]?i)(?!,?b[^.\n]{0,5}!)"
    r"|J[.\n]|Bt?r[.\n,]|Bt{1,2}O[.\n,]|z?Bt{0,2}o(?![^.\n]{0,6}[X!])"
)
_FITS = re.compile(r"z?[vGJBw]")
_WRONG = re.compile(r"z?[^.\n;LDGb]{0,8}?[X!]")
_BEGINS = re.compile(r"(?:^|[\n.,;:(sbcykqTrJU&ONo/-])[to]{0,2}$")
_LINKED = re.compile(r"[LD]\)?[|&][tO]{0,2}$")
_PAUSES = re.compile(r"[,;:(&b-]")
_TURNS = re.compile(r"[sb.?\n]")


def _stated(words: _Words, place: int) -> _Statement | None:
    """What the words around a letter state about its option."""
    classes = words.classes
    start = max(classes.rfind(mark, max(0, place - 40), place) for mark in ".?\n") + 1
    start = max(start, place - 40)
    before, after = classes[start:place], classes[place + 1 : place + 24]
    level = _Level.SAID
    if before.endswith(("h", "h:")) or _AS_WELL.match(after):
        return _Statement(place, level, _UNSURE)
    lead = _STRONG.search(before)
    ends = classes[place] == "D" or _ENDS.match(after)
    if lead and not (ends or _joined(words, place, after) or _DOUBTED.match(after)):
        lead = None
    if lead is None and ends and not _LINKED.search(before):
        longer = classes[max(classes.rfind("\n", 0, start), start - 3, 0) : place]
        if lead := _BOUND.search(longer):
            before = longer
        if lead is None and not before.strip("(roO\n") and (_SENTENCE if classes[place] == "L" else _END).match(after):
            return _Statement(place, level, words.letter(place))
        if lead is None and place < 3 and words.only and not _TROUBLED.match(after):
            lead = _START.search(before)
        if lead is not None and lead[0][-1:] == "O" and not _ENDS.match(after):
            lead = None
        if (
            lead is None
            and _ENDS.match(after)
            and (lead := _WEAK.search(before) or (_SENTENCE.match(after) and _CLOSING.search(before)))
        ):
            level = _Level.NAMED
    if lead is None:
        return _praised(words, place, before, after)
    if not _meant(before[: lead.start()] + (lead[0][:1] if _PAUSES.match(lead[0]) else ""), before):
        return None
    if _DOUBTED.match(after):
        return None if after.lstrip("z)")[:1] == "?" else _Statement(place, level, _UNSURE)
    if _joined(words, place, after) or _LINKED.search(before):
        return _Statement(place, level, _UNSURE)
    return _Statement(place, level, words.letter(place))


def _joined(words: _Words, place: int, after: str) -> bool:
    """Whether another option is named in the same breath."""
    if after[:1] == "D" or (after[:1] == "L" and words.classes[place] == "L"):
        return True
    found = _JOINED.match(after)
    return found is not None and words.letter(place + found.start("other") + 1) != words.letter(place)


def _praised(words: _Words, place: int, before: str, after: str) -> _Statement | None:
    only = re.search("o[tO]{0,2}$", before) and not _WRONG.match(after)
    good = _GOOD.match(after) or (_FITS.match(after) if only else None)
    if good is None or not _BEGINS.search(before) or not _meant(before, before):
        return None
    if _WRONG.match(good[0]) or after[good.end() : good.end() + 1] == "?":
        return None
    unsure = "h" in after[: good.end() + 2] or _LINKED.search(before) or _joined(words, place, after)
    return _Statement(place, _Level.PRAISED, _UNSURE if unsure else words.letter(place))


def _meant(lead: str, before: str) -> bool:
    """Whether a statement stands on its own: no condition in its sentence, no doubt in its clause, nobody else's."""
    sentence = _TURNS.split(lead)[-1]
    clause = _PAUSES.split(sentence)[-1]
    granted = "c" in sentence and "," not in before[before.rindex("c") :]
    return not (granted or re.search("[ie]", sentence) or re.search("[!mPX]", clause))


# Lines that declare

_HEAD = re.compile(
    r"[-()=0.,]{0,4}[strGSB.,]{0,5}(?:N[GtOs0ywN]{0,5}B?[:=)-]{1,2}|N[GtON]{0,3}B?(?=\n)|N{1,2}(?=[LD]z?[\n.])"
    r"|[GtrsO]{0,3}[OC][wO0G]{0,2}B?[:=]|G:|Z[:=])"
)
_CONTENT = re.compile(r"[trsOmJNB(#:]{0,5}(?P<letter>[LDM])")
_ITEM = re.compile("-?O[LD]:")
_ALONE = re.compile(r"[-(#0:rsOG=]{0,3}(?P<letter>[LD])[z.)]{0,3}(?:,r|\([^\n()LDmUXq]{1,12}\))?[.]?\n")


def _declarations(words: _Words) -> list[_Statement]:
    """Lines that declare the answer, boxes, and letters that stand alone on a line."""
    classes, found = words.classes, []
    start = 0
    while 0 <= start < len(classes) - 1:
        end = classes.find("\n", start)
        end = len(classes) if end < 0 else end + 1
        line = classes[start:end]
        if line[:1] == "#":
            before = _SENTENCES.split(classes[max(0, start - 60) : start].rstrip("\n"))[-1]
            boxed = _content(words, start + 1, end)
            if boxed and not _meant(before[-40:], before[-40:]):
                boxed = [_Statement(start, _Level.DECLARED, _UNSURE)]
            found += boxed
        elif (head := _HEAD.match(line)) and not set("XP!m") & set(head[0]):
            begin = start + head.end()
            if classes[begin:end].strip("\n.)* ") == "":
                begin, end = end, classes.find("\n", end) + 1
                if classes[begin : begin + 1] == "#" or _ITEM.match(classes, begin) or _lists(classes, end):
                    start = begin
                    continue
            found += _content(words, begin, end)
        elif alone := _ALONE.fullmatch(line):
            place = start + alone.start("letter")
            found.append(_Statement(place, _Level.SAID, words.letter(place)))
        start = end
    return found


def _lists(classes: str, second: int) -> bool:
    """Whether the line after the first below a heading is an item too: then they are a list of options."""
    return classes[second : second + 1] == "D"


def _content(words: _Words, start: int, end: int) -> list[_Statement]:
    """The letter that the content of a declaration names."""
    line = words.classes[start:end]
    named = _CONTENT.match(line)
    place = start + (named.start("letter") if named else 0)
    after = words.classes[place + 1 : place + 24]
    letter: str | None = None
    if named:
        kind = words.classes[place]
        if kind == "M" or "m" in named[0] or _joined(words, place, after) or _DOUBTED.match(after):
            letter = _UNSURE
        elif kind == "D" or _ENDS.match(after):
            letter = words.letter(place)
    elif re.fullmatch(r"[wt]{1,4}[.\n]*", line):
        letter = _UNSURE
    return [] if letter is None else [_Statement(place, _Level.DECLARED, letter)]


# Deciding


def _settled(visible: str, known: Collection[str]) -> str | None:
    """The one letter that is stated most plainly."""
    words = _words(_plain(visible), known)
    declarations = _declarations(words)
    at = {statement.place for statement in declarations}
    places = [match.start() for match in re.finditer("[LD]", words.classes)]
    said = [found for place in places if place not in at and (found := _stated(words, place))]
    taken = [_Statement(match.start(), _Level.DECLARED, "") for match in _TAKES_BACK.finditer(words.classes)]
    statements = sorted([*declarations, *said, *taken], key=lambda statement: statement.place)
    return _decided(statements, words) if any(statement.letter for statement in statements) else _marked(words)


_TAKES_BACK = re.compile(r"[kqU]|(?<=[-.,;?\nDL])!(?=,)")
_UNDONE = re.compile(r"U|[kq],?S?m|[kq],?!,?[.\n]")


def _decided(statements: list[_Statement], words: _Words) -> str | None:
    """What is stated most plainly and not taken back, where all that is agree."""
    stated = [place for place, statement in enumerate(statements) if statement.letter]
    plain = [place for place in stated if statements[place].level > _Level.NAMED]
    last = (plain or stated)[-1]
    if _UNDONE.search(words.classes, statements[last].place + 1):
        return None
    marks = [place for place, statement in enumerate(statements[:last]) if not statement.letter]
    standing = [statement for statement in statements[marks[-1] if marks else 0 :] if statement.letter]
    top = max(statement.level for statement in standing)
    kept = [statement for statement in standing if statement.level == top]
    if top is _Level.DECLARED:
        kept += [one for one in standing if one.level is _Level.SAID and one.place > kept[-1].place]
    if kept[-1].letter != _UNSURE:  # "A or B? I'd say B" settles it.
        kept = [statement for statement in kept if statement.letter != _UNSURE]
    letters = {statement.letter for statement in kept}
    return letters.pop() if len(letters) == 1 and _UNSURE not in letters else None


_LABEL = re.compile(r"(?<=\n)[-(]{0,2}(?:O?D|OL(?=[:-]))")
_ANOTHER = re.compile(r"[DUqm]|[LM][.:%][^\n]")
_TRAIL = re.compile(r"[(s]O?(?P<letter>[LD])[).]{0,2}\n{1,3}$|(?P<label>D)[.]{0,2}\n{1,3}$")


def _marked(words: _Words) -> str | None:
    """The one letter in bold, or the label of the first or the last line where no other line has one."""
    bold = {words.letter(place) for place in words.bold}
    labels = [match.end() - 1 for match in _LABEL.finditer(words.classes)]
    named = {words.letter(match.start()) for match in re.finditer("[LD]", words.classes)}
    if labels and len(labels) == 1:
        place = labels[0]
        line = words.classes[place : words.classes.find("\n", place)]
        bold.add(_UNSURE if _ANOTHER.search(line, 1) or line[1:2] in "LM" else words.letter(place))
    elif labels:
        first, *below = [words.letter(place) for place in labels]
        if labels[0] == 1 and first not in below and any(other < first for other in below):
            return first  # An answer, and why the others are wrong.
        lines = [words.tokens[place : words.classes.find("\n", place)] for place in labels]
        again = lines[-1] in lines[:-1] and len(lines[-1]) > 1
        return words.letter(labels[-1]) if again and ord(below[-2:][0]) + 1 != ord(below[-1]) else None
    if not bold and (trail := _TRAIL.search(words.classes)):
        place = trail.start("letter") if trail["letter"] else trail.start("label")
        bold = {words.letter(place)} if len(named) == 1 else set()
    return bold.pop() if len(bold) == 1 and _UNSURE not in bold else None
