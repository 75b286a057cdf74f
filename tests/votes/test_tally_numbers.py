"""Sample numbers in tallies: parts may split them in any way, and merge in any order, nested too; none counts twice."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.votes import engines, tally_writing, write_tally
from swaplaw.votes.files import Source
from swaplaw.votes.tally_folder import digest_of, open_tally, read_tally
from swaplaw.votes.tally_numbers import joined, repeated
from swaplaw.votes.tally_parts import Part

from .test_engines import same, to_dask, to_duckdb
from .test_tally_folder import digest
from support.commands import Run
from support.corpora import corpora
from support.twin import Corpus

LOWEST, HIGHEST = -(2**63), 2**63 - 1
NUMBERINGS: dict[str, Callable[[int], int]] = {
    "from 0": lambda place: place,
    "from 1": lambda place: place + 1,
    "with gaps": lambda place: (0, 2, 7, 8, 9, 20, 21, 40)[place],
    "with negative ones": lambda place: 2 * place - 3,
    # Their last 31 bits are those of 0, 1, 2 and so on.
    "far apart": lambda place: place + (-1) ** place * place * 2**31,
    "from the lowest": lambda place: LOWEST + place,
    "to the highest": lambda place: HIGHEST - place,
    "from both ends": lambda place: LOWEST + place if place % 2 else HIGHEST - place,
}


def votes_of(numbers: Sequence[int | None], question: str = "q", model: str = "m", answers: str = "AB") -> pl.DataFrame:
    """Votes of one model on one question."""
    return pl.DataFrame(
        {
            "question": [question] * len(numbers),
            "model": [model] * len(numbers),
            "answer": [answers[place % len(answers)] for place in range(len(numbers))],
            "gold": ["A"] * len(numbers),
            "sample": pl.Series(numbers, dtype=pl.Int64),
        }
    )


def as_source(what: pl.DataFrame | Path) -> Source:
    return open_tally(what) if isinstance(what, Path) else Source("votes in memory", lambda: what)


@pytest.fixture
def tally(tmp_path: Path) -> Callable[..., Path]:
    """Write votes and tallies as one tally, each in a folder of its own."""
    written: list[Path] = []

    def write(*given: Any) -> Path:
        written.append(tmp_path / f"tally-{len(written)}")
        return write_tally([as_source(each) for each in given], written[-1]).path

    return write


@given(case=corpora(models=3, questions=4, samples=8), data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_parts_merged_in_any_order_are_the_whole(
    case: Corpus, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    place = pl.int_range(pl.len()).over("question", "model")
    numbering = NUMBERINGS[data.draw(st.sampled_from(list(NUMBERINGS)))]
    numbers = {place: numbering(place) for place in range(8)}
    frame = case.frame().with_columns(sample=place.replace_strict(numbers, return_dtype=pl.Int64))
    votes = sl.votes_from(frame)
    write_tally(votes, folder / "whole")
    same(sl.tally(folder / "whole"), votes.tally())
    cut = data.draw(st.lists(st.integers(0, 3), min_size=frame.height, max_size=frame.height))
    parts: list[pl.DataFrame | Path] = []
    for number, piece in enumerate(frame.with_columns(piece=pl.Series(cut)).partition_by("piece", include_key=False)):
        counted = data.draw(st.booleans())
        parts.append(write_tally(sl.votes_from(piece), folder / f"part-{number}").path if counted else piece)
    # Some at a time, tallies and votes that are not counted yet, until one is left.
    while len(parts) > 1:
        size, order = data.draw(st.integers(2, len(parts))), data.draw(st.permutations(range(len(parts))))
        sources = [as_source(parts[place]) for place in order[:size]]
        merged = write_tally(sources, folder / f"merged-{len(parts)}")
        parts = [merged.path, *(parts[place] for place in order[size:])]
    write_tally([as_source(parts[0])], folder / "merged")
    assert digest(folder / "merged") == digest(folder / "whole")


def test_numbers_are_kept_only_where_they_do_not_run_on(tally: Callable[..., Path]) -> None:
    whole, gaps = votes_of([0, 1, 2], "q", "whole"), votes_of([5, 2, 0, 1, HIGHEST], "r", "gaps")
    found = read_tally(tally(pl.concat([whole, gaps, votes_of([1, 2], "q", "gaps")])))
    assert [file.name for file in sorted(found.path.glob("0/numbers/*"))] == ["0.parquet"]
    kept = found.numbers("votes", ["gaps", "whole"]).collect()
    rows = [("gaps", "r", 0, 2), ("gaps", "r", 5, 5), ("gaps", "r", HIGHEST, HIGHEST)]
    assert kept.select("model", "question", "first", "last").rows() == rows
    assert not list(tally(whole).glob("0/numbers*"))


def test_a_number_that_was_merged_before_is_found(tally: Callable[..., Path], tmp_path: Path, swaplaw: Run) -> None:
    split = {numbers: tally(votes_of(numbers)) for numbers in ((0, 3), (1,), (3,), (2,), (1, 4))}
    three = tally(split[0, 3], split[1,])
    for again, number in {split[3,]: 3, split[1, 4]: 1}.items():
        with pytest.raises(sl.InputError, match=f"{again.name}.*sample {number} of model 'm' and question 'q'"):
            tally(three, again)
    with pytest.raises(sl.InputError, match="sample 3 of model 'm' and question 'q'"):
        tally(three, votes_of([3]))
    with pytest.raises(sl.InputError, match=r"sample 3 .* question 'q' is counted in .*'votes in memory', too"):
        tally(votes_of([3, 5]), three)
    four = tally(three, split[2,])
    assert digest(four) == digest(tally(votes_of([0, 3, 1, 2], answers="ABAA")))
    # What is whole keeps no numbers, and knows them still.
    with pytest.raises(sl.InputError, match="sample 1 of model 'm' and question 'q'"):
        tally(four, split[1, 4])
    refused = swaplaw("tally", str(three), str(split[3,]), "-o", str(tmp_path / "out"))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert not (tmp_path / "out" / "tally.json").exists()


def test_a_number_that_two_sources_of_votes_hold_is_found(tally: Callable[..., Path]) -> None:
    with pytest.raises(sl.InputError, match="column 'sample' is 3 again for question 'q' and model 'm'"):
        tally(votes_of([0, 3]), votes_of([5, 3]))
    one, other = (Source(name, lambda: to_duckdb(votes_of([0, 3]))) for name in ("one", "other"))
    with pytest.raises(sl.InputError, match="'other': sample 0 of model 'm' and question 'q'"):
        write_tally([one, other], tally(votes_of([0])).parent / "out")


def test_numbers_that_agree_in_their_last_bits_are_different(tally: Callable[..., Path]) -> None:
    numbers = [0, 2**31, 2**32, -(2**63), -(2**31)]
    parts = [tally(votes_of([number], answers="A")) for number in numbers]
    merged = parts[0]
    for part in parts[1:]:
        merged = tally(merged, part)
    assert digest(merged) == digest(tally(votes_of(numbers, answers="A")))


@pytest.mark.parametrize("engine", [to_duckdb, to_dask, lambda frame: frame.to_pandas(), lambda frame: frame.lazy()])
@pytest.mark.parametrize("ids", [str, int, bool], ids=lambda kind: kind.__name__)
def test_every_engine_tells_the_numbers(
    engine: Callable[[pl.DataFrame], Any], ids: type, tally: Callable[..., Path]
) -> None:
    held = pl.concat([votes_of([0, 7, 8], question, model) for question in "01" for model in "mn"])
    held = held.with_columns(pl.col("question").cast(pl.Int64))
    held = pl.concat([held.with_columns(pl.col("sample") + more, dataset=pl.lit(f"d{more}")) for more in (0, 9)])
    held = held.with_columns(pl.col("question").cast({str: pl.String, int: pl.Int64, bool: pl.Boolean}[ids]))
    rest = held.with_columns(pl.col("question").cast(pl.String), sample=pl.col("sample") + 1, answer=pl.lit("C"))
    rest = rest.filter(pl.col("sample") % 9 != 8)
    mixed = write_tally([as_source(tally(rest)), Source("elsewhere", lambda: engine(held))], tally(rest).parent / "out")
    assert digest(mixed.path) == digest(tally(rest, held))


@pytest.mark.slow
def test_spark_tells_the_numbers(spark: Any, tally: Callable[..., Path], tmp_path: Path) -> None:
    held = pl.concat([votes_of([0, 7, 8], question, model) for question in "qr" for model in "mn"])
    held.write_parquet(tmp_path / "held.parquet")
    rest = held.filter(pl.col("sample") == 0).with_columns(sample=pl.lit(1, dtype=pl.Int64))
    elsewhere = Source("elsewhere", lambda: spark.read.parquet(str(tmp_path / "held.parquet")))
    mixed = write_tally([as_source(tally(rest)), elsewhere], tmp_path / "out")
    assert digest(mixed.path) == digest(tally(rest, held))


def test_an_engine_is_asked_for_open_ballots_alone(monkeypatch: pytest.MonkeyPatch, tally: Callable[..., Path]) -> None:
    frame = pl.concat([votes_of(range(100), "whole"), votes_of([0, 1, 5], "open")])
    sizes: list[int] = []
    real = engines.to_polars

    def spy(query: Any, name: str) -> pl.DataFrame:
        sizes.append((got := real(query, name)).height)
        return got

    monkeypatch.setattr(engines, "to_polars", spy)
    source = Source("elsewhere", lambda: to_duckdb(frame))
    write_tally([source], tally(votes_of([0])).parent / "out")
    assert sizes == [3]
    assert digest(tally(votes_of([0])).parent / "out") == digest(tally(frame))


@pytest.mark.parametrize("most", [1, 3, 10**9])
def test_how_many_models_are_merged_at_a_time_does_not_matter(
    most: int, monkeypatch: pytest.MonkeyPatch, tally: Callable[..., Path]
) -> None:
    frame = pl.concat([votes_of([0, 2, 5, 6], question, model) for question in "qr" for model in "abcde"])
    frame = pl.concat([frame.with_columns(pl.col("sample") * more, dataset=pl.lit(f"d{more}")) for more in (1, 2)])
    whole = digest(tally(frame))
    monkeypatch.setattr(tally_writing, "LARGEST", most)
    some = pl.col("sample").is_in([2, 5, 10])
    assert digest(tally(tally(frame.filter(some)), tally(frame.filter(~some)))) == whole


@pytest.mark.parametrize("numbers", [[None, None], [0, None]], ids=["none", "some"])
def test_votes_without_numbers_are_refused_where_a_tally_has_others(
    numbers: list[int | None], tally: Callable[..., Path]
) -> None:
    """Nothing could tell the same votes, counted twice, from others."""
    bare = votes_of([None, None, None], "q").drop("sample")
    other = votes_of([0, 1], "q", "n")
    numbered, unnumbered = votes_of([4, 6]), tally(bare, other)
    # In one go they are votes of their own.
    assert read_tally(tally(bare, other, numbered)).votes == 7
    with pytest.raises(sl.InputError, match=r"model 'm' and question 'q' .*votes without sample numbers"):
        tally(unnumbered, tally(numbered))
    with pytest.raises(sl.InputError, match="column 'sample' is not a whole number"):
        tally(pl.concat([votes_of(numbers), other]))


def test_an_engine_that_reads_no_files_is_asked_for_models(
    monkeypatch: pytest.MonkeyPatch, tally: Callable[..., Path], tmp_path: Path
) -> None:
    monkeypatch.setattr(engines, "_READERS", {})
    frame = pl.concat([votes_of([0, 4], question, model) for question in "qr" for model in "mn"])
    write_tally([Source("elsewhere", lambda: to_duckdb(frame))], tmp_path / "out")
    assert digest(tmp_path / "out") == digest(tally(frame))


def test_a_run_that_was_killed_while_it_put_numbers_together_is_run_again(
    monkeypatch: pytest.MonkeyPatch, tally: Callable[..., Path], tmp_path: Path
) -> None:
    frame = pl.concat([votes_of([0, 4, 9], question, model) for question in "qr" for model in "mno"])
    sources = [as_source(tally(frame.filter(pl.col("sample") < 9))), as_source(frame.filter(pl.col("sample") == 9))]
    asked: list[int] = []

    def killed(part: Part, *given: Any) -> pl.DataFrame:
        asked.append(part.number)
        if len(asked) > 3:
            raise KeyboardInterrupt
        return numbers(part, *given)

    with monkeypatch.context() as patched:
        patched.setattr(tally_writing, "LARGEST", 1)
        numbers = Part.numbers
        patched.setattr(Part, "numbers", killed)
        with pytest.raises(KeyboardInterrupt):
            write_tally(sources, tmp_path / "out")
    assert asked == [0, 1, 0, 1]
    assert (tmp_path / "out" / "0" / "numbers" / "0.parquet").exists()
    with pytest.raises(sl.InputError, match="not a tally"):
        read_tally(tmp_path / "out")
    write_tally(sources, tmp_path / "out")
    assert digest(tmp_path / "out") == digest(tally(frame))


def forged(file: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Other numbers, with a manifest to match."""
    change(pl.read_parquet(file)).write_parquet(file)
    manifest = json.loads((file.parents[2] / "tally.json").read_text())
    manifest["datasets"][0]["numbers"][0] = digest_of(file)
    (file.parents[2] / "tally.json").write_text(json.dumps(manifest))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:99]),
    "empty": lambda file: file.write_bytes(b""),
    "with other bytes": lambda file: file.write_bytes(bytes(255 - byte for byte in file.read_bytes())),
    "missing": lambda file: file.unlink(),
    "exchanged": lambda file: shutil.copy(file.with_name("1.parquet"), file),
    "ends before beginnings": partial(forged, change=lambda runs: runs.rename({"first": "last", "last": "first"})),
    "without ends": partial(forged, change=lambda runs: runs.drop("last")),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_damaged_numbers_are_refused_in_one_line(
    damage: Callable[[Path], object], tally: Callable[..., Path], tmp_path: Path, swaplaw: Run
) -> None:
    folder = tally(votes_of([0, 1, 4], "q", "m"), votes_of([0, 5], "q", "n"))
    damage(folder / "0" / "numbers" / "0.parquet")
    done = swaplaw("tally", str(folder), "-o", str(tmp_path / "merged"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert re.search("write (the tally|it) again", done.err)


def test_a_manifest_that_does_not_tell_of_numbers_is_damaged(tally: Callable[..., Path]) -> None:
    folder = tally(votes_of([0, 2]))
    manifest = json.loads((folder / "tally.json").read_text())
    manifest["datasets"][0]["numbers"] = []
    (folder / "tally.json").write_text(json.dumps(manifest))
    with pytest.raises(sl.InputError, match=r"tally\.json is damaged"):
        read_tally(folder)


RUNS = st.tuples(st.integers(0, 2), st.integers(-4, 12) | st.sampled_from([LOWEST, HIGHEST]), st.integers(0, 4))


@given(given=st.lists(RUNS, max_size=8))
@example([(0, LOWEST, 0), (0, HIGHEST, 0)])
def test_runs_are_what_a_set_of_numbers_says(given: list[tuple[int, int, int]]) -> None:
    """The plain twin: all numbers one by one, in a set."""
    runs = [(ballot, first, min(first + more, HIGHEST)) for ballot, first, more in given]
    numbers = [(ballot, number) for ballot, first, last in runs for number in range(first, last + 1)]
    schema = {"ballot": pl.UInt32, "first": pl.Int64, "last": pl.Int64}
    frame = pl.DataFrame(runs, schema=schema, orient="row").sort("ballot", "first")
    twice = sorted({each for each in numbers if numbers.count(each) > 1})
    found = repeated(frame)
    if twice:
        assert found.select("ballot", "first").row(0) in twice
        return
    assert found.is_empty()
    expected: list[list[int]] = []
    for ballot, number in sorted(numbers):
        if expected and expected[-1][0] == ballot and expected[-1][2] == number - 1:
            expected[-1][2] = number
        else:
            expected.append([ballot, number, number])
    assert [list(row) for row in joined(frame).iter_rows()] == expected
