"""Votes are counted where they are, by every engine alike, and held to the contract there."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.importers.record import Options
from swaplaw.votes import engines

from support.data import real_votes

Frame = pl.DataFrame
EAGER: dict[str, Callable[[Frame], Any]] = {
    "polars": lambda frame: frame,
    "polars lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame: frame.to_arrow(),
}


def to_duckdb(frame: Frame) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("votes", frame.to_arrow())
    return connection.sql("select * from votes")


def to_dask(frame: Frame) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(frame.to_pandas(), npartitions=3)  # type: ignore[no-untyped-call]


def same(one: sl.Tally, two: sl.Tally) -> None:
    """Equal bit by bit: every field of both tallies, arrays and their types included."""
    assert (one.dataset, one.models, one.questions, one.clusters, one.reasons) == (
        two.dataset,
        two.models,
        two.questions,
        two.clusters,
        two.reasons,
    )
    for name in ("votes", "gold", "starts", "positions", "counts"):
        ours, theirs = getattr(one, name), getattr(two, name)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()
    assert one.rivals.labels.tolist() == two.rivals.labels.tolist()
    assert one.rivals.order.tobytes() == two.rivals.order.tobytes()
    assert (one.options is None) == (two.options is None)
    if one.options is not None and two.options is not None:
        assert one.options.tolist() == two.options.tolist()


DATASETS = ["renze-temperature", "renze-exams", "reasoning-gym", pytest.param("mmlu-pro", marks=pytest.mark.slow)]
"""The largest takes every engine seconds, and has nothing that the others lack."""


def native(name: str, folder: Path) -> Path:
    """The vote table of a real dataset; the exams' question ids repeat, so it is imported with ids of more columns."""
    file = real_votes(f"{name}.parquet")
    if name != "renze-exams":
        return file
    options = Options(question=("cluster", "question", "gold"), drop_ambiguous=True)
    sl.import_votes(file, options).write(folder / file.name)
    return folder / file.name


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("engine", ["csv", "jsonl", "parquet", *EAGER, "duckdb", "dask"])
def test_real_votes_round_trip(name: str, engine: str, tmp_path: Path) -> None:
    file = native(name, tmp_path)
    votes = sl.read_votes(file)
    if engine in ("csv", "jsonl", "parquet"):
        votes.write(tmp_path / f"votes.{engine}")
        same(sl.tally(tmp_path / f"votes.{engine}"), votes.tally())
        return
    make = {"duckdb": to_duckdb, "dask": to_dask, **EAGER}[engine]
    same(sl.tally(make(pl.read_parquet(file))), votes.tally())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["renze-temperature", "renze-exams", "reasoning-gym", "mmlu-pro"])
def test_spark_counts_real_votes(name: str, spark: Any, tmp_path: Path) -> None:
    file = native(name, tmp_path)
    same(sl.tally(spark.read.parquet(str(file))), sl.read_votes(file).tally())


SMALL = pl.DataFrame(
    {
        "question": ["q", "q", "q", "r", "r"],
        "model": ["m", "m", "n", "m", "n"],
        "sample": [0, 1, 0, 0, 0],
        "answer": ["A", " \t\u00a0", None, "B", ""],
        "gold": ["A", "A", "A", "C", "C"],
        "reason": [None, "no_parse", "refused", None, None],
        "flag": [True, False, True, None, None],
    }
)
EVERY = {**EAGER, "duckdb": to_duckdb, "dask": to_dask}


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda f: f, id="as it is"),
        pytest.param(lambda f: f.with_columns(question=pl.Series([1, 1, 1, 2, 2])), id="whole-number ids"),
        pytest.param(lambda f: f.with_columns(model=pl.col("model").cast(pl.Categorical)), id="categories"),
        pytest.param(lambda f: f.with_columns(correct=pl.col("answer") == pl.col("gold")), id="grades with nulls"),
        pytest.param(lambda f: f.with_columns(gold=pl.lit(True), answer=pl.col("flag")), id="yes or no answers"),
        pytest.param(lambda f: f.with_columns(sample=pl.col("sample").cast(pl.Int16) - 7), id="negative samples"),
        pytest.param(lambda f: f.with_columns(dataset=pl.lit("d"), cluster=pl.col("question")), id="more columns"),
        pytest.param(lambda f: f.with_columns(options=pl.Series([4, 5, 4, 2, 3])), id="options"),
        pytest.param(lambda f: f.with_columns(options=pl.Series([None, 4, 99, None, None])), id="few options stated"),
        pytest.param(lambda f: f.with_columns(options=pl.Series([4.0, math.nan, 1.0, math.inf, -2.0])), id="floats"),
        pytest.param(lambda f: f.with_columns(options=pl.Series([["A", "B"]] * 5)), id="a column of one's own"),
    ],
)
def test_engines_agree_on_odd_columns(engine: str, change: Callable[[Frame], Frame]) -> None:
    frame = change(SMALL)
    if engine == "dask" and frame["answer"].dtype == pl.Boolean:
        frame = frame.filter(frame["answer"].is_not_null())  # Dask itself turns yes, no and null into words.
    same(sl.tally(EVERY[engine](frame)), sl.tally(frame))


