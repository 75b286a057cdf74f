"""Silence that counts and silence that is ignored, and fallback models, against plain fractions."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.law.pair import pooled
from swaplaw.law.scoresheet import scoresheet
from swaplaw.law.weights import vote
from swaplaw.panels.arrangement import arrangement
from swaplaw.votes.tally import Scores, Tally

from support.commands import Run
from support.corpora import corpora, weights
from support.twin import REFUSED, Corpus, every_breakpoint, law, score

LOUD = ("A", "B", None, None, REFUSED)
"""Answers where silence is common."""


def fractions(scores: Scores) -> list[Fraction]:
    return [Fraction(int(top), scores.denominator) for top in scores.numerators]


def taken(case: Corpus) -> Tally:
    return sl.votes_from(case.frame()).tally().silence("ignored")


@given(
    case=corpora(models=4, answers=LOUD),
    given_weights=st.lists(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]), min_size=2, max_size=2),
    fallback=st.permutations([2, 3]).flatmap(lambda order: st.integers(0, 2).map(lambda n: order[:n])),
    heard=st.sampled_from([("refused",), (), ("refused", "unstated")]),
)
def test_a_vote_is_that_of_plain_fractions(
    case: Corpus, given_weights: list[Fraction], fallback: list[int], heard: tuple[str, ...]
) -> None:
    tally = sl.votes_from(case.frame()).tally().silence("ignored", heard)
    silent = {(): (None, REFUSED), ("refused",): (None,)}.get(heard, ())
    if heard == ("refused", "unstated"):
        case = merged(case)
    names = tally.models
    own = dict(zip(names, given_weights, strict=False))
    found = fractions(vote(tally, (0, 1), given_weights, fallback))
    for place, question in enumerate(tally.questions):
        if all(question in case.ballots[model] for model in own):
            gold, others = case.gold[question], [names[model] for model in fallback]
            assert found[place] == score(own, case.ballots, question, gold, silent, others)
        else:
            assert found[place] == 0


def merged(case: Corpus) -> Corpus:
    """Refusals as null votes like any other."""
    ballots = {
        model: {
            question: Counter({None if answer == REFUSED else answer: 0 for answer in votes})
            + Counter(None if answer == REFUSED else answer for answer in votes.elements())
            for question, votes in questions.items()
        }
        for model, questions in case.ballots.items()
    }
    return Corpus(ballots, case.gold)


@given(case=corpora(answers=LOUD))
def test_the_law_holds_at_every_weight_with_silence_ignored(case: Corpus) -> None:
    pair = sl.pair(taken(case), "aa", "bb")
    curve, sheet = sl.curve(pair.tally, "aa", "bb"), scoresheet(pair)
    points = every_breakpoint(case, "aa", "bb")
    for weight in [*points, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]:
        plain = law(case, "aa", "bb", weight, (None,))
        outcome = pair.at(weight)
        assert (outcome.rescued, outcome.damaged, outcome.repaired, outcome.corrupted) == plain.gains
        assert (outcome.masses.p, outcome.masses.q, outcome.lift) == (plain.p, plain.q, plain.lift)
        assert curve.at(weight) == outcome
        assert next(pooled([pair], weight)).outcome == outcome
        assert Fraction(sheet.at(weight).sum()).limit_denominator(1000) == outcome.accuracy * pair.n
    assert curve.best_plateau.lift == max(piece.lift for piece in curve.pieces if not piece.is_point)


@given(case=corpora(models=3, answers=LOUD), x=weights)
def test_next_to_no_weight_is_a_fallback(case: Corpus, x: Fraction) -> None:
    for tally in (taken(case), sl.votes_from(case.frame()).tally()):
        both = tally.answered[:2].all(axis=0)
        just = fractions(vote(tally, (0, 1), (Fraction(1), Fraction(1, 1000))))
        asked = fractions(vote(tally, (0,), (Fraction(1),), (1,)))
        assert np.array(just)[both].tolist() == np.array(asked)[both].tolist()
        # A third model is asked after the second.
        least = (Fraction(1), Fraction(1, 1000), Fraction(1, 10**6))
        every = tally.answered.all(axis=0)
        assert (
            np.array(fractions(vote(tally, (0, 1, 2), least)))[every].tolist()
            == np.array(fractions(vote(tally, (0,), (Fraction(1),), (1, 2))))[every].tolist()
        )


@given(case=corpora(models=3, answers=LOUD, missing=False), point=st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_a_panel_scores_what_its_vote_scores(case: Corpus, point: list[int]) -> None:
    tally = taken(case)
    planes = arrangement(tally, (0, 1, 2), np.ones(len(tally.questions), dtype=bool))
    scores = vote(tally, (0, 1, 2), list(map(Fraction, point)))
    assert planes.score(point) == Fraction(scores.total, scores.denominator)


@given(case=corpora(models=3, answers=LOUD), data=st.data())
def test_silence_is_left_out_before_or_after_questions_are(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    kept = np.array([data.draw(st.booleans()) for _ in tally.questions])
    models = data.draw(st.permutations(tally.models))[:2]
    first = tally.select(models=models, questions=kept).silence("ignored")
    then = tally.silence("ignored").select(models=models, questions=kept)
    assert first.silent == then.silent == "ignored"
    assert first.reasons == then.reasons
    assert first.rivals.labels.tolist() == then.rivals.labels.tolist()
    for name in ("starts", "positions", "counts", "votes", "gold", "ties"):
        assert np.array_equal(getattr(first, name), getattr(then, name))


def test_what_silence_says_of_a_tally() -> None:
    tally = sl.demo_votes().tally()
    assert tally.silence("counts") is tally
    quiet = tally.silence("ignored")
    assert quiet.silence("ignored") is quiet
    assert quiet.reasons == tally.reasons
    with pytest.raises(sl.InputError, match="count them again"):
        quiet.silence("counts")


def test_nobody_names_anything() -> None:
    frame = {"question": ["q", "q"], "model": ["aa", "bb"], "answer": [None, None], "gold": ["A", "A"]}
    tally = sl.tally(frame).silence("ignored")
    assert [score.total for score in tally.scores] == [0, 0]
    assert sl.pair(tally, "aa", "bb").at(1).accuracy == 0
    assert [piece.lift for piece in sl.curve(tally, "aa", "bb").pieces] == [0, 0]
    assert vote(tally, (0,), (Fraction(1),), (1,)).total == 0


def test_every_command_and_function_hears_the_same_silence(swaplaw: Run) -> None:
    quiet = sl.demo_votes().tally().silence("ignored")
    a, b, c = "gemini-1.5-pro-preview-0409", "gemini-1.0-pro", "llama-2-7b-chat"

    def said(*command: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(swaplaw(*command, "demo", "--silence", "ignored", "--json").out)
        assert found["silence"] == "ignored"
        return found

    alone = {row.model: row.plurality for row in sl.summary(sl.demo_votes(), silence="ignored")}
    assert {row["model"]: row["plurality"] for row in said("summary")["models"]} == {
        k: float(v) for k, v in alone.items()
    }
    two = sl.pair(sl.demo_votes(), a, b, silence="ignored")
    assert two.masses == sl.pair(quiet, a, b).masses
    lifts = {(row["primary"], row["secondary"]): row["lift"] for row in said("pairs")["pairs"]}
    assert lifts[a, b] == float(two.at("2/3").lift)
    assert two.at("2/3") in [pair.at("2/3") for pair in sl.pairs(sl.demo_votes(), silence="ignored")]
    curve = sl.curve(sl.demo_votes(), a, b, silence="ignored")
    assert said("curve", "--primary", a, "--secondary", b)["best_lift"]["lift"] == float(curve.best_lift.lift)
    three = sl.panel(sl.demo_votes(), [a, b, c], silence="ignored")
    panel = said("panel", "--members", f"{a},{b},{c}", "--folds", "0")["panels"][0]
    assert panel["accuracy"] == float(three.at(panel["weights"]).accuracy)
    assert "silence" not in json.loads(swaplaw("summary", "demo", "--json").out)
    assert "abstained (ignored)" in swaplaw("pairs", "demo", "--silence", "ignored").out


@given(case=corpora(models=3, answers=LOUD), order=st.permutations([0, 1, 2]))
def test_asking_others_never_loses_what_the_primary_wins_alone(case: Corpus, order: list[int]) -> None:
    tally = taken(case)
    primary, *others = order
    alone, asked = (fractions(vote(tally, (primary,), (Fraction(1),), fallback)) for fallback in ((), others))
    assert all(found == 1 for found, own in zip(asked, alone, strict=True) if own == 1)
