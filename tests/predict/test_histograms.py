"""Laws from partial information: as good as votes where they hold all that matters, and clear about what cannot be."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.predict.histograms import histogram, histogram_from_accuracies, histogram_lift
from swaplaw.predict.laws import Margins, margins_of


@pytest.fixture(scope="module")
def tally() -> sl.Tally:
    return sl.demo_votes().tally()


def all_pairs(first: Margins, second: Margins, phi_adj: float, x: float) -> float:
    """The margin law by its definition: every question of one model against every question of the other."""
    a, b = first.right, second.right
    p, q = a.mean(), b.mean()
    sums = np.round((first.lead / first.votes)[:, None] + x * second.lead / second.votes, 12)
    wins = (1 + np.sign(sums)) / 2
    rescue = q * (1 - p) * (1 - phi_adj)
    won = (1 - a) @ wins @ b / ((1 - a).sum() * b.sum())
    held = a @ wins @ (1 - b) / (a.sum() * (1 - b).sum())
    return float(rescue * won - (rescue + p - q) * (1 - held))


@pytest.mark.parametrize("weight", ["1/3", "2/3", "1", "3/2"])
def test_whole_histograms_say_what_votes_say(tally: sl.Tally, weight: str) -> None:
    """Ties of gold with one rival count half in both; here no model ties with two."""
    models = [m for m in range(len(tally.models)) if int(tally.ties[m].max()) <= 2]
    own = [margins_of(tally, m) for m in models]
    for first, second in pairwise(own):
        high, low = sorted((first, second), key=lambda one: -one.accuracy)
        expected = all_pairs(high, low, 0.7, float(Fraction(weight)))
        told = [
            histogram(dict(zip(*np.unique(one.lead / one.votes, return_counts=True), strict=True)))
            for one in (high, low)
        ]
        assert histogram_lift(told[0], told[1], 0.7, weight) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("plurality", "single"), [(0.8, 0.7), (0.3, 0.35), (0.5, 0.5), (0.33, 0.3), (0.999, 0.99)])
def test_accuracies_are_kept(plurality: float, single: float) -> None:
    found = histogram_from_accuracies(plurality, single)
    assert found.accuracy == pytest.approx(plurality)
    assert found.mass.sum() == pytest.approx(1)
    if single > 0.5 and plurality > single:
        assert float(found.mass @ (found.margin + 1) / 2) == pytest.approx(single, abs=0.02)


def test_models_that_are_sure_of_everything_change_nothing_below_weight_1() -> None:
    sure = histogram({1: 70, -1: 30})
    assert histogram_lift(sure, sure, 0.2, "2/3") == 0
    assert histogram_lift(sure, histogram({1: 60, -1: 40}), 0.2, "2") == pytest.approx(-0.1)


def test_an_unsure_primary_is_rescued_by_a_sure_secondary() -> None:
    unsure, sure = histogram({0.2: 70, -0.2: 30}), histogram({1: 70, -1: 30})
    assert histogram_lift(unsure, sure, 0, "2/3") == pytest.approx(0)
    doubtful = histogram({1: 70, -0.2: 30})
    assert histogram_lift(doubtful, sure, 0, "2/3") == pytest.approx(0.3 * 0.7)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(sl.InputError, match="between -1 and 1"):
        histogram({1.5: 3})
    with pytest.raises(sl.InputError, match="some must be above 0"):
        histogram({0.5: 0})
    with pytest.raises(sl.InputError, match="both excluded"):
        histogram_from_accuracies(1.0, 0.9)
    half = histogram({0.5: 1, -0.5: 1})
    with pytest.raises(sl.InputError, match="phi_adj of -3 is impossible"):
        histogram_lift(half, half, -3)
    assert np.isfinite(histogram_lift(half, half, -1))
