"""The one interval of a mean: its fast sums are the plain ones, and special cases are the textbook's."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.evidence.interval import (
    FEW_CHANGED,
    FEW_EFFECTIVE,
    MOST_QUESTIONS,
    Effect,
    Interval,
    critical_of,
    degrees_of,
    effect,
    effect_among,
    effects,
    student,
    student_tail,
    warn_thin,
)

Array = npt.NDArray[np.float64]


@st.composite
def samples(draw: st.DrawFn) -> tuple[Array, npt.NDArray[np.int64]]:
    """Rows of gains, and the unit of each question; every unit has one, in any order."""
    units = draw(st.integers(2, 6))
    more = draw(st.lists(st.integers(0, units - 1), max_size=12))
    member = np.array(draw(st.permutations([*range(units), *more])))
    gain = st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 0.0, 0.0, 0.5, 1.0])
    rows = draw(st.lists(st.lists(gain, min_size=len(member), max_size=len(member)), min_size=1, max_size=4))
    return np.array(rows), member


def plain(row: Array, member: npt.NDArray[np.int64], level: float = 0.95) -> tuple[float, float, float]:
    """The interval by its definition, with matrices: half-width, standard error, and p (one-sided)."""
    n, mean = len(row), row.mean()
    found = []
    for units in (np.arange(n), member):
        who = (units[:, None] == np.unique(units)).astype(float)
        sizes = who.sum(axis=0)
        # CR2: residuals are (I - H) y, and each cluster's sum is divided by the root of 1 - its leverage.
        maker = np.diag((1 - sizes / n) ** -0.5) @ who.T @ (np.eye(n) - np.full((n, n), 1 / n))
        squares = ((maker @ row) ** 2).sum()
        spread = maker @ maker.T
        degrees = np.trace(spread) ** 2 / (spread**2).sum()
        error = np.sqrt(squares + 2) / (n + 2)
        tail = scipy.stats.t.sf(abs(mean) / error, degrees)
        found.append((scipy.stats.t.isf((1 - level) / 2, degrees) * error, degrees, tail))
    width, tail = max(each[0] for each in found), max(each[2] for each in found)
    return width, width / scipy.stats.t.isf((1 - level) / 2, found[1][1]), tail if mean > 0 else 1 - tail


@given(samples(), st.sampled_from([0.8, 0.95, 0.99]))
def test_it_is_the_wider_of_the_intervals_over_questions_and_clusters(
    sample: tuple[Array, npt.NDArray[np.int64]], level: float
) -> None:
    rows, member = sample
    found = effects(rows, member, level=level)
    for row, each in zip(rows, found, strict=True):
        width, error, p = plain(row, member, level)
        assert each.half_width == pytest.approx(width)
        assert each.standard_error == pytest.approx(error)
        assert each.p == pytest.approx(p)
        assert each.low == max(-1, each.mean - each.half_width)
        assert each.high == min(1, each.mean + each.half_width)
        # The interval excludes zero exactly where the two-sided p-value says so.
        assert (abs(each.mean) > each.half_width) == (each.p_two_sided < 1 - level)


@given(samples())
def test_a_row_is_judged_alike_alone_and_among_others(sample: tuple[Array, npt.NDArray[np.int64]]) -> None:
    rows, member = sample
    together = effects(rows, member)
    assert [effect(row, member) for row in rows] == list(together)
    assert critical_of(member) == together.critical


def test_many_rows_are_judged_as_each_alone_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    rows = rng.choice([-1, -1 / 3, 0, 0, 0.5, 1], size=(50, 3001))
    for member in (np.arange(3001), rng.integers(0, 40, 3001)):
        found = effects(rows, member)
        for row in (0, 17, 49):
            assert effect(rows[row].copy(), member) == found[row]


def test_with_questions_as_units_it_is_students_with_two_more_questions() -> None:
    gains = np.array([1.0] * 8 + [-1.0] * 3 + [0.0] * 89)
    found = effect(gains, np.arange(100))
    padded = np.sqrt(gains.var(ddof=1) * 100 + 2) / 102
    assert found.half_width == pytest.approx(scipy.stats.t.isf(0.025, 99) * padded)
    assert found.p == pytest.approx(scipy.stats.t.sf(gains.mean() / padded, 99))


def test_where_nothing_changed_it_still_reaches_about_three_in_n() -> None:
    """The rule of three: what happens to 3 questions in n stays unseen in one sample of twenty."""
    for n in (30, 300, 3000):
        found = effect(np.zeros(n), np.arange(n))
        assert found.mean == 0
        assert 2.6 < found.half_width * n < 3
        assert found.p_two_sided == 1


def test_even_clusters_leave_one_degree_less_and_uneven_ones_fewer() -> None:
    assert degrees_of(np.full(12, 7)) == pytest.approx(11)
    assert degrees_of(np.ones(50, dtype=int)) == pytest.approx(49)
    uneven = degrees_of(np.array([40, 20, 10, 5, 5]))
    assert 1 <= uneven < 3.5
    assert degrees_of(np.array([9, 1])) == pytest.approx(1)


def test_clusters_never_make_a_mean_surer() -> None:
    """Two clusters that happen to agree say nothing about others."""
    gains = np.tile([1.0, -1.0, 0.0, 0.0], 10)
    alike = effect(gains, np.repeat([0, 1], 20))
    assert alike.half_width >= effect(gains, np.arange(40)).half_width


def test_changes_in_few_clusters_are_said() -> None:
    member = np.repeat(np.arange(10), 10)
    gains = np.zeros((2, 100))
    gains[0, : 10 * (FEW_CHANGED - 1) : 10] = 1
    gains[1, ::10] = 1
    few, enough = effects(gains, member)
    assert (few.changed, few.thin) == (FEW_CHANGED - 1, True)
    assert (enough.changed, enough.thin) == (10, False)
    assert not effect(gains[0], np.arange(100)).thin
    with pytest.warns(sl.errors.StatisticalWarning, match="1 of 2 intervals rests on changes in too few clusters"):
        warn_thin([few, None, enough])
    # What a model rarely does counts, not how its score is written: 95% right is like 5% right.
    assert effect(1 - gains[0], member).changed == few.changed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_thin([enough, None])


def test_rare_changes_need_more_clusters() -> None:
    """Clusters that were not seen could hold as many again, whichever way they go; common changes say how they vary."""
    member = np.repeat(np.arange(20), 15)
    gains = np.zeros((4, 300))
    gains[:, :105:15] = 1  # one each in seven clusters
    gains[1, 1] = -1
    gains[2, 299] = -1
    gains[3, ::2] = 1
    rare, both, enough, common = effects(gains, member)
    assert (rare.changed, rare.effective, rare.thin) == (7, 7.0, True)
    assert (both.changed, both.thin) == (7, True)
    assert both.effective == pytest.approx(64 / 10)
    assert (enough.changed, enough.effective, enough.thin) == (8, FEW_EFFECTIVE, False)
    assert (common.changed, common.effective, common.thin) == (20, None, False)


def test_where_nothing_can_be_resampled_there_is_no_effect() -> None:
    assert effect_among(np.array([0.5]), np.array([3])) is None
    assert effect_among(np.array([0.5, 1.0]), np.array([3, 3])) is None
    assert effect_among(np.array([0.5, 1.0]), np.array([3, 7])) is not None
    with pytest.raises(sl.InputError, match="two units or more"):
        effect(np.array([0.5, 1.0]), np.array([0, 0]))
    with pytest.raises(sl.InputError, match="level 95 is not between 0 and 1"):
        effect(np.array([0.5, 1.0]), np.array([0, 1]), level=95)


@pytest.mark.parametrize("degrees", [1, 1.4, 9, 199, 201, 500, 50_000, 1e7])
def test_student_is_scipys(degrees: float) -> None:
    for tail in (0.4, 0.05, 0.025, 0.005, 1e-6):
        assert student(degrees, tail) == pytest.approx(scipy.stats.t.isf(tail, degrees), rel=1e-12)
    steps = np.array([[-6.0, -1.3, 0.0], [0.4, 2.0, 8.0]])
    assert student_tail(degrees, steps) == pytest.approx(scipy.stats.t.sf(steps, degrees), rel=1e-11)
    assert student_tail(degrees, np.inf) < 1e-30
    assert np.isnan(student_tail(degrees, np.nan))


def test_more_questions_part_the_mean_from_a_boundary() -> None:
    found = Effect(0.02, 0.02, 1.96, 0.95, 0.16, 100, 100)
    assert found.questions_needed(0.0) == 785
    assert found.questions_needed(0.02) is None


def test_beyond_the_most_questions_none_are_named_and_below_they_are() -> None:
    near, far = (MOST_QUESTIONS * part for part in (0.9, 1.1))
    for needed, named in ((near, True), (far, False)):
        # Ten times as near to the boundary takes a hundred times as many questions.
        found = Effect(0.02 * (784.9 / needed) ** 0.5, 0.02, 1.96, 0.95, 0.16, 100, 100).questions_needed(0.0)
        assert (found is not None) == named


def test_an_interval_holds_its_ends() -> None:
    found = Interval(-0.5, 0.25, 0.95, "student")
    assert [value in found for value in (-0.51, -0.5, 0.0, 0.25, 0.26)] == [False, True, True, True, False]


def test_clusters_of_one_question_are_questions() -> None:
    gains = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], 60)
    assert effect(gains, np.arange(60)[::-1].copy()) == effect(gains, np.arange(60))
