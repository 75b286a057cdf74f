"""Grading by tier: the same answer gets the same grade for ever, and only the rubric tier needs a judge.

There is one idea: the gold is looked for in the answer, wherever it stands and however it is spelt, and then what
stands beside it is weighed. Nothing or a remark beside it: correct. Anything else: the answer is unsure.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import ABSTENTIONS, EXCUSES, beside, bounds, rough
from swaplaw.answers.quantities import bare_number, decimal, measure
from swaplaw_forensic.challenges.gold import Gold, Item
from swaplaw_forensic.grading.sets import overlap
from swaplaw_forensic.reading.kinds import MARK, cut_lines, file_type, key, kind_of, marked, plain, rivals, unwrap
from swaplaw_forensic.reading.lists import pieces
from swaplaw_forensic.reading.remarks import (
    claims,
    doubted,
    is_remark,
    miscounted,
    repeats,
    without_asides,
    without_remarks,
)
from swaplaw_forensic.reading.spans import amounts, instant, moments, unit_of

CORRECT, INCORRECT, ABSTAINED = "correct", "incorrect", "abstained"
NEEDS_JUDGE, UNGRADEABLE = "needs_judge", "ungradeable"
UNSURE = "unsure"
"""The gold stands in the answer, and nothing proves that it is the answer: for a judge, or else an abstention."""
LONGEST_ANSWER = 4000
LONGEST_CATEGORY = 200
# "None" and "no calls were answered" are zero, where zero is right.
_NOTHING = re.compile(r"(?:nil|nothing|never|(?:none|no|zero)(?: [a-z][a-z -]*)?)[.!]?", re.IGNORECASE)
_ASKS_SIZE = re.compile(r"\b(?:bytes?|sizes?|large|big|long|length)\b|^\W*$", re.IGNORECASE)
_ASKS_TYPE = re.compile(r"\b(?:type|kind|format)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Grade:
    """The outcome for one answer, and why."""

    outcome: str
    why: str
    score: Fraction | None = None
    """F1 or recall, in the set tier."""


def grade(gold: Gold, answer: str | None) -> Grade:
    """Grade one answer (None: nothing was submitted)."""
    if gold.ungradeable:
        return Grade(UNGRADEABLE, gold.ungradeable)
    if answer is None:
        return Grade(ABSTAINED, "unanswered")
    if len(answer) > LONGEST_ANSWER:
        return Grade(INCORRECT, f"longer than {LONGEST_ANSWER} characters")
    if gold.tier == "rubric":
        return Grade(ABSTAINED, "unknown") if abstains(answer) else Grade(NEEDS_JUDGE, "rubric")
    text = plain(answer)
    grades = [_GRADERS[gold.tier](gold, one) for one in dict.fromkeys((text, cut_lines(text, gold.asked)))]
    best = min(grades, key=lambda one: (CORRECT, UNSURE, INCORRECT).index(one.outcome))
    if best.outcome != CORRECT and abstains(answer):
        said_nothing = not any(letter.isalnum() for letter in answer)
        return Grade(ABSTAINED, "no_parse" if said_nothing else "unknown")
    if best.outcome != CORRECT and key(answer) in {key(text) for text in gold.printed}:
        return Grade(INCORRECT, f"a known error of the published key: {gold.erratum}")
    return best


def abstains(answer: str) -> bool:
    """Say whether an answer only says that there is none."""
    form = unwrap(visible(answer)).casefold().strip(" .!?-_…*()[]")
    excuse = len(form) <= 60 and form.startswith(EXCUSES)
    return form in ABSTENTIONS or excuse or not any(letter.isalnum() for letter in form)


def rubric_of(gold: Gold) -> str:
    """Return what a judge is told of the right answer."""
    if gold.tier == "rubric":
        return gold.rubric
    told = [*gold.accept, *gold.patterns] or [gold.category]
    return (
        f"The right answer is {' or '.join(told)}. The candidate must give it as the answer to the question; further "
        "answers beside it, a denial or a hedge make it incorrect, remarks on how it was found do not."
    )


def wrong_category(gold: Gold, answer: str) -> str:
    """Return the category of an incorrect answer: its normal form, never that of the gold."""
    text = _short(key(answer))
    return f"{text} (not as asked)" if text == gold.category else text


def gold_free_category(question_type: str, asked: str, answer: str) -> str:
    """Return the category that a deployment would form, knowing the question but no gold."""
    value = without_remarks(answer, asked)
    if question_type == "number" and (found := bare_number(value)):
        return decimal(found[0])
    if question_type == "time" and len(said := {one.said for one in moments(value)[0]}) == 1:
        return said.pop()
    if question_type == "list":
        return _short("; ".join(sorted({key(piece) for piece in pieces(answer)})))
    return _short(key(cut_lines(value, asked), asked))


def _short(text: str) -> str:
    """Keep categories readable; a hash keeps two long answers apart."""
    if len(text) <= LONGEST_CATEGORY:
        return text
    return f"{text[: LONGEST_CATEGORY - 20]}… {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _weighed(hit: bool, why: str) -> Grade:
    """Grade an answer by whether it holds the gold, and by what keeps that from being what it says."""
    if not hit:
        return Grade(INCORRECT, "the right answer is not in it")
    return Grade(UNSURE, f"it holds the right answer, but {why}") if why else Grade(CORRECT, "it is the right answer")


def _text(gold: Gold, text: str) -> Grade:
    exact = gold.tier == "exact" or gold.keep_case
    if not exact and _ASKS_TYPE.search(gold.asked) and file_type(text) in {file_type(one) for one in gold.accept}:
        return Grade(CORRECT, "it is the right type")
    rest, held = text, []
    for wanted in sorted(gold.accept, key=len, reverse=True):
        left = marked(rest, wanted, gold.asked, exact)
        held += [wanted] if left != rest else []
        rest = left
    if not held:
        return _weighed(False, "")
    phrase = kind_of(held[0], gold.asked) is None
    return _weighed(True, claims(rest, gold.asked, rivals(held[0], gold.asked), phrase=phrase))


def _number(gold: Gold, text: str) -> Grade:
    accepted = [measured for one in gold.accept if (measured := measure(f"{one} {gold.unit or ''}"))]
    if any(value == 0 for value, _ in accepted) and _NOTHING.fullmatch(text):
        return Grade(CORRECT, "it is nothing")
    found, rest = amounts(without_asides(without_remarks(text, gold.asked), gold.asked))
    tolerance = gold.tolerance * (accepted[0][0] / Fraction(gold.accept[0]) if Fraction(gold.accept[0]) else 1)
    hits = [any(_agrees(one, wanted, tolerance, gold) for one in way for wanted in accepted) for way in found]
    # What measures something else is no second answer.
    others = [any(_of_kind(one[1], gold) for one in way) for way, hit in zip(found, hits, strict=True) if not hit]
    if any(others):
        why = "another number stands beside it"
    elif any(not one[1] for way in found for one in way) and miscounted(rest, gold.asked, gold.unit):
        why = "something else was counted"
    elif bounds(rest.replace(MARK, "1")) or (rough(text) and not gold.tolerance) or doubted(text, gold.asked):
        why = "it is denied, bounded or approximate"
    else:
        why = claims(rest, gold.asked, lambda said: re.findall(r"[^\s,;:]*\d[^\s,;:]*", said))
    return _weighed(any(hits), why)


def _of_kind(kind: str, gold: Gold) -> bool:
    """Say whether a number of something may answer; without a unit, sizes, degrees and sums of money may."""
    if gold.unit is not None:
        return kind in ("", unit_of(gold.unit))
    return kind in ("", "deg", "bit" if _ASKS_SIZE.search(gold.asked) else "") or (
        kind.isupper() and "." in gold.accept[0]
    )


def _agrees(said: tuple[Fraction, str], wanted: tuple[Fraction, str], tolerance: Fraction, gold: Gold) -> bool:
    value, kind = said
    if gold.unit is None:
        value = value / 8 if kind == "bit" else value
    elif not kind:
        value *= (measure(f"1 {gold.unit}") or (Fraction(1), ""))[0]
    return _of_kind(kind, gold) and abs(value - wanted[0]) <= tolerance


def _time(gold: Gold, text: str) -> Grade:
    found, rest = moments(text)
    accepted = [instant(one) for one in gold.accept]
    hits = [any(one.near(wanted, gold.tolerance, gold.zones) for wanted in accepted) for one in found]
    dated = any(hit and re.match(r"\d{4}", one.said) for hit, one in zip(hits, found, strict=True))

    def unread(said: str) -> list[str]:
        """Return what may be a zone behind a clock that names none, or the rest of a time."""
        behind = [] if all(one.said.endswith("Z") for one in found) else re.findall(rf"{MARK}([^,;:()\n{MARK}]*)", said)
        words = [one for one in behind if not (repeats(one, gold.asked) or is_remark(one, gold.asked))]
        return words + re.findall(r"(?<!\w)\d[\d:.-]*(?!\w)", said)

    if not all(hits):
        why = "another time stands beside it"
    elif bounds(rest) or rough(rest) or (beside(rest) and not beside(gold.asked)):
        why = "it is a bound, or approximate"
    else:
        why = claims(rest, gold.asked, unread)
    return _weighed(dated, why)


def _regex(gold: Gold, text: str) -> Grade:
    text = text.replace("\n", " ")
    hit = any(re.fullmatch(pattern, text, re.IGNORECASE) for pattern in gold.patterns)
    rest = re.sub(re.escape(gold.category), MARK, text, flags=re.IGNORECASE)
    return _weighed(hit, "it is denied or hedged" if doubted(rest, gold.asked) else "")


def _set(gold: Gold, text: str) -> Grade:
    best = overlap(gold, text)
    why = f"{gold.measure} {float(best):.2f}, needed {float(gold.threshold):.2f}"
    if best >= gold.threshold:
        return Grade(CORRECT, why, best)
    held = sum(_held(item, text, gold) for item in gold.items)
    return Grade(UNSURE if held >= gold.threshold * len(gold.items) else INCORRECT, why, best)


def _held(item: Item, text: str, gold: Gold) -> bool:
    """Say whether all of a member stands anywhere in a text."""
    parts = item.has or ((item.names,) if item.names else ())
    named = all(any(MARK in marked(text, one, gold.asked, gold.keep_case) for one in part) for part in parts)
    wanted = [instant(one) for one in item.when]
    return named and (
        not wanted or any(one.near(at, gold.tolerance, gold.zones) for one in moments(text)[0] for at in wanted)
    )


_GRADERS: dict[str, Callable[[Gold, str], Grade]] = {
    "exact": _text,
    "normalised": _text,
    "number": _number,
    "time": _time,
    "set": _set,
    "regex": _regex,
}
