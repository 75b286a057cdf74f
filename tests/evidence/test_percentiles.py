"""Intervals against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from swaplaw.errors import InputError
from swaplaw.evidence.percentiles import Interval, as_interval, bounds


def test_percentile_is_numpys_quantile() -> None:
    replicates = np.random.default_rng(0).normal(size=(3, 2, 501))
    low, high = bounds(replicates, units=50, level=0.9, method="percentile")
    np.testing.assert_allclose(low, np.quantile(replicates, 0.05, axis=-1))
    np.testing.assert_allclose(high, np.quantile(replicates, 0.95, axis=-1))


def test_bca_is_scipys() -> None:
    rng = np.random.default_rng(1)
    data = rng.exponential(size=60)
    theirs = scipy.stats.bootstrap((data,), np.mean, n_resamples=2000, method="BCa", rng=2)
    jackknife = (data.sum() - data) / 59
    low, high = bounds(
        theirs.bootstrap_distribution, units=60, method="bca", estimate=np.array(data.mean()), jackknife=jackknife
    )
    assert float(low) == pytest.approx(theirs.confidence_interval.low, rel=1e-3)
    assert float(high) == pytest.approx(theirs.confidence_interval.high, rel=1e-3)


def test_bca_of_one_sided_and_constant_replicates_is_finite() -> None:
    replicates = np.stack([np.linspace(1, 2, 100), np.full(100, 3.0)])
    low, high = bounds(
        replicates, units=10, method="bca", estimate=np.array([0.0, 3.0]), jackknife=np.full((2, 10), 3.0)
    )
    assert np.isfinite([low, high]).all()
    assert (low[1], high[1]) == (3, 3)


def test_expanded_is_wider_for_few_units_and_the_same_for_many() -> None:
    replicates = np.random.default_rng(0).normal(size=20_001)
    plain = np.diff(bounds(replicates, units=10, method="percentile"))
    few = np.diff(bounds(replicates, units=10))
    many = np.diff(bounds(replicates, units=100_000))
    assert few / plain == pytest.approx(scipy.stats.t.isf(0.025, 9) * np.sqrt(10 / 9) / 1.96, rel=0.05)
    assert many / plain == pytest.approx(1, rel=1e-3)


def test_undefined_replicates_are_left_out() -> None:
    replicates = np.full(100, np.nan)
    replicates[::2] = np.arange(50.0)
    low, high = bounds(replicates, units=1000, method="percentile")
    assert (low, high) == pytest.approx((np.quantile(np.arange(50), 0.025), np.quantile(np.arange(50), 0.975)))
    nothing = bounds(np.full(10, np.nan), units=10)
    assert as_interval(float(nothing[0]), float(nothing[1]), 0.95, "expanded") is None


def test_intervals_know_what_they_hold() -> None:
    interval = Interval(-0.1, 0.2, 0.95, "bca")
    assert 0.0 in interval
    assert 0.3 not in interval
    assert interval.to_dict() == {"low": -0.1, "high": 0.2, "level": 0.95, "method": "bca"}


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match=r"level 95 is not between 0 and 1"):
        bounds(np.arange(10.0), units=10, level=95)
    with pytest.raises(InputError, match="no interval method 'guess'"):
        bounds(np.arange(10.0), units=10, method="guess")  # type: ignore[arg-type]
