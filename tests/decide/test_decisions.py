"""Decisions where the truth is known: rarely an ensemble without a gain, often one with a gain, honest intervals."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from benchmarks.decisions import tables
from benchmarks.decisions.fleets import HARD, NULL, Fleet, fleets, tally_of
from benchmarks.decisions.simulation import FASTER, GAINING, QUESTIONS, SEED, Draws, Outcome, decided, hard, null, power
from scipy.stats import binom

MOST_WRONG = 0.05
DRAWS = 200
LEAST_POWER = {"+3": 0.4, "+5": 0.8, "+2": 0.8}


def test_the_tables_show_what_was_found() -> None:
    fleet = Fleet("identical", 2, 8)
    found = Draws(fleet.draw, fleet.samples, 60, 2).outcome(fleet.kind, fleet.models)
    assert (found.draws, found.deployed, found.judged) == (2, 0, 0)
    assert "| identical | ?, 0/2 (–), ? |" in tables.by_size(NULL, [asdict(found)])
    shown = tables.power([asdict(Outcome("+3 points", 5, 8, 200, 130, 0, 0, 190, 200, 0, 0, 0.031, 144))])
    assert shown.endswith("| +3 points | +3.1 | 65% | 72% | 95% |")


def test_fleets_are_of_every_kind_and_size() -> None:
    every = fleets(NULL | HARD)
    assert len({str(fleet) for fleet in every}) == len(NULL | HARD) * 9
    for fleet in every:
        tally = tally_of(fleet.draw(np.random.default_rng(0), 20, fleet.samples))
        assert len(tally.models) == fleet.models
        assert (tally.votes == fleet.samples).all()


@pytest.mark.parametrize(("number", "reason"), [(1, "one_rule"), (6, "noise")])
def test_a_gain_by_noise_is_not_recommended(number: int, reason: str) -> None:
    """Ten options, and a leader so unsure that guesses lift its accuracy: a true gain that nobody's knowledge makes."""
    fleet = Fleet("ten options, unsure", 5, 24)
    tally = tally_of(fleet.draw(np.random.default_rng([SEED, number]), QUESTIONS, fleet.samples))
    found = decided(tally, **FASTER)
    assert found.held_out is not None
    assert found.held_out.p <= 0.05
    assert reason in found.reason
    assert ("only" in found.sentence) == (reason == "one_rule")
    assert "deploy m00 alone" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize("name", [str(fleet) for fleet in fleets(NULL)])
def test_null_fleets_rarely_get_an_ensemble(name: str) -> None:
    (found,) = null(DRAWS, name)
    print(found)
    assert found.deployed <= MOST_WRONG * found.draws
    # Draws as few as these know a share to a few points: fewer hits than this are a sure sign of less than 92%.
    assert found.covered >= binom.ppf(0.025, found.judged, 0.92)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAINING)
def test_gains_are_found(name: str) -> None:
    (found,) = power(DRAWS, name)
    print(found)
    assert found.deployed >= LEAST_POWER[name[:2]] * found.draws
    assert found.covered >= 0.92 * found.judged


@pytest.mark.slow
@pytest.mark.parametrize("name", [str(fleet) for fleet in fleets(HARD)])
def test_the_interval_holds_where_the_baseline_is_lucky_or_folds_choose_otherwise(name: str) -> None:
    (found,) = hard(DRAWS, name)
    print(found)
    assert found.harmful <= MOST_WRONG * found.draws
    assert found.covered >= binom.ppf(0.025, found.judged, 0.92)
