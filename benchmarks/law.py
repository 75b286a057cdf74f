"""The command line against bare Polars and bare NumPy; and the fleet and the plain loop that others measure with."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import swaplaw as sl
from benchmarks.fleets import FIRST_LURE, LURES
from benchmarks.harness import Row, seconds
from swaplaw._arrays import Ints

MODELS, QUESTIONS, SAMPLES, OPTIONS = 10, 3000, 24, 10
NULL = OPTIONS


def measure() -> Iterator[Row]:
    answers, gold = fleet()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(answers, gold, file)
        yield from command_line(file)


def fleet(seed: int = 0) -> tuple[Ints, Ints]:
    """A synthetic fleet: models x questions x samples of option indices (the last is null), and gold."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, OPTIONS, QUESTIONS)
    lures = (gold + rng.integers(1, OPTIONS, (LURES, QUESTIONS))) % OPTIONS
    difficulty = rng.normal(0, 1.2, QUESTIONS)
    answers = np.empty((MODELS, QUESTIONS, SAMPLES), dtype=np.int64)
    for model, skill in enumerate(np.linspace(1.2, -0.2, MODELS)):
        knows = 1 / (1 + np.exp(-2 * (skill - difficulty + rng.normal(0, 1, QUESTIONS))))
        draw, shape = rng.random((QUESTIONS, SAMPLES)), (QUESTIONS, SAMPLES)
        # Most models fall for the first lure of a question, some for another: so both-wrong pairs may be repaired.
        which = np.where(rng.random(QUESTIONS) < FIRST_LURE, 0, rng.integers(0, LURES, QUESTIONS))
        lure = lures[which, np.arange(QUESTIONS)]
        wrong = np.where(rng.random(shape) < 0.5, lure[:, None], rng.integers(0, OPTIONS, shape))
        answers[model] = np.where(draw < knows[:, None], gold[:, None], wrong)
        answers[model][rng.random(shape) < 0.03] = NULL
    return answers, gold


def write(answers: Ints, gold: Ints, file: Path) -> None:
    """Write the fleet as the 720,000-row vote table that it is."""
    labels = pl.Series([chr(ord("A") + option) for option in range(OPTIONS)] + [None], dtype=pl.String)
    ids = [f"question-{number:05d}" for number in range(QUESTIONS)]
    pl.DataFrame(
        {
            "question": np.tile(np.repeat(ids, SAMPLES), MODELS),
            "model": np.repeat([f"model-{number:02d}" for number in range(MODELS)], QUESTIONS * SAMPLES),
            "sample": np.tile(np.arange(SAMPLES), MODELS * QUESTIONS),
            "answer": labels.gather(answers.ravel()),
            "gold": labels.gather(np.tile(np.repeat(gold, SAMPLES), MODELS)),
        }
    ).write_parquet(file)


def grid_loop(counts: Ints | Sequence[Ints], gold: Ints, a: int, b: int) -> list[float]:
    """What one would write: pool, take the maximum, share the credit, split it by cell, once per weight."""
    here = np.arange(len(gold))
    scores = []
    for votes in (counts[a], counts[b]):
        tied = votes == votes.max(axis=1)[:, None]
        scores.append(np.where(tied[here, gold], 1 / tied.sum(axis=1), 0.0))
    if scores[0].mean() < scores[1].mean():
        a, b, scores = b, a, scores[::-1]
    cells = [(1 - scores[0]) * scores[1], scores[0] * (1 - scores[1])]
    lifts = []
    for weight in sl.law.PAPER_GRID:
        pooled = weight.denominator * counts[a] + weight.numerator * counts[b]
        tied = pooled == pooled.max(axis=1)[:, None]
        credit = np.where(tied[here, gold], 1 / tied.sum(axis=1), 0.0)
        swap = sum(((credit - scores[0]) * cell).mean() for cell in cells)
        assert abs(swap) <= 1
        lifts.append(float((credit - scores[0]).mean()))
    return lifts


def command_line(file: Path) -> Iterator[Row]:
    """Whole processes, from a cold start."""
    bare = f"import polars; polars.scan_parquet({str(file)!r}).group_by('question', 'model', 'answer').len().collect()"
    pairs = seconds(lambda: run("-m", "swaplaw", "pairs", str(file)))
    counting = seconds(lambda: run("-c", bare))
    yield Row("`swaplaw pairs` on 720,000 rows", pairs, counting, "a bare process that groups and counts them", 1 / 3)
    yield Row("`swaplaw --help`", seconds(lambda: run("-m", "swaplaw", "--help")), seconds(click_alone), CLICK, 1 / 1.5)
    yield Row("peak memory of `swaplaw pairs`", peak_megabytes(file), 300, "the limit", 1, "MB")


CLICK = "the help of a bare click program"


def click_alone() -> None:
    run("-c", "import click; click.command()(lambda: None).main(['--help'])")


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def peak_megabytes(file: Path) -> float:
    code = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'swaplaw', 'pairs', sys.argv[1]], "
        "check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    finished = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    return int(finished.stdout) / 1024
