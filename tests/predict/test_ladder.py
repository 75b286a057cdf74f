"""The ladder: exact at one sample and at all, unbiased between, and an interval beyond that covers what was hidden."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import swaplaw as sl
from swaplaw.predict.ladder import extrapolate, sample_ladder

from support.commands import Run
from support.corpora import corpora, weights
from support.data import real_votes
from support.twin import Corpus, common, law, score


@settings(deadline=None, max_examples=40)
@given(case=corpora(), x=weights)
def test_one_sample_is_the_single_accuracy_and_all_are_the_plurality(case: Corpus, x: Fraction) -> None:
    votes = sl.votes_from(case.frame())
    questions = common(case, "aa", "bb")
    first = sample_ladder(votes, "aa", "bb", [1], weight=x).steps[0]
    last = sample_ladder(votes, "aa", "bb", weight=x).steps[-1]
    for model, found in (("aa", first.primary), ("bb", first.secondary)):
        shares = [Fraction(case.ballots[model][q][case.gold[q]], case.ballots[model][q].total()) for q in questions]
        assert found == float(sum(shares) / len(questions))
    twin = law(case, "aa", "bb", x)
    assert (last.primary, last.secondary, last.lift) == (float(twin.p), float(twin.q), float(twin.lift))


def test_steps_between_are_means_over_every_draw() -> None:
    """Four votes of each, two drawn: every way to do so, by hand."""
    ballots = {"aa": ["AABC", "ABBB"], "bb": ["ABBC", "AAAC"]}
    case = Corpus(
        {m: {f"q{i}": Counter(w) for i, w in enumerate(ws)} for m, ws in ballots.items()}, {"q0": "A", "q1": "A"}
    )
    x = Fraction(2, 3)
    total = Fraction(0)
    for first, second in zip(ballots["aa"], ballots["bb"], strict=True):
        ways = [
            score({"aa": Fraction(1), "bb": x}, {"aa": {"q": Counter(a)}, "bb": {"q": Counter(b)}}, "q", "A")
            for a in combinations(first, 2)
            for b in combinations(second, 2)
        ]
        total += sum(ways, Fraction(0)) / len(ways) / 2
    step = sample_ladder(sl.votes_from(case.frame()), "aa", "bb", [2], weight=x).steps[0]
    assert step.pair == pytest.approx(float(total), abs=1e-11)
    assert step.error == 0


def test_the_command(swaplaw: Run) -> None:
    words = ("ladder", "demo", "--primary", "gpt-4", "--secondary", "mistral-large")
    found = json.loads(swaplaw(*words, "--samples", "1,2,30", "--json").out)
    assert [step["samples"] for step in found["steps"]] == [1, 2, 30]
    assert found["steps"][2]["lift"] == -0.03
    assert {"primary", "secondary", "pair", "lift", "low", "high"} <= set(found["steps"][0])
    assert found["beyond"]["samples"] is None
    shown = swaplaw(*words)
    assert "infinitely many" in shown.out
    assert "could change the sign of the lift" in shown.out
    refused = swaplaw(*words, "--samples", "1,31")
    assert refused.code == 2
    assert "31 samples are not recorded" in refused.err
    assert swaplaw(*words, "--samples", "one").code == 2


def hidden(tally: sl.Tally, shown: int, source: np.random.Generator) -> sl.Tally:
    """Keep so many votes of every model on every question."""
    spread = np.zeros((len(tally.questions), tally.rivals.rows.height + 1), dtype=np.int64)
    place = np.zeros(len(tally.rivals.question), dtype=np.int64)
    for question in range(len(tally.questions)):
        own = np.flatnonzero(tally.rivals.question == question)
        place[own] = np.arange(1, len(own) + 1)
    gold, rivals = [], []
    for model in range(len(tally.models)):
        spread[:] = 0
        spread[:, 0] = tally.gold[model]
        spread[tally.rivals.question, place] = tally.dense(model)
        drawn = np.array([source.multivariate_hypergeometric(row, shown) for row in spread])
        gold.append(drawn[:, 0])
        rivals.append(drawn[tally.rivals.question, place])
    votes = np.full((len(tally.models), len(tally.questions)), shown)
    return tally.with_counts(tally.models, votes, np.array(gold), rivals)


@pytest.mark.parametrize("dataset", ["gpqa-diamond", pytest.param("math500", marks=pytest.mark.slow)])
def test_eight_of_eighty_samples_cover_what_all_say(dataset: str) -> None:
    tally = sl.read_votes(real_votes("best-of-infinity.parquet")).tally(dataset)
    tally = tally.select(models=[model for model, most in zip(tally.models, tally.samples, strict=True) if most == 80])
    source = np.random.default_rng(0)
    cases, covered, lifts = 0, 0, 0
    for _ in range(2):
        few = hidden(tally, 8, source)
        for first, second in zip(tally.models, tally.models[1:] + tally.models[:1], strict=True):
            told = extrapolate(sl.pair(few, first, second), Fraction(2, 3), 80)
            truth = sl.pair(tally, first, second)
            cases += 1
            covered += told.primary[0] - 1e-9 <= float(truth.masses.p) <= told.primary[1] + 1e-9
            lifts += told.lift[0] - 1e-9 <= float(truth.at("2/3").lift) <= told.lift[1] + 1e-9
    assert covered >= 0.9 * cases
    assert lifts >= 0.85 * cases
