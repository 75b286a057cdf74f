"""The scoresheet against votes pooled anew, and choices on subsets against curves of the subset alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.law.scoresheet import scoresheet
from swaplaw.law.weights import vote

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
    # Scores so fine that floats cannot add them up.
    fine = 2**55
    step, constant = (values.astype(object) * fine for values in (exact.step, exact.constant))
    huge = replace(exact, step=step, constant=constant, scale=exact.scale * fine)
    for sheet in (exact, huge):
        found = sheet.sums_without(fold, 4)
        assert found.shape == (4, len(sheet.firsts))
        assert (found == sheet.sums(fold != np.arange(4)[:, None])).all()


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
        assert sheet.at(weight).tolist() == list(map(float, plain))
        for row, own in zip(sums, times, strict=True):
            assert Fraction(int(row[stretch]), sheet.scale) == sum(map(lambda s, k: s * k, plain, own), Fraction(0))
        some = sheet.among(kept).sums(np.ones((1, int(kept.sum()))))[0, stretch]
        assert Fraction(int(some), sheet.scale) == sum(np.array(plain, dtype=object)[kept], Fraction(0))
