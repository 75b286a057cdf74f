"""How time and memory grow with models, questions, samples and categories: one of them is doubled at a time.

Times are processor times, of all threads together, relative to the smallest size of their line; the slope of a line on
doubly logarithmic axes is its exponent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import swaplaw as sl
from benchmarks.evidence import LAW
from benchmarks.fleets import synthetic
from benchmarks.harness import peak_megabytes, processor_seconds
from swaplaw.pair import Pair
from swaplaw.tally import Tally

SHRINK = int(os.environ.get("SWAPLAW_GROWTH_SHRINK", 1))
"""Divides the questions, for tests."""
BASE = {"models": 16, "questions": 4000 // SHRINK, "samples": 8, "categories": 8}
SIZES = {
    "models": (8, 16, 32, 64),
    "questions": tuple(size // SHRINK for size in (2000, 4000, 8000, 16000, 32000)),
    "samples": (4, 8, 16, 32),
    "categories": (4, 8, 16, 32),
}
STEPS = ("count", "score", "screen", "curve")
"""Votes of a file to counts; counts to every model's own scores; S-hat of all pairs; the exact curve of one pair."""
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
    for axis, sizes in SIZES.items():
        for size in sizes:
            shape = BASE | {axis: size}
            tally = synthetic(shape["models"], shape["questions"], shape["samples"], shape["categories"])
            yield from _steps(axis, size, tally)


def _steps(axis: str, size: int, tally: Tally) -> Iterator[Point]:
    def point(step: str, work: Callable[[], object], share: int = 1) -> Point:
        took = processor_seconds(work)
        return Point(axis, size, step, took / share, peak_megabytes(work))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(tally, file)
        yield point("count", lambda: sl.read_votes(file).counts)
    yield point("score", lambda: _fresh(tally).ties)
    yield point("screen", lambda: sl.screen(tally, LAW))
    few = [(number, number + 1) for number in range(min(CURVES, len(tally.models) - 1))]
    yield point("curve", partial(_curves, tally, few), len(few))


def _fresh(tally: Tally) -> Tally:
    """The same counts with nothing derived yet."""
    from dataclasses import replace

    return replace(tally)


def _curves(tally: Tally, pairs: list[tuple[int, int]]) -> list[sl.Curve]:
    from swaplaw.curve import curve_of

    return [curve_of(Pair(tally, a, b)) for a, b in pairs]


def write(tally: Tally, file: Path) -> None:
    """Write a tally's votes as the table that they would have been counted from."""
    import polars as pl

    labels = pl.Series(["gold", *(f"rival {number}" for number in range(tally.rivals.rows.height))])
    parts = []
    row = np.repeat(np.arange(tally.rivals.rows.height), tally.rivals.rows.widths)
    for model, name in enumerate(tally.models):
        own = slice(tally.starts[model], tally.starts[model + 1])
        position = tally.positions[own]
        question = np.concatenate([np.arange(len(tally.questions)), tally.rivals.question[position]])
        label = np.concatenate([np.zeros(len(tally.questions), dtype=np.intp), 1 + row[position]])
        times = np.concatenate([tally.gold[model], tally.counts[own]])
        parts.append(
            pl.DataFrame(
                {
                    "question": pl.Series(tally.questions).gather(np.repeat(question, times)),
                    "answer": labels.gather(np.repeat(label, times)),
                }
            ).with_columns(pl.lit(name).alias("model"), pl.lit("gold").alias("gold"))
        )
    pl.concat(parts).write_parquet(file)


def exponents(points: list[Point]) -> dict[str, dict[str, float]]:
    """The slope of time against size on doubly logarithmic axes, for each step and axis, over the larger sizes."""
    found: dict[str, dict[str, float]] = {step: {} for step in STEPS}
    for step in STEPS:
        for axis in SIZES:
            line = [point for point in points if (point.step, point.axis) == (step, axis)][-3:]
            slope = np.polyfit(np.log([point.size for point in line]), np.log([point.seconds for point in line]), 1)[0]
            found[step][axis] = round(float(slope), 2)
    return found


def figure(points: list[Point]) -> Any:
    """Time relative to the smallest size, above; peak memory, below; a column an axis."""
    from swaplaw.plots.style import altair, base, colour, dash, finish, shape

    alt = altair()
    rows = []
    for point in points:
        first = next(one for one in points if (one.axis, one.step) == (point.axis, point.step))
        rows.append(asdict(point) | {"relative": point.seconds / first.seconds})
    columns = []
    for axis, sizes in SIZES.items():
        own = [row for row in rows if row["axis"] == axis]
        x = alt.X("size:Q", title=axis, scale=alt.Scale(type="log", base=2, nice=False), axis=alt.Axis(values=sizes))
        panels = [
            base(own)
            .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
            .encode(
                x=x,
                y=alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", base=base_of)),
                color=colour("step", STEPS, "step", orient="right"),
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
    base_size = ", ".join(f"{size:,} {axis}" for axis, size in BASE.items())
    return finish(
        alt.hconcat(*columns, spacing=24),
        "How the work grows",
        ["Synthetic fleets; one size changes, the others stay at " + base_size, "Curve: the exact curve of one pair"],
    )
