"""Golds that no vote can be compared with: several answers in one, a grade, or the same option everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set

from swaplaw.answers.forms import letter as option_letter
from swaplaw.errors import quote, several
from swaplaw.votes.checks.ballots import Ballots, flags
from swaplaw.votes.checks.check import SERIOUS, SURE, Check
from swaplaw.votes.checks.silence import is_no_answer

LONGEST_GOLD = 200
"""Longer golds are texts, not options side by side."""
LIKELY = 2.0
"""Standard errors above chance within which the best model may be guessing."""
_APART = re.compile(r"\s+or\s+|\s*[|;]\s*|\s*,\s*(?:or\s+)?|\s*/\s*", re.IGNORECASE)
_APART_NUMBERS = re.compile(r"\s+or\s+|\s*[|;]\s*", re.IGNORECASE)
"""A comma or a slash between numbers may make one number of them."""
_AROUND = " \t\n[](){}\"'`"
_GRADES = {
    frozenset(pair)
    for pair in (("1", "0"), ("1.0", "0.0"), ("correct", "incorrect"), ("true", "false"), ("pass", "fail"),
                 ("passed", "failed"), ("right", "wrong"), ("c", "i"))
}  # fmt: skip
_BINARY = {"yes", "no", "true", "false"}


def alternatives(gold: str) -> list[str]:
    """The parts of a gold that names several answers, or nothing.

    >>> alternatives("A or C"), alternatives('["A","C"]'), alternatives('["A"]'), alternatives("3,5")
    (['A', 'C'], ['A', 'C'], [], [])
    """
    if len(gold) > LONGEST_GOLD:
        return []
    numeric = not any(map(str.isalpha, _APART_NUMBERS.sub("", gold)))
    apart = _APART_NUMBERS if numeric else _APART
    parts = [part.strip(_AROUND) for part in apart.split(gold.strip(_AROUND))]
    return parts if len(parts) > 1 and all(parts) else []


def several_golds(ballots: Ballots) -> Iterator[Check]:
    """Golds that name several options, where nobody ever answers with several."""
    found = _joined(ballots)
    if not found:
        return
    places = [place for place in ballots.rows.golds.tolist() if found(ballots.names.golds[place])]
    rows = ballots.rows.where(flags(places, ballots.rows.sizes.golds)[ballots.rows.gold])
    if not rows.questions:
        return
    n, share = rows.questions, rows.questions / ballots.questions
    example = ballots.names.golds[places[0]]
    yield ballots.check(
        "several_golds", "error" if share >= SERIOUS else "warning", None, n,
        f"gold is {quote(example)} or another list of answers on {several(n, 'question')}: a vote can only be compared "
        "with one answer, so no vote on them is right",
        "give each of these questions one gold, or leave them out",
    )  # fmt: skip


def _joined(ballots: Ballots) -> Callable[[str], bool] | None:
    """How to tell golds that join answers which stand alone elsewhere, if there are any."""
    parts = {gold: [] if is_no_answer(gold) else alternatives(gold) for gold in ballots.golds}
    if not any(parts.values()):
        return None
    alone = {gold for gold, found in parts.items() if not found}
    # A list that somebody answers with is an answer of its own kind.
    given = set(ballots.texts(ballots.answered))

    def joined(gold: str) -> bool:
        found = parts[gold]
        return bool(found) and gold not in given and all(_stands_alone(part, alone) for part in found)

    return joined


def _stands_alone(part: str, alone: Set[str]) -> bool:
    return part in alone or (len(part) == 1 and part.isalpha())


def one_gold(ballots: Ballots) -> Iterator[Check]:
    """Gold that is a grade, or one and the same option on every question."""
    if len(ballots.golds) != 1 or ballots.questions < SURE:
        return
    (gold,) = ballots.golds
    said = {text.strip().casefold() for text in ballots.texts(ballots.answered)} | {gold.strip().casefold()}
    if said in _GRADES:
        yield ballots.check(
            "grades_as_answers", "error", None, ballots.questions,
            f"gold is {quote(gold)} on every question and answers are only {' or '.join(map(quote, sorted(said)))}: "
            "these are grades, not answers, and a vote among grades would know what is right",
            "put what the models answered in the column `answer` and the grade in the column `correct` "
            "(docs/votes.md); grades alone give each model's accuracy (`swaplaw summary`), and no vote",
        )  # fmt: skip
    elif (len(option_letter(gold)) == 1 and gold.strip().isalpha()) or gold.strip().casefold() in _BINARY:
        yield ballots.check(
            "constant_gold", "warning", None, ballots.questions,
            f"gold is {quote(gold)} on every question, so a model that always says so would be right",
            "check the column `gold`; if the right option always stood in the same place, ask in other orders",
        )  # fmt: skip


def at_chance(ballots: Ballots) -> Iterator[Check]:
    """Options that no model knows better than guessers do: gold may be that of other questions."""
    if not ballots.closed or ballots.questions < SURE or not ballots.rows.right.any():
        return
    chance = 1 / len(ballots.golds)
    shares = {
        model: ballots.correct[model] / ballots.answers[model] for model in ballots.models if ballots.answers[model]
    }
    best = max(shares, key=lambda model: shares[model])
    if shares[best] <= chance + LIKELY * (chance * (1 - chance) / ballots.asked[best]) ** 0.5:
        yield ballots.check(
            "at_chance", "warning", None, ballots.questions,
            f"no model is surely right more often than guessing would be (in about {chance:.0%} of its answers): the "
            f"best, {quote(best)}, is in {shares[best]:.0%}",
            "check that the column `gold` belongs to these questions, and names options as the answers do",
        )  # fmt: skip


def gold_at_fault(ballots: Ballots) -> bool:
    """Whether nobody is right because answers are letters and golds are not: then no model is to blame."""
    if ballots.rows.right.any() or not ballots.golds or any(map(is_letter, ballots.golds)):
        return False
    letters = ballots.where(ballots.answered, is_letter).total
    return letters >= (1 - SERIOUS) * max(1, ballots.answered.total)


def is_letter(text: str) -> bool:
    """Whether a text is the letter of an option, however it is written.

    >>> is_letter("B"), is_letter("(b) Paris"), is_letter("Paris"), is_letter("2")
    (True, True, False, False)
    """
    found = option_letter(text.strip())
    return len(found) == 1 and found.isalpha()
