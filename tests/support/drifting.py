"""How soon `drift` notices a swapped member, and how often it rings for nothing.

Streams of real questions: what to expect and what is seen live are drawn from the same recorded questions and votes
(with replacement, each question's samples in a new order), live with the votes of another model in a member's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random

import swaplaw as sl
from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.drift import Monitor
from swaplaw.serve.replay import Recorded, recorded
from swaplaw.serve.vote import Vote

SAMPLES, EXPECTED = 8, 200
WEIGHT = Fraction(2, 3)
BOINF = Path(__file__).resolve().parent.parent / "data" / "votes" / "best-of-infinity.parquet"


@dataclass(frozen=True)
class Case:
    """A pair as it was judged, and the models that answer in its place."""

    dataset: str
    pair: tuple[str, str]
    live: tuple[str, str]


EXAMS, GPQA, MATH = "renze-temperature", "gpqa-diamond", "math500"
CLAUDE = ("claude-3-opus-20240229", "gpt-4")
OSS = ("gpt-oss-20b", "MetaStone-S1-32B")


def votes_of(case: Case) -> Recorded:
    """The recorded votes of all models of a case."""
    votes = sl.demo_votes() if case.dataset == EXAMS else sl.read_votes([str(BOINF)])
    return recorded(votes, sorted({*case.pair, *case.live}), case.dataset)


def streams(case: Case, number: int, *, length: int = 400, seed: int = 0) -> list[int | None]:
    """At which request the alarm rang on each of several streams; None where it did not."""
    rng, votes = Random(seed), votes_of(case)
    members = tuple(
        Member(model, weight, SAMPLES) for model, weight in zip(case.pair, (Fraction(1), WEIGHT), strict=True)
    )
    policy = Policy(members, "test", {}, {})
    questions = sorted(
        q for q in votes.right if all(len(votes.answers.get((m, q), ())) >= SAMPLES for m in (*case.pair, *case.live))
    )

    def drawn(models: Sequence[str], question: str) -> list[list[Vote]]:
        return [rng.sample(votes.answers[model, question], SAMPLES) for model in models]

    found = []
    for _ in range(number):
        expected = [drawn(case.pair, question) for question in rng.choices(questions, k=EXPECTED)]
        monitor = Monitor(policy, expected, seed=rng.randrange(2**32))
        for question in rng.choices(questions, k=length):
            monitor.observe([dict(enumerate(own)) for own in drawn(case.live, question)])
            if monitor.alarm:
                break
        found.append(monitor.alarmed_at)
    return found
