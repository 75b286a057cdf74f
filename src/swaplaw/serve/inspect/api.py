"""A policy that Inspect asks like any model: its members vote, by the same code that serves them."""

from __future__ import annotations

from time import monotonic
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.errors import InputError
from swaplaw.serve.forms import ChatRequest
from swaplaw.serve.poll import Decision, Poll
from swaplaw.serve.settings import read_served
from swaplaw.serve.upstream import Client, Switchboard

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
            if model_args:
                raise InputError(
                    f"a policy takes no model argument {next(iter(model_args))!r}: the policy file says everything"
                )
            self._served = read_served(model_name)
            for member in self._served.asked:
                self._served.upstream(member).key()
        self._switchboard = Switchboard()
        self._asking = 0
        limit = self._served.serving.max_answer_bytes
        self._clients = [
            Client(member, self._served.upstream(member), self._switchboard, max_answer_bytes=limit)
            for member in self._served.asked
        ]

    def max_connections(self) -> int:
        """Questions at once; each asks all members, whose own limits hold."""
        return CONNECTIONS

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Ask the members until their vote is decided."""
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
        usage = ModelUsage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
        return ModelOutput(
            model=self._served.name,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            usage=usage,
            metadata={"swaplaw": decision.vote},
        )
