"""The report's data: exact, complete, safe to embed; and a page for every kind of votes."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given

from swaplaw import InputError, combine, compare, demo_votes, pair, pairs, summary, votes_from
from swaplaw.cli import swaplaw as cli
from swaplaw.cli.render import fleet_line
from swaplaw.law.curve import curve_of
from swaplaw.law.scoresheet import scoresheet
from swaplaw.report import Options, document, page, write_figures
from swaplaw.report.explorer import curve_data, votes_data
from swaplaw.report.figures import figures
from swaplaw.report.html import embedded
from swaplaw.report.pairs import pair_rows
from swaplaw.report.sections import comparing_part

from support.corpora import corpora
from support.pages import DOCS, words
from support.pictures import assert_drawn
from support.reports import HOSTILE, QUICK, hostile_votes, report_of, sometimes, votes_of
from support.twin import Corpus


def data_of(text: str) -> Any:
    """The data block of a page, found as a browser finds it: up to the first end tag."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def contributions(pooled: list[list[int]], alone: list[int], slot: int, whole: int) -> list[Fraction]:
    """What each cell adds to lift: pooled less alone."""
    return [Fraction(row[slot] - int(own), whole) for row, own in zip(pooled, alone, strict=True)]


@given(case=corpora(models=3))
def test_pieces_are_the_curve(case: Corpus) -> None:
    """Unpacked as the page does it, pieces give every outcome of the curve exactly, whoever leads."""
    tally = votes_from(case.frame()).tally()
    for chosen in pairs(tally):
        data = curve_data(chosen, curve_of(chosen), scoresheet(chosen), np.arange(chosen.of))
        pooled = [list(accumulate(map(int, row))) for row in data["pooled"]]
        whole = int(data["denominator"])
        for place, weight in enumerate(map(Fraction, data["x"], data["y"])):
            outcome = chosen.at(weight)
            gains = [
                Fraction(row[2 * place] - int(own), whole) for row, own in zip(pooled, data["aloneA"], strict=True)
            ]
            assert gains == [outcome.rescued, -outcome.damaged, outcome.repaired, -outcome.corrupted]
            if weight:
                turned = pair(tally, chosen.secondary, chosen.primary).at(1 / weight)
                assert contributions(pooled, data["aloneB"], 2 * place, whole) == [
                    -turned.damaged,
                    turned.rescued,
                    turned.repaired,
                    -turned.corrupted,
                ]


@given(case=corpora(models=3))
def test_votes_are_all_there(case: Corpus) -> None:
    """Every vote of every model is embedded, gold's apart."""
    tally = votes_from(case.frame()).tally()
    found = votes_data(tally, range(len(tally.models)), [None] * len(tally.questions))
    for model in range(len(tally.models)):
        counts = found["counts"][str(model)]
        assert [sum(row) if row else 0 for row in counts] == tally.votes[model].tolist()
        assert [row[0] if row else 0 for row in counts] == tally.gold[model].tolist()
    for answers, width in zip(found["answers"], np.bincount(tally.rivals.question), strict=False):
        assert len(answers) <= 1 + width


def test_numbers_are_those_of_the_library() -> None:
    """What the table shows is what the law says, and the same votes give the same document."""
    votes = demo_votes()
    # A search for panels that is cut off depends on the machine.
    options = replace(QUICK, panel_work=0.0)
    found = document(votes, None, options)
    tally = votes.tally(None)
    columns = found["pairs"]["columns"]
    for values in found["pairs"]["rows"]:
        row = dict(zip(columns, values, strict=True))
        chosen = pair(tally, tally.models[row["a"]], tally.models[row["b"]])
        best = curve_of(chosen).best_plateau
        assert row["weight"] == str(best.weight)
        assert row["lift"] == pytest.approx(float(best.lift), abs=1e-6)
        assert row["phi_adj"] == pytest.approx(float(chosen.masses.phi_adj or 0), abs=1e-6)
        assert row["lo"] <= row["held"] <= row["hi"]
    assert found["methods"]["fingerprint"].startswith("sha256:")
    assert found == document(votes, None, options)


