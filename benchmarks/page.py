"""The report's page in a real browser: how long until a reader has moved the weight and seen the answer."""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Row
from swaplaw import Votes, demo_votes
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.report import Options, document, page, write_page

SCREENSHOTS = Path(__file__).resolve().parents[1] / "scripts" / "screenshots.py"
OPTIONS = Options(folds=2, repeats=1, replicates=50, panel_work=0.0)
"""The least that a large fleet needs: the page is what is measured."""
MOVE_THE_WEIGHT = """
    document.getElementById("two-thirds").click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
"""


def wide_fleet() -> Votes:
    """200 models, 19,900 pairs."""
    models = tuple(Model(f"model-{place:03}", 0.3 + 0.002 * place, samples=5) for place in range(200))
    return generate(Fleet("wide", models, 40))


def measure() -> Iterator[Row]:
    fleets = [("45 pairs on 3,000 questions", demo_votes("supergpqa-twin"), 2.0), ("19,900 pairs", wide_fleet(), 4.0)]
    browser = runpy.run_path(str(SCREENSHOTS))["browser"]
    with browser() as chrome, tempfile.TemporaryDirectory() as folder:
        for name, votes, limit in fleets:
            file = Path(folder) / "page.html"
            write_page(page(document(votes, None, OPTIONS)), file)
            best = min(interactive(chrome, file) for _ in range(3))
            yield Row(f"page of {name}: opened, weight moved, drawn", best, limit, f"{limit:g} s", 1)


def interactive(chrome: Any, file: Path) -> float:
    """Seconds from opening a page to having moved its weight and drawn the answer."""
    chrome.get(file.as_uri())
    # The page's own clock starts when it is asked for; waiting for the driver would count against it.
    ready = chrome.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
    start = chrome.execute_script("return performance.now()")
    return float(ready + chrome.execute_script(MOVE_THE_WEIGHT) - start) / 1000
