"""The paper side by side: the whole folder on the twins, and what is left when something is missing."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.paper.published import Comparison, Statement, published, show
from swaplaw.paper.reproduce import study_of
from swaplaw.paper.reproduce.figures import figures, further
from swaplaw.paper.reproduce.prose import numbers
from swaplaw.paper.reproduce.tables import tables
from swaplaw.paper.reproduce.trios import best_trio
from swaplaw.paper.simulation import theory
from swaplaw.paper.synthetic import Fleet, Model, generate

from support.commands import Run
from support.pages import DOCS, ROOT, blocks, words
from support.pictures import assert_drawn

TABLES = ("datasets", "model_accuracy", "predictors", "cyber_weights", "abstentions", "trios", "top_pairs")
FURTHER = ("lifts", "contributions", "votes")
FIGURES = (
    *("theory", "phiadj_sg", "validation", "exactness", "decomp", "calibration", "meanlift", "leading"),
    *("cyber_weights", "phi_sg", "liftdelta"),
)


class Cells(HTMLParser):
    """Texts of all table cells and sources of all images."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.images: list[str] = []
        self.scripts = 0
        self.open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open = tag in ("td", "th")
        if self.open:
            self.cells.append("")
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
        self.scripts += tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.open:
            self.cells[-1] += data


