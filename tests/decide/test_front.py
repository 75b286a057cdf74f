"""Operating points: what they score and cost, counted plainly; and what the front says of a fleet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.crossfit import Choice
from swaplaw.decide.front import Asked, Lead, Plan, front
from swaplaw.decide.policy import Silence
from swaplaw.errors import InputError

from support.commands import Finished
from support.corpora import corpora
from support.twin import Corpus, best, score

Votes = Mapping[str, "Counter[str | None]"]


def plainly(votes: Votes, gold: str, plan: Plan, names: list[str]) -> tuple[Fraction, list[int]]:
    """What a plan scores on one question, and whom it asks how often, in words of one syllable."""
    silent = (None,) if plan.choice.silence == "ignored" else ()
    members, fallback = names[: len(plan.choice.members)], names[len(plan.choice.members) :]
    weights = dict(zip(members, plan.choice.weights, strict=True))
    first = {answer: n for answer, n in votes[members[0]].items() if answer not in silent}
    ranked = [*sorted(first.values(), reverse=True), 0, 0]
    lead = Fraction(ranked[0] - ranked[1], votes[members[0]].total())
    if ranked[0] if plan.lead == "silent" else plan.lead is not None and lead > plan.lead:
        weights = {members[0]: Fraction(1)}
    calls = [votes[name].total() if name in weights else 0 for name in members]
    asked: list[str] = []
    for name in fallback:
        total: Counter[str | None] = Counter()
        for member, weight in weights.items():
            for answer, number in votes[member].items():
                if answer not in silent:
                    total[answer] += weight * Fraction(number, votes[member].total())  # type: ignore[assignment]
        winners = best(total)
        for other in asked:
            winners = (
                best({a: n for a, n in votes[other].items() if a not in silent and a in (winners or votes[other])})
                or winners
            )
        if len(winners) != 1:
            asked.append(name)
    calls += [votes[name].total() if name in asked else 0 for name in fallback]
    ballots = {name: {"q": own} for name, own in votes.items()}
    return score(weights, ballots, "q", gold, silent, asked), calls


def drawn_plan(data: st.DataObject) -> Plan:
    order = data.draw(st.permutations(range(3)))
    members = data.draw(st.integers(1, 3))
    weights = tuple(data.draw(st.fractions("1/4", 2, max_denominator=4)) for _ in range(members))
    silence: Silence = data.draw(st.sampled_from(["counts", "ignored"]))
    lead: Lead = data.draw(st.sampled_from([None, "silent", Fraction(0), Fraction(1, 4), Fraction(1, 2)]))
    return Plan(Choice(tuple(order[:members]), weights, silence, tuple(order[members:])), None, lead)


@settings(deadline=None)
@given(case=corpora(models=3, missing=False), data=st.data())
def test_all_votes_are_decided_as_a_plain_count_does(case: Corpus, data: st.DataObject) -> None:
    tally, plan = sl.votes_from(case.frame()).tally(), drawn_plan(data)
    found = Asked(tally).outcome(plan)
    names = [tally.models[model] for model in plan.models]
    for place, question in enumerate(tally.questions):
        votes = {name: case.ballots[name][question] for name in names}
        plain, calls = plainly(votes, case.gold[question], plan, names)
        assert (found.scores[place], found.calls[:, place].tolist()) == (float(plain), calls)


@settings(deadline=None, max_examples=40)
@given(case=corpora(models=3, missing=False, questions=2), samples=st.integers(1, 3), data=st.data())
def test_fewer_samples_are_the_mean_over_all_that_could_be_drawn(
    case: Corpus, samples: int, data: st.DataObject
) -> None:
    tally, plan = sl.votes_from(case.frame()).tally(), drawn_plan(data)
    plan = Plan(plan.choice, samples, plan.lead)
    found = Asked(tally).outcome(plan)
    names = [tally.models[model] for model in plan.models]
    for place, question in enumerate(tally.questions):
        worlds: list[dict[str, Counter[str | None]]] = [{}]
        for name in names:
            cast = list(case.ballots[name][question].elements())
            hands = [Counter(hand) for hand in combinations(cast, min(samples, len(cast)))]
            worlds = [{**world, name: hand} for world in worlds for hand in hands]
        plain = [plainly(world, case.gold[question], plan, names) for world in worlds]
        assert found.scores[place] == pytest.approx(float(sum(each for each, _ in plain) / len(plain)))
        calls = np.mean([each for _, each in plain], axis=0)
        assert found.calls[:, place] == pytest.approx(calls)


def test_one_model_with_many_votes_is_a_sum_and_not_a_draw() -> None:
    """Beside a long simulation, where listing all ballots would take for ever."""
    counts = {"A": 23, "B": 21, "C": 20, None: 16}
    rows = [
        {"question": "q", "model": "m", "answer": answer, "gold": "A"} for answer, n in counts.items() for _ in range(n)
    ]
    tally = sl.votes_from(pl.DataFrame(rows)).tally()
    found = Asked(tally).outcome(Plan(Choice((0,), (Fraction(1),), "ignored"), 24)).scores[0]
    drawn = np.random.default_rng(0).multivariate_hypergeometric(list(counts.values()), 24, size=200_000)[:, :3]
    tied = drawn == drawn.max(axis=1, keepdims=True)
    assert found == pytest.approx((tied[:, 0] / tied.sum(axis=1)).mean(), abs=0.004)


@pytest.fixture(scope="module")
def demo() -> sl.decide.Front:
    return front(sl.demo_votes(), repeats=1)


def test_points_go_from_one_call_to_the_whole_panel(demo: sl.decide.Front) -> None:
    prices = [point.price for point in demo.points]
    assert prices == sorted(prices)
    assert demo.points[0].calls == 1
    assert len(demo.points[-1].models) > 2
    marked = [point.accuracy for point in demo.best]
    assert marked == sorted(set(marked))
    for place, point in enumerate(demo.points):
        assert point.on_front == all(other.accuracy < point.accuracy for other in demo.points[:place])


def test_asking_only_where_needed_costs_less_and_asking_up_to_a_larger_lead_more(demo: sl.decide.Front) -> None:
    lazy = {point.ask_next_if: point.calls for point in demo.points if point.size > 1 and point.plan.samples is None}
    assert lazy["silent"] <= lazy["tied"] <= lazy["1/4"] <= lazy["1/2"] <= lazy["3/4"] <= lazy[None]


def test_where_a_fallback_gains_the_front_says_so() -> None:
    """The first is silent on a fifth of the questions, on which the second is always right."""
    rows = []
    for number in range(100):
        quiet, right = number % 5 == 0, number % 6 > 0
        gold, wrong = ("A", "B") if number % 2 else ("B", "A")
        said = {"a": None if quiet else gold if right else wrong, "b": gold if quiet or number % 7 < 3 else wrong}
        rows += [
            {"question": f"q{number:03}", "model": name, "answer": each, "gold": gold} for name, each in said.items()
        ]
    found = front(pl.DataFrame(rows), primary="a", secondary="b")
    best = found.best[-1]
    assert best.gain.mean > 0.1
    assert best.calls < 1.3


def test_prices_bring_in_cheap_models_and_a_budget_keeps_the_cheap_points() -> None:
    prices = {"gpt-4": 10.0, "gpt-35-turbo": 1.0}
    found = front(sl.demo_votes(), models=list(prices), prices=prices, repeats=1, budget=25)
    assert all(point.cost is not None and point.cost <= 25 for point in found.points)
    assert found.points[0].models == ("gpt-35-turbo",)
    assert found.points[0].cost == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0.5}, "buys no sample"),
        ({"samples": [0]}, "whole numbers"),
        ({"primary": "gpt-4"}, "name both"),
        ({"models": ["gpt-4", "gpt-4"]}, "named twice"),
        ({"prices": {"gpt-4": 1.0}}, "no price for"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        front(sl.demo_votes(), repeats=1, **options)  # type: ignore[arg-type]


def test_the_command_has_the_keys_of_the_contract(swaplaw: Callable[..., Finished]) -> None:
    arguments = ("front", "demo", "--primary", "gpt-4", "--secondary", "claude-3-opus-20240229", "--samples", "1,2")
    (point, *_) = json.loads(swaplaw(*arguments, "--json").out)["points"]
    assert set(point) == {
        *("members", "fallback", "silence", "ask_next_if", "calls", "cost", "accuracy", "gain", "low", "high"),
        *("proven", "on_front"),
    }
    assert set(point["members"][0]) == {"model", "weight", "samples"}
    shown = swaplaw(*arguments).out
    assert "gpt-4, 1 call" in shown
    assert max(map(len, shown.splitlines()[2:6])) <= 120
