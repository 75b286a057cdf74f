"""Before and after: the commands that people wait for, of another checkout and of this one, in turns in one run.

    git worktree add --detach ../old COMMIT
    python -m benchmarks.before ../old --write docs

Processor seconds (user and system, all threads) and peak memory of whole processes; where a run is short, the best of
several counts. A run that exceeds the bounds (`--most`, `--memory`) is stopped and shown as more than the bound; ours
may take several times as long, so that it is measured. What the other checkout has no command for is left blank.
`--write` puts the table into `speed.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import publish
from benchmarks.commands import NAMES, ROOT, Bound, Run, make, run

ENTRIES: tuple[tuple[str, str], ...] = (
    ("help", "d"),
    *((command, "d") for command in ("pairs", "recommend", "calibrate", "predictors", "front", "panel", "report")),
    *((command, "b") for command in ("pairs", "recommend", "calibrate", "predictors")),
    *((command, "r") for command in ("pairs", "recommend", "calibrate", "predictors", "quartets")),
    *((command, "e") for command in ("recommend", "calibrate", "predictors")),
    *((command, "f") for command in ("pairs", "calibrate", "predictors")),
)
"""Commands and fleets of the table."""
SHORT, REPEATS = 3.0, 3
"""Runs of fewer seconds are repeated so often: their start is a good part of them."""


@dataclass(frozen=True)
class Entry:
    """One command on one fleet, of both checkouts."""

    before: Run
    after: Run


def measure(other: Path, bound: Bound, entries: Sequence[tuple[str, str]], folder: Path) -> Iterator[Entry]:
    """Run every entry, of the other checkout first."""
    files = make(folder, [fleet for _, fleet in entries])
    for command, fleet in entries:
        before = best(command, fleet, files[fleet], other / "src", bound)
        yield Entry(before, best(command, fleet, files[fleet], ROOT / "src", bound.wider))


def best(command: str, fleet: str, votes: Path, source: Path, bound: Bound) -> Run:
    """One run, or the quickest of several short ones."""
    runs = [run(command, fleet, votes, source, bound)]
    while runs[0].seconds < SHORT and len(runs) < REPEATS:
        runs.append(run(command, fleet, votes, source, bound))
    return min(runs, key=lambda one: one.seconds)


def table(entries: Sequence[Entry], bound: Bound) -> list[str]:
    """The entries as Markdown."""
    lines = [
        "| command | votes | before: CPU s | now: CPU s | times faster | before: MB | now: MB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for entry in entries:
        command = {"help": "--help", "quartets": "panel --size 4", "panel": "panel --size 3"}.get(
            entry.after.command, entry.after.command
        )
        votes = "" if command == "--help" else NAMES[entry.after.fleet]
        then, room_then = seconds(entry.before, bound), megabytes(entry.before, bound)
        now, room_now = seconds(entry.after, bound.wider), megabytes(entry.after, bound.wider)
        lines.append(f"| `{command}` | {votes} | {then} | {now} | {times(entry)} | {room_then} | {room_now} |")
    return lines


def seconds(one: Run, bound: Bound) -> str:
    """Processor seconds in words."""
    if one.unknown:
        return ""
    if one.timed_out:
        return f"> {bound.seconds}"
    return f"{one.seconds:.2g}" if one.code == 0 and one.seconds < 10 else f"{one.seconds:.0f}" if not one.code else ""


def megabytes(one: Run, bound: Bound) -> str:
    """Peak memory in words; what fails within the time failed for want of memory, or is said."""
    if one.unknown:
        return ""
    if one.code and not one.timed_out:
        return f"> {1024 * bound.gigabytes:,}" if "Memory" in one.said else f"failed: {one.said}"
    return f"{one.megabytes:,.0f}"


def times(entry: Entry) -> str:
    """How many times less processor time it takes now."""
    if entry.after.code or (entry.before.code and not entry.before.timed_out):
        return ""
    return f"{'> ' if entry.before.timed_out else ''}{entry.before.seconds / entry.after.seconds:.2g}"


def written(docs: Path, other: Path, entries: Sequence[Entry], bound: Bound) -> None:
    """Put the table into the page."""
    where = publish.facts()
    before = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=other, capture_output=True, text=True, check=True
    ).stdout.strip()
    made = (
        f"Before: commit `{before}`; now: commit `{where['commit']}`; {where['cores']} cores of {where['processor']}, "
        f"{where['memory_gb']} GB, Python {where['python']}, NumPy {where['numpy']}."
    )
    publish.publish_page(docs / "speed.md", {"before": [made, "", *table(entries, bound)]})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before", description=__doc__)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--only", help="some entries: command:fleet,...")
    parser.add_argument("--most", type=int, default=40, help="processor seconds of a run of the other checkout")
    parser.add_argument("--memory", type=int, default=8, help="gigabytes of a run")
    parser.add_argument("--folder", type=Path, help="keep the votes here")
    parser.add_argument("--write", type=Path, metavar="DOCS", help="put the table into the page there")
    chosen = parser.parse_args()
    bound = Bound(chosen.most, chosen.memory)
    asked = [tuple(each.split(":")) for each in chosen.only.split(",")] if chosen.only else ENTRIES
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for entry in measure(chosen.other, bound, asked, chosen.folder or Path(folder)):
            found.append(entry)
            print(json.dumps(asdict(entry)), flush=True)
    print("\n".join(table(found, bound)))
    if chosen.write:
        written(chosen.write, chosen.other, found, bound)
    return 0


if __name__ == "__main__":
    sys.exit(main())
