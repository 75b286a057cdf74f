"""Real Inspect evaluations, run here with scripted models, so that every vote in their logs is known beforehand."""

from __future__ import annotations

import gc
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import answer
from inspect_ai.solver import Generate, Solver, TaskState, solver

OPTIONS = ["red", "green", "blue", "grey"]
Reply = str | tuple[str, str]
"""What a model says: a text, or a text and its stop reason."""


def output(reply: Reply) -> ModelOutput:
    text, stop = reply if isinstance(reply, tuple) else (reply, "stop")
    made = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)  # type: ignore[arg-type]
    # Without usage, Inspect would try to download a tokenizer.
    made.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return made


def scripted(name: str, say: Callable[[str], Reply]) -> Model:
    """A model whose reply is a function of the prompt."""
    from inspect_ai.model import ChatMessage

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        return output(say(messages[-1].text))

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def run(task: Task, model: Model, folder: Path, **settings: Any) -> EvalLog:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        [log] = eval(task, model=model, log_dir=str(folder), display="none", log_level="error", **settings)
        gc.collect()  # Inspect leaves streams open: let them go here, where nobody minds, and not in another test.
    return log


FAILING = "SWAPLAW_TEST_FAILING"
"""The environment variable that names the sample of `retried` that still fails: Inspect loads this file again."""


@solver
def fails_at_first() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if str(state.sample_id) == os.environ.get(FAILING):
            raise RuntimeError("not yet")
        state.output = output(f"ANSWER: {state.sample_id}")
        return state

    return solve


@task
def retried() -> Task:
    """A task that Inspect can find again by its name, so that it can be retried."""
    samples = MemoryDataset([Sample(id=i, input=f"{i}", target=str(i)) for i in range(1, 5)])
    return Task(dataset=samples, solver=fails_at_first(), scorer=answer("line"))


@solver
def epoch_in_prompt() -> Solver:
    """Let the scripted model know which epoch it is in."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += f"\n(epoch {state.epoch})"
        return state

    return solve


def wanted(name: str, question: str, epoch: int) -> str:
    """The option that a model votes for: made up, but always the same."""
    return Random(f"{name} {question} {epoch}").choice(OPTIONS)


def letter_for(name: str) -> Callable[[str], Reply]:
    """Reply with whatever letter the wanted option has in the prompt."""

    def say(prompt: str) -> Reply:
        question = re.search(r"Colour of (\w+)\?", prompt)
        epoch = re.search(r"\(epoch (\d+)\)", prompt)
        assert question
        assert epoch
        option = wanted(name, question[1], int(epoch[1]))
        letter = re.search(rf"^(\w)\) {option}$", prompt, re.MULTILINE)
        assert letter
        return f"ANSWER: {letter[1]}"

    return say


def colours(seed: int | None, questions: int = 8) -> MemoryDataset:
    samples = [
        Sample(
            id=f"q{number}",
            input=f"Colour of q{number}?",
            choices=list(OPTIONS),
            target="ABCD"[number % 4],
            metadata={"room": f"room {number % 2}"},
        )
        for number in range(questions)
    ]
    dataset = MemoryDataset(samples)
    if seed is not None:
        dataset.shuffle_choices(seed=seed)
    return dataset
