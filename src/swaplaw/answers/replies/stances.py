"""What each clause of a sentence says of the options that it names: chosen, favoured, rejected, or just named.

A mention is judged by the words of its own clause: those before it ("I'd mark", "rather than", "let us look at") and
those after it ("holds for all cells", "omits the sign"). Questions, conditions, what others say and what was thought at
first are no stance. Sentences are of bounded length, so time stays linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import IntEnum

from swaplaw.answers.replies import words
from swaplaw.answers.replies.doubts import CONCLUSION, CONDITION, DOUBT, EARLIER, REPORTED
from swaplaw.answers.replies.letters import MENTION
from swaplaw.answers.replies.phrases import EXCEPT, EXCEPTED, REJECTED, SEARCHED
from swaplaw.answers.replies.praise import FITS, GLOWING, MADE_RIGHT, ONLY, PRAISE, REMAINS


class Stance(IntEnum):
    """What a clause says of an option, from against it to for it."""

    REJECTED = -1
    NAMED = 0
    """Spoken of for a reason that does not bear on the choice."""
    RIVAL = 1
    """It may be right as well: what was favoured before it is not settled."""
    OPEN = 2
    """Nothing is known of it."""
    STANDING = 3
    """A main clause speaks of it, and says nothing against it."""
    PLACED = 4
    """It stands where an answer would, after words that no list knows: "that is the curve in C"."""
    FAVOURED = 5
    CHOSEN = 6


@dataclass(frozen=True)
class Weighed:
    """Options that are named in one breath, and what is said of them."""

    letters: frozenset[str]
    stance: Stance
    place: tuple[int, int]
    """The number of its sentence, and where it stands there."""
    listed: bool
    """Whether its sentence begins with it as a label, as in a list of options."""


# Clauses


@dataclass(frozen=True)
class _Clause:
    """The words around options that are named in one breath."""

    before: str
    """The sentence before them."""
    breaks: tuple[re.Match[str], ...]
    """Where clauses begin there."""
    called: str
    """What belongs to them right before: brackets and the word "option"."""
    after: str
    """All that follows them."""
    rest: str
    """What follows them up to the next option, an aside left out."""
    aside: str
    count: int

    @property
    def opener(self) -> str:
        """The conjunction that the clause begins with."""
        return (self.breaks[-1]["word"] or "") if self.breaks else ""

    @property
    def lead(self) -> str:
        """The clause before the options."""
        return self.before[min(self.breaks[-1].end(), len(self.before)) if self.breaks else 0 :]

    @property
    def own_tail(self) -> str:
        """The clause after the options."""
        cut = words.BREAK.search(self.rest)
        tail = self.rest[: cut.start()] if cut else self.rest
        return "" if self.bracketed and words.OWN_TEXT.fullmatch(tail) else tail

    @property
    def tail(self) -> str:
        """The same with the aside before it."""
        return self.aside + self.own_tail

    @property
    def bracketed(self) -> bool:
        return self.called[-1:] in ("(", "[") or self.after[:1] in (")", "]")

    @property
    def subject(self) -> bool:
        """Whether the clause is about the options: nothing but adverbs stands before them."""
        return words.SUBJECT.match(self.lead) is not None

    @property
    def ends(self) -> bool:
        return words.ENDS.match(self.own_tail) is not None

    @property
    def conceded(self) -> bool:
        return words.CONCEDES.fullmatch(self.opener) is not None


_MOST = 40
"""Mentions that are judged in one sentence, from its end."""


def stances(sentence: str, place: int, known: Set[str]) -> Iterator[Weighed]:
    """Every mention of options in a sentence, with what its clause says of them."""
    groups = list(_groups(sentence, known))[-_MOST:]
    asked = sentence.rstrip(" )'").endswith("?") and not words.TAG_QUESTION.search(sentence)
    listed = words.ITEM.match(sentence) is not None
    stance = Stance.NAMED
    for number, (start, end, letters) in enumerate(groups):
        until = groups[number + 1][0] if number + 1 < len(groups) else len(sentence)
        clause = _clause(sentence, start, end, until, len(letters))
        if not (stance is Stance.REJECTED and _likewise(clause)):  # "A is wrong, and so are B and C."
            stance = Stance.NAMED if asked else _stance(clause)
        yield Weighed(letters, stance, (place, start), listed)


def _groups(sentence: str, known: Set[str]) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Options that are named in one breath ("A, B and C"): where they start and end, and which they are."""
    chain: list[tuple[int, int, str]] = []
    commas = True
    for found in _mentions(sentence, known):
        one = (found.start(), found.end(), found["letter"].upper())
        gap = sentence[chain[-1][1] : one[0]] if chain else ""
        if chain and words.LINK.fullmatch(gap) and one[2] not in {letter for *_, letter in chain}:
            commas = commas and words.COMMA.fullmatch(gap) is not None
            chain.append(one)
            continue
        yield from _chained(chain, commas)
        chain, commas = [one], True
    yield from _chained(chain, commas)


