"""`python -m benchmarks.decisions real|null|power`: decisions on real halves, null fleets, and fleets with a gain."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.decisions import real, simulation
from benchmarks.decisions.competitors import DECIDERS

VOTES = Path(__file__).resolve().parents[2] / "tests" / "data" / "votes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("what", choices=["real", "null", "power"])
    parser.add_argument("--draws", type=int, default=200, help="draws of each synthetic fleet")
    parser.add_argument("--splits", type=int, default=10, help="splits of each real dataset")
    parser.add_argument("--only", default="", help="what contains this in its name")
    parser.add_argument("-o", "--output", type=Path, help="write the rows as JSON lines")
    chosen = parser.parse_args()
    rows = []
    if chosen.what == "real":
        for name, tally in real.datasets(VOTES):
            if chosen.only in name:
                found = list(real.compare(name, tally, chosen.splits))
                rows += [asdict(row) for row in found]
                print(name, " ".join(f"{r.decider} {100 * r.gain:+.2f}±{100 * r.error:.2f}" for r in found), flush=True)
        print(summary(rows))
    else:
        for outcome in (simulation.null if chosen.what == "null" else simulation.power)(chosen.draws, chosen.only):
            rows.append(asdict(outcome))
            print(outcome, flush=True)
    if chosen.output:
        chosen.output.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 0


def summary(rows: list[dict[str, object]]) -> str:
    """The Markdown table of the page: each way to decide over all datasets."""
    lines = ["| decision | mean gain | worst dataset | worst split | deploys more than one |", "|---|--:|--:|--:|--:|"]
    for decider in DECIDERS:
        own = [row for row in rows if row["decider"] == decider]
        gains, errors, worst, deployed = (
            [float(str(row[key])) for row in own] for key in ("gain", "error", "worst", "deployed")
        )
        if own:
            error = sum(each**2 for each in errors) ** 0.5 / len(own)
            lines.append(
                f"| {decider} | {100 * sum(gains) / len(own):+.2f} ± {100 * error:.2f} | {100 * min(gains):+.2f} | "
                f"{100 * min(worst):+.1f} | {sum(deployed) / len(own):.0%} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
