"""A policy of six weighted members: what is served is what replay and the offline vote decide, question by question."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from fractions import Fraction
from typing import Any

import httpx
import polars as pl

import swaplaw as sl
from swaplaw.decide.policy import Member, Policy
from swaplaw.law.weights import vote
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import Script, running, scripted_app
from swaplaw.serve.replay import Recorded, recorded, replay
from swaplaw.serve.stop import StopRule
from swaplaw.serve.vote import Vote
from swaplaw.votes.table import Votes

from support.upstreams import ask, serve

SAMPLES, QUESTIONS = 3, 24
WEIGHTS = {
    "gpt-4": Fraction(1),
    "claude-3-opus-20240229": Fraction(7, 8),
    "gemini-1.5-pro-preview-0409": Fraction(2, 3),
    "mistral-large": Fraction(11, 24),
    "gpt-35-turbo": Fraction(1, 6),
    "llama-2-70b-chat": Fraction(1, 24),
}


def few_votes() -> Votes:
    frame = sl.demo_votes().frame.collect().filter(pl.col("model").is_in(list(WEIGHTS)))
    place = pl.col("sample").rank("ordinal").over("model", "question")
    kept = frame.filter(place <= SAMPLES)
    return sl.votes_from(kept.filter(pl.col("question").is_in(kept["question"].unique().sort().head(QUESTIONS))))


def offline(script: Recorded) -> dict[str, frozenset[Vote]]:
    """The tie set of every question: shares times weights, in Fractions."""
    found = {}
    for question in script.right:
        pooled: dict[Vote, Fraction] = defaultdict(Fraction)
        for model, weight in WEIGHTS.items():
            for answer in script.answers[model, question]:
                pooled[answer] += weight / len(script.answers[model, question])
        found[question] = frozenset(answer for answer, value in pooled.items() if value == max(pooled.values()))
    return found


async def ask_all(url: str, questions: list[str]) -> dict[str, dict[str, Any]]:
    async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:
        replies = {}
        for question in questions:
            response = await client.post("/chat/completions", json=ask(f"question {question}"))
            assert response.status_code == 200, response.text
            replies[question] = response.json()["swaplaw"]
        return replies


def test_six_members_are_served_as_they_are_replayed_and_voted_offline() -> None:
    votes = few_votes()
    script, tally = recorded(votes, list(WEIGHTS)), votes.tally()
    ties = offline(script)
    assert len(ties) == QUESTIONS

    law = vote(tally, [tally.index(model) for model in WEIGHTS], list(WEIGHTS.values()))
    for place, question in enumerate(tally.questions):
        gold_in = script.right[question] & ties[question]
        assert law.ties[place] == (len(ties[question]) if gold_in else 0)

    policy = Policy(tuple(Member(model, weight, SAMPLES) for model, weight in WEIGHTS.items()), "deploy", {}, {})
    (played,) = replay(script, policy, {"all": StopRule(exact=False)})
    assert {one.question: frozenset(one.ties) for one in played.decisions} == ties

    with running(scripted_app(Script(script.answers))) as upstream:
        members = [(model, str(weight), SAMPLES) for model, weight in WEIGHTS.items()]
        served = serve(upstream, *members, upstream={"batch": SAMPLES, "timeout": 60.0}, seed=0, stop={"exact": False})
        with running(create_app([served])) as url:
            replies = asyncio.run(ask_all(url, sorted(script.right)))
    assert {question: frozenset([reply["winner"], *reply["ties"]]) for question, reply in replies.items()} == ties
    assert {q: reply["winner"] for q, reply in replies.items()} == {
        one.question: one.winner for one in played.decisions
    }
