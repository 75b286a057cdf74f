"""The report in a real browser, opened from disk with no network: what it shows, does, keeps and refuses to run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from screenshots import WIDTHS, browser, set_view
from swaplaw import Votes, curve, demo_votes, pair, votes_from
from swaplaw._core import rounding
from swaplaw.cli import swaplaw as cli
from swaplaw.decide.rules import RULES
from swaplaw.evidence import lift_effect, resampling_units
from swaplaw.paper import twin
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.report import Options
from swaplaw.report.combining import LEFT_OUT

from support.pages import ROOT
from support.reports import HOSTILE, QUICK, hostile_votes, report_of, sometimes, votes_of

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="chromium and chromedriver are not installed (Debian: chromium, chromium-driver)",
)

FLEET = Options(folds=2, repeats=1, replicates=50, panel_work=0.0)
"""The least that a large fleet needs: these tests are about the page."""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    """One browser for all tests."""
    with browser() as started:
        started.set_script_timeout(100)  # axe on a busy machine
        yield started


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo's votes."""
    file = tmp_path_factory.mktemp("demo") / "report.html"
    report_of(demo_votes(), file)
    return file


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


def test_sections_come_in_order(chrome: Any, demo: Path) -> None:
    """The verdict first, methods last, with the command and the fingerprint."""
    visit(chrome, demo)
    order = chrome.execute_script("return [...document.querySelectorAll('main > section')].map((each) => each.id)")
    expected = (
        "verdict fleet pairs explorer comparing dependence panels combining screening compute labels quality methods"
    )
    assert order == expected.split()
    assert text(chrome, "#verdict .lead").startswith("Not proven yet: keep")
    assert text(chrome, "#verdict .said").startswith("These votes cannot tell")
    assert text(chrome, "#command") == "swaplaw report votes.csv"
    assert text(chrome, "#fingerprint").startswith("sha256:")
    assert "null" not in text(chrome, "main")
    assert "undefined" not in text(chrome, "#verdict")


def test_weights_show_the_numbers_of_the_command(chrome: Any, demo: Path) -> None:
    """Picking a pair and a weight shows what `swaplaw curve --json` prints, for either model as primary."""
    visit(chrome, demo)
    tally = demo_votes().tally()
    for primary, secondary, weight in (
        ("gpt-4", "claude-3-opus-20240229", "2/3"),
        ("mistral-large", "gpt-4", "7/5"),
        ("llama-2-7b-chat", "llama-2-70b-chat", "0.25"),
    ):
        arguments = ["curve", "demo", "--primary", primary, "--secondary", secondary, "--at", weight, "--json"]
        found = json.loads(CliRunner().invoke(cli, arguments).stdout)
        for field, model in (("primary", primary), ("secondary", secondary)):
            value = chrome.execute_script(
                "return [...document.getElementById(arguments[0]).options]"
                ".find((option) => option.text === arguments[1]).value",
                field,
                model,
            )
            put(chrome, f"#{field}", value)
        put(chrome, "#weight", weight)
        at = found["at"]
        chosen = pair(tally, primary, secondary)
        effect = lift_effect(tally, (chosen.a, chosen.b), (Fraction(1), Fraction(weight)), resampling_units(tally))
        assert effect
        ends = (points(end, effect.places) for end in (effect.low, effect.high))
        said = f"lift is {points(at['lift'], effect.places)} points (95% interval {' to '.join(ends)})"
        assert text(chrome, "#summary") == f"At weight {Fraction(weight)}, {said}."
        assert f"exactly {str(chosen.at(weight).lift).replace('-', '−')} ({points(at['lift'])} points)" in text(
            chrome, "#exact"
        )
        for kind, sign in (("rescued", 1), ("damaged", -1), ("repaired", 1), ("corrupted", -1)):
            assert text(chrome, f"#explorer [data-kind={kind}]") == f"{kind} {points(sign * at[kind])}"
        shown = chrome.execute_script(
            "return [...document.querySelectorAll('#changes tbody tr')]"
            ".map((row) => [row.children[0].textContent, row.children[1].textContent])"
        )
        assert sorted(map(tuple, shown)) == sorted((each["question"], each["kind"]) for each in at["changes"])


