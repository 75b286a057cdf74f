"""Votes as they are spelt and as they are meant: the decision does not hang on how answers are written."""

from __future__ import annotations

import re

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers.same import meant
from swaplaw.votes.notation import notation, second_opinions

from support.commands import Run

ANSWERS = {"q": ("2516_8", ["2516", "2516_{8}", "12", "12_8"]), "r": ("Oslo", ["oslo.", "It is Oslo.", "Rome", "rome"])}


def votes(*, graded: bool = False) -> sl.Votes:
    rows = [
        {"question": question, "model": model, "answer": answer, "gold": gold} | ({"correct": False} if graded else {})
        for question, (gold, answers) in ANSWERS.items()
        for model in ("a", "b")
        for answer in answers
    ]
    return sl.votes_from(pl.DataFrame(rows))


@pytest.mark.parametrize("graded", [False, True])
def test_right_and_wrong_answers_are_pooled_alike(graded: bool) -> None:
    read = notation(votes(graded=graded))
    assert read is not None
    # Gold in other spellings, one wrong answer in two, and a sentence that is right in a category of its own.
    said = read.votes.frame.filter(model="a").collect()
    assert sorted(said["answer"]) == ["12", "12", "2516_8", "2516_8", "It is Oslo.", "Oslo", "Rome", "Rome"]
    assert read.shares == {"a": 0.5, "b": 0.5}
    tally = read.votes.tally()
    assert [score.total / score.denominator for score in tally.scores] == [0.5, 0.5]  # 2516 ties with 12, Rome wins.
    assert [one.answer for one in read.disputes if one.oracle] == ["2516"]


def test_nothing_is_read_otherwise_where_nothing_changes() -> None:
    assert notation(sl.demo_votes()) is None
    cases = pl.DataFrame({"question": ["1", "2"], "model": ["m", "m"], "answer": ["Na", "na"], "gold": ["NA", "Na"]})
    assert notation(sl.votes_from(cases)) is None  # Both are golds: case is meant.


def test_counts_are_read_as_votes_are(tmp_path: object) -> None:
    file = f"{tmp_path}/counts.parquet"
    votes().write_counts(file)
    counted, read = notation(sl.read_votes(file)), notation(votes())
    assert counted is not None
    assert read is not None
    assert counted.disputes == read.disputes
    assert counted.votes.tally().scores[0].numerators.tolist() == read.votes.tally().scores[0].numerators.tolist()


@pytest.mark.parametrize("what", [["gold"], []])
def test_the_verdict_on_math_hangs_on_no_notation(what: list[str]) -> None:
    """Leave the base out of golds, or out of answers too: the same best model, the same verdict."""
    frame = sl.demo_votes("math500").frame
    bare = pl.col(what).str.replace(r"^(\d+)_\{?\d+\}?$", "$1") if what else pl.col("gold")
    found = sl.recommend(frame.with_columns(bare).collect(), repeats=1)
    assert found.notation is not None
    assert (found.single["model"], found.single["accuracy"]) == ("Qwen3-30B-A3B-Thinking-2507", 0.988)
    assert found.verdict == "deploy_single"
    assert found.notation.to_dict()["read_as"] == "meant"
    assert found.sentence.startswith("Notation: up to ")


def test_disputed_answers_are_listed(swaplaw: Run) -> None:
    assert re.search(r"2516 +2516_8 +433 +7", swaplaw("checks", "demo:math500", "--disputes", "notation").out)
    found = second_opinions(votes(), opinion=lambda one, other: one == "12")
    assert {(one.answer, sum(one.votes.values())) for one in found} == {
        ("12", 2),
        ("2516", 2),
        ("2516_{8}", 2),
        ("oslo.", 2),
    }


def test_what_is_the_same_needs_no_order() -> None:
    texts = ["1/2", "0.5", "x=0.5", r"\frac{2}{6}", "1/3", "2/6"]
    one, other = meant(texts, "1/2"), meant(texts[::-1], "1/2")
    assert one == other
    assert sorted(set(one.values())) == ["1/2", "1/3"]
