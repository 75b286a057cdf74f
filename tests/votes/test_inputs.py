"""Votes in any form: every public function takes the same kinds of votes, and says so where it is given none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.report import document

A, B = "gpt-4", "mistral-large"

TAKES_COUNTS: dict[str, Callable[[Any], Any]] = {
    "tally": lambda votes: sl.tally(votes).models,
    "summary": lambda votes: sl.summary(votes)[0].plurality,
    "pair": lambda votes: sl.pair(votes, A, B).masses,
    "pairs": lambda votes: [pair.masses for pair in sl.pairs(votes)],
    "curve": lambda votes: sl.curve(votes, A, B).to_dict(),
    "curves": lambda votes: next(sl.law.curves(votes)).to_dict(),
    "outcomes": lambda votes: next(sl.law.outcomes(votes))[1],
    "panel": lambda votes: sl.panel(votes, [A, B]).at([1, "2/3"]).to_dict(),
    "best_panels": lambda votes: sl.panels.best_panels(votes, 2, top=1).panels[0].best,
    "fleet_optimum": lambda votes: sl.panels.fleet_optimum(votes, work=0).accuracy,
    "intervals": lambda votes: sl.intervals(votes, quantities=["lift"]).of(A, B),
    "resampler": lambda votes: sl.evidence.resampler(votes).to_dict(),
    "resampling_units": lambda votes: sl.evidence.resampling_units(votes).count,
    "effective_votes": lambda votes: sl.evidence.effective_votes(votes).to_dict(),
    "calibrate": lambda votes: sl.calibrate(votes, replicates=10).to_dict(),
    "screen": lambda votes: sl.screen(votes, rule="margin").to_dict(),
    "front": lambda votes: sl.front(votes, models=[A, B], repeats=1).to_dict(),
    "compare": lambda votes: sl.compare(votes, [A, B]).to_dict(),
    "combine": lambda votes: sl.combine(votes, rules=["equal"], models=[A, B], repeats=1).to_dict(),
    "recommend": lambda votes: sl.recommend(votes, models=[A, B], repeats=1).verdict,
    "fingerprint_of": lambda votes: sl.votes.fingerprint_of(votes),
}
"""Public functions of votes; each reduced to something that can be compared."""

TAKES_VOTES: dict[str, Callable[[Any], Any]] = {
    "position_bias": lambda votes: sl.votes.position_bias(votes, "votes"),
    "document": document,
}
"""Those that need more than counts."""

READS: dict[str, Callable[[Any], Any]] = {"read_votes": sl.read_votes, "import_votes": sl.import_votes}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return sl.demo_votes().frame.select("question", "model", "answer", "gold", "cluster").collect()


@pytest.mark.parametrize("name", TAKES_COUNTS)
def test_every_function_takes_votes_in_any_form(name: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    frame.write_csv(file)
    of = TAKES_COUNTS[name]
    expected = of(sl.votes_from(frame).tally())
    for votes in (sl.votes_from(frame), frame.to_pandas(), frame.lazy()):
        assert of(votes) == expected
    # The dataset of a file is named by the file: `votes`, as that of a dataframe.
    for votes in (file, str(file), [file]):
        assert of(votes) == expected


NONSENSE = {
    "nothing": None,
    "a number": 5,
    "a list of numbers": [5],
    "rows": [{"question": "1"}],
    "an empty list": [],
    "an empty path": "",
    "no such file": "/no/such/file.csv",
    "a frame without columns": pl.DataFrame(),
    "columns without votes": pl.DataFrame(schema=["question", "model", "answer", "gold"]),
    "an empty pandas frame": pd.DataFrame(),
    "a series": pl.Series(["a"]),
    "bytes": b"votes.csv",
}


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("name", [*TAKES_COUNTS, *TAKES_VOTES, *READS])
def test_nonsense_is_refused_in_one_line(name: str, nonsense: str) -> None:
    with pytest.raises(sl.InputError) as refused:
        (TAKES_COUNTS | TAKES_VOTES | READS)[name](NONSENSE[nonsense])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", READS)
def test_dataframes_are_read_too(name: str, frame: pl.DataFrame) -> None:
    for votes in (frame, frame.to_pandas(), frame.to_arrow(), frame.to_dict()):
        read = READS[name](votes)
        assert set(getattr(read, "votes", read).tally().models) == set(frame["model"])


def test_counts_do_not_stand_in_for_votes(frame: pl.DataFrame) -> None:
    for of in TAKES_VOTES.values():
        with pytest.raises(sl.InputError, match="pass the votes that it was counted from"):
            of(sl.tally(frame))
