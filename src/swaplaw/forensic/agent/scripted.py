"""A scripted examiner: plays a challenge's solution script through the real tools, with no model behind it.

It proves the whole path (sandbox, tools, submission, log, grading): `swaplaw forensic solve` runs it.
"""

from collections.abc import Callable, Sequence
from itertools import count

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
from swaplaw.forensic.challenges.manifest import Challenge

Decide = Callable[[str, str, int], str | None]


def as_found(question: str, found: str, run: int) -> str | None:
    """Submit what the tools printed."""
    return found


def scripted_model(challenges: Sequence[Challenge], name: str = "solution", decide: Decide = as_found) -> Model:
    """Return a model that answers question after question from the solution scripts.

    `decide(question, found, run)` may spoil or drop (None) an answer: that makes examiners of any skill.
    """
    scripts: dict[str, str] = {}
    for challenge in challenges:
        script = challenge.solution
        if script is None:
            raise InputError(
                f"challenge {quote(challenge.ref)} has no solution script ({challenge.folder}/solution.sh)"
            )
        scripts |= dict.fromkeys(challenge.question_ids, script)
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
            question = asked[len(looked) - 1]
            answer = decide(question, found, run)
            if answer is not None:
                return _call("submit_answer", question=question, answer=answer)
        if len(looked) < len(asked):
            question = asked[len(looked)]
            return _call("bash", command=f"# run {run}\n{scripts[question]}\n{question}")
        return _call("finish")

    return get_model(f"mockllm/{name}", custom_outputs=play, memoize=False)


def _asked(messages: list[ChatMessage], scripts: dict[str, str]) -> list[str]:
    """Return the ids of the questions in the prompt, in order."""
    prompt = next(message.text for message in messages if isinstance(message, ChatMessageUser))
    return [line[1:].split("]")[0] for line in prompt.splitlines() if line[1:].split("]")[0] in scripts]


def _call(function: str, **arguments: str) -> ModelOutput:
    output = ModelOutput.for_tool_call("mockllm", function, arguments)
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output
