"""Estimates without labels: held to crowd-kit, and intervals held to the truth by hiding labels."""

from __future__ import annotations

import json
from typing import get_args

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw._arrays import Floats, Ints
from swaplaw.decide.labels import labels_needed
from swaplaw.decide.labels.estimates import Method, believed, estimate
from swaplaw.evidence.prediction_powered import prediction_powered
from swaplaw.predict.dawid_skene import dawid_skene
from swaplaw.votes.counts import candidates

from support.commands import Run


def crowd(rng: np.random.Generator, skills: Floats, questions: int, answers: int = 4) -> tuple[Ints, Ints]:
    """Independent voters, one vote each: what is right, and what everybody says (voters x questions)."""
    gold = rng.integers(answers, size=questions)
    wrong = (gold + rng.integers(1, answers, size=(len(skills), questions))) % answers
    return gold, np.where(rng.random((len(skills), questions)) < skills[:, None], gold, wrong)


def table(said: Ints, gold: Ints | None) -> sl.Votes:
    rows = [
        (f"{i:04}", f"m{m}", "ABCD"[said[m, i]], None if gold is None else "ABCD"[gold[i]])
        for m in range(len(said))
        for i in range(said.shape[1])
    ]
    columns = dict.fromkeys(("question", "model", "answer", "gold"), pl.String)
    return sl.votes_from(pl.DataFrame(rows, schema=columns, orient="row"))


@pytest.mark.filterwarnings("ignore")  # Of pandas, about how crowd-kit calls it.
def test_confusion_matrices_are_crowd_kits() -> None:
    """The same probabilities as crowd-kit's Dawid-Skene after as many rounds, on the same votes."""
    aggregation = pytest.importorskip("crowdkit.aggregation")
    pandas = pytest.importorskip("pandas")
    _, said = crowd(np.random.default_rng(1), np.array([0.8, 0.7, 0.6, 0.9]), 120)
    models, questions = np.indices(said.shape)
    data = pandas.DataFrame({"task": questions.ravel(), "worker": models.ravel(), "label": said.ravel()})
    theirs = aggregation.DawidSkene(n_iter=30, tol=-1).fit_predict_proba(data).sort_index()
    ours = dawid_skene(np.eye(4)[said], steps=30, settled=-1)
    assert np.abs(ours - theirs[[0, 1, 2, 3]].to_numpy()).max() < 1e-6


@pytest.mark.filterwarnings("ignore")
def test_one_coin_finds_the_skills_that_crowd_kit_finds() -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    pandas = pytest.importorskip("pandas")
    skills = np.array([0.85, 0.75, 0.65, 0.55, 0.8])
    gold, said = crowd(np.random.default_rng(2), skills, 600)
    found = estimate(labels_needed(table(said, None), primary="m0", secondary="m1"))
    models, questions = np.indices(said.shape)
    data = pandas.DataFrame({"task": questions.ravel(), "worker": models.ravel(), "label": said.ravel()})
    theirs = aggregation.OneCoinDawidSkene(n_iter=100).fit(data).skills_.sort_index().to_numpy()
    ours = np.array([found.accuracies[f"m{m}"] for m in range(5)])
    assert np.abs(ours - theirs).max() < 0.05
    assert np.abs(ours - (said == gold).mean(axis=1)).max() < 0.05


def test_labels_have_no_effect_on_agreement() -> None:
    ballots = candidates(sl.demo_votes())
    for method in get_args(Method):
        assert (believed(ballots, method) == believed(ballots.knowing(), method)).all()


def test_shared_errors_are_taken_for_knowledge() -> None:
    """Where models copy each other's errors, agreement alone is far too sure: this is where it fails."""
    rng = np.random.default_rng(3)
    gold, said = crowd(rng, np.array([0.6] * 5), 400)
    copied = np.where(rng.random(said.shape) < 0.8, said[0], said)
    apart = estimate(labels_needed(table(said, None), primary="m0", secondary="m1")).accuracies
    alike = estimate(labels_needed(table(copied, None), primary="m0", secondary="m1")).accuracies
    assert abs(apart["m0"] - (said[0] == gold).mean()) < 0.05
    assert alike["m0"] - (copied[0] == gold).mean() > 0.2


@pytest.mark.parametrize("skill", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("target", ["table", "population"])
def test_powered_intervals_hold_the_truth_however_good_the_predictions(skill: float, target: str) -> None:
    rng, held, draws = np.random.default_rng(4), 0, 300
    for _ in range(draws):
        values = rng.choice([-1.0, 0.0, 1.0], 300, p=[0.3, 0.1, 0.6])
        guesses = np.where(rng.random(300) < skill, values, rng.choice([-1.0, 1.0], 300))
        found = prediction_powered(values[:30], guesses[:30], guesses[30:], target=target)  # type: ignore[arg-type]
        truth = values.mean() if target == "table" else 0.3
        held += bool(found.low <= truth <= found.high)
    assert held / draws >= 0.92


def test_good_predictions_narrow_the_interval_and_all_labels_close_it() -> None:
    values = np.random.default_rng(5).choice([-1.0, 1.0], 400)
    alone = prediction_powered(values[:40], np.zeros(40), np.zeros(360))
    good = prediction_powered(values[:40], 0.9 * values[:40], 0.9 * values[40:])
    assert good.high - good.low < (alone.high - alone.low) / 2
    whole = prediction_powered(values, np.zeros(400), np.zeros(0))
    assert whole.low == whole.high == pytest.approx(values.mean())
    with pytest.raises(sl.InputError, match="at least 3 labels"):
        prediction_powered(values[:2], values[:2], values[2:])


def test_the_command_marks_estimates_as_such(swaplaw: Run) -> None:
    pair = ("--primary", "gpt-4", "--secondary", "mistral-large")
    found = json.loads(swaplaw("labels", "demo", *pair, "--estimate", "dawid_skene", "--json").out)["estimates"]
    assert "not bounds" in found["note"]
    (own,) = found["pairs"]
    # All changed questions are labelled here, so the interval is the exact lift.
    truth = float(sl.pair(sl.demo_votes(), "gpt-4", "mistral-large").at("2/3").lift)
    assert own["powered"]["low"] == own["powered"]["high"] == pytest.approx(truth)
    assert set(found["accuracies"]) == set(sl.demo_votes().tally().models)
    shown = swaplaw("labels", "demo", *pair, "--estimate", "one_coin").out
    assert "Estimates, not bounds" in shown
