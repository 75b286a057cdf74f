"""Quantities of many pairs in many samples against plain Fractions, and the intervals that follow."""

from __future__ import annotations

import warnings
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.evidence import Units
from swaplaw.evidence.jackknife import dealt
from swaplaw.evidence.quantities import QUANTITIES, Quantities, overlaps, quantities_of, sums_of
from swaplaw.votes.tally import Tally

from support.corpora import ODD, corpora, weights
from support.twin import Corpus, law


def without(case: Corpus, questions: set[str]) -> Corpus | None:
    """A corpus without some questions: what leaving them out would see."""
    ballots: dict[str, dict[str, Any]] = {
        model: {question: own for question, own in votes.items() if question not in questions}
        for model, votes in case.ballots.items()
    }
    both = set(ballots["aa"]) & set(ballots["bb"])
    gold = {question: own for question, own in case.gold.items() if question not in questions}
    return Corpus(ballots, gold) if both else None


@given(case=corpora(), x=weights, data=st.data())
def test_a_sample_equals_pooling_its_questions_again(case: Corpus, x: Fraction, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    if len(tally.questions) < 2:
        return
    parts = dealt(Units(np.arange(len(tally.questions)), "question"), replicates=data.draw(st.integers(2, 4)))
    sums = sums_of([sl.pair(tally, "aa", "bb")], x, parts)
    found = Quantities(sums.sum(axis=0, keepdims=True) - sums, x)
    for part, own in enumerate(parts.questions):
        left = without(case, {tally.questions[place] for place in own})
        if left is None:
            assert np.isnan(found.named(QUANTITIES)[part]).all()
            continue
        plain = law(left, "aa", "bb", x)
        masses = sl.law.Masses(plain.p, plain.q, plain.cells[3])
        outcome = sl.law.Outcome(x, masses, *plain.gains)
        for name in QUANTITIES:
            value = getattr(outcome, name) if hasattr(outcome, name) else getattr(masses, name)
            got = getattr(found, name)[part, 0]
            assert np.isnan(got) if value is None else got == pytest.approx(float(value), abs=1e-12), name


@pytest.mark.parametrize("case", ODD.values(), ids=list(ODD))
def test_the_full_sample_is_the_law(case: Corpus) -> None:
    pair = next(iter(sl.pairs(sl.votes_from(case.frame()).tally())))
    found, at = quantities_of([pair], "2/3"), pair.at("2/3")
    for name in ("alpha", "gamma", "beta", "kappa", "lift", "swap", "residual"):
        value, got = getattr(at, name), getattr(found, name)[0, 0]
        assert np.isnan(got) if value is None else got == pytest.approx(float(value), abs=1e-12)
    with pytest.raises(AttributeError):
        _ = found.lifts


def test_ties_whose_common_denominator_no_float_holds() -> None:
    sizes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for place, size in enumerate(sizes):
        ballots["aa"][f"q{place:02d}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{place:02d}"] = Counter(["gold", *answers[: sizes[-place] - 1]])
    pair = sl.pair(sl.votes_from(Corpus(ballots, dict.fromkeys(ballots["aa"], "gold")).frame()).tally(), "aa", "bb")
    found = quantities_of([pair], "2/3")
    for name in ("p", "rescue", "both_wrong"):
        assert getattr(found, name)[0, 0] == pytest.approx(float(getattr(pair.masses, name)), abs=1e-12)
    assert found.lift[0, 0] == pytest.approx(float(pair.at("2/3").lift), abs=1e-12)


def test_overlaps_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = sl.demo_votes().frame.collect()
    holed = sl.tally(frame.filter((pl.col("model") != "gpt-4") | (pl.col("question").hash(0) % 3 != 0)))
    for tally in (sl.demo_votes().tally(), holed):
        whole, scale = overlaps(tally)
        monkeypatch.setattr("swaplaw.evidence.quantities.BLOCK", 64)
        assert np.array_equal(overlaps(tally)[0], whole)
        monkeypatch.setattr("swaplaw.evidence.quantities.NARROWEST", 2**30)
        assert np.array_equal(overlaps(tally)[0], whole)
        parts = dealt(Units(np.arange(len(tally.questions)), "question"))
        apart, same = overlaps(tally, parts)
        assert (apart.sum(axis=0) / same**2 == whole[0] / scale**2).all()
        monkeypatch.undo()


def clustered(questions: int, clusters: int) -> Tally:
    rng = np.random.default_rng(0)
    ids = [f"q{n:03d}" for n in range(questions)]
    frames = [
        pl.DataFrame(
            {
                "question": ids,
                "model": model,
                "answer": rng.choice(["A", "B"], questions, p=[chance, 1 - chance]),
                "gold": "A",
                "cluster": [f"c{n % clusters}" for n in range(questions)],
            }
        )
        for model, chance in (("one", 0.7), ("two", 0.6), ("three", 0.5))
    ]
    return sl.votes_from(pl.concat(frames)).tally()


@pytest.mark.filterwarnings("ignore:only 6 clusters")
def test_an_interval_is_the_jackknife_by_hand() -> None:
    """A slow second way: select the questions that are left and ask the law."""
    tally = clustered(60, 6)
    found = sl.intervals(tally, "1/2", quantities=["phi_adj", "alpha"])
    pair = found.pairs[0]
    values = {"phi_adj": [], "alpha": []}  # type: dict[str, list[float]]
    for cluster in range(6):
        left = tally.select(questions=np.arange(60) % 6 != cluster)
        again = sl.pair(left, pair.primary, pair.secondary)
        values["phi_adj"].append(float(again.masses.phi_adj or 0))
        values["alpha"].append(float(again.at("1/2").alpha or 0))
    whole = {"phi_adj": float(pair.masses.phi_adj or 0), "alpha": float(pair.at("1/2").alpha or 0)}
    for name, each in found.of(pair.primary, pair.secondary).items():
        error = np.sqrt(5 / 6 * ((np.array(values[name]) - np.mean(values[name])) ** 2).sum())
        assert each.value == pytest.approx(whole[name])
        assert each.interval is not None
        assert each.interval.low == pytest.approx(max(-1, whole[name] - 2.570582 * error), abs=1e-6)
        assert each.interval.high == pytest.approx(min(1, whole[name] + 2.570582 * error), abs=1e-6)
    assert found.to_dict()["resampled"] == {"unit": "cluster", "units": 6, "replicates": 6, "seed": 0}
    assert len(found.rows()) == 6


def test_a_pair_keeps_its_orientation_in_every_sample() -> None:
    found = sl.intervals(clustered(40, 8), quantities=["gap"], by="question")
    gaps = [found.of(pair.primary, pair.secondary)["gap"] for pair in found.pairs]
    assert all(gap.value is not None and gap.value >= 0 for gap in gaps)
    assert any(gap.interval is not None and gap.interval.low < 0 for gap in gaps)


def test_doubts_are_said() -> None:
    """Where such intervals cover too little, and only there: means have an interval of their own."""
    with pytest.warns(sl.errors.StatisticalWarning, match="only 9 clusters are resampled"):
        sl.intervals(clustered(90, 9), quantities=["phi"])
    with pytest.warns(sl.errors.StatisticalWarning, match="only 49 questions are resampled"):
        sl.intervals(clustered(49, 12), quantities=["phi"], by="question")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sl.intervals(clustered(90, 10), quantities=["phi"])
        sl.intervals(clustered(50, 5), quantities=["phi"], by="question")
        sl.intervals(clustered(90, 9), quantities=["lift", "p", "rescue"])


def test_what_rests_on_a_single_question_has_no_interval() -> None:
    frame = pl.DataFrame(
        {
            "question": [f"q{n:02d}" for n in range(60)] * 2,
            "model": ["aa"] * 60 + ["bb"] * 60,
            # One question of sixty is a rescue.
            "answer": ["A"] * 50 + ["B"] * 10 + ["A"] * 48 + ["B"] * 11 + ["A"],
            "gold": "A",
        }
    )
    with pytest.warns(sl.errors.StatisticalWarning, match="no interval, because .* such as alpha of 'aa' with 'bb'"):
        found = sl.intervals(sl.votes_from(frame).tally(), "2")
    alpha = found.of("aa", "bb")["alpha"]
    assert alpha.value == pytest.approx(1)
    assert (alpha.interval, alpha.undefined) == (None, 1)
    with pytest.raises(sl.InputError, match="no pair of primary 'bb'"):
        found.of("bb", "aa")
    with pytest.raises(sl.InputError, match="no quantity 'lifts'"):
        sl.intervals(clustered(40, 6), quantities=["lifts"])
