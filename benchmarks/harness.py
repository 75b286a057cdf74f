"""How everything is measured: both sides in one run, in turns, the best of several, reported as a ratio."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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
    memory: tuple[float, float] | None = None
    """Peak memory of both sides beyond their input, in MB."""
    note: str = ""
    """What a reader must know to trust the number: what was scaled up, what is synthetic."""
    guarded: bool = False
    """Quick and steady enough to be measured again by every run of CI."""

    @property
    def key(self) -> str:
        """What the row is published under."""
        return f"{self.name} / {self.against}"

    @property
    def ratio(self) -> float:
        """How many times better ours is."""
        return self.theirs / self.ours

    @property
    def holds(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio >= self.goal


def seconds(work: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Best time of several runs, the least disturbed one: wall time, or another clock's."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Best processor time, all threads together; the clock ticks in microseconds."""
    return max(seconds(work, repeats, time.process_time), 1e-6)


def in_turns(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    rounds: int = 4,
    repeats: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Best times of both, measured in turns, so that both see the same machine."""
    times = [(seconds(ours, repeats, clock), seconds(theirs, repeats, clock)) for _ in range(rounds)]
    return min(time for time, _ in times), min(time for _, time in times)


def peak_megabytes(work: Callable[[], object]) -> float:
    """Most memory that work takes beyond what the process holds before it (Linux)."""
    gc.collect()
    # Memory that was freed but not given back would hide what the work takes.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    result = work()
    peak = _status("VmHWM")
    del result
    return max(peak - before, 4.0) / 1024


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return float(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}")


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    against: str,
    goal: float,
    *,
    rounds: int = 4,
    repeats: int = 2,
    share: float = 1.0,
    processor: bool = False,
    note: str = "",
    guarded: bool = False,
) -> Row:
    """Measure time in turns and memory after that; `theirs` may be a share of the work, which is said in the note.

    Where both sides use one thread, processor time is the fairer: neighbours on the machine do not count.
    """
    mine, other = in_turns(ours, theirs, rounds, repeats, time.process_time if processor else time.perf_counter)
    memory = None if guarding() else (peak_megabytes(ours), peak_megabytes(theirs))
    scaled = f"measured on {share:.3g} of the work and scaled up" if share < 1 else ""
    unit = "CPU s" if processor else "s"
    return Row(name, mine, other / share, against, goal, unit, memory, "; ".join(filter(None, (scaled, note))), guarded)


def guarding() -> bool:
    """Whether only ratios are wanted, quickly: memory is not measured, and slow rows are left out."""
    return bool(os.environ.get("SWAPLAW_GUARD"))
