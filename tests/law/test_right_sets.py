"""Questions with several right answers, against plain fractions: what is scored is the share of right ones that tie."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.evidence.lifts import lift_effect, pair_effects
from swaplaw.evidence.units import resampling_units
from swaplaw.law.pair import pooled
from swaplaw.law.scoresheet import scoresheet
from swaplaw.law.weights import vote
from swaplaw.panels import certify
from swaplaw.panels.arrangement import arrangement
from swaplaw.panels.search import reach
from swaplaw.votes.tally import Scores, Tally

from support.commands import Run
from support.corpora import corpora, weights
from support.twin import Corpus, every_breakpoint, score

ANSWERS = ("ant", "bee", "cow", "dog", "elk", None)


@dataclass(frozen=True)
class Graded:
    """Votes, and which answers are right on which question."""

    corpus: Corpus
    right: Mapping[str, frozenset[str]]

    def frame(self) -> pl.DataFrame:
        frame = self.corpus.frame()
        grades = [answer in self.right[question] for question, answer in frame.select("question", "answer").iter_rows()]
        return frame.with_columns(correct=pl.Series(grades, dtype=pl.Boolean))

    def score(
        self,
        weighted: Mapping[str, Fraction],
        question: str,
        silent: Collection[str | None] = (),
        fallback: Sequence[str] = (),
    ) -> Fraction:
        """The score is a sum over right answers, each of them taken as gold."""
        ballots = self.corpus.ballots
        own = (score(weighted, ballots, question, answer, silent, fallback) for answer in self.right[question])
        return sum(own, Fraction(0))

    def gains(self, a: str, b: str, x: Fraction, silent: Collection[str | None] = ()) -> list[Fraction]:
        """The four contributions to lift."""
        questions = [q for q in self.corpus.gold if all(q in self.corpus.ballots[model] for model in (a, b))]
        gains = [Fraction(0)] * 4
        for question in questions:
            ok_a, ok_b = (self.score({model: Fraction(1)}, question, silent) for model in (a, b))
            gain = self.score({a: Fraction(1), b: x}, question, silent) - ok_a
            cells = (1 - ok_a) * ok_b, ok_a * (1 - ok_b), (1 - ok_a) * (1 - ok_b), ok_a * ok_b
            for cell, (sign, mass) in enumerate(zip((1, -1, 1, -1), cells, strict=True)):
                gains[cell] += sign * gain * mass / len(questions)
        return gains


@st.composite
def graded(draw: st.DrawFn, models: int = 2, missing: bool = True) -> Graded:
    case = draw(corpora(models=models, questions=4, samples=6, answers=ANSWERS, missing=missing))
    right = st.sets(st.sampled_from(ANSWERS[:-1]), max_size=4)
    return Graded(case, {question: frozenset(draw(right)) for question in case.gold})


def fractions(scores: Scores) -> list[Fraction]:
    return [Fraction(int(top), scores.denominator) for top in scores.numerators]


def counted(case: Graded, silent: bool) -> Tally:
    return sl.tally(case.frame(), silence="ignored" if silent else "counts")


@given(case=graded(), silent=st.booleans())
def test_the_law_is_exact_at_every_weight(case: Graded, silent: bool) -> None:
    nulls = (None,) if silent else ()
    pair = sl.pair(counted(case, silent), "aa", "bb")
    curve, sheet = sl.curve(pair.tally, "aa", "bb"), scoresheet(pair)
    for model, scores in zip(pair.tally.models, pair.tally.scores, strict=True):
        for question, found in zip(pair.tally.questions, fractions(scores), strict=True):
            if question in case.corpus.ballots[model]:
                assert found == case.score({model: Fraction(1)}, question, nulls)
    points = every_breakpoint(case.corpus, "aa", "bb")
    for weight in [*points, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]:
        outcome = pair.at(weight)
        plain = case.gains("aa", "bb", weight, nulls)
        assert [outcome.rescued, outcome.damaged, outcome.repaired, outcome.corrupted] == plain
        assert curve.at(weight) == outcome
        together = next(pooled([pair], weight))
        assert together.outcome == outcome
        gains, scale = pair.gains(weight)
        assert together.lifts.tolist() == [float(Fraction(int(gain), scale)) for gain in gains.sum(axis=0)]
        scored = [
            case.score({"aa": Fraction(1), "bb": weight}, question, nulls) if both else Fraction(0)
            for question, both in zip(pair.tally.questions, pair.common, strict=True)
        ]
        assert sheet.at(weight).tolist() == list(map(float, scored))


@given(case=graded(models=3), x=weights, silent=st.booleans())
def test_votes_of_three_and_fallbacks(case: Graded, x: Fraction, silent: bool) -> None:
    tally, nulls = counted(case, silent), (None,) if silent else ()
    names = tally.models
    share = [Fraction(1), x, x / 2]
    found = fractions(vote(tally, (0, 1, 2), share))
    asked = fractions(vote(tally, (0,), (Fraction(1),), (1, 2)))
    for place, question in enumerate(tally.questions):
        if all(question in case.corpus.ballots[model] for model in names):
            assert found[place] == case.score(dict(zip(names, share, strict=True)), question, nulls)
        if question in case.corpus.ballots[names[0]]:
            assert asked[place] == case.score({names[0]: Fraction(1)}, question, nulls, names[1:])


@given(case=graded(models=3, missing=False), point=st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_panels_count_questions_and_not_right_answers(case: Graded, point: list[int]) -> None:
    tally = counted(case, silent=False)
    scores = vote(tally, (0, 1, 2), list(map(Fraction, point)))
    everything = np.ones(len(tally.questions), dtype=bool)
    assert arrangement(tally, (0, 1, 2), everything).score(point) == Fraction(scores.total, scores.denominator)
    panel = sl.panel(tally, tally.models)
    best = certify(panel)
    assert best.best.accuracy == panel.at(best.best.weights).accuracy
    at_point = panel.at([Fraction(weight, point[0]) for weight in point]).accuracy
    assert at_point <= best.best.accuracy <= best.bound <= reach(tally).bound((0, 1, 2))


@given(case=graded(models=3), x=weights, data=st.data())
def test_intervals_and_selections_are_of_questions(case: Graded, x: Fraction, data: st.DataObject) -> None:
    tally = counted(case, silent=False)
    units = resampling_units(tally)
    assert units.member.shape == (len(tally.questions),)
    for pair, outcome, found in pair_effects(tally, [(0, 1), (1, 2)], x, units):
        assert outcome == pair.at(x)
        assert found == lift_effect(tally, (pair.a, pair.b), (Fraction(1), x), units)
    kept = np.array([data.draw(st.booleans()) for _ in tally.questions])
    some = tally.select(models=tally.models[1:], questions=kept)
    assert [fractions(scores) for scores in some.scores] == [
        np.array(fractions(scores), dtype=object)[kept].tolist() for scores in list(tally.scores)[1:]
    ]


@given(case=graded())
def test_models_are_summed_up_by_right_votes(case: Graded) -> None:
    for row in sl.summary(case.frame()):
        ballots = case.corpus.ballots[row.model]
        right = [
            Fraction(sum(votes[answer] for answer in case.right[question]), votes.total())
            for question, votes in ballots.items()
        ]
        scores = [case.score({row.model: Fraction(1)}, question) for question in ballots]
        assert (row.single, row.plurality) == (
            sum(right, Fraction(0)) / len(right),
            sum(scores, Fraction(0)) / len(right),
        )
        assert row.tied == sum(0 < score < 1 for score in scores)


@given(case=graded())
def test_the_principal_right_answer_of_a_question_is_the_one_with_most_votes(case: Graded) -> None:
    tally = counted(case, silent=False)
    one = tally.principal
    assert one.question_of is None
    for place, question in enumerate(tally.questions):
        votes = [own[question] for own in case.corpus.ballots.values() if question in own]
        most = max((sum(own[answer] for own in votes) for answer in case.right[question]), default=0)
        assert one.gold[:, place].sum() == most
        assert one.votes[:, place].sum() == sum(own.total() for own in votes)


@given(case=graded(models=3))
def test_right_answers_that_are_merged_are_one_category(case: Graded) -> None:
    merged = sl.votes_from(case.frame()).merging_right().tally()
    assert merged.merged_right
    assert merged.question_of is None
    one = {question: (sorted(right) or ["-"])[0] for question, right in case.right.items()}
    answer = pl.when("correct").then(pl.col("question").replace_strict(one, return_dtype=pl.String)).otherwise("answer")
    spelt = sl.tally(
        case.frame().with_columns(answer=answer, gold=pl.col("question").replace_strict(one)).drop("correct")
    )
    assert [fractions(a) for a in merged.scores] == [fractions(b) for b in spelt.scores]
    if (spelt.answered[0] & spelt.answered[1]).any():
        ours, theirs = (sl.curve(tally, "aa", "bb") for tally in (merged, spelt))
        assert [(piece.low, piece.outcome) for piece in ours.pieces] == [
            (piece.low, piece.outcome) for piece in theirs.pieces
        ]


def test_one_right_answer_is_counted_as_by_gold() -> None:
    votes = sl.demo_votes("gpqa-diamond")
    grades = (pl.col("answer") == pl.col("gold")).fill_null(False)
    graded_too = sl.votes_from(votes.frame.with_columns(correct=grades)).tally()
    plain = votes.tally()
    assert graded_too.question_of is None
    for name in ("votes", "gold", "starts", "positions", "counts"):
        assert np.array_equal(getattr(graded_too, name), getattr(plain, name))


def test_scattered_right_answers_share_a_row() -> None:
    rows = [
        (question, model, f"{model} says it in way {k}" if wordy else "short", "short", True)
        for question in ("p", "q")
        for model, wordy in (("a", True), ("b", False))
        for k in range(8)
    ]
    tally = sl.tally(pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row"))
    assert tally.question_of is not None
    assert tally.question_of.tolist() == [0, 0, 1, 1]
    assert tally.rights is not None
    assert sorted(tally.rights.copies.tolist()) == [1, 1, 8, 8]
    assert [fractions(scores) for scores in tally.scores] == [[1, 1], [1, 1]]


@pytest.mark.parametrize(("grades", "right"), [([True, True, False], True), ([True, False], False)])
def test_what_was_graded_both_ways_is_what_most_votes_say(grades: list[bool], right: bool) -> None:
    rows = [("q", "m", "Paris", "Paris", grade) for grade in grades]
    votes = sl.votes_from(pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row"))
    assert fractions(votes.tally().scores[0]) == [Fraction(right)]
    assert [f"({grades.count(True)} of {len(grades)} votes say right)" in note for note in votes.notes] == [True]


def test_right_answers_are_merged_where_that_is_asked_for(swaplaw: Run, tmp_path: Path) -> None:
    rows = [(f"q{k}", m, f"{m} says so", "so", True) for k in range(3) for m in ("a", "b")]
    file = tmp_path / "votes.csv"
    pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row").write_csv(file)
    apart, merged = (
        json.loads(swaplaw("curve", str(file), "--primary", "a", "--secondary", "b", "--json", *more).out)
        for more in ((), ("--merge-right",))
    )
    assert "oracle_normalised" not in apart
    assert merged["oracle_normalised"] is True
    assert "oracle-normalised" in swaplaw("summary", str(file), "--merge-right").out
    assert sl.tally(str(file), merge_right=True).merged_right
