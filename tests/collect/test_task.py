"""The Inspect task, run as Inspect users do: fresh generations, scores, and what its logs say."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from swaplaw.collect.task import gbnf, generation_seed, mcq, prompt
from swaplaw.importers.reading import import_votes

from support.collecting import UNCLOSED, write_questions

pytestmark = UNCLOSED


def scripted(reply: Callable[[str], str]) -> tuple[Model, list[str]]:
    """A model that answers at once, and the prompts that it really saw."""
    seen: list[str] = []

    def respond(messages: list[Any], *_: object) -> ModelOutput:
        seen.append(messages[-1].text)
        output = ModelOutput.from_content("mockllm/model", reply(messages[-1].text))
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    return get_model("mockllm/model", custom_outputs=respond), seen


def run(task: Task, model: Model, folder: Path, **options: Any) -> EvalLog:
    (log,) = evaluate(task, model=model, log_dir=str(folder / "logs"), display="none", ctl_server=False, **options)
    assert log.status == "success", log.error
    return log


def test_a_cache_cannot_make_one_generation_many_votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    file = write_questions(tmp_path)
    count = itertools.count()
    model, seen = scripted(lambda _: f"ANSWER: {'ABCD'[next(count) % 4]}")
    for _ in range(2):
        run(mcq(str(file)), model, tmp_path, epochs=26, limit=2, cache=CachePolicy(expiry=None, per_epoch=False))
    assert len(seen) == 2 * 2 * 26  # 26 epochs of 4 options repeat an order, and the second run repeats the first.

    # The same policy does collapse what does not refuse it: the cache was there.
    model, seen = scripted(lambda _: "ANSWER: A")
    task = Task(dataset=[Sample("What?", target="A")], solver=generate())
    run(task, model, tmp_path, epochs=5, max_samples=1, cache=CachePolicy(expiry=None, per_epoch=False))
    assert len(seen) == 1


def test_inspect_finds_the_task_by_its_name(tmp_path: Path) -> None:
    model, seen = scripted(lambda _: "Two of them.\n**ANSWER: B**")
    (log,) = evaluate(
        "swaplaw/mcq", model=model, task_args={"dataset": "demo", "brief": True}, epochs=4, limit=3,
        log_dir=str(tmp_path / "logs"), display="none", ctl_server=False,
    )  # fmt: skip
    assert log.status == "success"
    assert len(seen) == 12
    assert all("one or two sentences" in text for text in seen)
    assert log.results is not None
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    # Always the second place, every option there once: a quarter is right, and nobody abstains.
    assert metrics["accuracy"] == 0.25
    assert metrics["abstained"] == 0.0
    votes = import_votes([tmp_path / "logs"]).votes.frame.collect()
    assert set(votes["position"]) == {2}
    assert set(votes["options"]) == {4}
    assert Counter(votes["answer"]) == Counter({"A": 3, "B": 3, "C": 3, "D": 3})


def test_orders_shown_are_in_the_log(tmp_path: Path) -> None:
    model, _ = scripted(lambda _: "ANSWER: A")
    log = run(mcq(str(write_questions(tmp_path))), model, tmp_path, epochs=24, limit=1)
    assert len({sample.metadata["order"] for sample in log.samples or []}) == 24


def test_abstentions_are_wrong_in_inspects_metrics_too(tmp_path: Path) -> None:
    model, _ = scripted(lambda _: "I would rather not say.")
    log = run(mcq(str(write_questions(tmp_path))), model, tmp_path, epochs=2, limit=2)
    assert log.results is not None
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert (metrics["accuracy"], metrics["abstained"]) == (0.0, 1.0)


def test_prompts_show_the_options_in_order_and_name_every_letter() -> None:
    text = prompt("Which?", ["x", "y", "z"])
    assert text.endswith("Which?\n\nA) x\nB) y\nC) z")
    assert "one of A, B, C." in text


def test_prompts_take_questions_literally() -> None:
    assert "{braces} %s \\n" in prompt("What does {braces} %s \\n print?", ["{a}", "{b}"])


def test_seeds_differ_and_are_the_same_in_every_run() -> None:
    seeds = {generation_seed(0, question, epoch, "m") for question in "abc" for epoch in range(1, 25)}
    assert len(seeds) == 72
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert generation_seed(0, "q1", 1, "local/smollm2") == 299136449


def test_the_grammar_ends_with_a_letter_of_the_question() -> None:
    assert '"\\nANSWER: " [A-J]' in gbnf(10)