def _chained(chain: list[tuple[int, int, str]], commas: bool) -> Iterator[tuple[int, int, frozenset[str]]]:
    if len(chain) == 2 and commas:
        yield from ((start, end, frozenset(letter)) for start, end, letter in chain)
    elif chain:
        yield chain[0][0], chain[-1][1], frozenset(letter for *_, letter in chain)


def _mentions(sentence: str, known: Set[str]) -> Iterator[re.Match[str]]:
    """Letters of options, but not the speaker, an article or a quantity."""
    for found in MENTION.finditer(sentence):
        letter = found["letter"]
        if letter.upper() not in known:
            continue
        called = _called(sentence, found.start())
        if letter in "Ii" and not called and not _is_option_i(sentence, found):
            continue
        if not called and (
            words.OPERATOR.match(sentence, found.end()) or words.OPERATED.search(sentence[: found.start()][-4:])
        ):
            continue
        if letter.islower() and words.POINT.match(sentence, found.end()):
            continue
        if letter == "A" and not called and words.ARTICLE.match(sentence, found.end()):
            continue
        yield found


def _is_option_i(sentence: str, found: re.Match[str]) -> bool:
    """Whether the letter I is an option: not the speaker, the first of some statements, or a heading."""
    before = sentence[: found.start()]
    return words.OPTION_I.match(sentence, found.end()) is not None and words.BEFORE_I.search(before) is not None


def _called(sentence: str, start: int) -> str:
    opened = words.OPENS.search(sentence[max(0, start - 40) : start])
    return opened[0] if opened else ""


def _clause(sentence: str, start: int, end: int, until: int, count: int) -> _Clause:
    called = _called(sentence, start)
    if called.startswith("answer") and words.VERB.search(sentence[: start - len(called)]):
        called = called[len("answer ") :]  # "I'll answer A".
    before = sentence[: start - len(called)]
    breaks = tuple(words.BREAK.finditer(before + " "))
    aside = words.ASIDE.match(sentence[end:until])
    rest = sentence[end + aside.end() : until] if aside else sentence[end:until].lstrip("'])>")
    between = breaks and breaks[-1][0] == ", " and not before[breaks[-1].end() :].strip()
    if between and rest.startswith(", "):
        rest = rest[1:]  # The option is an aside itself: "the student's answer, B, is wrong".
    return _Clause(before, breaks, called, sentence[end : end + SEARCHED], rest, aside[0] if aside else "", count)


def _stance(clause: _Clause) -> Stance:
    """What a clause says: the first of these that says anything."""
    for judge in (_verdict, _disowned, _rivals, _praised, _spoken_of, _taken):
        if (stance := judge(clause)) is not None:
            return stance
    explained = any(mark["word"] and words.EXPLAINS.fullmatch(mark["word"]) for mark in clause.breaks)
    return Stance.NAMED if explained else Stance.OPEN


def _verdict(clause: _Clause) -> Stance | None:
    """A mark right after an option: "A: wrong", "B (correct)"."""
    verdict = words.VERDICT.match(clause.after)
    return (Stance.FAVOURED if verdict["good"] else Stance.REJECTED) if verdict else None


def _disowned(clause: _Clause) -> Stance | None:
    """Conditions, other people's answers, earlier thoughts, and options that the answer is not."""
    part = CONCLUSION.split(clause.before)[-1]
    if (
        words.PROVIDED.match(clause.after)
        or CONDITION.search(part)
        or any(found.search(clause.lead) for found in (REPORTED, words.SOMEBODY))
    ):
        return Stance.NAMED
    if EARLIER.search(part) or EARLIER.search(clause.tail):
        return Stance.NAMED
    if EXCEPTED.search(clause.before) and clause.count == 1:
        return Stance.FAVOURED
    if EXCEPT.search(clause.before) and clause.count == 1:
        return Stance.FAVOURED if REJECTED.match(clause.after) else Stance.OPEN
    opposed = words.OPPOSED.search(clause.lead) and not words.COLLECTIVE.search(clause.lead)  # "Not given (D)".
    return Stance.REJECTED if opposed else None


