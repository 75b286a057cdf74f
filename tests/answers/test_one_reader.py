"""One reader for all: labelled replies (tests/data/replies.jsonl) are read alike wherever votes are made.

To add a reply, add a line to that file: `reply`, the number of `options`, the right `answer` (null: none) and a `kind`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState

from swaplaw.answers import Reader, read_choice
from swaplaw.answers.letters import letter
from swaplaw.collect.task import ORDER, vote
from swaplaw.importers.inspect.logs import read_ballot
from swaplaw.importers.lm_eval import read as read_harness
from swaplaw.importers.record import Findings, Options
from swaplaw.serve.settings import AnswerSettings

from support.data import DATA

Reply = dict[str, Any]


@cache
def replies() -> list[Reply]:
    return [json.loads(line) for line in (DATA / "replies.jsonl").read_text().splitlines()]


def collected(found: list[Reply], _: Path) -> list[str | None]:
    """What the scorer of `swaplaw collect` votes for."""
    judge = vote()

    async def one(reply: Reply) -> str | None:
        labels = [letter(place) for place in range(reply["options"])]
        output = ModelOutput.from_content("mockllm/model", reply["reply"])
        state = TaskState(
            ModelName("mockllm/model"), "1", 1, "?", [], choices=labels, output=output, metadata={ORDER: labels}
        )
        return cast(Score, await judge(state, Target("A"))).answer

    async def every() -> list[str | None]:
        return [await one(reply) for reply in found]

    return asyncio.run(every())


def imported_from_inspect(found: list[Reply], _: Path) -> list[str | None]:
    """What an Inspect log gives whose scorer graded whole completions and kept no letter."""
    answers = []
    for reply in found:
        labels = [letter(place) for place in range(reply["options"])]
        output = ModelOutput.from_content("mockllm/model", reply["reply"])
        sample = EvalSample(
            id="1", epoch=1, input="?", choices=labels, target="A", output=output,
            scores={"graded": Score(value="C", answer=reply["reply"])},
        )  # fmt: skip
        answers.append(read_ballot(sample.summary(), sample, Options(), {}, "log").row["answer"])
    return answers


def imported_from_the_harness(found: list[Reply], folder: Path) -> list[str | None]:
    """What raw responses of lm-evaluation-harness give."""
    file = folder / "samples_letters_2026-11-15T21-20-52.940507.jsonl"
    with file.open("w") as lines:
        for number, reply in enumerate(found):
            sample = {"doc_id": number, "doc": {}, "target": "A", "arguments": {}, "resps": [[reply["reply"]]]}
            lines.write(json.dumps(sample | {"filtered_resps": [reply["reply"]], "filter": "none"}) + "\n")
    frame = read_harness([file], Options(filter="raw"), Findings()).scan().collect()
    by_number = dict(zip(frame["question"], frame["answer"], strict=True))
    return [by_number[str(number)] for number in range(len(found))]


def served(found: list[Reply], _: Path) -> list[str | None]:
    """What the server counts."""
    readers = {
        count: AnswerSettings(read="choice", choices=[letter(place) for place in range(count)]).reader
        for count in {reply["options"] for reply in found}
    }
    return [readers[reply["options"]].read(reply["reply"]) for reply in found]


def recorded(found: list[Reply], _: Path) -> list[str | None]:
    """What a reader gives that was written down and built again, as policies and votes carry it."""
    readers = {
        count: Reader.from_dict(json.loads(json.dumps(Reader.of_options(count).to_dict())))
        for count in {reply["options"] for reply in found}
    }
    return [readers[reply["options"]].read(reply["reply"]) for reply in found]


def test_the_labelled_replies_are_many_and_varied() -> None:
    assert len(replies()) >= 120
    assert len({reply["kind"] for reply in replies()}) >= 15


@pytest.mark.parametrize(
    "read",
    [collected, imported_from_inspect, imported_from_the_harness, served, recorded],
    ids=lambda read: read.__name__,
)
def test_replies_are_read_right_wherever_votes_are_made(
    read: Callable[[list[Reply], Path], list[str | None]], tmp_path: Path
) -> None:
    # The server reads them all. The other ways lead to the same reader: a fifth of the replies shows that they do.
    known = replies() if read is served else replies()[::5]
    if read is imported_from_the_harness:  # The harness does not say how many options there are.
        known = [reply for reply in known if reply["answer"] is not None and reply["options"] == 4]
    got = read(known, tmp_path)
    wrong = [
        (reply["reply"], reply["answer"], answer)
        for reply, answer in zip(known, got, strict=True)
        if answer not in (None, reply["answer"])
    ]
    right = sum(answer == reply["answer"] for reply, answer in zip(known, got, strict=True))
    # Much of the file was written to trip a reader up; ordinary replies are read right in 95 to 100% of cases.
    assert right >= 0.87 * len(known), wrong[:5]
    assert len(wrong) <= 0.008 * len(known), wrong[:5]


def test_readers_agree_on_labels_that_are_no_letters() -> None:
    assert read_choice("I would say yes.", ["yes", "no"]) == "yes"
    assert read_choice("The answer is 3.", ["1", "2", "3", "4"]) == "3"
    assert read_choice("\\boxed{2}", ["1", "2", "3", "4"]) == "2"
    assert read_choice("The answer is 5.", ["1", "2", "3", "4"]) is None
    assert read_choice("1 or 2", ["1", "2"]) is None
    assert read_choice("The answer is x", "wxyz") == "x"
