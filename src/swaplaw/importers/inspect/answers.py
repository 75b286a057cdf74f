"""What one Inspect sample voted for: the answer that its scorer saw, the gold, the grade, or why there is none."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from swaplaw.answers.characters import storable
from swaplaw.answers.choice import read_choice
from swaplaw.answers.letters import letter
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.importers.documents import CHOICE, LETTER
from swaplaw.importers.record import STOPS, Options, bounded, positions

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample, EvalSampleSummary
    from inspect_ai.scorer import Score

Orders = dict[str, tuple[int, ...]]
"""For each question, the digests of its options in the order that letters refer to."""

# What Inspect's scorers say of an abnormal score, in the vote table's words.
REASONS = {
    "refusal": "refused",
    "no_response": "unanswered",
    "invalid_response_format": "no_parse",
    "grader_failed": "ungraded",
    "scoring_failed": "ungraded",
}
LIMITS = {"token": "truncated", "context": "truncated"}
OWN = ("truncated", "no_parse", "refused", "limit")
"""Reasons in the vote table's own words: a scorer that gives one has looked at stop reason and limits itself."""
SHOWN = ("position", "options")
"""Where the chosen option was shown, and among how many: kept where a scorer tells."""
MAX_REASON = 40


@dataclass
class SampleRow:
    """One vote on its way to the table."""

    epoch: int
    row: dict[str, Any] = field(default_factory=dict)
    spoken: bool = False
    """Whether the answer was read here from the completion, rather than taken from the scorer."""
    options: int = 0
    """How many options there were, where the answer is one of them."""
    score: float | None = None
    """What the scorer gave, where that says whether the answer is right."""

    @classmethod
    def abstained(cls, summary: EvalSampleSummary, reason: str, gold: str | None = None) -> SampleRow:
        """A null vote, and why."""
        known = gold if gold is not None else _gold_text(summary.target)
        row = {"question": storable(str(summary.id)), "answer": None, "gold": known, "reason": reason, "correct": False}
        return cls(summary.epoch, row)


