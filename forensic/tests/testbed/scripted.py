"""A scripted examiner: plays a challenge's solution script through the real tools, with no model behind it.

It proves the whole path (sandbox, tools, submission, log, grading): `swaplaw forensic solve` runs it.
"""

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

from swaplaw.errors import InputError, quote
from swaplaw_forensic.challenges.manifest import Challenge, Question

Decide = Callable[[str, str, int], str | None]


def as_found(question: str, found: str, run: int) -> str | None:
    """Submit what the tools printed."""
    return found


def scripted_model(challenges: Sequence[Challenge], name: str = "solution", decide: Decide = as_found) -> Model:
    """Return a model that answers question after question from the solution scripts.

    `decide(question, found, run)` may spoil or drop (None) an answer: that makes examiners of any skill.
    """
    scripts: dict[str, tuple[str, str]] = {}
    for challenge in challenges:
        script = challenge.solution
        if script is None:
            raise InputError(
                f"challenge {quote(challenge.ref)} has no solution script ({challenge.folder}/solution.sh)"
            )
        for question in challenge.questions:
            # A synthetic case's script is told the question, as an examiner would be: names differ from seed to seed.
            call = f"{question.topic or question.id} {shlex.quote(question.text)}"
            scripts[_line(question)] = (question.id, f"{script}\n{call}")
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
            question, _ = scripts[asked[len(looked) - 1]]
            answer = decide(question, found, run)
            if answer is not None:
                return _call("submit_answer", question=question, answer=answer)
        if len(looked) < len(asked):
            return _call("bash", command=f"# run {run}\n{scripts[asked[len(looked)]][1]}")
        return _call("finish")

    return get_model(f"mockllm/{name}", custom_outputs=play, memoize=False)


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
