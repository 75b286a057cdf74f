"""How time and memory grow with models, questions, samples and categories: one of them is doubled at a time.

Times are processor times, of all threads together, relative to the smallest size of their line; the slope of a line on
doubly logarithmic axes is its exponent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import swaplaw as sl
from benchmarks.harness import peak_megabytes, processor_seconds
from benchmarks.kernels import LAW, synthetic, write
from swaplaw.law.curve import curves_of
from swaplaw.law.pair import Pair
from swaplaw.votes.tally import Tally

SHRINK = int(os.environ.get("SWAPLAW_GROWTH_SHRINK", 1))
"""Divides the questions, for tests."""
BASES = {
    "count": {"models": 16, "questions": 2000, "samples": 8, "categories": 8},
    "score": {"models": 32, "questions": 8000, "samples": 16, "categories": 8},
    "screen": {"models": 512, "questions": 2000, "samples": 4, "categories": 4},
    "curve": {"models": 32, "questions": 8000, "samples": 16, "categories": 8},
}
"""Sizes that stay where another is doubled, for each step: such that the step itself is most of its work."""
DOUBLINGS = {"models": (-1, 3), "questions": (-1, 4), "samples": (-1, 3), "categories": (-1, 3)}
"""How often each size is doubled, from and up to (not including)."""
STEPS = ("count", "score", "screen", "curve")
"""Votes of a file to counts; counts to every model's own scores; S-hat of all pairs; the exact curve of one pair."""
WAITED: dict[str, Callable[[Tally], object]] = {
    "recommend": sl.recommend,
    "calibrate": sl.calibrate,
    "predictors": sl.predictors,
}
"""Whole analyses that people wait for: only questions are doubled."""
WAITED_BASE = {"models": 8, "questions": 2000, "samples": 8, "categories": 8}
MOST_GROWTH = 1.1
"""How fast they may grow with questions."""
CURVES = 12
"""Curves are timed on this many pairs, and given for one."""


@dataclass(frozen=True)
class Point:
    """One measured size."""

    axis: str
    size: int
    step: str
    seconds: float
    megabytes: float


def measure() -> Iterator[Point]:
    for axis, (first, last) in DOUBLINGS.items():
        for power in range(first, last):
            for step, base in BASES.items():
                shape = base | {axis: int(base[axis] * 2.0**power)}
                shape["questions"] = max(shape["questions"] // SHRINK, 8)
                tally = synthetic(shape["models"], shape["questions"], shape["samples"], shape["categories"])
                yield Point(axis, shape[axis], step, *(_count(tally) if step == "count" else _analyse(step, tally)))
    yield from waited()


def waited() -> Iterator[Point]:
    """What people wait for, with more and more questions."""
    first, last = DOUBLINGS["questions"]
    for power in range(first, last):
        questions = max(int(WAITED_BASE["questions"] * 2.0**power) // SHRINK, 64)
        tally = synthetic(WAITED_BASE["models"], questions, WAITED_BASE["samples"], WAITED_BASE["categories"])
        for step, work in WAITED.items():
            # The better of two: a machine that is shared is slower at times.
            yield Point("questions", questions, step, *min(_took(partial(work, tally)) for _ in range(2)))


def _count(tally: Tally) -> tuple[float, float]:
    """In a process of its own: Polars keeps what it freed, which would hide what the next count takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(tally, file)
        runs = [subprocess.run([sys.executable, "-c", COUNT, file], check=True, capture_output=True) for _ in range(2)]
    took, peak = min(json.loads(run.stdout) for run in runs)
    return took, peak


COUNT = """
import json, sys
import swaplaw as sl
from benchmarks.harness import peak_megabytes, processor_seconds
sl.demo_votes().counts
peak = peak_megabytes(lambda: sl.read_votes(sys.argv[1]).counts)
print(json.dumps([processor_seconds(lambda: sl.read_votes(sys.argv[1]).counts), peak]))
"""


def _analyse(step: str, tally: Tally) -> tuple[float, float]:
    if step == "score":
        return _took(lambda: replace(tally).ties)
    assert tally.ties.size  # Scores are there before pairs are looked at.
    if step == "screen":
        return _took(lambda: sl.screen(tally, LAW))
    few = [Pair(tally, number, number + 1) for number in range(min(CURVES, len(tally.models) - 1))]
    return _took(lambda: list(curves_of(few)), len(few))


def _took(work: Callable[[], object], share: int = 1) -> tuple[float, float]:
    # Threads of BLAS that wait for each other would count as work.
    with threadpool_limits(1):
        return processor_seconds(work) / share, peak_megabytes(work)


def exponents(points: list[Point]) -> dict[str, dict[str, float]]:
    """The slope of time against size on doubly logarithmic axes, for each step and axis, over the larger sizes."""
    steps = [step for step in (*STEPS, *WAITED) if any(point.step == step for point in points)]
    found: dict[str, dict[str, float]] = {step: {} for step in steps}
    for step in steps:
        for axis in DOUBLINGS:
            line = [point for point in points if (point.step, point.axis) == (step, axis)][-3:]
            if not line:
                continue
            slope = np.polyfit(np.log([point.size for point in line]), np.log([point.seconds for point in line]), 1)[0]
            found[step][axis] = round(float(slope), 2)
    return found


def figure(points: list[Point]) -> Any:
    """Time relative to the smallest size, above; peak memory, below; a column an axis."""
    from swaplaw.report.plots.style import altair, base, colour, dash, finish, shape

    alt = altair()
    rows = []
    for point in points:
        first = next(one for one in points if (one.axis, one.step) == (point.axis, point.step))
        rows.append(asdict(point) | {"relative": point.seconds / first.seconds})
    columns = []
    for axis in DOUBLINGS:
        own = [row for row in rows if row["axis"] == axis and row["step"] in STEPS]
        ticks = sorted({row["size"] for row in own})[::2]
        x = alt.X("size:Q", title=axis, scale=alt.Scale(type="log", base=2, nice=False), axis=alt.Axis(values=ticks))
        panels = [
            base(own)
            .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
            .encode(
                x=x,
                y=alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", base=base_of)),
                color=colour("step", STEPS, "step", orient="right", symbolSize=60),
                strokeDash=dash("step", STEPS, "step"),
                shape=shape("step", STEPS, "step"),
            )
            .properties(width=190, height=170)
            for field, title, base_of in (
                ("relative", "processor time, times the smallest", 2),
                ("megabytes", "peak memory (MB)", 10),
            )
        ]
        columns.append(alt.vconcat(*panels, spacing=16))
    return finish(alt.hconcat(*columns, spacing=24), "How the work grows", ["Synthetic fleets; one size changes", NOTE])


NOTE = "Count: votes of a file. Score: every model's own vote. Screen: S-hat of all pairs. Curve: one pair, exactly"
