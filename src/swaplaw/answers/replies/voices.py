"""Whose words these are: lines that a reply quotes, what it lets others say, and the turns of a dialogue.

A reply may quote a student, a friend on the telephone or a chorus of animals, and answer itself. What others are said
to say is no answer of its own. A quotation without a speaker may be its own, and is left out only where the rest
settles the question or names other options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from swaplaw.answers.replies.letters import named, plain
from swaplaw.answers.replies.phrases import LINE

_LONGEST = 300
_APART = 4
"""A heading stands at most this many lines above what it heads: time stays linear in the text."""
_QUOTE_LINE = re.compile(r"\s{0,3}>")
_QUOTED = re.compile(
    rf"[\"“«„](?P<double>[^\"“”«»„\n]{{1,{_LONGEST}}})[\"”»]"
    # An apostrophe within a word ends no quotation.
    rf"|(?<!\w)['‘](?P<single>[^'‘’\n]{{1,{_LONGEST}}}(?:['’](?=\w)[^'‘’\n]{{0,{_LONGEST}}}){{0,5}})['’](?!\w)"
)
_SPEAKS = (
    r"(?:sa(?:id|ys?)|shout\w{0,3}|cr(?:y|ies|ied)|whisper\w{0,3}|answer(?:ed|s(?=\s))|repl(?:y|ies|ied)|insist\w{0,3}|claim\w{0,3}"
    r"|argu\w{1,3}|exclaim\w{0,3}|announc\w{1,3}|declar\w{1,3}|mutter\w{0,3}|ask\w{0,3}|yell\w{0,3}|scream\w{0,3}|call\w{0,3}"
    r"|snap\w{0,4}|murmur\w{0,3}|suggest\w{0,3}|object\w{0,3}|protest\w{0,3}|bellow\w{0,3}|offer\w{0,3}|quip\w{0,4}|blurt\w{0,3}"
    r"|wonder\w{0,3}|thinks?|thought|go(?:es)?|went|chime\w{0,2}|interject\w{0,3}|interrupt\w{0,3}|add(?:s|ed)|writes|wrote)"
)
_MYSELF = r"(?:I|we|me|my(?=\sanswer|\schoice|\spick))\b"
_SAID_AFTER = re.compile(
    rf"\s?(?:{_SPEAKS}\s(?!{_MYSELF})\w|(?!{_MYSELF}|[A-Z]\b)(?:\w[\w.'-]{{0,15}}\s){{1,4}}?{_SPEAKS}\b)"
)
"""After a quotation: somebody else said it."""
_SAID_BEFORE = re.compile(rf"(?:^|[.!?;,]\s)(?P<who>[^.!?;,\n]{{0,60}}?)\b{_SPEAKS}(?:\s\w{{2,12}})?\s?[,:]?\s?$")
_SPEAKER = re.compile(
    rf"\b(?:{_SPEAKS}|your?|yours|he|she|they|his|her|their|\w+'s|students?|users?|original|previous|earlier|quot\w{{1,5}}|prompt|wrong"
    r"|incorrect|common|key|(?:text)?book)\b",
    re.IGNORECASE,
)
"""In the line above a quotation: somebody whose words it may be."""
_OWN = re.compile(rf"(?:^|\b){_MYSELF}", re.IGNORECASE)
_OPTION = re.compile(r"(?<![\w'])(?:[B-HJ-Z]|A(?!\s[a-z]))(?![\w'])")
_ENDED = re.compile(r"[.,!?…-]$")
_WORDS = re.compile(r"\w+\W+\w+")


def without_quotations(text: str) -> str | None:
    """The lines that quote nobody and no sentence in quotes, where a reply has both those and others."""
    lines = text.splitlines()
    own = "\n".join(line for number, line in enumerate(lines) if not _QUOTE_LINE.match(line) or _headed(lines, number))
    left = _QUOTED.sub(lambda found: " " if _is_sentence(found) else found[0], own)
    return left if left != "\n".join(lines) and re.search(r"\w", left) else None


def _headed(lines: list[str], number: int) -> bool:
    """Whether a line is dressed as a quotation but is the reply's own: right below a heading such as "Final answer".

    So is a line that declares the answer itself, where it comes last or below any heading that names no speaker.
    """
    above = plain(lines[number - 1]) if number else ""
    if (head := LINE.match(above)) is not None and head.end() == len(above):
        return True
    said = plain(lines[number])
    head = LINE.match(said)
    if head is None or named(said[head.end() :]) is None:
        return False
    over = next((line for line in reversed(lines[max(0, number - _APART) : number]) if line.strip()), "")
    last = number >= len(lines) - _APART and not any(line.strip() for line in lines[number + 1 :])
    own = over.startswith("#") or (last and not over.rstrip("*_ ").endswith(":") and not _QUOTE_LINE.match(over))
    return bool(over) and own and not _SPEAKER.search(over)


def _is_sentence(found: re.Match[str]) -> bool:
    said = (found["double"] or "").strip()
    return _ENDED.search(said) is not None and _WORDS.search(said) is not None


def own_words(text: str) -> tuple[str, ...]:
    """What a reply says itself, without what it lets others say; of a dialogue its last word, then the last speaker."""
    turns = list(_turns(text))
    if len({name.lower() for name, _ in turns}) < 2:
        return (_QUOTED.sub(lambda found: " " if _said_by_others(text, found) else found[0], text),)
    naming = [(name, said) for name, said in turns if _OPTION.search(said)]
    mine = [name for name, _ in turns if _OWN.fullmatch(name)] or [name for name, _ in naming]
    said = [said.strip('"“”«» \n') for name, said in naming if name == mine[-1]] if mine else []
    last = turns[-1][1].strip('"“”«» \n')
    after = "" if not said or last == said[-1] else last  # "Right.", or "No."
    return (f"{said[-1]}\n{after}", "\n".join([*said, after])) if said else (last,)


def _said_by_others(text: str, found: re.Match[str]) -> bool:
    if _ENDED.search(found["double"] or found["single"]) and _SAID_AFTER.match(text, found.end()):
        return True
    before = _SAID_BEFORE.search(text[max(0, found.start() - 90) : found.start()])
    return before is not None and bool(before["who"].strip()) and _OWN.search(before["who"]) is None


_ROLE = (
    r"(?:(?i:student|pupil|tutor|teacher|prof(?:essor)?|host|contestant|player|judge|juror|narrator|doctor|patient|interviewer"
    r"|candidate|coach|captain|friend|mom|dad|moderator|debater|detective|prosecut(?:ion|or)|defen[cs]e|proposition"
    r"|opposition|me|myself)(?:\s\w{1,2})?)"
)
_TURN = re.compile(
    rf"(?:^|\n|(?<=[.!?\"”]\s))[*_]{{0,2}}(?P<name>{_ROLE}|[A-Z][a-z]{{1,15}}(?=:\s?[\"“]))[*_]{{0,2}}:[*_]{{0,2}}\s?"
)


def _turns(text: str) -> Iterator[tuple[str, str]]:
    """Who speaks and what, in a reply that is a dialogue from its beginning to its end."""
    marks = list(_TURN.finditer(text))
    if not marks or marks[0].start() > 0:
        return
    for number, mark in enumerate(marks):
        until = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        yield mark["name"], text[mark.end() : until]