def _rivals(clause: _Clause) -> Stance | None:
    """Options that are as good as others."""
    if clause.count > 1 and words.ALL_RIGHT.match(clause.rest):
        return Stance.FAVOURED
    if words.ALSO.search(clause.lead) and words.RIGHTLY.search(clause.tail):
        return Stance.CHOSEN
    even = (
        words.UNDECIDED.search(clause.lead)
        or words.EVEN.search(clause.rest[:40])
        or words.OTHERWISE.search(clause.before)
    )
    return Stance.RIVAL if even or _likewise(clause) or words.MAYBE.search(clause.lead) else None


def _likewise(clause: _Clause) -> bool:
    """Whether a clause says of its options what was said before: "so is B", "as is B"."""
    return clause.opener.lower() in ("so", "as") and words.TOO.fullmatch(clause.lead) is not None


def _praised(clause: _Clause) -> Stance | None:
    """What follows an option speaks for it."""
    after, rest = clause.after, " " + clause.rest.lstrip()
    if words.MAKES.search(clause.lead) and MADE_RIGHT.match(words.POSSESSIVE.sub("", after)):
        return Stance.CHOSEN
    if words.COLLECTIVE.search(clause.lead) and clause.bracketed:
        return Stance.CHOSEN
    if (
        ONLY.search(clause.before.rstrip() + " ")
        and clause.count == 1
        and REMAINS.match(after)
        and not words.NOT.search(clause.tail)
    ):
        return Stance.FAVOURED
    if (
        clause.conceded
        or not (clause.subject or clause.called[:1] == "(")
        or words.NOT.search(re.split("[,:;.]", rest, maxsplit=1)[0])
    ):
        return None
    good = words.FITS.match(rest) or any(good.match(after) for good in (PRAISE, FITS, GLOWING, words.RIGHT))
    return Stance.FAVOURED if good else None


def _spoken_of(clause: _Clause) -> Stance | None:
    """What follows an option speaks against it, or it is named for another reason."""
    if words.AGAINST.search(clause.tail) or (words.BUT.search(clause.rest) and words.AGAINST.search(clause.rest)):
        return Stance.REJECTED
    said = words.IS_WHAT.search(clause.lead) and words.STANDS.match(" " + clause.tail.lstrip())
    if clause.count == 1 and not clause.conceded and said:
        return Stance.FAVOURED
    if words.EXPLAINS.fullmatch(clause.opener) or words.IDLE.search(clause.lead):
        return Stance.NAMED
    return Stance.REJECTED if clause.conceded else None


def _taken(clause: _Clause) -> Stance | None:
    """An option in the place of an answer, or as the subject of a clause that says nothing against it."""
    lead, single = clause.lead, clause.count == 1
    concludes = words.CONCLUDES.fullmatch(clause.opener) is not None
    stops = clause.after.lstrip("')]>")[:2] in (", ", "; ")
    if single and (clause.ends or clause.bracketed or stops) and words.TAKES.search(lead):
        return Stance.CHOSEN if concludes or words.DECIDES.search(lead) else Stance.FAVOURED
    if not single or words.LIKELY.search(clause.tail):
        return Stance.RIVAL
    if clause.subject and clause.ends and not words.SPOKEN_OF.search(lead) and _put_forward(clause):
        return Stance.CHOSEN if concludes else Stance.FAVOURED
    if clause.ends and lead.strip() and (words.OWN.search(lead) or _placed(lead, clause.called)):
        return Stance.CHOSEN if words.OWN.search(lead) else Stance.PLACED
    if clause.called[:1] == "(" and not clause.subject and not clause.ends:
        return Stance.NAMED
    if clause.subject and words.STANDS.match(" " + clause.tail.lstrip()):
        return Stance.REJECTED if words.NO.match(clause.before) else Stance.STANDING
    return None


def _placed(lead: str, called: str) -> bool:
    """Whether an option stands where an answer would, and its clause neither weighs nor doubts."""
    idle = any(found.search(lead) for found in (words.WEIGHED, DOUBT, MENTION)) or words.PREFACE.match(lead)
    return not idle and words.PLACED.search(lead + called) is not None


def _put_forward(clause: _Clause) -> bool:
    """Whether an option that is a clause of its own is put forward: "so B", "- option C", "B, then"."""
    if not clause.breaks:
        return True
    word = clause.breaks[-1]["word"]
    if word or clause.called.strip("([<'#"):
        return bool(clause.called) or bool(words.TURNS.fullmatch(word) or words.CONCLUDES.fullmatch(word))
    return not words.PREFACE.match(clause.before) and not words.UNDECIDED.search(clause.before)
