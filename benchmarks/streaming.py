"""A corpus larger than memory: counted, screened and drawn as curves in a process that may not hold it.

The votes lie on disk as plain Parquet (neither compressed nor as dictionaries), several times as large as all the
memory that the process may have. `SWAPLAW_BENCH_ROWS` sets how many there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import Row

MODELS, SAMPLES, PARTS = 20, 400, 20
ROWS = int(os.environ.get("SWAPLAW_BENCH_ROWS", 75_000_000))
LIMIT = int(os.environ.get("SWAPLAW_BENCH_LIMIT", 1536))
"""Megabytes of its own that the process may have (RLIMIT_DATA): heap, stacks and buffers, all but mapped files."""
GOAL = 3.0 if ROWS >= 75_000_000 else 0.0
THREADS = {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
THREADS["POLARS_ROW_GROUP_PREFETCH_SIZE"] = "4"

OURS = """
import swaplaw as sl
from benchmarks.evidence import LAW
tally = sl.read_votes(folder).tally()
assert len(sl.screen(tally, LAW)) == 190
assert max(curve.best_plateau.lift for curve in sl.law.curves(tally)) > 0
votes = int(tally.votes.sum(dtype="int64"))
"""
THEIRS = """
import pandas as pd
votes = int(pd.read_parquet(folder).groupby(["question", "model", "answer", "gold"], dropna=False).size().sum())
"""
PROBE = """
import json, resource, sys
folder, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit * 2**20, limit * 2**20))
{work}
print(json.dumps([votes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        made = write(Path(folder), ROWS)
        disk = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
        found = run(OURS, folder)
        assert found is not None
        assert found[0] == made
        name = f"{made / 1e6:g} million votes from file to exact curves: memory that the process may have"
        theirs = "does it, too" if run(THEIRS, folder) else "runs out of memory"
        note = f"synthetic votes; pandas' group-by under the same limit {theirs}"
        yield Row(name, LIMIT, disk, "the votes on disk", GOAL, "MB", note=note)


def write(folder: Path, rows: int) -> int:
    """Write made-up votes, part by part; returns how many."""
    import polars as pl
    import pyarrow.parquet as pq

    questions, rng = max(1, rows // (MODELS * SAMPLES * PARTS)), np.random.default_rng(0)
    letters, block = pl.Series(["A", "B", "C", "D", None]), (questions, MODELS, SAMPLES)
    names = pl.Series([f"organisation/model-{number:02}" for number in range(MODELS)])
    for part in range(PARTS):
        ids = pl.Series([f"subject/question-{part * questions + number:07}" for number in range(questions)])
        gold = rng.integers(0, 4, questions)
        knows = rng.random((questions, MODELS)) * np.linspace(1.0, 1.2, MODELS)
        right = rng.random(block, dtype=np.float32) < knows[:, :, None]
        answer = np.where(right, gold[:, None, None], rng.integers(0, 5, block, dtype=np.int8)).reshape(-1)
        frame = pl.DataFrame(
            {
                "question": ids.gather(np.repeat(np.arange(questions), MODELS * SAMPLES)),
                "model": names.gather(np.tile(np.repeat(np.arange(MODELS), SAMPLES), questions)),
                "sample": np.tile(np.arange(SAMPLES, dtype=np.int32), questions * MODELS),
                "answer": letters.gather(answer),
                "gold": letters.gather(np.repeat(gold, MODELS * SAMPLES)),
            }
        )
        plain = {"compression": "none", "use_dictionary": False, "row_group_size": 2**18}
        pq.write_table(frame.to_arrow(), folder / f"{part:03}.parquet", **plain)
    return questions * MODELS * SAMPLES * PARTS


def run(work: str, folder: str) -> tuple[int, float] | None:
    """Votes counted and peak megabytes, or None where the process ran out of memory."""
    probe = [sys.executable, "-c", PROBE.format(work=work), folder, str(LIMIT)]
    finished = subprocess.run(probe, capture_output=True, text=True, env=os.environ | THREADS)
    if finished.returncode:
        assert "emory" in finished.stderr or finished.returncode < 0, finished.stderr
        return None
    votes, peak = json.loads(finished.stdout.splitlines()[-1])
    return votes, peak
