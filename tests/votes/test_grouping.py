"""Answers grouped by meaning: recorded, repeatable, and without gold."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model

import swaplaw as sl
from swaplaw.importers.inspect.judging import judged_by
from swaplaw.votes.grouping import group_answers, read_grouping
from swaplaw.votes.table import votes_from

CAPITALS = {"the capital of France": "Paris", "City of Light": "Paris", "Paris": "Paris"}
VOTES = votes_from(
    pl.DataFrame(
        [
            ("q", model, answer, "Paris")
            for model, answer in (
                *(("a", "the capital of France"), ("a", "the capital of France"), ("a", "Rome")),
                *(("b", "City of Light"), ("b", "Rome"), ("b", None)),
            )
        ],
        schema=["question", "model", "answer", "gold"],
        orient="row",
    )
)


def test_a_model_groups_and_the_file_repeats_it(tmp_path: Path) -> None:
    asked: list[str] = []

    def respond(messages: list[object], *_: object) -> ModelOutput:
        prompt = messages[-1].text  # type: ignore[attr-defined]
        asked.append(prompt)
        first, second = (CAPITALS.get(line.partition(": ")[2]) for line in prompt.splitlines() if " answer: " in line)
        said = ModelOutput.from_content("mockllm/model", "SAME" if first and first == second else "DIFFERENT")
        said.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)  # Else a tokenizer would be fetched.
        return said

    judge = judged_by(get_model("mockllm/model", custom_outputs=respond))
    grouping = group_answers(VOTES, judge, "mockllm/model")
    assert grouping.groups["votes"]["q"]["City of Light"] == grouping.groups["votes"]["q"]["Paris"]
    assert grouping.groups["votes"]["q"]["Rome"] == "Rome"
    grouping.write(tmp_path / "groups.json")
    number = len(asked)
    kept = read_grouping(tmp_path / "groups.json")
    assert kept == grouping
    grouped = kept.apply(VOTES).frame.collect()
    assert len(asked) == number  # Nobody is asked again.
    right = grouped.filter(pl.col("answer") == pl.col("gold"))
    assert right.height == 3
    assert grouped["answer"].null_count() == 1


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(sl.InputError, match="not a file of grouped answers"):
        read_grouping(tmp_path / "x.json")