def test_what_could_be_markup_is_escaped() -> None:
    """No name can end the data block, and what is embedded is read back unchanged."""
    found = document(hostile_votes(), None, QUICK)
    text = page(found)
    assert data_of(text) == json.loads(json.dumps(found))
    assert set(data_of(text)["models"]) == set(HOSTILE)
    block = embedded(found)
    assert not set("<>&\u2028\u2029") & set(block)
    assert text.count("<script") == 2
    assert "default-src 'none'" in text
    assert "unsafe" not in text.split("</head>")[0]


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    """Half a character, as broken logs hold it, does not stop the page."""
    assert json.loads(embedded({"name": "half \ud83d", "whole": "🦜"})) == {"name": "half \ud83d", "whole": "🦜"}
    embedded({"name": "half \ud83d"}).encode()


ODD = {
    "one model": votes_of({"alone": sometimes(3)}),
    "two models": votes_of({"a": sometimes(3), "b": sometimes(4)}),
    "one sample": votes_of({"a": sometimes(3), "b": sometimes(4), "c": sometimes(5)}, samples=1),
    "all abstained": votes_of({"a": lambda q, s: None, "b": lambda q, s: None, "c": lambda q, s: None}),
    "always right": votes_of({"a": lambda q, s: "G", "b": lambda q, s: "G"}),
    "one cluster": votes_of({"a": sometimes(3), "b": sometimes(4)}, cluster=lambda q, m, s: "only"),
    "one question": votes_of({"a": sometimes(3), "b": sometimes(4)}, questions=1),
    "two questions": votes_of({"a": sometimes(3), "b": sometimes(4)}, questions=2),
}
"""Votes about which little can be said."""


@pytest.mark.parametrize("name", ODD)
def test_odd_votes_give_a_document(name: str) -> None:
    """Each yields a document whose every part is there or says why not."""
    found = document(ODD[name], None, QUICK)
    for part in ("verdict", "pairs", "explorer", "panels", "comparing", "combining", "screening", "front"):
        assert found[part].get("why") or len(found[part]) > 1
    assert data_of(page(found))["dataset"] == "made up"


def test_a_lift_that_no_vote_could_change_has_no_interval() -> None:
    """Of two single votes the heavier always wins: 0 held out is no observation, and nothing is unsure about it."""
    found = document(ODD["one sample"], None, QUICK)["pairs"]
    held = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    assert [(row["held"], row["lo"], row["hi"]) for row in held] == [(0, 0, 0)] * 3


def test_disjoint_models_are_said() -> None:
    """Models without a common question make no pair, and the page says so."""
    frame = ODD["two models"].frame.collect()
    first, last = pl.col("question") < "q012", pl.col("model") == "a"
    found = document(votes_from(frame.filter(first == last)), None, QUICK)
    assert "question" in found["pairs"]["why"]
    assert found["verdict"]["why"]


def test_free_text_with_clusters_and_reasons(tmp_path: Path) -> None:
    """A forensic fleet: free text, challenges as clusters, abstentions with reasons."""
    found = report_of(demo_votes("forensic-twin"), tmp_path / "report.html")
    assert found["quality"]["synthetic"] is True
    assert found["quality"]["clusters"] == 5
    assert any("unanswered" in row["reasons"] for row in found["fleet"])
    labels = [label for answers in found["explorer"]["votes"]["answers"] for label in answers]
    assert None in labels
    assert max(len(label) for label in labels if label) > 1