@dataclass(frozen=True)
class Graded:
    """A scored sample: its summary, its score, and the full sample where that was needed."""

    summary: EvalSampleSummary
    full: EvalSample | None
    score: Score
    options: Options

    def ballot(self, orders: Orders) -> SampleRow:
        """Vote for an option where the question has any, for a text otherwise."""
        letters = self._letters()
        made = self._text() if letters is None else self._choice(orders, *letters)
        made.row["graded"] = self._graded()
        return made

    def _graded(self) -> bool | None:
        """The scorer's own grade, whatever is read from the reply here; None where it gave none."""
        if isinstance(self.score.value, dict | list) and not (self.options.scorer or "").partition(":")[2]:
            return None
        grade = self._grade()
        return None if grade is None else grade != "N" and float(grade) >= self.options.threshold

    def _letters(self) -> tuple[list[int], list[int]] | None:
        """Positions of the chosen and of the correct options, where answer and target are letters of options."""
        choices = self.summary.choices
        if not choices:
            return None
        target = positions(self.summary.target, len(choices))
        if target is None:
            return None
        answer = self._scored_letters(len(choices))
        return (self._spoken_letter(len(choices)) if answer is None else answer), target

    def _scored_letters(self, count: int) -> list[int] | None:
        """Positions of the options that the scorer's own answer names."""
        return positions((self.score.answer or "").split(","), count) if self._answer() else None

    def _spoken_letter(self, count: int) -> list[int]:
        """The letter that the completion names, where the scorer kept no letter of its own."""
        if reason_of(self.score) in OWN or self.full is None or not self.full.output.choices:
            return []
        if abstention(self.summary, self.full, None) in ("truncated", "refused"):
            return []
        label = read_choice(self.full.output.completion or "", count, self.summary.choices)
        return [] if label is None else (positions(label, count) or [])

    def _answer(self) -> str:
        """The scorer's answer, in full, its lines as they are."""
        if self.full is not None and self.full.scores:
            for name, score in (self.summary.scores or {}).items():
                if score is self.score and name in self.full.scores:
                    return storable(self.full.scores[name].answer or "").strip()
        return storable(self.score.answer or "").strip()

    def _choice(self, orders: Orders, chosen: list[int], correct: list[int]) -> SampleRow:
        """Letters refer to the order in which the question's options were first seen, however they were shuffled."""
        choices = list(self.summary.choices or [])
        question = storable(str(self.summary.id))
        digests = _digests(choices)
        reference = orders.setdefault(question, digests)
        if sorted(reference) != sorted(digests):
            reference = digests  # Other options: another question under the same id; the contract will say so.
        place = {digest: index for index, digest in enumerate(reference)}
        # Without a target nobody knows yet what is right: the vote has no gold and no grade.
        gold = _letters_at([place[digests[index]] for index in correct]) or None
        # Where several options are right at once, answers are sets of them, and there are more than options.
        shown = {"options": len(choices)} if len(correct) < 2 else {}
        if not chosen:
            row = shown | {"question": question, "answer": None, "gold": gold}
            row["correct"] = None if gold is None else False
            why = abstention(self.summary, self.full, self.score)
            return SampleRow(self.summary.epoch, row | {"reason": why})
        answer = _letters_at([place[digests[index]] for index in chosen])
        option = " | ".join(bounded(storable(choices[index]))[:200] for index in sorted(chosen))
        row = shown | {"question": question, "answer": answer, "gold": gold, "option": option}
        row["correct"] = None if gold is None else answer == gold
        spoken = self._scored_letters(len(choices)) is None
        return SampleRow(self.summary.epoch, row | {"reason": None} | _shown(self.score), spoken, len(choices))

    def _text(self) -> SampleRow:
        """Free text is a category as it stands (or as canonicalised); the scorer says whether it is correct."""
        summary, grade = self.summary, self._grade()
        gold = _gold_text(self.full.target if self.full is not None else summary.target)
        if grade is None or grade == "N":
            return SampleRow.abstained(summary, abstention(summary, self.full, self.score, bool(self._answer())), gold)
        correct = isinstance(grade, float) and grade >= self.options.threshold
        said = self._answer() or self._completion(correct)
        answer = self._read(said, gold) if said else None
        if answer is None and (said or not correct):
            return SampleRow.abstained(summary, abstention(summary, self.full, self.score), self.options.gold(gold))
        row = {"answer": answer or self.options.gold(gold), "gold": self.options.gold(gold), "correct": correct}
        if LETTER.fullmatch(gold) and answer is not None and LETTER.fullmatch(answer):
            row["correct"] = answer == gold  # A letter speaks for itself.
        spoken = said != "" and LETTER.fullmatch(gold) is not None and LETTER.fullmatch(said) is None
        score = grade if isinstance(grade, float) else None
        question = storable(str(summary.id))
        return SampleRow(summary.epoch, {"question": question, "reason": None} | row, spoken, score=score)

    def _read(self, said: str, gold: str) -> str | None:
        """The answer in what was graded: as it is where the scorer extracted it, read where that is a whole reply."""
        if self.options.reader is not None:
            whole = self.full.output.completion if self.full is not None and self.full.output.choices else said
            return self.options.answer(whole or said)
        if LETTER.fullmatch(gold) and not LETTER.fullmatch(said):
            return self.options.answer(said, CHOICE)
        return self.options.spell(bounded(said))

    def _completion(self, correct: bool) -> str:
        """A scorer that keeps no answer judged the whole completion, unless it says that it found nothing to judge."""
        if self.full is None or (reason_of(self.score) and not correct):
            return ""
        if not correct and abstention(self.summary, self.full, self.score) in ("truncated", "refused"):
            return ""
        return storable(self.full.output.completion or "").strip() if self.full.output.choices else ""

    def _grade(self) -> float | str | None:
        """The score as a number, "N" for no answer, None where there is no grade."""
        value = self.score.value
        key = self.options.scorer.partition(":")[2] if self.options.scorer else ""
        if isinstance(value, dict):
            if key not in value:
                raise InputError(
                    f"sample {quote(self.summary.id)}: its score has the parts {listing([str(k) for k in value])}",
                    Fix("scorer", "NAME:PART", "choose one"),
                )
            value = value[key]
        if value == "N":
            return "N"
        number = _as_number(value)
        return None if number is None or math.isnan(number) else number


