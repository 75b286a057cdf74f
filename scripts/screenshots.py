"""Take the pictures of the report that README and docs show: `python scripts/screenshots.py [REPORT.html] [-o DIR]`.

Needs Debian's chromium and chromium-driver, and the development packages. Without a report, one is made of the demo's
votes. The browser gets no network.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TALLEST = 1250
"""Pixels of a section that a picture shows: a long table says nothing more on a page about something else."""
WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1280}
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    # No name resolves: whatever the page asked for would fail, and show as an error.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


@contextmanager
def browser(*, chromium: str = "/usr/bin/chromium", driver: str = "/usr/bin/chromedriver") -> Iterator[Any]:
    """Start Debian's Chromium, without a network."""
    from selenium import webdriver

    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started = webdriver.Chrome(options, webdriver.ChromeService(driver))
        try:
            yield started
        finally:
            started.quit()


def set_view(page: Any, width: int, height: int = 900, theme: str = "light") -> None:
    """Give the page a width (exactly, also below what a window can have) and a colour scheme."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": theme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def take(page: Any, file: Path, selector: str | None = None) -> None:
    """Save a picture of the whole page, or of one element of it."""
    script = "return [0, 0, innerWidth, document.documentElement.scrollHeight]"
    if selector is not None:
        script = (
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [Math.max(0, box.x - 16), Math.max(0, box.y + scrollY - 16), box.width + 32, box.height + 32]"
        )
    import base64

    x, y, width, height = page.execute_script(script, selector)
    height = height if selector is None else min(height, TALLEST)
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    shot = page.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    file.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", action="store_true", help="the whole page at three widths, light and dark, as well")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        report = given.report
        if report is None:
            report = Path(folder) / "report.html"
            made = [sys.executable, "-m", "swaplaw", "report", "demo:gpqa-diamond", "-o", str(report)]
            subprocess.run(made, check=True)
        # The fixed header would lie over whatever is pictured.
        hide = "document.querySelector('.top').style.position = 'static'"
        for theme in ("light", "dark"):
            set_view(page, 1000, theme=theme)
            page.get(report.resolve().as_uri())
            page.execute_script(hide)
            for name in ("verdict", "explorer") if theme == "light" else ("explorer",):
                take(page, given.output / f"report-{name}-{theme}.png", f"#{name}")
            for name, width in WIDTHS.items() if given.all else ():
                set_view(page, width, theme=theme)
                page.get(report.resolve().as_uri())
                page.execute_script(hide)
                take(page, given.output / f"page-{name}-{theme}.png")


if __name__ == "__main__":
    main()
