"""Releases as nobody wishes for: nested, spread, split, repeated, cut off; right votes or one clear refusal."""

from __future__ import annotations

import bz2
import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swaplaw.errors import InputError
from swaplaw.paper.corpus import read_deciban

from support.corpus import Frame, counted, facts, gold, records, same, truth, world

CODES = {"google/gemma-4-31b-it": "gemma", "Qwen/Qwen3.6-27B": "qwen", "zai-org/GLM-4.7-Flash": "glm"}


def whole(frame: Frame) -> Frame:
    return records(frame).join(gold(frame), on="question_id")


def dictionaries(frame: Frame) -> dict[tuple[str, str], dict[str, int]]:
    return {
        (str(question), str(model)): {
            "null" if answer is None else answer: count for answer, count in part.group_by("answer").len().iter_rows()
        }
        for (question, model), part in frame.group_by(["question", "model"], maintain_order=True)
    }


def unstated(frame: Frame) -> Frame:
    return frame.with_columns(pl.lit(None, pl.String).alias("reason"))


def test_one_file_per_question_deep_in_folders(tmp_path: Path) -> None:
    frame = world()
    for (question, model), part in whole(frame).group_by(["question_id", "model"]):
        where = tmp_path / "v1" / "SuperGPQA" / "runs" / str(model).replace("/", "__") / "votes"
        where.mkdir(parents=True, exist_ok=True)
        part.drop("model").write_ndjson(where / f"{question}.jsonl")
    assert "model from the path" in same(tmp_path, frame)


@pytest.mark.parametrize("suffix", ["", "_answer"])
def test_a_column_per_model(tmp_path: Path, suffix: str) -> None:
    frame = world()
    rows = frame.pivot("model", index=["question", "sample", "gold"], values="answer")
    rows = rows.rename({name: f"{name}{suffix}" for name in CODES})
    if suffix:
        why = frame.pivot("model", index=["question", "sample"], values="reason")
        rows = rows.join(why.rename({name: f"{name}_reason" for name in CODES}), on=["question", "sample"])
    rows.write_csv(tmp_path / "supergpqa.csv")
    report = same(tmp_path, frame if suffix else unstated(frame))
    assert "one column per model" in report


def test_a_column_per_sample(tmp_path: Path) -> None:
    frame = world()
    rows = frame.with_columns(("vote_" + (pl.col("sample") + 1).cast(pl.String)).alias("column"))
    rows.pivot("column", index=["question", "model", "gold"], values="answer").write_parquet(
        tmp_path / "supergpqa.parquet"
    )
    assert "one column per sample" in same(tmp_path, unstated(frame))


def test_parquet_and_json_lines_mixed(tmp_path: Path) -> None:
    frame = world()
    for place, ((model,), part) in enumerate(whole(frame).group_by(["model"], maintain_order=True)):
        name = f"supergpqa-{CODES[str(model)]}"
        if place % 2:
            part.write_parquet(tmp_path / f"{name}.parquet")
        else:
            part.write_ndjson(tmp_path / f"{name}.jsonl")
    same(tmp_path, frame)


@pytest.mark.parametrize("only_nulls", [True, False])
def test_reasons_in_a_file_of_their_own(tmp_path: Path, only_nulls: bool) -> None:
    frame = world()
    whole(frame).drop("reason").write_parquet(tmp_path / "supergpqa_votes.parquet")
    why = frame.select("question", "model", "sample", status=pl.col("reason").fill_null("ok"))
    why = why.filter(pl.col("status") != "ok") if only_nulls else why
    why.write_csv(tmp_path / "abstentions_supergpqa.csv")
    assert "reasons from" in same(tmp_path, frame)


def test_abstentions_in_a_file_of_their_own_take_answers_back(tmp_path: Path) -> None:
    frame = world()
    guessed = whole(frame).drop("reason").with_columns(pl.col("answer").fill_null("A"))
    guessed.write_parquet(tmp_path / "supergpqa_votes.parquet")
    frame.select("question", "model", "sample", is_null=pl.col("answer").is_null(), reason="reason").write_parquet(
        tmp_path / "supergpqa_null_votes.parquet"
    )
    same(tmp_path, frame)


