"""A tally of some models and questions is the tally of their votes alone."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl

from .test_engines import same
from support.corpora import corpora
from support.twin import Corpus


@given(case=corpora(models=3, questions=6), data=st.data())
def test_merged_parts_are_the_whole_in_any_order(case: Corpus, data: st.DataObject) -> None:
    frame = case.frame()
    whole = sl.votes_from(frame).tally()
    cut = [data.draw(st.integers(0, 2)) for _ in range(frame.height)]
    parts = frame.with_columns(part=pl.Series(cut)).partition_by("part", include_key=False)
    tallies = [sl.votes_from(part).tally() for part in data.draw(st.permutations(parts))]
    merged = tallies[0].merge(*tallies[1:])
    same(merged, whole)
    assert merged.golds == whole.golds


def test_tallies_that_disagree_are_not_merged() -> None:
    one, two = ({"question": ["q"], "model": ["m"], "answer": ["A"], "gold": [gold]} for gold in "AB")
    with pytest.raises(sl.InputError, match="disagree about the gold of question 'q'"):
        sl.tally(one).merge(sl.tally(two))
    with pytest.raises(sl.InputError, match="tallies of one dataset"):
        sl.tally(one).merge(sl.tally(two | {"dataset": ["other"]}))


@given(case=corpora(models=3, questions=8), data=st.data())
def test_selecting_equals_counting_what_is_left(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    models = data.draw(st.lists(st.sampled_from(tally.models), min_size=2, max_size=3, unique=True).map(sorted))
    kept = np.array([data.draw(st.booleans()) for _ in tally.questions])
    frame = case.frame()
    left = frame.filter(frame["model"].is_in(models), frame["question"].is_in(np.array(tally.questions)[kept].tolist()))
    if set(left["model"]) != set(models):
        return
    selected = tally.select(models=models, questions=kept)
    counted = sl.votes_from(left).tally()
    for model, name in enumerate(counted.models):
        places = [selected.questions.index(question) for question in counted.questions]
        assert selected.models[model] == name
        assert (selected.votes[model][places] == counted.votes[model]).all()
        assert (selected.gold[model][places] == counted.gold[model]).all()
        assert (selected.scores[model].ties[places] == counted.scores[model].ties).all()
    first, second = counted.models[:2]
    if (counted.answered[0] & counted.answered[1]).any():
        ours, theirs = sl.curve(selected, first, second), sl.curve(counted, first, second)
        assert [(p.low, p.high, p.outcome) for p in ours.pieces] == [(p.low, p.high, p.outcome) for p in theirs.pieces]


def test_a_tally_that_nobody_holds_is_gone_at_once() -> None:
    tally = sl.demo_votes().tally().select(models=["gpt-4", "mistral-large"])
    seen = weakref.ref(tally)
    gc.disable()
    try:
        assert tally.scores[0].total > 0
        sl.curve(tally, "gpt-4", "mistral-large").at("2/3")
        del tally
        assert seen() is None
    finally:
        gc.enable()


def test_models_of_a_tally_without_reasons_can_be_selected() -> None:
    tally = sl.demo_votes().tally()
    bare = tally.with_counts(tally.models[:2], tally.votes[:2], tally.gold[:2], [tally.dense(0), tally.dense(1)])
    assert bare.select(models=tally.models[:1]).models == tally.models[:1]
