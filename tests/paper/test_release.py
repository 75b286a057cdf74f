"""A release holds the votes and no question; read back, it is the same votes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.paper.release import release
from swaplaw.votes.table import Votes

from support.commands import Run

KEYS = ["dataset", "question", "model", "answer", "gold", "reason"]
ANSWERS = st.sampled_from(["dog", "b ", "none", "N/A", "+", "NULL", 'a, "b"\nc', None])


def tallied(votes: Votes) -> pl.DataFrame:
    frame = votes.frame.collect()
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in KEYS if name not in frame.columns)
    return frame.group_by(KEYS).agg(pl.len()).sort(KEYS)


@pytest.mark.parametrize("name", ["exams", "gpqa-diamond"])
def test_a_release_read_back_is_the_same_votes(tmp_path: Path, name: str) -> None:
    votes = sl.demo_votes(name)
    done = release(votes, tmp_path / "out", licence="MIT")
    whole = len(votes.frame.collect())
    assert done.files["votes.csv"] == whole
    for place in (tmp_path / "out", tmp_path / "out" / "votes.sqlite"):
        again = sl.read_votes(place)
        assert tallied(again).equals(tallied(votes))
        assert [one.to_dict() for one in sl.summary(again)] == [one.to_dict() for one in sl.summary(votes)]
    assert "license: mit" in (tmp_path / "out" / "README.md").read_text()


@given(rows=st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xy"), ANSWERS), min_size=1, max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_answers_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, str | None]]
) -> None:
    rows = [*rows, (9, "x", "a word")]
    frame = pl.DataFrame(
        {
            "question": [f"q{question}" for question, _, _ in rows],
            "model": [model for _, model, _ in rows],
            "answer": [answer for _, _, answer in rows],
            "reason": ["api error" if answer is None else None for _, _, answer in rows],
        },
        schema=dict.fromkeys(["question", "model", "answer", "reason"], pl.String),
    ).with_columns(gold=pl.lit("a word"), dataset=pl.lit("gpqa"))
    votes = sl.votes_from(frame)
    folder = tmp_path_factory.mktemp("release") / "out"
    release(votes, folder)
    assert tallied(sl.read_votes(folder)).equals(tallied(votes))


@pytest.mark.parametrize("text", ["What is the capital of France?", "法国的首都是什么", "17*23=?"])
def test_no_question_can_be_read_unless_asked(tmp_path: Path, text: str) -> None:
    frame = pl.DataFrame({"question": [text] * 2, "model": ["x", "y"], "answer": ["A", "B"], "gold": ["A", "A"]})
    release(sl.votes_from(frame), tmp_path / "bare")
    assert not [file for file in (tmp_path / "bare").iterdir() if text.encode() in file.read_bytes()]
    done = release(sl.votes_from(frame), tmp_path / "told", with_text=True)
    assert done.files["questions.csv"] == 1
    assert text in (tmp_path / "told" / "questions.csv").read_text()
    assert sl.read_votes(tmp_path / "told").tally().votes.sum() == 2


def test_graded_votes_keep_their_grades(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "question": ["1", "1", "2", "2"],
            "model": ["x", "y"] * 2,
            "answer": ["3 pm", "15:00", None, "dog"],
            "gold": ["15:00", "15:00", "cat", "cat"],
            "correct": [True, True, False, False],
        }
    )
    votes = sl.votes_from(frame)
    assert release(votes, tmp_path / "out").files["grades.csv"] == 4
    again = sl.read_votes(tmp_path / "out")
    assert (again.tally().gold == votes.tally().gold).all()


def test_the_command_writes_one_document(tmp_path: Path, swaplaw: Run) -> None:
    done = swaplaw("release", "demo", "-o", tmp_path / "out", "--licence", "CC-BY-4.0", "--json")
    document = json.loads(done.out)
    assert done.code == 0
    assert set(document) == {"folder", "files"}
    assert {"name": "votes.csv", "rows": 21600} in document["files"]
    again = swaplaw("release", "demo", "-o", tmp_path / "out")
    assert again.code == 2
    assert "not empty" in again.err
