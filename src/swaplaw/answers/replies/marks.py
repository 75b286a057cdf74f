"""Answers that are marked rather than said: a list of verdicts, a letter in bold, a label, a letter at the end."""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import takewhile

from swaplaw.answers.replies.doubts import CONDITION
from swaplaw.answers.replies.letters import MENTION, OF_A_SPECIES, meant, plain
from swaplaw.answers.replies.phrases import REJECTED, SEARCHED

# Verdicts

_GOOD = r"✅|✔|✓|☑|correct|right|true|yes"
_BAD = (
    r"❌|✗|✘|✖|×|incorrect|wrong|false|no|not correct|not right"
    r"|(?:partial\w{0,2}|partly|half|almost|nearly|somewhat)\s(?:correct|right|true)"
)
_JUDGED = r"(?:\|\s?)?(?:option\s|choice\s)?[(\[]?(?P<letter>[A-Z])(?![\w'])[)\].:]{0,2}(?:\sis)?"
_VERDICT = re.compile(
    rf"{_JUDGED}(?:(?P<text>.{{0,{SEARCHED}}}?)[\s:,(|-]{{0,5}}(?<!to be )"
    rf"(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))[\s.!)|]{{0,4}}$"
    rf"|(?:.{{0,60}}?\s-\s|[\s:|-]{{0,4}})(?:(?P<good2>correct|right|true)|(?P<bad2>incorrect|wrong|false"
    rf"|not\scorrect|part\w{{2,6}}\scorrect))\b\s?[.,:;!(|-]"
    r"|[)\s:|-]{0,5}(?:(?P<good3>[✅✔✓☑]|yes\s?\|)|(?P<bad3>[❌✗✘✖×]|no\s?\|)))",
    re.IGNORECASE,
)


_DISMISSES = re.compile(
    r"\W{0,4}why\s(?:(?:not|are|aren't|is)\s)?(?:the\s)?(?:others?|rest|remaining|incorrect|wrong)\b[^.]{0,60}$",
    re.IGNORECASE,
)


def verdicts(lines: list[str]) -> dict[int, str]:
    """Lines that judge an option: the letter judged right, or nothing where it is judged wrong."""
    return _judged(lines) | _dismissed(lines)


def _dismissed(lines: list[str]) -> dict[int, str]:
    """The items of the list below "Why not the others?"."""
    heads = [number for number, line in enumerate(lines) if _DISMISSES.match(line[:SEARCHED])]
    first = heads[0] + 1 if heads else len(lines)
    items = takewhile(lambda number: _ITEM.match(lines[number]), range(first, len(lines)))
    return dict.fromkeys(items, "")


def _judged(lines: list[str]) -> dict[int, str]:
    """Lines that judge one option each ("C: correct"), where at least two do."""
    found = {
        number: verdict
        for number, line in enumerate(lines)
        if len(line) <= SEARCHED and (verdict := _VERDICT.match(line))
    }
    if len(lines) - 1 in found and lines[-1] in lines[:-1]:
        return {}  # "B. No" is an option of a list, and the answer.
    if len({verdict["letter"] for verdict in found.values()}) < 2:
        return _checked(lines) or _ticked(lines)
    return {
        number: verdict["letter"].upper() if verdict["good"] or verdict["good2"] or verdict["good3"] else ""
        for number, verdict in found.items()
    }


_CHECKBOX = re.compile(
    r"\[(?P<mark>[ xX✓✔])\]\s?[(\[]?(?P<letter>[A-Z])(?![\w'])|(?P<sign>[☐☑☒✅⬜])\s?[(\[]?(?P<other>[A-Z])(?![\w'])"
)


