"""A released corpus in the layouts that its card allows: the same votes from each, or one sentence of refusal."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.importers.corpus import MODELS, paper_name
from swaplaw.paper.synthetic import Fleet, Model, generate

from support.commands import Run

Frame = pl.DataFrame
CODES = ("gemma4-31b", "gemma4-a4b", "glm47-flash", "nemotron3-nano")
PATHS = {"gpqa-diamond": "gpqa_diamond", "forensic": "forensic"}
KEYS = ["dataset", "question", "model", "answer", "gold", "reason"]


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


def database(folder: Path) -> None:
    for dataset, path in PATHS.items():
        for kind, frame in (("votes", records(dataset)), ("gold", gold(dataset)), ("reasons", silent(dataset))):
            into(folder / "deciban.sqlite", f"{path}_{kind}", frame)


def both(folder: Path) -> None:
    flat(folder)
    database(folder)


def one_table_for_all(folder: Path) -> None:
    for kind, part in (("records", records), ("gold_answers", gold), ("null_reasons", silent)):
        rows = pl.concat([part(name).with_columns(benchmark=pl.lit(path)) for name, path in PATHS.items()])
        rows.write_parquet(folder / f"{kind}.parquet")


def a_file_per_model(folder: Path) -> None:
    for dataset, path in PATHS.items():
        for code in CODES:
            rows = world(dataset).filter(pl.col("model") == code).drop("model")
            rows.write_csv(folder / f"{path}_{code}.csv")


def packed(folder: Path) -> None:
    for dataset, path in PATHS.items():
        text = "\n".join(json.dumps(row) for row in world(dataset).to_dicts())
        (folder / f"{path}.jsonl.gz").write_bytes(gzip.compress(text.encode()))


def nested(folder: Path) -> None:
    for dataset, path in PATHS.items():
        inner = folder / "data" / path / "raw"
        inner.mkdir(parents=True)
        world(dataset).write_parquet(inner / "trials.parquet")
    pl.DataFrame({"model": CODES, "parameters": [1, 2, 3, 4]}).write_csv(folder / "models.csv")


def hugging_face_names(folder: Path) -> None:
    ids = {code: names[0] for _, _, code, *names in MODELS}
    for dataset, path in PATHS.items():
        world(dataset).with_columns(pl.col("model").replace(ids)).write_csv(folder / f"{path}.csv")


def reasons_beside(folder: Path) -> None:
    """Parse and termination reasons in columns of their own, under no name of ours."""
    cut = pl.col("reason") == "truncated"
    for dataset, path in PATHS.items():
        ended = pl.when(cut).then(pl.lit("length")).otherwise(pl.lit("stop"))
        parsed = pl.when(cut | pl.col("reason").is_null()).then(pl.lit("ok")).otherwise("reason")
        rows = world(dataset).with_columns(termination_reason=ended, parse_status=parsed, reasoning=pl.lit("So, B."))
        rows.drop("reason").write_csv(folder / f"{path}.csv")


def counted_too(folder: Path) -> None:
    flat(folder)
    for dataset, path in PATHS.items():
        rows = records(dataset).group_by("question", "model", "answer").agg(vote_count=pl.len())
        rows.write_csv(folder / f"{path}_vote_counts.csv")


LAYOUTS: tuple[Callable[[Path], None], ...] = (
    *(flat, database, both, one_table_for_all, a_file_per_model, packed, nested, hugging_face_names, reasons_beside),
    counted_too,
)


def tallied(frame: Frame) -> Frame:
    return frame.group_by(KEYS).agg(pl.len().alias("votes")).sort(KEYS)


def expected() -> Frame:
    every = pl.concat([world(name).with_columns(dataset=pl.lit(name)) for name in PATHS])
    return tallied(every.with_columns(pl.col("model").map_elements(paper_name, pl.String)))


@pytest.mark.parametrize("lay_out", LAYOUTS)
def test_every_layout_holds_the_same_votes(tmp_path: Path, lay_out: Callable[[Path], None]) -> None:
    lay_out(tmp_path)
    votes = sl.read_votes(tmp_path)
    assert tallied(votes.frame.select(KEYS).collect()).equals(expected())


@pytest.mark.parametrize(
    "name",
    ["answer", "answer_text", "response", "submission", "final_answer", "output", "submitted_answer", "agent_answer"],
)
def test_graded_answers_go_by_many_names(tmp_path: Path, name: str) -> None:
    graded("forensic").drop("gold", "reason").rename({"answer": name}).write_csv(tmp_path / "forensic_trials.csv")
    gold("forensic").write_csv(tmp_path / "forensic_gold.csv")
    found = sl.read_votes(tmp_path).tally("forensic")
    right = graded("forensic").filter(pl.col("grade") == "correct")
    assert int(found.gold.sum()) == len(right)
    assert {model.model: model.votes for model in sl.summary(found)} == {paper_name(code): 120 for code in CODES}


def test_grades_alone_tell_gold_and_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    rows = graded("forensic")
    rows.select("question", "model", "sample", "answer").write_csv(tmp_path / "forensic.csv")
    rows.select("question", "model", "sample", "grade").write_csv(tmp_path / "forensic_grades.csv")
    found = sl.read_votes(tmp_path).merging_right().tally("forensic")
    assert int(found.gold.sum()) == len(rows.filter(pl.col("grade") == "correct"))


def test_every_command_reads_it_and_says_from_where(tmp_path: Path, swaplaw: Run) -> None:
    both(tmp_path)
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


def two_golds(folder: Path) -> None:
    flat(folder)
    pl.concat([gold("forensic"), gold("forensic").with_columns(gold=pl.lit("x"))]).write_csv(
        folder / "forensic_gold.csv"
    )


@pytest.mark.parametrize(
    ("lay_out", "complaint"),
    [
        (shown_twice, "different votes"),
        (counts_apart, "records and vote counts disagree"),
        (other_numbers, "belong to no vote"),
        (no_gold, "no table has gold answers or grades"),
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


def test_a_folder_of_whole_vote_tables_is_no_corpus(tmp_path: Path) -> None:
    for name in "ab":
        rows = ["question,model,answer,gold", "1,x,A,A", "1,y,B,A"]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"dataset,{rows[0]}", *(f"{name},{row}" for row in rows[1:])]))
    assert sl.read_votes(tmp_path).datasets == ["a", "b"]
