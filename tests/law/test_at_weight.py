"""Pairs pooled together at one weight, against the law in Fractions and against each pair by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given

import swaplaw as sl
from swaplaw.evidence.lifts import lift_effect, pair_effects
from swaplaw.evidence.units import resampling_units
from swaplaw.law.pair import places_of_pairs, pooled

from support.corpora import corpora, weights
from support.twin import Corpus, law


@given(case=corpora(models=3), x=weights)
def test_pooled_together_is_pooled_alone(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    try:
        chosen = list(sl.pairs(tally))
    except sl.InputError:
        return
    for found in pooled(chosen, x):
        plain = law(case, found.pair.primary, found.pair.secondary, x)
        outcome = found.outcome
        assert outcome == found.pair.at(x)
        assert (outcome.rescued, outcome.damaged, outcome.repaired, outcome.corrupted) == plain.gains
        assert outcome.lift == plain.lift
        gains, scale = found.pair.gains(x)
        assert found.lifts.tolist() == [float(Fraction(int(gain), scale)) for gain in gains.sum(axis=0)]


@given(case=corpora(models=3), x=weights)
def test_every_lift_has_the_interval_that_it_has_alone(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    if len(tally.models) < 2:
        return
    units = resampling_units(tally)
    for pair, outcome, found in pair_effects(tally, places_of_pairs(tally), x, units):
        assert outcome == pair.at(x)
        assert found == lift_effect(tally, (pair.a, pair.b), (Fraction(1), x), units)


def test_turned_pairs_keep_what_is_known() -> None:
    pair = sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")
    turned = pair.turned
    again = sl.pair(pair.tally, "mistral-large", "gpt-4")
    assert turned == again
    assert turned.masses == again.masses
    assert np.array_equal(turned.common, again.common)
