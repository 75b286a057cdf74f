"""A released corpus in the layouts that its card allows: the same votes from each, or one sentence of refusal."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.importers.corpus_tables import paper_name
from swaplaw.paper.synthetic import Fleet, Model, generate

from support import corpus_layouts
from support.commands import Run
from support.twin import Corpus, law

Frame = pl.DataFrame
CODES = ("gemma4-31b", "gemma4-a4b", "glm47-flash", "nemotron3-nano")
PATHS = {"gpqa-diamond": "gpqa_diamond", "forensic": "forensic"}


@lru_cache
def world(dataset: str) -> Frame:
    """Votes under the corpus's codes; forensic answers are free text, each with a grade."""
    abstains = {"truncated": 0.1, "no_parse" if dataset != "forensic" else "unanswered": 0.05}
    members = tuple(Model(code, 0.7 - place / 10, abstains=abstains, samples=6) for place, code in enumerate(CODES))
    fleet = Fleet(dataset, members, 20, None if dataset == "forensic" else (4,))
    rows = generate(fleet, seed=3).frame.collect()
    return rows.select("question", "model", "sample", "answer", "gold", "reason")


def records(dataset: str) -> Frame:
    return world(dataset).drop("gold", "reason")


def gold(dataset: str) -> Frame:
    return world(dataset).select("question", "gold").unique().sort("question")


def silent(dataset: str) -> Frame:
    rows = world(dataset).filter(pl.col("answer").is_null())
    return rows.select("question", "model", "sample", abstention_reason="reason")


def graded(dataset: str) -> Frame:
    right = pl.when(pl.col("answer") == pl.col("gold")).then(pl.lit("correct")).otherwise(pl.lit("incorrect"))
    grade = pl.when(pl.col("answer").is_null()).then(pl.lit("unanswered")).otherwise(right)
    return world(dataset).with_columns(grade=grade)


def into(database: Path, name: str, frame: Frame) -> None:
    with sqlite3.connect(database) as open_:
        open_.execute(f'create table "{name}" ({", ".join(frame.columns)})')
        open_.executemany(f'insert into "{name}" values ({", ".join("?" * frame.width)})', frame.rows())


def flat(folder: Path) -> None:
    for dataset, path in PATHS.items():
        records(dataset).write_csv(folder / f"{path}_votes.csv")
        gold(dataset).write_csv(folder / f"{path}_gold.csv")
        silent(dataset).write_csv(folder / f"{path}_abstentions.csv")


def flat_and_packed(folder: Path) -> None:
    flat(folder)
    for dataset, path in PATHS.items():
        for kind, frame in (("votes", records(dataset)), ("gold", gold(dataset)), ("reasons", silent(dataset))):
            into(folder / "deciban.sqlite", f"{path}_{kind}", frame)


@pytest.mark.parametrize("seed", range(40))
def test_every_layout_holds_the_same_votes(tmp_path: Path, seed: int) -> None:
    expected = corpus_layouts.write(tmp_path, seed)
    assert corpus_layouts.read(tmp_path) == expected.tallied(), expected.layout


@pytest.mark.parametrize("seed", range(100, 130))
def test_what_nobody_knows_is_refused_with_the_option_that_tells(tmp_path: Path, seed: int) -> None:
    expected = corpus_layouts.write(tmp_path, seed, strange=True)
    found = corpus_layouts.read(tmp_path)
    if isinstance(found, str):
        assert "columns={" in found
        assert "\n" not in found
    else:
        assert found == expected.tallied(), expected.layout


def test_all_pairs_are_those_of_the_paper(tmp_path: Path) -> None:
    expected = corpus_layouts.write(tmp_path, 10)
    votes = sl.read_votes(tmp_path).merging_right()
    for dataset in votes.datasets:
        cells = {cell[1:]: found for cell, found in expected.tallied().items() if cell[0] == dataset}
        ballots: dict[str, dict[str, Counter[str | None]]] = {}
        for (question, model), (right, others) in cells.items():
            ballots.setdefault(str(paper_name(model)), {})[question] = others + Counter({"(right)": right})
        twin = Corpus(ballots, {question: "(right)" for question, _ in cells})
        found = list(sl.pairs(votes.tally(dataset)))
        assert len(found) == 45
        for one in found:
            mine = law(twin, one.primary, one.secondary, Fraction(2, 3))
            assert (one.at("2/3").lift, one.masses.p, one.masses.q) == (mine.lift, mine.p, mine.q)


