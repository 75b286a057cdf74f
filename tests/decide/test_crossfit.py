"""One cross-fit: chosen without the fold, scored as a plain count scores it, and one number in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.crossfit import Choice, Scorer, best_singles, crossfit, deal
from swaplaw.decide.policy import Silence
from swaplaw.decide.recommend import recommend
from swaplaw.decide.rules import RULES
from swaplaw.errors import InputError
from swaplaw.evidence.interval import effect
from swaplaw.evidence.units import resampling_units

from support.commands import Finished
from support.corpora import corpora
from support.twin import Corpus, score

MODELS = ["gpt-4", "claude-3-opus-20240229", "mistral-large"]


@given(case=corpora(models=3, missing=False), data=st.data())
def test_choices_score_as_a_plain_count_does(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    order = data.draw(st.permutations(range(3)))
    members = data.draw(st.integers(1, 3))
    weights = tuple(data.draw(st.fractions("1/6", 3, max_denominator=6)) for _ in range(members))
    silence: Silence = data.draw(st.sampled_from(["counts", "ignored"]))
    choice = Choice(tuple(order[:members]), weights, silence, tuple(order[members:]))
    weighted = {tally.models[model]: weight for model, weight in zip(choice.members, weights, strict=True)}
    fallback = [tally.models[model] for model in choice.fallback]
    silent = () if silence == "counts" else (None,)
    plain = [score(weighted, case.ballots, each, case.gold[each], silent, fallback) for each in tally.questions]
    assert Scorer(tally)(choice).tolist() == [float(each) for each in plain]


@pytest.mark.parametrize("name", list(RULES))
def test_what_a_fold_chooses_rests_on_the_others_alone(name: str) -> None:
    tally = sl.demo_votes().tally().select(models=sorted(MODELS))
    folds = deal(np.arange(len(tally.questions)), folds=3, repeats=1)
    found = crossfit(tally, [RULES[name]], folds)
    scores, single = np.zeros(len(tally.questions)), np.zeros(len(tally.questions))
    for test, made in zip(folds.tests, found[name].choices, strict=True):
        train = tally.select(questions=~test)
        assert made == RULES[name].on_all(train)
        scores[test] = Scorer(tally)(made)[test]
        (best,) = best_singles(train, np.ones((1, len(train.questions)), dtype=bool))
        single[test] = Scorer(tally)(best)[test]
    assert found[name].scores.tolist() == scores.tolist()
    assert found.single.scores.tolist() == single.tolist()
    assert found.gain(name).mean == pytest.approx((scores - single).mean(), abs=1e-15)


@given(st.lists(st.integers(0, 6), min_size=4, max_size=30), st.integers(2, 5), st.integers(1, 3))
def test_every_unit_is_tested_once_in_each_deal(member: list[int], folds: int, repeats: int) -> None:
    units = np.unique(member, return_inverse=True)[1]
    if units.max() < 1:
        return
    dealt = deal(units, folds=folds, repeats=repeats)
    assert (dealt.tests.reshape(dealt.repeats, dealt.folds, -1).sum(axis=1) == 1).all()
    for test in dealt.tests:
        assert set(units[test]).isdisjoint(units[~test])


@pytest.mark.parametrize(("options", "words"), [({"folds": 1}, "nothing to hold out"), ({"repeats": 0}, "1 or more")])
def test_folds_that_cannot_be(options: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        deal(np.arange(9), **options)


def test_workers_change_nothing() -> None:
    tally = sl.demo_votes().tally().select(models=sorted(MODELS))
    plain, shared = (
        sl.combine(tally, rules=["smooth", "best_pair"], repeats=1, folds=3, workers=number) for number in (None, 2)
    )
    assert plain.to_dict() == shared.to_dict()


def test_the_same_gain_in_every_command(swaplaw: Callable[..., Finished], tmp_path: Path) -> None:
    """Equal questions get equal answers, to the last digit: Python, `recommend`, `combine`, `front` and the page."""
    chosen = ("--models", ",".join(MODELS))
    tally = sl.demo_votes().tally().select(models=sorted(MODELS))
    python = crossfit(tally, [RULES["smooth"]], deal(resampling_units(tally).member)).gain("smooth")
    gains = {(python.mean, python.low, python.high)}
    decided = json.loads(swaplaw("recommend", "demo", *chosen, "--json").out)
    gains.add((decided["held_out"]["lift"], *decided["held_out"]["interval"]))
    rule = decided["rules"]["smooth"]
    gains.add((rule["held_out"], rule["low"], rule["high"]))
    compared = json.loads(swaplaw("combine", "demo", *chosen, "--json").out)
    (smooth,) = [one for one in compared["rules"] if one["rule"] == "smooth"]
    gains.add(tuple(smooth["gain"].values()))
    points = json.loads(swaplaw("front", "demo", *chosen, "--json").out)["points"]
    everyone = [each["samples"] for each in decided["policy"]["members"]]
    (panel,) = [
        each
        for each in points
        if len(each["members"]) > 1
        and each["ask_next_if"] is None
        and [member["samples"] for member in each["members"]] == everyone
    ]
    gains.add((panel["gain"], panel["low"], panel["high"]))
    file = tmp_path / "votes.parquet"
    votes = sl.demo_votes().frame.collect()
    sl.votes_from(votes.filter(votes["model"].is_in(MODELS))).write(file)
    options = ("-o", tmp_path / "page.html", "--panel-work", "0", "--json")
    page = json.loads(swaplaw("report", file, *options).out)
    (held,) = [each for each in page["verdict"]["checks"] if each["name"] == "Held out"]
    gains.add((held["mean"], held["lo"], held["hi"]))
    (row,) = [each for each in page["combining"]["rules"] if each["rule"] == "smooth"]
    gains.add(tuple(row["gain"]))
    assert len(gains) == 1, gains
    assert decided["now"] == json.loads(json.dumps(recommend(tally).now.to_dict()))


@pytest.mark.parametrize("silence", [None, "counts", "ignored"])
def test_the_best_single_model_gains_nothing_over_itself(silence: Silence | None) -> None:
    found = sl.combine(sl.demo_votes(), rules=["best_single", "smooth"], silence=silence, repeats=1)
    single = found["best_single"]
    assert (single.gain.mean, single.in_sample.mean) == (0, 0)
    assert single.accuracy == found.baseline_accuracy


def test_doubt_about_which_model_is_best_widens_the_interval() -> None:
    found = crossfit(sl.demo_votes("gpqa-diamond").tally(), [RULES["equal"]], deal(np.arange(198), repeats=1))
    differences = found["equal"].scores - found.single.scores
    plain, gain = effect(differences, found.folds.member), found.gain("equal")
    doubt = found.single.own.mean() - found.single.scores.mean()
    assert gain.mean == plain.mean
    assert gain.standard_error == pytest.approx(np.hypot(plain.standard_error, doubt))
    assert abs(gain.p - 0.5) < abs(plain.p - 0.5)


def test_weights_are_simple_fractions() -> None:
    tally = sl.demo_votes().tally()
    for name in ("smooth", "log_odds", "agreement"):
        choice = RULES[name].on_all(tally)
        assert choice.weights[0] == 1
        assert all(0 < weight <= 1 and weight * 24 == int(weight * 24) for weight in choice.weights)
        assert isinstance(choice.weights[0], Fraction)
