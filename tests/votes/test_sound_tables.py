"""Honest votes of unusual tasks are not accused, and the faults that look like them still are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes.checks import Check, find_checks

from support.data import real_votes
from support.one_fault import votes_of_rows

Text = Callable[[np.random.Generator], str]


def free(wrong: Text, gold: Text, n: int = 100, right: float = 0.5, samples: int = 6) -> sl.Votes:
    """Two models that give the right answer half of the time, and any other answer else."""
    rng = np.random.default_rng(5)
    rows = []
    for question in range(n):
        meant = gold(rng)
        for model in "ab":
            share = rng.beta(2 * right, 2 - 2 * right)
            for _ in range(samples):
                rows.append((f"q{question}", model, meant if rng.random() < share else wrong(rng), meant))
    return votes_of_rows(rows)


def drawn(letters: str, size: int) -> Text:
    return lambda rng: "".join(rng.choice(list(letters), size))


def accused(votes: sl.Votes | sl.Tally) -> list[tuple[str, str | None]]:
    return [(check.name, check.model) for check in find_checks(votes) if check.severity == "error"]


def errors(found: tuple[Check, ...], name: str) -> list[str | None]:
    return [check.model for check in found if (check.name, check.severity) == (name, "error")]


def chosen(*texts: str) -> Text:
    return lambda rng: str(rng.choice(texts))


def joined(*parts: Text) -> Text:
    return lambda rng: "".join(part(rng) for part in parts)


SQUARE = joined(drawn("abcdefgh", 1), drawn("12345678", 1))
SYLLABLE = joined(drawn("bcdfglmnprst", 1), drawn("aeiou", 1))
NAME = joined(drawn("BCDFGLMN", 1), drawn("aeiou", 1), SYLLABLE, SYLLABLE)
DATE = joined(drawn("123456789", 1), chosen(" March ", " May ", " July "), drawn("123456789", 4))
SOUND = {
    "DNA": drawn("ACGT", 12),
    "chess": joined(chosen("K", "Q", "R", "B", "N", ""), SQUARE),
    "word": joined(SYLLABLE, SYLLABLE, SYLLABLE),
    "name": NAME,
    "full name": joined(NAME, chosen(" "), NAME),
    "written date": DATE,
    "file": joined(SYLLABLE, SYLLABLE, chosen(".py", ".txt", ".md")),
    "identifier": joined(chosen("get_", "set_", "make_"), SYLLABLE, SYLLABLE),
    "list of names": joined(NAME, chosen(", "), NAME, chosen(", "), NAME, chosen(", "), NAME),
    "Chinese name": drawn("水压力移动因为细胞分裂蛋白质", 3),
    "matrix": joined(
        chosen("\\begin{pmatrix} "),
        drawn("0123456789", 3),
        chosen(" & "),
        drawn("0123456789", 3),
        chosen(" \\end{pmatrix}"),
    ),
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_short_answers_that_rarely_repeat_are_no_prose_if_golds_look_like_them(text: Text) -> None:
    votes = free(text, text)
    assert not accused(votes)
    assert not accused(votes.tally())


@pytest.mark.parametrize(
    ("wrong", "gold"),
    [
        (joined(chosen("wrong-"), drawn("0123456789", 6)), chosen("right")),
        (joined(chosen("wrong-"), drawn("0123456789", 6)), joined(chosen("right-"), drawn("0123456789", 4))),
        (joined(chosen("no "), NAME, chosen(" "), NAME, chosen(" "), NAME), NAME),
        (NAME, drawn("ABCDEFGHIJ", 1)),
        (joined(NAME, NAME, NAME, NAME), NAME),
        (joined(NAME, drawn("0123456789", 3)), NAME),
        (drawn("0123456789abcdef", 32), NAME),
        (drawn("水压力移动因为细胞分裂蛋白质", 14), drawn("水压力移动因为细胞分裂蛋白质", 14)),
    ],
)
def test_short_wrong_texts_unlike_gold_are_graded_prose(wrong: Text, gold: Text) -> None:
    assert errors(find_checks(free(wrong, gold)), "graded_prose")


def exam(golds: list[str], models: dict[str, Text | None], right: float = 0.47, n: int = 120) -> sl.Votes:
    """Models that are right now and then, and answer by their own habit else: with other golds if they have none."""
    rng = np.random.default_rng(7)
    rows = []
    for question in range(n):
        gold = golds[question % len(golds)]
        for model, wrong in models.items():
            for _ in range(3):
                other = wrong(rng) if wrong else str(rng.choice([each for each in golds if each != gold]))
                rows.append((f"q{question}", model, gold if rng.random() < right else other, gold))
    return votes_of_rows(rows)


CITIES = ["Paris", "Rome", "Oslo", "Bern", "Lima", "Cairo", "Delhi", "Quito", "Tunis", "Riga"]
ELSEWHERE = chosen("Lyon", "Turin", "Bergen", "Basel", "Cusco", "Giza", "Agra")
COUNTS = list("1234567")


@pytest.mark.parametrize(
    ("golds", "models"),
    [
        (CITIES, {"a": ELSEWHERE, "b": ELSEWHERE}),
        (CITIES[:8], {"a": ELSEWHERE}),
        (COUNTS, {"a": None, "b": chosen("8", "9", "10", "11", "12", "14")}),
        (COUNTS, {"a": chosen("8", "12", "15", "20", "30"), "b": chosen("10", "20", "40")}),
        ([str(count) for count in range(1, 13)], {"a": None, "b": chosen("13", "15", "20", "24")}),
    ],
)
def test_an_open_task_with_few_golds_has_no_options(golds: list[str], models: dict[str, Text | None]) -> None:
    assert not accused(exam(golds, models))


@pytest.mark.parametrize(
    ("golds", "models", "right"),
    [
        (CITIES, {"a": None, "odd": ELSEWHERE}, 0.47),
        (["yes", "no"], {"a": None, "odd": chosen("true", "false")}, 0.3),
        (list("1234"), {"a": None, "odd": chosen("1984", "2001", "1066")}, 0.3),
        (list("1234"), {"a": None, "odd": chosen("Lyon", "Turin")}, 0.3),
        (list("ABCDEFGHIJ"), {"odd": ELSEWHERE}, 0.5),
    ],
)
def test_answers_that_are_no_options_are_told(golds: list[str], models: dict[str, Text | None], right: float) -> None:
    assert errors(find_checks(exam(golds, models, right)), "not_an_option") == ["odd"]


@pytest.mark.parametrize("golds", [["p", "P", "n", "N"], ["Co", "CO", "No", "NO"]])
def test_labels_that_differ_in_case_alone_are_different_answers(golds: list[str], tmp_path: Path) -> None:
    votes = exam(golds, {"a": None, "b": None}, 0.7)
    assert not accused(votes)
    votes.write(file := tmp_path / "votes.csv")
    assert not sl.read_votes(file).notes


def test_case_that_a_model_does_not_heed_is_told_even_if_golds_have_both() -> None:
    lower = exam(["P", "N"], {"a": None, "odd": chosen("p", "n")}, 0.5).counts.with_columns(
        gold=pl.when(pl.col("question") == "q0").then(pl.lit("p")).otherwise(pl.col("gold"))
    )
    assert "odd" in errors(find_checks(sl.votes_from(respelt(lower, "odd"))), "spelling")


@pytest.mark.parametrize(
    ("task", "graded"),
    [("aiw", False), ("self_reference", False), ("rotten_oranges", False), ("rectangle_count", False), ("acre", True)],
)
def test_models_that_count_wrongly_or_find_nothing_determined_are_not_misread(task: str, graded: bool) -> None:
    # Who forgets Alice herself is wrong by one; a grid may need more minutes than any right answer; "undetermined" is a
    # right answer where it is graded so.
    rows = pl.read_parquet(real_votes("reasoning-gym.parquet")).filter(pl.col("question").str.contains(f"/{task}/"))
    found = find_checks(sl.votes_from(rows if graded else rows.drop("correct")))
    names = {"below_chance", "not_an_option", "displaced_answers"} | ({"no_answer_as_text"} if graded else set())
    assert names.isdisjoint(check.name for check in found if check.severity == "error")


def respelt(counts: pl.DataFrame, model: str) -> pl.DataFrame:
    """The same votes, of which one model's are in lower case."""
    own = pl.col("model") == model
    return counts.with_columns(answer=pl.when(own).then(pl.col("answer").str.to_lowercase()).otherwise("answer"))
