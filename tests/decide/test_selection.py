"""The test of the best of many: Hansen's, checked against another implementation of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw._core.arrays import Floats
from swaplaw.decide.selection import PSEUDO, selection
from swaplaw.evidence.interval import critical_of, standard_errors
from swaplaw.evidence.resample import Resampler


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.02, 0.04, 0.06, 0.08])
def test_p_values_are_those_of_another_implementation(shift: float) -> None:
    """arch compares plain means, whatever `studentize` says (that only finds poor candidates): so scale them first."""
    arch = pytest.importorskip("arch.bootstrap")
    rng = np.random.default_rng(3)
    gains = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(6, 400))
    gains[0, rng.random(400) < shift] = 1.0
    gains[4:, rng.random(400) < 0.3] = -1.0  # two that are clearly poor
    scaled = gains / standard_errors(gains, np.arange(400))[:, None]
    other = arch.SPA(np.zeros(400), -scaled.T, block_size=1, reps=4000, bootstrap="circular", seed=5)
    other.compute()
    found = selection(gains, Resampler(np.arange(400), "question", 0, 4000))
    ours = min(found.effect(row).p for row in gains)
    assert ours == pytest.approx(float(other.pvalues["consistent"]), abs=0.03)


def test_poor_candidates_cost_nothing() -> None:
    rng = np.random.default_rng(1)
    good = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.85, 0.1], size=(1, 300))
    poor = np.where(rng.random((40, 300)) < 0.4, -1.0, 0.0)
    draws = Resampler(np.arange(300), "question", 0, 1000)
    alone, among = selection(good, draws), selection(np.concatenate([good, poor]), draws)
    assert among.effect(good[0]) == alone.effect(good[0])
    assert among.threshold() == alone.threshold()


def gains_and_singles(seed: int, questions: int, per_unit: int) -> tuple[Floats, Floats, Resampler]:
    """Gains of three rules, gains of four single models over the first, and draws of units."""
    rng = np.random.default_rng(seed)
    gains = rng.choice([-1.0, 0.0, 0.5, 1.0], p=[0.1, 0.7, 0.1, 0.1], size=(3, questions))
    singles = rng.choice([-1.0, 0.0, 1.0], p=[0.15, 0.75, 0.1], size=(4, questions))
    singles[0] = 0
    member = np.arange(questions) // per_unit
    return gains, singles, Resampler(member, "question" if per_unit == 1 else "cluster", seed, 128)


@given(st.integers(0, 10_000), st.sampled_from([1, 3]))
def test_the_interval_holds_its_mean_and_never_contradicts_the_test(seed: int, per_unit: int) -> None:
    gains, singles, draws = gains_and_singles(seed, 90, per_unit)
    found = selection(gains, draws, singles=singles)
    assert found.luck is not None
    for row in gains:
        stated, plain = found.held_out(row), found.effect(row)
        assert stated.low <= stated.mean <= stated.high
        assert (stated.mean, stated.standard_error, stated.p) == (plain.mean, plain.standard_error, plain.p)
        assert stated.p <= 0.05 or stated.low <= 0
        assert stated.half_width <= plain.half_width + found.luck.mean / 2 or stated.low == 0


def test_without_near_equal_single_models_the_interval_allows_for_the_best_rule_alone() -> None:
    gains, singles, draws = gains_and_singles(3, 300, 1)
    singles[1:] = -1.0
    alone, among = selection(gains, draws), selection(gains, draws, singles=singles)
    assert among.luck is not None
    assert among.luck.mean == among.luck.variance == 0
    for row in gains:
        assert among.held_out(row) == alone.held_out(row)
        (error,) = standard_errors(row[None], draws.member, pseudo=PSEUDO)
        assert alone.held_out(row).high == pytest.approx(row.mean() + critical_of(draws.member) * error)


def test_where_nothing_changes_the_interval_still_reaches_to_both_sides() -> None:
    draws = Resampler(np.arange(300), "question", 0, 200)
    found = selection(np.zeros((2, 300)), draws, singles=np.zeros((3, 300))).held_out(np.zeros(300))
    assert (round(found.low, 4), found.mean, round(found.high, 4)) == (-0.008, 0.0, 0.008)


@given(st.integers(0, 10_000), st.floats(0, 0.3))
def test_the_interval_reaches_further_where_all_questions_choose_otherwise_than_folds(seed: int, shift: float) -> None:
    gains, singles, draws = gains_and_singles(seed, 90, 1)
    found = selection(gains, draws, singles=singles)
    for row in gains:
        plain, better, worse = (found.held_out(row, by) for by in (0.0, shift, -shift))
        assert better.low == plain.low
        assert better.high == pytest.approx(min(1, plain.high + shift))
        assert plain.low - shift <= worse.low <= plain.low
        assert worse.high == plain.high
        assert worse.p == better.p == plain.p
