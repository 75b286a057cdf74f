"""What a model replies, made fit for the loop: broken characters, calls written as text, a context that is full."""

import json
import re
from typing import Any
from uuid import uuid4

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.tool import Tool, ToolCall, ToolDef

_FENCE = re.compile(r"```(?:json|tool_call|tool)?\s*\n?(.*?)```|<tool_call>(.*?)</tool_call>", re.DOTALL)
# What servers say when a conversation has become too long, beyond what Inspect's providers recognise.
OVERFLOW = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many tokens|prompt is too long|input is too long|n_ctx"
    r"|exceeds? the (?:available )?context",
    re.IGNORECASE,
)


@agent
def replying(text_calls: bool = False) -> Agent:
    """Ask the model under evaluation once, and return the conversation with its reply.

    Parameters
    ----------
    text_calls : bool
        Read calls that a model writes as text (a JSON object in a fence) as calls.
    """

    async def execute(state: AgentState, tools: list[Tool]) -> AgentState:
        """Ask the model.

        Args:
            state: The conversation.
            tools: What the model may call.
        """
        try:
            output = await get_model().generate(state.messages, tools)
        except Exception as error:  # each provider has errors of its own for a context that is full
            if not OVERFLOW.search(str(error)):
                raise
            output = ModelOutput.from_content(str(get_model()), "", stop_reason="model_length")
        if output.choices:
            message = output.choices[0].message
            # No log can hold half of a surrogate pair.
            output.choices[0].message = ChatMessageAssistant.model_validate(_mended(message.model_dump()))
            if text_calls and not message.tool_calls:
                names = {ToolDef(tool).name for tool in tools}
                output.choices[0].message.tool_calls = calls_in(message.text, names) or None
        state.output = output
        state.messages.append(output.message)
        return state

    return execute


def calls_in(text: str, names: set[str]) -> list[ToolCall]:
    """Return the calls of known tools that a text writes out as JSON.

    >>> [call.function for call in calls_in('```json\\n{"name": "finish", "arguments": {}}\\n```', {"finish"})]
    ['finish']
    """
    found = [first or second for first, second in _FENCE.findall(text)] or [text]
    calls = []
    for part in found:
        try:
            value = json.loads(part.strip())
        except (ValueError, RecursionError):
            continue
        for row in value if isinstance(value, list) else [value]:
            call = _call(row, names)
            if call is not None:
                calls.append(call)
    return calls


def _call(row: Any, names: set[str]) -> ToolCall | None:
    if not isinstance(row, dict):
        return None
    name = row.get("name") or row.get("function") or row.get("tool")
    arguments = row.get("arguments", row.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if name not in names or not isinstance(arguments, dict):
        return None
    return ToolCall(id=f"text-{uuid4().hex[:8]}", function=name, arguments=arguments)


def _mended(value: Any) -> Any:
    """Replace characters that cannot be encoded."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mended(key): _mended(one) for key, one in value.items()}
    return [_mended(one) for one in value] if isinstance(value, list) else value
