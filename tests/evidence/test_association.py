"""Correlations against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from swaplaw._arrays import Floats, Ints
from swaplaw.evidence.association import (
    average_ranks,
    count,
    mean,
    over_models,
    r2,
    rho,
    rmse,
    slope,
)

numbers = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(float("nan"))), min_size=3, max_size=12)


@given(x=numbers, data=st.data())
def test_correlations_are_scipys_on_the_pairs_that_define_both(x: list[float], data: st.DataObject) -> None:
    y = data.draw(st.lists(st.integers(-4, 4).map(float), min_size=len(x), max_size=len(x)))
    u, v = np.array([x, x]), np.array([y, y[::-1]])
    for row in range(2):
        kept = ~np.isnan(u[row])
        a, b = u[row][kept], v[row][kept]
        if len(set(a)) < 2 or len(set(b)) < 2:
            assert np.isnan(r2(u, v)[row])
            assert np.isnan(rho(u, v)[row])
        else:
            assert r2(u, v)[row] == pytest.approx(scipy.stats.pearsonr(a, b).statistic ** 2, abs=1e-9)
            assert rho(u, v)[row] == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-9)
        if len(a):
            assert mean(u)[row] == pytest.approx(a.mean())
            assert rmse(u, v)[row] == pytest.approx(np.sqrt(((a - b) ** 2).mean()))
        if len(a) and (a != 0).any():
            assert slope(u, v)[row] == pytest.approx(np.linalg.lstsq(a[:, None], b)[0][0], abs=1e-9)
        assert count(u)[row] == len(a)


@given(x=numbers)
def test_average_ranks_are_scipys(x: list[float]) -> None:
    values = np.array(x)
    kept = ~np.isnan(values)
    ranks = average_ranks(values)
    assert np.isnan(ranks[~kept]).all()
    np.testing.assert_array_equal(ranks[kept] + 1, scipy.stats.rankdata(values[kept]))


def test_numbers_that_never_vary_have_no_correlation() -> None:
    """0.1 cannot be averaged exactly: what is left after centring must still count as nothing."""
    x, y = np.full(36, 0.1), np.arange(36.0)
    assert np.isnan(r2(x, y))
    assert np.isnan(rho(x, y))


def test_numbers_that_differ_by_rounding_share_a_rank() -> None:
    """Equal values of phi come out a bit apart where the masses behind them differ; that must not order them."""
    third = 1 / 3
    values = np.array([third, np.nextafter(third, 1), 0.5, np.nextafter(third, 0)])
    np.testing.assert_array_equal(average_ranks(values), [1, 1, 3, 1])
    np.testing.assert_array_equal(average_ranks(np.array([1e-6, 2e-6, 0.9])), [0, 1, 2])
    np.testing.assert_array_equal(average_ranks(np.zeros(3)), [1, 1, 1])


def population(kind: int, models: int, source: np.random.Generator) -> tuple[Floats, Floats, Ints, Ints]:
    """A predictor and lift of all pairs of models that are drawn from one population."""
    skill, style = source.normal(size=models), source.normal(size=(models, 2))
    i, j = np.triu_indices(models, 1)
    gap, apart = np.abs(skill[i] - skill[j]), ((style[i] - style[j]) ** 2).sum(axis=1)
    noise, other = source.normal(size=(2, len(i)))
    lift, predictor = {
        "distance": (apart - gap + noise, apart + 0.5 * other),
        "gap": (noise - gap, 0.5 * other - gap - 0.5 * skill[i]),
        "unrelated": (noise + 0.3 * (skill[i] + skill[j]), other + style[i, 0] + style[j, 0]),
        "models": (skill[i] + skill[j] + 0.2 * noise + style[i, 0] + style[j, 0], skill[i] + skill[j] - 0.6 * gap),
    }[KINDS[kind]]
    return predictor, lift, i, j


KINDS = ("distance", "gap", "unrelated", "models")


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
@pytest.mark.parametrize("models", [6, 9, pytest.param(15, marks=pytest.mark.slow)])
def test_intervals_over_models_cover_the_populations_rho(kind: int, models: int) -> None:
    large = [population(kind, 200, np.random.default_rng(seed)) for seed in range(8)]
    truth = np.mean([rho(x, y) for x, y, _, _ in large])
    source = np.random.default_rng(models)
    worlds = 400
    ends = [over_models(*population(kind, models, source))[1:3] for _ in range(worlds)]
    covered = np.mean([low <= truth <= high for low, high in ends])
    assert 0.89 <= covered <= 0.99  # 90 to 98%, give or take what 400 worlds can tell


def test_few_models_have_no_interval_over_models() -> None:
    x, y, i, j = population(0, 5, np.random.default_rng(0))
    whole, low, high, without = over_models(x, y, i, j)
    assert whole == pytest.approx(float(rho(x, y)))
    assert np.isnan([low, high]).all()
    assert len(without) == 5
    assert without[0] == pytest.approx(float(rho(x[4:], y[4:])))


def test_samples_are_averaged_over_models() -> None:
    x, y, i, j = population(0, 8, np.random.default_rng(1))
    other = np.random.default_rng(2).normal(size=len(x))
    whole, low, high, without = over_models(np.stack([x, other]), np.stack([y, y]), i, j)
    assert whole == pytest.approx((float(rho(x, y)) + float(rho(other, y))) / 2)
    assert low < whole < high
    kept = (i != 0) & (j != 0)
    assert without[0] == pytest.approx((float(rho(x[kept], y[kept])) + float(rho(other[kept], y[kept]))) / 2)
