"""How everything is measured: both sides in one run, the best of several repeats, reported as a ratio."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison. `ours` and `theirs` are in `unit`; the ratio theirs / ours is what counts."""

    name: str
    ours: float
    theirs: float
    against: str
    goal: float
    """The ratio that must be reached."""
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times better ours is."""
        return self.theirs / self.ours

    @property
    def holds(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio >= self.goal


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Best wall time of several runs: the least disturbed one."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
