"""Tallies on disk: the same bytes whoever counts, in however many parts and in whatever order they are merged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.votes import read_tally, write_tally
from swaplaw.votes.files import Source
from swaplaw.votes.tally_folder import PARTS, open_tally

from .test_engines import same, to_dask, to_duckdb
from support.commands import Run
from support.corpora import corpora
from support.twin import Corpus


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
    return numbered(frame.select("dataset", "question", "model", "answer", "gold", "cluster"))


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


@given(case=corpora(models=3, questions=5), data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_parts_merged_in_any_order_are_the_whole(
    case: Corpus, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    frame, folder = numbered(case.frame()), tmp_path_factory.mktemp("parts")
    votes = sl.votes_from(frame)
    write_tally(votes, folder / "whole")
    same(sl.tally(folder / "whole"), votes.tally())
    cut = [data.draw(st.integers(0, 2)) for _ in range(frame.height)]
    pieces = frame.with_columns(piece=pl.Series(cut)).partition_by("piece", include_key=False)
    order = data.draw(st.permutations(range(len(pieces))))
    for number in order:
        # A part may lack samples that another has, so its numbers need not run on.
        write_tally(sl.votes_from(pieces[number]), folder / f"part-{number}")
    merged = None
    for number in order:
        sources = [open_tally(folder / f"part-{number}"), *([] if merged is None else [open_tally(merged)])]
        if merged is None:
            merged = folder / f"part-{number}"
            continue
        try:
            write_tally(sources, folder / f"merged-{number}")
        except sl.InputError:
            # Halfway, numbers that do not run on could be duplicates, for all that tallies tell.
            return
        merged = folder / f"merged-{number}"
    assert merged is not None
    assert digest(merged) == digest(folder / "whole")


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