def test_grades_alone_tell_gold_and_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    rows = graded("forensic")
    rows.select("question", "model", "sample", "answer").write_csv(tmp_path / "forensic.csv")
    rows.select("question", "model", "sample", "grade").write_csv(tmp_path / "forensic_grades.csv")
    found = sl.read_votes(tmp_path).merging_right().tally("forensic")
    assert int(found.gold.sum()) == len(rows.filter(pl.col("grade") == "correct"))


def test_every_command_reads_it_and_says_from_where(tmp_path: Path, swaplaw: Run) -> None:
    flat_and_packed(tmp_path)
    done = swaplaw("pairs", tmp_path, "--dataset", "gpqa-diamond", "--json")
    assert (done.code, len(json.loads(done.out)["pairs"])) == (0, 6)
    assert "gpqa-diamond: 480 votes of 4 models on 20 questions" in done.err
    assert "the card says 47,520" in done.err
    database_alone = swaplaw("pairs", tmp_path / "deciban.sqlite", "--dataset", "gpqa-diamond", "--json")
    assert database_alone.out == done.out
    assert swaplaw("import", tmp_path, "-o", tmp_path / "votes.parquet").code == 0


def test_a_stranger_among_the_ten_is_refused(tmp_path: Path) -> None:
    rows = world("gpqa-diamond").with_columns(pl.col("model").replace({"gemma4-a4b": "gemma4-a4bb"}))
    rows.write_csv(tmp_path / "gpqa.csv")
    with pytest.raises(sl.InputError, match="did you mean 'gemma4-a4b'"):
        sl.read_votes(tmp_path)


def shown_twice(folder: Path) -> None:
    records("gpqa-diamond").write_csv(folder / "gpqa.csv")
    changed = records("gpqa-diamond").with_columns(answer=pl.lit("A"))
    changed.write_parquet(folder / "gpqa_again.parquet")
    gold("gpqa-diamond").write_csv(folder / "gpqa_gold.csv")


def counts_apart(folder: Path) -> None:
    flat(folder)
    rows = records("forensic").group_by("question", "model", "answer").agg(count=pl.len() + 1)
    rows.write_csv(folder / "forensic_counts.csv")


def other_numbers(folder: Path) -> None:
    flat(folder)
    silent("forensic").with_columns(pl.col("sample") + 100).write_csv(folder / "forensic_abstentions.csv")


def no_gold(folder: Path) -> None:
    records("gpqa-diamond").write_csv(folder / "gpqa.csv")
    silent("gpqa-diamond").write_csv(folder / "gpqa_reasons.csv")


def lists(folder: Path) -> None:
    cells = world("gpqa-diamond").group_by("question", "model").agg(answers="answer")
    cells.write_parquet(folder / "gpqa.parquet")
    gold("gpqa-diamond").write_csv(folder / "gpqa_gold.csv")


def two_golds(folder: Path) -> None:
    flat(folder)
    pl.concat([gold("forensic"), gold("forensic").with_columns(gold=pl.lit("x"))]).write_csv(
        folder / "forensic_gold.csv"
    )


@pytest.mark.parametrize(
    ("lay_out", "complaint"),
    [
        (shown_twice, "different votes"),
        (counts_apart, "hold different votes"),
        (other_numbers, "belong to no vote"),
        (no_gold, "no table has gold answers or grades"),
        (lists, "lists, where a row is one vote"),
        (two_golds, "two different rows"),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_sentence(
    tmp_path: Path, lay_out: Callable[[Path], None], complaint: str
) -> None:
    lay_out(tmp_path)
    with pytest.raises(sl.InputError, match=complaint) as caught:
        sl.read_votes(tmp_path)
    assert "\n" not in str(caught.value)


def test_reasons_without_sample_numbers_belong_to_the_votes_without_an_answer(tmp_path: Path) -> None:
    records("gpqa-diamond").write_csv(tmp_path / "gpqa.csv")
    gold("gpqa-diamond").write_csv(tmp_path / "gpqa_gold.csv")
    reasons = silent("gpqa-diamond").group_by("question", "model", "abstention_reason").agg(count=pl.len())
    reasons.write_csv(tmp_path / "gpqa_reasons.csv")
    told = sl.read_votes(tmp_path).frame.collect()["reason"].value_counts().drop_nulls().sort("reason").rows()
    assert told == world("gpqa-diamond")["reason"].value_counts().drop_nulls().sort("reason").rows()


def test_a_folder_of_whole_vote_tables_is_no_corpus(tmp_path: Path) -> None:
    for name in "ab":
        rows = ["question,model,answer,gold", "1,x,A,A", "1,y,B,A"]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"dataset,{rows[0]}", *(f"{name},{row}" for row in rows[1:])]))
    assert sl.read_votes(tmp_path).datasets == ["a", "b"]
