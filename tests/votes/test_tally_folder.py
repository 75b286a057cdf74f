"""Tallies on disk: the same bytes whoever counts, in however many parts and in whatever order they are merged."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes import read_tally, write_tally
from swaplaw.votes.files import Source
from swaplaw.votes.tally_folder import open_tally
from swaplaw.votes.tally_writing import PARTS

from .test_engines import same, to_dask, to_duckdb
from support.commands import Run


def digest(folder: Path) -> str:
    """All bytes of a folder with their names."""
    found = hashlib.sha256()
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        found.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return found.hexdigest()


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.int_range(pl.len()).over("question", "model").alias("sample"))


def table() -> pl.DataFrame:
    frame = sl.demo_votes().frame.collect()
    table = numbered(frame.select("dataset", "question", "model", "answer", "gold", "cluster"))
    # The first sample does not say how many options there were, so that not every part of the votes does.
    stated = 4 + pl.col("question").rank("dense").cast(pl.Int64) % 3
    return table.with_columns(options=pl.when(pl.col("sample") > 0).then(stated))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "tally"
    write_tally(sl.votes_from(table()), folder)
    return folder


def test_some_models_are_read_alone(whole: Path) -> None:
    chosen = ["gpt-4", "mistral-large"]
    frame = table()
    same(read_tally(whole).tally(chosen[::-1]), sl.votes_from(frame.filter(pl.col("model").is_in(chosen))).tally())
    with pytest.raises(sl.InputError, match="there is no model 'nobody' in this tally"):
        read_tally(whole).tally(["nobody"])
    with pytest.raises(sl.InputError, match="there is no dataset 'other'"):
        read_tally(whole).tally(chosen, "other")


def test_a_tally_is_taken_in_place_of_votes(whole: Path, swaplaw: Run) -> None:
    same(sl.tally(whole), sl.votes_from(table()).tally())
    assert sl.votes.fingerprint_of(sl.tally(str(whole))) == sl.votes.fingerprint_of(sl.votes_from(table()).tally())
    assert sl.read_votes(whole).frame.collect().height == table().height
    ours = json.loads(swaplaw("pairs", str(whole), "--json").out)
    assert ours["pairs"] == json.loads(swaplaw("pairs", "demo", "--json").out)["pairs"]


@pytest.mark.parametrize("engine", [to_duckdb, to_dask, lambda frame: frame.to_pandas(), lambda frame: frame.lazy()])
def test_every_engine_writes_the_same_bytes(engine: Callable[[pl.DataFrame], Any], whole: Path, tmp_path: Path) -> None:
    write_tally(sl.votes_from(engine(table())), tmp_path / "tally")
    assert digest(tmp_path / "tally") == digest(whole)


@pytest.mark.slow
def test_spark_writes_the_same_bytes(spark: Any, whole: Path, tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "votes.parquet")
    write_tally(sl.votes_from(spark.read.parquet(str(tmp_path / "votes.parquet"))), tmp_path / "tally")
    assert digest(tmp_path / "tally") == digest(whole)


def test_parts_by_model_or_question_merge_to_the_whole(whole: Path, tmp_path: Path) -> None:
    frame = table()
    models = frame["model"].unique().sort()
    for name, parts in {
        "models": [frame.filter(pl.col("model").is_in(models[n::3].to_list())) for n in range(3)],
        "questions": frame.with_columns(n=pl.col("question").hash() % 4).partition_by("n", include_key=False),
        "samples": [frame.filter(pl.col("sample") < 3), frame.filter(pl.col("sample") >= 3)],
    }.items():
        for number, part in enumerate(parts):
            write_tally(sl.votes_from(part), tmp_path / f"{name}-{number}")
        sources = [open_tally(tmp_path / f"{name}-{number}") for number in reversed(range(len(parts)))]
        write_tally(sources, tmp_path / name)
        assert digest(tmp_path / name) == digest(whole), name


def test_votes_are_never_counted_twice(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(sl.InputError, match="counts the same votes of model"):
        write_tally([open_tally(whole), open_tally(str(whole) + "/.")], tmp_path / "twice")
    write_tally(sl.votes_from(table().filter(pl.col("sample") < 6)), tmp_path / "some")
    with pytest.raises(sl.InputError, match=r"may be counted twice|counts the same votes"):
        write_tally([open_tally(whole), open_tally(tmp_path / "some")], tmp_path / "overlap")
    with pytest.raises(sl.InputError, match="merge it with the other votes first"):
        sl.read_votes(whole, tmp_path / "some")


def test_a_run_that_was_killed_goes_on_from_whole_parts(whole: Path, tmp_path: Path) -> None:
    for number, part in enumerate(table().partition_by("model")):
        part.write_parquet(tmp_path / f"{number}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    sources, _ = sl.importers.reading.open_votes(files)

    def killed(items: Sequence[Any]) -> Iterator[Any]:
        yield from items[:4]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tally(sources, tmp_path / "tally", progress=killed)
    parts = sorted((tmp_path / "tally" / PARTS).iterdir())
    assert len(parts) == 4
    with pytest.raises(sl.InputError, match="not a tally"):
        read_tally(tmp_path / "tally")
    # A part that was being written is begun again; whole ones are not touched.
    (tmp_path / "tally" / PARTS / f"000004-{'0' * 16}.draft").write_text("half")
    before = [part.stat().st_mtime_ns for part in parts]
    seen: list[list[int]] = []

    def watched(items: Sequence[Any]) -> Iterator[Any]:
        yield from items
        seen.append([part.stat().st_mtime_ns for part in parts])

    write_tally(sources, tmp_path / "tally", progress=watched)
    assert seen == [before]
    assert digest(tmp_path / "tally") == digest(whole)


def test_what_breaks_the_contract_is_no_tally(tmp_path: Path) -> None:
    frame = table().with_columns(gold=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("Z")).otherwise("gold"))
    with pytest.raises(sl.InputError, match="column 'gold' is"):
        write_tally([Source("the votes", lambda: frame)], tmp_path / "golds")
    twice = pl.concat([table(), table()[:1]])
    with pytest.raises(sl.InputError, match="column 'sample'"):
        write_tally([Source("the votes", lambda: twice)], tmp_path / "samples")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    with pytest.raises(sl.InputError, match="there is something already"):
        write_tally(sl.votes_from(table()), tmp_path / "there")


def test_the_command_counts_and_merges(whole: Path, tmp_path: Path, swaplaw: Run) -> None:
    found = json.loads(swaplaw("tally", "demo", "-o", str(tmp_path / "tally"), "--json").out)
    assert (found["votes"], found["datasets"][0]["questions"]) == (21600, 100)
    assert "21,600" in swaplaw("tally", "demo", "-o", str(tmp_path / "again")).out
    assert swaplaw("tally", str(tmp_path / "tally"), "-o", str(tmp_path / "merged")).code == 0
    assert digest(tmp_path / "merged") == digest(tmp_path / "tally")


def test_parts_that_look_alike_are_not_the_same_votes(tmp_path: Path) -> None:
    """Numbers of questions, answers and models begin at 0 in every tally, so different votes may look alike in them."""
    rows = [(question, model, "A", "A", 0) for question in "qrs" for model in "mn"]
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "sample"], orient="row")
    write_tally(sl.votes_from(frame), tmp_path / "whole")
    for key in ("question", "model"):
        for number, part in enumerate(frame.partition_by(key)):
            write_tally(sl.votes_from(part), tmp_path / f"{key}-{number}")
        write_tally([open_tally(each) for each in sorted(tmp_path.glob(f"{key}-*"))], tmp_path / key)
        assert digest(tmp_path / key) == digest(tmp_path / "whole"), key


@pytest.mark.parametrize("numbers", [[0, 1], [None, None]], ids=["numbered", "not numbered"])
def test_a_copy_is_found_among_other_models_and_questions(numbers: list[int | None], tmp_path: Path) -> None:
    rows = [(model, question, "A", "A", n) for model in "amz" for question in "qr" for n in numbers]
    frame = pl.DataFrame(rows, schema=["model", "question", "answer", "gold", "sample"], orient="row", strict=False)
    frame = frame if numbers[0] is not None else frame.drop("sample")
    for name, models in {"one": "az", "other": "mz"}.items():
        write_tally(sl.votes_from(frame.filter(pl.col("model").is_in(list(models)))), tmp_path / name)
    with pytest.raises(sl.InputError, match="counts the same votes of model 'z'"):
        write_tally([open_tally(tmp_path / "one"), open_tally(tmp_path / "other")], tmp_path / "both")


def test_graded_votes_on_unlabelled_questions_are_counted(tmp_path: Path) -> None:
    gold = pl.when(pl.col("question") != pl.col("question").min()).then("gold").alias("gold")
    frame = table().with_columns(gold).with_columns(correct=pl.col("answer") == pl.col("gold"))
    written = write_tally(sl.votes_from(frame), tmp_path / "tally")
    same(sl.tally(written.path), sl.tally(frame))


def test_a_run_that_was_killed_while_it_merged_is_run_again(whole: Path, tmp_path: Path) -> None:
    target, votes = tmp_path / "tally", sl.votes_from(table())
    shutil.copytree(whole, target)
    (target / "tally.json").rename(target / ".tally.json.part")
    (target / "0" / "models" / "99.parquet").write_text("half")
    with pytest.raises(sl.InputError, match="there is something already"):
        write_tally(votes, target)
    (target / PARTS).mkdir()
    write_tally(votes, target)
    assert digest(target) == digest(whole)


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    (tmp_path / "tally").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tally" / PARTS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(sl.InputError, match="there is something already"):
        write_tally(sl.votes_from(table()), tmp_path / "tally")
    assert not list((tmp_path / "elsewhere").iterdir())


def changed(folder: Path, file: str, content: Callable[[bytes], bytes]) -> None:
    (folder / file).write_bytes(content((folder / file).read_bytes()))


def forged(folder: Path, votes: int) -> None:
    """Other counts, with a manifest to match."""
    file, manifest = folder / "0/models/0.parquet", json.loads((folder / "tally.json").read_text())
    pl.read_parquet(file).with_columns(pl.lit(votes, dtype=pl.Int64).alias("votes")).write_parquet(file)
    manifest["datasets"][0]["digests"][2] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / "tally.json").write_text(json.dumps(manifest))


DAMAGE: dict[str, Callable[[Path], object]] = {
    **{
        f"{file} {what}": partial(changed, file=file, content=change)
        for file in ("tally.json", "0/questions.parquet", "0/answers.parquet", "0/models/3.parquet")
        for what, change in {
            "cut off": lambda content: content[: len(content) // 2],
            "empty": lambda content: b"",
            "with other bytes": lambda content: content[:99] + bytes([content[99] ^ 255]) + content[100:],
        }.items()
        if (file, what) != ("tally.json", "with other bytes")
    },
    "a missing table": lambda folder: (folder / "0/questions.parquet").unlink(),
    "exchanged models": lambda folder: shutil.copy(folder / "0/models/1.parquet", folder / "0/models/0.parquet"),
    "no datasets": partial(changed, file="tally.json", content=lambda _: b'{"schema": "swaplaw.tally", "version": 3}'),
    "an older tally": partial(
        changed, file="tally.json", content=lambda text: text.replace(b'"version": 3', b'"version": 2')
    ),
    "endless brackets": partial(changed, file="tally.json", content=lambda _: b"[" * 100_000),
    "counts below 1": partial(forged, votes=0),
    "absurd counts": partial(forged, votes=2**62),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_a_damaged_tally_is_refused_in_one_line(
    damage: Callable[[Path], object], whole: Path, tmp_path: Path, swaplaw: Run
) -> None:
    folder = tmp_path / "tally"
    shutil.copytree(whole, folder)
    damage(folder)
    for arguments in (["pairs", str(folder)], ["tally", str(folder), "-o", str(tmp_path / "merged")]):
        done = swaplaw(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
        assert "tally" in done.err
