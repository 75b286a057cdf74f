"""A scripted examiner: real calls of the tools, then answers of any skill, with no model behind it."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw_forensic.challenges.gold import Gold, load_gold
from swaplaw_forensic.challenges.manifest import Challenge, Question

Decide = Callable[[str, str, int], str | None]


def as_found(question: str, found: str, run: int) -> str | None:
    """Submit what was found."""
    return found


def scripted_model(
    challenges: Sequence[Challenge], name: str = "solution", decide: Decide = as_found, script: str = ""
) -> Model:
    """Return a model that answers question after question: with what a script prints, or else as the gold has it.

    `decide(question, found, run)` may spoil or drop (None) an answer: that makes examiners of any skill.
    """
    scripts: dict[str, tuple[str, str]] = {}
    for challenge in challenges:
        for question in challenge.questions:
            call = f"{script}\n{question.id} {shlex.quote(question.text)}"
            if not script:
                call = f"ls /evidence >&2; printf %s {shlex.quote(told(load_gold(challenge)[question.id]))}"
            scripts[_line(question)] = (question.id, call)
    runs = count()

    def play(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        asked = _asked(messages, scripts)
        calls = [call for m in messages if isinstance(m, ChatMessageAssistant) for call in m.tool_calls or []]
        run = int(str(calls[0].arguments["command"]).splitlines()[0].split()[-1]) if calls else next(runs)
        looked = [call for call in calls if call.function == "bash"]
        if calls and calls[-1].function == "bash":
            found = messages[-1].text.strip() if isinstance(messages[-1], ChatMessageTool) else ""
            found = found.splitlines()[-1] if not script and found else found
            question, _ = scripts[asked[len(looked) - 1]]
            answer = decide(question, found, run)
            if answer is not None:
                return _call("submit_answer", question=question, answer=answer)
        if len(looked) < len(asked):
            return _call("bash", command=f"# run {run}\n{scripts[asked[len(looked)]][1]}")
        return _call("finish")

    return get_model(f"mockllm/{name}", custom_outputs=play, memoize=False)


def told(gold: Gold) -> str:
    """A right answer."""
    return "\n".join(gold.accept[:1] or [item.names[0] for item in gold.items])


def _line(question: Question) -> str:
    return f"[{question.id}] {question.text}"


def _asked(messages: list[ChatMessage], scripts: Mapping[str, Any]) -> list[str]:
    """Return the questions in the prompt, in order: two cases of one kind share their ids, not their words."""
    prompt = next(message.text for message in messages if isinstance(message, ChatMessageUser))
    found = [next((key for key in scripts if line.startswith(f"{key} (Answer")), None) for line in prompt.splitlines()]
    return [key for key in found if key is not None]


def _call(function: str, **arguments: str) -> ModelOutput:
    output = ModelOutput.for_tool_call("mockllm", function, arguments)
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output
