"""The evidence: bootstrap of everything against SciPy's of one number, S-hat of a large fleet against one product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.stats

import swaplaw as sl
from benchmarks.harness import Row, seconds
from benchmarks.law import fleet, write
from swaplaw.bootstrap import Estimates, estimate
from swaplaw.law import Law
from swaplaw.rows import Ints
from swaplaw.tally import Scores, Tally
from swaplaw.terms import QUANTITIES, terms_of

REPLICATES = 10_000
FLEET, QUESTIONS = 1000, 3000
LAW = Law(Fraction(2, 3), 0.335, 0.138, 1.0, {}, {}, {}, {})


def measure() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(*fleet(), file)
        tally = sl.read_votes(file).tally()
    yield bootstrap_against_scipy(tally)
    yield screen_against_product(tally)


def bootstrap_against_scipy(tally: Tally) -> Row:
    """Intervals of all quantities of 45 pairs against that of one pair's lift, both from what each question adds."""
    terms, draws = terms_of(sl.pairs(tally), "2/3"), sl.resampler(tally, replicates=REPLICATES)
    gains, scale = terms.pairs[0].gains(Fraction(2, 3))
    lift = gains.sum(axis=0) / scale

    def ours() -> Estimates:
        return estimate(draws, terms, lambda found: found.named(QUANTITIES))

    def theirs() -> Any:
        return scipy.stats.bootstrap((lift,), np.mean, n_resamples=REPLICATES, rng=0)

    interval, their_interval = ours()[QUANTITIES.index("lift"), 0].interval, theirs().confidence_interval
    assert interval is not None
    assert np.allclose([interval.low, interval.high], list(their_interval), atol=1e-3)
    name = f"{REPLICATES:,} replicates of {len(QUANTITIES)} quantities of 45 pairs x {QUESTIONS:,} questions"
    return Row(name, *in_turns(ours, theirs), "scipy.stats.bootstrap of one pair's lift", 1)


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 4) -> tuple[float, float]:
    """Best times of both, measured in turns, so that both see the same machine."""
    times = [(seconds(ours, 3), seconds(theirs, 3)) for _ in range(rounds)]
    return min(time for time, _ in times), min(time for _, time in times)


def screen_against_product(tally: Tally) -> Row:
    """499,500 pairs from scores that are there, against the bare product of the scores with themselves."""
    large = large_fleet(tally)
    scores = np.stack([score.numerators / score.denominator for score in large.scores])
    assert len(sl.screen(large, LAW)) == 499_500
    ours, product = in_turns(lambda: sl.screen(large, LAW).predicted, lambda: scores @ scores.T)
    return Row(f"S-hat of the 499,500 pairs of {FLEET:,} models", ours, product, "the one matrix product", 1 / 3)


def large_fleet(tally: Tally) -> Tally:
    """A tally of a thousand models that knows its scores; votes to match would only cost time to make."""
    rng = np.random.default_rng(0)
    chances = rng.uniform(0.3, 0.8, FLEET)
    ties: list[Ints] = [
        np.where(rng.random(QUESTIONS) < chance, rng.choice([1, 2, 3], QUESTIONS, p=[0.95, 0.04, 0.01]), 0)
        for chance in chances
    ]
    names = tuple(f"model-{number:04d}" for number in range(FLEET))
    ones = np.ones((FLEET, QUESTIONS), dtype=np.int8)
    large = replace(tally, models=names, votes=ones, gold=ones)
    large.__dict__["scores"] = tuple(map(Scores, ties))
    return large
