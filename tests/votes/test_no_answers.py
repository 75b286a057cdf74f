"""Answers and golds that are none, and words that only look so."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes.checks import Check, find_checks
from votes.test_checks import answering, exam, named, plain

from support.one_fault import COLUMNS, Rows, fleet, votes_of_rows


def serious(votes: sl.Votes | Rows) -> list[Check]:
    table = votes if isinstance(votes, sl.Votes) else votes_of_rows(votes)
    found = find_checks(table)
    assert found == find_checks(table.tally())
    return [check for check in found if check.severity != "note"]


@pytest.mark.parametrize("labels", [["H", "Na", "Cl", "Fe", "K"], ["NA", "DE", "FR", "US"], ["n/a", "yes", "no"]])
def test_a_label_that_models_know_is_gold_even_if_it_looks_like_none(labels: list[str]) -> None:
    assert serious(fleet(labels * 16, labels, right=0.75)) == []


@pytest.mark.parametrize("word", ["None", "null", "-", "NA", "nan"])
def test_a_gold_that_stands_for_none_is_told_unless_models_answer_so(word: str) -> None:
    rows = [(q, m, a, word if int(q[1:]) % 3 == 0 else g) for q, m, a, g in exam({"a": plain, "b": plain}, samples=3)]
    (check,) = serious(rows)
    assert (check.name, check.severity, check.questions) == ("no_gold", "error", 20)


@pytest.mark.parametrize(
    "word",
    ["HTTPSConnectionPool(host='api.example.com', port=443): Read timed out.", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?",
     "<|endoftext|>", "<|eot_id|>", "</s>", "content_filter", "Content filtered"],
)  # fmt: skip
def test_failures_and_marks_that_are_left_in_place_of_an_answer_are_told(word: str) -> None:
    (check,) = serious(answering(word))
    assert (check.name, check.severity, check.model) == ("no_answer_as_text", "error", "b")


def counting(word: str, share: float = 0.2) -> sl.Votes:
    """Two models that count, of which one gives the same words again and again."""
    rng = np.random.default_rng(2)
    golds = [str(gold) for gold in rng.integers(500, size=80)]
    return fleet(
        golds, lambda draw: str(draw.integers(500)), lambda text: word if rng.random() < share else text, models="ab"
    )


@pytest.mark.parametrize(
    "word", ["Lo siento, no puedo ayudar con eso.", "不知道", "The answer is", "finish_reason: length"]
)
def test_the_same_words_to_many_questions_are_told_where_no_gold_looks_like_them(word: str) -> None:
    (check,) = serious(counting(word))
    assert (check.name, check.severity, check.model) == ("no_answer_as_text", "warning", "b")
    assert word in check.message
    assert serious(counting(word, 0.02)) == []


def test_the_same_number_to_many_questions_is_an_answer() -> None:
    assert serious(counting("0")) == []


def test_where_nobody_knows_what_is_right_nobody_is_never_right() -> None:
    frame = pl.DataFrame(exam({"a": plain, "b": plain}), schema=COLUMNS, orient="row")
    assert [check.severity for check in find_checks(sl.votes_from(frame.with_columns(gold=None)))] == ["note"]


def test_gold_of_other_questions_is_told_where_no_model_beats_guessing() -> None:
    rng = np.random.default_rng(3)
    strange = {f"q{question}": "ABCD"[rng.integers(4)] for question in range(60)}
    rows = [(q, m, a, strange[q]) for q, m, a, _ in exam({"a": plain, "b": plain}, samples=3)]
    check = named(find_checks(votes_of_rows(rows)), "at_chance")
    assert (check.severity, check.model) == ("warning", None)
    assert "column `gold`" in check.fix
