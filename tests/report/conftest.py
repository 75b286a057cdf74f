"""One browser, and one report of the demo, for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from screenshots import browser
from swaplaw import demo_votes

from support.reports import report_of


@pytest.fixture(scope="package")
def chrome() -> Iterator[Any]:
    """One browser for all tests."""
    with browser() as started:
        started.set_script_timeout(100)  # axe on a busy machine
        yield started


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo's votes."""
    file = tmp_path_factory.mktemp("demo") / "report.html"
    report_of(demo_votes(), file)
    return file