def assert_no_empty_cell(file: Path) -> int:
    """Open a table of any kind, and return how many cells it has."""
    if file.suffix == ".csv":
        with file.open(newline="") as lines:
            cells = [cell for row in csv.reader(lines) for cell in row]
    else:
        rows = [line for line in file.read_text().splitlines() if line.startswith("|")]
        cells = [cell for row in rows for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    assert all(cell.strip() for cell in cells), f"{file.name} has an empty cell"
    assert not {"nan", "None", "inf"} & {cell.strip() for cell in cells}
    return len(cells)


def test_the_whole_folder_on_the_twins(swaplaw: Run, tmp_path: Path) -> None:
    finished = swaplaw("reproduce", "--twin", "-o", tmp_path / "out", "--json")
    assert finished.code == 0
    document = json.loads(finished.out)
    folder = tmp_path / "out"
    assert document["synthetic"] is True
    assert document["problems"] == []
    assert {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} == set(document["files"])

    for name in TABLES:
        sizes = [assert_no_empty_cell(folder / "tables" / f"{name}{suffix}") for suffix in (".csv", ".md")]
        assert min(sizes) > 8
        page = (folder / "tables" / f"{name}.md").read_text()
        assert "SYNTHETIC" in page
    for name in (*FIGURES, *FURTHER):
        for suffix in (".svg", ".png"):
            assert_drawn(folder / "figures" / f"{name}{suffix}")
        if name not in ("theory", "decomp"):
            assert "ynthetic" in (folder / "figures" / f"{name}.svg").read_text().replace("SYNTHETIC", "synthetic")

    assert assert_no_empty_cell(folder / "comparison.md") > 6 * 300
    page = (folder / "comparison.html").read_text()
    parser = Cells()
    parser.feed(page)
    assert len(parser.cells) > 6 * 300
    assert all(parser.cells)
    assert parser.scripts == 0
    assert "SYNTHETIC" in page
    assert len(parser.images) == len(FIGURES) + len(FURTHER)
    assert all((folder / image).is_file() for image in parser.images)
    assert sl.predict.read_law(folder / "law.json").weight == Fraction(2, 3)

    compared = {row["id"]: row for row in document["comparisons"]}
    everything = published()
    cells = sum(
        len([column for column in row if column not in table.keys and column != "format"])
        for table in everything.tables.values()
        for row in table.rows
    )
    assert len(compared) == cells + len(everything.prose) + len(everything.simulation)
    assert_as_published(document["comparisons"])
    assert (document["of"], document["not_compared"]) == (372, [])
    assert document["within"] >= 351
    assert {one["id"]: one["holds"] for one in document["claims"]} == {
        "tiny_captures_nothing": True,
        "plateau_damages_nothing": True,
        "trios_below_single": True,
        "forensic_damage_largest": True,
    }
    accuracy = {row["model"]: row for row in published().tables["model_accuracy"].rows}
    assert document["equal_pairs"]
    for pair in document["equal_pairs"]:
        one, other = (accuracy[pair[name]][f"{pair['dataset']}_plurality"] for name in ("primary", "secondary"))
        assert abs(one - other) <= 1.0
    assert_documented(document["comparisons"])
    assert (compared["alpha"]["published"], compared["gamma"]["published"]) == (0.338, 0.165)
    assert 0.25 < compared["alpha"]["ours"] < 0.45
    assert 0.10 < compared["gamma"]["ours"] < 0.25
    # The fleet's accuracies are the paper's; everything that follows from them alone agrees, too.
    assert all(compared[name]["within"] for name in ("forensic_gap", "top_alone", "residual_cells", "rule_pairs"))
    for column, most in (("plurality", 0.5), ("single", 1.0)):
        found = [row for name, row in compared.items() if name.startswith("model_accuracy") and name.endswith(column)]
        assert len(found) == 30
        assert all(abs(row["difference"]) <= most for row in found)


PAIR_TABLES = ("predictors.", "cyber_weights.", "trios.", "top_pairs.")
MARGINALS = ("datasets.", "model_accuracy.", "abstentions.")


def assert_as_published(rows: list[dict[str, Any]]) -> None:
    """Most published numbers of pairs and trios come out of the twins, and what does not has its reason."""
    about_pairs = [row for row in rows if row["id"] in published().prose or row["id"].startswith(PAIR_TABLES)]
    assert len(about_pairs) == 247
    assert sum(row["within"] for row in about_pairs) >= 227
    others = [row for row in rows if row["id"].startswith(MARGINALS)]
    assert sum(row["within"] for row in others) >= len(others) - 1
    assert all(row["reason"] for row in rows if not row["within"])


def assert_documented(rows: list[dict[str, Any]]) -> None:
    """The page of the paper lists what does not agree."""
    page = (ROOT / "docs" / "paper.md").read_text()
    missed = [row["id"] for row in rows if not row["within"] and row["id"] not in published().simulation]
    assert [name for name in missed if f"`{name}`" not in page] == []


def fleet(
    dataset: str,
    models: int = 4,
    questions: int = 40,
    options: tuple[int, ...] | None = (4,),
    missing: float = 0.0,
    samples: int = 6,
) -> sl.Votes:
    names = list(published().codes)[:models]
    members = tuple(
        Model(name, 0.65 - place / 20, 0.6 - place / 20, {"unanswered": 0.1}, samples=samples, missing=missing)
        for place, name in enumerate(names)
    )
    return generate(Fleet(dataset, members, questions, options), 1)


FEW = ("--trials", "60", "--replicates", "40")


def test_numbers_are_those_of_the_law() -> None:
    """Tables and prose restate what the law's own functions say."""
    study = study_of([sl.demo_votes("gpqa-diamond-twin"), fleet("supergpqa", 5, 80)], replicates=50)
    found = numbers(study)
    tally = sl.demo_votes("gpqa-diamond-twin").tally()
    lifts = [pair.at("2/3").lift for pair in sl.pairs(tally)]
    assert found["gpqa_gaining"] == sum(lift > 0 for lift in lifts)
    harmful = [curve for curve in sl.law.curves(tally) if all(outcome.lift <= 0 for outcome in curve.grid())]
    assert found["gpqa_harmful"] == len(harmful)
    best = max(outcome.lift for curve in sl.law.curves(tally) for outcome in curve.grid())
    assert found["gpqa_pair_lift"] == 100 * float(best)
    made = {name: make() for name, make in tables(study).items()}
    top = made["top_pairs"].rows
    assert [row["lift"] for row in top] == sorted((row["lift"] for row in top), key=lambda lift: -float(lift or 0))
    law = study.law
    first = sl.pair(study.calibration.tally, str(top[0]["primary"]), str(top[0]["secondary"]))
    hat = first.masses.predicted_swap(Fraction(law.alpha), Fraction(law.gamma))
    assert top[0]["predicted"] == pytest.approx(100 * float(hat))
    # Statements about all three datasets are not made of two.
    assert not {"rule_within", "ties", "swap_r2_least"} & set(found)


@pytest.mark.parametrize(("options", "missing"), [((3,), 0.0), ((6,), 0.3), (None, 0.0)])
def test_best_trio_is_the_best_of_the_grid(options: tuple[int, ...] | None, missing: float) -> None:
    tally = fleet("d", 4, 25, options, missing).tally()
    assert tally.answered.all()
    assert (None in tally.samples) == bool(missing)
    found = best_trio(tally)
    assert found is not None
    from swaplaw.law.weights import vote

    ranked = sorted(sl.summary(tally), key=lambda model: (-model.plurality, model.model))
    order = [tally.index(model.model) for model in ranked]
    best = Fraction(-1)
    for trio in combinations(order, 3):
        own = tally.scores[trio[0]]
        alone = Fraction(int(own.numerators.sum()), own.denominator)
        for a, b in product(range(1, 25, 3), repeat=2):
            scores = vote(tally, trio, (Fraction(1), Fraction(a, 24), Fraction(b, 24)))
            best = max(best, (Fraction(int(scores.numerators.sum()), scores.denominator) - alone) / 25)
    assert found.lift >= best
    indices = [tally.index(name) for name in found.members]
    scores = vote(tally, indices, (Fraction(1), *found.weights))
    own = tally.scores[indices[0]]
    exact = Fraction(int(scores.numerators.sum()), scores.denominator) - Fraction(
        int(own.numerators.sum()), own.denominator
    )
    assert found.lift == exact / 25
    right = [np.array(each.numerators) / each.denominator for each in (tally.scores[index] for index in indices)]
    ceiling = np.mean((1 - right[0]) * (1 - (1 - right[1]) * (1 - right[2])))
    assert float(found.ceiling) == pytest.approx(float(ceiling))


def test_trios_are_judged_on_the_questions_that_all_three_answered() -> None:
    frame = fleet("d", 3, 30).frame.collect()
    gone = (pl.col("model") == "Gemma-4-31B") & pl.col("question").is_in([f"d-{number:02d}" for number in range(1, 9)])
    kept = frame.filter(~pl.col("question").is_in([f"d-{number:02d}" for number in range(1, 9)]))
    assert best_trio(sl.votes_from(frame.filter(~gone)).tally()) == best_trio(sl.votes_from(kept).tally())


def test_ties_of_any_number_of_rivals_are_exact() -> None:
    """Gold ties with 1 rival, with 2, ... with 60: no whole numbers of 64 bits have room for all these shares."""
    rows = [
        {"dataset": "d", "question": f"q{ties}", "model": model, "sample": place, "answer": answer, "gold": "G"}
        for model in "abc"
        for ties in range(1, 61)
        for place, answer in enumerate(["G", *(f"wrong {rival}" for rival in range(ties))])
    ]
    found = best_trio(sl.votes_from(pl.DataFrame(rows)).tally())
    assert found is not None
    wrong = [Fraction(ties, ties + 1) for ties in range(1, 61)]
    assert found.lift == 0
    assert found.ceiling == sum((each * (1 - each**2) for each in wrong), Fraction(0)) / 60


def test_two_models_make_no_trio() -> None:
    assert best_trio(fleet("d", 2).tally()) is None


def write_corpus(folder: Path, names: dict[str, str]) -> None:
    folder.mkdir()
    for dataset, file in names.items():
        options = None if dataset == "forensic" else (4,)
        frame = fleet(dataset, 4, 40, options, samples=24).frame.collect().drop("synthetic", "dataset")
        frame.rename({"question": "question_id"}).write_parquet(folder / file)


def test_a_corpus_with_a_dataset_missing_is_reproduced_as_far_as_it_goes(swaplaw: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c", {"gpqa-diamond": "gpqa.parquet", "forensic": "forensic.parquet"})
    finished = swaplaw("reproduce", "--corpus", tmp_path / "c", "-o", tmp_path / "out", "--strict", *FEW)
    assert finished.code == 1
    assert "gpqa-diamond: 3,840 votes of 4 models on 40 questions" in finished.err
    for gap in (
        "no votes for dataset 'supergpqa'",
        "dataset 'forensic' has no votes of 'MedGemma-27B'",
        "dataset 'gpqa-diamond' has 40 questions, and the paper 198",
        "not compared: model_accuracy: MedGemma-27B.forensic_single: there are no votes of 'MedGemma-27B'",
        "not compared: prose: alpha: there are no votes of 'supergpqa'",
    ):
        assert gap in finished.err
    assert "should agree: gpqa_gaining" in finished.err
    for name in TABLES:
        assert_no_empty_cell(tmp_path / "out" / "tables" / f"{name}.csv")
    for name in FIGURES:
        assert_drawn(tmp_path / "out" / "figures" / f"{name}.png")
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert "Left out" in page
    assert "SYNTHETIC" not in page


def test_any_votes_can_be_reproduced_without_published_numbers(
    swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that the page of the paper shows."""
    monkeypatch.chdir(tmp_path)
    [line] = [block for block in blocks(DOCS / "paper.md", "sh") if block.startswith("swaplaw reproduce demo")]
    finished = swaplaw(*words(line), "-o", "out", "--json", *FEW)
    assert finished.code == 0
    document = json.loads(finished.out)
    assert document["synthetic"] is False
    assert {row["place"].split(" (")[0] for row in document["comparisons"]} <= {
        *("Section 4, Figure 1", "Appendix C, Figure 5"),
    }
    assert_no_empty_cell(tmp_path / "out" / "tables" / "predictors.md")
    assert_drawn(tmp_path / "out" / "figures" / "leading.svg")


def test_hostile_names_stay_text_and_a_dataset_without_pairs_is_left_out(swaplaw: Run, tmp_path: Path) -> None:
    nasty = {"Gemma-4-31B": "<script>alert(1)</script>", "Qwen3.6-27B": "a|b\x1b[31m`_*"}
    frames = [fleet("supergpqa", 3).frame.collect(), fleet("forensic", 1).frame.collect()]
    frame = pl.concat([frame.drop("synthetic") for frame in frames]).with_columns(pl.col("model").replace(nasty))
    frame.write_parquet(tmp_path / "votes.parquet")
    finished = swaplaw("reproduce", tmp_path / "votes.parquet", "-o", tmp_path / "out", *FEW)
    assert finished.code == 0
    assert "dataset 'forensic' is left out" in finished.err
    for file in (tmp_path / "out").rglob("*"):
        if file.suffix in (".html", ".md", ".svg"):
            text = file.read_text()
            assert "<script>" not in text
            assert "\x1b" not in text
    assert_no_empty_cell(tmp_path / "out" / "tables" / "model_accuracy.md")


def test_votes_without_pairs_are_refused(swaplaw: Run, tmp_path: Path) -> None:
    fleet("forensic", 1).frame.collect().write_parquet(tmp_path / "v.parquet")
    assert swaplaw("reproduce", tmp_path / "v.parquet", "-o", tmp_path / "out", *FEW).code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--twin", "--corpus", "x"],
        ["demo", "--twin"],
        ["--corpus", "no-such-folder"],
        ["demo", "--download"],
        ["--twin", "--columns", "x.json"],
        ["--corpus", "/", "--columns", "no-such-map.json"],
    ],
)
def test_wrong_arguments_get_one_line(swaplaw: Run, arguments: list[str]) -> None:
    finished = swaplaw("reproduce", *arguments)
    assert finished.code == 2
    assert len(finished.err.strip().splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_refused(swaplaw: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    finished = swaplaw("reproduce", "demo", "-o", tmp_path / "out", *FEW)
    assert finished.code == 2
    assert "cannot write" in finished.err


@pytest.mark.parametrize(
    ("kind", "value", "ours", "tolerance", "within"),
    [
        ("value", 0.34, 0.3449, 0.0, True),
        ("value", 0.34, 0.3451, 0.0, False),
        ("value", 0.34, 0.36, 0.02, True),
        ("value", 0.285, 0.285, 0.0, True),
        ("at_most", 0.12, -3.0, 0.0, True),
        ("at_most", 0.12, 0.13, 0.0, False),
        ("at_least", 0.96, 1.0, 0.0, True),
        ("at_least", 0.96, 0.94, 0.0, False),
        ("value", "2/3", "2/3", 0.0, True),
        ("value", "2/3", "1/2", 0.0, False),
        ("value", 0.34, None, 0.0, False),
    ],
)
def test_within_means_within_rounding(
    kind: str, value: float | str, ours: float | str | None, tolerance: float, within: bool
) -> None:
    assert Comparison(Statement("x", "here", "it", value, 2, kind=kind), ours, tolerance).within is within


def test_published_values_are_whole() -> None:
    """Every statement has a place, and every table of the paper all of its rows."""
    everything = published()
    assert {name: len(table.rows) for name, table in everything.tables.items()} == {
        "datasets": 3,
        "model_accuracy": 10,
        "predictors": 7,
        "cyber_weights": 7,
        "abstentions": 10,
        "trios": 6,
        "top_pairs": 8,
    }
    statements = [*everything.prose.values(), *everything.simulation.values()]
    assert all(re.match(r"(Section \d|Appendix [CD])", each.place) for each in statements)
    assert all(re.match(r"(Section \d|Appendix [CD])", table.place) for table in everything.tables.values())
    assert show(None, 2) == "—"
    assert show(-0.0004, 2, "pp") == "0.00 pp"


def test_every_figure_of_the_paper_has_a_name_of_ours() -> None:
    study = study_of(fleet("supergpqa", 3), replicates=20)
    assert tuple(figures(study, theory(trials=5, step=0.1))) == FIGURES
    assert tuple(further(study)) == FURTHER
    assert tuple(tables(study)) == TABLES