def test_counts_with_reasons_in_a_file_of_their_own(tmp_path: Path) -> None:
    frame = world()
    counted(frame).join(gold(frame), left_on="question", right_on="question_id").write_parquet(
        tmp_path / "supergpqa_counts.parquet"
    )
    frame.drop_nulls("reason").select("question", "model", "sample", "reason").write_csv(tmp_path / "supergpqa_why.csv")
    same(tmp_path, frame)


def test_canonical_answers_in_another_table(tmp_path: Path) -> None:
    frame = world()
    whole(frame).with_columns(pl.lit("D").alias("answer")).write_parquet(tmp_path / "supergpqa_raw.parquet")
    frame.select("question", "model", "sample", canonical_answer="answer").write_ndjson(
        tmp_path / "supergpqa_canonical.jsonl"
    )
    assert "canonical answers taken" in same(tmp_path, frame)


def test_a_table_of_canonical_forms(tmp_path: Path) -> None:
    frame = world("forensic")
    raw = frame.with_columns(answer=pl.col("answer") + (pl.col("sample") % 3).cast(pl.String))
    raw.select("question", "model", "sample", "answer", "reason", "gold").write_csv(tmp_path / "forensic_votes.csv")
    pl.DataFrame(
        {"question": raw["question"], "answer": raw["answer"], "canonical_answer": frame["answer"]}
    ).drop_nulls().unique().write_csv(tmp_path / "forensic_forms.csv")
    corpus = read_deciban(tmp_path)
    assert not corpus.problems
    assert facts(corpus.votes["forensic"])[1:] == truth(frame, "forensic")[1:]


def test_ids_that_are_numbers_here_and_texts_there(tmp_path: Path) -> None:
    frame = world().with_columns(question=pl.col("question").str.extract(r"(\d+)$").cast(pl.Int64).cast(pl.String))
    records(frame).with_columns(pl.col("question_id").cast(pl.Float64)).write_csv(tmp_path / "supergpqa_votes.csv")
    gold(frame).with_columns(pl.col("question_id").cast(pl.Int64)).write_parquet(tmp_path / "supergpqa_gold.parquet")
    same(tmp_path, frame)


def test_samples_may_have_names_of_any_kind(tmp_path: Path) -> None:
    frame = world("forensic")
    named = frame.with_columns(sample_id=pl.format("{}f{}e9{}", "sample", "sample", "sample"))
    named.select("question", "model", "sample_id", "answer", "reason").write_parquet(
        tmp_path / "forensic_votes.parquet"
    )
    named.select("question", "model", "sample_id", "correct").write_csv(tmp_path / "forensic_grades.csv")
    assert "joined on question, model, sample" in same(tmp_path, frame, "forensic")


def test_repeated_lines_are_left_out(tmp_path: Path) -> None:
    frame = world()
    rows = whole(frame)
    pl.concat([rows, rows.head(30)]).write_ndjson(tmp_path / "supergpqa.jsonl")
    assert "30 repeated rows" in same(tmp_path, frame)


@pytest.mark.parametrize("top", ["question", "model", "dataset"])
def test_counts_as_nested_json(tmp_path: Path, top: str) -> None:
    frame = unstated(world())
    nested: dict[str, dict[str, dict[str, int]]] = {}
    for (question, model), counts in dictionaries(frame).items():
        first, second = (question, model) if top == "question" else (model, question)
        nested.setdefault(first, {})[second] = counts
    document = {"supergpqa": nested} if top == "dataset" else nested
    name = "counts.json" if top == "dataset" else "supergpqa_counts.json"
    (tmp_path / name).write_text(json.dumps(document))
    (tmp_path / "supergpqa_gold.json").write_text(json.dumps(dict(gold(frame).iter_rows())))
    (tmp_path / "metadata.json").write_text('{"name": "deciban", "tags": ["votes"]}')
    same(tmp_path, frame)


