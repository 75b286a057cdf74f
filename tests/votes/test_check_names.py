"""Names of models, questions and datasets that cannot be what was meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.errors import InputError
from swaplaw.votes.checks import find_checks
from votes.test_checks import exam, named, plain

from support.data import real_votes
from support.one_fault import votes_of_rows


def renamed(column: str, new: pl.Expr, model: str = "b", n: int = 60) -> sl.Votes:
    """Two models, one of which has other names in a column."""
    frame = votes_of_rows(exam({"a": plain, "b": plain}, n=n, samples=2)).frame.drop("dataset").collect()
    return sl.votes_from(
        frame.with_columns(pl.when(pl.col("model") == model).then(new).otherwise(column).alias(column))
    )


@pytest.mark.parametrize("other", ["A", "a ", " a", "ａ"])
def test_one_model_under_two_names_is_told(other: str) -> None:
    votes = renamed("model", pl.lit(other))
    for found in (find_checks(votes), find_checks(votes.tally())):
        check = named(found, "model_names")
        assert (check.severity, check.model) == ("error", max("a", other))
        assert repr(other) in check.message
        assert "column `model`" in check.fix
    assert sl.recommend(votes.tally()).reason == "checks"


@pytest.mark.parametrize("other", ["a\u200b", "\u0430", "a\u00ad"])
def test_names_that_look_alike_are_told(other: str) -> None:
    check = named(find_checks(renamed("model", pl.lit(other))), "look_alike_names")
    assert (check.severity, check.model) == ("error", other)
    assert ascii(other) in check.message


@pytest.mark.parametrize("dash", "\u2010\u2011\u2012\u2013\u2212")
def test_dashes_look_alike(dash: str) -> None:
    votes = sl.votes_from(
        renamed("model", pl.lit(f"a{dash}1")).frame.collect().with_columns(pl.col("model").replace("a", "a-1"))
    )
    assert named(find_checks(votes), "look_alike_names").severity == "error"


def test_a_likely_cluster_that_is_ignored_is_told() -> None:
    frame = renamed("model", pl.lit("b")).frame.collect().with_columns(subject=pl.lit("law"))
    check = named(find_checks(sl.votes_from(frame)), "ignored_cluster")
    assert (check.severity, check.fix) == (
        "warning",
        "if questions were sampled in groups, say so: `--column cluster=subject`",
    )
    named_so = frame.with_columns(cluster=pl.col("question"))
    assert not [check for check in find_checks(sl.votes_from(named_so)) if check.name == "ignored_cluster"]


def test_models_of_other_names_are_other_models() -> None:
    for name in ("a-2", "a_", "a.1", "á"):
        assert not [check for check in find_checks(renamed("model", pl.lit(name))) if check.severity == "error"]


@pytest.mark.parametrize(
    "other",
    [
        pl.col("question") + " ",
        pl.col("question").str.to_uppercase(),
        pl.col("question").str.strip_prefix("q"),
        "q" + pl.col("question").str.strip_prefix("q").str.zfill(4),
    ],
)
def test_questions_that_no_other_model_has_are_told(other: pl.Expr) -> None:
    votes = renamed("question", other)
    check = named(find_checks(votes), "own_questions")
    assert (check.severity, check.model, check.questions) == ("error", "b", 60)
    assert "'q0'" in check.message
    assert "column `question`" in check.fix
    with pytest.raises(InputError, match=r"all 2 models answered.*such as 'q0'"):
        sl.recommend(votes.tally())


def test_some_ids_that_differ_in_case_only_are_told() -> None:
    some = pl.when(pl.col("question").str.ends_with("3")).then(pl.col("question").str.to_uppercase())
    check = named(find_checks(renamed("question", some.otherwise("question"))), "question_ids")
    assert (check.severity, check.questions) == ("error", 6)
    assert "'Q13' and 'q13'" in check.message


def test_numbers_with_and_without_zeros_before_them_are_one_id() -> None:
    zeros = "q" + pl.col("question").str.strip_prefix("q").str.zfill(3)
    check = named(find_checks(renamed("question", zeros, n=200)), "question_ids")
    assert (check.severity, check.questions) == ("error", 100)
    assert "'q0' and 'q000'" in check.message


def test_ids_that_one_model_has_both_of_are_two_questions() -> None:
    rows = exam({"a": plain, "b": plain}, n=40)
    both = [*rows, *((question.upper(), model, answer, gold) for question, model, answer, gold in rows)]
    assert {check.severity for check in find_checks(votes_of_rows(both))} == {"note"}


def test_a_model_on_fewer_questions_is_no_stranger() -> None:
    rows = [row for row in exam({"a": plain, "b": plain, "c": plain}) if row[1] != "c" or int(row[0][1:]) < 5]
    assert not [check for check in find_checks(votes_of_rows(rows)) if check.severity == "error"]
    for file in ("mmlu-pro.parquet", "renze-temperature.parquet"):
        found = find_checks(sl.read_votes(real_votes(file)))
        assert not {"model_names", "own_questions", "question_ids"} & {check.name for check in found}


def test_model_and_dataset_that_are_swapped(tmp_path: Path, swaplaw: Callable[..., object]) -> None:
    frame = pl.DataFrame(
        exam({"a": plain, "b": plain}), schema=["question", "dataset", "answer", "gold"], orient="row"
    ).with_columns(model=pl.lit("exam"))
    check = named(find_checks(sl.votes_from(frame)), "swapped_columns")
    assert (check.severity, check.questions) == ("error", 60)
    assert "'a', 'b'" in check.message
    assert "'exam'" in check.message
    assert "--column model=dataset --column dataset=model" in check.fix
    frame.write_csv(tmp_path / "votes.csv")
    mended = ("--column", "model=dataset", "--column", "dataset=model", "--json")
    assert '"checks": [' in swaplaw("checks", tmp_path / "votes.csv", *mended).out  # type: ignore[attr-defined]
    assert "swapped" not in swaplaw("checks", tmp_path / "votes.csv", *mended).out  # type: ignore[attr-defined]


def test_tasks_that_number_their_questions_alike_are_not_swapped() -> None:
    first = pl.DataFrame(exam({"a": plain}), schema=["question", "model", "answer", "gold"], orient="row")
    second = first.with_columns(gold=pl.col("gold").reverse())
    both = pl.concat([first.with_columns(dataset=pl.lit("history")), second.with_columns(dataset=pl.lit("law"))])
    assert "swapped_columns" not in {check.name for check in find_checks(sl.votes_from(both))}


def test_models_that_have_a_dataset_each_on_the_same_questions() -> None:
    frame = pl.DataFrame(
        exam({"a": plain, "b": plain}), schema=["question", "model", "answer", "gold"], orient="row"
    ).with_columns(dataset="model")
    check = named(find_checks(sl.votes_from(frame)), "one_model_each")
    assert check.severity == "warning"
    other = frame.with_columns(question=pl.col("question") + pl.col("dataset"))
    assert not [check for check in find_checks(sl.votes_from(other)) if check.severity != "note"]


def test_a_dataset_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match=r"there is no dataset 'nope' in these votes; there are 'votes'"):
        find_checks(votes_of_rows(exam({"a": plain})), "nope")
