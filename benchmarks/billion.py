"""A billion votes, made up on the fly: counted part by part, and read as one tally.

No vote is ever on disk: each part is a block of questions that is drawn when it is counted. Everything runs in a
process of its own (`python -m benchmarks.billion` prints the facts as JSON); `SWAPLAW_BENCH_VOTES` sets how many votes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row
from swaplaw import read_votes
from swaplaw.votes.table import votes_of

if TYPE_CHECKING:
    import polars as pl

VOTES = int(os.environ.get("SWAPLAW_BENCH_VOTES", 10**9))
MODELS, SAMPLES, QUESTIONS = 100, 100, 500
"""Models, samples of each on a question, and questions of a block: 5 million votes."""
LIMIT, RATE = 6144.0, 1e6
"""Megabytes that the process may take, and votes for each processor second that it must count and read."""


def measure() -> Iterator[Row]:
    finished = subprocess.run([sys.executable, "-m", "benchmarks.billion"], capture_output=True, text=True, check=True)
    facts = json.loads(finished.stdout)
    name = f"{facts['votes']:,} votes made up, counted into {facts['disk']:,.0f} MB"
    yield Row(name, facts["seconds"], facts["votes"] / RATE, f"{RATE:,.0f} votes per second", 1, "CPU s")
    yield Row(f"{name}: memory", facts["peak"], LIMIT, "the limit", 1, "MB")


def facts() -> dict[str, float]:
    """Count, and read the counts as one tally; what it took."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        for number in range(max(1, VOTES // (MODELS * SAMPLES * QUESTIONS))):
            votes_of(block(number)).write_counts(f"{folder}/{number}.parquet")
        counted = time.process_time() - start
        disk = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
        votes = int(read_votes(folder).tally().votes.sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.process_time() - start
    return {"votes": votes, "seconds": seconds, "counted": counted, "disk": disk, "peak": peak}


def block(number: int) -> pl.DataFrame:
    """The votes of all models on some questions."""
    import polars as pl

    rng = np.random.default_rng(number)
    shape = (MODELS, QUESTIONS, SAMPLES)
    gold = rng.integers(0, 4, QUESTIONS, dtype=np.uint8)
    knows = rng.random((MODELS, QUESTIONS)) * np.linspace(0.8, 1.3, MODELS)[:, None]
    right = rng.random(shape, dtype=np.float32) < knows[:, :, None]
    answer = np.where(right, gold[None, :, None], rng.integers(0, 5, shape, dtype=np.uint8)).reshape(-1)
    names = pl.Series([f"organisation/model-{model:03}" for model in range(MODELS)])
    ids = pl.Series([f"question-{number * QUESTIONS + question:07}" for question in range(QUESTIONS)])
    letters = pl.Series(["A", "B", "C", "D", None])
    every = np.arange(answer.size)
    question = every // SAMPLES % QUESTIONS
    return pl.DataFrame(
        {
            "question": ids.gather(question),
            "model": names.gather(every // (SAMPLES * QUESTIONS)),
            "sample": (every % SAMPLES).astype(np.int64),
            "answer": letters.gather(answer),
            "gold": letters.gather(gold[question]),
        }
    )


if __name__ == "__main__":
    json.dump(facts(), sys.stdout)
