"""The luck of the best single model, beside a plain loop; and an interval that allows for any part of it."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import mean, pstdev, pvariance

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.decide.luck import critical_with_bias, luck_of
from swaplaw.evidence.interval import critical_of, student
from swaplaw.evidence.resample import Resampler


@given(st.integers(0, 10_000), st.integers(20, 60), st.sampled_from([1, 3]), st.floats(0, 0.3))
def test_luck_and_noise_are_those_of_a_plain_loop_over_draws(
    seed: int, questions: int, per_unit: int, error: float
) -> None:
    rng = np.random.default_rng(seed)
    gains = rng.choice([-1.0, 0.0, 0.5, 1.0], p=[0.1, 0.7, 0.1, 0.1], size=questions)
    singles = rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.7, 0.1], size=(4, questions))
    singles[0] = 0
    member = np.arange(questions) // per_unit
    draws = Resampler(member, "question" if per_unit == 1 else "cluster", seed, 64)
    units = int(member.max()) + 1
    wider = sqrt(units / (units - 1))

    def noise(row: np.ndarray) -> list[float]:
        own = sum(map(Fraction, row)) / questions
        drawn = draws.weights(0, 64).tolist()
        totals = (sum(Fraction(x) * times for x, times in zip(row, each, strict=True)) / sum(each) for each in drawn)
        return [float(total - own) * wider for total in totals]

    rows = [noise(row) for row in singles]
    deficits = [
        float(row.mean()) if row.mean() < -critical_of(member) * pstdev(own) else 0.0
        for row, own in zip(singles, rows, strict=True)
    ]
    best = [max(own + deficit for own, deficit in zip(each, deficits, strict=True)) for each in zip(*rows, strict=True)]
    counts = draws.all_counts()
    found = luck_of(singles, member, counts)
    assert found.mean == pytest.approx(mean(best), abs=1e-6)
    assert found.variance == pytest.approx(pvariance(best), abs=1e-6)
    own = noise(gains)
    together = mean(a * b for a, b in zip(own, best, strict=True)) - mean(own) * mean(best)
    expected = min(error**2, max(0.0, error**2 + pvariance(best) - 2 * together))
    assert found.noise(gains, member, error) ** 2 == pytest.approx(expected, abs=1e-6)


@given(st.floats(0, 50), st.sampled_from([1.0, 9.0, 299.0]), st.sampled_from([0.8, 0.95]))
def test_an_interval_allows_for_any_part_of_a_bias(bias: float, degrees: float, level: float) -> None:
    critical = critical_with_bias(bias, degrees, level=level)
    covered = [
        # The estimate is the truth less some of the bias.
        scipy.stats.t.cdf(critical + bias - part, degrees) - scipy.stats.t.cdf(-critical - part, degrees)
        for part in (0.0, bias / 2, bias)
    ]
    assert min(covered) == pytest.approx(level)
    assert student(degrees, 1 - level) - 1e-9 <= critical <= student(degrees, (1 - level) / 2) + 1e-9
