"""The bootstrap against plain Fractions, and what it promises about draws, bytes and doubts."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw._core.arrays import Floats
from swaplaw.evidence.quantities import QUANTITIES, Quantities, terms_of
from swaplaw.evidence.resample import BLOCK, Resampler
from swaplaw.votes.tally import Tally

from support.corpora import ODD, corpora, weights
from support.twin import Corpus, law


def all_quantities(found: Quantities) -> Floats:
    return np.stack([getattr(found, name) for name in QUANTITIES], axis=1)


def weighted(case: Corpus, times: list[int]) -> Corpus | None:
    """A corpus in which each question stands as often as it was drawn: what re-pooling would see."""
    ballots: dict[str, dict[str, Any]] = {model: {} for model in case.ballots}
    gold: dict[str, str] = {}
    for question, number in zip(sorted(case.gold), times, strict=True):
        for copy in range(number):
            gold[f"{question}.{copy}"] = case.gold[question]
            for model in case.ballots:
                if question in case.ballots[model]:
                    ballots[model][f"{question}.{copy}"] = case.ballots[model][question]
    both = set(ballots["aa"]) & set(ballots["bb"])
    return Corpus(ballots, gold) if both else None


@given(case=corpora(), x=weights, data=st.data())
def test_a_draw_equals_pooling_the_drawn_questions_again(case: Corpus, x: Fraction, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(tally.questions), max_size=len(tally.questions)))
    asked = [question for question in sorted(case.gold) if any(question in votes for votes in case.ballots.values())]
    assert tuple(asked) == tally.questions
    drawn = weighted(Corpus(case.ballots, {question: case.gold[question] for question in asked}), times)
    found = terms_of([sl.pair(tally, "aa", "bb")], x).quantities([times])
    if drawn is None:
        assert all(np.isnan(getattr(found, name)).all() for name in QUANTITIES)
        return
    plain = law(drawn, "aa", "bb", x)
    masses = sl.law.Masses(plain.p, plain.q, plain.cells[3])
    outcome = sl.law.Outcome(x, masses, *plain.gains)
    for name in QUANTITIES:
        value = getattr(outcome, name) if hasattr(outcome, name) else getattr(masses, name)
        got = getattr(found, name)[0, 0]
        if name == "ceiling":  # a draw can turn a pair round; then the paper's min(m, 1 - m) - gap/2 is another thing
            value = min(plain.q, 1 - plain.p)
        if value is None:
            assert np.isnan(got), name
        else:
            assert got == pytest.approx(float(value), abs=1e-12), name
        if name in ("p", "q", "gap", "collective", "rescue", "damage", "both_right", "both_wrong", "lift", "swap"):
            assert got == float(value), name


@pytest.mark.parametrize("case", ODD.values(), ids=list(ODD))
def test_the_full_sample_is_the_law(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    pair = next(iter(sl.pairs(tally)))
    found = terms_of([pair], "2/3").quantities()
    at = pair.at("2/3")
    for name in ("alpha", "gamma", "beta", "kappa", "lift", "swap", "residual"):
        value = getattr(at, name)
        assert np.isnan(getattr(found, name)[0]) if value is None else getattr(found, name)[0] == float(value)


def test_wide_ties_are_rounded_terms_never_rounded_sums() -> None:
    """Tie sizes whose least common multiple no float holds: the terms lose a few digits, the sums nothing."""
    from collections import Counter

    sizes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for place, size in enumerate(sizes):
        ballots["aa"][f"q{place:02d}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{place:02d}"] = Counter(["gold", *answers[: sizes[-place] - 1]])
    case = Corpus(ballots, dict.fromkeys(ballots["aa"], "gold"))
    pair = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    terms = terms_of([pair], "2/3")
    found = terms.quantities()
    assert terms.columns.dtype == np.float64
    assert (terms.columns == np.round(terms.columns)).all()
    assert found.p[0] == pytest.approx(float(pair.masses.p), abs=1e-9)
    assert found.lift[0] == pytest.approx(float(pair.at("2/3").lift), abs=1e-9)
    assert found.rescue[0] == pytest.approx(float(pair.masses.rescue), abs=1e-9)


@given(case=corpora(models=3, questions=8))
@settings(max_examples=25, deadline=None)
@example(case=ODD["both tie, and tie together"])
def test_same_bytes_whatever_the_batch_or_the_threads(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    try:
        terms = terms_of(sl.pairs(tally), "2/3")
    except sl.InputError:
        return
    if len(tally.questions) == 1:
        return
    draws = Resampler(np.arange(len(tally.questions)), "question", seed=3, replicates=BLOCK * 3 + 7)

    def statistic(sums: Floats) -> Floats:
        return all_quantities(Quantities(terms, sums))

    once = draws.transform(terms.columns, statistic, threads=1, size=1000).tobytes()
    for threads, size in ((1, 3), (2, 50), (3, BLOCK), (2, 97)):
        assert draws.transform(terms.columns, statistic, threads=threads, size=size).tobytes() == once


def test_counts_are_whole_draws_and_more_replicates_begin_with_the_same() -> None:
    draws = Resampler(np.arange(17), "question", seed=5, replicates=300)
    counts = draws.counts(0, 300)
    assert (counts.sum(axis=1) == 17).all()
    assert (np.concatenate(list(draws.batches(41))) == counts).all()
    assert (draws.counts(70, 133) == counts[70:133]).all()
    assert (Resampler(np.arange(17), "question", seed=6, replicates=300).counts(0, 300) != counts).any()
    # Every unit is equally likely: 300 x 17 draws, five standard deviations.
    assert np.abs(counts.sum(axis=0) - 300).max() < 5 * np.sqrt(300)


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


def test_clusters_are_drawn_whole() -> None:
    tally = clustered(50, 7)
    draws = sl.evidence.resampler(tally, seed=1, replicates=100)
    assert (draws.unit, draws.units) == ("cluster", 7)
    weights_, counts = draws.weights(0, 100), draws.counts(0, 100)
    assert tally.clusters is not None
    for question, cluster in enumerate(tally.clusters):
        assert (weights_[:, question] == counts[:, int(cluster[1:])]).all()
    terms = terms_of(sl.pairs(tally), "1/2")
    by_question = terms.quantities(weights_)
    by_cluster = draws.gather(terms).quantities(counts)
    for name in QUANTITIES:
        np.testing.assert_array_equal(getattr(by_question, name), getattr(by_cluster, name))


def test_a_pair_keeps_its_orientation_in_every_draw() -> None:
    tally = clustered(40, 8)
    found = sl.bootstrap(tally, replicates=500, quantities=["gap", "lift"], by="question")
    for pair in found.pairs:
        gap = found.of(pair.primary, pair.secondary)["gap"]
        assert gap.value is not None
        assert gap.value >= 0
    lows = [found.of(p.primary, p.secondary)["gap"].interval for p in found.pairs]
    assert any(interval is not None and interval.low < 0 for interval in lows)


def test_bootstrap_is_what_a_loop_over_repooled_votes_gives() -> None:
    """A slow second way: select the drawn questions by hand and ask the law."""
    tally = clustered(60, 6)
    found = sl.bootstrap(tally, "1/2", replicates=40, method="percentile", by="question", quantities=["phi_adj"])
    pair = found.pairs[0]
    (rescue, *_), scale = pair.cells()
    ok_a, ok_b = (right.numerators / right.denominator for right in pair.alone)
    draws = found.draws.counts(0, 40)
    n = draws.sum(axis=1)
    values = 1 - (draws @ rescue / scale / n) / (draws @ ok_b / n * (1 - draws @ ok_a / n))
    interval = found.of(pair.primary, pair.secondary)["phi_adj"].interval
    assert interval is not None
    assert interval.low == pytest.approx(np.quantile(values, 0.025))
    assert interval.high == pytest.approx(np.quantile(values, 0.975))


def test_doubts_are_said() -> None:
    """Where bootstrap intervals cover too little, and only there: means have an interval that does not need draws."""
    with pytest.warns(sl.errors.StatisticalWarning, match="only 9 clusters are resampled"):
        sl.bootstrap(clustered(90, 9), quantities=["phi"], replicates=100)
    with pytest.warns(sl.errors.StatisticalWarning, match="only 49 questions are resampled"):
        sl.bootstrap(clustered(49, 12), quantities=["phi"], replicates=100, by="question")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sl.bootstrap(clustered(90, 10), quantities=["phi"], replicates=100)
        sl.bootstrap(clustered(50, 5), quantities=["phi"], replicates=100, by="question")
        sl.bootstrap(clustered(90, 9), quantities=["lift", "p", "rescue"], replicates=100)


def test_degenerate_draws_are_counted() -> None:
    frame = pl.DataFrame(
        {
            "question": [f"q{n:02d}" for n in range(60)] * 2,
            "model": ["aa"] * 60 + ["bb"] * 60,
            # One question of sixty is a rescue: a third of all draws have none.
            "answer": ["A"] * 50 + ["B"] * 10 + ["A"] * 48 + ["B"] * 11 + ["A"],
            "gold": "A",
        }
    )
    tally = sl.votes_from(frame).tally()
    with pytest.warns(sl.errors.StatisticalWarning, match=r"the worst is alpha of 'aa' with 'bb', undefined in [\d,]+"):
        found = sl.bootstrap(tally, "2", replicates=1000)
    alpha = found.of("aa", "bb")["alpha"]
    assert alpha.value == 1
    assert alpha.interval is not None
    assert 1000 * 0.3 < alpha.undefined < 1000 * 0.43
    assert found.to_dict()["pairs"][0]["alpha"]["undefined"] == alpha.undefined
    with pytest.raises(sl.InputError, match="no pair of primary 'bb'"):
        found.of("bb", "aa")


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(sl.InputError, match="a single cluster \\('c0'\\)"):
        sl.evidence.resampler(clustered(40, 1), by="cluster")
    with pytest.raises(sl.InputError, match="a single question"):
        sl.evidence.resampler(clustered(1, 1), by="question")
    case = sl.votes_from(ODD["one sample"].frame()).tally()
    with pytest.raises(sl.InputError, match="no column 'cluster'"):
        sl.evidence.resampler(case, by="cluster")
    for options, words in (({"replicates": 0}, "0 bootstrap replicates"), ({"seed": -1}, "seed -1 is negative")):
        with pytest.raises(sl.InputError, match=words):
            sl.evidence.resampler(clustered(40, 6), **options)  # type: ignore[arg-type]
    with pytest.raises(sl.InputError, match="no quantity 'lifts'"):
        sl.bootstrap(clustered(40, 6), quantities=["lifts"])
