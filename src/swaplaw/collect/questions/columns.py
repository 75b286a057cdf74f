"""Which column of a table each part of a question is in: as declared, else guessed by name.

Names are tried in the order below, letter case and punctuation aside. Known this way are SuperGPQA, GPQA, MMLU-Pro,
MMLU, ARC, SciQ, MedQA, MedMCQA, OpenTDB and Inspect's own samples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swaplaw.errors import InputError, listing, quote

GUESSES: dict[str, tuple[str, ...]] = {
    "id": (
        "id",
        "uuid",
        "question_id",
        "qid",
        "record_id",
        "sample_id",
        "item_id",
        "problem_id",
        "example_id",
        "doc_id",
    ),
    "question": ("question", "question_text", "text", "input", "prompt", "query", "stem", "problem"),
    "options": ("options", "choices", "answer_choices", "candidates", "endings"),
    "cluster": ("cluster", "subject", "category", "topic"),
}
ANSWERS: dict[str, tuple[str, ...]] = {
    "letter": ("answer_letter", "answer_key", "answerkey", "correct_letter", "correct_option", "gold_letter"),
    "index": ("answer_index", "answer_idx", "gold_index", "correct_index"),
    "number": (),
    "text": (),
    "answer": ("answer", "target", "gold", "correct_answer", "correct", "label", "cop"),
}
"""What tells the answer: a letter, a position from 0, a position from 1, an option's text, or any of these."""
CORRECT = ("correct_answer", "correct", "best_answer")
INCORRECT = ("incorrect_answers", "incorrect", "wrong_answers", "distractors")
PARTS = (*GUESSES, *ANSWERS, "correct", "incorrect")
STRATA = (
    *("discipline", "field", "subfield", "difficulty", "is_calculation", "subject", "category", "topic"),
    *("high_level_domain", "subdomain"),
)
# One column for each option: lettered from a, or numbered from 0 or 1.
_OPTION_FAMILIES = (r"(?:option|choice|opt|op|answer|)_?([a-z])", r"(?:option|choice|opt|answer|ending)_?(\d{1,2})")
_INCORRECT_FAMILIES = (r"(?:incorrect_answer|incorrect|wrong_answer|wrong|distractor)_?(\d{1,2})",)


@dataclass(frozen=True)
class Columns:
    """Which column each part of a question is in."""

    question: str
    options: tuple[str, ...]
    """One column that holds all options, or one for each; the incorrect ones alone where `correct` has its own."""
    answers: Mapping[str, str]
    """Columns that tell the answer, by what they hold."""
    correct: str | None
    id: str | None
    cluster: str | None
    strata: Mapping[str, str]
    unlabelled: bool
    """Whether questions may lack an answer."""
    padded: bool
    """Whether lists of options may be filled up with N/A, as MMLU-Pro's are."""


def find_columns(
    names: Sequence[str], declared: Mapping[str, str], strata: Sequence[str], source: str, unlabelled: bool = False
) -> Columns:
    """Find every part, or say which one is missing, what there is and how to declare it."""
    return _Finder(names, declared, source, unlabelled).find(strata)


@dataclass(frozen=True)
class _Finder:
    names: Sequence[str]
    declared: Mapping[str, str]
    source: str
    unlabelled: bool

    def __post_init__(self) -> None:
        for part, column in self.declared.items():
            if part not in PARTS:
                raise InputError(f"a question has no part {quote(part)}; there are {', '.join(PARTS)}")
            for name in self._split(column) if part in ("options", "incorrect") else (column,):
                self._there(name)

    def find(self, strata: Sequence[str]) -> Columns:
        correct, options = self._options()
        question = self._guess("question", GUESSES["question"])
        answers = {} if correct else self._answers()
        known = correct or answers or self.unlabelled
        for part, found in (("options", options), ("question", question), ("answer", known)):
            if not found:
                keyless = ", or that there are no answers yet (`unlabelled`)" if part == "answer" else ""
                raise InputError(
                    f"{quote(self.source, 200)}: no column was found for '{part}'; found "
                    f"{listing(list(self.names), 30)}; say which column it is (`columns`: {part}=NAME){keyless}"
                )
        assert question is not None
        plain = self._plain_names
        kept = {plain[name]: plain[name] for name in STRATA if name in plain}
        for name in strata:
            kept[name] = self._there(plain.get(plain_name(name), name), "; choose the columns of strata (`strata`)")
        return Columns(
            question=question,
            options=options,
            answers=answers,
            correct=correct,
            id=self._guess("id", GUESSES["id"]),
            cluster=self._guess("cluster", GUESSES["cluster"]),
            strata=kept,
            unlabelled=self.unlabelled,
            padded={"cot_content", "answer_index"} <= set(plain),
        )

    @property
    def _plain_names(self) -> dict[str, str]:
        return {plain_name(name): name for name in reversed(self.names)}

    def _there(self, name: str, remedy: str = "") -> str:
        if name not in self.names:
            found = listing(list(self.names), 30)
            raise InputError(f"{quote(self.source, 200)}: there is no column {quote(name)}; found {found}{remedy}")
        return name

    def _guess(self, part: str, guesses: Sequence[str]) -> str | None:
        if part in self.declared:
            return self.declared[part]
        plain = self._plain_names
        return next((plain[guess] for guess in guesses if guess in plain), None)

    def _split(self, column: str) -> tuple[str, ...]:
        """Several columns are declared with commas between them."""
        return (column,) if column in self.names else tuple(name.strip() for name in column.split(","))

    def _options(self) -> tuple[str | None, tuple[str, ...]]:
        """The column of the correct option where it stands apart, and the columns of the (other) options."""
        if "options" in self.declared:
            return None, self._split(self.declared["options"])
        apart = {"correct", "incorrect"} & set(self.declared)
        if not apart:
            if column := self._guess("options", GUESSES["options"]):
                return None, (column,)
            if family := self._family(_OPTION_FAMILIES):
                return None, family
        incorrect = (
            self._split(self.declared["incorrect"])
            if "incorrect" in self.declared
            else self._family(_INCORRECT_FAMILIES, least=1)
            or tuple(filter(None, [self._guess("incorrect", INCORRECT)]))
        )
        correct = self._guess("correct", CORRECT)
        return (correct, incorrect) if correct and incorrect else (None, ())

    def _family(self, patterns: Sequence[str], least: int = 2) -> tuple[str, ...]:
        """Columns that differ by a letter or number alone, from the first on without gaps."""
        plain = self._plain_names
        for pattern in patterns:
            matches = {match[1]: plain[name] for name in plain if (match := re.fullmatch(pattern, name))}
            numbers = {ord(key) - ord("a") if key.isalpha() else int(key): name for key, name in matches.items()}
            first = min(numbers, default=-1)
            run = [numbers[place] for place in range(first, first + len(numbers)) if place in numbers]
            if first in (0, 1) and len(run) >= least and (first == 0 or next(iter(matches)).isdecimal()):
                return tuple(run)
        return ()

    def _answers(self) -> dict[str, str]:
        declared = {part: self.declared[part] for part in ANSWERS if part in self.declared}
        if declared:
            return declared
        found = {part: self._guess(part, guesses) for part, guesses in ANSWERS.items()}
        return {part: column for part, column in found.items() if column is not None}


def plain_name(name: str) -> str:
    """A column's name without letter case and punctuation: "High-level domain" is high_level_domain."""
    return "_".join(re.findall(r"[^\W_]+", name.lower()))
