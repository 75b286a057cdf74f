"""The report in a real browser: sorting, folding, keys, links, colours, paper, and no barrier to anybody."""

from __future__ import annotations

from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from screenshots import WIDTHS

from support.browser import NEEDS_BROWSER, column, press, put, text, visit

pytestmark = NEEDS_BROWSER


def test_sorting_and_filtering(chrome: Any, demo: Path) -> None:
    """Columns sort both ways and say so; the filter keeps the pairs of a model."""
    visit(chrome, demo)
    for direction, reverse in (("descending", True), ("ascending", False)):
        press(chrome, "#pairs th[data-key=lift] button")
        shown = [float(each.replace("−", "-")) for each in column(chrome, 5)]
        assert shown == sorted(shown, reverse=reverse)
        state = chrome.execute_script("return document.querySelector('#pairs th[data-key=lift]').ariaSort")
        assert state == direction
    put(chrome, "#pair-filter", "MISTRAL", "input")
    names = column(chrome, 0)
    assert len(names) == 8
    assert all("mistral-large" in both for both in names)
    assert "8 match" in text(chrome, "#pair-status")
    press(chrome, "#pairs th[data-key=n] button")
    assert len(set(column(chrome, 12))) == 1


def test_keyboard_moves_the_weight(chrome: Any, demo: Path) -> None:
    """Arrow keys step from plateau to plateau, Enter takes a typed weight, and nonsense is refused in words."""
    from selenium.webdriver.common.keys import Keys

    visit(chrome, demo)
    slider = chrome.find_element("id", "weight-slider")
    before = text(chrome, "#summary")
    slider.send_keys(Keys.HOME)
    assert text(chrome, "#summary").startswith("At weight 0, lift is 0.0 points")
    slider.send_keys(Keys.ARROW_RIGHT)
    first = chrome.execute_script("return document.getElementById('weight').value")
    assert Fraction(first) > 0
    assert "between 0 and" in text(chrome, "#exact")
    assert slider.get_attribute("aria-valuetext").startswith(f"weight {first}, lift")
    typed = chrome.find_element("id", "weight")
    typed.clear()
    typed.send_keys("two", Keys.ENTER)
    assert "not a weight" in text(chrome, "#weight-error")
    typed.clear()
    typed.send_keys("1.5", Keys.ENTER)
    assert text(chrome, "#summary").startswith("At weight 3/2,")
    assert text(chrome, "#weight-error") == ""
    press(chrome, "#best")
    assert text(chrome, "#summary") == before


def test_a_link_shows_the_same_view(chrome: Any, demo: Path) -> None:
    """The address keeps pair, weight, order, filter and theme."""
    visit(chrome, demo)
    press(chrome, "#pairs button[aria-label^=Explore]")
    put(chrome, "#weight", "5/4")
    put(chrome, "#pair-filter", "gpt", "input")
    press(chrome, "#pairs th[data-key=n] button")
    press(chrome, "#theme")
    looks = ("#summary", "#exact", "#pair-status", "#theme", "#changed-count")
    before = [text(chrome, each) for each in looks], column(chrome, 0)
    fragment = chrome.execute_script("return location.hash")
    visit(chrome, demo, fragment)
    assert ([text(chrome, each) for each in looks], column(chrome, 0)) == before
    assert "5/4" in text(chrome, "#summary")
    chrome.execute_script("location.hash = arguments[0]", "a=nobody&b=</script>&x=-1&sort=no&theme=no")
    assert chrome.get_log("browser") == []


def test_dark_and_light(chrome: Any, demo: Path) -> None:
    """The page follows the system, and the button overrules it."""
    colour = "return getComputedStyle(document.body).backgroundColor"
    visit(chrome, demo, theme="dark")
    dark = chrome.execute_script(colour)
    press(chrome, "#theme")
    light = chrome.execute_script(colour)
    assert dark != light
    visit(chrome, demo, theme="light")
    assert chrome.execute_script(colour) == light


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", "phone"),
        ("dark", "desktop"),
        pytest.param("light", "desktop", marks=pytest.mark.slow),
        pytest.param("dark", "phone", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(chrome: Any, demo: Path, theme: str, width: str) -> None:
    """No violation of any severity, on a phone and on a desk."""
    # The package is for Playwright; of it, only the copy of axe that it keeps up to date is used.
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    visit(chrome, demo, width=WIDTHS[width], theme=theme)
    chrome.execute_script(axe)
    for _ in ("folded", "open"):
        found = chrome.execute_script("return axe.run().then((results) => results.violations)")
        assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []
        press(chrome, "#unfold")


def open_sections(chrome: Any) -> list[str]:
    """The ids of the sections that fold and are open."""
    script = "return [...document.querySelectorAll('.fold > details[open]')].map((each) => each.parentElement.id)"
    return list(chrome.execute_script(script))


def test_long_sections_fold(chrome: Any, demo: Path) -> None:
    """Each says in a line what it holds; keys, navigation and one button open them, and a link keeps them open."""
    from selenium.webdriver.common.keys import Keys

    visit(chrome, demo)
    assert open_sections(chrome) == []
    assert "differences between models" in text(chrome, "#comparing .finding")
    chrome.find_element("css selector", "#panels summary").send_keys(Keys.ENTER)
    press(chrome, "#nav a[href='#combining']")
    assert open_sections(chrome) == ["panels", "combining"]
    chrome.execute_async_script("setTimeout(arguments[0], 50)")
    fragment = chrome.execute_script("return location.hash")
    visit(chrome, demo, fragment)
    assert open_sections(chrome) == ["panels", "combining"]
    press(chrome, "#unfold")
    assert len(open_sections(chrome)) == 9
    chrome.execute_async_script("setTimeout(arguments[0], 50)")
    press(chrome, "#unfold")
    assert open_sections(chrome) == []


def test_long_tables_fold(chrome: Any, demo: Path) -> None:
    """The first rows stand for a long table until all are asked for."""
    visit(chrome, demo)
    press(chrome, "#unfold")
    shown = "return [...document.querySelectorAll('#comparing tbody tr')].filter((row) => row.checkVisibility()).length"
    assert chrome.execute_script(shown) == 10
    press(chrome, "#comparing .all")
    assert chrome.execute_script(shown) == 36


def test_paper_has_everything(chrome: Any, demo: Path) -> None:
    """Printing opens what is folded, shows every row, takes light colours, and puts all back."""
    visit(chrome, demo, fragment="#theme=dark")
    chrome.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert len(open_sections(chrome)) == 9
    drawn = "return [...document.querySelectorAll('figure')].every((each) => each.querySelector('svg'))"
    assert chrome.execute_script(drawn)
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    rows = "return [...document.querySelectorAll('#comparing tbody tr')].filter((row) => row.checkVisibility()).length"
    assert chrome.execute_script(rows) == 36
    assert chrome.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(252, 252, 250)"
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    chrome.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert open_sections(chrome) == []
