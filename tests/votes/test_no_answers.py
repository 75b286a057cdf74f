"""Answers and golds that are none, and words that only look so."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes.checks import Check, find_checks
from votes.test_checks import Rows, answering, exam, named, plain, table


def labelled(labels: list[str], n: int = 80) -> Rows:
    """Two models that know three of four labels."""
    rng = np.random.default_rng(1)
    golds = [labels[rng.integers(len(labels))] for _ in range(n)]
    return [
        (f"q{question}", model, gold if rng.random() < 0.75 else labels[rng.integers(len(labels))], gold)
        for question, gold in enumerate(golds)
        for model in "ab"
        for _ in range(3)
    ]


def serious(rows: Rows) -> list[Check]:
    found = [find_checks(votes) for votes in (table(rows), table(rows).tally())]
    assert found[0] == found[1]
    return [check for check in found[0] if check.severity != "note"]


@pytest.mark.parametrize("labels", [["H", "Na", "Cl", "Fe", "K"], ["NA", "DE", "FR", "US"], ["n/a", "yes", "no"]])
def test_a_label_that_models_know_is_gold_even_if_it_looks_like_none(labels: list[str]) -> None:
    assert serious(labelled(labels)) == []


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


def counting(word: str, share: float = 0.2) -> Rows:
    """Two models that count, of which one gives the same words again and again."""
    rng = np.random.default_rng(2)

    def said(gold: str, model: str) -> str:
        if model == "b" and rng.random() < share:
            return word
        return gold if rng.random() < 0.7 else str(rng.integers(500))

    golds = [str(gold) for gold in rng.integers(500, size=80)]
    return [(f"q{n}", model, said(gold, model), gold) for n, gold in enumerate(golds) for model in "ab" for _ in "123"]


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
    frame = pl.DataFrame(exam({"a": plain, "b": plain}), schema=["question", "model", "answer", "gold"], orient="row")
    assert [check.severity for check in find_checks(sl.votes_from(frame.with_columns(gold=None)))] == ["note"]


def test_gold_of_other_questions_is_told_where_no_model_beats_guessing() -> None:
    rng = np.random.default_rng(3)
    strange = {f"q{question}": "ABCD"[rng.integers(4)] for question in range(60)}
    rows = [(q, m, a, strange[q]) for q, m, a, _ in exam({"a": plain, "b": plain}, samples=3)]
    check = named(find_checks(table(rows)), "at_chance")
    assert (check.severity, check.model) == ("warning", None)
    assert "column `gold`" in check.fix
