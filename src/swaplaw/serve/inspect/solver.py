"""An Inspect solver that pools agents: each solves the task several times, and the weighted vote decides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any

from inspect_ai.solver import Generate, Solver, TaskState, solver

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError
from swaplaw.law.weights import as_weight
from swaplaw.serve.stop import Sampling, Stop, StopRule
from swaplaw.serve.vote import Ballot, Terms


@solver
def ensemble(
    members: Sequence[Solver],
    weights: Sequence[str] | None = None,
    samples: int = 1,
    reader: Mapping[str, Any] | None = None,
    exact_stop: bool = True,
) -> Solver:
    """Pool agents (or any solvers) by weighted vote.

    Args:
        members: what solves the task, the primary first; each run begins from the same state.
        weights: of each member's share, such as ["1", "2/3"]; equal by default.
        samples: runs of each member.
        reader: how an answer is read from a run's completion; a choice among A to J by default.
        exact_stop: run no more than can still change the outcome.

    The state then holds the first run of the winning category (of the first member that gave one), and the vote in its
    metadata, under `swaplaw`. Where the null category wins, the output is an empty completion: an abstention.
    """
    with errors_for_inspect():
        read = Reader() if reader is None else Reader.from_dict(reader)
        shares = [Fraction(1)] * len(members) if weights is None else [as_weight(weight) for weight in weights]
        if len(shares) != len(members) or not members or not all(shares) or samples < 1:
            raise InputError("an ensemble needs members, a weight above 0 for each of them, and 1 sample or more")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        ballot = Ballot(shares, [samples] * len(members))
        runs: list[list[tuple[str | None, TaskState]]] = [[] for _ in members]
        sampling = Sampling(StopRule(exact=exact_stop), Terms([0] * len(members)))

        async def run(member: int) -> tuple[int, TaskState]:
            return member, await members[member](deepcopy(state), generate)

        while not isinstance(step := sampling.next(ballot), Stop):
            wave = [run(member) for member, number in enumerate(step) for _ in range(number)]
            for member, solved in await asyncio.gather(*wave):
                answer = read.read(solved.output.completion)
                ballot.cast(member, answer)
                runs[member].append((answer, solved))
        winner = ballot.preferred(ballot.standing().leaders)
        chosen = next((solved for own in runs for answer, solved in own if answer == winner), state)
        if winner is None:
            chosen.output.completion = ""
        chosen.metadata["swaplaw"] = {
            "winner": winner,
            "votes": [dict(_named(votes)) for votes in ballot.counts],
            "spent": sum(map(len, runs)),
            "planned": samples * len(members),
        }
        return chosen

    return solve


def _named(votes: Mapping[str | None, int]) -> list[tuple[str, int]]:
    return [("(null)" if answer is None else answer, number) for answer, number in votes.items()]
