"""How soon `drift` notices a swapped member, and how often it rings for nothing (`python -m benchmarks.drift`).

Streams of real questions: what to expect and what is seen live are drawn from the same recorded questions and votes
(with replacement, each question's samples in a new order), live with the votes of another model in a member's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import median

import swaplaw as sl
from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.drift import Monitor
from swaplaw.serve.replay import Recorded, recorded
from swaplaw.serve.vote import Vote

SAMPLES, EXPECTED = 8, 200
WEIGHT = Fraction(2, 3)
BOINF = Path(__file__).resolve().parent.parent / "tests" / "data" / "votes" / "best-of-infinity.parquet"


@dataclass(frozen=True)
class Case:
    """A pair as it was judged, and the models that answer in its place."""

    dataset: str
    pair: tuple[str, str]
    live: tuple[str, str]


EXAMS, GPQA, MATH = "renze-temperature", "gpqa-diamond", "math500"
CLAUDE = ("claude-3-opus-20240229", "gpt-4")
OSS = ("gpt-oss-20b", "MetaStone-S1-32B")
CASES = (
    Case(EXAMS, CLAUDE, CLAUDE),
    Case(EXAMS, CLAUDE, ("gpt-35-turbo", "gpt-4")),
    Case(EXAMS, CLAUDE, ("claude-3-opus-20240229", "llama-2-7b-chat")),
    Case(EXAMS, CLAUDE, ("claude-3-opus-20240229", "llama-2-70b-chat")),
    Case(EXAMS, CLAUDE, ("claude-3-opus-20240229", "gpt-35-turbo")),
    Case(EXAMS, CLAUDE, ("mistral-large", "gpt-4")),
    Case(GPQA, OSS, OSS),
    Case(GPQA, OSS, ("EXAONE-Deep-32B", "MetaStone-S1-32B")),
    Case(GPQA, OSS, ("gpt-oss-20b", "EXAONE-Deep-32B")),
    Case(GPQA, OSS, ("gpt-oss-20b", "Phi-4-reasoning")),
    Case(MATH, OSS, OSS),
    Case(MATH, OSS, ("EXAONE-Deep-32B", "MetaStone-S1-32B")),
    Case(MATH, OSS, ("gpt-oss-20b", "EXAONE-Deep-32B")),
)


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


def line(case: Case, number: int, length: int) -> str:
    """A row of the table."""
    alarms = streams(case, number, length=length)
    rung = sum(at is not None for at in alarms)
    middle = median([length + 1 if at is None else at for at in alarms])
    swaps = [f"{old} for {new}" for old, new in zip(case.live, case.pair, strict=True) if old != new]
    when = f"more than {length:,}" if middle > length else f"{middle:.0f}"
    cells = [case.dataset, ", ".join(swaps) or "nothing changed", f"{rung} of {number} within {length:,}", when]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("| votes | live | alarms | median requests until the alarm |\n|---|---|---|---|")
    for case in CASES:
        null = case.live == case.pair
        print(line(case, 300 if null else 40, 400 if null else 1000), flush=True)