@pytest.mark.parametrize("packing", ["zip", "csv.gz", "jsonl.bz2", "json", "tsv", "arrow"])
def test_every_packing(tmp_path: Path, packing: str) -> None:
    frame = world()
    rows = whole(frame)
    plain = tmp_path / "plain"
    folder = tmp_path / "corpus"
    plain.mkdir()
    folder.mkdir()
    rows.write_csv(plain / "v.csv")
    rows.write_ndjson(plain / "v.jsonl")
    if packing == "zip":
        with zipfile.ZipFile(folder / "release.zip", "w") as archive:
            archive.write(plain / "v.csv", "data/supergpqa/votes.csv")
            archive.writestr("__MACOSX/data/supergpqa/._votes.csv", "junk")
            archive.writestr("README.md", "# votes")
    elif packing == "csv.gz":
        (folder / "supergpqa.csv.gz").write_bytes(gzip.compress((plain / "v.csv").read_bytes()))
    elif packing == "jsonl.bz2":
        (folder / "supergpqa.jsonl.bz2").write_bytes(bz2.compress((plain / "v.jsonl").read_bytes()))
    elif packing == "json":
        (folder / "supergpqa.json").write_text(json.dumps(rows.to_dicts(), indent=2))
    elif packing == "tsv":
        rows.write_csv(folder / "supergpqa.tsv", separator="\t", include_bom=True)
    else:
        rows.write_ipc_stream(folder / "supergpqa-00000-of-00001.arrow")
    same(folder, frame)


def test_a_summary_beside_the_votes_is_no_second_source(tmp_path: Path) -> None:
    frame = world()
    whole(frame).write_parquet(tmp_path / "supergpqa_votes.parquet")
    frame.group_by("question", "model").agg(pl.col("answer").drop_nulls().mode().first()).write_csv(
        tmp_path / "supergpqa_plurality.csv"
    )
    assert "not votes: left out" in same(tmp_path, frame)


def test_wide_counts_with_a_total(tmp_path: Path) -> None:
    frame = unstated(world())
    wide = (
        frame.with_columns(pl.col("answer").fill_null("null").alias("column"))
        .group_by("question", "model", "gold", "column")
        .len()
        .pivot("column", index=["question", "model", "gold"], values="len")
        .with_columns(n=pl.lit(24))
    )
    wide.write_csv(tmp_path / "supergpqa_wide.csv")
    same(tmp_path, frame)


def test_question_numbers_that_start_anew_in_every_challenge(tmp_path: Path) -> None:
    frame = world("forensic")
    homes = frame.select("question", "cluster").unique().sort("question")
    numbered = homes.with_columns(number=pl.int_range(pl.len()).over("cluster").cast(pl.String))
    rows = frame.join(numbered, on=["question", "cluster"])
    rows.select(
        "model", "sample", "answer", "correct", "reason", challenge="cluster", question_id="number"
    ).write_parquet(tmp_path / "forensic.parquet")
    named = rows.with_columns(question=pl.col("cluster") + " / " + pl.col("number"))
    assert "start anew" in same(tmp_path, named, "forensic")


def test_numbered_options_and_minus_one_for_none(tmp_path: Path) -> None:
    frame = world()
    index = {letter: str(place) for place, letter in enumerate("ABCD")}
    numbers = whole(frame).with_columns(
        pl.col("answer").replace(index).fill_null("-1").cast(pl.Int64), pl.col("gold_answer").replace(index)
    )
    numbers.write_parquet(tmp_path / "supergpqa.parquet")
    right = frame.with_columns(pl.col("answer").replace(index), pl.col("gold").replace(index))
    same(tmp_path, right)


# --- refusals ---


