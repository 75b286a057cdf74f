"""A thousand models on a hundred thousand questions: S-hat of every pair, then exact curves of the best ten thousand.

Everything runs in a process of its own, so that its peak of memory can be told (`python -m benchmarks.large` prints the
facts as JSON). `SWAPLAW_BENCH_LARGE` sets models, questions and pairs.

What keeps the memory down: only what was voted for is held (5 bytes each); the fleet comes model by model into arrays
that grow in place; of all models only tie sizes are held for scores (1 byte a question); S-hat multiplies blocks of
questions; margins are spread out for the models in use, and what was used longest ago makes room (`kept`); pairs are
taken in order of accuracy, so that neighbours share models.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TypeVar

import numpy as np

import swaplaw as sl
from benchmarks.evidence import LAW
from benchmarks.fleets import synthetic
from benchmarks.harness import Row
from swaplaw.law.pair import Pair
from swaplaw.votes.tally import Tally

MODELS, QUESTIONS, PAIRS = map(int, os.environ.get("SWAPLAW_BENCH_LARGE", "1000,100000,10000").split(","))
CORES, CHUNK = 2, 50
LIMIT = 4096.0
"""Megabytes that the whole case may take."""
T = TypeVar("T")
SLICE = 10
"""The bare product is measured on one in this many questions."""


def measure() -> Iterator[Row]:
    finished = subprocess.run([sys.executable, "-m", "benchmarks.large"], capture_output=True, text=True, check=True)
    facts = json.loads(finished.stdout)
    size = f"{MODELS:,} x {QUESTIONS:,} x 24"
    note = "synthetic votes; one process, all steps"
    work = f"tally, S-hat of {facts['screened']:,} pairs, curves of {facts['pairs']:,}, {size}: peak memory"
    yield Row(work, facts["peak"], LIMIT, "the limit", 1, "MB", note=note)
    yield Row(work, facts["peak"], facts["dense"], "the counts as a dense array of bytes x 8", 1, "MB", note=note)
    name = f"S-hat of {facts['screened']:,} pairs, {size}"
    note = f"synthetic votes; the product measured on 1 in {SLICE} questions and scaled up"
    yield Row(name, facts["screen"], facts["product"], "the bare matrix product alone", 1 / 3, note=note)
    name = f"exact curves of the best {facts['pairs']:,} pairs on {CORES} cores, {size}"
    yield Row(name, facts["curves"], 60.0 * facts["pairs"] / 10_000, "a minute for 10,000", 1, note="synthetic votes")
    note = f"synthetic votes; the loop measured on {facts['looped']} pairs and scaled up, as if {CORES} cores halved it"
    yield Row(name, facts["curves"], facts["loop"], "NumPy loop over 25 weights", 5, note=note)


def facts() -> dict[str, float]:
    tally = synthetic(MODELS, QUESTIONS)
    scoring, _ = timed(lambda: tally.ties)
    screen, found = timed(lambda: sl.screen(tally, LAW))
    again, found = timed(lambda: sl.screen(tally, LAW))
    curves, lifts = timed(lambda: best_lifts(tally, sl.predict.best_pairs(tally, found, PAIRS)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    # The others' side comes after the peak was read.
    some = np.ascontiguousarray(tally.ties[:, ::SLICE]).astype(bool).astype(np.float64)
    product, _ = min((timed(lambda: some @ some.T) for _ in range(3)), key=lambda taken: taken[0])
    looped = sl.predict.best_pairs(tally, found, 2)
    loop, _ = timed(lambda: [_loop(tally, pair) for pair in looped])
    return {
        "screened": len(found),
        "pairs": len(lifts),
        "scores": scoring,
        "screen": min(screen, again),
        "curves": curves,
        "peak": peak,
        "dense": 8.0 * MODELS * QUESTIONS * (tally.rivals.rows.height + 1) / 2**20,
        "product": product * SLICE,
        "looped": len(looped),
        "loop": loop / len(looped) * len(lifts) / CORES,
    }


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best_lifts(tally: Tally, pairs: Sequence[Pair]) -> list[Fraction]:
    """Each pair's best plateau; threads take chunks, because NumPy lets go of the interpreter on arrays this long."""

    def work(chunk: Sequence[Pair]) -> list[Fraction]:
        return [curve.best_plateau.lift for curve in sl.law.curves_of(chunk)]

    chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
    with ThreadPoolExecutor(CORES) as pool:
        return [lift for lifts in pool.map(work, chunks) for lift in lifts]


def _loop(tally: Tally, pair: Pair) -> list[float]:
    from benchmarks.law import grid_loop
    from benchmarks.peers import dense

    gold = np.zeros(len(tally.questions), dtype=np.intp)
    return grid_loop([dense(tally, pair.a), dense(tally, pair.b)], gold, 0, 1)


if __name__ == "__main__":
    print(json.dumps(facts()))
