"""The kept votes of two real models still load and analyse, and tell what their page says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable

import polars as pl
import pytest

from swaplaw.collect.design import order
from swaplaw.collect.local import SHA256
from swaplaw.collect.sources import read_questions

from support.commands import Finished
from support.pages import ROOT

EXAMPLE = ROOT / "examples" / "local-models"
VOTES = EXAMPLE / "votes.parquet"


@pytest.mark.parametrize("block", re.findall(r"```console\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL))
def test_the_page_shows_what_its_commands_print(
    block: str, swaplaw: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    prompt, _, expected = block.partition("\n")
    done = swaplaw(*shlex.split(prompt.removeprefix("$ "))[1:])
    assert done.code == 0, done.err
    assert expected.strip() in done.out


def test_there_are_enough_votes_and_their_orders_are_the_schedules() -> None:
    questions = {question.id: question for question in read_questions("demo")}
    votes = pl.read_parquet(VOTES)
    for (model,), part in votes.group_by("model"):
        cells = part.group_by("question").len()
        assert (cells["len"] >= 8).sum() >= 40, model
    for vote in votes.to_dicts():
        question = questions[vote["question"]]
        assert vote["gold"] == question.letter
        if vote["answer"] is not None:
            shown = order(0, question.id, vote["sample"] + 1, len(question.options))
            assert "ABCD"[shown[vote["position"] - 1]] == vote["answer"]


def test_provenance_names_command_models_weights_and_versions() -> None:
    facts = json.loads(pl.read_parquet_metadata(VOTES)["swaplaw"])["collected"]
    assert facts["weights"]["smollm2"] == SHA256
    assert facts["task"] == {"dataset": "demo", "brief": True, "grammar": True}
    assert set(facts["versions"]) == {"swaplaw", "inspect-ai", "xllamacpp"}
    page = (EXAMPLE / "README.md").read_text()
    assert all(digest in page for digest in facts["weights"].values())


def test_the_report_is_the_page_of_these_votes() -> None:
    page = (EXAMPLE / "report.html").read_text()
    assert "local/qwen2.5-coder" in page
    assert "local/smollm2" in page
