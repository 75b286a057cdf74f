"""Asking others only where the first is unsure: what the front says is what replay decides and what is served."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest

import swaplaw as sl
from serve.test_recorded import ask_all
from swaplaw.decide.crossfit import Choice
from swaplaw.decide.front import Asked, Plan
from swaplaw.decide.policy import Fallback, Member, Policy, Silence, Voting
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import Script, running, scripted_app
from swaplaw.serve.replay import recorded, replay
from swaplaw.serve.settings import served_from
from swaplaw.serve.stop import StopRule
from swaplaw.votes.table import Votes

A, B, C = "claude-3-opus-20240229", "gpt-4", "gpt-35-turbo"
SAMPLES = 12


@pytest.fixture(scope="module")
def votes() -> Votes:
    frame = sl.demo_votes().frame.collect()
    place = pl.col("sample").rank("ordinal").over("model", "question")
    return sl.votes_from(frame.filter(place <= SAMPLES, pl.col("model").is_in([A, B, C])))


def policy_of(plan: Plan, names: tuple[str, ...]) -> Policy:
    size = len(plan.choice.members)
    members = tuple(Member(name, weight, SAMPLES) for name, weight in zip(names, plan.choice.weights, strict=False))
    fallback = tuple(Fallback(name, SAMPLES) for name in names[size:])
    assert plan.lead != "silent"
    voting = Voting(threshold=plan.lead)
    return Policy(members, "deploy_pair", {}, {}, {}, voting, plan.choice.silence, fallback)


@pytest.mark.parametrize("silence", ["counts", "ignored"])
@pytest.mark.parametrize("lead", [None, Fraction(0), Fraction(1, 4), Fraction(2, 3)])
def test_what_is_judged_is_what_is_replayed(votes: Votes, lead: Fraction | None, silence: Silence) -> None:
    tally = votes.tally()
    names = (A, B, C)
    members = tuple(map(tally.index, names))
    plan = Plan(Choice(members[:2], (Fraction(1), Fraction(2, 3)), silence, members[2:]), None, lead)
    judged = Asked(tally).outcome(plan)
    rules = {"all": StopRule(exact=False), "exact": StopRule()}
    for row in replay(recorded(votes, list(names), silence=silence), policy_of(plan, names), rules):
        assert row.changed == 0
        assert float(row.accuracy) == pytest.approx(judged.scores.mean(), abs=1e-12)


def test_what_is_judged_is_what_is_served(votes: Votes) -> None:
    tally = votes.tally()
    plan = Plan(Choice((tally.index(A), tally.index(B)), (Fraction(1), Fraction(2, 3))), None, Fraction(1, 4))
    judged, policy = Asked(tally).outcome(plan), policy_of(plan, (A, B))
    script = recorded(votes, [A, B])
    with running(scripted_app(Script(script.answers))) as upstream:
        serving = {"upstreams": {m.model: {"base_url": upstream, "batch": SAMPLES} for m in policy.members}, "seed": 0}
        answer = {"read": "choice", "choices": "ABCDE"}
        served = served_from(replace(policy, serving={**serving, "answer": answer}), "pool")
        with running(create_app([served])) as url:
            replies = asyncio.run(ask_all(url, sorted(tally.questions)))
    decided = {question: reply["swaplaw"] for question, reply in replies.items()}
    (played,) = replay(script, policy, {"as served": StopRule(rounds=2)})
    assert {q: vote["winner"] for q, vote in decided.items()} == {d.question: d.winner for d in played.decisions}
    asked = sum(vote["members"][1]["votes"] > 0 for vote in decided.values())
    assert asked == (judged.calls[1] > 0).sum()
