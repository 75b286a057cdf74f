"""The option that a reply is for, by the stance of every sentence that names one: where no set phrase states it.

Every mention of an option is weighed by its own clause: chosen ("I'd mark B on the sheet"), favoured ("B holds for all
cells", "- option C"), rejected ("A omits the sign", "not D") or just named ("let us look at A"). One option must be the
only one chosen; or none is, and one is the only one favoured; or all others are rejected and one is left. Questions,
conditions, what others say and what was thought at first are no stance.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from swaplaw.answers.replies import words
from swaplaw.answers.replies.doubts import CORRECTION, REVISED
from swaplaw.answers.replies.letters import plain
from swaplaw.answers.replies.phrases import SEARCHED
from swaplaw.answers.replies.stances import Stance, Weighed, stances

_LONGEST = 3000
"""Characters that are looked at, from the end."""
_MOST = 60
"""Sentences that are weighed, from the end."""


_SENTENCE = re.compile(r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)\s|(?<=[a-z:,] [A-Z]\.) (?=[A-Z])|\n")
_OTHERS = re.compile(
    r"\b(?:the|all)\s(?:others?|rest|remaining\s\w{3,12}|other\s(?:options|choices|answers|three|two|ones))\b",
    re.IGNORECASE,
)
_GIVES_UP = re.compile(
    r"\bI\s(?:do\snot|don't|can't|cannot|couldn't|could\snot)\s(?:really\s)?(?:know|decide|choose|tell|say|determine|pick|settle)|\bno\sidea\b|\bnot\s(?:so\s)?sure\sany",
    re.IGNORECASE,
)


def weighed(visible: str, known: Set[str]) -> set[str]:
    """The option that the reply is for, by the clauses that name options; nothing where that is not plain."""
    sentences = _sentences(visible)
    found = _stances(sentences, known)
    if not found:
        return set()
    for place, sentence in enumerate(sentences):
        mark = CORRECTION.match(sentence) if not sentences[place - 1].endswith("?") or place == 0 else None
        revised = [one for one in found if one.place >= (place, 0)] if mark else []
        if mark and any(one.stance >= Stance.FAVOURED for one in revised):
            found = revised
        elif mark and mark["strong"]:
            return set()
    asked = any(words.ODD_ONE.search(sentence) for sentence in sentences)
    leading = (_odd_one(found, known) if asked else []) or _leading(
        found, known, others=any(_OTHERS.search(sentence) for sentence in sentences)
    )
    if not leading or any(_GIVES_UP.search(sentence) for sentence in sentences[leading[-1].place[0] :]):
        return set()
    letters = frozenset[str]().union(*(one.letters for one in leading))
    if leading[-1].stance is not Stance.REJECTED and any(_disputes(one, leading[-1]) for one in found):
        return set()
    return set(letters) if len(letters) == 1 else set()


def ends_with_another(visible: str, known: Set[str], letter: str) -> bool:
    """Whether the last option that is chosen or favoured is another, or one of several."""
    found = _stances(_sentences(visible), known)
    both = [one.letters for one in found if one.stance >= Stance.FAVOURED and len(one.letters) > 1]
    last = [one.letters for one in found if one.stance >= Stance.CHOSEN and not one.listed][-1:]
    return (bool(last) and last[0] != {letter}) or any(letter in letters for letters in both[-1:])


def _sentences(visible: str) -> list[str]:
    """The last sentences, tables left out; words that take back what was said begin a sentence of their own."""
    lines = (line for raw in visible[-_LONGEST:].splitlines() if (line := plain(raw)) and line.count("|") < 2)
    text = REVISED.sub(lambda mark: f"\n{mark[0]}", "\n".join(lines))
    return [sentence[:SEARCHED] for sentence in _SENTENCE.split(text)[-_MOST:]]


def _stances(sentences: list[str], known: Set[str]) -> list[Weighed]:
    """What every sentence says of the options; a question takes the stance of the yes or no that follows it."""
    found = []
    for place, sentence in enumerate(sentences):
        here = list(stances(sentence, place, known))
        reply = sentences[place + 1] if place + 1 < len(sentences) and sentence.endswith("?") else ""
        stance = Stance.FAVOURED if words.YES.match(reply) else Stance.REJECTED if words.NO.match(reply) else None
        if stance is not None and len(here) == 1 and not words.UNDECIDED.search(sentence):
            here = [replace(here[0], stance=stance)]
        found += here
    return found


def _odd_one(found: list[Weighed], known: Set[str]) -> list[Weighed]:
    """The one option that is called wrong where all others are called right."""
    right = {letter for one in found if one.stance is Stance.FAVOURED for letter in one.letters}
    wrong = [one for one in found if one.stance is Stance.REJECTED]
    letters = {letter for one in wrong for letter in one.letters}
    return wrong if len(letters) == 1 and len(known) > 2 and right == known - letters else []


def _disputes(one: Weighed, last: Weighed) -> bool:
    """Whether a mention after the last one that leads takes it back, or leaves another option as good."""
    if one.letters == last.letters:
        return one.stance is Stance.REJECTED and one.place[0] >= last.place[0]
    return one.place > last.place and one.stance in (Stance.RIVAL, Stance.OPEN, Stance.FAVOURED)


def _leading(found: list[Weighed], known: Set[str], *, others: bool) -> list[Weighed]:
    """The mentions of the strongest stance; where none is in favour, those of the one option that is left."""
    for level in (Stance.CHOSEN, Stance.FAVOURED, Stance.PLACED):
        if leading := [one for one in found if one.stance >= level]:
            return leading
    rejected = {letter for one in found if one.stance is Stance.REJECTED for letter in one.letters}
    standing = [one for one in found if one.stance is Stance.STANDING]
    letters = {letter for one in standing for letter in one.letters}
    contrast = others or any(
        one.stance is Stance.REJECTED and one.place[0] == other.place[0] for one in found for other in standing
    )
    left = known - rejected
    named = {letter for one in found for letter in one.letters}
    still = (
        {letter for one in found if one.stance in (Stance.RIVAL, Stance.OPEN) for letter in one.letters}
        - rejected
        - letters
    )
    if len(letters) == 1 and not letters & rejected and not still and (contrast or left == letters):
        return standing
    if len(left) == 1 and len(known) > 2 and (left <= named or max(known) not in left):  # Not a list that broke off.
        return [Weighed(frozenset(left), Stance.STANDING, found[-1].place, False)]
    return _held_back(found, known)


def _held_back(found: list[Weighed], known: Set[str]) -> list[Weighed]:
    """The option that is named last although it is not the last one: "A is haste, C fear, D vain. Walk with B"."""
    order = list(dict.fromkeys(letter for one in found for letter in sorted(one.letters)))
    if len(known) < 3 or set(order) != known or order[:-1] != sorted(order[:-1]) or order[-1] == max(known):
        return []
    last = [one for one in found if order[-1] in one.letters]
    before = max(one.place[0] for one in found if one not in last)
    apart = all(one.place[0] > before and one.stance in (Stance.OPEN, Stance.STANDING) for one in last)
    return last if apart else []
