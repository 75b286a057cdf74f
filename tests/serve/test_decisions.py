"""Early stopping never changes a decision: thousands of random policies against an independent computation.

What is decided is a function of every sample's fate, its answer or that it is lost. `full_decision` works it out from
all fates at once, in Fractions, with nothing of the server's code; `Poll` meets the same fates in a random order and
stops as the policy says.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf
from random import Random
from typing import Any, Literal

import pytest

from swaplaw.decide.policy import Fallback, Member, Policy, Voting
from swaplaw.serve.poll import Poll, UnavailableError
from swaplaw.serve.settings import Served, served_from
from swaplaw.serve.upstream import Asked, Client, Completion, Switchboard, UpstreamError

LOST, REFUSED = "lost", "refused"
Fate = str | None
STOPS: list[dict[str, Any]] = [{"exact": False}, {"exact": True}, {"rounds": 1}, {"rounds": 2}, {"rounds": 3}]


@dataclass(frozen=True)
class Case:
    """A policy and the fate of every sample of one question; None is a reply that says nothing, REFUSED a refusal."""

    weights: list[Fraction]
    fates: list[list[Fate]]
    quorum: Fraction
    degrade: str
    null_win: str
    threshold: Fraction | None
    silence: Literal["counts", "ignored"] = "counts"
    fallback: list[list[Fate]] = field(default_factory=list)
    """The fates of the samples of each fallback model."""


def random_case(rng: Random) -> Case:
    number = rng.choice([1, 2, 2, 2, 3])
    weights = [Fraction(rng.randint(1, 6), rng.randint(1, 4)) for _ in range(number)]
    losses = rng.choice([0.0, 0.0, 0.1, 0.3, 0.6])
    kinds: list[list[Fate]] = [["A", "B"], ["A", "B", None], ["A", "A", "A", "B", None], ["A", "B", "C", None, REFUSED]]
    answers = rng.choice(kinds)

    def fates() -> list[Fate]:
        own = rng.choice([answers, answers, kinds[1][2:], kinds[0][:1]])
        failing = rng.choice([losses, losses, 1.0 if losses else 0.0])
        return [LOST if rng.random() < failing else rng.choice(own) for _ in range(rng.randint(1, 7))]

    return Case(
        weights,
        [fates() for _ in range(number)],
        rng.choice([Fraction(1, 2), Fraction(1, 2), Fraction(1, 5), Fraction(4, 5), Fraction(1)]),
        rng.choice(["renormalise", "renormalise", "primary", "unavailable"]),
        rng.choice(["abstain", "primary", "primary_text", "error"]),
        rng.choice([None, None, None, Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)]),
        rng.choice(["counts", "ignored"]),
        [fates() for _ in range(rng.choice([0, 0, 1, 2]))],
    )


Outcome = tuple[str, Fate]


def full_decision(case: Case) -> Outcome:
    """What all samples together decide: how, and which answer."""
    kept, up = what_is_left(case, case.fates)
    if case.threshold is not None:
        if not up[0] and case.degrade != "renormalise":
            return "unavailable", None
        if up[0] and primary_lead(case, kept[0]) > case.threshold:
            return after(case, kept, [0], primary_up=True)
    if not all(up):
        if case.degrade == "unavailable" or (case.degrade == "primary" and not up[0]):
            return "unavailable", None
        if case.degrade == "primary":
            return after(case, kept, [0], primary_up=True)
    return after(case, kept, [m for m, there in enumerate(up) if there], primary_up=up[0])


def what_is_left(case: Case, fates: list[list[Fate]]) -> tuple[list[list[Fate]], list[bool]]:
    kept = [[fate for fate in own if fate != LOST] for own in fates]
    return kept, [len(votes) >= ceil(case.quorum * len(own)) for votes, own in zip(kept, fates, strict=True)]


def said(case: Case, votes: list[Fate]) -> list[Fate]:
    """The categories that votes are for: a refusal is one without an answer, and so is silence where it counts."""
    return [None if vote == REFUSED else vote for vote in votes if vote is not None or case.silence == "counts"]


def after(case: Case, kept: list[list[Fate]], members: list[int], *, primary_up: bool) -> Outcome:
    tied = best(shares(case, kept, members))
    for votes, up in zip(*what_is_left(case, case.fallback), strict=True):
        if len(tied) != 1 and up:
            own = Counter(vote for vote in said(case, votes) if not tied or vote in tied)
            tied = best(own) or tied
    if not members and not tied:
        return "unavailable", None
    winner = preferred(case, kept, members, tied)
    if winner is not None:
        return "vote", winner
    if primary_up and case.null_win == "primary":
        own_winner = preferred(case, kept, [0], best(shares(case, kept, [0])))
        return ("primary", own_winner) if own_winner is not None else ("abstain", None)
    return ("primary_text" if primary_up and case.null_win == "primary_text" else "abstain"), None


def shares(case: Case, kept: list[list[Fate]], members: list[int]) -> dict[Fate, Fraction]:
    found: dict[Fate, Fraction] = {}
    for m in members:
        for answer, number in Counter(said(case, kept[m])).items():
            found[answer] = found.get(answer, Fraction(0)) + case.weights[m] * Fraction(number, len(kept[m]))
    return found


def best(scores: Mapping[Fate, Fraction | int]) -> list[Fate]:
    return [answer for answer, score in scores.items() if score == max(scores.values())]


def preferred(case: Case, kept: list[list[Fate]], members: list[int], tied: list[Fate]) -> Fate:
    def order(answer: Fate) -> tuple[list[int], bool, str]:
        return [-said(case, kept[m]).count(answer) for m in members], answer is None, answer or ""

    return min(tied, key=order, default=None)


def primary_lead(case: Case, votes: list[Fate]) -> Fraction:
    counts = sorted(Counter(said(case, votes)).values(), reverse=True)
    return Fraction([*counts, 0][0] - [*counts, 0, 0][1], len(votes))


class Scripted(Client):
    """Draws the samples that a case has, each after a random while."""

    fates: list[Fate]
    rng: Random

    async def draw(
        self,
        asked: Asked,
        number: int = 1,
        seed: int | None = None,
        until: float = inf,
        sent: Callable[[int], None] = lambda samples: None,
    ) -> list[Completion]:
        assert seed is not None
        for _ in range(self.rng.randint(0, 5)):
            await asyncio.sleep(0)
        fates = self.fates[seed : seed + number]
        if LOST in fates:
            raise UpstreamError("status 500", status=500)
        return [
            Completion("?" if fate is None else f"ANSWER: {fate}", "content_filter" if fate == REFUSED else "stop")
            for fate in fates
        ]


def served_case(case: Case, stop: dict[str, Any], batch: int) -> Served:
    members = tuple(
        Member(f"m{place}", weight, len(own))
        for place, (weight, own) in enumerate(zip(case.weights, case.fates, strict=True))
    )
    fallback = tuple(Fallback(f"f{place}", len(own)) for place, own in enumerate(case.fallback))
    policy = Policy(members, "x", {}, {}, {}, Voting(threshold=case.threshold), case.silence, fallback)
    serving = {
        "upstreams": {
            one.model: {"base_url": "http://127.0.0.1:9/v1", "batch": batch} for one in policy.asked
        },
        "stop": stop, "quorum": str(case.quorum), "degrade": case.degrade, "null_win": case.null_win,
    }  # fmt: skip
    return served_from(replace(policy, serving=serving), "x")


async def polled(case: Case, stop: dict[str, Any], rng: Random) -> tuple[Outcome, dict[str, Any]]:
    # Which samples one failing call takes with it depends on how they are grouped: batches are for calls that work.
    batch = 1 if any(LOST in own for own in (*case.fates, *case.fallback)) else rng.randint(1, 4)
    served = served_case(case, stop, batch)
    clients = []
    for member, own in zip(served.asked, (*case.fates, *case.fallback), strict=True):
        client = Scripted(member, served.upstream(member), Switchboard(), max_answer_bytes=1000)
        client.fates, client.rng = own, rng
        clients.append(client)
    try:
        decision = await Poll(served, clients, {}, 0).decide()
    except UnavailableError:
        return ("unavailable", None), {}
    return (decision.by, decision.answer), decision.vote


@pytest.mark.parametrize("part", [0, 1, *(pytest.param(part, marks=pytest.mark.slow) for part in range(2, 10))])
def test_random_policies_decide_as_the_full_vote_does(part: int) -> None:
    """A thousand of them, and five thousand with the slow proofs."""
    rng = Random(part)

    async def run() -> None:
        for _ in range(500):
            case = random_case(rng)
            stop = rng.choice(STOPS)
            outcome, vote = await polled(case, stop, rng)
            assert outcome == full_decision(case), (case, stop)
            if vote:
                samples = vote["samples"]
                assert 0 <= samples["saved"] <= samples["planned"]
                assert samples["spent"] <= samples["planned"] + sum(map(len, case.fallback))

    asyncio.run(run())


def test_called_off_samples_are_counted_once_and_drawn_again_as_themselves() -> None:
    """`null_win: primary` after `rounds`: the primary's samples that were called off come back with their seeds."""
    case = Case(
        [Fraction(1), Fraction(3)],
        [["A", "B", "A", "A", "A"], [None] * 5],
        Fraction(1, 2),
        "renormalise",
        "primary",
        None,
    )
    for seed in range(30):
        outcome, vote = asyncio.run(polled(case, {"rounds": 1}, Random(seed)))
        assert outcome == ("primary", "A")
        assert vote["samples"]["saved"] >= 0
