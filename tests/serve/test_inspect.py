"""Policies in Inspect: the provider, the solver for agents, and a real model end to end."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from serve.test_local_model import GRAMMAR, smollm  # noqa: F401 (a fixture)
from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.inspect import ensemble

from support.upstreams import World

# Inspect leaves streams of its own for the garbage collector to close.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def write_policy(file: Path, base_url: str, *members: tuple[str, str, int], **more: Any) -> str:
    upstream = {"base_url": base_url, "timeout": 120.0, **more.pop("upstream", {})}
    serving = {
        "upstreams": {model: upstream for model, _, _ in members},
        "answer": {"read": "choice", "choices": "AB"},
        **more,
    }
    chosen = tuple(Member(model, Fraction(weight), samples) for model, weight, samples in members)
    Policy(chosen, "test", {}, {}, serving).write(file)
    return str(file)


def evaluated(task: Task, model: str, tmp_path: Path) -> EvalLog:
    (log,) = eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    return log


def task(solver: Solver | Sequence[Solver], *questions: str) -> Task:
    samples = [Sample(input=text, target="(A)", id=str(place)) for place, text in enumerate(questions)]
    return Task(dataset=MemoryDataset(samples), solver=list(solver) if isinstance(solver, Sequence) else solver,
                scorer=includes())  # fmt: skip


def test_a_policy_is_a_model(base_url: str, world: World, tmp_path: Path) -> None:
    policy = write_policy(tmp_path / "policy.json", base_url, ("says-A", "1", 3), ("says-B", "2/3", 3))
    log = evaluated(task(generate(), "Which?", "And now?"), f"swaplaw/{policy}", tmp_path)
    assert log.status == "success"
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1
    assert log.samples is not None
    output = log.samples[0].output
    assert output.completion == "The answer is (A)."
    assert output.metadata is not None
    assert output.metadata["swaplaw"]["winner"] == "A"
    assert output.usage is not None
    assert output.usage.output_tokens > 0


def test_inspect_evaluates_a_policy_of_a_real_model(smollm: str, tmp_path: Path) -> None:  # noqa: F811
    upstream = {"model": "smollm2", "concurrency": 2, "extra": {"grammar": GRAMMAR}}
    policy = write_policy(
        tmp_path / "policy.json", smollm, ("careful", "1", 3), ("eager", "2/3", 3),
        upstream=upstream, temperature=0.8, seed=11, max_tokens=12,
    )  # fmt: skip
    question = "Is ice (A) frozen water or (B) a metal? Answer with the letter."
    log = evaluated(task(generate(), question), f"swaplaw/{policy}", tmp_path)
    assert log.status == "success"
    assert log.samples is not None
    output = log.samples[0].output
    assert output.metadata is not None
    assert output.completion == f"The answer is ({output.metadata['swaplaw']['winner']})."


@solver
def agent(*answers: str) -> Solver:
    """Says one answer after the other."""
    left = list(answers)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = f"ANSWER: {left.pop(0)}"
        return state

    return solve


def test_agents_are_pooled(tmp_path: Path) -> None:
    pooled = ensemble([agent("B", "A", "A"), agent("A", "B", "B")], weights=["1", "2/3"], samples=3)
    log = evaluated(task(pooled, "Which?"), "mockllm/model", tmp_path)
    assert log.status == "success"
    assert log.samples is not None
    vote = log.samples[0].metadata["swaplaw"]
    assert vote["winner"] == "A"
    assert log.samples[0].output.completion == "ANSWER: A"
    assert vote["spent"] <= vote["planned"] == 6


def test_what_cannot_be_pooled_is_said(base_url: str, tmp_path: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(PrerequisiteError, match="weight above 0"):
        ensemble([agent("A")], weights=["1", "2"])
    with pytest.raises(PrerequisiteError, match="cannot read the policy"):
        evaluated(task(generate(), "Which?"), "swaplaw/missing.json", tmp_path)
