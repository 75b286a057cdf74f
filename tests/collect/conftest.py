"""Questions, a server with scripted models, and the command line that asks them."""

from __future__ import annotations

import gc
import io
import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swaplaw.cli import main

from collect.answering import KEY, PROVIDER, Answering
from conftest import Finished

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this file's tests collect, with questions in it."""
    place = tmp_path_factory.mktemp("collect")
    write_questions(place)
    return place


@pytest.fixture(scope="module")
def answering() -> Iterator[Answering]:
    with Answering({str(row["question"]): str(row["options"][0]) for row in QUESTIONS}) as server:
        yield server


@pytest.fixture(scope="module")
def collect(folder: Path, answering: Answering) -> Iterator[Collect]:
    """Ask scripted models from the command line, in this process; files are in the test's folder."""

    def run(*models: str, output: str = "votes.parquet", options: str = "") -> Finished:
        out, err = io.StringIO(), io.StringIO()
        named = ",".join(f"{PROVIDER}/{model}" for model in models)
        words = ["--dataset", str(folder / "sums.jsonl"), "--models", named, "-o", str(folder / output)]
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stopped:
            main(["collect", "mcq", *words, *options.split()])
        assert isinstance(stopped.value.code, int)
        return Finished(stopped.value.code, out.getvalue(), err.getvalue())

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRIPTED_API_KEY", KEY)
        patch.setenv("SCRIPTED_BASE_URL", answering.url)
        yield run


@pytest.fixture
def leave_nothing_open() -> Iterator[None]:
    """Inspect leaves connections and streams to the garbage collector, which warns: let it do so here."""
    yield
    gc.collect()


UNCLOSED = [
    pytest.mark.usefixtures("leave_nothing_open"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""Marks of tests that run Inspect."""


def rows(file: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(file).to_dicts()


def told(finished: Finished) -> dict[str, dict[str, Any]]:
    """What the JSON of a collection says, by model."""
    return {row["model"].rpartition("/")[2]: row for row in json.loads(finished.out)["models"]}
