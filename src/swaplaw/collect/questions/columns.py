"""Which column of a table each part of a question is in: as declared, else guessed by name (see `votes.columns`).

Known this way are SuperGPQA, GPQA, MMLU-Pro, MMLU, ARC, SciQ, MedQA, MedMCQA, OpenTDB and Inspect's own samples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swaplaw.errors import InputError, listing, quote
from swaplaw.votes.columns import NAMES, by_plain, candidates, plain

ANSWERS = {"letter": "right_letter", "index": "right_index", "number": None, "text": None, "answer": "right_answer"}
"""What tells the answer (a letter, a position from 0, a position from 1, an option's text, or any of these), and the
part of `NAMES` by which its column is guessed."""
PARTS = ("id", "question", "options", "cluster", *ANSWERS, "correct", "incorrect")
STRATA = (
    *("discipline", "field", "subfield", "difficulty", "is_calculation", "subject", "category", "topic"),
    *("high_level_domain", "subdomain"),
)
# One column for each option: lettered from a, or numbered from 0 or 1.
_OPTION_FAMILIES = (r"(?:option|choice|opt|op|answer|)([a-z])", r"(?:option|choice|opt|answer|ending)(\d{1,2})")
_INCORRECT_FAMILIES = (r"(?:incorrectanswer|incorrect|wronganswer|wrong|distractor)(\d{1,2})",)


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
        question = self._guess("question", "text")
        answers = {} if correct else self._answers()
        labelled = correct or answers or self.unlabelled
        for part, found in (("options", options), ("question", question), ("answer", labelled)):
            if not found:
                keyless = ", or that there are no answers yet (`unlabelled`)" if part == "answer" else ""
                raise InputError(
                    f"{quote(self.source, 200)}: no column was found for '{part}'; found "
                    f"{listing(list(self.names), 30)}; say which column it is (`columns`: {part}=NAME){keyless}"
                )
        assert question is not None
        known = by_plain(self.names)
        kept = {name: name for name in candidates(self.names, STRATA)}
        for name in strata:
            kept[name] = self._there(known.get(plain(name), name), "; choose the columns of strata (`strata`)")
        return Columns(
            question=question,
            options=options,
            answers=answers,
            correct=correct,
            id=self._guess("id", "id"),
            cluster=self._guess("cluster", "cluster"),
            strata=kept,
            unlabelled=self.unlabelled,
            padded={"cotcontent", "answerindex"} <= set(known),
        )

    def _there(self, name: str, remedy: str = "") -> str:
        if name not in self.names:
            found = listing(list(self.names), 30)
            raise InputError(f"{quote(self.source, 200)}: there is no column {quote(name)}; found {found}{remedy}")
        return name

    def _guess(self, part: str, named: str) -> str | None:
        """The column of a part, as declared or else by the names of a part of `NAMES`."""
        return self.declared.get(part) or next(iter(candidates(self.names, NAMES[named])), None)

    def _split(self, column: str) -> tuple[str, ...]:
        """Several columns are declared with commas between them."""
        return (column,) if column in self.names else tuple(name.strip() for name in column.split(","))

    def _options(self) -> tuple[str | None, tuple[str, ...]]:
        """The column of the correct option where it stands apart, and the columns of the (other) options."""
        if "options" in self.declared:
            return None, self._split(self.declared["options"])
        apart = {"correct", "incorrect"} & set(self.declared)
        if not apart:
            if column := self._guess("options", "options"):
                return None, (column,)
            if family := self._family(_OPTION_FAMILIES):
                return None, family
        incorrect = (
            self._split(self.declared["incorrect"])
            if "incorrect" in self.declared
            else self._family(_INCORRECT_FAMILIES, least=1)
            or tuple(filter(None, [self._guess("incorrect", "wrong_options")]))
        )
        correct = self._guess("correct", "right_option")
        return (correct, incorrect) if correct and incorrect else (None, ())

    def _family(self, patterns: Sequence[str], least: int = 2) -> tuple[str, ...]:
        """Columns that differ by a letter or number alone, from the first on without gaps."""
        for pattern in patterns:
            known = by_plain(self.names).items()
            matches = {match[1]: name for key, name in known if (match := re.fullmatch(pattern, key))}
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
        found = {part: self._guess(part, named) for part, named in ANSWERS.items() if named}
        return {part: column for part, column in found.items() if column is not None}
