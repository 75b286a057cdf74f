"""Where the paper leaves something open, the page says what was taken, and both readings where there are two."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.cli.paper import _weights
from swaplaw.law.weights import PAPER_GRID
from swaplaw.paper.published import Comparison, published
from swaplaw.paper.reproduce import study_of
from swaplaw.paper.reproduce.comparison import Section, as_markdown
from swaplaw.paper.reproduce.figures import figures
from swaplaw.paper.reproduce.prose import compare_prose, numbers
from swaplaw.paper.reproduce.study import Study
from swaplaw.paper.simulation import theory
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.predict.calibrate import calibrate
from swaplaw.votes.tally import Tally

from support.commands import Run

NAMED = ("1/24", "1/12", "1/11", "1/6", "1/4", "1/3", "2/5", "1/2", "2/3", "1", "5/4", "4", "24")
"""Weights that the paper names: the ends of its grid, Tables cyber_weights and trios, Sections 6 and 7, Appendix C."""


def fleet(dataset: str, seed: int = 1) -> sl.Votes:
    names = list(published().codes)[:4]
    members = tuple(
        Model(name, 0.65 - place / 10, 0.6 - place / 10, {"unanswered": 0.1}) for place, name in enumerate(names)
    )
    return generate(Fleet(dataset, members, 60, None if dataset == "forensic" else (4,), ("c1", "c2")), seed)


@lru_cache
def study(grid: tuple[Fraction, ...] | None = None) -> Study:
    """Small votes under the names of the paper's three datasets."""
    return study_of([fleet(name) for name in published().datasets], replicates=30, grid=grid)


def compared(grid: tuple[Fraction, ...] | None = None) -> dict[str, Comparison]:
    return {each.published.id: each for each in compare_prose(study(grid))}


def test_the_paper_names_thirteen_of_twenty_five_weights() -> None:
    assert len(PAPER_GRID) == 25
    assert {Fraction(weight) for weight in NAMED} <= set(PAPER_GRID)
    assert (min(PAPER_GRID), max(PAPER_GRID), len(NAMED)) == (Fraction(1, 24), Fraction(24), 13)


@pytest.mark.parametrize("given", [False, True])
def test_given_weights_take_the_marks_away(given: bool) -> None:
    grid = tuple(map(Fraction, NAMED)) if given else None
    page = as_markdown([Section("Prose", list(compared(grid).values()))], study(grid), [])
    assert compared(grid)["mean_peak"].guessed is (not given)
    assert compared(grid)["alpha"].guessed is False
    assert ("†" in page) is (not given)
    assert ("Weights searched: 1/24, 1/12" in page) is given
    figure = json.dumps(figures(study(grid), theory(trials=5, step=0.1))["meanlift"]().to_dict())
    said = "the 13 weights given" if given else "25 weights, 13 of them named by the paper"
    assert said in figure
    assert "the paper's 25 weights" not in figure


def test_weights_come_from_a_file(swaplaw: Run, tmp_path: Path) -> None:
    file = tmp_path / "grid.txt"
    file.write_text("1/24, 1/12\n2/3 0 1")
    assert _weights(str(file)) == (Fraction(1, 24), Fraction(1, 12), Fraction(2, 3), Fraction(1))
    for text, complaint in (("", "there are no weights"), ("two", "'two' is not a number"), ("-1", "negative")):
        file.write_text(text)
        finished = swaplaw("reproduce", "demo", "--grid", file, "-o", tmp_path / "out")
        assert finished.code == 2
        assert complaint in finished.err


def test_every_row_that_searches_weights_is_marked() -> None:
    searched = {each.id for each in published().prose.values() if each.grid}
    assert {each for each, found in compared().items() if found.guessed} == searched & set(compared())
    assert published().tables["trios"].grid
    for name in ("mean_peak", "mean_positive", "rule_within", "gpqa_harmful", "forensic_plateau_high", "trio_lift"):
        assert name in searched


def test_ties_are_read_both_ways() -> None:
    found = numbers(study())
    ballots = with_gold = at_all = 0
    for dataset in study().datasets.values():
        counts = dataset.tally
        for model in range(len(counts.models)):
            for question in range(len(counts.questions)):
                rows = _ballot(counts, model, question)
                top = max(rows.values())
                level = [answer for answer, votes in rows.items() if votes == top]
                ballots += 1
                at_all += len(level) > 1
                with_gold += len(level) > 1 and "gold" in level
    assert found["ties"] == pytest.approx(100 * at_all / ballots)
    assert found["ties_with_gold"] == pytest.approx(100 * with_gold / ballots)
    assert at_all > with_gold > 0
    assert published().prose["ties_with_gold"].reading_of == "ties"
    assert not compared()["ties_with_gold"].should_agree


