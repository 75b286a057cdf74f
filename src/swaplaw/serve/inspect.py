"""Policies in Inspect AI: a model provider that answers by a policy's vote, and a solver that pools agents.

What talks to members is loaded only for those who ask a policy: the solver needs none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError, MissingExtraError, quote
from swaplaw.law.weights import as_weight
from swaplaw.serve.stop import Course, StopRule, Terms

if TYPE_CHECKING:
    from swaplaw.serve.poll import Decision

STOPPED: dict[str | None, StopReason] = {"length": "max_tokens", "content_filter": "content_filter"}
CONNECTIONS = 10


class PolicyAPI(ModelAPI):
    """A policy file as a model; the vote on each question is kept in the output's metadata, under `swaplaw`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's own signature)
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with errors_for_inspect():
            try:
                from swaplaw.serve.settings import read_served
                from swaplaw.serve.upstream import Client, Switchboard
            except ModuleNotFoundError as missing:
                if (missing.name or "").startswith("swaplaw"):
                    raise
                raise MissingExtraError("serve", "asking a policy") from None
            if model_args:
                first = quote(next(iter(model_args)))
                raise InputError(f"a policy takes no model argument {first}: the policy file says everything")
            self._served = read_served(model_name)
            self._switchboard = Switchboard()
            limit = self._served.serving.max_answer_bytes
            self._clients = [
                Client(member, self._served.upstream(member), self._switchboard, max_answer_bytes=limit)
                for member in self._served.asked
            ]
        self._asking = 0

    def max_connections(self) -> int:
        """Questions at once; each asks all members, whose own limits hold."""
        return CONNECTIONS

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Ask the members until their vote is decided."""
        from swaplaw.serve.forms import ChatRequest
        from swaplaw.serve.poll import Poll

        if tools:
            with errors_for_inspect():
                raise InputError("a pooled answer calls no tools: ask the primary itself, or pool agents by `ensemble`")
        served = self._served
        asked = {"model": served.name, "messages": [{"role": each.role, "content": each.text} for each in input]}
        cap = {} if config.max_tokens is None else {"max_tokens": config.max_tokens}
        body = ChatRequest.model_validate({**asked, **cap}).for_members(
            served.temperature, served.serving.max_tokens, served.prompt
        )
        seed = served.serving.seed if config.seed is None else config.seed
        poll = Poll(served, self._clients, body, seed, monotonic() + served.serving.timeout)
        self._asking += 1
        try:
            return self._output(await poll.decide())
        finally:
            self._asking -= 1
            if not self._asking:
                # Inspect does not say when it has asked its last question.
                await self._switchboard.close()

    def _output(self, decision: Decision) -> ModelOutput:
        completion = decision.completion
        text = self._served.serving.abstention if completion is None else completion.text
        reason = STOPPED.get(None if completion is None else completion.finish_reason, "stop")
        message = ChatMessageAssistant(content=text, model=self._served.name, source="generate")
        tokens = decision.input_tokens, decision.output_tokens
        return ModelOutput(
            model=self._served.name,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            usage=ModelUsage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens)),
            metadata={"swaplaw": decision.vote},
        )


@modelapi(name="swaplaw")
def policy() -> type[PolicyAPI]:
    """Policies as models: `--model swaplaw/policy.json` evaluates the policy that is deployed."""
    return PolicyAPI


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
        runs: list[list[tuple[str | None, TaskState]]] = [[] for _ in members]
        course = Course(Terms(tuple(shares), Fraction(0)), StopRule(exact_stop), [samples] * len(members))

        async def run(member: int) -> tuple[int, TaskState]:
            return member, await members[member](deepcopy(state), generate)

        while (plan := course.next()) is not None:
            wave = [run(member) for member, number in enumerate(plan) for _ in range(number)]
            for member, solved in await asyncio.gather(*wave):
                answer = read.read(solved.output.completion)
                course.cast(member, answer)
                runs[member].append((answer, solved))
        winner = course.winner
        chosen = next((solved for own in runs for answer, solved in own if answer == winner), state)
        if winner is None:
            chosen.output.completion = ""
        chosen.metadata["swaplaw"] = {
            "winner": winner,
            "votes": [dict(_named(votes)) for votes in course.main.ballot.counts],
            "spent": sum(map(len, runs)),
            "planned": samples * len(members),
        }
        return chosen

    return solve


def _named(votes: Mapping[str | None, int]) -> list[tuple[str, int]]:
    return [("(null)" if answer is None else answer, number) for answer, number in votes.items()]