def _reasons_from_one(frame: Frame, folder: Path) -> None:
    whole(frame).drop("reason").write_parquet(folder / "supergpqa_votes.parquet")
    frame.drop_nulls("reason").select("question", "model", pl.col("sample") + 1, "reason").write_csv(
        folder / "supergpqa_reasons.csv"
    )


def _cut_off(frame: Frame, folder: Path) -> None:
    whole(frame).write_ndjson(folder / "supergpqa.jsonl")
    text = (folder / "supergpqa.jsonl").read_text()
    (folder / "supergpqa.jsonl").write_text(text[:-20])


def _cut_off_shard(frame: Frame, folder: Path) -> None:
    for (model,), part in whole(frame).group_by(["model"], maintain_order=True):
        part.write_parquet(folder / f"supergpqa-{CODES[str(model)]}.parquet")
    file = folder / "supergpqa-qwen.parquet"
    file.write_bytes(file.read_bytes()[:-30])


def _cut_off_archive(frame: Frame, folder: Path) -> None:
    whole(frame).write_ndjson(folder / "v.jsonl")
    packed = gzip.compress((folder / "v.jsonl").read_bytes())
    (folder / "v.jsonl").unlink()
    (folder / "supergpqa.jsonl.gz").write_bytes(packed[: len(packed) // 2])


def _other_language(frame: Frame, folder: Path) -> None:
    frame.select("sample", pregunta="question", modelo="model", respuesta="answer", 正解="gold").write_csv(
        folder / "supergpqa.csv"
    )


def _counting_from_one(frame: Frame, folder: Path) -> None:
    index = {letter: place for place, letter in enumerate("ABCD")}
    whole(frame).with_columns(
        (pl.col("answer").replace_strict(index, default=None) + 1).alias("answer"),
        pl.col("gold_answer").replace_strict(index),
    ).write_parquet(folder / "supergpqa.parquet")


def _two_votes_one_number(frame: Frame, folder: Path) -> None:
    rows = whole(frame).with_columns(
        pl.when(pl.col("sample_idx") == 23).then(22).otherwise("sample_idx").alias("sample_idx")
    )
    rows.with_columns(
        pl.when(pl.col("sample_idx") == 22).then(pl.int_range(pl.len()).cast(pl.String)).alias("reason")
    ).write_parquet(folder / "supergpqa.parquet")


def _ids_padded_here(frame: Frame, folder: Path) -> None:
    records(frame).write_csv(folder / "supergpqa_votes.csv")
    gold(frame).with_columns(pl.col("question_id").str.replace("-0", "-")).write_csv(folder / "supergpqa_gold.csv")


def _packed_otherwise(frame: Frame, folder: Path) -> None:
    (folder / "supergpqa.tar").write_bytes(b"x" * 100)


@pytest.mark.parametrize(
    ("lay_out", "complaint"),
    [
        (_reasons_from_one, "belong to no vote|do not fit the votes"),
        (_cut_off, "line 864 is not a JSON object"),
        (_cut_off_shard, "not all of its files can be read"),
        (_cut_off_archive, "not readable as .jsonl"),
        (_other_language, "no column for 'question'"),
        (_counting_from_one, "count from the same number"),
        (_two_votes_one_number, "more than once, with different contents"),
        (_ids_padded_here, "neither a gold answer nor a grade"),
        (_packed_otherwise, "not read"),
    ],
)
def test_what_cannot_be_right_is_refused_in_one_line(
    tmp_path: Path, lay_out: Callable[[Frame, Path], None], complaint: str
) -> None:
    lay_out(world(), tmp_path)
    with pytest.raises(InputError, match=complaint) as caught:
        read_deciban(tmp_path)
    assert "\n" not in str(caught.value)


def test_headers_of_any_language_can_be_mapped(tmp_path: Path) -> None:
    frame = world()
    _other_language(frame, tmp_path)
    columns = {"question": "pregunta", "model": "modelo", "answer": "respuesta", "gold": "正解"}
    same(tmp_path, unstated(frame), columns=columns)
