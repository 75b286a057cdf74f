"""Grading by tier: the same answer gets the same grade for ever, and only the rubric tier needs a judge."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import beside, bounds, hedged, negated, rough
from swaplaw_forensic.challenges.gold import Gold, Item
from swaplaw_forensic.grading.readings import account, candidates, file_type, same_text, turned, undecided
from swaplaw_forensic.grading.sets import overlap
from swaplaw_forensic.reading.lists import pieces
from swaplaw_forensic.reading.quantities import Amount, Moment, Times, amounts, instant, moments, numbers, times
from swaplaw_forensic.reading.remarks import bare, contradicts, values
from swaplaw_forensic.reading.text import abstains, equivalents, normalise, refang, unwrap
from swaplaw_forensic.reading.tools import field
from swaplaw_forensic.reading.units import CURRENCIES, UNITS, in_unit
from swaplaw_forensic.reading.values import stated

CORRECT, INCORRECT, ABSTAINED = "correct", "incorrect", "abstained"
NEEDS_JUDGE, UNGRADEABLE = "needs_judge", "ungradeable"
UNSURE = "unsure"
"""The gold stands in the answer, and nothing proves that it is the answer: for a judge, or else an abstention."""
LONGEST_ANSWER = 4000
LONGEST_CATEGORY = 200
# "None" and "no calls were answered" are zero, where zero is right.
_NOTHING = re.compile(r"(?:nil|nothing|never|(?:none|no|zero)(?: [a-z][a-z -]*)?)[.!]?", re.IGNORECASE)
# 0:46 and 00:00:46 are lengths of time, where one is asked for; `ls -l` prints a size before the date.
_LENGTH = re.compile(r"(?:(\d+):)?(\d+):([0-5]\d)(?:\.0+)?(?: *\((?:h+:)?m+:s+\))?")
_LISTED = re.compile(r"[-dlbcps][-rwxsStT]{9}[.+@]? +\d+ +\S+ +\S+ +(\d+) .*")
# Words that may stand between a number and its unit's absence, or behind a clock without a zone.
_AFTER_NUMBER = (None, "in", "total", "each", "interval", "apart", "between", "on", "for")
_AFTER_CLOCK = frozenset(
    [
        "local",
        "time",
        "hours",
        "hrs",
        "h",
        "o",
        "clock",
        "on",
        "the",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
    ]
)
_ZONE_LIKE = re.compile(r"\b[A-Z]{1,4}T\b|\b[A-Z][a-z]+/[A-Z]|\bUTC\b|\bGMT\b|\btime ?zone\b")


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
    result = Grade(INCORRECT, "it differs")
    for text in _readings(gold, answer):
        result = _GRADERS[gold.tier](gold, text)
        if result.outcome == CORRECT:
            return result
    if abstains(answer):
        said_nothing = not any(letter.isalnum() for letter in answer)
        return Grade(ABSTAINED, "no_parse" if said_nothing else "unknown")
    if normalise(answer) in {normalise(text) for text in gold.printed}:
        return Grade(INCORRECT, f"a known error of the published key: {gold.erratum}")
    result = _GRADERS[gold.tier](gold, answer)
    return (
        Grade(UNSURE, f"it holds the right answer, but {result.why}", result.score) if _holds(gold, answer) else result
    )


def _readings(gold: Gold, answer: str) -> list[str]:
    """Return the answer with and without remarks, as a whole and line by line, and cut to a tool's field."""
    lines = [field(line, gold.asked, number=gold.tier == "number") for line in answer.splitlines()]
    cut = "\n".join(lines)
    texts = [*values(answer, gold.asked), *values(cut, gold.asked), bare(cut, gold.asked)]
    return list(dict.fromkeys(text for text in texts if not contradicts(text, gold.asked) or gold.tier == "set"))


