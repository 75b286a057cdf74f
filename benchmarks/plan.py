"""What a corpus of 10^12 votes and 10^5 models would cost, computed from the measured growth.

Every step's processor time at the most questions measured is carried to the corpus, size by size: by the power that the
algorithm has, or the fitted one where that is larger (by 0.1 at most; caches and noise do more at small sizes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from benchmarks.growth import BASES, STEPS, Point, exponents

CORPUS = {"models": 100_000, "questions": 1_000_000, "samples": 10, "categories": 8}
"""10^12 votes."""
BEST_PAIRS = 1_000_000
"""Pairs whose curves are computed: the most promising by S-hat, 1 in 5,000."""
THEORY = {
    "count": {"models": 1.0, "questions": 1.0, "samples": 1.0, "categories": 0.0},
    "score": {"models": 1.0, "questions": 1.0, "samples": 0.0, "categories": 1.0},
    "screen": {"models": 2.0, "questions": 1.0, "samples": 0.0, "categories": 0.0},
    "curve": {"models": 0.0, "questions": 1.0, "samples": 0.0, "categories": 1.0},
}
"""The exponents that the algorithms have for large sizes; small ones look flatter, because calls cost something too."""
ENGINES = {
    "count": "the engine that holds the votes (Spark, DuckDB, Polars): one pass, only counts come back",
    "score": "any, model by model: each needs its own counts alone",
    "screen": "a matrix product in blocks of questions, summed: BLAS on every node, or a GPU",
    "curve": "any, pair by pair: each reads two models",
}


@dataclass(frozen=True)
class Cost:
    """One step carried to the corpus."""

    step: str
    hours: float
    """Core-hours at the measured speed of one core."""
    times: float
    """How often the measured base case's time."""


def costs(points: Sequence[Point]) -> list[Cost]:
    """Carry each step from the largest measured case of the questions' axis, by the larger of fit and theory."""
    fitted, found = exponents(list(points)), []
    for step in STEPS:
        start = [point for point in points if (point.axis, point.step) == ("questions", step)][-1]
        shape = BASES[step] | {"questions": start.size}
        powers = {axis: max(THEORY[step][axis], min(fitted[step][axis], THEORY[step][axis] + 0.1)) for axis in CORPUS}
        times = prod((CORPUS[axis] / shape[axis]) ** powers[axis] for axis in CORPUS)
        times *= BEST_PAIRS if step == "curve" else 1
        found.append(Cost(step, start.seconds * times / 3600, times))
    return found


def lines(points: Sequence[Point]) -> list[str]:
    """The plan as Markdown."""
    found = costs(points)
    total = sum(cost.hours for cost in found)
    limit = max(found, key=lambda cost: cost.hours)
    out = [
        "| step | share of all work | times the measured case | core-hours | where it runs |",
        "|---|--:|--:|--:|---|",
    ]
    for cost in found:
        out.append(
            f"| {cost.step} | {cost.hours / total:.1%} | {cost.times:.2g} | {cost.hours:,.0f} | {ENGINES[cost.step]} |"
        )
    models, questions = CORPUS["models"], CORPUS["questions"]
    memory = {
        "tie sizes, a byte per model and question": models * questions,
        "overlaps of all pairs, 8 bytes each (half of a square)": 4 * models * models,
        "counts, 5 bytes per rival that was voted for (2.5 per model and question)": 12.5 * models * questions,
    }
    out += ["", f"The step that limits is **{limit.step}**.", ""]
    out += ["| held | GB |", "|---|--:|"]
    return out + [f"| {what} | {size / 1e9:,.0f} |" for what, size in memory.items()]