def read_score(summary: EvalSampleSummary, full: EvalSample | None, options: Options, file: str) -> Graded | None:
    """Choose the scorer; None where the sample was never scored because it failed or was cut short."""
    scores = summary.scores or {}
    if summary.error or not scores:
        if summary.error or summary.limit or not summary.completed:
            return None
        raise InputError(f"{quote(file, 200)}: this log has no scores; run `inspect score` on it first")
    if options.scorer is None:
        if len(scores) > 1:
            raise InputError(
                f"{quote(file, 200)}: this log has several scorers ({listing(list(scores))})",
                Fix("scorer", "NAME", "choose one"),
            )
        return Graded(summary, full, next(iter(scores.values())), options)
    name = options.scorer if options.scorer in scores else options.scorer.partition(":")[0]
    if name not in scores:
        raise InputError(f"{quote(file, 200)}: there is no scorer {quote(name)}; there are {listing(list(scores))}")
    return Graded(summary, full, scores[name], options)


def abstention(summary: EvalSampleSummary, full: EvalSample | None, score: Score | None, answered: bool = False) -> str:
    """Say why a sample has no vote: the first of error, stop reason, limit, the score's reason, and no answer."""
    if summary.error:
        return "error"
    if score is not None and reason_of(score) in OWN:
        return str(reason_of(score))
    stop = full.output.stop_reason if full is not None and full.output.choices else None
    if stop in STOPS and not answered:
        return STOPS[stop]
    if summary.limit and not answered:
        return LIMITS.get(summary.limit, f"limit_{summary.limit}")
    if score is not None and (reason := reason_of(score)):
        return REASONS.get(reason, _word(reason))
    if answered:
        return "ungraded"
    if score is None or (full is not None and not (full.output.completion if full.output.choices else "").strip()):
        return "unanswered"
    return "no_parse"


def reason_of(score: Score) -> str | None:
    """Why a score is abnormal; older versions of Inspect do not say."""
    found = getattr(score, "reason", None)
    return None if found is None else str(found)


def _word(reason: str) -> str:
    """A scorer's own reason, as one short printable word."""
    return "".join(char if char.isalnum() else "_" for char in reason)[:MAX_REASON] or "no_parse"


def _shown(score: Score) -> dict[str, int]:
    told = score.metadata or {}
    return {name: told[name] for name in SHOWN if isinstance(told.get(name), int)}


def _letters_at(places: list[int]) -> str:
    return ", ".join(letter(place) for place in sorted(places))


def _digests(choices: list[str]) -> tuple[int, ...]:
    """Number the options by their text; of two that read the same, the first stays the first."""
    seen: Counter[str] = Counter()
    found = []
    for choice in choices:
        found.append(hash((choice, seen[choice])))
        seen[choice] += 1
    return tuple(found)


def _gold_text(target: str | list[str]) -> str:
    """Several targets mean that any will do: the first names the category, the grade says who hit one."""
    first = target if isinstance(target, str) else next(iter(target), "")
    return bounded(storable(first)) or "(no target)"


def _as_number(value: Any) -> float | None:
    words = {"C": 1.0, "I": 0.0, "P": 0.5, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
    if isinstance(value, str):
        try:
            return words[value] if value in words else words.get(value.lower()) or float(value)
        except ValueError:
            return words.get(value.lower())
    return float(value) if isinstance(value, bool | int | float) else None
