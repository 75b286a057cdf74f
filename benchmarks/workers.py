"""Two workers against one process, on jobs that take a minute or more: wall time, on a machine with two quiet cores.

Searches, folds and splits run on one thread, and can gain as many times as there are workers. A bootstrap draws on as
many threads as there are cores (up to four) by itself, so `calibrate` and `predictors` take no workers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.commands import make
from benchmarks.harness import Row

JOBS = {
    "panel": ("--size", "4", "--top", "60", "--json"),
    "recommend": ("--search", "full", "--max-models", "3", "--replicates", "30000", "--json"),
    "combine": ("--repeats", "90", "--json"),
}
"""Commands, and what makes them long on 10 models x 3,000 questions x 24 samples."""
GOAL = 1.6


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        votes = str(make(Path(folder), ["d"])["d"])
        for command, options in JOBS.items():
            alone, two = (wall([command, votes, *options, *more]) for more in ([], ["--workers", "2"]))
            yield Row(f"`swaplaw {command} --workers 2`", two, alone, "one process", GOAL, note="wall time")


def wall(arguments: list[str]) -> float:
    """Seconds from start to end of a command."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "swaplaw", *arguments], check=True, capture_output=True)
    return time.perf_counter() - start
