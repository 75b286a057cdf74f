"""Mean gains with their errors: the fast sums are the plain ones, whatever order the units come in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.evidence.effect import accuracy_effect, effect_among, lift_effect, standard_errors, unit_totals, units_of

from support.reports import sometimes, votes_of


def plain_errors(gains: np.ndarray, member: np.ndarray) -> list[float]:
    """The formula of the module, one row and one unit at a time."""
    n, units = gains.shape[1], int(member.max()) + 1
    found = []
    for row in gains:
        mean = row.mean()
        between = sum(((row[member == unit] - mean).sum()) ** 2 for unit in range(units)) * units / (units - 1)
        singly = ((row - mean) ** 2).sum() * n / (n - 1)
        found.append(np.sqrt(max(between, singly) + 1) / (n + 2))
    return found


@pytest.mark.parametrize("units", [2, 5, 40])
@pytest.mark.parametrize("sort", [True, False])
def test_errors_are_those_of_the_plain_formula(units: int, sort: bool) -> None:
    rng = np.random.default_rng(units)
    member = np.concatenate([np.arange(units), rng.integers(0, units, 40 - units)])
    member = np.sort(member) if sort else rng.permutation(member)
    gains = rng.integers(-2, 3, (6, 40)) / 2
    assert standard_errors(gains, member) == pytest.approx(plain_errors(gains, member))
    totals = [[row[member == unit].sum() for unit in range(units)] for row in gains]
    assert unit_totals(gains, member).tolist() == totals


def test_lift_and_accuracy_are_the_exact_ones() -> None:
    """Of pairs and panels alike, on the questions that all of their members answered."""
    tally = sl.demo_votes().tally()
    member = units_of(tally)
    chosen = sl.pair(tally, "gpt-4", "mistral-large")
    found = lift_effect(tally, (chosen.a, chosen.b), (Fraction(1), Fraction(2, 3)), member)
    assert found is not None
    assert found.mean == pytest.approx(float(chosen.at("2/3").lift))
    trio = sl.panel(tally, ["gpt-4", "mistral-large", "gpt-35-turbo"])
    weights = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
    judged = lift_effect(tally, trio.indices, weights, member)
    assert judged is not None
    assert judged.mean == pytest.approx(float(trio.at(weights).lift))
    alone = accuracy_effect(tally, chosen.a, member)
    assert alone is not None
    assert alone.mean == pytest.approx(float(chosen.masses.p))


def test_where_nothing_can_be_resampled_there_is_no_effect() -> None:
    assert effect_among(np.array([0.5]), np.array([3])) is None
    assert effect_among(np.array([0.5, 1.0]), np.array([3, 3])) is None
    assert effect_among(np.array([0.5, 1.0]), np.array([3, 7])) is not None


def test_units_are_clusters_where_there_are_several() -> None:
    models = {"a": sometimes(3), "b": sometimes(4)}
    clustered = votes_of(models, cluster=lambda q, m, s: f"c{q % 3}").tally()
    assert int(units_of(clustered).max()) == 2
    assert int(units_of(clustered, "question").max()) == 23
    alone = votes_of(models, cluster=lambda q, m, s: "only").tally()
    assert int(units_of(alone).max()) == 23
    with pytest.raises(sl.InputError, match="cluster"):
        units_of(votes_of(models).tally(), "cluster")
