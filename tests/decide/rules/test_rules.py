"""The rules beside smooth: what each chooses, by hand and against plain twins."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import RULES, CombiningRule
from swaplaw.decide.rules._rationals import accuracies
from swaplaw.decide.rules.agreement import abilities
from swaplaw.decide.rules.information import channel
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

from support.rule_votes import frame, named, relabelled, tally


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return frame().filter(pl.col("sample") < 10)


@pytest.fixture(scope="module")
def votes(rows: pl.DataFrame) -> Tally:
    return tally(rows)


def score(votes: Tally, choice: Choice) -> Fraction:
    pooled = vote(votes, choice.members, choice.weights)
    return Fraction(pooled.total, pooled.denominator)


def test_all_the_rules_are_there() -> None:
    expected = {"best_single", "equal", "accuracy", "log_odds", "smooth", "greedy", "best_pair", "best_panel"}
    assert expected | {"agreement", "information"} <= set(RULES)
    assert {name for name in RULES if not RULES[name].needs_labels} == {"equal", "agreement"}


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_names_a_primary_of_weight_1_and_no_one_twice(votes: Tally, name: str) -> None:
    choice = RULES[name].fit(votes)
    assert choice.weights[0] == 1
    assert len(set(choice.members)) == len(choice.members) == len(choice.weights)
    assert all(weight > 0 for weight in choice.weights)


@pytest.mark.parametrize("name", list(RULES))
def test_no_rule_minds_how_options_are_called(rows: pl.DataFrame, votes: Tally, name: str) -> None:
    assert RULES[name].fit(tally(relabelled(rows))) == RULES[name].fit(votes)


@pytest.mark.parametrize("name", list(RULES))
def test_one_model_is_all_there_is_to_choose(rows: pl.DataFrame, name: str) -> None:
    single = tally(rows.filter(pl.col("model") == "gpt-oss-20b"))
    assert RULES[name].fit(single) == Choice((0,), (Fraction(1),))


def test_accuracy_and_log_odds_follow_their_formulas(votes: Tally) -> None:
    own, n = accuracies(votes), len(votes.questions)
    by_accuracy, by_odds = (named(votes, RULES[name].fit(votes)) for name in ("accuracy", "log_odds"))
    odds = [log((float(p) * n + 0.5) / (n - float(p) * n + 0.5)) for p in own]
    for model, p, o in zip(votes.models, own, odds, strict=True):
        assert Fraction(by_accuracy[model]) == Fraction(round(24 * float(p) / float(max(own))), 24)
        assert Fraction(by_odds[model]) == Fraction(round(24 * o / max(odds)), 24)


def test_greedy_is_at_least_as_good_as_every_step_before(votes: Tally) -> None:
    choice = RULES["greedy"].fit(votes)
    best = max(accuracies(votes)) * len(votes.questions)
    assert score(votes, choice) >= best
    # No companion of the most accurate model at equal weights does better: the bag of two took the best of them.
    first = max(range(len(votes.models)), key=lambda model: accuracies(votes)[model])
    others = [other for other in range(len(votes.models)) if other != first]
    pairs = [Choice((first, other), (Fraction(1), Fraction(1))) for other in others]
    assert score(votes, choice) >= max(score(votes, pair) for pair in pairs)


def test_best_pair_is_as_good_as_the_best_curve(votes: Tally) -> None:
    curves = [sl.curve(votes, *pair) for pair in [(a, b) for a in votes.models for b in votes.models if a < b]]
    best = max([max(accuracies(votes)), *(one.best_plateau.outcome.accuracy for one in curves)])
    assert score(votes, RULES["best_pair"].fit(votes)) == best * len(votes.questions)


def test_best_pair_chooses_on_parts_as_on_tallies_of_them(votes: Tally) -> None:
    rng = np.random.default_rng(1)
    parts = rng.random((3, len(votes.questions))) < 0.7
    rule = RULES["best_pair"]
    assert rule.on(votes)(parts) == [rule.fit(votes.select(questions=part)) for part in parts]


def test_best_panel_is_at_least_as_good_as_best_pair_here(votes: Tally) -> None:
    assert score(votes, RULES["best_panel"].fit(votes)) >= score(votes, RULES["best_pair"].fit(votes))


@pytest.mark.parametrize("seed", [0, 1])
def test_permuting_gold_does_not_change_agreement(rows: pl.DataFrame, votes: Tally, seed: int) -> None:
    golds = rows.select("question", "gold").unique().sort("question")
    shuffled = golds.with_columns(gold=pl.col("gold").shuffle(seed))
    assert shuffled["gold"].to_list() != golds["gold"].to_list()
    other = tally(rows.drop("gold").join(shuffled, on="question"))
    assert RULES["agreement"].fit(other) == RULES["agreement"].fit(votes)


def test_agreement_does_not_look_at_gold_even_where_nobody_votes_for_it(rows: pl.DataFrame, votes: Tally) -> None:
    nowhere = tally(rows.with_columns(gold=pl.lit("Z")))
    assert RULES["agreement"].fit(nowhere) == RULES["agreement"].fit(votes)


def test_agreement_finds_who_is_right_without_labels() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(list("ABCD"), 400)
    skill = {"a": 0.9, "b": 0.7, "c": 0.7, "d": 0.6, "e": 0.25}
    table = pl.concat(
        pl.DataFrame(
            {
                "question": [f"q{place:03}" for place in range(400)],
                "model": model,
                "answer": np.where(rng.random(400) < p, truth, rng.choice(list("ABCD"), 400)),
                "gold": "A",
            }
        )
        for model, p in skill.items()
    ).with_columns(sample=pl.lit(0))
    weights = named(tally(table), RULES["agreement"].fit(tally(table)))
    assert weights["a"] == "1"
    assert Fraction(weights["b"]) > Fraction(weights.get("e", "0"))


def test_nothing_to_agree_on_gives_no_weight() -> None:
    table = pl.DataFrame({"question": ["q", "q"], "model": ["a", "b"], "answer": [None, None], "gold": ["A", "A"]})
    nulls = tally(table.with_columns(pl.col("answer").cast(pl.String), sample=pl.lit(0)))
    assert RULES["agreement"].fit(nulls) == Choice((0,), (Fraction(1),))


def test_a_channel_carries_all_or_nothing_at_its_ends() -> None:
    assert channel(np.array([1.0, 0.25, 0.1]), 4.0) == pytest.approx([2.0, 0.0, 0.0], abs=1e-6)


def test_a_rule_of_ones_own_is_compared_like_the_others(votes: Tally) -> None:
    rule = CombiningRule("last", "the last model alone", lambda some: Choice((len(some.models) - 1,), (Fraction(1),)))
    sl.decide.register(rule)
    try:
        found = sl.combine(votes, rules=["last"], folds=2, repeats=1)
        assert list(found["last"].weights) == [votes.models[-1]]
    finally:
        RULES.unregister("last")


def test_abilities_need_questions() -> None:
    from swaplaw.decide.rules._shares import shares_of

    assert abilities(shares_of(tally(frame())).answered()).min() >= 0