def _holds(gold: Gold, answer: str) -> bool:
    """Say whether the gold stands anywhere in an answer, whatever is said about it."""
    if gold.tier == "number":
        return any(abs(one - Fraction(wanted)) <= gold.tolerance for one in numbers(answer) for wanted in gold.accept)
    if gold.tier == "time":
        wanted = [instant(text) for text in gold.accept]
        return any(one.matches(gold_, gold.tolerance, gold.zones) for one in moments(answer) for gold_ in wanted)
    if gold.tier == "regex":
        return any(re.search(rf"(?<!\w)(?:{pattern})(?!\w)", answer, re.IGNORECASE) for pattern in gold.patterns)
    text = f" {loose(answer)} "
    if gold.tier == "set":
        held = [_holds_item(item, text, moments(answer), gold) for item in gold.items]
        return sum(held) >= gold.threshold * len(held)
    if gold.tier == "exact" or gold.keep_case:
        return any(re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", visible(answer)) for wanted in gold.accept)
    return any(f" {loose(wanted)} " in text for wanted in gold.accept)


def _holds_item(item: Item, text: str, said: Sequence[Moment], gold: Gold) -> bool:
    parts = item.has or (item.names,)
    named = all(any(f" {loose(one)} " in text for one in spellings) for spellings in parts)
    wanted = [instant(one) for one in item.when] if item.when_required else []
    return named and (not wanted or any(one.matches(at, gold.tolerance, gold.zones) for one in said for at in wanted))


def loose(text: str) -> str:
    """Return the words of a text alone: what holds a value holds it in any punctuation."""
    return " ".join(re.findall(r"[^\W_]+", refang(visible(text)).casefold()))


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
    texts = candidates(gold, answer)
    hit = any(same_text(gold, wanted, text) for wanted in gold.accept for text in texts)
    hit = hit or any(stated(wanted, answer, gold.asked, exact=True) for wanted in gold.accept)
    return _verdict(hit, "the exact text")


def _normalised(gold: Gold, answer: str) -> Grade:
    if answer.rstrip(' "*)').endswith("?") and not any(text.endswith("?") for text in gold.accept):
        return Grade(INCORRECT, "it asks")
    texts = candidates(gold, answer)
    if gold.keep_case:
        return _verdict(any(visible(text) in gold.accept for text in texts), "the text, with its case,")
    accepted: set[str] = set().union(*(_forms(text) for text in gold.accept))
    texts += [user for text in texts if (user := account(gold, text)) is not None]
    texts += [name for text in texts if (name := turned(text, gold.asked)) is not None]
    types = {kind for text in gold.accept if not undecided(answer) and (kind := file_type(text)) is not None}
    hit = any(normalise(text) in accepted or (types and file_type(text) in types) for text in texts)
    hit = hit or any(stated(wanted, answer, gold.asked) for wanted in gold.accept)
    # "EST (UTC-05:00)": two accepted forms of one thing.
    both = re.fullmatch(r"(.+?)\s*\(([^()]+)\)\.?", visible(answer))
    hit = hit or (both is not None and {normalise(both[1]), normalise(both[2])} <= accepted)
    return _verdict(hit, "the normalised text")


def _number(gold: Gold, answer: str) -> Grade:
    text = visible(answer)
    accepted = [Fraction(one) for one in gold.accept]
    if 0 in accepted and _NOTHING.fullmatch(text):
        return _verdict(True, "the number")
    if hedged(text) or negated(text) or bounds(text) or (rough(text) and not gold.tolerance):
        return Grade(INCORRECT, "it denies, bounds or hedges the number")
    found = _measured(text, gold.unit) or amounts(text)
    if not found:
        return Grade(INCORRECT, "no number in it")
    if gold.unit and any(amount.unit is None and amount.noun not in _AFTER_NUMBER for amount in found):
        return Grade(INCORRECT, f"its unit is not {gold.unit}")
    if gold.unit is None and any("." in one for one in gold.accept):
        # A sum of money whose gold names no currency cannot tell one from another.
        found = [replace(one, unit=None) if one.unit and UNITS[one.unit][0] in CURRENCIES else one for one in found]
    remark = re.fullmatch(r"([^()]+)\(([^()]+)\)\.?", text)
    if gold.unit is None and remark and all(amount.unit for amount in amounts(remark[2])) and amounts(remark[1]):
        found = amounts(remark[1])  # "204800 sectors (100 MiB)"
    hit = all(_near(in_unit(one.value, one.unit, gold.unit), accepted, gold.tolerance) for one in found)
    hit = hit or _near(_duration(found, text, gold.unit), accepted, gold.tolerance)
    return _verdict(hit, "the number" if len(found) == 1 else "every number in it")


def _measured(text: str, unit: str | None) -> list[Amount]:
    """Read a length of time that is written like a clock, and the size in a line of `ls -l`."""
    measures = UNITS[unit.casefold()][0] if unit else ""
    length = _LENGTH.fullmatch(text) if measures == "time" else None
    if length:
        hours, minutes, seconds = (int(part or 0) for part in length.groups())
        return [Amount(Fraction(3600 * hours + 60 * minutes + seconds), "s")]
    listed = _LISTED.fullmatch(text) if measures == "size" else None
    return [Amount(Fraction(listed[1]), "bytes")] if listed else []


def _near(values: Iterable[Fraction], accepted: Sequence[Fraction], tolerance: Fraction) -> bool:
    return any(abs(value - wanted) <= tolerance for value in values for wanted in accepted)


def _duration(found: Sequence[Amount], text: str, unit: str | None) -> tuple[Fraction, ...]:
    """Add up "1 min 4 s"."""
    if unit is None or len(found) < 2 or any(amount.unit is None for amount in found):
        return ()
    if not re.fullmatch(r"(?:[\d.]+\s*[a-z]+[\s,]*(?:and\s+)?)+", text.casefold()):
        return ()
    parts = [in_unit(amount.value, amount.unit, unit) for amount in found]
    return (sum((part[0] for part in parts), Fraction(0)),) if all(parts) else ()


def _time(gold: Gold, answer: str) -> Grade:
    read = times(answer)
    if not read.moments:
        return Grade(INCORRECT, "no date and time in it")
    if read.undated or not _all_read(read, gold):
        return Grade(INCORRECT, "something beside the time was not understood, denies it or hedges")
    accepted = [instant(text) for text in gold.accept]
    hit = all(any(moment.matches(wanted, gold.tolerance, gold.zones) for wanted in accepted) for moment in read.moments)
    return _verdict(hit, "the time" if len(read.moments) == 1 else "every time in it")


def _all_read(read: Times, gold: Gold) -> bool:
    """Say whether nothing behind a clock was left unread: it could be a zone or a second time."""
    before, *after = read.rest("\x01").split("\x01")
    if any(negated(part) or hedged(part) or bounds(part) or rough(part) for part in (before, *after)):
        return False
    if beside(before) and not _repeats_words(before, gold.asked):
        return False
    for moment, text in zip(read.moments, after, strict=True):
        words = [word for word in re.findall(r"\w+", text.casefold()) if word not in _AFTER_CLOCK]
        if words and (
            moment.offsets is None or any(character.isdigit() for character in text) or _ZONE_LIKE.search(text)
        ):
            return False
    return True


def _repeats_words(text: str, asked: str) -> bool:
    known = set(re.findall(r"\w+", asked.casefold()))
    return all(word in known for word in re.findall(r"before|after|since|until|by|later|earlier", text.casefold()))


def _regex(gold: Gold, answer: str) -> Grade:
    text = unwrap(refang(visible(answer))).replace("\n", " ")
    hit = any(re.fullmatch(pattern, text, re.IGNORECASE) for pattern in gold.patterns)
    return _verdict(hit and not undecided(text, gold.category), "the pattern")


def _set(gold: Gold, answer: str) -> Grade:
    best = overlap(gold, answer)
    return Grade(
        CORRECT if best >= gold.threshold else INCORRECT,
        f"{gold.measure} {float(best):.2f}, needed {float(gold.threshold):.2f}",
        best,
    )


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