def _checked(lines: list[str]) -> dict[int, str]:
    """The one option whose box is ticked."""
    boxes = [
        (number, box["mark"] or box["sign"], box["letter"] or box["other"])
        for number, line in enumerate(lines)
        for box in _CHECKBOX.finditer(line[:SEARCHED])
    ]
    signs = {sign for _, sign, _ in boxes}
    empty = {" ", "☐", "⬜"} | ({"☒"} if signs & set("☑✅") else set())
    ticked = {number: letter for number, sign, letter in boxes if sign not in empty}
    return dict.fromkeys((number for number, *_ in boxes), "") | ticked if len(ticked) == 1 else {}


_TICKS = re.compile(
    r"(?<![\w'])(?P<letter>[A-Z])(?:[)\].:(?]|\sis|\s?(?:→|->|=))?\s?\(?(?:(?P<good>[✅✔✓☑]|(?:yes|true|correct|right)\b)|[❌✗✘✖×]|(?:no|false|wrong|incorrect)\b)"
)
_TICKED = re.compile(rf"{_JUDGED}.{{0,{SEARCHED}}}[✅✔✓☑]")


def _ticked(lines: list[str]) -> dict[int, str]:
    """The one option with a tick in a list of options."""
    for number, text in enumerate(lines):
        ticks = list(_TICKS.finditer(text[:SEARCHED]))
        good = [tick["letter"] for tick in ticks if tick["good"]]
        if len(ticks) > 1 and len(good) == 1 and not CONDITION.search(text[:SEARCHED]):
            return {number: good[0]}
    ticked = {number: line[1] for number, text in enumerate(lines) if (line := _TICKED.match(text[:SEARCHED]))}
    listed = {label["letter"] for text in lines if (label := _LABEL.match(text))}
    return ticked if len(ticked) == 1 and len(listed) > 2 else {}


# Marks

_BOLD = re.compile(
    r"(\*\*|__)\s?(?:[Oo]ption\s)?[(\[]?(?P<letter>[A-Z])(?:[)\].:]{0,2}\s?|[)\].:]{1,2}\s[^*_\n]{0,200})\1"
    r"|<(b|strong)>\s?[(\[]?(?P<html>[A-Z])[)\].:]{0,2}\s?</\3>"
)
_CLOSES = (
    r"(?:[)\]]|\.(?=\s)|\.(?=[A-Z][a-z])|\.{3}|;(?=\s)|:(?=\s)(?!\s[A-Z]\b)|\s(?:-{1,2}>?|→|⇒)\s(?![A-Z]\b)|\s\((?![A-Z]\))"
    r"|,?\s(?=(?:not|instead|rather|over)\b)"
    r"|,\s(?=[A-Z][a-z]|\d|(?:because|since|as|of course|clearly|definitely|obviously|certainly|[Ii] think|for|the|it"
    r"|this|which|and\shere)\b)"
    r"|\s(?=(?:because|since|as it|as explained|for sure|for the reasons)\b))"
)
_SPECIES = rf"(?![A-Z]{OF_A_SPECIES})"
_LABEL = re.compile(rf"{_SPECIES}(?:(?:[Oo]ption|[Cc]hoice)\s)?[(\[]?(?P<letter>[A-Z]|[a-z](?=\))){_CLOSES}\s{{0,3}}\S")
_ITEM = re.compile(r"(?:(?:[Oo]ption|[Cc]hoice)\s)?[(\[]?(?P<letter>[A-Z])(?:[).:\]]|\s\(|\s-\s)")
_SMALL_LABEL = re.compile(r"(?P<letter>[a-z])(?:\)|[.:]\s|\s-\s)\s{0,3}\S")
_INNER = re.compile(r"(?<![\w'])(?<!not )(?<!of )(?<!than )(?<!ly )[(\[]?(?P<letter>[A-Z])(?:[)\]]|[.:]\s)")
_OPTION = re.compile(r"(?:^|[.;]\s)Option\s(?P<letter>[A-Z])\s\(", re.IGNORECASE)
_TRAIL = re.compile(
    r"(?:(?<!\w)[(\[](?:option\s|choice\s)?(?P<letter>[A-Z])[)\]]|\s[-→⇒]\s{0,2}(?P<bare>[A-Z]))[.!]?\s?$"
    r"|(?:^|[.!]\s)(?:option\s|choice\s|(?<=\w\w\w[.!]\s)|(?<=\.\.[.!]\s)|(?<=[Nn]ot\s[A-Z][.!]\s))(?P<last>[A-Z])[.!]?$",
    re.IGNORECASE,
)