def test_only_what_is_worth_it_is_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many pairs the best are carried, the chosen one always, and the table says how many."""
    from swaplaw.report import pairs as module

    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    tally = demo_votes().tally(None)
    last = pair_rows(tally, np.arange(100), 3, 1, 0, None, None, iter).rows[-1].pair
    found = pair_rows(tally, np.arange(100), 3, 1, 0, (last.primary, last.secondary), None, iter)
    assert found.to_dict()["carried"] == 3
    assert found.rows[-1].data is not None
    assert found.rows[10].held_out is None
    assert len(found.explorer([None] * 100)["pairs"]) == 3


def test_rules_are_those_of_combine() -> None:
    """The section has every quick rule with the numbers of `combine` on the same folds."""
    votes = demo_votes()
    part = document(votes, None, replace(QUICK, panel_work=0.0))["combining"]
    expected = combine(
        votes.tally(), rules=[row["rule"] for row in part["rules"]], repeats=QUICK.repeats, folds=QUICK.folds
    )
    assert {"smooth", "equal", "agreement", "best_pair"} <= {row["rule"] for row in part["rules"]}
    assert part["optimum"] is None
    for row, rule in zip(part["rules"], expected.rules, strict=True):
        assert row["gain"] == [rule.gain.mean, rule.gain.low, rule.gain.high]
        assert [part["baseline"], row["rule"]] == [votes.tally().index(expected.baseline), rule.rule.name]
        assert {votes.tally().models[place]: Fraction(weight) for place, weight in row["weights"]} == rule.weights


@pytest.mark.filterwarnings("ignore::swaplaw.errors.StatisticalWarning")
def test_comparisons_are_those_of_compare() -> None:
    """The section has the differences, adjusted over all of them."""
    tally = demo_votes().tally()
    part = comparing_part(tally, None)
    expected = compare(tally).comparisons
    assert (len(part["rows"]), part["of"]) == (36, len(expected))
    for row, one in zip(part["rows"], expected, strict=False):
        assert [tally.models[row["first"]], tally.models[row["second"]]] == [one.first, one.second]
        assert row["difference"] == [one.difference, one.effect.low, one.effect.high]
        assert row["p"] == one.p_adjusted


@pytest.mark.filterwarnings("ignore::swaplaw.errors.StatisticalWarning")
def test_of_many_comparisons_those_of_the_best_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is close to the most accurate model matters; that it beats the worst does not."""
    from swaplaw.report import sections as module

    monkeypatch.setattr(module, "MOST", 20)
    tally = demo_votes().tally()
    part = comparing_part(tally, None)
    best = tally.index(summary(tally)[0].model)
    assert (len(part["rows"]), part["of"]) == (8, 36)
    assert all(best in (row["first"], row["second"]) for row in part["rows"])
    differences = [row["difference"][0] for row in part["rows"]]
    assert differences == sorted(differences)


def test_the_page_begins_with_a_pair_of_the_best_model() -> None:
    """Where no pair is recommended, the explorer opens on the best single model and what lifts it most; so does
    everything else, where single votes let no pair gain and all lifts are equal."""
    for samples in (1, 5):
        votes = votes_of({"a": sometimes(3), "b": sometimes(4), "best": sometimes(9)}, samples=samples)
        found = document(votes, None, replace(QUICK, panel_work=0.0))
        single = found["verdict"].get("single")
        assert found["best"][0] == (single or summary(votes.tally())[0].model)


@pytest.mark.parametrize("name", ["exams", "mmlu-pro"])
def test_every_telling_point_is_listed_once(name: str) -> None:
    """The cheapest first, and one of them is what is deployed: on the front itself or beside it."""
    listed = document(demo_votes(name), None, replace(QUICK, panel_work=0.0))["verdict"]["points"]
    assert len({point["name"] for point in listed}) == len(listed)
    assert [point["calls"] for point in listed] == sorted(point["calls"] for point in listed)
    assert sum(point["now"] for point in listed) == 1


def test_command_writes_a_page(tmp_path: Path) -> None:
    """The command writes the page, prints the verdict, and shows itself on the page."""
    file = tmp_path / "out.html"
    options = ["--folds", "3", "--repeats", "1", "--replicates", "100", "--panel-work", "0"]
    done = CliRunner().invoke(cli, ["report", "demo", "-o", str(file), *options])
    assert done.exit_code == 0, done.output
    assert "gpt-4" in done.output
    found = data_of(file.read_text(encoding="utf-8"))
    assert found["methods"]["command"].startswith("swaplaw report demo --output ")
    assert "--panel-work 0.0" in found["methods"]["command"]
    assert "swaplaw panel" in found["panels"]["why"]


def test_command_says_what_is_wrong(tmp_path: Path) -> None:
    """A place that cannot be written is bad input."""
    quick = ["--folds", "3", "--repeats", "1", "--replicates", "100", "--panel-work", "0"]
    done = CliRunner().invoke(cli, ["report", "demo", "-o", str(tmp_path / "no" / "where.html"), *quick])
    assert isinstance(done.exception, InputError)
    assert "there is no directory" in str(done.exception)


