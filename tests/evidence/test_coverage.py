"""Do nominal 95% intervals for lift hold the truth in 95% of draws? On populations whose truth is known exactly."""

from __future__ import annotations

import numpy as np
import pytest

import swaplaw as sl
from swaplaw._core.arrays import Floats
from swaplaw.evidence.bootstrap import estimate
from swaplaw.evidence.intervals import Method
from swaplaw.evidence.quantities import Quantities, terms_of

from support.fleets import Population

WEIGHT = "2/3"


def lift(found: Quantities) -> Floats:
    return found.lift


def coverage(population: Population, questions: int, draws: int) -> float:
    truth, held = population.truth(WEIGHT), 0
    for seed in range(draws):
        tally = population.draw(questions, np.random.default_rng([2026, seed]))
        resampler = sl.evidence.resampler(tally, seed=seed, replicates=1000)
        interval = estimate(resampler, terms_of([sl.pair(tally, "aa", "bb")], WEIGHT), lift)[0].interval
        assert interval is not None
        held += truth in interval
    return held / draws


@pytest.mark.parametrize(("clusters", "questions"), [(None, 100), (12, 120)])
def test_intervals_cover_about_as_often_as_they_say(clusters: int | None, questions: int) -> None:
    # 100 draws of a true 95%: outside these bounds once in thousands of runs, and the seed is fixed.
    assert 0.87 <= coverage(Population(clusters), questions, 100) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "questions"), [(None, 100), (None, 300), (10, 150), (30, 300)])
def test_intervals_cover_between_92_and_98_per_cent(clusters: int | None, questions: int) -> None:
    found = coverage(Population(clusters), questions, 500)
    print(f"{questions} questions in {clusters or 'no'} clusters: {found:.1%} of 500 intervals hold the true lift")
    assert 0.92 <= found <= 0.98


def test_the_plain_percentile_interval_is_too_narrow_for_few_clusters() -> None:
    """Why the default is expanded: with ten clusters the plain one is a fifth shorter than it should be."""
    tally = Population(10).draw(100, np.random.default_rng(0))
    terms, draws = terms_of([sl.pair(tally, "aa", "bb")], WEIGHT), sl.evidence.resampler(tally, replicates=4000)
    widths = []
    methods: tuple[Method, ...] = ("expanded", "percentile")
    for method in methods:
        interval = estimate(draws, terms, lift, method=method)[0].interval
        assert interval is not None
        widths.append(interval.high - interval.low)
    assert widths[0] > 1.1 * widths[1]
