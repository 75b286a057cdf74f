"""The margin law and the shares law against plain twins, and the influence of questions against moving their weight."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.predict import agreement
from swaplaw.predict.margins import Influence, margin_influence, margin_lift, margin_lift_apart, margins_of
from swaplaw.predict.shares import shares_influence, shares_lift

from support.corpora import ODD, corpora, weights
from support.twin import Corpus, common, score

HALF = Fraction(1, 2)


def margin_of(votes: Counter[str | None], gold: str) -> Fraction:
    rivals = [number for answer, number in votes.items() if answer != gold]
    return Fraction(votes[gold] - max(rivals, default=0), votes.total())


def margin_twin(corpus: Corpus, a: str, b: str, x: Fraction) -> Fraction:
    """DESIGN's formula, every two questions in turn."""
    questions = common(corpus, a, b)
    ok = {m: [score({m: Fraction(1)}, corpus.ballots, q, corpus.gold[q]) for q in questions] for m in (a, b)}
    margin = {m: [margin_of(corpus.ballots[m][q], corpus.gold[q]) for q in questions] for m in (a, b)}
    n = len(questions)
    total = Fraction(0)
    for sign, of_a, of_b in (
        (1, [1 - each for each in ok[a]], ok[b]),
        (-1, ok[a], [1 - each for each in ok[b]]),
    ):
        mass = sum((u * v for u, v in zip(of_a, of_b, strict=True)), Fraction(0)) / n
        weight = sum(of_a, Fraction(0)) * sum(of_b, Fraction(0))
        if not weight:
            continue
        hits = Fraction(0)
        for i, u in enumerate(of_a):
            for j, v in enumerate(of_b):
                pooled = sign * (margin[a][i] + x * margin[b][j])
                hits += u * v * (1 if pooled > 0 else HALF if pooled == 0 else 0)
        total += sign * mass * hits / weight
    return total


@settings(deadline=None)
@given(case=corpora(), x=weights)
def test_the_margin_law_is_its_formula(case: Corpus, x: Fraction) -> None:
    two = sl.pair(sl.votes_from(case.frame()), "aa", "bb")
    exact = margin_lift(two, x)
    assert exact == margin_twin(case, "aa", "bb", x)
    assert margin_influence(two, x).value == float(exact)


@pytest.mark.parametrize("name", ODD)
def test_the_margin_law_of_odd_votes(name: str) -> None:
    case = ODD[name]
    two = sl.pair(sl.votes_from(case.frame()), "aa", "bb")
    for x in (Fraction(0), Fraction(2, 3), Fraction(1), Fraction(10**16 + 1, 10**16)):
        assert margin_lift(two, x) == margin_twin(case, "aa", "bb", x)


def shares_twin(corpus: Corpus, a: str, b: str, x: Fraction, tally: sl.Tally) -> Fraction:
    """The shares law, cell by cell and every two ballots in turn."""
    questions = common(corpus, a, b)
    total = Fraction(0)
    rows = []
    for question in questions:
        gold = corpus.gold[question]
        row = []
        for model in (a, b):
            votes = corpus.ballots[model][question]
            best = max((n for answer, n in votes.items() if answer != gold), default=0)
            ok = score({model: Fraction(1)}, corpus.ballots, question, gold)
            row.append((Fraction(votes[gold], votes.total()), Fraction(best, votes.total()), ok))
        rows.append(row)
    where = np.array([question in questions for question in tally.questions])
    rivals = [margins_of(tally, tally.index(model), where).rival for model in (a, b)]
    same = rivals[0] == rivals[1]
    for right_a in (False, True):
        for right_b in (False, True):
            w = [(ok_a if right_a else 1 - ok_a) * (ok_b if right_b else 1 - ok_b) for (*_, ok_a), (*_, ok_b) in rows]
            mass = sum(w, Fraction(0))
            if not mass:
                continue
            open_ = [each if row[0][1] and row[1][1] else Fraction(0) for each, row in zip(w, rows, strict=True)]
            alike = sum((each for each, here in zip(open_, same, strict=True) if here), Fraction(0))
            s = alike / sum(open_, Fraction(0)) if sum(open_) else Fraction(1)
            wins = Fraction(0)
            for u, ((g_a, t_a, _), _) in zip(w, rows, strict=True):
                for v, (_, (g_b, t_b, _)) in zip(w, rows, strict=True):
                    together = g_a + x * g_b - t_a - x * t_b
                    apart = g_a + x * g_b - max(t_a, x * t_b)
                    wins += u * v * (s * credit(together) + (1 - s) * credit(apart))
            total += wins / mass
    return (total - sum(row[0][2] for row in rows)) / len(questions)


