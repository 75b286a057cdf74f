"""`python -m benchmarks.decisions real|null|hard|power`: decisions on real halves and on synthetic fleets."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.decisions import real, simulation
from benchmarks.decisions.tables import TABLES

VOTES = Path(__file__).resolve().parents[2] / "tests" / "data" / "votes"


def main() -> int:
    """Run what is asked for, row by row, and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("what", choices=list(TABLES))
    parser.add_argument("--draws", type=int, default=200, help="draws of each synthetic fleet")
    parser.add_argument("--splits", type=int, default=10, help="splits of each real dataset")
    parser.add_argument("--only", default="", help="what contains this in its name")
    parser.add_argument("-o", "--output", type=Path, help="write the rows as JSON lines")
    parser.add_argument("--rows", type=Path, nargs="+", help="run nothing: show the rows of these files")
    chosen = parser.parse_args()
    rows = [] if chosen.rows is None else [json.loads(line) for file in chosen.rows for line in file.open()]
    for row in _run(chosen) if chosen.rows is None else ():
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
        if chosen.output:
            with chosen.output.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print(TABLES[chosen.what](rows))
    return 0


def _run(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    if chosen.what == "real":
        for name, tally in real.datasets(VOTES):
            if chosen.only in name:
                yield from (asdict(row) for row in real.compare(name, tally, chosen.splits))
    else:
        run = {"null": simulation.null, "hard": simulation.hard, "power": simulation.power}[chosen.what]
        yield from (asdict(outcome) for outcome in run(chosen.draws, chosen.only))


if __name__ == "__main__":
    sys.exit(main())
