"""Layouts that a tester made up without looking at ours: right votes, or one clear refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

from swaplaw.errors import InputError
from swaplaw.paper.corpus import read_deciban

from support.corpus import Frame, gold, records, same, world

KEY = ["question", "model", "sample"]


def whole(frame: Frame) -> Frame:
    return records(frame).join(gold(frame), on="question_id")


def unstated(frame: Frame) -> Frame:
    return frame.with_columns(pl.lit(None, pl.String).alias("reason"))


def nested(frame: Frame) -> Frame:
    """One row per model and question, with a list of records: one per vote."""
    ended = pl.when(pl.col("reason") == "truncated").then(pl.lit("length")).otherwise(pl.lit("stop"))
    vote = pl.struct(text=pl.lit("So B."), parsed_answer="answer", finish_reason=ended, tokens=pl.lit(512))
    return frame.group_by("question", "model", "gold", maintain_order=True).agg(responses=vote)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".jsonl.zst"])
def test_lists_of_records(tmp_path: Path, suffix: str) -> None:
    rows = nested(world())
    file = tmp_path / f"supergpqa{suffix}"
    if suffix == ".parquet":
        rows.write_parquet(file)
    else:
        text = rows.write_ndjson().encode()
        file.write_bytes(text if suffix == ".jsonl" else zstandard.ZstdCompressor().compress(text))
    same(tmp_path, world())


def test_zstandard_in_several_frames_and_cut_off(tmp_path: Path) -> None:
    text = whole(world()).write_csv().encode()
    packed = b"".join(zstandard.ZstdCompressor().compress(part) for part in (text[:5000], text[5000:]))
    (tmp_path / "supergpqa.csv.zst").write_bytes(packed)
    same(tmp_path, world())
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "supergpqa.csv.zst").write_bytes(packed[:-9])
    with pytest.raises(InputError, match="ends in the middle"):
        read_deciban(tmp_path / "cut")


def test_a_shard_twice_where_shards_cut_through_questions(tmp_path: Path) -> None:
    rows = whole(world())
    rows[:400].write_parquet(tmp_path / "supergpqa-00000-of-00002.parquet")
    for name in ("supergpqa-00001-of-00002", "supergpqa-00001-of-00002 (1)"):
        rows[400:].write_parquet(tmp_path / f"{name}.parquet")
    assert "is a copy of" in same(tmp_path, world())


def test_a_pilot_that_is_part_of_the_votes(tmp_path: Path) -> None:
    rows = whole(world())
    rows.write_parquet(tmp_path / "supergpqa_votes.parquet")
    rows.filter(pl.col("sample_idx") < 4).write_csv(tmp_path / "supergpqa_pilot.csv")
    same(tmp_path, world())


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_whatever_stands_between_the_columns(tmp_path: Path, separator: str) -> None:
    whole(world()).write_csv(tmp_path / "supergpqa.csv", separator=separator)
    same(tmp_path, world())


def test_abstentions_with_an_empty_column_of_answers(tmp_path: Path) -> None:
    whole(world()).drop("reason").write_parquet(tmp_path / "supergpqa_votes.parquet")
    records(world()).filter(pl.col("answer").is_null()).write_ndjson(tmp_path / "supergpqa_abstentions.jsonl")
    assert "reasons from" in same(tmp_path, world())


@pytest.mark.parametrize("empty", [True, False])
def test_abstentions_that_only_their_own_table_lists(tmp_path: Path, empty: bool) -> None:
    rows = whole(world())
    rows.filter(pl.col("answer").is_not_null()).drop("reason").write_parquet(tmp_path / "supergpqa_votes.parquet")
    silent = records(world()).filter(pl.col("answer").is_null())
    (silent if empty else silent.drop("answer")).write_ndjson(tmp_path / "supergpqa_abstentions.jsonl")
    same(tmp_path, world())


def test_one_document_per_run(tmp_path: Path) -> None:
    for (model, run), part in world("forensic").group_by(["model", "sample"]):
        answers = dict(part.select("question", "answer").iter_rows())
        document = {"model": model, "run": run, "seconds": 61.5, "answers": answers}
        (tmp_path / f"forensic_{str(model).split('/')[1]}_{run}.json").write_text(json.dumps(document))
    gold(world("forensic")).write_csv(tmp_path / "forensic_gold.csv")
    same(tmp_path, world("forensic").drop("correct"), "forensic")


def test_names_that_columns_also_go_by(tmp_path: Path) -> None:
    rows = world().select(
        item_id="question", llm="model", replicate="sample", letter="answer", label="gold", status="reason"
    )
    rows.write_csv(tmp_path / "supergpqa.csv")
    same(tmp_path, world())


def test_whether_an_answer_is_normalised_is_no_answer(tmp_path: Path) -> None:
    whole(world()).with_columns(normalized=True).write_parquet(tmp_path / "supergpqa.parquet")
    same(tmp_path, world())


def test_a_letter_as_shown_beside_the_answer_says_that_the_answer_is_not(tmp_path: Path) -> None:
    rows = whole(world()).with_columns(permutation_id="sample_idx", displayed_answer=pl.lit("A"))
    rows.write_parquet(tmp_path / "supergpqa.parquet")
    same(tmp_path, world())


@pytest.mark.parametrize("word", ["PARSE_ERROR", "null_vote", "INVALID"])
def test_words_that_mean_no_answer(tmp_path: Path, word: str) -> None:
    whole(world()).with_columns(pl.col("answer").fill_null(word)).write_csv(tmp_path / "supergpqa.csv")
    same(tmp_path, world())


def test_a_free_answer_that_may_mean_none_is_said(tmp_path: Path) -> None:
    rows = whole(world("forensic")).drop("reason").with_columns(pl.col("answer").fill_null("N/A"))
    rows.write_csv(tmp_path / "forensic.csv")
    assert "may mean none" in str(read_deciban(tmp_path).readings[0])


def test_a_few_stray_letters_are_wrong_answers_and_said(tmp_path: Path) -> None:
    first = pl.int_range(pl.len()) == 0
    rows = whole(world()).with_columns(pl.when(first).then(pl.lit("Q")).otherwise("answer").alias("answer"))
    rows.write_csv(tmp_path / "supergpqa.csv")
    assert "1 of" in next(line for line in read_deciban(tmp_path).readings[0].lines if "no option's letter" in line)


def test_other_parts_of_gpqa_are_datasets_of_their_own(tmp_path: Path) -> None:
    whole(world()).write_parquet(tmp_path / "gpqa_diamond.parquet")
    more = whole(world()).with_columns("more-" + pl.col("question_id"))
    more.with_columns(dataset=pl.lit("gpqa_extended")).write_parquet(tmp_path / "others.parquet")
    more.write_parquet(tmp_path / "gpqa_main.parquet")
    corpus = read_deciban(tmp_path)
    assert set(corpus.votes) == {"gpqa-diamond", "gpqa-main", "gpqa-extended"}
    assert corpus.votes["gpqa-diamond"].tally().questions == tuple(sorted(world()["question"].unique()))
    assert "the paper has 198 questions" in str(corpus.readings[0])


def test_a_folder_of_gpqa_may_have_a_split_called_main(tmp_path: Path) -> None:
    (tmp_path / "gpqa").mkdir()
    whole(world()).write_parquet(tmp_path / "gpqa" / "main.parquet")
    assert set(read_deciban(tmp_path).votes) == {"gpqa-diamond"}


def _null_as_a_letter(folder: Path) -> None:
    whole(world()).with_columns(pl.col("answer").fill_null("X")).write_csv(folder / "supergpqa.csv")


def _gold_for_votes(folder: Path) -> None:
    world().select(*KEY, guess="answer", answer="gold").write_csv(folder / "supergpqa.csv")
    gold(world()).write_csv(folder / "supergpqa_gold.csv")


def _gold_for_free_votes(folder: Path) -> None:
    world("forensic").select(*KEY, "correct", output="answer", answer="gold").write_csv(folder / "forensic.csv")


def _maybe_shown(folder: Path) -> None:
    whole(world()).with_columns(permutation_id="sample_idx").write_parquet(folder / "supergpqa.parquet")


def _structs(folder: Path) -> None:
    vote = pl.struct("answer", "sample")
    world().select("question", "model", "gold", vote=vote).write_parquet(folder / "supergpqa.parquet")


def _another_version(folder: Path) -> None:
    rows = whole(world())
    more = rows.filter(pl.col("model") == "zai-org/GLM-4.7-Flash").with_columns(
        model=pl.lit("zai-org/GLM-4.7-Flash-9B")
    )
    pl.concat([rows, more]).write_csv(folder / "supergpqa.csv")


@pytest.mark.parametrize(
    ("lay_out", "complaint"),
    [
        (_null_as_a_letter, "no option's letter, such as 'X'"),
        (_gold_for_votes, "may hold gold answers"),
        (_gold_for_free_votes, "may hold gold answers"),
        (_maybe_shown, "as they were shown"),
        (_structs, "neither answers nor counts"),
        (_another_version, "would both be 'GLM-4.7-Flash'"),
    ],
)
def test_what_could_be_silently_wrong_is_refused(
    tmp_path: Path, lay_out: Callable[[Path], None], complaint: str
) -> None:
    lay_out(tmp_path)
    with pytest.raises(InputError, match=complaint) as caught:
        read_deciban(tmp_path)
    assert "\n" not in str(caught.value)
