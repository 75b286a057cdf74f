"""Figures as an API: every kind draws, in every format, and odd input does no harm."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.report.plots import (
    Lift,
    Scatter,
    contributions_figure,
    exact_curve_figure,
    forest_figure,
    front_figure,
    heat_map,
    save,
    scatter_figure,
    vote_map,
)
from swaplaw.report.plots.decisions import contributions
from swaplaw.report.plots.weights import LEAST, MOST, steps

from support.pictures import assert_drawn


@pytest.fixture(scope="module")
def curve() -> sl.law.Curve:
    return next(iter(sl.law.curves(sl.demo_votes().tally())))


def test_forest_tells_gain_harm_and_doubt_apart(tmp_path: Path) -> None:
    lifts = [Lift("a + b", 2.0, 0.5, 3.5), Lift("c + d", -1.0, -2.0, -0.2), Lift("e + f", 0.3, -0.8, 1.2)]
    figure = forest_figure(lifts, "Lift of three pairs", "95% intervals")
    for suffix in (".svg", ".png"):
        save(figure, tmp_path / f"forest{suffix}")
        assert_drawn(tmp_path / f"forest{suffix}")
    text = (tmp_path / "forest.svg").read_text()
    assert all(word in text for word in ("helps", "harms", "interval reaches zero"))


def test_exact_curve_has_every_step_of_the_curve(curve: sl.law.Curve, tmp_path: Path) -> None:
    corners = steps(curve)
    for corner in corners[::2]:
        inside = [piece for piece in curve.pieces if not piece.is_point and float(max(piece.low, LEAST)) == corner["x"]]
        assert corner["y"] in [100 * float(piece.lift) for piece in inside]
    assert (corners[0]["x"], corners[-1]["x"]) == (float(LEAST), float(MOST))
    save(exact_curve_figure(curve), tmp_path / "curve.svg")
    assert_drawn(tmp_path / "curve.svg")


def test_heat_map_marks_what_is_undefined(tmp_path: Path) -> None:
    values = {("a", "b"): 0.5, ("a", "c"): None, ("b", "c"): 0.9}
    save(heat_map(values, ["a", "b", "c"], "phi", "Dependence"), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text()
    assert all(word in text for word in ("0.50", "0.90", "–"))


def test_one_pair_is_enough_for_a_scatter(tmp_path: Path) -> None:
    save(scatter_figure([Scatter("one", [0.0], [0.0], ["a + b"])], "x", "y", "One pair"), tmp_path / "one.svg")
    assert_drawn(tmp_path / "one.svg")


def test_the_same_figure_gives_the_same_bytes(curve: sl.law.Curve, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(exact_curve_figure(curve), tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_unknown_formats_and_missing_parts_are_said(
    curve: sl.law.Curve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(sl.InputError, match=r"\.bmp"):
        save(exact_curve_figure(curve), tmp_path / "curve.bmp")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(sl.errors.MissingExtraError, match=r"swaplaw\[plot\]"):
        exact_curve_figure(curve)


def test_contributions_add_up_to_lift(curve: sl.law.Curve, tmp_path: Path) -> None:
    outcomes = [(str(weight), curve.at(weight)) for weight in ("1/3", "2/3", "2")]
    assert all(sum(contributions(outcome)) == outcome.lift for _, outcome in outcomes)
    save(contributions_figure(outcomes, "What makes the lift"), tmp_path / "bars.svg")
    assert_drawn(tmp_path / "bars.svg")
    text = (tmp_path / "bars.svg").read_text()
    assert all(word in text for word in ("rescued", "damaged", "repaired", "corrupted"))


def test_accuracy_against_cost_and_samples(tmp_path: Path) -> None:
    tally = sl.demo_votes().tally()
    models = ("claude-3-opus-20240229", "gemini-1.5-pro-preview-0409")
    prices = dict.fromkeys(tally.models, 0.5)
    for name, given, words in (("samples", None, "calls per question"), ("cost", prices, "cost of a question")):
        found = sl.front(tally, models=models, prices=given, repeats=1)
        points = [{"name": point.models[0], **point.to_dict()} for point in found.points]
        save(front_figure(points, found.priced, "What calls buy"), tmp_path / f"{name}.svg")
        assert_drawn(tmp_path / f"{name}.svg")
        assert words in (tmp_path / f"{name}.svg").read_text()


def test_vote_map_of_many_questions_draws_columns_of_several() -> None:
    """No more columns than an eye can tell apart, each the mean of what it stands for."""
    tally = sl.demo_votes("gpqa-diamond-twin").tally().select(questions=np.arange(198) < 7)
    assert len(rows_of(vote_map(tally, "Votes"))) == 7 * len(tally.models)
    whole = sl.demo_votes("supergpqa-twin").tally()
    rows = rows_of(vote_map(whole, "Votes"))
    assert len(rows) == 300 * len(whole.models)
    best = [row["share"] for row in rows if row["model"] == whole.models[3]]
    assert np.mean(best) == pytest.approx(float((whole.gold[3] / whole.votes[3]).mean()), abs=1e-9)


def rows_of(figure: Any) -> list[dict[str, Any]]:
    """What a figure draws."""
    return list(figure.to_dict()["data"]["values"])


def test_vote_map_in_every_format(tmp_path: Path) -> None:
    figure = vote_map(sl.demo_votes().tally(), "Votes")
    for suffix in (".svg", ".png"):
        save(figure, tmp_path / f"votes{suffix}")
        assert_drawn(tmp_path / f"votes{suffix}")
    save(figure, tmp_path / "votes.pdf")
    assert (tmp_path / "votes.pdf").read_bytes().startswith(b"%PDF-")
