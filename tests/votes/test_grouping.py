"""Answers grouped by meaning: recorded, repeatable, and without gold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model, modelapi

import swaplaw as sl
from swaplaw.importers.meaning import judged_by
from swaplaw.votes.canonical import group_answers, read_grouping
from swaplaw.votes.table import votes_of

from support.commands import Finished

CAPITALS = {"the capital of France": "Paris", "City of Light": "Paris", "Paris": "Paris"}
VOTES = votes_of(
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


def same(first: str, second: str) -> bool:
    return CAPITALS.get(first) is not None and CAPITALS.get(first) == CAPITALS.get(second)


@pytest.fixture
def scripted_judge(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A model of Inspect's, `scripted/judge`, that says SAME by a table; and what it was asked."""
    asked: list[str] = []

    @modelapi(name="scripted")
    class Scripted(ModelAPI):
        async def generate(self, input, tools, tool_choice, config) -> ModelOutput:  # type: ignore[no-untyped-def]
            prompt = input[-1].text
            asked.append(prompt)
            first, second = (line.partition(": ")[2] for line in prompt.splitlines() if " answer: " in line)
            said = ModelOutput.from_content("scripted/judge", "SAME" if same(first, second) else "DIFFERENT")
            said.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
            return said

    return asked


def test_the_command_line_groups_once_and_repeats_it(
    scripted_judge: list[str], swaplaw: Callable[..., Finished], tmp_path: Path
) -> None:
    source, groups, votes = tmp_path / "answers.csv", tmp_path / "groups.json", tmp_path / "votes.parquet"
    VOTES.frame.collect().write_csv(source)
    words = ("import", str(source), "--groups", str(groups))
    done = swaplaw(*words, "--judge", "scripted/judge", "-o", str(votes))
    assert done.code == 0, done.err
    first = pl.read_parquet(votes)
    assert first.filter(pl.col("answer") == pl.col("gold")).height == 3
    number = len(scripted_judge)
    assert number
    # The file is enough from then on, wherever votes are read; and the judge is asked only about what is new.
    assert swaplaw(*words, "-o", str(votes)).code == 0
    assert pl.read_parquet(votes).equals(first)
    told = json.loads(swaplaw("summary", str(source), "--groups", str(groups), "--json").out)
    assert [model["single"] for model in told["models"]] == [2 / 3, 1 / 3]
    assert len(scripted_judge) == number
    source.write_text(source.read_text() + "q,c,Paris in France,Paris,votes\n")
    noted = swaplaw("summary", str(source), "--groups", str(groups))
    assert "1 answer was never judged" in noted.err
    assert swaplaw(*words, "--judge", "scripted/judge", "-o", str(votes)).code == 0
    assert 0 < len(scripted_judge) - number <= 3
    provenance = json.loads(pl.read_parquet_metadata(votes)["swaplaw"])
    assert (provenance["options"]["judge"], provenance["reader"]) == ("scripted/judge", None)


def test_groups_are_refused_without_a_file_or_of_another_judge(
    swaplaw: Callable[..., Finished], tmp_path: Path
) -> None:
    source = tmp_path / "answers.csv"
    VOTES.frame.collect().write_csv(source)
    refused = swaplaw("import", str(source), "--judge", "scripted/judge", "-o", str(tmp_path / "v.parquet"))
    assert (refused.code, "name it with --groups FILE" in refused.err) == (2, True)
    refused = swaplaw("summary", str(source), "--groups", str(tmp_path / "none.json"))
    assert (refused.code, "there are no groups" in refused.err) == (2, True)
    group_answers(VOTES, lambda *_: False, "someone").write(tmp_path / "groups.json")
    words = ("--groups", str(tmp_path / "groups.json"), "--judge", "mockllm/model")
    refused = swaplaw("import", str(source), *words, "-o", str(tmp_path / "v.parquet"))
    assert (refused.code, "were made by 'someone'" in refused.err) == (2, True)
