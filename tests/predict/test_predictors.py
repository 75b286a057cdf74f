"""The table of predictors on real votes, and its transfer to other real votes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats

import swaplaw as sl
from swaplaw.predict.agreement import agreement_sums, kappa_p
from swaplaw.predict.laws import alike
from swaplaw.predict.predictors import LAWS, MEANING, register


@pytest.fixture(scope="module")
def in_sample() -> sl.predict.Predictors:
    return sl.predictors(sl.demo_votes().tally())


@pytest.mark.parametrize(
    ("name", "rho", "r2"),
    [
        ("predicted", 0.45, None),
        ("phi", 0.12, None),
        ("rescue", 0.49, 0.28),
        ("gap", -0.46, None),
        ("phi_adj", -0.31, None),
    ],
)
def test_the_bundled_votes_give_the_figures_computed_independently(
    in_sample: sl.predict.Predictors, name: str, rho: float, r2: float | None
) -> None:
    row = {row.name: row for row in in_sample.predictors}[name]
    assert row.rho.value == pytest.approx(rho, abs=5e-3)
    assert r2 is None or row.r2.value == pytest.approx(r2, abs=5e-3)
    assert row.rho.interval is not None
    assert row.rho.value is not None
    assert row.rho.interval.low < row.rho.value < row.rho.interval.high


def test_correlations_are_scipys_of_the_exact_law(in_sample: sl.predict.Predictors) -> None:
    outcomes = [pair.at("2/3") for pair in sl.pairs(sl.demo_votes().tally())]
    lift = [float(outcome.lift) for outcome in outcomes]
    rows = {row.name: row for row in in_sample.predictors}
    for name in ("rescue", "collective", "gap", "phi_adj", "phi"):
        values = [float(getattr(outcome.masses, name)) for outcome in outcomes]
        assert rows[name].rho.value == pytest.approx(scipy.stats.spearmanr(values, lift).statistic, abs=1e-12)
        assert rows[name].r2.value == pytest.approx(scipy.stats.pearsonr(values, lift).statistic ** 2, abs=1e-12)
    swap = [float(outcome.swap) for outcome in outcomes]
    assert rows["swap"].rho.value == pytest.approx(scipy.stats.spearmanr(swap, lift).statistic, abs=1e-12)


def test_names_and_order_are_fixed(in_sample: sl.predict.Predictors) -> None:
    assert [row.name for row in in_sample.predictors] == list(MEANING)
    assert list(MEANING)[:7] == ["swap", "predicted", "rescue", "collective", "gap", "phi_adj", "phi"]
    assert in_sample.to_dict()["predictors"][0]["n"] == 36


def test_pairs_that_define_nothing_are_left_out_and_counted() -> None:
    """A model that is never right has no phi with anyone."""
    frame = sl.demo_votes().frame.collect()
    hopeless = frame.filter(pl.col("model") == "gpt-4").with_columns(
        model=pl.lit("hopeless"), answer=pl.lit(None, dtype=pl.String)
    )
    tally = sl.votes_from(pl.concat([frame, hopeless])).tally()
    rows = {row.name: row.n for row in sl.predictors(tally).predictors}
    assert (rows["swap"], rows["phi"], rows["phi_adj"], rows["predicted"]) == (45, 36, 36, 45)


def test_equal_lifts_have_no_predictor_and_that_is_said() -> None:
    """One vote a question: below weight 1 the primary always has its way."""
    frame = sl.demo_votes().frame.collect().unique(["question", "model"], keep="first", maintain_order=True)
    tally = sl.votes_from(frame).tally()
    with pytest.warns(sl.errors.StatisticalWarning, match="all 36 pairs have the same lift at weight 2/3"):
        found = sl.predictors(tally)
    assert all(row.rho.value is None for row in found.predictors)
    assert found.baseline_rmse.value == 0


def test_the_law_transfers_from_exams_to_free_text(shared_votes: Path) -> None:
    law = sl.calibrate(sl.demo_votes().tally())
    tally = sl.read_votes(shared_votes / "reasoning-gym.parquet").tally()
    tally = tally.select(models=[model for model in tally.models if model != "llama-4-scout"])
    assert len(tally.models) == 9
    found = sl.predictors(tally, law)
    rows = {row.name: row for row in found.predictors}
    assert (found.pairs, found.alpha, found.calibrated_on) == (36, law.alpha, "renze-temperature")
    assert rows["predicted"].rho.value == pytest.approx(0.85, abs=0.01)
    assert rows["swap"].r2.value == pytest.approx(0.99, abs=0.01)
    outcomes = [pair.at("2/3") for pair in sl.pairs(tally)]
    lift = np.array([float(outcome.lift) for outcome in outcomes])
    predicted = [float((law.alpha - law.gamma) * o.masses.rescue - law.gamma * o.masses.gap) for o in outcomes]
    assert found.rmse.value == pytest.approx(np.sqrt(((lift - predicted) ** 2).mean()), abs=1e-12)
    assert found.baseline_rmse.value == pytest.approx(np.sqrt((lift**2).mean()), abs=1e-12)


def test_each_predictor_says_how_sure_it_is(in_sample: sl.predict.Predictors) -> None:
    rows = {row["name"]: row for row in in_sample.to_dict()["predictors"]}
    assert {"margin", "shares", "kappa_p", "same_wrong", "effective_votes"} <= set(rows)
    for row in rows.values():
        for ends in (row["rho_interval"], row["model_interval"], row["without_one"]):
            assert -1 <= ends[0] <= row["rho"] <= ends[1] <= 1
        assert 0 <= row["r2_interval"][0] <= row["r2_interval"][1] <= 1
    swap = rows["swap"]
    assert swap["rho"] > 0.95
    assert swap["rho_split"] < 0.5  # 50 questions say little about the other 50


def test_predictors_from_votes_are_those_of_each_pair(in_sample: sl.predict.Predictors) -> None:
    chosen = list(sl.pairs(sl.demo_votes().tally()))
    lift = [float(pair.at("2/3").lift) for pair in chosen]
    rows = {row.name: row for row in in_sample.predictors}
    for name, law in LAWS.items():
        values = [law(alike(pair), Fraction(2, 3)).value for pair in chosen]
        assert rows[name].rho.value == pytest.approx(scipy.stats.spearmanr(values, lift).statistic, abs=1e-9)
        assert rows[name].r2.value == pytest.approx(scipy.stats.pearsonr(values, lift).statistic ** 2, abs=1e-9)
    phi = [float(pair.masses.phi or 0) for pair in chosen]
    kish = [(5 / 3) ** 2 / (1 + 4 / 9 + 4 / 3 * each) for each in phi]
    assert rows["effective_votes"].r2.value == pytest.approx(scipy.stats.pearsonr(kish, lift).statistic ** 2, abs=1e-9)


def test_a_registered_predictor_cannot_take_a_law_s_name() -> None:
    with pytest.raises(sl.InputError, match="there is a predictor 'shares' already"):
        register("shares", lambda found: found.rescue)


def test_half_of_the_questions_predicts_the_other_half() -> None:
    """Split-half rho by hand, from tallies of the halves; what laws say of a half is known to first order."""
    tally = sl.demo_votes().tally()
    parts = sl.evidence.parts_of(tally)
    here, _ = parts.halves()
    expected: dict[str, list[float]] = {"rescue": [], "kappa_p": [], "predicted": []}
    chosen = [(pair.primary, pair.secondary) for pair in sl.pairs(tally)]
    for taken in here[:3]:
        first, second = (
            tally.select(questions=np.isin(parts.member, np.flatnonzero(taken == each))) for each in (1, 0)
        )
        lift = [float(sl.pair(second, *names).at("2/3").lift) for names in chosen]
        half = [sl.pair(first, *names) for names in chosen]
        expected["rescue"].append(scipy.stats.spearmanr([float(p.masses.rescue) for p in half], lift).statistic)
        agreed = kappa_p(agreement_sums(half))[0]
        expected["kappa_p"].append(scipy.stats.spearmanr(agreed, lift).statistic)
        at = [pair.at("2/3") for pair in half]
        alpha, gamma = (np.mean([getattr(o, n) for o in at if getattr(o, n) is not None]) for n in ("alpha", "gamma"))
        told = [float((alpha - gamma) * o.masses.rescue - gamma * o.masses.gap) for o in at]
        expected["predicted"].append(scipy.stats.spearmanr(told, lift).statistic)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swaplaw.evidence.jackknife.SPLITS", 3)
        rows = {row.name: row.split for row in sl.predictors(tally).predictors}
    for name, values in expected.items():
        assert rows[name] == pytest.approx(np.mean(values), abs=1e-9)
