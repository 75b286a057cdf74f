"""A collection that is killed goes on where it was: nothing finished is lost or asked again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from swaplaw import read_votes
from swaplaw.collect.task import generation_seed

from support.answering import PROVIDER, Answering
from support.collecting import QUESTIONS, UNCLOSED, Collect, killed_half_way, rows

pytestmark = UNCLOSED
MODELS = ("seeded", "knows")
CONNECTIONS = 4
SAMPLES = 6


@pytest.fixture
def killed(folder: Path, answering: Answering) -> set[tuple[str, str, int]]:
    """Begin a collection in a process of its own and kill it half way; return what had finished by then."""
    named = ",".join(f"{PROVIDER}/{model}" for model in MODELS)
    words = f"mcq --dataset {folder / 'sums.jsonl'} --models {named} --samples {SAMPLES} --connections {CONNECTIONS}"
    return killed_half_way(words.split(), folder, answering, len(MODELS) * len(QUESTIONS) * SAMPLES // 2)


def asked(answering: Answering, since: int = 0) -> Counter[tuple[str, int]]:
    return Counter((request["model"], request["seed"]) for request in answering.questions_asked()[since:])


def test_killed_and_resumed_is_as_if_nothing_had_happened(
    killed: set[tuple[str, str, int]], collect: Collect, folder: Path, answering: Answering
) -> None:
    total = len(MODELS) * len(QUESTIONS) * SAMPLES
    assert total // 2 <= len(killed) < total
    assert not (folder / "killed.parquet").exists()
    # Votes stand beside the output as they come, as a table that any command reads.
    assert int(read_votes(folder / "killed.partial.jsonl").counts["votes"].sum()) == len(killed)
    before = len(answering.questions_asked())
    options = f"--samples {SAMPLES} --connections {CONNECTIONS}"
    done = collect(*MODELS, output="killed.parquet", options=options)
    assert done.code == 0, done.err
    assert not (folder / "killed.partial.jsonl").exists()

    again = asked(answering, before)
    paid = {
        (model, generation_seed(0, question, sample + 1, f"{PROVIDER}/{model}")) for model, question, sample in killed
    }
    assert paid <= set(asked(answering)) - set(again)
    # What was asked twice was in flight when the process died: at most one request a connection.
    twice = [one for one, times in asked(answering).items() if times > 1]
    assert len(twice) <= len(MODELS) * CONNECTIONS
    assert set(asked(answering).values()) <= {1, 2}

    whole = collect(*MODELS, output="whole.parquet", options=options)
    assert whole.code == 0, whole.err
    assert rows(folder / "killed.parquet") == rows(folder / "whole.parquet")
    assert len(rows(folder / "whole.parquet")) == total
