"""Collecting: what a sample costs beyond the model's own time, and whether memory grows with their number.

A model that answers at once is asked `SWAPLAW_BENCH_SAMPLES` times (10,000 by default) through the whole path: prompt,
schedule, seed, log, journal, import and votes. Beside it stands Inspect alone, with its own multiple-choice solver
and scorer, on fewer samples. CPU time is compared, because neighbours on the machine change the wall time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from inspect_ai import Task, eval_set
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice
from inspect_ai.tool import ToolChoice, ToolInfo

from benchmarks.harness import Row
from swaplaw.collect.run import Plan, collect

SAMPLES = int(os.environ.get("SWAPLAW_BENCH_SAMPLES", 10_000))
EPOCHS = 24
CONNECTIONS = 20
WITHIN = 1 / 1.5
"""The goal: at most 1.5 times the CPU time of Inspect alone."""
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


def bare(folder: Path, samples: int) -> dict[str, float]:
    """The same with Inspect alone."""
    made = write_questions(folder / "questions.jsonl", samples)
    asked = [Sample(f"{n}?", ["a", "b", "c", "d"], "A", id=str(n)) for n in range(made // EPOCHS)]
    task = Task(MemoryDataset(asked), solver=multiple_choice(), scorer=choice(), epochs=EPOCHS)
    cpu = time.process_time()
    eval_set(
        task, log_dir=str(folder / "logs"), model="instant/model", max_connections=CONNECTIONS,
        display="none", ctl_server=False,
    )  # fmt: skip
    return {"cpu": 1000 * (time.process_time() - cpu) / made}


def measure() -> list[Row]:
    ours, theirs = _apart("collected", SAMPLES), _apart("bare", min(SAMPLES, 1_200))
    name = f"collect {SAMPLES:,} samples"
    return [
        Row(f"{name}: overhead a sample", ours["cpu"], theirs["cpu"], "Inspect alone", WITHIN, "CPU ms"),
        Row(f"{name}: memory that 1,000 samples add", max(ours["growth"], 0.1), GROWTH, "the limit", 1.0, "MB"),
    ]


def _apart(work: str, samples: int) -> dict[str, float]:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.collect", work, folder, str(samples)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    chosen, place, number = sys.argv[1:]
    found = {"collected": collected, "bare": bare}[chosen](Path(place), int(number))
    print(json.dumps(found | {"marks": marks} if chosen == "collected" else found))
