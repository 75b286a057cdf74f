"""A person in place of a model: the same questions, log, limits and grades.

The evidence is looked at with the person's own tools, outside of any sandbox; answers are typed in, one by one.
"""

import re

import anyio.to_thread
import click
from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

_ASKED = re.compile(r"^\[([^\]]+)\] .+$", re.MULTILINE)


@modelapi(name="human")
class Human(ModelAPI):
    """Ask a person at this terminal: `human/NAME`."""

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Ask the next question; an empty answer leaves it open, and behind the last one the trace ends."""
        prompt = next(message.text for message in input if message.role == "user")
        asked = list(_ASKED.finditer(prompt))
        turn = sum(isinstance(message, ChatMessageAssistant) for message in input)
        if turn >= len(asked):
            return _calling(self.model_name, "finish", {})
        if turn == 0:
            click.echo(prompt[: asked[0].start()].strip())
        line = asked[turn]
        text = await anyio.to_thread.run_sync(lambda: click.prompt(line[0], default="", show_default=False))
        if not text.strip():
            return ModelOutput.from_content(self.model_name, f"{line[1]} is left open")
        return _calling(self.model_name, "submit_answer", {"question": line[1], "answer": text})


def _calling(model: str, function: str, arguments: dict[str, str]) -> ModelOutput:
    output = ModelOutput.from_content(model, "")
    output.choices[0].message.tool_calls = [ToolCall(id=function, function=function, arguments=arguments)]
    return output