def test_every_piece_of_every_pair_is_exact(chrome: Any, demo: Path) -> None:
    """The page's own arithmetic gives the library's curves and changes: all pieces, both ways round."""
    visit(chrome, demo)
    assets = resources.files("swaplaw.report").joinpath("assets")
    source = "".join(assets.joinpath(name).read_text(encoding="utf-8") for name in ("numbers.js", "law.js"))
    script = (
        source
        + """
        const data = JSON.parse(document.getElementById("data").textContent);
        return data.explorer.pairs.flatMap((pair) => [pair.a, pair.b].map((lead) => {
          const law = unpack(pair, lead);
          const x = {top: 3n, bottom: 7n};
          return {
            primary: data.models[law.primary], secondary: data.models[law.secondary],
            best: written(bestPlateau(law.pieces)),
            pieces: law.pieces.map((piece) => [
              written(piece.lo), piece.hi.bottom === 0n ? null : written(piece.hi), written(weightOf(piece)),
              written(fraction(piece.lift, law.denominator)),
              ...piece.gains.map((gain) => written(fraction(gain, law.denominator))),
            ]),
            found: placeOf(law.pieces, x),
            changes: changes(data.explorer.votes, law.primary, law.secondary, x)
              .map((each) => [data.questions[each.question], each.kind, written(each.credit)]),
          };
        }));"""
    )
    tally = demo_votes().tally(None)
    checked = 0
    for got in chrome.execute_script(script):
        chosen = pair(tally, got["primary"], got["secondary"])
        exact = curve(tally, got["primary"], got["secondary"])
        assert got["best"] == str(exact.best_plateau.weight)
        expected = [
            [
                *(
                    str(piece.low),
                    None if piece.high is None else str(piece.high),
                    str(piece.outcome.weight),
                    str(piece.lift),
                ),
                *(str(piece.outcome.rescued), str(-piece.outcome.damaged)),
                *(str(piece.outcome.repaired), str(-piece.outcome.corrupted)),
            ]
            for piece in exact.pieces
        ]
        assert got["pieces"] == expected
        x = Fraction(3, 7)
        piece = exact.pieces[got["found"]]
        assert piece.low <= x
        assert piece.high is None or x <= piece.high
        credits = sorted((each.question, each.kind, str(each.credit)) for each in chosen.changes(x))
        assert sorted(map(tuple, got["changes"])) == credits
        checked += 1
    assert checked == 72


def test_the_page_rounds_as_the_terminal_does(chrome: Any, demo: Path) -> None:
    """The script's rule is Python's, number for number: halves, signs, thresholds, intervals that are none."""
    visit(chrome, demo)
    source = resources.files("swaplaw.report").joinpath("assets", "numbers.js").read_text(encoding="utf-8")
    rng = np.random.default_rng(0)
    values = [0.0, 0.5, -0.5, 1.0, *(k / 800 for k in range(-80, 80)), *(k / 3000 for k in range(-60, 60))]
    values += [float(value) for size in (1, 0.1, 0.01, 0.001) for value in rng.normal(0, size, 200)]
    ends: list[tuple[float | None, float | None]] = [
        (None, None),
        (0.1, 0.1),
        (-0.1, 0.1),
        (0.0, 0.02),
        (0.0, 0.002),
        (0.0, 0.0002),
        (0.0, 2e-5),
    ]
    ends += [
        (float(lo), float(lo + rng.gamma(2, size))) for size in (1, 0.1, 0.01, 1e-3) for lo in rng.normal(0, size, 99)
    ]
    script = """
        const [values, ends] = arguments;
        return [
          values.map((value) => [0, 1, 2, 3, 4].map((digits) => [points(value, digits), percent(value, digits)])),
          ends.map(([lo, hi]) => [decimals(lo, hi), arrow(lo, hi)]),
        ];
    """
    got_values, got_ends = chrome.execute_script(source + script, values, ends)
    for value, got in zip(values, got_values, strict=True):
        expected = [[points(value, k), rounding.share(value, k).replace("-", "−")] for k in range(5)]
        assert got == expected, value
    assert got_ends == [[rounding.decimals(*each), rounding.arrow(*each)] for each in ends]


def test_forests_and_votes_are_drawn(chrome: Any, demo: Path) -> None:
    """Intervals stand on one axis in each table; gold's share of everybody's votes is drawn from easy to hard."""
    visit(chrome, demo)
    rules = len(list(RULES)) - len(LEFT_OUT)
    for place, rows in (("verdict", 4), ("fleet", 9), ("comparing", 36), ("pairs", 10), ("combining", rules)):
        drawn = chrome.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerHTML.includes('interval'))",
            f"#{place} td.forest svg",
        )
        assert drawn == [True] * rows
        assert text(chrome, f"#{place} thead .forest").startswith("Drawn")
    cells = chrome.execute_script(
        "return [...document.querySelectorAll('#fleet figure rect')].map((each) => "
        "[each.textContent, Number(each.getAttribute('fill-opacity'))])"
    )
    tally = demo_votes().tally()
    assert len(cells) == len(tally.models) * len(tally.questions)
    shown = dict(cells)
    for model, question in ((0, 3), (4, 50), (8, 99)):
        share = tally.gold[model, question] / tally.votes[model, question]
        name = f"{tally.models[model]}, question {tally.questions[question]}: {rounding.share(share, 0)}% right"
        assert shown[name] == pytest.approx(0.06 + 0.9 * share)


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


def test_axes_have_three_marks_at_least(chrome: Any, demo: Path) -> None:
    """Whatever the range, an axis shows where it is; zero has no sign."""
    visit(chrome, demo)
    assets = resources.files("swaplaw.report").joinpath("assets", "drawing.js").read_text(encoding="utf-8")
    found = chrome.execute_script(
        assets + "return [1.3, 2.9, 4.1, 7, 9.9].flatMap((to) => [3, 4, 5].map((about) => "
        "[ticks(-to, to, about), ticks(0, to, about)])).map((both) => both.map((marks) => "
        "[marks.length, marks.some((mark) => Object.is(mark, -0))]))"
    )
    assert all(length >= 3 and not minus for both in found for length, minus in both)


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
        "#compute",
        "one vote per question",
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
    report_of(twin("forensic"), file, replace(QUICK, panel_work=0.0))
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
    found = report_of(twin("supergpqa"), file, FLEET)
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
