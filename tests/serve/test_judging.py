"""A policy of judges in Inspect: scoring a log again, and grading a new one, decide as the policy was judged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import TaskState, solver

import swaplaw as sl
from swaplaw.serve.judging import Bench, weighted
from swaplaw.serve.replay import FULL, replay

from support.inspect_runs import scripted

JUDGES = ["mockllm/ja", "mockllm/jb", "mockllm/jc"]
WEIGHTS = (1, 1), (1, 3), (1, 2)
ITEMS = 60


@solver
def replies() -> Any:
    async def solve(state: TaskState, generate: Any) -> TaskState:
        state.output = ModelOutput.from_content("mockllm/model", f"reply {state.sample_id}")
        return state

    return solve


def judge(name: str, right: float) -> Any:
    """Finds out whether a reply is right as often as this, and now and then gives no grade."""

    def say(text: str) -> str:
        number = int(text.split("item ")[1].split()[0])
        luck = Random(f"{name} {number}")
        if luck.random() < 0.05:
            return "I cannot tell"
        return f"GRADE: {'CI'[(number % 2 == 0) == (luck.random() < right)]}"

    return scripted(name.removeprefix("mockllm/"), say)


def run(folder: Path, **how: Any) -> EvalLog:
    panel = [judge(name, right) for name, right in zip(JUDGES, (0.8, 0.7, 0.7), strict=True)]
    samples = [
        Sample(input=f"item {n} ", target="yes", id=f"s{n}", metadata={"human": n % 2 == 0}) for n in range(ITEMS)
    ]
    task = Task(MemoryDataset(samples), solver=replies(), scorer=model_graded_qa(model=panel, **how), name="judged")
    [log] = eval(task, model="mockllm/model", log_dir=str(folder), display="none")
    assert log.status == "success"
    return read_eval_log(log.location)


def values(log: EvalLog, scorer: str) -> dict[str, Any]:
    """What a scorer of the log says of each item; None where it says nothing."""
    found = {str(sample.id): (sample.scores or {})[scorer].value for sample in log.samples or []}
    return {item: None if value != value else value for item, value in found.items()}


def policy_of(folder: Path, judges: Sequence[str]) -> Path:
    members = [sl.decide.Member(name, Fraction(*weight), 1) for name, weight in zip(judges, WEIGHTS, strict=True)]
    sl.decide.Policy(tuple(members), "deploy_panel", {}, {}, silence="ignored").write(folder / "policy.json")
    return folder / "policy.json"


def test_a_log_is_scored_again_and_graders_are_combined_by_the_policy(tmp_path: Path) -> None:
    log, policy = run(tmp_path / "logs"), policy_of(tmp_path, JUDGES)
    wanted = by_replay(tmp_path / "logs", policy)
    again = tmp_path / "again.eval"
    given = ["-S", f"policy={policy}", "-S", f"judges={','.join(JUDGES)}", "--action", "append"]
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, "--scorer", "swaplaw/judged", *given]
    done = subprocess.run([*command, "--output-file", str(again), "--display", "none"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(wanted) == ITEMS
    assert values(read_eval_log(str(again)), "judged") == wanted != values(log, "model_graded_qa")
    assert values(run(tmp_path / "new", reducer=weighted(str(policy), JUDGES)), "model_graded_qa") == wanted


def by_replay(logs: Path, policy: Path) -> dict[str, str | None]:
    """What `swaplaw replay` decides on each judged item."""
    [played] = replay(sl.read_votes(logs), sl.decide.read_policy(policy), {"full": FULL})
    return {one.question: one.winner for one in played.decisions}


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["I", "C", "C"], "I"),  # 1 against 1/3 + 1/2.
        (["I", "C", 1], "I"),
        ([None, "C", "I"], "I"),
        ([{"a": 1, "b": "C"}, {"a": 0, "b": "I"}, None], {"a": 1, "b": "C"}),
        ([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], [1.0, 0.0]),
        ([None, None, None], None),
    ],
)
def test_verdicts(votes: list[Any], verdict: Any, tmp_path: Path) -> None:
    assert Bench(str(policy_of(tmp_path, "abc")), "a,b,c").verdict(votes) == verdict


def test_what_cannot_be_combined_is_said(tmp_path: Path) -> None:
    policy = str(policy_of(tmp_path, "abc"))
    with pytest.raises(PrerequisiteError, match="asks 'c'"):
        Bench(policy, ["a", "b"])
    with pytest.raises(PrerequisiteError, match="a panel of 2"):
        Bench(policy, ["a", "b", "c"]).score(["C", "I"], {})
