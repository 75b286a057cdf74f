"""The test of the best of many: Hansen's, checked against another implementation of it."""

from __future__ import annotations

import numpy as np
import pytest

from swaplaw.decide.selection import selection
from swaplaw.evidence.intervals import standard_errors
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
