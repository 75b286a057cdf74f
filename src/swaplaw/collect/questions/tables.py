"""Questions from tables: CSV, JSONL and Parquet files of any layout (see `columns`).

Where several columns tell the answer (a letter, a position, the option's text), all must name the same option. Where
the correct option has a column of its own (GPQA, SciQ), canonical order is drawn from the question's id, so that
letters tell nothing of a question's text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swaplaw.answers.letters import letter
from swaplaw.collect.design.orders import MOST_OPTIONS, order
from swaplaw.collect.questions.columns import Columns, find_columns
from swaplaw.collect.questions.question import Question, Questions, Row, content_id, gather, text_of
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.votes.files import format_of_table, open_file, unreadable

PADDING = "N/A"


def read(
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
