"""Draws made by the Poisson short cut are draws: every outcome as likely as drawing units one by one makes it."""

from collections import Counter
from itertools import product
from math import comb, factorial

import numpy as np
import pytest
import scipy.stats

from swaplaw.evidence.resample import _PoissonPairs, multinomial, uniform


def source(seed: int = 0) -> np.random.SFC64:
    return np.random.SFC64([seed])


@pytest.mark.parametrize(
    "margin", [0.0, 0.3, 1.0, 5.0], ids=["often over", "sometimes over", "hardly over", "one by one"]
)
def test_every_outcome_is_as_likely_as_it_should_be(margin: float) -> None:
    units, replicates = 4, 40_000
    seen = Counter(map(tuple, multinomial(source(1), units, replicates, margin).T.tolist()))
    outcomes = [each for each in product(range(units + 1), repeat=units) if sum(each) == units]
    expected = [
        replicates * factorial(units) / np.prod([factorial(n) for n in each]) / units**units for each in outcomes
    ]
    assert set(seen) <= set(outcomes)
    assert scipy.stats.chisquare([seen[each] for each in outcomes], expected).pvalue > 0.001


@pytest.mark.parametrize("units", [1, 2, 30, 3000])
def test_each_replicate_draws_as_many_as_there_are(units: int) -> None:
    counts = multinomial(source(), units, 64)
    assert counts.shape == (units, 64)
    assert (counts.sum(axis=0, dtype=int) == units).all()


def test_a_unit_among_many_is_drawn_binomially() -> None:
    units = 2000
    drawn = np.concatenate([multinomial(source(seed), units, 64).ravel() for seed in range(20)])
    chances = [comb(units, k) * (units - 1) ** (units - k) / units**units for k in range(7)]
    seen = np.bincount(drawn, minlength=8)
    expected = np.array([*chances, 1 - sum(chances)]) * len(drawn)
    assert scipy.stats.chisquare([*seen[:7], seen[7:].sum()], expected).pvalue > 0.001


def test_units_are_drawn_alike_and_apart() -> None:
    units, replicates = 400, 20_000
    counts = multinomial(source(3), units, replicates).astype(float)
    means = counts.mean(axis=1)
    assert scipy.stats.chisquare(means * replicates).pvalue > 0.001
    pairs = [np.corrcoef(counts[unit], counts[unit + 1])[0, 1] for unit in range(0, units, 2)]
    assert abs(np.mean(pairs) + 1 / (units - 1)) < 4 / np.sqrt(replicates * len(pairs))
    assert abs(np.corrcoef(counts[:, ::2].ravel(), counts[:, 1::2].ravel())[0, 1]) < 4 / np.sqrt(counts.size / 2)


def test_chances_of_the_table_and_the_rest_add_up_exactly() -> None:
    pairs = _PoissonPairs.of_rate(0.9)
    cells = np.bincount(pairs.table, minlength=2**16)
    left = np.diff(pairs.rest, prepend=0)
    for value, rest in zip(pairs.values.tolist(), left, strict=True):
        expected = scipy.stats.poisson.pmf(value >> 8, 0.9) * scipy.stats.poisson.pmf(value & 255, 0.9)
        assert (cells[value] + rest) / 2**16 == pytest.approx(expected, abs=1e-15)
    assert cells[2**16 - 1] == pytest.approx(pairs.rest[-1], abs=1e-9)


def test_uniform_reaches_all_and_no_more() -> None:
    drawn = uniform(source(), 7, 70_001)
    assert set(drawn.tolist()) == set(range(7))
    assert scipy.stats.chisquare(np.bincount(drawn)).pvalue > 0.001
