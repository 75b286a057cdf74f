"""The report in a real browser, of votes of every kind: hostile, odd, free text, and many."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from screenshots import WIDTHS
from swaplaw import Votes, demo_votes, votes_from
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.report import Options

from support.browser import NEEDS_BROWSER, press, put, text, visit
from support.pages import ROOT
from support.reports import HOSTILE, QUICK, hostile_votes, report_of, sometimes, votes_of

pytestmark = NEEDS_BROWSER

FLEET = Options(folds=2, repeats=1, replicates=50, panel_work=0.0)
"""The least that a large fleet needs: these tests are about the page."""


def assert_no_column_is_cut(chrome: Any) -> None:
    """No table of the opened page is wider than its place."""
    press(chrome, "#unfold")
    wide = chrome.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth + 1)"
        ".map((each) => each.getAttribute('aria-label'))"
    )
    assert wide == []


def assert_nothing_overflows(chrome: Any) -> None:
    """The page itself never scrolls sideways; wide tables do so inside."""
    wide, room = chrome.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room


def test_names_that_break_out_are_text(chrome: Any, tmp_path: Path) -> None:
    """Markup, emoji, right-to-left and endless names: nothing runs, nothing is lost, nothing overflows."""
    file = tmp_path / "hostile.html"
    report_of(hostile_votes(), file)
    for width in WIDTHS.values():
        visit(chrome, file, width=width)
        assert_nothing_overflows(chrome)
    assert chrome.execute_script("return window.hacked") is None
    assert chrome.execute_script("return document.querySelectorAll('main script, main img').length") == 0
    shown = chrome.execute_script(
        "return [...document.querySelectorAll('#primary option')].map((each) => each.textContent)"
    )
    assert set(shown) == set(HOSTILE)
    assert HOSTILE[1] in text(chrome, "#fleet")
    put(chrome, "#weight", "9")
    assert HOSTILE[0] in text(chrome, "#changes")


ODD: dict[str, tuple[Votes, str, str]] = {
    "one model": (votes_of({"alone": sometimes(3)}), "#pairs", "only one model"),
    "no clusters": (votes_of({"a": sometimes(3), "b": sometimes(4)}), "#quality", "No clusters are named"),
    "no repeats": (
        votes_of({"a": sometimes(3), "b": sometimes(4)}, samples=1),
        "#front",
        "1 call: 0.0%.",
    ),
    "all abstained": (
        votes_of({"a": lambda q, s: None, "b": lambda q, s: None}),
        "#fleet",
        "abstained on every vote",
    ),
    "undefined": (
        votes_of({"a": lambda q, s: "G", "b": lambda q, s: "G"}),
        "#dependence",
        "undefined for every pair",
    ),
    "misspelt": (
        votes_of({"a": sometimes(3), "b": lambda question, sample: "G)" if question % 4 else "H"}),
        "#verdict .lead",
        "Deploy nothing yet",
    ),
    "one question": (votes_of({"a": sometimes(3), "b": sometimes(4)}, questions=1), "#verdict", "single question"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_votes_explain_themselves(chrome: Any, tmp_path: Path, name: str) -> None:
    """Each opens without an error and says what is missing and why."""
    votes, place, words = ODD[name]
    file = tmp_path / "odd.html"
    report_of(votes, file)
    visit(chrome, file, width=WIDTHS["phone"])
    assert words in text(chrome, place)
    assert "NaN" not in text(chrome, "main")
    assert_nothing_overflows(chrome)


def test_free_text_fleet(chrome: Any, tmp_path: Path) -> None:
    """A forensic fleet shows its free text, its clusters, its reasons, and that it is synthetic."""
    file = tmp_path / "forensic.html"
    report_of(demo_votes("forensic-twin"), file, replace(QUICK, panel_work=0.0))
    visit(chrome, file)
    assert "synthetic" in text(chrome, "#verdict")
    assert "unanswered" in text(chrome, "#fleet")
    assert "no answer" in text(chrome, "main")


def move_the_weight(chrome: Any, file: Path) -> None:
    """Open a page and move its weight; `python -m benchmarks page` measures how long that takes."""
    visit(chrome, file)
    press(chrome, "#two-thirds")


def test_large_report_is_small_and_works(chrome: Any, tmp_path: Path) -> None:
    """45 pairs on 3,000 questions: below 6 MB, and the weight moves."""
    file = tmp_path / "large.html"
    found = report_of(demo_votes("supergpqa-twin"), file, FLEET)
    assert len(found["explorer"]["pairs"]) == 45
    assert len(found["questions"]) == 3000
    assert file.stat().st_size < 6e6
    move_the_weight(chrome, file)


def test_many_models_fit(chrome: Any, tmp_path: Path) -> None:
    """29 models of real votes: no column is cut on a desk; on a phone intervals are in sight, and names apart."""
    file = tmp_path / "many.html"
    frame = pl.read_parquet(ROOT / "tests" / "data" / "votes" / "mmlu-pro.parquet")
    some = frame["question"].unique().sort().gather_every(60)
    found = report_of(votes_from(frame.filter(pl.col("question").is_in(some))), file, FLEET)
    assert (len(found["models"]), found["best"][0]) == (29, found["verdict"]["single"])
    visit(chrome, file, width=1280)
    assert_no_column_is_cut(chrome)
    visit(chrome, file, width=WIDTHS["phone"])
    press(chrome, "#unfold")
    for place in ("verdict", "fleet", "pairs", "comparing", "panels", "combining"):
        seen = "const box = document.querySelector(arguments[0]); return box && box.getBoundingClientRect().right"
        edge = chrome.execute_script(seen, f"#{place} td.forest svg")
        assert edge is None or edge <= WIDTHS["phone"], place
    chrome.execute_async_script("setTimeout(arguments[0], 100)")
    tops = chrome.execute_script(
        "return [...document.querySelectorAll('#dependence text[text-anchor=end]')]"
        ".map((each) => each.getAttribute('y'))"
    )
    assert len(tops) == 29
    assert all(float(after) - float(before) >= 12 for before, after in pairwise(tops))


@pytest.mark.slow
def test_two_hundred_models_open(chrome: Any, tmp_path: Path) -> None:
    """19,900 pairs: the page opens, lists them all, and says which of them carry curves."""
    file = tmp_path / "wide.html"
    models = tuple(Model(f"model-{place:03}", 0.3 + 0.002 * place, samples=5) for place in range(200))
    found = report_of(generate(Fleet("wide", models, 40)), file, FLEET)
    assert len(found["pairs"]["rows"]) == 19_900
    move_the_weight(chrome, file)
    assert "of 19,900 pairs shown" in text(chrome, "#pair-status")
    assert "have held-out numbers and exact curves" in text(chrome, "#pairs")
    assert "Decided among 40 of 200 models" in text(chrome, "#verdict")
