"""The released corpus: whatever its columns are called, and whatever is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

from swaplaw.errors import InputError, SwaplawError
from swaplaw.paper.corpus import download_deciban, read_deciban
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.votes.table import Votes

Frame = pl.DataFrame
MODELS = {
    "google/gemma-4-31b-it": "Gemma-4-31B",
    "Qwen/Qwen3.6-27B": "Qwen3.6-27B",
    "zai-org/GLM-4.7-Flash": "GLM-4.7-Flash",
}


@lru_cache
def release(options: tuple[int, ...] | None = (4,), seed: int = 0) -> Frame:
    """Votes as somebody else would name them."""
    abstains = {"truncated": 0.1, "no_parse": 0.05}
    members = tuple(Model(name, 0.6 - place / 10, abstains=abstains) for place, name in enumerate(MODELS))
    return generate(Fleet("d", members, 30, options, ("c1", "c2")), seed).frame.collect()


def counts_of(votes: Votes) -> Frame:
    keys = ["question", "model", "answer", "gold"]
    return votes.counts.group_by(keys).agg(pl.col("votes").sum()).sort([*keys, "votes"])


def expected(frame: Frame) -> Frame:
    keys = ["question", "model", "answer", "gold"]
    named = frame.with_columns(pl.col("model").replace(MODELS))
    return named.group_by(keys).agg(pl.len().alias("votes")).sort([*keys, "votes"])


def write(frame: Frame, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    writers: Mapping[str, Callable[[Path], object]] = {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
    }
    writers[file.suffix](file)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize(
    "names",
    [
        {"question": "question_id", "model": "model_name", "answer": "parsed_answer", "gold": "gold_answer"},
        {"question": "Qid", "model": "Model-ID", "answer": "VOTE", "gold": "correct_answer", "reason": "error_reason"},
    ],
)
def test_columns_are_guessed_in_every_format(tmp_path: Path, suffix: str, names: dict[str, str]) -> None:
    frame = release()
    write(frame.drop("dataset", "synthetic").rename(names), tmp_path / "SuperGPQA" / f"votes{suffix}")
    corpus = read_deciban(tmp_path)
    assert list(corpus.votes) == ["supergpqa"]
    assert corpus.votes["supergpqa"].datasets == ["supergpqa"]
    assert counts_of(corpus.votes["supergpqa"]).equals(expected(frame))
    assert corpus.problems == ()
    assert corpus.missing == ["gpqa-diamond", "forensic"]


def test_a_declared_map_goes_before_guesses(tmp_path: Path) -> None:
    frame = release()
    odd = frame.select("question", who="model", answer=pl.lit("the raw output"), final="answer", truth="gold")
    write(odd, tmp_path / "gpqa.parquet")
    corpus = read_deciban(tmp_path, {"model": "who", "answer": "final", "gold": "truth"})
    assert counts_of(corpus.votes["gpqa-diamond"]).equals(expected(frame))


def test_datasets_are_told_apart_by_column_or_path_and_shards_join(tmp_path: Path) -> None:
    frame = release().with_columns(dataset=pl.lit("GPQA Diamond"))
    write(frame.filter(pl.col("model") == "Qwen/Qwen3.6-27B"), tmp_path / "data" / "part-0.parquet")
    write(frame.filter(pl.col("model") != "Qwen/Qwen3.6-27B"), tmp_path / "data" / "part-1.parquet")
    write(release(None, 1).drop("dataset"), tmp_path / "cyber" / "trials.jsonl")
    corpus = read_deciban(tmp_path)
    assert list(corpus.votes) == ["gpqa-diamond", "forensic"]
    assert len(corpus.votes["gpqa-diamond"].tally().models) == 3


def test_gold_stands_in_a_table_of_its_own(tmp_path: Path) -> None:
    frame = release()
    write(frame.drop("gold", "dataset"), tmp_path / "supergpqa_votes.parquet")
    write(frame.select("question", "gold").unique(), tmp_path / "supergpqa_gold.csv")
    assert counts_of(read_deciban(tmp_path).votes["supergpqa"]).equals(expected(frame))


def test_grades_stand_in_for_gold_answers(tmp_path: Path) -> None:
    """GPQA carries ids and grades: the answer that is graded correct is gold."""
    frame = release()
    graded = frame.with_columns(grade=(pl.col("answer") == pl.col("gold")).cast(pl.Int8)).drop("gold", "dataset")
    write(graded, tmp_path / "gpqa_diamond.parquet")
    tally = read_deciban(tmp_path).votes["gpqa-diamond"].tally()
    whole = frame.filter(pl.col("answer") == pl.col("gold")).height
    assert int(tally.gold.sum()) == whole


def test_vote_counts_are_votes(tmp_path: Path) -> None:
    frame = release()
    counted = frame.group_by("question", "model", "answer", "gold").agg(pl.len().alias("count"))
    write(counted, tmp_path / "supergpqa.parquet")
    assert counts_of(read_deciban(tmp_path).votes["supergpqa"]).equals(expected(frame))


def test_reasons_become_our_words(tmp_path: Path) -> None:
    theirs = {"truncated": "max length reached", "no_parse": "Unparseable output"}
    frame = release().with_columns(pl.col("reason").replace(theirs), answer=pl.col("answer").fill_null("NULL"))
    write(frame.drop("dataset"), tmp_path / "supergpqa.csv")
    tally = read_deciban(tmp_path).votes["supergpqa"].tally()
    assert {reason for reasons in tally.reasons for reason in reasons} == {"truncated", "no_parse"}


def test_unknown_columns_get_a_list_of_those_found_and_the_map_to_write(tmp_path: Path) -> None:
    write(release().rename({"question": "zz1", "answer": "zz2"}), tmp_path / "supergpqa.parquet")
    with pytest.raises(InputError) as caught:
        read_deciban(tmp_path)
    message = str(caught.value)
    assert "'zz1'" in message
    assert "no column for 'question'" in message
    assert '{"question": "…"' in message


def test_grades_alone_cannot_be_pooled_and_what_else_is_there_still_is_read(tmp_path: Path) -> None:
    write(release().select("question", "model", correct=pl.col("answer") == pl.col("gold")), tmp_path / "gpqa.parquet")
    write(release(None).drop("dataset"), tmp_path / "forensic.parquet")
    (tmp_path / "broken.jsonl").write_text("{]\n")
    corpus = read_deciban(tmp_path)
    assert list(corpus.votes) == ["forensic"]
    assert "gpqa-diamond" in corpus.missing
    assert len(corpus.problems) == 1
    assert "line 1" in corpus.problems[0]


def test_a_dataset_that_breaks_the_contract_leaves_the_others_alone(tmp_path: Path) -> None:
    broken = release().with_columns(gold=pl.int_range(pl.len()).cast(pl.String))
    write(broken.drop("dataset"), tmp_path / "supergpqa.parquet")
    write(release(None).drop("dataset"), tmp_path / "forensic.parquet")
    corpus = read_deciban(tmp_path)
    assert list(corpus.votes) == ["forensic"]
    assert "one gold" in corpus.problems[0]


@pytest.mark.parametrize("kind", ["absent", "file", "empty", "nothing to read", "gold only"])
def test_wrong_folders_are_refused_in_one_sentence(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "corpus"
    if kind != "absent":
        folder.mkdir()
    if kind == "file":
        folder = folder / "votes.csv"
        folder.write_text("a,b\n")
    if kind == "nothing to read":
        (folder / "README.md").write_text("hello")
    if kind == "gold only":
        write(release().select("question", "gold"), folder / "gpqa.csv")
    expected_words = {
        "absent": "no such folder",
        "file": "is a file",
        "empty": "no vote files",
        "nothing to read": "no vote files",
        "gold only": "gold answers, grades or reasons only",
    }
    with pytest.raises(InputError, match=expected_words[kind]):
        read_deciban(folder)


def test_a_map_that_names_what_is_no_column_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'colour'"):
        read_deciban(tmp_path, {"colour": "x"})
    write(release(), tmp_path / "gpqa.parquet")
    with pytest.raises(InputError, match="which the map declares for 'model'"):
        read_deciban(tmp_path, {"model": "nobody"})


def test_download_says_what_to_do_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(SwaplawError, match="download the files by hand"):
        download_deciban(tmp_path / "corpus")


def test_column_maps_are_read_from_files(tmp_path: Path) -> None:
    from swaplaw.cli.paper.reproduce import _read_map

    file = tmp_path / "map.json"
    file.write_text(json.dumps({"question": "q"}))
    assert _read_map(str(file)) == {"question": "q"}
    for text in ("nonsense", "[1]", '{"question": 1}'):
        file.write_text(text)
        with pytest.raises(InputError, match="column map"):
            _read_map(str(file))
    with pytest.raises(InputError, match="cannot read"):
        _read_map(str(tmp_path / "absent.json"))
