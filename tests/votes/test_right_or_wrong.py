"""Votes that only say right or wrong: what they allow is done, and everything that pools them is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.front import front
from swaplaw.panels import best_panels, fleet_optimum

from support.commands import Run

MODELS = ("a", "b", "c")
PATTERN = ("TTT", "TFT", "FTT", "FFT", "TTF", "FTF", "TFF", "FFF")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "grades.csv"
    rows = [
        f"q{number},{model},{grade == 'T'}"
        for number, grades in enumerate(PATTERN * 3)
        for model, grade in zip(MODELS, grades, strict=True)
    ]
    file.write_text("question,model,correct\n" + "\n".join(rows) + "\n")
    return file


POOLING: dict[str, Callable[[sl.Tally], Any]] = {
    "pair at a weight": lambda tally: sl.pair(tally, "a", "b").at("2/3"),
    "changes": lambda tally: sl.pair(tally, "a", "b").changes("2/3"),
    "curve": lambda tally: sl.curve(tally, "a", "b").best_lift,
    "outcomes": lambda tally: list(sl.law.outcomes(tally, "2/3")),
    "curves": lambda tally: list(sl.law.curves(tally)),
    "panel": lambda tally: sl.panel(tally, list(MODELS)).at([1, 1, 1]),
    "best panels": lambda tally: best_panels(tally),
    "fleet": lambda tally: fleet_optimum(tally),
    "intervals": lambda tally: sl.intervals(tally, "2/3"),
    "calibrate": lambda tally: sl.calibrate(tally, replicates=20),
    "predictors": lambda tally: sl.predictors(tally),
    "screen by margins": lambda tally: sl.screen(tally, rule="margin"),
    "combine": lambda tally: sl.combine(tally),
    "recommend": lambda tally: sl.recommend(tally),
    "front": lambda tally: front(tally),
}


@pytest.mark.filterwarnings("ignore::swaplaw.errors.StatisticalWarning")
@pytest.mark.parametrize("pooled", POOLING.values(), ids=POOLING)
def test_everything_that_pools_is_refused(table: Path, pooled: Callable[[sl.Tally], Any]) -> None:
    with pytest.raises(sl.InputError, match="only say right or wrong, and pooling needs the answers"):
        pooled(sl.tally(table))


def test_masses_correlation_ceilings_and_comparisons_need_no_answers(table: Path) -> None:
    tally = sl.tally(table)
    masses = sl.pair(tally, "a", "b").masses
    assert (masses.p, masses.q, masses.rescue, masses.damage) == tuple([Fraction(1, 2)] * 2 + [Fraction(1, 4)] * 2)
    assert masses.phi_adj == 0
    assert masses.ceiling == Fraction(1, 2)
    assert [entry.plurality for entry in sl.summary(tally)] == [Fraction(1, 2)] * 3
    assert len(sl.compare(tally).comparisons) == 3


def test_s_hat_is_the_same_as_with_answers(tmp_path: Path) -> None:
    law = sl.calibrate(sl.demo_votes(), replicates=20)
    frame = sl.demo_votes().frame.group_by("question", "model").first().sort("question", "model").collect()
    right = (pl.col("answer") == pl.col("gold")).fill_null(value=False)
    frame.select("question", "model", right.alias("correct")).write_csv(tmp_path / "grades.csv")
    answers = sl.votes_from(frame.select("question", "model", "answer", "gold"))
    only = sl.screen(sl.read_votes(tmp_path / "grades.csv"), law)
    assert only.to_frame().rows() == sl.screen(answers, law).to_frame().rows()


def test_the_commands_say_what_is_possible(swaplaw: Run, table: Path) -> None:
    pairs = json.loads(swaplaw("pairs", table, "--json").out)["pairs"]
    assert [(pair["rescue"], pair["phi_adj"], pair["lift"]) for pair in pairs] == [(0.25, 0.0, None)] * 3
    refused = swaplaw("curve", table, "--primary", "a", "--secondary", "b")
    assert refused.code == 2
    assert "you can still use: summary, pairs, screen, compare" in refused.err
