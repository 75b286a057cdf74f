"""The margin law and the shares law against plain twins, and the influence of questions against moving their weight."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.evidence import Units
from swaplaw.evidence.jackknife import dealt
from swaplaw.law.pair import Pair
from swaplaw.predict.agreement import agreement_sums, kappa_p, same_wrong
from swaplaw.predict.laws import Alike, Influence, alike, margin_influence, margin_lift, margins_of, shares_influence
from swaplaw.predict.predictors import LAWS, law_moved, law_sums

from support.corpora import ODD, corpora, weights
from support.twin import Corpus, common, score

HALF = Fraction(1, 2)


def question_by_question(pair: Pair) -> Alike:
    """The plain twin of `kinds`: every question is a kind of its own."""
    first, second = (margins_of(pair.tally, model, pair.common) for model in (pair.a, pair.b))
    same = (first.top > 0) & (second.top > 0) & (first.rival == second.rival)
    every = np.arange(len(first))
    return Alike(pair, first, second, every, every, same, np.ones(len(every), dtype=np.int64), every)


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
    assert margin_influence(alike(two), x).value == float(exact)


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
    assert shares_influence(alike(sl.pair(tally, "aa", "bb")), Fraction(x)).value == pytest.approx(
        float(shares_twin(case, "aa", "bb", x, tally)), abs=1e-12
    )


def influences(pair: sl.law.Pair) -> list[Influence]:
    found = alike(pair)
    return [law(found, Fraction(2, 3)) for law in LAWS.values()]


@settings(deadline=None, max_examples=50)
@given(case=corpora(), x=weights)
def test_kinds_of_questions_say_what_the_questions_say(case: Corpus, x: Fraction) -> None:
    """Alike questions are counted together: that must not change a law, nor what a question does to it."""
    two = sl.pair(sl.votes_from(case.frame()), "aa", "bb")
    for law in LAWS.values():
        together, plain = law(alike(two), x), law(question_by_question(two), x)
        assert together.value == pytest.approx(plain.value, abs=1e-12)
        assert together.slope == pytest.approx(plain.slope, abs=1e-12)


def test_many_kinds_are_told_apart_without_a_table() -> None:
    """More kinds of ballots than a table has room for: each question has numbers of votes of its own."""
    rng = np.random.default_rng(5)
    ballots: dict[str, dict[str, Counter[str | None]]] = {
        model: {f"q{q:02d}": Counter(rng.choice(list("ABC"), 1 + (q * step) % 37).tolist()) for q in range(40)}
        for model, step in (("aa", 5), ("bb", 11))
    }
    two = sl.pair(sl.votes_from(Corpus(ballots, {f"q{q:02d}": "A" for q in range(40)}).frame()), "aa", "bb")
    found, plain = alike(two), question_by_question(two)
    assert 2 * len(found.ballots_a) * len(found.ballots_b) > 8 * two.n
    for name in ("gold", "top", "votes"):
        for own, other in ((found.first, plain.first), (found.second, plain.second)):
            assert (getattr(own, name)[found.kind] == getattr(other, name)).all()
    assert (found.same[found.kind] == plain.same).all()
    assert found.times.sum() == two.n


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
    sums = agreement_sums([two])
    assert same_wrong(sums) == pytest.approx(np.array([[0.5 / 1.5]]))
    # p = 1/4, q = 0; one rival on the first question, two on the second.
    expected = 0.75 * 0.75
    assert kappa_p(sums) == pytest.approx(np.array([[(0.25 - expected) / (1 - expected)]]))


def plain_agreement(case: Corpus, a: str, b: str) -> tuple[float, float]:
    """Both measures from the votes of every question in turn."""
    rows = []
    for question in common(case, a, b):
        first, second = (case.ballots[model][question] for model in (a, b))
        gold = case.gold[question]
        share = {each: (first[each] / first.total(), second[each] / second.total()) for each in {*first, *second}}
        wrong = sum(u * v for each, (u, v) in share.items() if each != gold)
        p, q = share.get(gold, (0, 0))
        given_by_all = {each for votes in case.ballots.values() for each in votes.get(question, ())}
        rows.append((p * q + wrong, wrong, p, q, 1 / max(1, len(given_by_all - {gold}))))
    c, w, p, q, k = np.mean(rows, axis=0)
    expected, both = p * q + (1 - p) * (1 - q) * k, 1 - p - q + c - w
    return (c - expected) / (1 - expected) if expected < 1 else np.nan, w / both if both > 1e-12 else np.nan


@settings(deadline=None, max_examples=50)
@given(case=corpora(models=3))
def test_agreement_is_its_definition_in_parts_too(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    chosen = list(sl.pairs(tally))
    whole = agreement_sums(chosen)
    for place, pair in enumerate(chosen):
        expected = plain_agreement(case, pair.primary, pair.secondary)
        assert (kappa_p(whole)[0, place], same_wrong(whole)[0, place]) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if len(tally.questions) > 1:
        parts = dealt(Units(np.arange(len(tally.questions)), "question"), replicates=2)
        assert agreement_sums(chosen, parts).sum(axis=0) == pytest.approx(whole[0])


def test_laws_of_a_sample_move_as_their_questions_do() -> None:
    tally = sl.demo_votes().tally()
    chosen = [sl.pair(tally, "gpt-4", "mistral-large")]
    parts = sl.evidence.parts_of(tally)
    values, slopes = law_sums(chosen, Fraction(2, 3), parts=parts)
    here, questions = parts.halves()[0][:1], np.array([100.0])
    moved = law_moved(values, np.tensordot(here, slopes, axes=1), np.array([[50.0]]), questions)
    inside = np.isin(parts.member, np.flatnonzero(here[0]))
    for row, influence in enumerate(influences(chosen[0])):
        assert moved[0, row, 0] == pytest.approx(influence.value + 2 * influence.slope[inside].sum(), abs=1e-12)