BROKEN = {
    "labels of another name": (SMALL.rename({"gold": "of whom"}), "no column was found for 'gold'"),
    "a null model": (SMALL.with_columns(model=pl.Series(["m", "m", None, "m", "m"])), "column 'model' is null"),
    "two golds": (
        SMALL.with_columns(gold=pl.Series(["A", "A", "B", "C", "C"])),
        "column 'gold' is '.' for question 'q'",
    ),
    "a sample twice": (SMALL.with_columns(sample=0), "question 'q' and model 'm'"),
    "a missing number": (
        SMALL.with_columns(sample=pl.Series([0, None, 0, 0, 0])),
        "'sample' is not a whole number|has type",
    ),
    "no votes": (SMALL.clear(), "there are no votes"),
    "an abstention that is right": (
        SMALL.with_columns(correct=pl.lit(True)),
        "an abstention is never correct",
    ),
}


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize("name", BROKEN)
def test_the_contract_holds_in_every_engine(engine: str, name: str) -> None:
    frame, message = BROKEN[name]
    with pytest.raises(sl.InputError, match=message) as raised:
        sl.tally(EVERY[engine](frame))
    assert "\n" not in str(raised.value)


def test_the_contract_holds_in_spark(spark: Any) -> None:
    for name, (frame, message) in BROKEN.items():
        if name == "no votes":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            native = spark.createDataFrame(frame.drop("flag").to_arrow())
        with pytest.raises(sl.InputError, match=message):
            sl.tally(native)


def test_rows_are_named_where_they_have_an_order() -> None:
    frame = BROKEN["a sample twice"][0]
    with pytest.raises(sl.InputError, match=r"row 2: column 'sample' is 0 again .*already in .*row 1"):
        sl.tally(frame.to_pandas())
    with pytest.raises(sl.InputError, match="holds a number twice"):
        sl.tally(to_duckdb(frame))


def test_only_counts_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.concat([SMALL.with_columns(sample=pl.col("sample") + 2 * i) for i in range(500)])
    sizes: list[int] = []
    real = engines.to_polars

    def spy(query: Any, name: str) -> pl.DataFrame:
        sizes.append((got := real(query, name)).height)
        return got

    monkeypatch.setattr(engines, "to_polars", spy)
    tally = sl.tally(to_duckdb(frame))
    assert int(tally.votes.sum()) == frame.height
    assert max(sizes) <= 5


@given(numbers=st.lists(st.integers(-2, 12), min_size=1, max_size=14))
@example([1, 1, 2, 2, 3, 6])  # The squares of these add up to those of 0 to 5.
def test_a_repeated_number_is_always_found(numbers: list[int]) -> None:
    frame = pl.DataFrame({"question": "q", "model": "m", "answer": "A", "gold": "A", "sample": numbers})
    if len(set(numbers)) == len(numbers):
        assert sl.tally(frame).votes.tolist() == [[len(numbers)]]
        return
    with pytest.raises(sl.InputError, match="again for question 'q'"):
        sl.tally(frame)


def mark(number: int) -> int:
    """The mark of a sample number, in Python's whole numbers."""
    low, high = number % 2**31, (number >> 31) % 2**33
    mixed = (low * 1_103_515_245 + high * 715_827_881 + 12_345) % (2**31 + 11)
    return int(pow(mixed, 2) % (2**31 - 1)) ** 2


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 40) | st.integers(2**31 - 3, 2**31 + 3)


@pytest.mark.parametrize("engine", [to_duckdb, to_dask])
@given(numbers=st.lists(NUMBERS, min_size=1, max_size=30))
@settings(max_examples=8, deadline=None)
def test_marks_add_up_to_the_same_in_every_engine(engine: Callable[[Frame], Any], numbers: list[int]) -> None:
    expected = sum(map(mark, numbers)) % 2**64
    frame = pl.DataFrame(
        {"question": "q", "model": "m", "answer": "A", "gold": "A", "sample": pl.Series(numbers, dtype=pl.Int64)}
    )
    assert engines.count_polars(frame.lazy()).collect()[engines.MARK].to_list() == [expected]
    assert engines.count_foreign(engine(frame), "votes")[engines.MARK].to_list() == [expected]
    assert engines.marks_of(frame["sample"].to_numpy()).tolist() == [mark(number) for number in numbers]


@pytest.mark.parametrize(("size", "numbers"), [(8, 15), (2, 400), (18, 7), (4, 40)])
def test_no_two_sets_of_sample_numbers_have_the_same_marks(size: int, numbers: int) -> None:
    """Of all ways to choose `size` numbers with repeats: up to 10^11 pairs, of which chance alone would mix up none."""
    sums = {0: np.zeros(1, dtype=np.uint64)}
    for one in engines.marks_of(np.arange(numbers)):
        longer: dict[int, list[Any]] = {}
        for chosen, found in sums.items():
            for times in range(size - chosen + 1):
                longer.setdefault(chosen + times, []).append(found + np.array([times], dtype=np.uint64) * one)
        sums = {chosen: np.concatenate(parts) for chosen, parts in longer.items()}
    assert len(np.unique(sums[size])) == len(sums[size]) == math.comb(size + numbers - 1, size)


def test_what_is_no_dataframe_is_refused() -> None:
    with pytest.raises(sl.InputError, match="is not a dataframe"):
        sl.tally(42)
