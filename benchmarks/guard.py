"""The guard of CI: measure the quick comparisons again, and fail when a ratio is below half of what was published.

Ratios only, measured in turns; one that falls short is measured up to twice more, because machines are noisy.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import kernels
from benchmarks.harness import Row

ATTEMPTS = 3
TOLERANCE = 0.5
"""The share of a published ratio that must be reached."""


def main(published: Path) -> int:
    """Compare, say what was found, and return the exit code."""
    told = json.loads(published.read_text())
    wanted = {name: TOLERANCE * told["ratios"][name] for name in told["guarded"]}
    best: dict[str, float] = {}
    for _ in range(ATTEMPTS):
        for row in measured():
            best[row.key] = max(best.get(row.key, 0.0), row.ratio)
        if not below(wanted, best):
            break
    for name, least in wanted.items():
        mark = "FALL" if name in below(wanted, best) else "ok  "
        print(f"{mark} {best.get(name, 0.0):10.2f}x (at least {least:.2f}x)  {name}")
    fallen = below(wanted, best)
    if fallen:
        print(f"{len(fallen)} of {len(wanted)} ratios fell below {TOLERANCE:g} of what was published", file=sys.stderr)
    return 1 if fallen else 0


def measured() -> Iterator[Row]:
    """The guarded comparisons, measured now."""
    os.environ["SWAPLAW_GUARD"] = "1"
    yield from (row for row in kernels.measure() if row.guarded)


def below(wanted: Mapping[str, float], best: Mapping[str, float]) -> list[str]:
    """Those that have not reached their mark."""
    return [name for name, least in wanted.items() if best.get(name, 0.0) < least]
