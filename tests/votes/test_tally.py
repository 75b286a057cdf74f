"""A tally of some models and questions is the tally of their votes alone."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

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
def test_counts_kept_in_files_are_the_votes_they_were_counted_from(
    case: Corpus, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    frame = case.frame()
    if data.draw(st.booleans()):
        stated = [data.draw(st.sampled_from([None, 1, 2, 4, 9, 27])) for _ in range(frame.height)]
        frame = frame.with_columns(options=pl.Series(stated, dtype=pl.Int64))
    whole = sl.votes_from(frame).tally()
    for number, part in enumerate(frame.partition_by("question", "model")):
        sl.votes_from(part).write_counts(folder / f"{number}.parquet")
    (folder / "0.parquet").unlink()
    frame.partition_by("question", "model")[0].write_parquet(folder / "votes.parquet")
    found = sl.read_votes(folder).tally()
    same(found, whole)


def test_counts_that_may_hold_the_same_votes_are_refused(tmp_path: Path) -> None:
    votes = sl.votes_from(pl.DataFrame({"question": ["q"], "model": ["m"], "answer": ["A"], "gold": ["A"]}))
    votes.write_counts(tmp_path / "counts.parquet")
    votes.write(tmp_path / "votes.parquet")
    with pytest.raises(sl.InputError, match="two sources hold votes of model 'm' on question 'q', one of them as"):
        sl.read_votes(tmp_path)
    broken = pl.read_parquet(tmp_path / "counts.parquet").with_columns(votes=pl.lit(0))
    broken.write_parquet(tmp_path / "broken.parquet", metadata={"swaplaw": '{"counts": true}'})
    with pytest.raises(sl.InputError, match=r"broken.parquet': these are no counts"):
        sl.read_votes(tmp_path / "broken.parquet")


def test_the_same_votes_are_the_same_bytes(tmp_path: Path) -> None:
    frame = sl.demo_votes().frame.collect()
    sl.votes_from(frame).write_counts(tmp_path / "one.parquet")
    sl.votes_from(frame.sample(fraction=1, shuffle=True, seed=1).to_pandas()).write_counts(tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


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


def test_a_question_is_named_where_any_model_names_its_right_answer() -> None:
    said = {"q": ("A", "B"), "r": ("B", "C"), "s": ("A", "A"), "t": (None, "A")}
    rows = [
        (question, model, answer, "A")
        for question, own in said.items()
        for model, answer in zip("mn", own, strict=True)
    ]
    tally = sl.votes_from(pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")).tally()
    assert dict(zip(tally.questions, tally.named.tolist(), strict=True)) == {
        "q": True,
        "r": False,
        "s": True,
        "t": True,
    }
    with pytest.raises(sl.InputError, match="only one model"):
        sl.pairs(tally.select(models=["m"]))
    assert len(sl.pairs(tally)) == 1


def test_the_largest_number_of_options_is_kept_per_question() -> None:
    rows = [
        ("stated", "A", "C", 4),
        ("stated", "B", "C", 3),
        ("fewer than its answers", "A", "C", 2),
        ("fewer than its answers", "B", "C", None),
        ("not stated", "A", "B", None),
        ("no number of options", "A", "B", 1),
        ("no number of options", None, "B", 27),
    ]
    frame = pl.DataFrame(rows, schema=["question", "answer", "gold", "options"], orient="row")
    frame = frame.with_columns(model=pl.lit("m"))
    expected = {"stated": 4, "fewer than its answers": 3, "not stated": 0, "no number of options": 0}
    tally = sl.tally(frame)
    assert tally.options is not None
    assert dict(zip(tally.questions, tally.options.tolist(), strict=True)) == expected
    kept = np.array([question != "stated" for question in tally.questions])
    left = tally.select(questions=kept)
    assert left.options is not None
    assert left.options.tolist() == [expected[question] for question in left.questions]


@pytest.mark.parametrize("options", [None, [["A", "B"]], ["A; B"], [True], [0]])
def test_a_column_of_options_that_states_no_number_changes_nothing(options: list[object] | None) -> None:
    table: dict[str, list[object]] = {"question": ["q"], "model": ["m"], "answer": ["A"], "gold": ["A"]}
    assert sl.tally(table if options is None else table | {"options": options}).options is None


def test_options_in_a_file_of_text_are_numbers(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("question,model,answer,gold,options\nq,m,A,A,10\nq,n,A,A,9\nr,m,,A,\n")
    found = sl.tally(file).options
    assert found is not None
    assert found.tolist() == [10, 0]
