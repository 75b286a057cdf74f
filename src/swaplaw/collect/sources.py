"""Where questions are read from: files of any layout, their columns as declared or guessed, hubs and Inspect tasks.

Known by name are SuperGPQA, GPQA, MMLU-Pro, MMLU, ARC, SciQ, MedQA, MedMCQA, OpenTDB and Inspect's own samples. Where
several columns tell the answer (a letter, a position, the option's text), all must name the same option. Where the
correct option has a column of its own (GPQA, SciQ), canonical order is drawn from the question's id, so that letters
tell nothing of a question's text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from swaplaw.answers.letters import letter
from swaplaw.collect.design import MOST_OPTIONS, order
from swaplaw.collect.questions import DEMO, Question, Questions, Row, content_id, from_task, gather, text_of
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents, hub
from swaplaw.votes.columns import NAMES, by_plain, candidates, plain
from swaplaw.votes.files import format_of_table, open_file, unreadable

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


PADDING = "N/A"


def _read(
    files: Sequence[Path],
    dataset: str,
    *,
    columns: Mapping[str, str],
    strata: Sequence[str] = (),
    skip_invalid: bool = False,
    unlabelled: bool = False,
    source: str | None = None,
) -> Questions:
    """Read the questions of one or more files of the same layout."""
    shown = source or str(files[0])
    rows = [(f"{file.name} row {n}" if len(files) > 1 else f"row {n}", row) for file in files for n, row in _rows(file)]
    if not rows:
        raise InputError(f"{quote(shown, 200)}: there are no questions in it, only columns; write at least one")
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    found = find_columns(names, columns, strata, shown, unlabelled)
    _refuse_unclear_positions([row for _, row in rows], found, shown)
    notes = () if found.id else ("there is no column of ids: questions are named by a digest of text and options",)
    return gather(dataset, shown, (_builder(place, row, found) for place, row in rows), skip_invalid, notes)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file, numbered from 1 (of JSONL, its lines)."""
    if not file.is_file():
        raise InputError(
            f"{quote(str(file), 200)}: there is no such file; name a file of questions (CSV, JSONL, Parquet), or demo, "
            "supergpqa, mmlu-pro, gpqa-diamond, hf:OWNER/NAME or inspect:PACKAGE/TASK"
        )
    opened = open_file(file)
    if format_of_table(file) == "jsonl":
        yield from documents.lines(file)  # Rows may differ in the types of a column.
        return
    import polars as pl

    try:
        frame = opened.scan().collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unreadable(opened, error) from None
    yield from enumerate(frame.iter_rows(named=True), 1)


def _builder(place: str, row: Mapping[str, Any], columns: Columns) -> Row:
    return place, lambda: _question(row, columns)


def _question(row: Mapping[str, Any], columns: Columns) -> Question:
    """Build the question of a row."""
    text = text_of(row.get(columns.question), f"column '{columns.question}'")
    options, labels = _options(row, columns.options)
    if columns.correct:
        options.insert(0, text_of(row.get(columns.correct), f"column '{columns.correct}'"))
    identity = content_id(text, options) if columns.id is None else text_of(row.get(columns.id), "the id")
    gold: int | None
    if columns.correct:
        # Which option is correct must not show: not in the canonical order either.
        places = order(0, identity, 1, len(options)) if 2 <= len(options) <= MOST_OPTIONS else range(len(options))
        options, gold = [options[place] for place in places], list(places).index(0)
    else:
        gold = _gold(row, columns, options, labels)
    if columns.padded:
        while len(options) > max((gold or 0) + 1, 2) and options[-1] == PADDING:
            options.pop()
    cluster = text_of(row.get(columns.cluster), "the cluster") if columns.cluster else ""
    strata = {name: text_of(row.get(column), f"column '{column}'") for name, column in columns.strata.items()}
    return Question(identity, text, tuple(options), gold, cluster or None, strata)