def marked(visible: str, known: Set[str]) -> set[str]:
    """Letters in bold, the label of the first line, or else a letter that ends the last line."""
    bold = {found["letter"] or found["html"] for found in _BOLD.finditer(visible)}
    lines = [line for raw in visible.splitlines() if (line := plain(raw))]
    judged = verdicts(lines)
    lines = [line for number, line in enumerate(lines) if number not in judged]
    if not lines:
        return bold
    found = bold | _labelled(lines, known)
    last = lines[-1][-SEARCHED:]
    return found or _trailing(last, known) or _last_label(lines)


_OR_ANOTHER = re.compile(r"%\)\s?,?\s?(?:or|and|vs\.?)?\s\(?(?P<letter>[A-Z])\b")


def _labelled(lines: list[str], known: Set[str]) -> set[str]:
    """Labels of lines, where the first line has one: that one alone where the others are plainly not the answer."""
    first = _LABEL.match(lines[0]) or (_SMALL_LABEL.match(lines[0]) if len(lines) == 1 else None)
    if not first:
        return set()
    letter = first["letter"].upper()
    if lines[0].startswith(("I,", "Q:")) or (lines[0].startswith("I.") and len(lines) > 1):
        return set()  # The speaker, the question, or the first of several headings.
    if len(lines) == 1:
        if another := _OR_ANOTHER.search(lines[0][first.end() - 1 : SEARCHED]):
            return {letter, another["letter"]}
        inner = {found["letter"] for found in _INNER.finditer(lines[0][first.end() - 1 : SEARCHED])}
        inner |= {found["letter"] for found in _OPTION.finditer(lines[0][first.end() - 1 : SEARCHED])}
        # A list of all options starts with the first; an answer may be followed by why the others are wrong.
        linked = re.match(r"\W{0,3}(?:or|and)\b", lines[0][first.end() - 1 :])
        explained = not linked and any(other < letter for other in inner & known)
        return {letter} if explained else {letter} | (inner & known)
    below = {label["letter"].upper() for line in lines[1:] if (label := _LABEL.match(line))}
    explained = letter not in below and any(other < letter for other in below)
    return {letter} if explained else {letter} | below


_BRACKETED = re.compile(r"\(?(?P<letter>[A-Z])\)\s\S")


def first_below(lines: list[str], number: int) -> str:
    """The line below a heading, unless it begins a list of the options."""
    below, after = (*lines[number + 1 : number + 3], "", "")[:2]
    first, second = _ITEM.match(below), _ITEM.match(after)
    listed = first and second and (first["letter"], second["letter"]) == ("A", "B")
    return "" if listed and not REJECTED.match(after[1:]) else below


def _last_label(lines: list[str]) -> set[str]:
    """The label of the last line, where no other line has one: working, then "(D) 0.3"."""
    last = _BRACKETED.match(lines[-1])
    return {last["letter"]} if last and not any(_LABEL.match(line) for line in lines[:-1]) else set()


def _trailing(line: str, known: Set[str]) -> set[str]:
    found = _TRAIL.search(line)
    letter = found and (found["letter"] or found["bare"] or found["last"])
    if not found or not letter or not letter.isupper() or not meant(line[: found.start() + bool(found["last"])]):
        return set()
    if found["last"]:
        return {letter}  # A sentence of its own: what others say of other letters is done with.
    others = {mention["letter"] for mention in MENTION.finditer(line[: found.start()])} & known
    article = {"A"} if re.match(r"A\s[a-z]", line) else set()
    return {letter} if others - article <= {letter} else set()
