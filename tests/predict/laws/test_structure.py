"""The paper's two derivatives against differences of S*, and its two bounds on lift."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.law.pair import Masses
from swaplaw.predict.laws.structure import lift_bounds, slope_in_gap, slope_in_phi_adj

from support.corpora import corpora, weights
from support.twin import Corpus

parts = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
STEP = Fraction(1, 10**6)


def masses(mean: Fraction, gap: Fraction, phi_adj: Fraction) -> Masses:
    p, q = mean + gap / 2, mean - gap / 2
    return Masses(p, q, p * q + phi_adj * q * (1 - p))


@given(mean=parts, gap=parts, phi_adj=parts, alpha=parts, gamma=parts)
def test_the_derivatives_are_slopes_of_the_structural_form(
    mean: Fraction, gap: Fraction, phi_adj: Fraction, alpha: Fraction, gamma: Fraction
) -> None:
    gap = gap * min(mean, 1 - mean)
    here = masses(mean, gap, phi_adj)
    in_phi = masses(mean, gap, phi_adj + STEP).predicted_swap(alpha, gamma) - here.predicted_swap(alpha, gamma)
    assert in_phi / STEP == slope_in_phi_adj(here, alpha, gamma)
    up, down = (masses(mean, gap + side, phi_adj).predicted_swap(alpha, gamma) for side in (STEP, -STEP))
    found = slope_in_gap(here, alpha, gamma)
    assert found == (up - down) / (2 * STEP)  # S* is quadratic in the gap, so central differences are exact
    if alpha >= gamma:
        assert found is not None
        assert found <= 0
        assert slope_in_phi_adj(here, alpha, gamma) <= 0


def test_without_phi_adj_there_is_no_slope_in_the_gap() -> None:
    assert slope_in_gap(Masses(Fraction(1), Fraction(1, 2), Fraction(1, 2)), Fraction(1), Fraction(0)) is None


@settings(deadline=None)
@given(case=corpora(), x=weights)
def test_lift_is_within_its_bounds(case: Corpus, x: Fraction) -> None:
    two = sl.pair(sl.votes_from(case.frame()), "aa", "bb")
    found = lift_bounds(two.at(x))
    assert found.within_errors
    if all(set(scores.ties.tolist()) <= {0, 1} for scores in two.alone):
        assert found.within_repair


@pytest.mark.parametrize("weight", ["1/3", "2/3", "1"])
def test_real_pairs_are_within_both(weight: str) -> None:
    for two in sl.pairs(sl.demo_votes()):
        found = lift_bounds(two.at(weight))
        assert found.within_repair
        assert found.within_errors
