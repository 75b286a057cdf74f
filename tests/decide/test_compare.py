"""Comparing models: beside statsmodels and scipy on real votes, and by hand."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import swaplaw as sl
from swaplaw._arrays import Floats

from support.commands import Run
from support.data import real_votes


@pytest.fixture(scope="module")
def exams() -> sl.Tally:
    options = sl.importers.Options(question=("cluster", "question", "gold"), drop_ambiguous=True)
    return sl.import_votes(real_votes("renze-exams.parquet"), options).votes.tally()


def right(tally: sl.Tally, model: str) -> Floats:
    return np.asarray(tally.gold[tally.index(model)], dtype=np.float64)


def test_single_votes_beside_scipy_and_statsmodels(exams: sl.Tally) -> None:
    found = sl.compare(exams, by="question")
    assert len(found.comparisons) == 36
    for each in found.comparisons:
        first, second = right(exams, each.first), right(exams, each.second)
        test = stats.ttest_rel(first, second)
        ends = test.confidence_interval()
        assert each.difference == pytest.approx(float((first - second).mean()))
        # The interval holds two questions more than the data, a gain and a loss: hardly visible among a thousand.
        assert (each.effect.low, each.effect.high) == pytest.approx((ends.low, ends.high), abs=3e-3)
        table = [[sum(first * second), sum(first * (1 - second))], [sum((1 - first) * second), 0]]
        assert each.mcnemar == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-9)
    p_values = [each.effect.p_two_sided for each in found.comparisons]
    assert [each.p_adjusted for each in found.comparisons] == pytest.approx(
        multipletests(p_values, method="holm")[1].tolist()
    )


def test_clusters_beside_statsmodels(exams: sl.Tally) -> None:
    """The cluster-robust error of the textbook, which is a little narrow with ten clusters."""
    codes = np.unique(np.array(exams.clusters), return_inverse=True)[1]
    for each in sl.compare(exams).comparisons:
        gains = right(exams, each.first) - right(exams, each.second)
        model = sm.OLS(gains, np.ones(len(gains))).fit(cov_type="cluster", cov_kwds={"groups": codes})
        assert each.effect.units == len(set(codes))
        assert each.effect.half_width > 0.98 * 1.96 * model.bse[0]


def test_orientation_scores_and_names() -> None:
    tally = sl.demo_votes().tally()
    found = sl.compare(tally, score="single")
    means = {row.model: float(row.single) for row in sl.summary(tally)}
    for each in found.comparisons:
        assert each.difference >= 0
        assert each.first_score == pytest.approx(means[each.first])
        assert each.second_score == pytest.approx(means[each.second])
    assert found.to_frame().height == 36
    assert sl.compare(tally, ["gpt-4", "mistral-large"]).comparisons[0].needed == 176


def test_what_is_detectable_and_needed_agree(exams: sl.Tally) -> None:
    """A difference that is detectable needs no more questions than there are."""
    for each in sl.compare(exams).comparisons:
        if each.needed is not None:
            assert (each.difference >= each.detectable) == (each.needed <= each.effect.n)


@pytest.mark.parametrize(
    ("models", "message"),
    [(["gpt-4"], "needs two models"), (["gpt-4", "gpt-4"], "twice"), (["gpt-4", "nobody"], "no model 'nobody'")],
)
def test_what_cannot_be_compared(models: list[str], message: str) -> None:
    with pytest.raises(sl.InputError, match=message):
        sl.compare(sl.demo_votes(), models)


def test_models_that_share_no_question_are_left_out_and_said() -> None:
    rows = [(q, m, "A", "A") for m in ("a", "b") for q in ("1", "2", "3")] + [
        ("9", "c", "A", "A"),
        ("8", "c", "B", "A"),
    ]
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
    found = sl.compare(frame)
    assert (len(found.comparisons), found.disjoint) == (1, 2)


def test_the_command(swaplaw: Run) -> None:
    done = swaplaw("compare", "demo", "--json")
    document = json.loads(done.out)
    keys = {"first", "second", "n", "units", "difference", "low", "high", "p", "p_adjusted", "detectable", "needed"}
    assert keys <= set(document["comparisons"][0])
    shown = swaplaw("compare", "demo", "--models", "gpt-4,mistral-large")
    assert "1 of 1 difference is significant at 5%" in shown.out


def test_one_notion_of_significance_and_no_mcnemar_over_clusters(swaplaw: Run) -> None:
    found = sl.compare(sl.demo_votes())
    assert {each.mcnemar for each in found.comparisons} == {None}
    assert found.to_dict()["comparisons"][0]["mcnemar"] is None
    worst = found.comparisons[0]
    assert worst.significant
    assert (found.worse(worst.second), found.worse("gpt-4")) == (True, False)
    assert swaplaw("compare", "demo", "--fail-if-worse", worst.second).code == 3
    assert swaplaw("compare", "demo", "--fail-if-worse", "gpt-4").code == 0
    assert swaplaw("compare", "demo", "--fail-if-worse", "nobody").code == 2
