"""Make the example files that the documentation uses, from the real votes in `tests/data/votes`.

`python scripts/examples.py` writes `examples/`: Inspect logs (a real evaluation, in which recorded votes answer instead
of models) and small tables. No question text is in them: the authors of GPQA ask that.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice
from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver

ROOT = Path(__file__).resolve().parent.parent
VOTES = ROOT / "tests" / "data" / "votes"
EXAMPLES = ROOT / "examples"
INSPECT_MODELS = ["gpt-oss-20b", "MetaStone-S1-32B", "Phi-4-reasoning"]
EPOCHS = 4
PLACE = re.compile(r"\((?P<question>q\d+), sample (?P<sample>\d+)\)")
WIDE_MODELS = ["Meta-Llama-3_1-70B", "Qwen1.5-72B-Chat", "jamba-1.5-large"]


@solver
def with_place() -> Solver:
    """Put question and epoch into the prompt, so that the recorded vote of that place can answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += f"\n({state.sample_id}, sample {state.epoch - 1})"
        return state

    return solve


def recorded(name: str, votes: dict[tuple[str, int], str | None]) -> Model:
    """A model whose replies are recorded votes."""

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        place = PLACE.search(messages[-1].text)
        answer = votes[place["question"], int(place["sample"])] if place else None
        made = ModelOutput.from_content(name, "I do not know." if answer is None else f"ANSWER: {answer}")
        made.usage = ModelUsage(input_tokens=0, output_tokens=0, total_tokens=0)
        return made

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def inspect_logs() -> None:
    """Evaluate GPQA Diamond in Inspect, four epochs, three models."""
    frame = pl.read_parquet(VOTES / "best-of-infinity.parquet").filter(pl.col("dataset") == "gpqa-diamond")
    golds = frame.select("question", "gold").unique().sort("question").iter_rows()
    samples = [
        Sample(id=question, input="The text of this question is left out.", choices=list("ABCD"), target=gold)
        for question, gold in golds
    ]
    folder = EXAMPLES / "inspect-logs"
    shutil.rmtree(folder, ignore_errors=True)
    for name in INSPECT_MODELS:
        rows = frame.filter((pl.col("model") == name) & (pl.col("sample") < EPOCHS))
        votes = {(row["question"], row["sample"]): row["answer"] for row in rows.iter_rows(named=True)}
        task = Task(
            name="gpqa_diamond",
            dataset=MemoryDataset(samples),
            solver=[with_place(), multiple_choice()],
            scorer=choice(),
            epochs=EPOCHS,
        )
        with tempfile.TemporaryDirectory() as scratch:
            [log] = eval(task, model=recorded(name, votes), log_dir=scratch, display="none", log_level="error")
            keep_small(log, folder / f"{name}.eval")


def keep_small(log: EvalLog, file: Path) -> None:
    """Write the log without what only a viewer of single steps would use."""
    log = read_eval_log(log.location)
    log.eval.revision, log.eval.model = None, file.stem
    for sample in log.samples or []:
        sample.events, sample.attachments, sample.timelines = [], {}, None
    write_eval_log(log, str(file))


def tables() -> None:
    """The tables of the how-to pages."""
    exams = pl.read_parquet(VOTES / "mmlu-pro.parquet").filter(pl.col("model").is_in(WIDE_MODELS))
    wide = exams.pivot("model", index=["question", "cluster", "gold"], values="answer")
    wide.drop_nulls(WIDE_MODELS).sort("question").write_csv(EXAMPLES / "wide.csv")
    gpqa = pl.read_parquet(VOTES / "best-of-infinity.parquet").filter(pl.col("dataset") == "gpqa-diamond")
    chosen = gpqa.filter(pl.col("sample") < EPOCHS, pl.col("model").is_in(INSPECT_MODELS))
    few = chosen.sort("model", "question", "sample")
    right = pl.col("answer").eq_missing(pl.col("gold")).cast(int)
    graded = few.filter(pl.col("sample") < 1).select("question", "model", correct=right)
    graded.write_csv(EXAMPLES / "right-or-wrong.csv")
    few.select("question", "model", "sample", "answer").write_csv(EXAMPLES / "unlabelled.csv")


if __name__ == "__main__":
    EXAMPLES.mkdir(exist_ok=True)
    tables()
    inspect_logs()
