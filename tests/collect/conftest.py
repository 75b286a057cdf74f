"""Questions, a server with scripted models, and the command line that asks them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from swaplaw.cli import main

from support.answering import KEY, PROVIDER, Answering
from support.collecting import QUESTIONS, Collect, write_questions
from support.commands import Finished


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
