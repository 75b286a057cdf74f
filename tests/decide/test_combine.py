"""All rules on the same folds: what is reported follows from the choices, and a plain twin agrees."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import swaplaw as sl
from swaplaw.decide.crossfit import Scorer
from swaplaw.errors import InputError
from swaplaw.votes.tally import Tally

from support.commands import Finished

FAST = ["best_single", "equal", "log_odds", "smooth", "greedy", "best_pair", "agreement"]


@pytest.fixture(scope="module")
def votes() -> Tally:
    return sl.demo_votes().tally()


@pytest.fixture(scope="module")
def found(votes: Tally) -> sl.decide.Combination:
    return sl.combine(votes, rules=FAST, by="question", folds=4, repeats=1)


def test_in_sample_accuracy_is_the_vote_as_it_would_run(votes: Tally, found: sl.decide.Combination) -> None:
    for one in found.rules:
        choice = found.fitted[one.rule.name].choice
        pooled = Scorer(votes).pooled(choice)
        assert one.accuracy == Fraction(pooled.total, pooled.denominator * len(votes.questions))
        assert list(one.weights.values()) == list(choice.weights)


def test_silence_can_be_told_to_every_rule(votes: Tally) -> None:
    found = {
        how: sl.combine(votes, rules=["best_single"], silence=how, folds=2, repeats=1)["best_single"]
        for how in ("counts", "ignored")
    }
    assert found["counts"].gain.mean == 0
    assert {how: one.silence for how, one in found.items()} == {"counts": "counts", "ignored": "ignored"}
    assert found["ignored"].accuracy >= found["counts"].accuracy


def test_probabilities_of_being_best_add_up_to_one(found: sl.decide.Combination) -> None:
    assert sum(one.probability_best for one in found.rules) == pytest.approx(1)
    assert [one.held_out for one in found.rules] == sorted((one.held_out for one in found.rules), reverse=True)


def test_the_same_seed_gives_the_same_document(votes: Tally, found: sl.decide.Combination) -> None:
    again = sl.combine(votes, rules=FAST, by="question", folds=4, repeats=1)
    assert again.to_dict() == found.to_dict()


def test_prices_make_the_cost(votes: Tally) -> None:
    prices = dict.fromkeys(votes.models, 2.0)
    found = sl.combine(votes, rules=["best_single"], prices=prices, folds=2, repeats=1)
    plain = sl.combine(votes, rules=["best_single"], folds=2, repeats=1)
    assert found["best_single"].cost == 2 * plain["best_single"].cost


def test_frames_and_notebooks_show_a_row_per_rule(found: sl.decide.Combination) -> None:
    assert found.to_frame()["rule"].to_list() == [one.rule.name for one in found.rules]
    assert "smooth" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": ["luck"]}, "there is no rule 'luck'"),
        ({"rules": []}, "no rule is named"),
        ({"models": ["gpt-5"]}, "there is no model 'gpt-5'"),
        ({"models": []}, "no model is named"),
        ({"models": ["gpt-4", "gpt-4"]}, "named twice"),
        ({"folds": 1}, "nothing to hold out"),
    ],
)
def test_what_cannot_be_compared_is_said(votes: Tally, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sl.combine(votes, **options)  # type: ignore[arg-type]


def test_the_command_prints_one_document_with_the_names_of_the_contract(swaplaw: Callable[..., Finished]) -> None:
    models = "gpt-4,claude-3-opus-20240229,mistral-large"
    arguments = ["combine", "demo", "--rules", ",".join(FAST), "--models", models, "--folds", "3", "--repeats", "1"]
    done = swaplaw(*arguments, "--proof", "--json")
    document = json.loads(done.out)
    assert {"dataset", "n", "baseline", "rules", "optimum"} <= set(document)
    assert set(document["baseline"]) == {"model", "accuracy"}
    assert [one["rule"] for one in document["rules"]] != []
    for one in document["rules"]:
        assert {"rule", "needs_labels", "weights", "accuracy", "held_out", "gain"} <= set(one)
        assert set(one["gain"]) == {"mean", "low", "high"}
        assert all(Fraction(weight) > 0 for weight in one["weights"].values())
        assert one["to_optimum"] >= 0
    assert document["optimum"]["proof"] == "exact"
    assert document["optimum"]["accuracy"] == document["optimum"]["bound"]


def test_the_command_prints_a_table_and_draws(swaplaw: Callable[..., Finished], tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    arguments = ["combine", "demo", "--rules", "equal,best_single", "--folds", "2", "--repeats", "1"]
    done = swaplaw(*arguments, "--weights", "gpt-4=0.5, mistral-large=0", "--figure", file)
    assert done.code == 0
    assert "equal (no labels)" in done.out
    assert "the best single model" in done.out
    assert "The weights given get 81 of 100 questions right (81.0%)." in done.out
    drawn = json.loads(file.read_text())
    assert "ways to combine" in json.dumps(drawn)


def test_a_policy_of_six_weighted_members_is_written_and_read(tmp_path: Path) -> None:
    weights = [Fraction(1), *(Fraction(place, 7) for place in range(1, 6))]
    members = tuple(sl.decide.Member(f"model-{place}", weight, 5, 0.1) for place, weight in enumerate(weights))
    policy = sl.decide.Policy(members, "deploy", {}, {"dataset": "demo"})
    policy.write(tmp_path / "policy.json")
    assert sl.decide.read_policy(tmp_path / "policy.json") == policy
    assert policy.cost == pytest.approx(3)
