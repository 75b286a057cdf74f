"""Labelling sheets: blind for the annotator on the way out, labels on the way in, and votes that carry them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swaplaw.decide.labels.bounds import Labels
from swaplaw.errors import InputError, quote
from swaplaw.votes.counts import candidates

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

COLUMNS = ("question", "answers", "label")
FORMULA = tuple("=+-@\t\r'")
"""A cell that begins with one of these is a formula to a spreadsheet, or a mark that the rest is text."""


def as_text(cell: str) -> str:
    """Mark a cell as text, as spreadsheets do, where one could take it for a formula.

    >>> as_text("=1+1"), as_text("B"), as_cell(as_text("-5"))
    ("'=1+1", 'B', '-5')
    """
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def as_cell(text: str) -> str:
    """Take the mark away again, if it is there."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def sheet_rows(found: Labels, order: Sequence[int] | None = None) -> Iterator[dict[str, str]]:
    """List the rows of a sheet, blind: a question, the answers that compete there, and room for the label.

    Parameters
    ----------
    found : Labels
        What there is to label.
    order : sequence of int, optional
        Questions by their place; by default those first that narrow the bounds most.

    Yields
    ------
    dict
        Question, answers and an empty label. Nothing tells which model gave which answer.
    """
    for place in found.order if order is None else order:
        answers = sorted({answer for change in found.changes for answer in change.competing(place)})
        question = found.candidates.tally.questions[place]
        answers.sort(key=lambda answer: sha256(f"{question}\0{answer}".encode()).digest())
        yield dict(zip(COLUMNS, (question, " | ".join(answers), ""), strict=True))


def write_sheet(found: Labels, path: str | Path, order: Sequence[int] | None = None) -> int:
    """Write a labelling sheet as CSV, in which no cell is a formula to a spreadsheet.

    Parameters
    ----------
    found : Labels
        What there is to label.
    path : str or Path
        A file that is not there yet: labels are never overwritten.
    order : sequence of int, optional
        Questions by their place; by default those first that narrow the bounds most.

    Returns
    -------
    int
        How many questions the sheet has.

    Raises
    ------
    InputError
        If the file is there already, or cannot be written.
    """
    rows = list(sheet_rows(found, order))
    try:
        with Path(path).open("x", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows({column: as_text(cell) for column, cell in row.items()} for row in rows)
    except FileExistsError:
        raise InputError(f"{quote(str(path), 200)}: the file already exists; name another one") from None
    except OSError as error:
        raise InputError(f"{quote(str(path), 200)}: cannot write the sheet ({error.strerror})") from None
    return len(rows)


def labelled_votes(votes: Votes, labels: Mapping[str, str], dataset: str | None = None) -> Votes:
    """Give votes the labels of a sheet; labels that are there already must agree.

    Parameters
    ----------
    votes : Votes
        Votes, some or all without a label.
    labels : mapping of str to str
        Question to right answer.
    dataset : str, optional
        Whose questions these are, where the votes hold several datasets.

    Returns
    -------
    Votes
        The same votes, with `gold` wherever it is known.

    Raises
    ------
    InputError
        If a label is for a question without votes, or contradicts one that is there.
    """
    import polars as pl

    from swaplaw.votes.table import votes_of

    found = candidates(votes, dataset)
    place = {question: number for number, question in enumerate(found.tally.questions)}
    for question, label in labels.items():
        if question not in place:
            raise InputError(f"there is a label for question {quote(question)}, which has no votes")
        own = slice(*np.searchsorted(found.question, [place[question], place[question] + 1]))
        if found.labelled[place[question]] and (found.right[own] != (found.answers[own] == label)).any():
            raise InputError(f"question {quote(question)} already has another label than {quote(label)}")
    given = pl.LazyFrame(
        {"question": list(labels), "_label": list(labels.values())},
        schema_overrides={"question": pl.String, "_label": pl.String},
    )
    given = given.with_columns(dataset=pl.lit(found.tally.dataset))
    frame = votes.frame.join(given, on=["dataset", "question"], how="left")
    known = pl.coalesce("gold", "_label") if "gold" in frame.collect_schema().names() else pl.col("_label")
    frame = frame.with_columns(known.alias("gold"))
    if "correct" in frame.collect_schema().names():
        literal = (pl.col("answer") == pl.col("gold")).fill_null(False)
        frame = frame.with_columns(
            pl.when(pl.col("_label").is_not_null()).then(literal).otherwise("correct").alias("correct")
        )
    labelled = votes_of(frame.drop("_label"))
    return labelled.merging_right() if votes.merge_right else labelled


def read_sheet(path: str | Path) -> Mapping[str, str]:
    """Read the labels that an annotator filled in: question to right answer; rows without a label say nothing.

    Parameters
    ----------
    path : str or Path
        A CSV file with the columns `question` and `label`.

    Returns
    -------
    mapping of str to str
        The labels.

    Raises
    ------
    InputError
        If a column is missing, or a question has two labels.
    """
    name = quote(str(path), 200)
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"question", "label"} <= set(reader.fieldnames or ()):
                raise InputError(
                    f"{name}: expected the columns 'question' and 'label'; give the sheet that was written"
                )
            rows = [(as_cell(row["question"]), as_cell((row["label"] or "").strip())) for row in reader]
    except OSError as error:
        raise InputError(f"{name}: cannot read the labels ({error.strerror})") from None
    found: dict[str, str] = {}
    for question, label in rows:
        if label and found.setdefault(question, label) != label:
            raise InputError(
                f"{name}: question {quote(question)} has the labels {quote(found[question])} and {quote(label)}"
            )
    return found
