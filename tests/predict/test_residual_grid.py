"""The residual over the grid of weights, from steps and blocks, against the law in Fractions."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw._core.parallel import ALONE
from swaplaw.evidence.resample import Resampler
from swaplaw.law.weights import PAPER_GRID
from swaplaw.predict.residual_grid import Moments, residual_grid

from support.corpora import corpora
from support.twin import Corpus, common, score


def residual(case: Corpus, a: str, b: str, x: Fraction, times: dict[str, int]) -> Fraction | None:
    """Repair less corruption over questions that were drawn so often; None where none was."""
    total, n = Fraction(0), 0
    for question in common(case, a, b):
        gold = case.gold[question]
        ok_a, ok_b = (score({model: Fraction(1)}, case.ballots, question, gold) for model in (a, b))
        pooled = score({a: Fraction(1), b: x}, case.ballots, question, gold)
        total += times[question] * (pooled - ok_a) * ((1 - ok_a) * (1 - ok_b) + ok_a * ok_b)
        n += times[question]
    return total / n if n else None


@given(case=corpora(models=3, questions=6), data=st.data())
@settings(max_examples=30, deadline=None)
def test_every_draw_is_what_its_questions_say(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    try:
        chosen = list(sl.pairs(tally))
    except sl.InputError:
        return
    n = len(tally.questions)
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.uint8)
    grid = residual_grid(chosen, Resampler(np.arange(n), "question"), ALONE, iter)
    often = dict(zip(tally.questions, times.tolist(), strict=True))
    plain = [residual(case, pair.primary, pair.secondary, x, often) for x in PAPER_GRID for pair in chosen]
    known = [float(value) for value in plain if value is not None]
    mean, size, spread, largest = grid.statistics(times[:, None])[0]
    if not known:
        assert np.isnan([mean, size, spread, largest]).all()
        return
    assert mean == pytest.approx(np.mean(known), abs=1e-12)
    assert size == pytest.approx(np.mean(np.abs(known)), abs=1e-12)
    assert spread == pytest.approx(np.std(known), abs=1e-9)
    assert largest == max(map(abs, known))


def test_blocks_and_workers_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = sl.demo_votes().tally()
    whole = sl.calibrate(tally, replicates=200).to_dict()
    monkeypatch.setattr(sys.modules["swaplaw.predict.residual_grid"], "BLOCK", 5)
    parts = sl.calibrate(tally, replicates=200).to_dict()
    assert parts["residual"]["max_at"] == whole["residual"]["max_at"]
    for name in ("mean", "mean_absolute", "sd", "max"):
        assert parts["residual"][name] == pytest.approx(whole["residual"][name], rel=1e-12)
    assert parts["intervals"]["residual_sd"] == pytest.approx(whole["intervals"]["residual_sd"], rel=1e-9)


def test_moments_merge_with_nothing() -> None:
    some = Moments.of(np.array([[0.1, np.nan, 0.3]]))
    none = Moments.nothing(np.array([0.0]))
    for merged in (some.merge(none), none.merge(some)):
        assert merged.statistics()[0] == pytest.approx(some.statistics()[0])
