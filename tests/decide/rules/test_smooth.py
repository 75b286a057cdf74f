"""Smooth weights: the optimum is the optimum, and what should not matter does not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.rules import RULES
from swaplaw.decide.rules._rationals import PARTS, rounded
from swaplaw.decide.rules._shares import distinct, shares_of
from swaplaw.decide.rules.smooth import likeliest, smooth
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

from support.data import real_votes
from support.rule_votes import frame, named, relabelled, tally, ties, with_copy, with_junk


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return frame()


@pytest.fixture(scope="module")
def votes(rows: pl.DataFrame) -> Tally:
    return tally(rows)


def test_shares_are_counts_over_votes_with_gold_first_and_null_left_out() -> None:
    table = pl.DataFrame(
        {
            "question": ["q1"] * 5 + ["q2"] * 3,
            "model": ["a", "a", "a", "b", "b", "a", "b", "b"],
            "answer": ["A", "B", "B", "A", None, "C", "B", "C"],
            "gold": ["A"] * 5 + ["B"] * 3,
        }
    ).with_columns(sample=pl.int_range(pl.len()).over("question", "model"))
    shares = shares_of(tally(table))
    assert shares.question.tolist() == [0, 0, 1, 1]
    assert shares.gold.tolist() == [0, 2]
    dense = shares.matrix.toarray()
    assert dense[shares.gold].tolist() == [[1 / 3, 1 / 2], [0, 1 / 2]]
    assert dense[[1, 3]].tolist() == [[2 / 3, 0], [1, 1 / 2]]


def test_the_gradient_is_that_of_the_surprise(votes: Tally) -> None:
    shares = shares_of(votes)
    at = np.linspace(0.2, 3, shares.models)
    gradient = shares.surprise(at)[1]
    assert np.asarray(shares.gradients(at).sum(axis=0)).ravel() == pytest.approx(gradient)
    step = 1e-6
    for model in range(shares.models):
        change = np.zeros(shares.models)
        change[model] = step
        up, down = (shares.surprise(at + sign * change)[0].sum() for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(gradient[model], rel=1e-4, abs=1e-4)


def test_no_other_weights_are_likelier(votes: Tally) -> None:
    shares, strength = shares_of(votes), 3.0
    found = likeliest(shares, strength)
    assert (found >= 0).all()
    gradient = shares.surprise(found)[1] + strength * found
    # The conditions that mark the optimum of a convex function over weights that are not negative.
    assert np.abs(gradient[found > 0]).max() < 0.05
    assert (gradient[found == 0] > -0.05).all()
    far = likeliest(shares, strength, start=np.full(shares.models, 20.0))
    assert far == pytest.approx(found, abs=0.02)


def test_the_same_votes_give_the_same_weights(votes: Tally) -> None:
    assert smooth(votes) == smooth(votes)


def test_names_of_options_do_not_matter(rows: pl.DataFrame, votes: Tally) -> None:
    renamed = tally(relabelled(rows))
    assert renamed.rivals.labels.tolist() != votes.rivals.labels.tolist()
    assert smooth(renamed) == smooth(votes)


@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_a_duplicate_changes_no_decision(rows: pl.DataFrame, votes: Tally, name: str) -> None:
    own = smooth(votes)
    for model in votes.models:
        twice = tally(with_copy(rows, model, name))
        found = smooth(twice)
        assert ties(twice, found) == ties(votes, own)
        assert sorted(found.weights) == sorted(own.weights)


def test_duplicates_are_told_from_models_that_only_vote_alike(rows: pl.DataFrame) -> None:
    first = str(rows["model"].min())
    twice = with_copy(rows, first, "zzz")
    assert len(distinct(shares_of(tally(twice)))) == 6
    other = twice.with_columns(
        answer=pl.when((pl.col("model") == "zzz") & (pl.col("sample") == 0)).then(pl.lit("A")).otherwise("answer")
    )
    assert len(distinct(shares_of(tally(other)))) == 7


def test_junk_models_get_no_weight_and_change_few_decisions(rows: pl.DataFrame, votes: Tally) -> None:
    own = smooth(votes)
    more = tally(with_junk(rows, ["junk-1", "junk-2", "junk-3", "junk-4"]))
    found = smooth(more)
    assert not any("junk" in name for name in named(more, found))
    assert np.mean(np.array(ties(more, found)) != np.array(ties(votes, own))) <= 0.02


@pytest.mark.parametrize("dataset", ["aime2024", "aime2025"])
def test_more_models_are_asked_only_where_they_gain_on_the_training_questions(dataset: str) -> None:
    """On 24 of 30 questions, pooled models that gain nothing must not replace the best one."""
    every = sl.read_votes(real_votes("aime.parquet")).tally(dataset)
    train = every.select(questions=np.arange(len(every.questions)) % 5 != 0)
    found = smooth(train)
    pooled = vote(train, found.members, found.weights)
    best = max(scores.total / scores.denominator for scores in train.scores)
    assert len(found.members) == 1 or pooled.total / pooled.denominator > best


def test_models_that_never_vote_gold_leave_the_first_one_alone() -> None:
    table = pl.DataFrame(
        {
            "question": ["q1", "q1", "q2", "q2"],
            "model": ["a", "b"] * 2,
            "answer": ["B", "C", "B", "C"],
            "gold": ["A"] * 4,
        }
    ).with_columns(sample=pl.lit(0))
    assert named(tally(table), smooth(tally(table))) == {"a": "1"}


def test_one_question_is_enough_to_choose() -> None:
    table = pl.DataFrame({"question": ["q", "q"], "model": ["a", "b"], "answer": ["B", "A"], "gold": ["A", "A"]})
    one = tally(table.with_columns(sample=pl.lit(0)))
    assert next(iter(named(one, smooth(one)))) == "b"


def test_weights_are_simple_fractions_of_the_largest() -> None:
    found = rounded(np.array([0.0, 2.0, 1.0, 0.01, 2.0]), fallback=0)
    assert found.members == (1, 4, 2)
    assert [*map(str, found.weights)] == ["1", "1", "1/2"]
    assert all(PARTS % weight.denominator == 0 for weight in smooth(sl.demo_votes().tally()).weights)
    assert rounded(np.zeros(3), fallback=2).members == (2,)


def test_rules_are_found_by_themselves() -> None:
    assert {"best_single", "equal", "smooth"} <= set(RULES)
    assert not RULES["equal"].needs_labels


def test_equal_counts_every_model_alike(votes: Tally) -> None:
    found = RULES["equal"].fit(votes)
    assert found.members == tuple(range(len(votes.models)))
    assert set(found.weights) == {1}


def test_options_that_nobody_voted_for_count_as_if_they_had_a_row_without_votes(votes: Tally) -> None:
    plain, five = shares_of(votes), shares_of(votes, np.full(len(votes.questions), 5))
    at = np.linspace(0.2, 3, plain.models)
    pooled = plain.matrix @ at
    for number, surprise in enumerate(five.surprise(at)[0]):
        own = pooled[plain.question == number]
        whole = np.concatenate([own, np.zeros(max(0, 5 - len(own)))])
        assert surprise == pytest.approx(np.log(np.exp(whole).sum()) - own[0])


def near_equals(questions: int) -> pl.DataFrame:
    """Three models of one vote each that are right on 55% of ten-option questions, each by itself."""
    rng = np.random.default_rng(3)
    gold = rng.integers(10, size=questions)
    right = rng.random((3, questions)) < 0.55
    said = np.where(right, gold, rng.integers(10, size=(3, questions)))
    return pl.DataFrame(
        {
            "question": [f"q{n}" for _ in range(3) for n in range(questions)],
            "model": [m for m in "abc" for _ in range(questions)],
            "answer": ["ABCDEFGHIJ"[place] for place in said.ravel()],
            "gold": ["ABCDEFGHIJ"[place] for place in np.tile(gold, 3)],
        }
    )


def test_three_near_equals_of_one_vote_each_are_pooled() -> None:
    votes = sl.votes_from(near_equals(300)).tally()
    chosen = smooth(votes)
    assert len(chosen.members) == 3
    assert chosen.weights[1] + chosen.weights[2] > chosen.weights[0]
    found = sl.combine(votes, rules=["smooth"], repeats=1)["smooth"]
    assert found.gain.mean > 0.03


def test_names_that_never_come_twice_hardly_matter() -> None:
    rows = frame()
    renamed = rows.with_columns(
        pl.concat_str("question", "answer", separator="/").alias("answer"),
        pl.concat_str("question", "gold", separator="/").alias("gold"),
    )
    assert smooth(tally(renamed)) == smooth(tally(rows))
