"""Anytime evidence: exact stakes, and promises that hold at every look."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.errors import InputError
from swaplaw.evidence.anytime import adjusted, anytime_effect, e_value, reaches

from support.commands import Run
from support.looks import false_alarms, fixed_labels, labels_to_find, wealth_path

CHANGES = st.sampled_from([Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])


def exact_stake(changes: Sequence[Fraction]) -> Fraction:
    """The integral over b from 0 to 1 of 12 b (1-b)^2 times the product of 1 + b d, as polynomials are integrated."""
    coefficients = [Fraction(0), Fraction(12), Fraction(-24), Fraction(12)]
    for change in changes:
        raised = [Fraction(0), *(change * each for each in coefficients)]
        coefficients = [a + b for a, b in zip([*coefficients, Fraction(0)], raised, strict=True)]
    return sum((each / (power + 1) for power, each in enumerate(coefficients)), Fraction(0))


@given(st.lists(CHANGES, max_size=60))
def test_the_stake_is_the_integral(changes: list[Fraction]) -> None:
    values = np.array([float(change) for change in changes])
    assert e_value(values) == pytest.approx(float(exact_stake(changes)), rel=1e-9)
    if changes:
        assert wealth_path(values[None])[0, -1] == pytest.approx(np.log(float(exact_stake(changes))), abs=1e-9)


@given(st.lists(CHANGES, min_size=1, max_size=30))
def test_order_and_unchanged_questions_do_not_matter(changes: list[Fraction]) -> None:
    values = np.array([float(change) for change in changes])
    assert e_value(values) == pytest.approx(e_value(values[::-1]))
    assert e_value(values) == pytest.approx(e_value(values[values != 0]))


@given(st.lists(CHANGES, min_size=1, max_size=40))
def test_the_confidence_sequence_is_what_cannot_be_bet_against(changes: list[Fraction]) -> None:
    values = np.array([float(change) for change in changes])
    found = anytime_effect(values)
    assert -1 <= found.low <= found.mean <= found.high <= 1
    for null in np.linspace(-0.95, 0.95, 39):
        above, below = e_value(values, null=null), e_value(-values, null=-null)
        if abs(null - found.low) > 1e-6 and abs(null - found.high) > 1e-6:
            assert (found.low <= null <= found.high) == (above < 40 and below < 40)


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=6), st.data())
def test_adjusted_is_the_least_average_over_all_sets(e_values: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(e_values), max_size=len(e_values)))
    places = range(len(e_values))
    sets = [group for size in range(1, len(e_values) + 1) for group in combinations(places, size)]
    for own, found in enumerate(adjusted(e_values, weights)):
        averages = [np.average([e_values[k] for k in group], weights=[weights[k] for k in group]) for group in sets]
        least = min(average for group, average in zip(sets, averages, strict=True) if own in group)
        assert found == pytest.approx(least)


def test_clusters_are_one_bet_each() -> None:
    values, member = np.array([1.0, 1.0, -1.0, 0.0, 0.5]), np.array([0, 0, 1, 1, 2])
    # Sums 2, -1 and 1/2, over the largest size of 2.
    expected = exact_stake([Fraction(1), Fraction(-1, 2), Fraction(1, 4)])
    assert e_value(values, member) == pytest.approx(float(expected))
    assert anytime_effect(values, member).units == 3
    assert e_value(values, member, largest=4) < e_value(values, member)
    with pytest.raises(InputError, match="more than the 1 given as `largest`"):
        e_value(values, member, largest=1)


def test_questions_that_go_together_raise_no_alarm_as_clusters() -> None:
    """Twenty questions that all gain or all lose are one observation; as twenty they would be taken for proof."""
    rng = np.random.default_rng(5)
    signs = rng.choice([-1.0, 1.0], (300, 40))
    assert (wealth_path(signs).max(axis=1) >= np.log(20)).mean() <= 0.05
    apart = wealth_path(np.repeat(signs, 20, axis=1)).max(axis=1) >= np.log(20)
    assert apart.mean() > 0.5


def test_few_null_streams_with_a_look_after_every_question() -> None:
    assert false_alarms(1_000, 100, seed=1) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("changed", [30, 300])
def test_ten_thousand_null_streams_with_a_look_after_every_question(changed: int) -> None:
    assert false_alarms(10_000, changed) <= 0.05


def test_a_gain_is_found_with_about_as_many_labels_as_a_test_that_may_look_once() -> None:
    for lift, most in ((0.02, 105), (0.03, 60), (0.05, 35)):
        middle = float(np.median(labels_to_find(lift, 500, most=400)))
        assert middle <= most
        assert middle <= 1.2 * fixed_labels(lift)


@pytest.mark.slow
def test_the_confidence_sequence_holds_the_truth_at_every_look() -> None:
    rng = np.random.default_rng(2)
    for shares in ([0.03, 0.91, 0.06], [0.2, 0.5, 0.3], [0.0, 0.97, 0.03]):
        truth, missed = shares[2] - shares[0], 0
        for _ in range(400):
            gains = rng.choice([-1.0, 0.0, 1.0], 400, p=shares)
            # The truth is outside at some look exactly where a bet against it reached 40.
            above, below = (wealth_path(sign * gains[None], sign * truth).max() for sign in (1, -1))
            missed += max(above, below) >= np.log(40)
        assert missed / 400 <= 0.05


def test_no_candidate_of_a_fleet_without_gains_is_shown() -> None:
    """At most 5% of fleets of eight worthless candidates ever show one."""
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(200):
        paths = np.exp(wealth_path(rng.choice([-1.0, 1.0], (8, 60))))
        alarms += any(reaches(max(adjusted(look.tolist()))) for look in paths.T)
    assert alarms / 200 <= 0.05


def test_compare_says_what_holds_at_every_look(swaplaw: Run) -> None:
    done = swaplaw("compare", "demo", "--anytime", "--by", "question", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert "at most 5%" in found["anytime"]["guarantee"]
    decided = [each["anytime"]["decided"] for each in found["comparisons"]]
    assert sum(decided) == found["anytime"]["decided"] > 0
    for each in found["comparisons"]:
        look = each["anytime"]
        assert look["low"] <= each["difference"] <= look["high"]
        assert look["low"] <= each["low"]  # Whoever may look at any time knows less than who looks once.
        assert look["e_adjusted"] <= look["e"] * (1 + 1e-12)
        assert look["decided"] == (look["e_adjusted"] >= 20)
    shown = swaplaw("compare", "demo", "--anytime", "--by", "question")
    assert "valid at every look" in shown.out
    assert "anytime" not in json.loads(swaplaw("compare", "demo", "--json").out)
