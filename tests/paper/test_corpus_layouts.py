"""Invented releases: the votes are right or the dataset is refused, whatever files look like; never silently wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swaplaw.errors import InputError
from swaplaw.paper.corpus import read_deciban

from support.corpus import Frame, counted, gold, records, same, world


def test_records_and_counts_are_one_source(tmp_path: Path) -> None:
    frame = world()
    (tmp_path / "supergpqa").mkdir()
    records(frame).write_parquet(tmp_path / "supergpqa" / "votes.parquet")
    counted(frame).write_csv(tmp_path / "supergpqa" / "vote_counts.csv")
    gold(frame).write_csv(tmp_path / "supergpqa" / "gold.csv")
    assert "records and vote counts agree" in same(tmp_path, frame)


def test_records_without_sample_numbers_are_not_counted_twice(tmp_path: Path) -> None:
    frame = world()
    records(frame).drop("sample_idx").write_parquet(tmp_path / "supergpqa_votes.parquet")
    counted(frame).write_parquet(tmp_path / "supergpqa_counts.parquet")
    gold(frame).write_parquet(tmp_path / "supergpqa_gold.parquet")
    assert "24 per model and question" in same(tmp_path, frame)


def test_counts_that_contradict_records_are_refused(tmp_path: Path) -> None:
    frame = world()
    records(frame).write_parquet(tmp_path / "supergpqa_votes.parquet")
    wrong = counted(frame).with_columns(pl.when(pl.int_range(pl.len()) == 0).then(1).otherwise("count").alias("count"))
    wrong.write_parquet(tmp_path / "supergpqa_counts.parquet")
    gold(frame).write_parquet(tmp_path / "supergpqa_gold.parquet")
    with pytest.raises(InputError, match="records and vote counts disagree"):
        read_deciban(tmp_path)


def test_grades_in_a_table_of_their_own_are_joined(tmp_path: Path) -> None:
    frame = world("forensic")
    raw = frame.with_columns(answer=pl.when("correct").then(pl.col("answer") + " (as judged)").otherwise("answer"))
    raw.select("question", "model", "sample", "answer").write_parquet(tmp_path / "forensic_trials.parquet")
    frame.select("question", "model", "sample", is_correct="correct").sample(
        fraction=1.0, shuffle=True, seed=1
    ).write_parquet(tmp_path / "forensic_grades.parquet")
    gold(frame).write_parquet(tmp_path / "forensic_gold.parquet")
    report = same(tmp_path, frame, "forensic")
    assert "joined on question, model, sample" in report


def test_grades_per_distinct_answer_are_joined_on_it(tmp_path: Path) -> None:
    frame = world("forensic")
    frame.select("question", "model", "sample", "answer").write_csv(tmp_path / "forensic_trials.csv")
    graded = frame.drop_nulls("answer").select("question", "answer", "correct").unique()
    graded.write_csv(tmp_path / "forensic_answers_graded.csv")
    assert "joined on question, answer" in same(tmp_path, frame, "forensic")


@pytest.mark.parametrize("plain", ["answer", "raw_answer"])
def test_canonical_answers_are_preferred_and_said(tmp_path: Path, plain: str) -> None:
    frame = world()
    shown = frame.select(
        question_id="question",
        model="model",
        sample="sample",
        canonical_answer="answer",
        gold="gold",
        finish_reason=pl.when(pl.col("reason") == "truncated").then(pl.lit("length")).otherwise(pl.lit("stop")),
    ).with_columns(pl.lit("C").alias(plain))
    shown.write_parquet(tmp_path / "supergpqa.parquet")
    report = same(tmp_path, frame)
    assert "answer from 'canonical_answer'" in report
    assert ("'answer'" in report.split("could also be")[-1]) == (plain == "answer")


def test_finish_reasons_make_the_abstention_table(tmp_path: Path) -> None:
    frame = world().with_columns(
        finish_reason=pl.when(pl.col("reason") == "truncated").then(pl.lit("max_tokens")).otherwise(pl.lit("stop"))
    )
    frame.select("question", "model", "sample", "answer", "gold", "finish_reason").write_ndjson(
        tmp_path / "supergpqa.jsonl"
    )
    assert "truncated" in same(tmp_path, world())


def test_the_documented_map_works_with_a_separate_gold_table(tmp_path: Path) -> None:
    frame = world()
    frame.select(
        "sample", item="question", system="model", final_category="answer", why_null="reason", answer=pl.lit("zz")
    ).write_parquet(tmp_path / "supergpqa_votes.parquet")
    frame.select(item="question", key="gold").unique().write_csv(tmp_path / "supergpqa_gold.csv")
    columns = {"question": "item", "model": "system", "answer": "final_category", "gold": "key", "reason": "why_null"}
    same(tmp_path, frame, columns=columns)


def test_a_map_per_role(tmp_path: Path) -> None:
    frame = world()
    frame.select("sample", "reason", a="question", b="model", c="answer").write_parquet(
        tmp_path / "supergpqa_v.parquet"
    )
    frame.select(x="question", y="gold").unique().write_parquet(tmp_path / "supergpqa_g.parquet")
    columns = {"records": {"question": "a", "model": "b", "answer": "c"}, "gold": {"question": "x", "gold": "y"}}
    same(tmp_path, frame, columns=columns)


def test_compressed_json_lines(tmp_path: Path) -> None:
    frame = world()
    records(frame).join(gold(frame), on="question_id").write_ndjson(tmp_path / "v.jsonl")
    (tmp_path / "supergpqa.jsonl.gz").write_bytes(gzip.compress((tmp_path / "v.jsonl").read_bytes()))
    (tmp_path / "v.jsonl").unlink()
    same(tmp_path, frame)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_counts_as_dictionaries(tmp_path: Path, suffix: str) -> None:
    frame = world().with_columns(pl.lit(None, pl.String).alias("reason"))
    rows = [
        {
            "question_id": question,
            "model": model,
            "gold": part["gold"][0],
            "votes": {
                str(answer).replace("None", "null"): int(count)
                for answer, count in part.group_by("answer").len().iter_rows()
            },
        }
        for (question, model), part in frame.group_by(["question", "model"], maintain_order=True)
    ]
    if suffix == ".jsonl":
        (tmp_path / "supergpqa_counts.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    else:
        texts = pl.DataFrame([{**row, "votes": json.dumps(row["votes"])} for row in rows])
        getattr(texts, f"write_{suffix[1:]}")(tmp_path / f"supergpqa_counts{suffix}")
    same(tmp_path, frame)


def test_wide_counts(tmp_path: Path) -> None:
    frame = world().with_columns(pl.lit(None, pl.String).alias("reason"))
    wide = (
        frame.with_columns(("n_" + pl.col("answer").fill_null("null")).alias("column"))
        .group_by("question", "model", "gold", "column")
        .len()
        .pivot("column", index=["question", "model", "gold"], values="len")
    )
    wide.write_csv(tmp_path / "supergpqa_wide.csv")
    assert "one column per answer" in same(tmp_path, frame)


def test_lists_of_answers(tmp_path: Path) -> None:
    frame = world()
    listed = frame.group_by("question", "model", "gold", maintain_order=True).agg(
        "answer", "reason", is_correct="correct"
    )
    listed.rename({"answer": "answers", "reason": "reasons"}).write_parquet(tmp_path / "supergpqa.parquet")
    same(tmp_path, frame)


def test_a_release_as_hugging_face_has_it(tmp_path: Path) -> None:
    """Configs as folders, shards by model, a card, a hidden cache, one gold table for all."""
    golds = []
    for dataset, folder in (("supergpqa", "SuperGPQA"), ("gpqa-diamond", "gpqa_diamond"), ("forensic", "forensic")):
        frame = world(dataset)
        for place, ((model,), part) in enumerate(frame.group_by(["model"], maintain_order=True)):
            where = tmp_path / "data" / folder / str(model).replace("/", "__")
            where.mkdir(parents=True)
            shard = part.select("question", "sample", "answer", "reason", "correct")
            shard.write_parquet(where / f"train-0000{place}-of-00003.parquet")
        golds.append(gold(frame))
    pl.concat(golds).write_parquet(tmp_path / "gold.parquet")
    (tmp_path / "README.md").write_text("# deciban\n")
    (tmp_path / "dataset_infos.json").write_text('{"default": {"features": {}}}')
    (tmp_path / "models.csv").write_text("model,parameters\nx,20\n")
    (tmp_path / ".cache").mkdir()
    world().write_parquet(tmp_path / ".cache" / "supergpqa.parquet")
    for dataset in ("supergpqa", "gpqa-diamond", "forensic"):
        same(tmp_path, world(dataset), dataset)
    assert any("models.csv" in line for line in read_deciban(tmp_path).unused)


def test_a_copy_in_another_format_is_left_out(tmp_path: Path) -> None:
    frame = world()
    whole = records(frame).join(gold(frame), on="question_id")
    whole.write_parquet(tmp_path / "supergpqa.parquet")
    whole.write_csv(tmp_path / "supergpqa.csv")
    assert "is a copy" in same(tmp_path, frame)


def test_shards_by_sample_add_up(tmp_path: Path) -> None:
    frame = world()
    whole = records(frame).join(gold(frame), on="question_id")
    for part in range(2):
        whole.filter(pl.col("sample_idx") // 12 == part).write_parquet(tmp_path / f"supergpqa-{part}.parquet")
    same(tmp_path, frame)


def _short(frame: Frame, folder: Path) -> None:
    records(frame).join(gold(frame), on="question_id").head(-1).write_parquet(folder / "supergpqa.parquet")


def _long(frame: Frame, folder: Path) -> None:
    whole = records(frame).join(gold(frame), on="question_id").drop("sample_idx")
    pl.concat([whole, whole]).write_parquet(folder / "supergpqa.parquet")


def _two_sources(frame: Frame, folder: Path) -> None:
    whole = records(frame).join(gold(frame), on="question_id")
    whole.write_parquet(folder / "supergpqa_a.parquet")
    whole.with_columns(answer=pl.lit("A")).write_parquet(folder / "supergpqa_b.parquet")


def _indices(frame: Frame, folder: Path) -> None:
    index = {letter: str(place) for place, letter in enumerate("ABCD")}
    whole = records(frame).join(gold(frame), on="question_id")
    whole.with_columns(pl.col("answer").replace(index)).write_parquet(folder / "supergpqa.parquet")


def _as_shown(frame: Frame, folder: Path) -> None:
    """Letters as they were shown differ from sample to sample; grades give that away."""
    turned = (
        pl.col("answer").replace_strict(dict(zip("ABCD", range(4), strict=True)), return_dtype=pl.Int64)
        + pl.col("sample")
    ) % 4
    letters = dict(enumerate("ABCD"))
    frame.with_columns(turned.replace_strict(letters, return_dtype=pl.String).alias("answer")).select(
        "question", "model", "sample", "answer", "correct"
    ).write_parquet(folder / "supergpqa.parquet")


def _as_shown_ungraded(frame: Frame, folder: Path) -> None:
    frame.select("question", "model", "sample", "answer", "gold", option_order=pl.lit("DCBA")).write_parquet(
        folder / "supergpqa.parquet"
    )


def _grades_without_samples(frame: Frame, folder: Path) -> None:
    frame.select("question", "model", "answer").write_parquet(folder / "supergpqa_votes.parquet")
    frame.select("question", "model", "correct").write_parquet(folder / "supergpqa_grades.parquet")


def _grades_from_one(frame: Frame, folder: Path) -> None:
    frame.select("question", "model", "sample", "answer").write_parquet(folder / "supergpqa_votes.parquet")
    frame.select("question", "model", pl.col("sample") + 1, "correct").write_parquet(
        folder / "supergpqa_grades.parquet"
    )


def _no_gold(frame: Frame, folder: Path) -> None:
    records(frame).write_parquet(folder / "supergpqa.parquet")


def _nameless(frame: Frame, folder: Path) -> None:
    records(frame).join(gold(frame), on="question_id").write_parquet(folder / "votes.parquet")


def _counts_without_nulls(frame: Frame, folder: Path) -> None:
    counted(frame.drop_nulls("answer")).join(gold(frame), left_on="question", right_on="question_id").write_csv(
        folder / "supergpqa.csv"
    )


def _merged_models(frame: Frame, folder: Path) -> None:
    two = frame.with_columns(pl.col("model").replace({"Qwen/Qwen3.6-27B": "google/gemma-4-31b-base"}))
    two.select("question", "model", "answer", "gold").write_parquet(folder / "supergpqa.parquet")


@pytest.mark.parametrize(
    ("lay_out", "complaint"),
    [
        (_short, "do not have 24 votes"),
        (_long, "such as 48 of"),
        (_two_sources, "hold different votes"),
        (_indices, "equal gold"),
        (_as_shown, "letters as shown|graded both|both"),
        (_as_shown_ungraded, "as they were shown"),
        (_grades_without_samples, "sample number"),
        (_grades_from_one, "run from 0 to 23, of the grades from 1 to 24"),
        (_no_gold, "neither gold answers nor grades"),
        (_nameless, "of which dataset"),
        (_counts_without_nulls, "do not have 24 votes"),
        (_merged_models, "would both be 'Gemma-4-31B'"),
    ],
)
def test_what_cannot_be_trusted_is_refused_in_one_line(
    tmp_path: Path, lay_out: Callable[[Frame, Path], None], complaint: str
) -> None:
    lay_out(world(), tmp_path)
    with pytest.raises(InputError, match=complaint) as caught:
        read_deciban(tmp_path)
    assert "\n" not in str(caught.value)
