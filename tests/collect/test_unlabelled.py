"""New questions without a key: votes without gold, which `labels` takes, and which count once labels come in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swaplaw.collect.sources import read_questions
from swaplaw.errors import InputError

from support.collecting import QUESTIONS, UNCLOSED, Collect, rows
from support.commands import Finished

pytestmark = UNCLOSED


def keyless(file: Path, labelled: int = 0) -> Path:
    """The questions, of which only the first few have their answer."""
    kept = [row if n < labelled else row | {"answer": ""} for n, row in enumerate(QUESTIONS)]
    file.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return file


def test_votes_on_questions_without_a_key_have_no_gold(
    collect: Collect, folder: Path, swaplaw: Callable[..., Finished]
) -> None:
    file = keyless(folder / "new.jsonl", labelled=1)
    options = f"--dataset {file} --unlabelled --samples 4 --json"
    done = collect("first", "knows", output="new.parquet", options=options)
    assert done.code == 0, done.err
    golds = {row["question"]: row["gold"] for row in rows(folder / "new.parquet")}
    assert golds == {"q1": "A", "q2": None, "q3": None, "q4": None}
    found = json.loads(swaplaw("labels", folder / "new.parquet", "--json").out)
    assert (found["labelled"], found["pairs"][0]["n"]) == (1, 4)
    sheet = folder / "sheet.csv"
    assert swaplaw("labels", folder / "new.parquet", "--sheet", sheet).code == 0
    pl.read_csv(sheet).with_columns(label=pl.lit("A")).write_csv(sheet)
    full = json.loads(swaplaw("labels", folder / "new.parquet", "--labels", sheet, "--json").out)
    assert all(pair["lift_low"] == pair["lift_high"] for pair in full["pairs"])


def test_a_missing_key_is_an_error_unless_it_is_said(tmp_path: Path) -> None:
    file = keyless(tmp_path / "new.jsonl")
    with pytest.raises(InputError, match="column 'answer' is empty"):
        read_questions(file)
    assert [question.letter for question in read_questions(file, unlabelled=True)] == [""] * len(QUESTIONS)
    bare = tmp_path / "bare.jsonl"
    kept = [{key: value for key, value in row.items() if key != "answer"} for row in QUESTIONS]
    bare.write_text("".join(json.dumps(row) + "\n" for row in kept))
    with pytest.raises(InputError, match="no answers yet"):
        read_questions(bare)
    assert len(read_questions(bare, unlabelled=True)) == len(QUESTIONS)
