"""Columns are guessed in one place, by names that are compared without case, spaces and punctuation."""

from __future__ import annotations

from pathlib import Path

import pytest

import swaplaw as sl
from swaplaw.collect import sources
from swaplaw.collect.sources import find_columns
from swaplaw.importers import layouts, tables
from swaplaw.importers.record import Options
from swaplaw.votes import columns


@pytest.mark.parametrize("spelt", ["Question ID", "question_id", "questionId", "QUESTION-ID", " question id "])
def test_spellings_of_a_name_are_one(spelt: str) -> None:
    assert columns.guess([spelt], parts=["question"]) == {"question": spelt}


def test_gold_is_the_answer_only_beside_other_answers() -> None:
    assert columns.guess(["prediction", "answer"]) == {"gold": "answer", "answer": "prediction"}
    assert columns.guess(["answer"]) == {"answer": "answer"}
    assert columns.guess(["answer", "x"], {"answer": "x"}) == {"answer": "x", "gold": "answer"}


def test_what_is_declared_is_taken_for_nothing_else() -> None:
    assert columns.guess(["model", "system"], {"dataset": "model"})["model"] == "system"


def test_strata_are_no_clusters() -> None:
    assert "cluster" not in columns.guess(["question", "subject", "category", "topic"])


def test_a_new_name_is_known_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "NAMES", dict(columns.NAMES) | {"model": ("cavalo",), "text": ("pergunta",)})
    for module in (sources, tables, layouts):
        monkeypatch.setattr(module, "NAMES", columns.NAMES)
    file = tmp_path / "t.csv"
    file.write_text("question,Cavalo,answer,gold\n1,m,A,A\n")
    assert sl.import_votes(file, Options(dataset="d")).votes.counts["model"].to_list() == ["m"]
    assert find_columns(["Pergunta", "a", "b", "answer"], {}, (), "t").question == "Pergunta"


def test_the_scores_of_inspects_frames_are_answers_and_grades() -> None:
    names = ["sample_id", "model", "id", "epoch", "target", "score_choice", "score_choice_answer"]
    found = columns.guess(names)
    assert (found["question"], found["sample"], found["gold"]) == ("id", "epoch", "target")
    assert (found["answer"], found["correct"]) == ("score_choice_answer", "score_choice")