def test_options_show_their_defaults() -> None:
    """Library and command agree on defaults."""
    from swaplaw.cli.decide import report as command

    given = {parameter.name: parameter.default for parameter in command.params}
    for name in ("folds", "repeats", "replicates", "min_gain", "panel_work", "seed"):
        assert given[name] == getattr(Options(), name)


def test_the_pages_pictures_as_figures(tmp_path: Path) -> None:
    """Every picture of the page, drawn without a browser, also of names that are markup."""
    options = ["--folds", "3", "--repeats", "1", "--replicates", "100", "--panel-work", "0"]
    places = ["-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "demo")]
    done = CliRunner().invoke(cli, ["report", "demo", *places, *options])
    assert done.exit_code == 0, done.output
    assert "Drew 16 figures" in done.output
    votes = hostile_votes()
    found = document(votes, None, replace(QUICK, panel_work=0.0))
    for files in (list((tmp_path / "demo").iterdir()), write_figures(votes.tally(None), found, tmp_path / "hostile")):
        assert len(files) == 16
        kinds = {file.stem for file in files}
        assert kinds == {"votes", "lifts", "dependence", "curve", "contributions", "combining", "screening", "front"}
        for file in files:
            assert_drawn(file)
    assert "<script" not in (tmp_path / "hostile" / "lifts.svg").read_text(encoding="utf-8")


def test_figures_only_of_what_there_is() -> None:
    """One model has votes to draw, and nothing else."""
    found = document(ODD["one model"], None, QUICK)
    assert list(figures(ODD["one model"].tally(None), found)) == ["votes"]


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_documentation_runs(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command and every line of Python on the report's page works, and its pictures are there."""
    text = (DOCS / "report.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            assert CliRunner().invoke(cli, words(line, whole=whole)).exit_code == 0, line
    assert (tmp_path / "report.html").stat().st_size > 50_000
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "report.md", "exec"), {})
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", text)
    assert pictures
    assert all((DOCS / picture).is_file() for picture in pictures)


def test_tables_as_markdown_and_csv(tmp_path: Path) -> None:
    """Markdown escapes what it could read; CSV holds nothing but tables, and no formula."""
    file = tmp_path / "votes.csv"
    names = {"=cmd|' /C calc'!A0": sometimes(3), "a|b *bold* <b>": sometimes(4)}
    votes_of(names).frame.collect().write_csv(file)
    table = CliRunner().invoke(cli, ["summary", str(file), "--format", "csv"]).stdout
    rows = list(csv.DictReader(table.strip().splitlines()))
    assert {row["Model"] for row in rows} == {"'=cmd|' /C calc'!A0", "a|b *bold* <b>"}
    assert all(0 <= float(row["Plurality %"]) <= 100 for row in rows)
    text = CliRunner().invoke(cli, ["pairs", str(file), "--format", "md"]).stdout
    assert "a\\|b \\*bold\\* \\<b\\>" in text
    assert "| :--- | :--- | ---: |" in text
    assert CliRunner().invoke(cli, ["pairs", str(file), "--format", "xml"]).exit_code == 2


def test_tables_say_what_they_rest_on() -> None:
    """One line above a table: questions, votes, abstention, tie rule."""
    votes = votes_of({"a": sometimes(3), "b": lambda q, s: None if q % 2 else "G"}, questions=10)
    expected = "made up: 2 models, 10 questions, 5 votes per model and question, 25.0% abstained, ties share credit"
    assert fleet_line(votes.tally(None)) == expected
    shown = CliRunner().invoke(cli, ["pairs", "demo"]).stdout.splitlines()[0]
    assert shown.startswith("renze-temperature: 9 models, 100 questions, 3-30 votes per model and question, ")


def test_the_page_says_which_intervals_rest_on_few_clusters() -> None:
    doubts = " ".join(document(demo_votes(), None, QUICK)["quality"]["doubts"])
    assert "of 36 intervals between two models" in doubts
    assert "held-out intervals of pairs" in doubts
    assert "intervals of ways to combine" in doubts
