"""The scoresheet against votes pooled anew, and choices on subsets against curves of the subset alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.choice import BestSingle, Choice, PairRule, Recorded, all_pairs, alone, each
from swaplaw.law.scoresheet import scoresheet
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

from support.corpora import corpora
from support.twin import Corpus, every_breakpoint, score


@given(case=corpora())
def test_every_question_at_every_weight(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    sheet = scoresheet(sl.pair(tally, "aa", "bb"))
    points = every_breakpoint(case, "aa", "bb")
    for weight in [*points, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]:
        pooled = vote(tally, (0, 1), (Fraction(1), weight))
        assert np.array_equal(sheet.at(weight), pooled.numerators / pooled.denominator)


@given(case=corpora(), data=st.data())
def test_sums_without_each_fold_are_sums_of_all_others(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    n = len(tally.questions)
    fold = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    exact = scoresheet(sl.pair(tally, "aa", "bb"))
    huge = exact.weighted(np.full(n, 2**55).astype(object), exact.scale * 2**55)
    expected = replace(exact, step=exact.step / 7, constant=exact.constant / 7)
    for sheet in (exact, huge, expected):
        found = sheet.sums_without(fold, 4)
        assert found.shape == (4, len(sheet.firsts))
        away = np.abs(found - sheet.sums(fold != np.arange(4)[:, None])).max()
        assert away <= (1.1e-9 if sheet is expected else 0)  # Expectations may round the other way.


@given(case=corpora(), data=st.data())
def test_sums_of_parts_are_sums_of_fractions(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    n = len(tally.questions)
    sheet = scoresheet(sl.pair(tally, "aa", "bb"))
    times = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(2)]
    sums = sheet.sums(times)
    assert sums.shape == (2, len(sheet.firsts))
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    for stretch in range(len(sheet.firsts)):
        weight = sheet.weight(stretch, stretch)
        plain = [
            score({"aa": Fraction(1), "bb": weight}, case.ballots, question, case.gold[question])
            if all(question in case.ballots[model] for model in ("aa", "bb"))
            else Fraction(0)
            for question in tally.questions
        ]
        assert [Fraction(int(value), sheet.scale) for value in sheet.values[stretch]] == plain
        for row, own in zip(sums, times, strict=True):
            assert Fraction(int(row[stretch]), sheet.scale) == sum(map(lambda s, k: s * k, plain, own), Fraction(0))
        some = sheet.among(kept).sums(np.ones((1, int(kept.sum()))))[0, stretch]
        assert Fraction(int(some), sheet.scale) == sum(np.array(plain, dtype=object)[kept], Fraction(0))
        factors = np.arange(n)
        tilted = sheet.weighted(factors, sheet.scale * max(n, 1)).sums(times)[0, stretch]
        assert tilted == sum(
            int(value) * f * k for value, f, k in zip(sheet.values[stretch], factors, times[0], strict=True)
        )


def brute(tally: Tally, by: str) -> Choice:
    """The rules as their words say, from whole curves of one tally."""
    own = [Fraction(int(s.numerators.sum()), s.denominator) for s in tally.scores]
    leader = max(range(len(own)), key=lambda m: (own[m], -m))
    best, choice = own[leader], alone(leader)
    n = len(tally.questions)
    for a, b in combinations(range(len(own)), 2):
        first, second = (a, b) if own[a] >= own[b] else (b, a)
        curve = sl.curve(tally, tally.models[first], tally.models[second])
        found = curve.best_plateau if by == "lift" else curve.best_swap
        value = own[first] + n * (found.lift if by == "lift" else found.swap)
        if value > best:
            best = value
            choice = Choice((first, second), (Fraction(1), found.weight)) if found.weight else alone(first)
    return choice


@given(case=corpora(models=3, questions=7, missing=False), data=st.data())
def test_choosing_on_a_part_equals_choosing_on_its_votes_alone(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    n = len(tally.questions)
    parts = np.array([data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)) for _ in range(3)])
    scorer, models = Recorded(tally), (0, 1, 2)
    plain = each(tally, lambda part: brute(part, "lift"))(parts)
    for ours, theirs, part in zip(PairRule(scorer, models, all_pairs(models))(parts), plain, parts, strict=True):
        assert ours.members == theirs.members
        # The plateau is the same; its simplest weight can differ only where ranges of equal lift meet.
        assert scorer.score(ours)[part].sum() == scorer.score(theirs)[part].sum()
        assert ours.weights == theirs.weights
    swap = PairRule(scorer, models, all_pairs(models), "swap")(parts)
    for ours, part in zip(swap, parts, strict=True):
        theirs = brute(tally.select(questions=part), "swap")
        assert ours.members == theirs.members
        if len(ours.members) == 2:
            primary, secondary = (tally.models[member] for member in ours.members)
            curve = sl.curve(tally.select(questions=part), primary, secondary)
            assert curve.at(ours.weights[1]).swap == curve.best_swap.swap
    singles = BestSingle(scorer, models)(parts)
    assert [choice.members for choice in singles] == [
        (max(models, key=lambda m: (scorer.own[0][m][part].sum(), -m)),) for part in parts
    ]
