"""Rules: what each must do, whatever its details."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.crossfit import Choice, Scorer, alone, own_totals
from swaplaw.decide.rules import RULES, VOTERS, likeliest, rule, shares_of, smooth_up_to
from swaplaw.errors import InputError
from swaplaw.votes.tally import Tally

from support import rule_votes
from support.corpora import corpora
from support.twin import Corpus
from support.worlds import independent, junk, tally_of, vote_counts

ALL = ("smooth", "chain", "best_single", "equal", "log_odds", "agreement", "greedy", "best_pair", "best_panel")


def world(known: Sequence[float], samples: int = 5, questions: int = 300, seed: int = 0) -> Tally:
    rng = np.random.default_rng(seed)
    return tally_of(vote_counts(independent(rng, questions, known), samples, rng))


def right(tally: Tally, choice: Choice) -> Fraction:
    pooled = Scorer(tally).pooled(choice)
    return Fraction(pooled.total, pooled.denominator * len(tally.questions))


def test_the_list_of_rules() -> None:
    assert tuple(RULES) == ALL
    with pytest.raises(InputError, match="there is a rule 'equal' already"):
        rule("equal", "again")(lambda tally: alone(0))


@pytest.mark.parametrize("name", ALL)
def test_names_and_orders_of_options_do_not_matter(name: str) -> None:
    rows = rule_votes.frame()
    plain, renamed = rule_votes.tally(rows), rule_votes.tally(rule_votes.relabelled(rows))
    assert RULES[name].on_all(plain) == RULES[name].on_all(renamed)


@pytest.mark.parametrize("name", ["equal", "agreement"])
def test_rules_without_labels_do_not_look_at_gold(name: str) -> None:
    rows = rule_votes.frame()
    other = rows.with_columns(gold=rows["gold"].replace({"A": "B", "B": "C", "C": "D", "D": "A"}))
    assert not RULES[name].needs_labels
    assert RULES[name].on_all(rule_votes.tally(rows)) == RULES[name].on_all(rule_votes.tally(other))


@settings(deadline=None, max_examples=30)
@given(case=corpora(models=3, questions=6, missing=False), data=st.data())
def test_the_best_pair_is_the_best_of_all_curves(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally().silence("ignored")
    n = len(tally.questions)
    part = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)))
    (chosen,) = RULES["best_pair"].choose(tally, part[None])
    train = tally.select(questions=part)
    singles = [Fraction(own.total, own.denominator * len(train.questions)) for own in train.scores]
    best = max(singles)
    for a, b in combinations(train.models, 2):
        for pair in ((a, b), (b, a)):
            curve = sl.curve(train, *pair)
            best = max(best, curve.best_plateau.outcome.accuracy)
    assert right(train, chosen) == best
    assert len(chosen.members) == 2 or best == max(singles)


def test_smooth_finds_the_minimum_of_its_loss() -> None:
    tally = world((0.6, 0.5, 0.45))
    shares = shares_of(tally)
    found = likeliest(shares)

    def loss(weights: np.ndarray) -> float:
        return float(shares.probabilities(weights, unnamed=1)[1][shares.first].mean() + 0.01 * weights @ weights)

    for step in np.vstack([np.eye(3), -np.eye(3)]):
        assert loss(np.maximum(found + 0.01 * step, 0)) >= loss(found) - 1e-9


def test_smooth_pools_peers_and_asks_the_rest_in_order_of_accuracy() -> None:
    rng = np.random.default_rng(3)
    answers = np.concatenate([independent(rng, 400, (0.6, 0.5, 0.45)), junk(rng, 400, 4)[1:]])
    tally = tally_of(vote_counts(answers, 8, rng))
    choice = RULES["smooth"].on_all(tally)
    assert choice.members[0] == 0
    assert set(choice.members) >= {0, 1, 2}
    assert sum(weight for model, weight in zip(choice.members, choice.weights, strict=True) if model > 2) < Fraction(
        1, 4
    )
    totals = own_totals(tally, np.ones((1, 400), dtype=bool))[0][0]
    assert list(choice.fallback) == sorted(choice.fallback, key=lambda model: (-totals[model], model))
    assert set(choice.members) | set(choice.fallback) == set(range(6))
    assert len(choice.members) <= VOTERS
    assert len(smooth_up_to(2).on_all(tally).everyone) == 2


def test_copies_of_a_model_do_not_change_what_smooth_decides() -> None:
    rows = rule_votes.frame()
    copied = rule_votes.tally(rule_votes.with_copy(rows, "gpt-oss-20b", "zz"))
    plain = rule_votes.tally(rows)
    ours, theirs = (right(each, RULES["smooth"].on_all(each)) for each in (plain, copied))
    assert float(abs(ours - theirs)) < 0.03


def test_models_below_half_are_worth_something_among_many_options() -> None:
    """With four options, one who is right in 40% of cases knows much; one who guesses, next to nothing."""
    tally = world((0.35, 0.3, 0.3), samples=1, questions=1000)
    choice = RULES["log_odds"].on_all(tally)
    assert len(choice.members) == 3
    rng = np.random.default_rng(0)
    guessing = tally_of(vote_counts(junk(rng, 1000, 3), 1, rng))
    weights = dict(zip(*(lambda made: (made.members, made.weights))(RULES["log_odds"].on_all(guessing)), strict=True))
    assert all(weights.get(model, 0) < Fraction(1, 6) for model in (1, 2))


def test_greedy_is_never_worse_in_sample_than_its_first_model() -> None:
    for seed in range(5):
        tally = world((0.5, 0.45, 0.4, 0.3), seed=seed, questions=80)
        assert right(tally, RULES["greedy"].on_all(tally)) >= right(tally, RULES["best_single"].on_all(tally))


@pytest.mark.parametrize("name", ALL)
def test_one_model_is_left_alone(name: str) -> None:
    tally = world((0.5,), questions=40)
    assert RULES[name].on_all(tally).members == (0,)
