"""The paper's protocol in miniature: two real models, every order of four options once, and the page of their votes."""

from __future__ import annotations

import json
import re
import shlex
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from swaplaw.collect.design import order
from swaplaw.collect.local import SHA256
from swaplaw.collect.sources import read_questions

from support.commands import Run
from support.pages import ROOT

EXAMPLE = ROOT / "examples" / "miniature"
VOTES = EXAMPLE / "votes.parquet"
README = (EXAMPLE / "README.md").read_text()


def test_every_model_saw_every_order_of_every_question_once() -> None:
    votes = pl.read_parquet(VOTES)
    questions = {question.id: question for question in read_questions("demo")}
    drawn = json.loads((EXAMPLE / "sample.json").read_text())
    assert set(votes["question"]) == {question["id"] for question in drawn["questions"]}
    assert set(votes["model"]) == {"local/smollm2", "local/qwen2.5-coder"}
    cells = votes.group_by("model", "question")
    assert len(list(cells)) == 2 * len(drawn["questions"])
    for (model, name), part in cells:
        assert sorted(part["sample"]) == list(range(24)), (model, name)
        shown = [tuple(order(0, str(name), sample + 1, 4)) for sample in part["sample"]]
        assert sorted(shown) == list(permutations(range(4)))
        assert set(part["gold"]) == {questions[str(name)].letter}
        for placed, answer, position in zip(shown, part["answer"], part["position"], strict=True):
            assert answer is None or "ABCD"[placed[position - 1]] == answer


def test_provenance_says_how_they_were_asked() -> None:
    facts = json.loads(pl.read_parquet_metadata(VOTES)["swaplaw"])["collected"]
    assert facts["weights"]["smollm2"] == SHA256
    assert facts["settings"]["temperature"] == 1.0
    assert facts["settings"]["samples"] == 24
    assert all(digest in README for digest in facts["weights"].values())
    assert "--samples 24" in README


@pytest.mark.parametrize("block", re.findall(r"```console\n(.*?)```", README, re.DOTALL))
def test_the_page_shows_what_its_commands_print(block: str, swaplaw: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    prompt, _, expected = block.partition("\n")
    done = swaplaw(*shlex.split(prompt.removeprefix("$ "))[1:])
    assert done.code == 0, done.err
    assert expected.strip() in done.out


def test_the_reproduction_is_what_the_command_writes(swaplaw: Run, tmp_path: Path) -> None:
    """All but the simulation, which has nothing to do with these votes, and the figures."""
    done = swaplaw("reproduce", VOTES, "-o", tmp_path, "--trials", "50", "--replicates", "50")
    assert done.code == 0, done.err
    kept = sorted((EXAMPLE / "reproduction" / "tables").glob("*.md"))
    assert {file.stem for file in kept} >= {"abstentions", "model_accuracy", "top_pairs"}
    for file in kept:
        assert file.read_text() == (tmp_path / "tables" / file.name).read_text(), file.name


def test_its_commands_draw_these_questions_and_plan_these_votes(
    swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("swaplaw.collect.run.require", lambda _: None)  # Large weights need not be here.
    drawing, collecting, _ = re.findall(r"^swaplaw (.*)$", README, re.MULTILINE)
    assert swaplaw(*shlex.split(drawing)).code == 0
    assert json.loads((tmp_path / "sample.json").read_text()) == json.loads((EXAMPLE / "sample.json").read_text())
    planned = swaplaw(*shlex.split(collecting), "--dry-run", "--json")
    assert planned.code == 0, planned.err
    assert [model["samples"] for model in json.loads(planned.out)["models"]] == [144, 144]