def credit(margin: Fraction) -> Fraction:
    return Fraction(1) if margin > 0 else HALF if margin == 0 else Fraction(0)


@settings(deadline=None)
@given(case=corpora(), x=weights)
def test_the_shares_law_is_its_formula(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    assert shares_lift(sl.pair(tally, "aa", "bb"), x) == pytest.approx(
        float(shares_twin(case, "aa", "bb", x, tally)), abs=1e-12
    )


def influences(pair: sl.law.Pair) -> list[Influence]:
    x = Fraction(2, 3)
    return [
        margin_influence(pair, x),
        shares_influence(pair, x),
        agreement.kappa_p(pair),
        agreement.same_wrong(pair),
    ]


@settings(deadline=None, max_examples=30)
@given(case=corpora(questions=6, missing=False), chosen=st.integers(0, 5))
def test_influence_is_the_slope_in_a_questions_weight(case: Corpus, chosen: int) -> None:
    """Ask everything a hundred times, and one question once more: the number moves by that question's slope."""
    questions = sorted(case.gold)
    one = questions[chosen % len(questions)]
    before = influences(sl.pair(sl.votes_from(case.frame()), "aa", "bb"))
    copies = {q: 400 + (q == one) for q in questions}
    after = influences(sl.pair(sl.votes_from(many(case, copies).frame()), "aa", "bb"))
    for old, new in zip(before, after, strict=True):
        assert abs(old.slope.sum()) < 1e-9
        if np.isnan(old.value):
            assert np.isnan(new.value)
            continue
        step = old.slope[questions.index(one)] / 400
        assert new.value - old.value == pytest.approx(step, abs=2e-4, rel=0.1)


def many(case: Corpus, copies: dict[str, int]) -> Corpus:
    names = {(q, k): f"{q}-{k}" for q, number in copies.items() for k in range(number)}
    ballots = {m: {name: own[q] for (q, _), name in names.items()} for m, own in case.ballots.items()}
    return Corpus(ballots, {name: case.gold[q] for (q, _), name in names.items()})


def test_models_need_not_answer_the_same_questions() -> None:
    tally = sl.demo_votes().tally()
    odd = np.arange(len(tally.questions)) % 2 == 1
    two = sl.pair(tally, "gpt-4", "mistral-large")
    first, second = margins_of(tally, two.a, odd), margins_of(tally, two.b, ~odd)
    apart = margin_lift_apart(first, second, Fraction(1, 2))
    assert -0.2 < apart < 0.2
    whole, other = (margins_of(tally, model) for model in (two.a, two.b))
    known = two.masses.phi_adj
    assert known is not None
    assert margin_lift_apart(whole, other, known) == margin_lift(two)
    with pytest.raises(sl.InputError, match="impossible"):
        margin_lift_apart(first, second, -9)


def test_agreement_by_hand() -> None:
    """Two questions, gold A: both wrong alike on the first in half of all draws, apart on the second."""
    case = Corpus(
        {
            "aa": {"q1": Counter("AB"), "q2": Counter("BB")},
            "bb": {"q1": Counter("BB"), "q2": Counter("CC")},
        },
        {"q1": "A", "q2": "A"},
    )
    two = sl.pair(sl.votes_from(case.frame()), "aa", "bb")
    assert agreement.same_wrong(two).value == pytest.approx(0.5 / 1.5)
    # p = 1/4, q = 0; one rival on the first question, two on the second.
    expected = 0.75 * 0.75
    assert agreement.kappa_p(two).value == pytest.approx((0.25 - expected) / (1 - expected))
