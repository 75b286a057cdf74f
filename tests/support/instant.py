"""A model that answers at once, asked through the whole path: what a sample costs, and whether memory grows."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw.collect.run import Plan, collect

EPOCHS = 24
CONNECTIONS = 20
GROWTH = 5.0
"""The goal, stated for 10,000 samples: at most this many megabytes more for every thousand."""
marks: list[tuple[int, float]] = []
"""Memory in megabytes after this many samples."""


@modelapi(name="instant")
class Instant(ModelAPI):
    """A model that answers at once."""

    asked = 0

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answer, and note every hundredth time how much memory is in use."""
        self.asked += 1
        if self.asked % 100 == 0:
            marks.append((self.asked, megabytes()))
        output = ModelOutput.from_content(self.model_name, "It is the first.\n\nANSWER: A")
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return output


def megabytes() -> float:
    """The memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def write_questions(file: Path, samples: int) -> int:
    """Write questions that make about this many samples; return how many samples that is."""
    questions = max(1, round(samples / EPOCHS))
    rows = [
        {"id": str(n), "question": f"{n}?", "options": ["a", "b", "c", "d"], "answer": "A"} for n in range(questions)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return questions * EPOCHS


def collected(folder: Path, samples: int) -> dict[str, float]:
    """Collect; tell CPU and wall milliseconds a sample, and megabytes that a thousand samples added."""
    made = write_questions(folder / "questions.jsonl", samples)
    plan = Plan(str(folder / "questions.jsonl"), ("instant/model",), EPOCHS, connections={"": CONNECTIONS})
    marks.clear()
    cpu, wall = time.process_time(), time.perf_counter()
    votes = collect(plan, folder / "votes.parquet", folder / "logs").models[0]
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    assert (votes.votes, votes.parsed) == (made, made)
    (first, low), (last, high) = marks[len(marks) // 5], marks[-1]  # Not the first: imports and buffers are no growth.
    growth = (high - low) / max(1, last - first) * 1000
    return {name: 1000 * value / made for name, value in spent.items()} | {"growth": growth, "peak": high}
