"""Grading by tier: the same answer gets the same grade for ever, and only the rubric tier needs a judge."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from swaplaw.answers.characters import visible
from swaplaw.answers.quantities import instant, moments, numbers, without_moments
from swaplaw.answers.text import (
    abstains,
    equivalents,
    normalise,
    pieces,
    refang,
    splittings,
    unwrap,
)
from swaplaw.forensic.challenges.gold import Gold, Item

CORRECT, INCORRECT, ABSTAINED = "correct", "incorrect", "abstained"
NEEDS_JUDGE, UNGRADEABLE = "needs_judge", "ungradeable"
LONGEST_ANSWER = 4000
LONGEST_CATEGORY = 200


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
    result = _GRADERS[gold.tier](gold, answer)
    if result.outcome == CORRECT:
        return result
    if abstains(answer):
        said_nothing = not any(letter.isalnum() for letter in answer)
        return Grade(ABSTAINED, "no_parse" if said_nothing else "unknown")
    if normalise(answer) in {normalise(text) for text in gold.printed}:
        return Grade(INCORRECT, f"a known error of the published key: {gold.erratum}")
    return result


def wrong_category(gold: Gold, answer: str) -> str:
    """Return the category of an incorrect answer: its normal form, never that of the gold."""
    text = _short(normalise(answer))
    return f"{text} (not as asked)" if text == gold.category else text


def gold_free_category(question_type: str, answer: str) -> str:
    """Return the category that a deployment would form, knowing the question's type but no gold."""
    if question_type == "number" and len(set(numbers(answer))) == 1:
        return str(numbers(answer)[0])
    if question_type == "time":
        instants = {moment.canonical() for moment in moments(answer)}
        if len(instants) == 1:
            return instants.pop()
    if question_type == "list":
        return _short("; ".join(sorted({normalise(piece) for piece in pieces(answer)})))
    return _short(normalise(answer))


def _short(text: str) -> str:
    """Keep categories readable; a hash keeps two long answers apart."""
    if len(text) <= LONGEST_CATEGORY:
        return text
    return f"{text[: LONGEST_CATEGORY - 20]}… {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _exact(gold: Gold, answer: str) -> Grade:
    text = unwrap(answer)
    return _verdict(text in gold.accept or answer.strip() in gold.accept, "the exact text")


def _normalised(gold: Gold, answer: str) -> Grade:
    accepted = set().union(*(_forms(text) for text in gold.accept))
    return _verdict(normalise(answer) in accepted, "the normalised text")


def _number(gold: Gold, answer: str) -> Grade:
    found = numbers(answer)
    if not found:
        return Grade(INCORRECT, "no number in it")
    accepted = [Fraction(text) for text in gold.accept]
    hit = all(any(abs(value - wanted) <= gold.tolerance for wanted in accepted) for value in found)
    return _verdict(hit, "the number" if len(set(found)) == 1 else "every number in it")


def _time(gold: Gold, answer: str) -> Grade:
    found = moments(answer)
    if not found:
        return Grade(INCORRECT, "no date and time in it")
    accepted = [instant(text) for text in gold.accept]
    hit = all(any(moment.matches(wanted, gold.tolerance, gold.zones) for wanted in accepted) for moment in found)
    return _verdict(hit, "the time" if len(found) == 1 else "every time in it")


def _regex(gold: Gold, answer: str) -> Grade:
    text = unwrap(refang(visible(answer))).replace("\n", " ")
    return _verdict(any(re.fullmatch(pattern, text, re.IGNORECASE) for pattern in gold.patterns), "the pattern")


def _set(gold: Gold, answer: str) -> Grade:
    """Take the reading of the list that fits best: how it was punctuated is not what was asked."""
    best = max((_overlap(gold, rows) for rows in splittings(answer)), default=Fraction(0))
    return Grade(
        CORRECT if best >= gold.threshold else INCORRECT,
        f"{gold.measure} {float(best):.2f}, needed {float(gold.threshold):.2f}",
        best,
    )


def _overlap(gold: Gold, rows: list[str]) -> Fraction:
    rows = list({normalise(row): row for row in rows if normalise(row)}.values())
    if not rows:
        return Fraction(0)
    found = [item for item in gold.items if any(_is(item, row, gold) for row in rows)]
    recall = Fraction(len(found), len(gold.items))
    if gold.measure == "recall":
        return recall
    wanted = [row for row in rows if any(_is(item, row, gold) for item in gold.items)]
    extra = [row for row in rows if row not in wanted and not any(_is(item, row, gold) for item in gold.optional)]
    # Optional members neither help nor harm.
    precision = Fraction(len(wanted), len(wanted) + len(extra)) if wanted else Fraction(0)
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def _is(item: Item, row: str, gold: Gold) -> bool:
    if item.names:
        accepted = set().union(*(_forms(name) for name in item.names))
        # A row may be labelled: "MD5 = ...", "password: ...".
        labels = [row, *(part for mark in (": ", " = ", " -> ") for part in row.split(mark, 1)[1:])]
        return any(normalise(text) in accepted for text in labels)
    if item.when:
        found = moments(row)
        wanted = [instant(text) for text in item.when]
        hits = [any(moment.matches(one, gold.tolerance, gold.zones) for one in wanted) for moment in found]
        # A record's row may hold no other time: that would pair any name with any time.
        right = all(hits) if item.has else any(hits)
        if (found and not right) or (not found and item.when_required):
            return False
    text = f" {_loose(without_moments(visible(row)) if item.when else visible(row))} "
    return all(any(_holds(text, part) for part in parts) for parts in item.has)


def _loose(text: str) -> str:
    return refang(text).replace("\\", "/").casefold()


def _holds(text: str, part: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_loose(part))}(?!\w)", text) is not None


@lru_cache(maxsize=4096)
def _forms(text: str) -> frozenset[str]:
    return frozenset(equivalents(text))


def _verdict(hit: bool, what: str) -> Grade:
    return Grade(CORRECT, f"{what} agrees") if hit else Grade(INCORRECT, f"{what} differs")


_GRADERS: dict[str, Callable[[Gold, str], Grade]] = {
    "exact": _exact,
    "normalised": _normalised,
    "number": _number,
    "time": _time,
    "set": _set,
    "regex": _regex,
}