def _ballot(tally: Tally, model: int, question: int) -> dict[str, int]:
    rivals = tally.rivals
    own = np.flatnonzero(rivals.question == question)
    counts = tally.dense(model)
    return {"gold": int(tally.gold[model][question]), **{str(place): int(counts[place]) for place in own}}


def test_repair_and_corruption_are_means_by_magnitude() -> None:
    found = numbers(study())
    for name, field in (("repair_mean", "repaired"), ("corruption_mean", "corrupted")):
        means = [
            float(np.mean([float(getattr(each, field)) for each in dataset.at_weight]))
            for dataset in study().datasets.values()
        ]
        assert found[name] == pytest.approx(100 * max(map(abs, means)))


def test_intervals_are_of_questions_where_the_page_says_questions() -> None:
    clustered = study_of([fleet("supergpqa")], replicates=200)
    assert clustered.calibration.tally.clusters is not None
    tally = clustered.calibration.tally
    plain = calibrate(tally, by="question", seed=0, replicates=200)
    assert clustered.law.intervals == plain.intervals


@pytest.mark.parametrize("grid", [None, (Fraction(1, 2), Fraction(2, 3), Fraction(4))])
def test_residual_means_are_over_the_same_weights_everywhere(grid: tuple[Fraction, ...] | None) -> None:
    found = numbers(study(grid))
    weights = len(grid or PAPER_GRID)
    assert found["residual_cells"] == 18 * (weights + 1)  # The paper counts weight 0, too.
    means = [
        sum(abs(float(outcome.residual)) for row in dataset.grid for outcome in row) / (6 * weights)
        for dataset in study(grid).datasets.values()
    ]
    assert found["residual_grid_mean"] == pytest.approx(100 * max(means))


def _gaps() -> list[Fraction]:
    return [curve.masses.gap for dataset in study().datasets.values() for curve in dataset.curves]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gap_least", lambda: 100 * float(min(_gaps()))),
        ("gap_largest", lambda: 100 * float(max(_gaps()))),
        ("forensic_limit_least", lambda: _beyond_four(min)),
        ("forensic_limit_largest", lambda: _beyond_four(max)),
    ],
)
def test_comparisons_that_words_alone_state(name: str, value: Callable[[], float]) -> None:
    assert numbers(study())[name] == pytest.approx(value())


def _beyond_four(which: Callable[..., Fraction]) -> float:
    """The least or largest lift at a weight of 4 or more, by trying many."""
    top = study().datasets["forensic"].top
    weights = [Fraction(number, 8) for number in range(32, 8 * 60)]
    return 100 * float(which(top.at(weight).lift for weight in weights))


def test_rescued_questions_of_one_challenge_and_the_interval_that_reaches_zero() -> None:
    found = numbers(study())
    assert {"forensic_rescued", "forensic_rescued_whole", "forensic_rescued_challenges"} <= set(found)
    assert isinstance(found["forensic_interval_low"], float)
    assert published().prose["forensic_interval_low"].kind == "at_most"
    assert published().prose["forensic_rescued_challenges"].value == 1


def test_under_one_and_over_thirty_are_meant_as_said() -> None:
    least, largest = published().prose["gap_least"], published().prose["gap_largest"]
    assert [Comparison(least, value).within for value in (0.99, 1.0, 1.2)] == [True, False, False]
    assert [Comparison(largest, value).within for value in (31.0, 30.0, 29.0)] == [True, False, False]


def test_panels_stand_as_the_captions_have_them() -> None:
    """A row of four, of two, of three; one panel elsewhere; titles of a row start alike."""
    drawn = figures(study(), theory(trials=5, step=0.1))
    rows = {name: len(make().to_dict().get("hconcat", [0])) for name, make in drawn.items()}
    assert rows == {**dict.fromkeys(drawn, 1), "theory": 4, "validation": 2, "exactness": 3}
    for name in ("validation", "exactness"):
        panels = drawn[name]().to_dict()["hconcat"]
        assert {panel["title"]["anchor"] for panel in panels} == {"start"}
        # A label that sticks out at the top pushes the title of its panel above the others.
        assert all(panel["layer"][0]["encoding"]["y"]["axis"]["labelBound"] for panel in panels)


def test_a_panel_alone_is_as_wide_as_its_title() -> None:
    chart = figures(study(), theory(trials=5, step=0.1))["calibration"]()
    (panel,) = chart.to_dict()["hconcat"]
    assert panel["width"] >= 8.4 * len(chart.to_dict()["title"]["text"])
