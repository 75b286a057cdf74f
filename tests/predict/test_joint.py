"""The joint law against pooled votes and its own definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.predict.laws import alike, joint_influence


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("x", ["1/3", "2/3", "1", "7/4"])
def test_between_two_options_it_is_the_pooled_vote(seed: int, x: str) -> None:
    """With one rival at most there is nothing left to chance."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{question}", model, sample, answer, "A")
        for question in range(12)
        for model, samples in (("aa", 1 + seed), ("bb", 4))
        for sample, answer in enumerate(rng.choice(["A", "B"], samples))
    ]
    table = pl.DataFrame(rows, schema=["question", "model", "sample", "answer", "gold"], orient="row")
    pair = sl.pair(sl.votes_from(table), "aa", "bb")
    assert joint_influence(alike(pair), Fraction(x)).value == pytest.approx(float(pair.at(x).lift), abs=1e-12)


def test_influences_are_derivatives() -> None:
    """Dropping a question moves the value as its influence says, to first order."""
    tally = sl.demo_votes().tally()
    pair = sl.pair(tally, "gpt-4", "mistral-large")
    found = joint_influence(alike(pair), Fraction(2, 3))
    assert found.slope.sum() == pytest.approx(0, abs=1e-12)
    for question in (3, 40, 77):
        kept = np.arange(len(tally.questions)) != question
        without_it = sl.pair(tally.select(questions=kept), "gpt-4", "mistral-large")
        without = joint_influence(alike(without_it), Fraction(2, 3))
        assert without.value - found.value == pytest.approx(-found.slope[question], abs=1e-3)


def test_it_ranks_the_demo_better_than_the_shares_law() -> None:
    table = {each.name: each.rho.value or 0.0 for each in sl.predictors(sl.demo_votes()).predictors}
    assert table["joint"] > table["shares"] > 0.75
