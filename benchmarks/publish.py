"""What the suite publishes: tables in `docs/speed.md`, a figure, and the ratios that CI guards.

Numbers in the page lie between marks, and only these are written anew; the prose around them is kept.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import growth
from benchmarks.growth import Point
from benchmarks.harness import Row

TOPICS = ("kernels", "commands", "billion", "serve")
ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "benchmarks" / "published.json"


def write(docs: Path, where: dict[str, Any], measured: Mapping[str, Sequence[Row]], points: list[Point]) -> None:
    """Write the tables and the figure of the pages in a folder, and the published ratios.

    Topics that were not measured keep the rows that they had, and the page says which commit these were made on. So
    does growth, where no points are given.
    """
    told = json.loads(PUBLISHED.read_text()) if PUBLISHED.exists() else {}
    topics = told.get("topics", {})
    for topic, rows in measured.items():
        topics[topic] = {"commit": where["commit"], "rows": [asdict(row) for row in rows]}
    ordered = {topic: topics[topic] for topic in TOPICS if topic in topics}
    rows = [_row(each) for own in ordered.values() for each in own["rows"]]
    grown = points or [Point(**point) for point in told.get("growth", [])]
    made = {"machine": [_machine(where, ordered)]}
    publish_page(docs / "speed.md", made | {"table": table(rows), "growth": growth_table(grown)})
    draw(docs, grown)
    published = where | {
        "ratios": {row.key: round(row.ratio, 6) for row in rows},
        "guarded": [row.key for row in rows if row.guarded],
        "topics": ordered,
        "growth": [asdict(point) for point in grown],
    }
    PUBLISHED.write_text(json.dumps(published, indent=1) + "\n")


def _row(told: Mapping[str, Any]) -> Row:
    memory = told["memory"]
    return Row(**dict(told) | {"memory": None if memory is None else (memory[0], memory[1])})


def publish_page(page: Path, parts: Mapping[str, Sequence[str]]) -> None:
    """Write a page's parts anew."""
    text = page.read_text()
    for name, lines in parts.items():
        text = between(text, name, lines)
    page.write_text(text)


def draw(docs: Path, points: list[Point]) -> None:
    """Draw the growth curves."""
    from swaplaw.report.plots import save

    save(growth.figure(points), docs / "images" / "growth.svg")


def between(text: str, name: str, lines: Sequence[str]) -> str:
    """Put lines between a page's marks of this name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"the page has no marks <!-- {name} --> and <!-- /{name} --> to write between")
    body = "\n".join(lines)
    return pattern.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text, count=1)


def facts() -> dict[str, Any]:
    """The commit and the machine."""
    dirty = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks")
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return {
        "commit": _git("rev-parse", "--short=10", "HEAD") + (" with changes" if dirty else ""),
        "processor": processor[1] if processor else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(memory[1]) / 2**20) if memory else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _machine(where: dict[str, Any], topics: Mapping[str, Any]) -> str:
    older: dict[str, list[str]] = {}
    for topic, own in topics.items():
        if own["commit"] != where["commit"]:
            older.setdefault(own["commit"], []).append(topic)
    kept = "".join(f" Rows of {', '.join(names)}: commit `{commit}`." for commit, names in older.items())
    return (
        f"Made on commit `{where['commit']}`: {where['cores']} cores of {where['processor']}, {where['memory_gb']} GB, "
        f"Python {where['python']}, NumPy {where['numpy']}.{kept}"
    )


def table(rows: Sequence[Row]) -> list[str]:
    """The comparisons as Markdown: ratios, and what they are ratios of."""
    lines = [
        "| work | beside | times better | goal | peak memory, ours / theirs (MB) | |",
        "|---|---|--:|--:|--:|---|",
    ]
    for row in rows:
        memory = "" if row.memory is None else f"{row.memory[0]:,.0f} / {row.memory[1]:,.0f}"
        if row.unit == "MB":
            memory = f"{row.ours:,.0f} / {row.theirs:,.0f}"
        missed = "" if row.holds else " (missed)"
        lines.append(
            f"| {row.name} | {row.against} | {number(row.ratio)}{missed} | {number(row.goal)} | {memory} | {row.note} |"
        )
    return lines


def number(value: float) -> str:
    """Three figures at most, without powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def growth_table(points: list[Point]) -> list[str]:
    """Fitted exponents: time grows as size to this power."""
    found = growth.exponents(points)
    lines = [f"| time of | {' | '.join(growth.DOUBLINGS)} |", f"|---|{'--:|' * len(growth.DOUBLINGS)}"]
    return lines + [
        f"| {step} | {' | '.join(f'{slopes[axis]:.2f}' if axis in slopes else '' for axis in growth.DOUBLINGS)} |"
        for step, slopes in found.items()
    ]
