"""Correlations against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.evidence.association import average_ranks, count, mean, r2, rho, rmse, slope

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
