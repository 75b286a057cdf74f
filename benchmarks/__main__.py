"""`python -m benchmarks [topic ...]`: measure, print ratios, write JSON, and fail if a goal is missed.

`python -m benchmarks growth` prints how time grows where sizes double.

`--write docs` publishes: the tables of `speed.md` there, its figure, and the ratios that `--guard` (a step of CI) holds
later runs to. With topics, only their rows are made anew; without, growth is measured as well.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks import growth, guard, publish
from benchmarks.harness import Row
from benchmarks.publish import TOPICS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("topics", nargs="*", help=f"what to measure: {', '.join(TOPICS)} (all by default)")
    parser.add_argument("-o", "--output", type=Path, default=Path("benchmarks/out/results.json"))
    parser.add_argument("--write", type=Path, metavar="DOCS", help="publish the pages' tables, figure and ratios")
    parser.add_argument("--guard", action="store_true", help="measure the quick ratios and hold them to the published")
    chosen = parser.parse_args()
    if chosen.guard:
        return guard.main(publish.PUBLISHED)
    if chosen.topics == ["growth"]:
        print("\n".join(publish.growth_table(list(growth.measure()))))
        return 0
    if unknown := set(chosen.topics) - set(TOPICS):
        parser.error(f"unknown topic {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    # The commit is that of the code that runs, whatever is committed meanwhile.
    where, measured = publish.facts(), dict[str, list[Row]]()
    for topic in chosen.topics or TOPICS:
        measured[topic] = []
        for row in import_module(f"benchmarks.{topic}").measure():
            measured[topic].append(row)
            print(line(row), flush=True)
    rows = [row for own in measured.values() for row in own]
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    results = [asdict(row) | {"ratio": row.ratio, "holds": row.holds} for row in rows]
    chosen.output.write_text(json.dumps(where | {"rows": results}, indent=2) + "\n")
    if chosen.write:
        publish.write(chosen.write, where, measured, [] if chosen.topics else list(growth.measure()))
    return 0 if all(row.holds for row in rows) else 1


def line(row: Row) -> str:
    mark = "ok  " if row.holds else "MISS"
    return (
        f"{mark} {row.ratio:8.2f}x (goal {row.goal:g}x)  {row.name}: {row.ours:.4g} {row.unit}; "
        f"{row.against}: {row.theirs:.4g} {row.unit}"
    )


if __name__ == "__main__":
    sys.exit(main())
