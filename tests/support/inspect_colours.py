"""Writes the log of a small evaluation with whatever Inspect runs this file: `python inspect_colours.py FOLDER`.

Scripted replies to four questions, two epochs, graded by `includes`, which keeps whole replies and no letters.
"""

import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

REPLIES = ["ANSWER: A", "I would choose B. Option A is wrong.", "The answer is A or B.", "ANSWER: C"]
GOLDS = "AABC"
VOTES = ["A", "B", None, "C"]


def respond(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return output


def write(folder: str) -> None:
    options = ["red", "green", "blue", "grey"]
    samples = [Sample(input=f"q{n}", choices=options, target=gold, id=f"q{n}") for n, gold in enumerate(GOLDS)]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes(), name="colours")
    model = get_model("mockllm/model", custom_outputs=[respond(text) for text in REPLIES] * 2)
    eval(
        task, model=model, log_dir=folder, epochs=2, max_samples=1, max_connections=1, display="none", log_format="eval"
    )


if __name__ == "__main__":
    write(sys.argv[1])
