"""Few labels: bounds that hold whatever the labels are, and exact lift from the changed questions alone."""

from __future__ import annotations

import csv
import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.labels import labels_needed, narrowing
from swaplaw.decide.labels.bounds import Change, curve_bounds
from swaplaw.decide.labels.sheet import labelled_votes, read_sheet, write_sheet
from swaplaw.votes.counts import Candidates, candidates

from support.commands import Run
from support.data import datasets, real_votes

Shares = Mapping[str | None, int]
WEIGHTS = ("0", "1/3", "2/3", "1", "3")


def table(rows: Sequence[tuple[str, str, str | None, str | None]]) -> sl.Votes:
    return sl.votes_from(pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row"))


def score(a: Shares, b: Shares, x: Fraction, gold: str) -> Fraction:
    """Eq. (score), for one question."""
    pooled: dict[str | None, Fraction] = {}
    for own, weight in ((a, Fraction(1)), (b, x)):
        for answer, number in own.items():
            pooled[answer] = pooled.get(answer, Fraction(0)) + weight * Fraction(number, sum(own.values()))
    tied = [answer for answer, share in pooled.items() if share == max(pooled.values())]
    return Fraction(1, len(tied)) if gold in tied else Fraction(0)


ANSWERS = st.sampled_from(["A", "B", "C", None])


@given(
    st.lists(
        st.tuples(st.lists(ANSWERS, min_size=1, max_size=4), st.lists(ANSWERS, min_size=1, max_size=4)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(WEIGHTS),
)
def test_bounds_are_the_best_and_worst_labels(
    questions: list[tuple[list[str | None], list[str | None]]], weight: str
) -> None:
    rows = [
        (str(number), model, answer, None)
        for number, ballots in enumerate(questions)
        for model, own in zip("ab", ballots, strict=True)
        for answer in own
    ]
    found = labels_needed(table(rows), weight, primary="a", secondary="b").pairs[0]
    x = Fraction(weight)
    least = most = Fraction(0)
    for one, other in questions:
        a, b = Counter(one), Counter(other)
        changes = [score(a, b, x, gold) - score(a, b, Fraction(0), gold) for gold in "ABCD"]
        least, most = least + min(changes), most + max(changes)
    assert (found.low, found.high) == (least / len(questions), most / len(questions))


@given(
    st.lists(st.tuples(*[st.lists(ANSWERS, min_size=1, max_size=4)] * 2), min_size=1, max_size=3),
    st.sampled_from(WEIGHTS),
)
def test_where_several_answers_may_be_right_bounds_are_those_of_any_set_of_them(
    questions: list[tuple[list[str | None], list[str | None]]], weight: str
) -> None:
    """One graded question with two right spellings says that sets may be right; of the others nothing is known."""
    rows: list[tuple[str, str, str | None, str | None, bool | None]] = [
        (str(number), model, answer, None, None)
        for number, ballots in enumerate(questions)
        for model, own in zip("ab", ballots, strict=True)
        for answer in own
    ]
    rows += [("x", model, answer, "A", True) for model, answer in (("a", "A"), ("b", "a."))]
    schema = ["question", "model", "answer", "gold", "correct"]
    votes = sl.votes_from(pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None))
    found = labels_needed(votes, weight, primary="a", secondary="b").pairs[0]
    x = Fraction(weight)

    def gains(one: list[str | None], other: list[str | None]) -> list[Fraction]:
        a, b = Counter(one), Counter(other)
        return [score(a, b, x, gold) - score(a, b, Fraction(0), gold) for gold in "ABC"]

    known = sum(gains(["A"], ["B"])[:2])  # Both are right there.
    least = known + sum(min(gain, Fraction(0)) for each in questions for gain in gains(*each))
    most = known + sum(max(gain, Fraction(0)) for each in questions for gain in gains(*each))
    assert (found.low, found.high) == (least / (len(questions) + 1), most / (len(questions) + 1))


def real(name: str, dataset: str | None = None) -> tuple[sl.Tally, Candidates]:
    votes = sl.demo_votes() if name == "demo" else sl.read_votes(real_votes(f"{name}.parquet"))
    return votes.tally(dataset), candidates(votes, dataset)


@pytest.mark.parametrize("name", ["gpqa-diamond", "math500", "renze-temperature", "renze-exams", "reasoning-gym"])
def test_at_every_weight_bounds_hold_and_the_changed_questions_are_enough(name: str) -> None:
    """Hide all labels, then give back those of the questions that change at some weight."""
    tally, known = dataset(name)
    a, b = 1, len(tally.models) - 1
    names = tally.models[a], tally.models[b]
    blind, few = curve_bounds(known.knowing(), *names), curve_bounds(known, *names)
    assert few.known
    ever = np.zeros(len(known.labelled), dtype=bool)
    for piece in [piece for piece in sl.curve(tally, *names).pieces if piece.outcome.weight > 0]:
        weight = piece.outcome.weight
        assert blind.at(weight).low <= piece.lift <= blind.at(weight).high
        assert few.at(weight).low == few.at(weight).high == piece.lift
        ever |= Change(known, (a, b), (Fraction(1), weight)).changed
    assert int(ever.sum()) <= blind.changed
    assert blind.changed_labelled == 0


@functools.cache
def dataset(name: str) -> tuple[sl.Tally, Candidates]:
    rows = next(rows for found, rows in datasets(real_votes()) if found == name)
    votes = sl.votes_from(rows.with_columns(dataset=pl.lit(name)))
    return votes.tally(), candidates(votes)


REAL = [
    ("demo", None, 9),
    ("reasoning-gym", None, 4),
    ("best-of-infinity", "gpqa-diamond", 6),
    ("best-of-infinity", "math500", 4),
    ("mmlu-pro", None, 3),
]


@pytest.mark.parametrize(("name", "dataset", "models"), REAL)
def test_hidden_labels_stay_within_bounds_and_changed_ones_are_enough(
    name: str, dataset: str | None, models: int
) -> None:
    tally, ballots = real(name, dataset)
    hidden = ballots.knowing()
    for a, b in permutations(range(models), 2):
        pair = sl.law.Pair(tally, a, b)
        if not pair.n:
            continue
        for weight in WEIGHTS:
            x, truth = Fraction(weight), pair.at(weight).lift
            blind = Change(hidden, (a, b), (Fraction(1), x))
            assert blind.low <= truth <= blind.high
            assert -blind.changed.sum() <= blind.low * blind.n <= blind.high * blind.n <= blind.changed.sum()
            few = Change(ballots.knowing(blind.changed), (a, b), (Fraction(1), x))
            assert few.low == few.high == truth
            assert few.n == pair.n


def test_panels_are_bounded_alike() -> None:
    tally, ballots = real("demo")
    weights = (Fraction(1), Fraction(1, 2), Fraction(2, 3))
    names = [tally.models[index] for index in (5, 0, 3)]
    panel = sl.panel(tally, names)
    members = tuple(tally.index(name) for name in panel.members)
    blind = Change(ballots.knowing(), members, weights)
    truth = panel.at(list(weights)).lift
    assert blind.low <= truth <= blind.high
    assert Change(ballots.knowing(blind.changed), members, weights).low == truth


def test_unlabelled_questions_are_left_out_of_accuracy_and_said() -> None:
    rows = [("1", "a", "A", "A"), ("1", "b", "B", "A"), ("2", "a", "A", None), ("2", "b", "A", None)]
    tally = table(rows).tally()
    assert (tally.questions, tally.unlabelled) == (("1",), 1)
    nothing = table([(question, model, answer, None) for question, model, answer, _ in rows])
    with pytest.raises(sl.InputError, match="none of the 2 questions of dataset 'votes' has a label"):
        nothing.tally()


def test_a_label_on_some_votes_is_the_questions_label() -> None:
    tally = table([("1", "a", "A", "A"), ("1", "b", "B", None), ("1", "a", "A", None)]).tally()
    assert tally.gold.tolist() == [[2], [0]]


def test_the_sheet_is_blind_and_comes_back(tmp_path: Path, swaplaw: Run) -> None:
    tally, ballots = real("demo")
    hidden = tmp_path / "hidden.parquet"
    sl.demo_votes().frame.drop("gold", "correct", strict=False).collect().write_parquet(hidden)
    sheet, pair = tmp_path / "labels.csv", ["--primary", "gpt-4", "--secondary", "mistral-large"]
    out = swaplaw("labels", hidden, *pair, "--sheet", sheet, "--json")
    assert out.code == 0, out.err
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert not any(model in sheet.read_text() for model in tally.models)
    assert len(rows) == json.loads(out.out)["pairs"][0]["changed"]
    right = ballots.question[ballots.right].tolist(), ballots.answers[ballots.right]
    gold = {tally.questions[place]: answer for place, answer in zip(*right, strict=True)}
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answers", "label"])
        writer.writeheader()
        writer.writerows(row | {"label": gold.get(row["question"], "none")} for row in rows)
    done = json.loads(swaplaw("labels", hidden, *pair, "--labels", sheet, "--json").out)["pairs"][0]
    truth = float(sl.pair(tally, "gpt-4", "mistral-large").at("2/3").lift)
    assert done["lift_low"] == done["lift_high"] == truth
    assert not done["next"]
    again = swaplaw("labels", hidden, "--sheet", sheet)
    assert (again.code, "already exists" in again.err) == (2, True)


def test_two_labels_for_one_question_are_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("question,label\n1,A\n1,B\n")
    with pytest.raises(sl.InputError, match="has the labels 'A' and 'B'"):
        read_sheet(tmp_path / "labels.csv")


@pytest.mark.parametrize(("merged", "lift"), [(False, 1.0), (True, 0.5)])
def test_right_spellings_are_one_answer_where_that_is_asked_for(merged: bool, lift: float) -> None:
    """Two spellings tie with a wrong answer and share the credit, until they are one; labels and the law agree."""
    said = {"a": ("Oslo", "oslo", "Rome", "Rome"), "b": ("Oslo", "oslo", "oslo", "oslo")}
    rows = [("1", model, text, "Oslo", text != "Rome") for model, own in said.items() for text in own]
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row")
    votes = sl.votes_from(frame).merging_right() if merged else sl.votes_from(frame)
    found = labels_needed(votes, "1", primary="a", secondary="b").pairs[0]
    truth = sl.pair(votes.tally(), "a", "b").at("1").lift
    assert found.low == found.high == truth
    assert float(labels_needed(votes, "1").models[0].low) == (0.5 if merged else 0.0)
    assert float(truth) == lift


def test_the_table(swaplaw: Run) -> None:
    shown = swaplaw("labels", "demo", "--top", "3")
    assert "72 of 72 lifts known exactly" in shown.out


def hidden_demo(folder: Path, labelled: float = 0.0) -> Path:
    """The bundled votes with few labels or none, as a recorder would have kept them."""
    frame = sl.demo_votes().frame.drop("correct", strict=False).collect()
    names = sorted(frame["question"].unique())
    known = set(np.random.default_rng(0).permutation(names)[: round(labelled * len(names))].tolist())
    gold = pl.when(pl.col("question").is_in(known)).then("gold").otherwise(pl.lit(None, pl.String))
    file = folder / "live.parquet"
    frame.with_columns(gold.alias("gold")).write_parquet(file)
    return file


def fill_in(sheet: Path, rows: int | None = None) -> None:
    """Label a sheet as an annotator would who knows the answers."""
    gold = dict(sl.demo_votes().counts.select("question", "gold").unique().iter_rows())
    with sheet.open(newline="") as file:
        found = list(csv.DictReader(file))
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answers", "label"])
        writer.writeheader()
        for number, row in enumerate(found):
            writer.writerow(row | {"label": gold[row["question"]] if rows is None or number < rows else ""})


def test_live_votes_without_labels_become_votes_for_every_command(tmp_path: Path, swaplaw: Run) -> None:
    """Recorded votes have no gold: bounds first, a sheet, labels on the votes, and a verdict with a warning."""
    live, sheet, done = hidden_demo(tmp_path), tmp_path / "labels.csv", tmp_path / "labelled.parquet"
    refused = swaplaw("recommend", live)
    assert (refused.code, "none of the 100 questions" in refused.err) == (2, True)
    wrote = swaplaw("labels", live, "--sheet", sheet)
    assert wrote.code == 0, wrote.err
    fill_in(sheet)
    labelled = swaplaw("labels", live, "--labels", sheet, "-o", done, "--json")
    assert labelled.code == 0, labelled.err
    found = json.loads(labelled.out)
    truth = json.loads(swaplaw("labels", "demo", "--json").out)
    for own, other in zip(found["pairs"], truth["pairs"], strict=True):
        assert (own["lift_low"], own["lift_high"]) == (other["lift_low"], other["lift_high"])
    verdict = swaplaw("recommend", done, "--models", "gpt-4,mistral-large", "--repeats", "1", "--json")
    assert verdict.code == 0, verdict.err
    # The sheet asked for contested questions only: whoever goes on with these is warned.
    assert "not like the" in verdict.err
    names = [check["name"] for check in json.loads(swaplaw("checks", done, "--json").out)["checks"]]
    assert "chosen_labels" in names


def test_few_labels_are_no_reason_to_call_a_model_wrong(tmp_path: Path, swaplaw: Run) -> None:
    """Questions without a label are neither right nor wrong, and labels at random are no check."""
    found = json.loads(swaplaw("checks", hidden_demo(tmp_path, 0.4), "--json").out)["checks"]
    assert [check["name"] for check in found if check["severity"] != "note"] == []


@pytest.mark.parametrize("command", ["pairs", "summary", "compare"])
def test_commands_say_how_many_labels_there_are_and_go_on(command: str, tmp_path: Path, swaplaw: Run) -> None:
    half = hidden_demo(tmp_path, 0.5)
    done = swaplaw(command, half, "--json")
    assert done.code == 0, done.err
    assert "50 of 100 questions of renze-temperature have no label" in done.err
    assert "(50 without a label left out)" in swaplaw(command, half).out


def test_labels_are_those_of_one_dataset() -> None:
    rows = [(dataset, "1", model, "A", None) for dataset in ("x", "y") for model in "ab"]
    columns = dict.fromkeys(("dataset", "question", "model", "answer", "gold"), pl.String)
    votes = labelled_votes(sl.votes_from(pl.DataFrame(rows, schema=columns, orient="row")), {"1": "A"}, "y")
    assert candidates(votes, "y").labelled.all()
    assert not candidates(votes, "x").labelled.any()


def test_labels_of_a_sheet_must_fit_the_votes(tmp_path: Path, swaplaw: Run) -> None:
    sheet = tmp_path / "labels.csv"
    sheet.write_text("question,label\nnobody asked,A\n")
    done = swaplaw("labels", "demo", "--labels", sheet)
    assert (done.code, "has no votes" in done.err) == (2, True)


@given(
    st.lists(st.tuples(*[st.lists(ANSWERS, min_size=1, max_size=3)] * 3), min_size=1, max_size=3),
    st.lists(st.sampled_from(["1", "1/2", "2/3"]), min_size=3, max_size=3),
    st.booleans(),
)
def test_panels_and_single_models_are_bounded_by_the_best_and_worst_labels(
    questions: list[tuple[list[str | None], ...]], weights: list[str], first: bool
) -> None:
    rows = [
        (str(number), model, answer, "A" if first and not number else None)
        for number, ballots in enumerate(questions)
        for model, own in zip("abc", ballots, strict=True)
        for answer in own
    ]
    panel = dict(zip("abc", weights, strict=True))
    found = labels_needed(table(rows), panels=[panel])
    (one,) = found.ensembles
    order = [("abc".index(model), Fraction(weight)) for model, weight in zip(one.members, one.weights, strict=True)]
    least = most = Fraction(0)
    accuracy = [Fraction(0)] * 3
    highest = [Fraction(0)] * 3
    for number, ballots in enumerate(questions):
        counted = [Counter(own) for own in ballots]
        golds = "A" if first and not number else "ABCD"
        changes = []
        for gold in golds:
            pooled: dict[str | None, Fraction] = {}
            for place, weight in order:
                for answer, votes in counted[place].items():
                    pooled[answer] = pooled.get(answer, Fraction(0)) + weight * Fraction(votes, counted[place].total())
            tied = [answer for answer, share in pooled.items() if share == max(pooled.values())]
            own = score(counted[order[0][0]], counted[order[0][0]], Fraction(0), gold)
            changes.append((Fraction(1, len(tied)) if gold in tied else Fraction(0)) - own)
        least, most = least + min(changes), most + max(changes)
        for place in range(3):
            scores = [score(counted[place], counted[place], Fraction(0), gold) for gold in golds]
            accuracy[place], highest[place] = accuracy[place] + min(scores), highest[place] + max(scores)
    n = len(questions)
    assert (one.low, one.high) == (least / n, most / n)
    assert [(each.low, each.high) for each in found.models] == [
        (low / n, high / n) for low, high in zip(accuracy, highest, strict=True)
    ]


def test_which_model_can_be_best() -> None:
    rows: list[tuple[str, str, str | None, str | None]] = [
        (str(q), model, answer, "A") for q in range(3) for model, answer in (("a", "A"), ("b", "B"))
    ]
    rows += [("3", "a", "A", None), ("3", "b", "B", None), ("4", "a", "C", None), ("4", "b", "C", None)]
    found = labels_needed(table(rows))
    assert [(each.model, each.best) for each in found.models] == [("a", "yes"), ("b", "no")]
    open_ = labels_needed(table([(*row[:3], None) for row in rows]))
    assert {each.best for each in open_.models} == {"maybe"}


def test_rules_without_labels_are_bounded_and_those_with_say_so(swaplaw: Run, tmp_path: Path) -> None:
    live = hidden_demo(tmp_path)
    found = json.loads(swaplaw("labels", live, "--rules", "equal,agreement", "--json").out)
    assert [one["rule"] for one in found["ensembles"]] == ["equal", "agreement"]
    assert all(one["lift_low"] < 0 < one["lift_high"] for one in found["ensembles"])
    whole = json.loads(swaplaw("labels", "demo", "--rules", "agreement,smooth", "--json").out)
    agreed = next(one for one in whole["ensembles"] if one["rule"] == "agreement")
    assert agreed["weights"] == found["ensembles"][1]["weights"]
    assert agreed["lift_low"] == agreed["lift_high"]
    done = swaplaw("labels", live, "--rules", "smooth")
    assert (done.code, "needs labels" in done.err) == (2, True)


def test_bounds_narrow_as_labels_come_in() -> None:
    _, ballots = real("demo")
    change = Change(ballots, (0, 5), (Fraction(1), Fraction(2, 3)))
    steps = narrowing(change, steps=1_000)
    assert [step["labels"] for step in steps] == list(range(len(steps)))
    for before, after in pairwise(steps):
        assert before["low"] <= after["low"] + 1e-12
        assert after["high"] <= before["high"] + 1e-12
    assert steps[-1]["low"] == pytest.approx(float(change.low))
    assert steps[-1]["high"] == pytest.approx(float(change.high))


def test_no_cell_of_a_sheet_is_a_formula(tmp_path: Path) -> None:
    odd = ["=1+1", "+cmd", "-3", "@x", "\ttab", "'=x", "a,b", "two\nlines", "ünï", 'say "B"']
    rows = [(name, model, answer, None) for name in odd for model, answer in (("a", "=SUM(A1)"), ("b", "-5"))]
    votes, path = table(rows), tmp_path / "labels.csv"
    assert write_sheet(labels_needed(votes, "1"), path) == len(odd)
    with path.open(newline="") as file:
        sheet = list(csv.DictReader(file))
    assert not [cell for row in sheet for cell in row.values() if cell[:1] in set("=+-@\t\r")]
    filled = tmp_path / "filled.csv"
    with filled.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answers", "label"])
        writer.writeheader()
        writer.writerows(row | {"label": "'=SUM(A1)" if number else "-5"} for number, row in enumerate(sheet))
    labels = read_sheet(filled)
    assert set(labels) == set(odd)
    assert Counter(labels.values()) == {"=SUM(A1)": len(odd) - 1, "-5": 1}
    assert candidates(labelled_votes(votes, labels)).labelled.all()
