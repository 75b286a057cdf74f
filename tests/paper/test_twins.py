"""Synthetic fleets and the twins of the paper's datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.paper.published import published
from swaplaw.paper.synthetic import Fleet, Model, generate
from twins import twin_fleet

DATASETS = list(published().datasets)


@pytest.mark.parametrize("dataset", DATASETS)
def test_twins_have_the_marginals_of_the_paper(dataset: str) -> None:
    votes = sl.demo_votes(f"{dataset}-twin")
    tally = votes.tally()
    found = {model.model: model for model in sl.summary(tally)}
    accuracy = {row["model"]: row for row in published().tables["model_accuracy"].rows}
    nulls = {row["model"]: row for row in published().tables["abstentions"].rows}
    (size,) = (row for row in published().tables["datasets"].rows if row["dataset"] == dataset)
    assert set(found) == set(accuracy)
    for name, model in found.items():
        assert abs(100 * model.plurality - accuracy[name][f"{dataset}_plurality"]) <= 0.5
        assert abs(100 * model.single - accuracy[name][f"{dataset}_single"]) <= 1.0
        for reason in ("unanswered",) if dataset == "forensic" else ("truncated", "no_parse"):
            assert abs(100 * float(model.reasons.get(reason, 0)) - nulls[name][reason]) <= 0.05
    assert len(tally.questions) == size["questions"]
    assert sum(model.votes for model in found.values()) == size["trials"]
    if dataset == "supergpqa":
        adjusted = [float(pair.masses.phi_adj or 0) for pair in sl.pairs(tally)]
        assert 0.40 <= min(adjusted) <= max(adjusted) <= 0.85


def test_twins_say_that_they_are_synthetic_and_look_like_the_real_thing() -> None:
    mcq, free = sl.demo_votes("gpqa-diamond-twin"), sl.demo_votes("forensic-twin")
    for votes in (mcq, free):
        assert votes.datasets[0].endswith("-twin")
        assert votes.frame.select(pl.col("synthetic").all()).collect().item()
    frame = mcq.frame.collect()
    assert set(frame["answer"].drop_nulls()) == set("ABCD")
    assert frame.group_by("question").agg(pl.col("gold").n_unique())["gold"].max() == 1
    assert set(frame["gold"]) == set("ABCD")
    letters = twin_fleet("supergpqa").options
    assert letters is not None
    assert (min(letters), max(letters)) == (4, 10)
    assert len(set(free.frame.collect()["cluster"])) == 5
    assert "correct" in free.frame.collect_schema().names()


SHARES = st.floats(0.05, 0.95)


@settings(max_examples=25, deadline=None)
@given(
    plurality=SHARES,
    sharpness=st.floats(0.8, 20),
    null=st.floats(0, 0.3),
    missing=st.floats(0, 0.4),
    idiosyncrasy=st.floats(0, 2),
    options=st.sampled_from([(4,), (2, 5, 10), None]),
    seed=st.integers(0, 1000),
)
def test_any_fleet_has_the_plurality_and_the_abstention_that_it_was_given(
    plurality: float,
    sharpness: float,
    null: float,
    missing: float,
    idiosyncrasy: float,
    options: tuple[int, ...] | None,
    seed: int,
) -> None:
    member = Model(
        "m",
        plurality,
        abstains={"refused": null / 2, "error": null / 2},
        idiosyncrasy=idiosyncrasy,
        sharpness=sharpness,
        samples=9,
        missing=missing,
    )
    votes = generate(Fleet("d", (member,), 120, options, ("x", "y", "z")), seed)
    (model,) = sl.summary(votes.tally())
    # A step of the plurality is at most one question; at the top it ends where null votes beat gold.
    assert abs(float(model.plurality) - plurality) <= 0.011 or plurality > 1 - 2 * null
    assert abs(float(model.abstained) - null) <= 0.5 / model.votes + 1e-9
    assert set(model.reasons) <= {"refused", "error"}
    assert votes.tally().clusters is not None


def test_idiosyncrasy_makes_models_err_apart() -> None:
    def dependence(idiosyncrasy: float) -> float:
        members = tuple(Model(name, 0.6, 0.55, idiosyncrasy=idiosyncrasy) for name in ("a", "b"))
        tally = generate(Fleet("d", members, 1500), 1).tally()
        return float(next(iter(sl.pairs(tally))).masses.phi_adj or 0)

    assert dependence(0.1) > dependence(0.7) + 0.1 > dependence(3.0) + 0.2


def test_ragged_counts_really_are_ragged() -> None:
    tally = generate(Fleet("d", (Model("a", 0.5, missing=0.3), Model("b", 0.5)), 50)).tally()
    assert tally.samples == (None, 24)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: Model("a", 1.5), "plurality"),
        (lambda: Model("a", 0.5, abstains={"error": 0.7, "refused": 0.7}), "more than one"),
        (lambda: Model("a", 0.5, samples=0), "samples"),
        (lambda: Fleet("d", (), 5), "at least one member"),
        (lambda: Fleet("d", (Model("a", 0.5), Model("a", 0.5)), 5), "name of its own"),
        (lambda: Fleet("d", (Model("a", 0.5),), 0), "questions"),
        (lambda: Fleet("d", (Model("a", 0.5),), 5, (1,)), "options"),
        (lambda: twin_fleet("mmlu"), "mmlu"),
    ],
)
def test_impossible_fleets_are_refused(build: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(sl.InputError, match=complaint):
        build()
