"""`python -m benchmarks [topic ...]`: measure, print a table, write JSON, and fail if a goal is missed."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.harness import Row

TOPICS = ("law", "evidence", "choice", "panels", "imports", "serve", "collect")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("topics", nargs="*", help=f"what to measure: {', '.join(TOPICS)} (all by default)")
    parser.add_argument("-o", "--output", type=Path, default=Path("benchmarks/out/results.json"))
    chosen = parser.parse_args()
    rows: list[Row] = []
    for topic in chosen.topics or TOPICS:
        for row in import_module(f"benchmarks.{topic}").measure():
            rows.append(row)
            print(line(row), flush=True)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    results = [asdict(row) | {"ratio": row.ratio, "holds": row.holds} for row in rows]
    facts = {"python": platform.python_version(), "machine": platform.machine()}
    chosen.output.write_text(json.dumps(facts | {"rows": results}, indent=2) + "\n")
    return 0 if all(row.holds for row in rows) else 1


def line(row: Row) -> str:
    mark = "ok  " if row.holds else "MISS"
    return (
        f"{mark} {row.ratio:8.2f}x (goal {row.goal:g}x)  {row.name}: {row.ours:.4g} {row.unit}; "
        f"{row.against}: {row.theirs:.4g} {row.unit}"
    )


if __name__ == "__main__":
    sys.exit(main())
