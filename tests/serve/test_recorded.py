"""Recorded real votes, replayed over real HTTP: what is served equals the offline pooled vote on every question."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import httpx
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.policy import Fallback, Member, Policy
from swaplaw.law.weights import vote
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import Script, running, scripted_app
from swaplaw.serve.replay import Decided, Recorded, recorded, replay
from swaplaw.serve.settings import served_from
from swaplaw.serve.stop import StopRule
from swaplaw.votes.table import Votes

from support.upstreams import ask, serve

N = 24
CONFIDENT = ("claude-3-opus-20240229", "gpt-4", Fraction(2, 3))
SHAKY = ("gpt-35-turbo", "llama-2-70b-chat", Fraction(1))


@pytest.fixture(scope="module")
def first_votes() -> Votes:
    """The first 24 votes, sampled at temperature 0.8 or above, of every model and question that has so many."""
    frame = sl.demo_votes().frame.collect()
    place = pl.col("sample").rank("ordinal").over("model", "question")
    return sl.votes_from(frame.filter(place <= N, pl.len().over("model", "question") >= N))


def offline(votes: Votes, a: str, b: str, weight: Fraction) -> dict[str, frozenset[str | None]]:
    """The tie set of every question: shares times weights, Eq. (vote), in Fractions."""
    cast = votes.frame.filter(pl.col("model").is_in([a, b])).select("question", "model", "answer").collect()
    vectors: dict[str, dict[str | None, Fraction]] = {}
    for question, model, answer in cast.iter_rows():
        vector = vectors.setdefault(question, defaultdict(Fraction))
        vector[answer] += Fraction(1, N) * (1 if model == a else weight)
    return {
        question: frozenset(answer for answer, value in vector.items() if value == max(vector.values()))
        for question, vector in vectors.items()
    }


async def ask_all(url: str, questions: list[str]) -> Mapping[str, dict[str, Any]]:
    limit = asyncio.Semaphore(8)
    async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:

        async def one(question: str) -> tuple[str, dict[str, Any]]:
            async with limit:
                response = await client.post("/chat/completions", json=ask(f"question {question}"))
            assert response.status_code == 200, response.text
            return question, response.json()

        return dict(await asyncio.gather(*map(one, questions)))


def served(script: Recorded, a: str, b: str, weight: Fraction, batch: int, **serving: Any) -> dict[str, dict[str, Any]]:
    with running(scripted_app(Script(script.answers))) as upstream:
        options = {"batch": batch, "timeout": 60.0}
        policy = serve(upstream, (a, "1", N), (b, str(weight), N), upstream=options, seed=0, price=1.0, **serving)
        with running(create_app([policy])) as url:
            return dict(asyncio.run(ask_all(url, sorted(script.right))))


def test_text_in_parts_asks_the_same_question(first_votes: Votes) -> None:
    script = recorded(first_votes, ["gpt-4"])
    with running(scripted_app(Script(script.answers))) as url:
        asked = [f"question {question}" for question in sorted(script.right)[:20]]

        def reply(content: Any) -> Any:
            body = {"model": "gpt-4", "seed": 0, "messages": [{"role": "user", "content": content}]}
            return httpx.post(f"{url}/chat/completions", json=body, trust_env=False).json()["choices"]

        assert [reply(text) for text in asked] == [reply([{"type": "text", "text": text}]) for text in asked]


@pytest.mark.parametrize(
    ("pair", "exact", "batch"), [(CONFIDENT, True, 1), (CONFIDENT, False, N), (SHAKY, True, 4), (SHAKY, False, N)]
)
def test_served_equals_offline(
    first_votes: Votes, pair: tuple[str, str, Fraction], exact: bool, batch: int, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, weight = pair
    script = recorded(first_votes, [a, b])
    tie_sets = offline(first_votes, a, b, weight)
    replies = served(script, a, b, weight, batch, stop={"exact": exact})
    assert len(replies) == len(tie_sets) == 100

    tally = first_votes.tally()
    law = vote(tally, [tally.index(a), tally.index(b)], [Fraction(1), weight])
    for number, question in enumerate(tally.questions):
        reply = replies[question]["swaplaw"]
        assert {reply["winner"], *reply["ties"]} == tie_sets[question]
        gold_in = script.right[question] & tie_sets[question]
        assert law.ties[number] == (len(tie_sets[question]) if gold_in else 0)
        said = replies[question]["choices"][0]["message"]["content"]
        assert (f"({reply['winner']})" in said) == (reply["winner"] is not None)

    planned = sum(reply["swaplaw"]["samples"]["planned"] for reply in replies.values())
    saved = sum(reply["swaplaw"]["samples"]["saved"] for reply in replies.values())
    assert planned == 2 * N * 100
    with capsys.disabled():
        print(f"\n{a} + {b}: {saved} of {planned} samples saved ({100 * saved / planned:.1f}%), exact {exact}")
    if not exact:
        assert saved == 0
    elif pair is CONFIDENT:
        assert saved >= 0.3 * planned
    winners = {question: reply["swaplaw"]["winner"] for question, reply in replies.items()}
    full = replayed(script, pair, exact)
    assert winners == {one.question: one.winner for one in full}
    assert saved == planned - sum(sum(one.spent) for one in full)


def replayed(script: Recorded, pair: tuple[str, str, Fraction], exact: bool) -> tuple[Decided, ...]:
    a, b, weight = pair
    policy = Policy((Member(a, Fraction(1), N), Member(b, weight, N)), "test", {}, {})
    (played,) = replay(script, policy, {"one": StopRule(exact=exact)})
    assert played.changed == 0
    return played.decisions


@pytest.mark.parametrize("silence", ["counts", "ignored"])
def test_silence_and_fallback_are_served_and_replayed_as_judged(
    first_votes: Votes, silence: Literal["counts", "ignored"]
) -> None:
    """Two shaky members with few samples leave ties and say nothing at times; two more models are asked there."""
    few = sl.votes_from(first_votes.frame.filter(pl.int_range(pl.len()).over("model", "question") < 4).collect())
    members = (Member(SHAKY[1], Fraction(1), 4), Member("llama-2-7b-chat", Fraction(1), 4))
    order = ("mistral-large", "gpt-4")
    policy = Policy(members, "test", {}, {}, silence=silence, fallback=tuple(Fallback(model, 4) for model in order))
    script = recorded(few, policy.models, silence=silence)
    tally = few.tally().silence(silence)
    places = [tally.index(model) for model in policy.models]
    law = vote(tally, places[:2], [Fraction(1), Fraction(1)], places[2:])

    (played,) = replay(script, policy, {"exact": StopRule()})
    assert played.accuracy == Fraction(law.total, law.denominator * len(tally.questions))
    asked = [sum(one.spent[2:]) > 0 for one in played.decisions]
    assert 0 < sum(asked) < len(asked)

    with running(scripted_app(Script(script.answers))) as upstream:
        serving = {
            "upstreams": {model: {"base_url": upstream} for model in policy.models},
            "seed": 0,
            "stop": {"exact": True},
            "answer": {"read": "choice", "choices": "ABCDE"},
        }
        with running(create_app([served_from(replace(policy, serving=serving), "pool")])) as url:
            replies = asyncio.run(ask_all(url, sorted(script.right)))
    for one in played.decisions:
        told = replies[one.question]["swaplaw"]
        assert (told["winner"], set(told["ties"])) == (one.winner, set(one.ties[1:])), one.question
        assert told["samples"]["spent"] == sum(one.spent)
