"""Reading and using a report in a real browser, opened from disk with no network."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from screenshots import set_view
from swaplaw import _result as rounding

NEEDS_BROWSER = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="chromium and chromedriver are not installed (Debian: chromium, chromium-driver)",
)


def visit(chrome: Any, file: Path, fragment: str = "", width: int = 1280, theme: str = "light") -> None:
    """Open a report; nothing may be logged, and nothing fetched."""
    chrome.get("about:blank")
    set_view(chrome, width, theme=theme)
    chrome.get(file.as_uri() + fragment)
    assert chrome.execute_script("return document.documentElement.dataset.ready") == "true", chrome.get_log("browser")
    assert chrome.get_log("browser") == []
    assert chrome.execute_script("return performance.getEntriesByType('resource').length") == 0


def text(chrome: Any, selector: str) -> str:
    """What an element says."""
    return str(chrome.execute_script("return document.querySelector(arguments[0]).textContent", selector))


def put(chrome: Any, selector: str, value: str, event: str = "change") -> None:
    """Give a field a value, as a person does."""
    script = (
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event(arguments[2], {bubbles: true}))"
    )
    chrome.execute_script(script, selector, value, event)


def press(chrome: Any, selector: str) -> None:
    """Press a button."""
    chrome.execute_script("document.querySelector(arguments[0]).click()", selector)


def column(chrome: Any, number: int) -> list[str]:
    """A column of the pair table."""
    script = (
        "return [...document.querySelectorAll('#pairs tbody tr')].map((row) => row.children[arguments[0]].textContent)"
    )
    return list(chrome.execute_script(script, number))


def points(value: float, places: int = 2) -> str:
    """Signed points as the page writes them."""
    return rounding.points(value, places).replace("-", "−")
