"""The evidence: intervals of everything against SciPy's bootstrap of one number; S-hat of a fleet against one product.

Both peers are the fastest that there are: SciPy's percentile bootstrap (its default, BCa, takes longer), and the
product in 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.stats

import swaplaw as sl
from benchmarks.fleets import synthetic
from benchmarks.harness import Row, compare
from benchmarks.law import fleet, write
from swaplaw.evidence.quantities import MEANS, QUANTITIES
from swaplaw.predict.law_file import Law
from swaplaw.votes.tally import Tally

REPLICATES = 10_000
FLEET, QUESTIONS = 1000, 3000
LAW = Law(Fraction(2, 3), 0.335, 0.138, 1.0, {}, {}, {}, {})


def measure() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(*fleet(), file)
        tally = sl.read_votes(file).tally()
    yield intervals_against_scipy(tally)
    yield screen_against_product()


def intervals_against_scipy(tally: Tally) -> Row:
    """Intervals of all rates and correlations of 45 pairs against the bootstrap interval of one pair's lift."""
    chosen = list(sl.pairs(tally))
    gains, scale = chosen[0].gains(Fraction(2, 3))
    lift, names = gains.sum(axis=0) / scale, [name for name in QUANTITIES if name not in MEANS]

    def ours() -> Any:
        return sl.intervals(tally, quantities=names)

    def theirs() -> Any:
        return scipy.stats.bootstrap((lift,), np.mean, n_resamples=REPLICATES, method="percentile", rng=0)

    name = f"intervals of {len(names)} rates and correlations of 45 pairs x {QUESTIONS:,} questions"
    against = f"scipy.stats.bootstrap (percentile, {REPLICATES:,} draws) of one pair's lift"
    return compare(name, ours, theirs, against, 1 / 3, note="synthetic votes", guarded=True)


def screen_against_product() -> Row:
    """499,500 pairs from scores that are there, against the bare product of the scores with themselves."""
    large = synthetic(FLEET, QUESTIONS)
    scores = large.ties.astype(bool).astype(np.float32)
    assert len(sl.screen(large, LAW)) == 499_500
    name = f"S-hat of the 499,500 pairs of {FLEET:,} models x {QUESTIONS:,} questions"
    return compare(
        name,
        lambda: sl.screen(large, LAW).predicted,
        lambda: scores @ scores.T,
        "the bare product of 32-bit floats alone",
        1 / 4,
        note="synthetic votes",
        guarded=True,
    )
