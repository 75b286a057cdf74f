"""The report in a real browser: what it shows is what the library says."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from swaplaw import _result as rounding
from swaplaw import curve, demo_votes, pair, recommend
from swaplaw.cli import swaplaw as cli
from swaplaw.decide.rules import RULES
from swaplaw.evidence import lift_effect, resampling_units
from swaplaw.report.sections import LEFT_OUT
from swaplaw.report.words import asked, likely, point_words, proof

from support.browser import NEEDS_BROWSER, points, put, text, visit
from support.reports import QUICK

pytestmark = NEEDS_BROWSER


def test_sections_come_in_order(chrome: Any, demo: Path) -> None:
    """The verdict first, methods last, with the command and the fingerprint."""
    visit(chrome, demo)
    order = chrome.execute_script("return [...document.querySelectorAll('main > section')].map((each) => each.id)")
    expected = (
        "verdict fleet pairs explorer comparing dependence panels combining screening front labels quality methods"
    )
    assert order == expected.split()
    assert text(chrome, "#command") == "swaplaw report votes.csv"
    assert text(chrome, "#fingerprint").startswith("sha256:")
    assert not {"null", "undefined", "[object"} & set(text(chrome, "main").replace("null votes", "").split())


def test_the_first_screen_says_what_to_deploy_now(chrome: Any, demo: Path) -> None:
    """Who, for how many calls, how sure, in the words of the verdict; then the telling points."""
    visit(chrome, demo)
    found = recommend(demo_votes(), folds=QUICK.folds, repeats=QUICK.repeats)
    now, alone = found.now, found.judge.point(None)
    first, *others = (member.model for member in found.policy.members)
    assert text(chrome, "#verdict .lead") == f"Deploy {first} with {len(others)} others."
    assert text(chrome, "#verdict .asked") == f"{asked(found)}."
    assert text(chrome, "#verdict .said").replace("\u2212", "-") == proof(found)
    cards = chrome.execute_script(
        "return [...document.querySelectorAll('#verdict dd')].map((each) => each.innerText.split('\\n'))"
    )
    places = rounding.decimals(now.gain.low, now.gain.high)
    ends = " to ".join(points(end, places) for end in (now.gain.low, now.gain.high))
    assert cards[:3] == [
        [f"{now.point.calls:.4g}", f"{first} alone: {alone.calls:.4g}"],
        [f"{rounding.share(now.accuracy, 1)}%", f"{first} alone: {rounding.share(alone.accuracy, 1)}%"],
        [f"{points(now.gain.mean, places)} points", f"95% range {ends}"],
    ]
    sure, why = cards[3]
    assert (sure, "not proven yet" in why) == (likely(now.gain.above(0)), not found.proven)
    rows = chrome.execute_script(
        "return [...document.querySelectorAll('#verdict .points tbody th')].map((row) => row.innerText.split('\\n'))"
    )
    telling = sorted(found.telling, key=lambda point: point.price)
    assert [name for name, *_ in rows] == [point_words(point) for point in telling]
    assert [point for point, row in zip(telling, rows, strict=True) if len(row) > 1] == [now.point]


def test_every_cell_stands_below_its_head(chrome: Any, demo: Path) -> None:
    """No table has more or fewer cells in a row than heads."""
    visit(chrome, demo)
    wrong = chrome.execute_script(
        "return [...document.querySelectorAll('table')].filter((each) => [...each.rows]"
        ".some((row) => row.cells.length !== each.tHead.rows[0].cells.length)).map((each) => each.textContent)"
    )
    assert wrong == []


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
    for place, rows in (("verdict", 7), ("fleet", 9), ("comparing", 36), ("pairs", 10), ("combining", rules)):
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
