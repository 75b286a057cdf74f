"""Questions for scripted models, and what a collection of their answers says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swaplaw.collect.sources import read_questions

from support.answering import KEY, Answering
from support.commands import Finished

QUESTIONS = [
    {
        "id": f"q{n}",
        "question": f"What is {n} plus {n}?",
        "options": [str(2 * n + d) for d in (0, 1, 2, 5)],
        "answer": "A",
    }
    for n in range(1, 5)
]
Collect = Callable[..., Finished]


def write_questions(folder: Path) -> Path:
    file = folder / "sums.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return file


UNCLOSED = [
    pytest.mark.usefixtures("leave_nothing_open"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""Marks of tests that run Inspect."""


def killed_half_way(words: Sequence[str], folder: Path, answering: Answering, half: int) -> set[tuple[str, str, int]]:
    """Collect in a process of its own and kill it once half is journalled; returns the samples finished by then."""
    answering.pause = 0.2
    process = subprocess.Popen(
        [sys.executable, "-m", "swaplaw", "collect", *words, "-o", "killed.parquet"],
        cwd=folder, env={**os.environ, "SCRIPTED_API_KEY": KEY, "SCRIPTED_BASE_URL": answering.url},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    journal = folder / "killed.partial.jsonl"
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < half):
        time.sleep(0.02)
    assert process.poll() is None, "it finished before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    answering.pause = 0.0
    finished = [json.loads(line) for line in journal.read_text().splitlines()]
    return {(vote["model"].rpartition("/")[2], vote["question"], vote["sample"]) for vote in finished}


def few_of_the_demo(folder: Path) -> Path:
    """Write three of the bundled questions."""
    chosen = list(read_questions("demo"))[::16]
    file = folder / "few.jsonl"
    lines = [{"id": q.id, "question": q.text, "options": q.options, "answer": q.letter} for q in chosen]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def rows(file: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(file).to_dicts()


def told(finished: Finished) -> dict[str, dict[str, Any]]:
    """What the JSON of a collection says, by model."""
    return {row["model"].rpartition("/")[2]: row for row in json.loads(finished.out)["models"]}