def _options(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of a row, and the labels that they carry, if any."""
    if len(columns) > 1:
        cells = [text_of(row.get(column), f"column '{column}'") for column in columns]
        while cells and not cells[-1]:
            cells.pop()  # Questions with fewer options leave the last columns empty.
        return cells, []
    value = row.get(columns[0])
    if isinstance(value, str):
        value = _listed(value)
    labels: list[Any] = []
    if isinstance(value, Mapping):
        if {"text", "label"} <= set(value) and isinstance(value["text"], list) and isinstance(value["label"], list):
            labels, value = value["label"], value["text"]
        else:
            given = {key: option for key, option in value.items() if option is not None}
            labels = sorted(given) if all(len(key) == 1 for key in given) else list(given)
            value = [given[key] for key in labels]
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) and "text" in each for each in value):
        labels, value = [each.get("label") for each in value], [each["text"] for each in value]
    if not isinstance(value, list):
        raise InputError(
            f"column '{columns[0]}' holds {quote(value)}; expected a list of options (JSON), or a column for each"
        )
    return [text_of(option, "an option") for option in value], [text_of(label, "a label") for label in labels]


def _listed(text: str) -> Any:
    """A list that was written into a text cell, as JSON or as Python shows it."""
    if text.strip()[:1] in ("[", "{"):
        for parse in (json.loads, ast.literal_eval):
            try:
                return parse(text.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    return text


# Gold


def _gold(row: Mapping[str, Any], columns: Columns, options: Sequence[str], labels: Sequence[str]) -> int | None:
    """The option that all columns of answers name; None where there is no answer and none is needed."""
    answers = columns.answers
    if columns.unlabelled and all(row.get(column) in (None, "") for column in answers.values()):
        return None
    agreed = set(range(len(options)))
    for kind, column in answers.items():
        value = row.get(column)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        told = text_of(value, f"column '{column}'")
        if not told:
            raise InputError(f"column '{column}' is empty; write the answer into it")
        named = _named(kind, told, options, labels)
        if not named:
            last = letter(len(options) - 1) if options else "A"
            zero = f" (positions count from 0: declare number={column} if these count from 1)"
            raise InputError(
                f"gold {quote(told)} in column '{column}' is not among the {len(options)} options; expected a letter "
                f"from A to {last}, the text of an option, or its position" + (zero if told.isdecimal() else "")
            )
        agreed &= named
    if len(agreed) == 1:
        return agreed.pop()
    cells = {column: row.get(column) for column in answers.values()}
    if not agreed:
        said = " and ".join(f"{quote(value)} in column '{column}'" for column, value in cells.items())
        raise InputError(f"gold is {said}, which are different options; fix one, or declare the one to use")
    column, value = next(iter(cells.items()))
    meant = listing([letter(place) for place in sorted(agreed)])
    raise InputError(
        f"gold {quote(value)} in column '{column}' could mean the options {meant}; "
        f"declare what the column holds: as letter={column}, index={column} (positions from 0), "
        f"number={column} (from 1) or text={column}"
    )


def _named(kind: str, told: str, options: Sequence[str], labels: Sequence[str]) -> set[int]:
    """Which options an answer may name, read as the kind that its column holds."""
    if told in labels:
        return {labels.index(told)}
    spelt = re.fullmatch(r"\(?([A-Za-z])\)?\.?", told)
    position = int(told) if told.isascii() and told.isdecimal() and len(told) <= 2 else None
    readings = {
        "letter": ord(spelt[1].upper()) - ord("A") if spelt else None,
        "index": position,
        "number": position - 1 if position is not None else None,
    }
    texts = {place for place, option in enumerate(options) if option.split() == told.split()}
    # A column called answer_idx may still hold letters, as MedQA's does.
    kinds = {"index": ("index",) if position is not None else ("letter",), "answer": ("letter", "index"), "text": ()}
    places = {readings[reading] for reading in kinds.get(kind, (kind,))}
    named = {place for place in places if place is not None and 0 <= place < len(options)}
    return named | texts if kind in ("answer", "text") else named


def _refuse_unclear_positions(rows: Sequence[Mapping[str, Any]], columns: Columns, source: str) -> None:
    """Positions in a column that is merely called `answer` count from 0 only if some answer is 0."""
    if set(columns.answers) != {"answer"}:
        return
    column = columns.answers["answer"]
    told = {str(row.get(column)).strip() for row in rows}
    if all(value.isascii() and value.isdecimal() for value in told) and told and "0" not in told:
        try:
            texts = all(str(row[column]).strip() in _options(row, columns.options)[0] for row in rows)
        except InputError:
            return  # The row's own error says more.
        if not texts:
            raise InputError(
                f"{quote(source, 200)}: column '{column}' holds positions but never 0; do they count from 0 or from 1? "
                f"Declare the column as index={column} (from 0) or number={column} (from 1)"
            )


def read_questions(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    strata: Sequence[str] = (),
    name: str | None = None,
    skip_invalid: bool = False,
    unlabelled: bool = False,
) -> Questions:
    """Read questions from a file (CSV, JSONL, Parquet), the Hugging Face hub, an Inspect task, or the bundled ones.

    `source` is a path; `demo`; `supergpqa`, `mmlu-pro` or `gpqa-diamond`; `hf:OWNER/NAME[@REVISION][:FILES]`; or
    `inspect:PACKAGE/TASK`. `columns` says which column each part of a question is in where it cannot be guessed,
    `strata` which further columns to keep, `name` what to call the dataset. With `skip_invalid`, rows that break the
    contract are left out, and a note says how many. With `unlabelled`, questions may lack an answer.
    """
    given = str(source)
    if given.startswith("inspect:"):
        return from_task(given.removeprefix("inspect:"), name=name, skip_invalid=skip_invalid, unlabelled=unlabelled)
    declared, kept = dict(columns or {}), tuple(strata)
    if given == DEMO:
        with as_file(resources("swaplaw") / "data" / "questions.jsonl") as file:
            return _read([file], name or "questions", columns=declared, strata=kept, source=DEMO)
    called, paths = Path(given).stem, [Path(given)]
    if hub.is_hub(given) and not Path(given).exists():
        called, paths = hub.download(given)
    return _read(
        paths,
        name or called,
        columns=declared,
        strata=kept,
        skip_invalid=skip_invalid,
        unlabelled=unlabelled,
        source=given,
    )
