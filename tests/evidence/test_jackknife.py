"""The jackknife: parts of whole units, its textbook cases, and intervals that hold the truth on fresh worlds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw._arrays import Floats, Ints
from swaplaw.evidence import Units, parts_of
from swaplaw.evidence.jackknife import dealt, jackknife
from swaplaw.evidence.resample import BLOCK, Resampler
from swaplaw.predict.calibrate import AT_WEIGHT


def fleet(questions: int, models: int, rng: np.random.Generator, clusters: int = 0) -> pl.DataFrame:
    """Models that find the same questions hard and fall for the same wrong answers, eight votes each."""
    skill = np.random.default_rng(77).normal(0.3, 0.6, models)
    chance = 1 / (
        1 + np.exp(-skill[:, None] + rng.normal(0, 1.3, questions) - 0.9 * rng.normal(size=(models, questions)))
    )
    lure = 0.6 * rng.dirichlet([0.7] * 3, questions) + 0.4 * rng.dirichlet([0.7] * 3, (models, questions))
    votes = rng.multinomial(8, np.concatenate([chance[..., None], (1 - chance)[..., None] * lure], axis=2))
    model, question, answer = (np.repeat(place, votes[votes > 0]) for place in np.nonzero(votes))
    frame = pl.DataFrame({"question": question, "model": model, "answer": answer}).with_columns(
        pl.col("question").cast(pl.String).str.zfill(6),
        pl.format("m{}", pl.col("model").cast(pl.String).str.zfill(2)).alias("model"),
        pl.col("answer").cast(pl.String),
        gold=pl.lit("0"),
        dataset=pl.lit("world"),
    )
    return frame if not clusters else frame.with_columns(cluster=pl.col("question").str.slice(-1))


@given(st.integers(2, 300), st.integers(2, 250), st.integers(0, 3))
def test_units_are_dealt_whole_into_parts_of_equal_size(units: int, replicates: int, seed: int) -> None:
    member = np.repeat(np.arange(units), 2)
    parts = dealt(Units(member, "cluster"), seed, replicates)
    assert parts.replicates == min(units, replicates, 200)
    assert (parts.member[::2] == parts.member[1::2]).all()
    sizes = np.bincount(parts.member[::2], minlength=parts.replicates)
    assert sizes.max() - sizes.min() <= 1
    assert parts.to_dict() == {"unit": "cluster", "units": units, "replicates": parts.replicates, "seed": seed}
    values = np.random.default_rng(seed).random((3, 2 * units))
    sums = parts.sums(values)
    for part, own in enumerate(parts.questions):
        assert sums[part] == pytest.approx(values[:, own].sum(axis=1))
    here, there = parts.halves()
    assert (here + there == 1).all()
    assert (here.sum(axis=1) == parts.replicates // 2).all()


def test_the_same_seed_deals_the_same_parts() -> None:
    one, same, other = (parts_of(sl.demo_votes(), by="question", seed=seed).member for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_the_interval_of_a_mean_is_students() -> None:
    """With every unit a part of its own, the jackknife of a mean is the textbook's interval."""
    values = np.random.default_rng(0).normal(size=30)
    sums = np.stack([values, np.ones(30)], axis=1)
    found = jackknife(sums, lambda each: each[:, :1] / each[:, 1:], level=0.9)[0].interval
    assert found is not None
    ends = scipy.stats.t.interval(0.9, 29, values.mean(), scipy.stats.sem(values))
    assert (found.low, found.high) == pytest.approx(ends)
    assert (found.level, found.method) == (0.9, "jackknife")


def test_what_noise_inflates_is_centred_on_what_is_left() -> None:
    """The square of a mean is too large by the variance of the mean; the jackknife takes exactly that off."""
    values = np.random.default_rng(1).normal(0.2, 1, 40)
    sums = np.stack([values, np.ones(40)], axis=1)

    def square(each: Floats) -> Floats:
        return (each[:, :1] / each[:, 1:]) ** 2

    plain, centred = (jackknife(sums, square, inflated=which)[0].interval for which in (False, True))
    assert plain is not None
    assert centred is not None
    assert plain.low + plain.high == pytest.approx(2 * values.mean() ** 2)
    assert (centred.low + centred.high) / 2 == pytest.approx(values.mean() ** 2 - values.var(ddof=1) / 40, abs=1e-3)


def test_ends_stay_where_numbers_can_be_and_undefined_ones_have_none() -> None:
    sums = np.array([[9.0, 10], [10, 10], [10, 10], [0, 0]])
    found = jackknife(sums, lambda each: np.concatenate([each[:, :1] / each[:, 1:]] * 2, axis=1), most=1.0)
    assert found[0].interval is not None
    assert found[0].interval.high == 1
    lone = np.array([[1.0, 1], [0, 0], [0, 0]])
    with np.errstate(invalid="ignore"):
        rested = jackknife(lone, lambda each: each[:, :1] / each[:, 1:])[0]
    assert (rested.value, rested.interval, rested.undefined) == (1, None, 1)
    assert rested.to_dict() == {"value": 1, "interval": None, "undefined": 1}


def test_what_cannot_be_dealt_is_refused() -> None:
    for options, words in (({"replicates": 1}, "1 parts cannot be left out"), ({"seed": -1}, "seed -1 is negative")):
        with pytest.raises(sl.InputError, match=words):
            parts_of(sl.demo_votes(), **options)  # type: ignore[arg-type]
    with pytest.raises(sl.InputError, match="a single question"):
        parts_of(sl.tally(fleet(1, 2, np.random.default_rng(0))))


@pytest.mark.parametrize(("questions", "clusters"), [(200, 0), pytest.param(400, 10, marks=pytest.mark.slow)])
def test_intervals_of_calibration_hold_the_truth_of_fresh_worlds(questions: int, clusters: int) -> None:
    """Where bootstrap intervals of spread, R2 and RMSE held it hardly ever."""
    large = sl.calibrate(fleet(15_000, 7, np.random.default_rng(10**6)), replicates=2)
    truth = {"alpha": large.alpha, "gamma": large.gamma, "lambda": large.slope} | {
        name: large.fit[name] for name in ("r2", "rho", "rmse")
    }
    truth |= {f"residual_at_weight_{name}": large.residual["at_weight"][name] for name in ("mean", "sd")}
    held, worlds = dict.fromkeys(truth, 0), 40
    for seed in range(worlds):
        found = sl.calibrate(fleet(questions, 7, np.random.default_rng(seed), clusters)).intervals
        for name, value in truth.items():
            ends = found[name]
            assert ends is not None
            held[name] += ends.low <= value <= ends.high
    assert set(truth) == set(AT_WEIGHT)
    assert min(held.values()) >= 0.8 * worlds
    assert sum(held.values()) >= 0.9 * worlds * len(held)


def test_draws_are_whole_and_more_of_them_begin_with_the_same() -> None:
    def drawn(seed: int, replicates: int) -> Ints:
        return np.concatenate(list(Resampler(np.arange(17), "question", seed, replicates).batches()))

    counts = drawn(5, 300)
    assert counts.shape == (300, 17)
    assert (counts.sum(axis=1) == 17).all()
    assert (drawn(5, BLOCK + 1) == counts[: BLOCK + 1]).all()
    assert (drawn(6, 300) != counts).any()
    # Every unit is equally likely: 300 x 17 draws, five standard deviations.
    assert np.abs(counts.sum(axis=0) - 300).max() < 5 * np.sqrt(300)
