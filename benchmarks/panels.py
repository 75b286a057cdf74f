"""Panels: certified weights of every trio against a plain NumPy grid over 25 x 25 weights.

And two engines in one: `certify` hands what branch and bound does not finish soon to a solver, which must not make
panels of up to five members slower than branch and bound alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import swaplaw as sl
from benchmarks.harness import Row, guarding, seconds
from benchmarks.law import MODELS, OPTIONS, fleet, write
from swaplaw._arrays import Ints
from swaplaw.panels.exact import challenge
from swaplaw.panels.panel import oriented

TRIOS = tuple(combinations(range(MODELS), 3))


STRONGEST = 5


def measure() -> Iterator[Row]:
    yield engines()
    if guarding():
        return
    answers, gold = fleet()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(answers, gold, file)
        tally = sl.read_votes(file).tally()
    counts = np.stack([(answers == option).sum(axis=2) for option in range(OPTIONS + 1)], axis=2)
    found: list[sl.panels.Certificate] = []
    ours = seconds(lambda: found.extend(sl.panels.certify(oriented(tally, trio)) for trio in TRIOS), repeats=1)
    grids: list[float] = []
    theirs = seconds(lambda: grids.extend(grid_loop(counts, gold, found[at].panel) for at in range(len(TRIOS))), 1)
    for one, grid in zip(found, grids, strict=True):
        assert one.certified
        assert float(one.best.accuracy) >= grid - 1e-12
    yield Row(f"certified weights of {len(TRIOS)} trios", ours, theirs, "NumPy loop over 25 x 25 weights", 1)
    pruned = seconds(lambda: sl.panels.best_panels(tally, 3, top=1), repeats=1)
    yield Row("the best trio, proven", pruned, theirs, "NumPy loop over 25 x 25 weights", 4)


def engines() -> Row:
    """Trios, quartets and the quintet of the most accurate models of the bundled votes, by both engines and by one."""
    tally = sl.demo_votes().tally()
    strongest = sorted(range(len(tally.models)), key=lambda model: -tally.scores[model].total)[:STRONGEST]
    panels = [oriented(tally, some) for size in (3, 4, 5) for some in combinations(strongest, size)]
    ours = seconds(lambda: [sl.panels.certify(panel) for panel in panels], repeats=3)
    theirs = seconds(lambda: [_tidied(challenge(panel)) for panel in panels], repeats=3)
    name = f"certified weights of {len(panels)} panels of 3 to {STRONGEST}"
    return Row(name, ours, theirs, "branch and bound alone", 0.9, guarded=True)


def _tidied(found: sl.panels.Certificate | None) -> sl.panels.Certificate:
    assert found is not None
    return found.tidied()


def grid_loop(counts: Ints, gold: Ints, panel: sl.panels.Panel) -> float:
    """What one would write: pool, take the maximum, share the credit, once per combination of weights."""
    here = np.arange(len(gold))
    a, b, c = panel.indices
    grid = [float(weight) for weight in sl.law.PAPER_GRID]
    best = 0.0
    for x in grid:
        for y in grid:
            pooled = counts[a] + x * counts[b] + y * counts[c]
            tied = pooled == pooled.max(axis=1)[:, None]
            credit = np.where(tied[here, gold], 1 / tied.sum(axis=1), 0.0)
            best = max(best, float(credit.mean()))
    return best
