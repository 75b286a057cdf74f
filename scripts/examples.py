"""Make the example files that the documentation uses, from the real votes in `tests/data/votes`.

`python scripts/examples.py` writes `examples/`: logs of Inspect and of lm-evaluation-harness (real evaluations, in
which recorded votes answer instead of models) and small tables. No question text is in them: the authors of GPQA ask
that.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
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
HARNESS_MODELS = ["AM-Thinking-v1", "Phi-4-reasoning", "gpt-oss-20b"]
REPEATS = 8
HARNESS_TASK = """
task: aime
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/aime.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "Q: {{{{question}}}}"
doc_to_target: answer
repeats: {repeats}
generation_kwargs: {{until: [], do_sample: true, temperature: 0.6}}
filter_list:
  - name: get-answer
    filter:
      - {{function: regex, regex_pattern: "The answer is ([0-9]+)"}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
"""
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


def lm_eval_logs() -> None:
    """Evaluate AIME 2024 and 2025 in lm-evaluation-harness, eight repeats, three models."""
    frame = pl.read_parquet(VOTES / "aime.parquet").filter(pl.col("sample") < REPEATS).sort("sample")
    frame = frame.with_columns(question=pl.format("({} {})", "dataset", "question"))
    golds = dict(frame.select("question", "gold").unique().sort("question").iter_rows())
    folder = EXAMPLES / "lm-eval-logs"
    shutil.rmtree(folder, ignore_errors=True)
    for name in HARNESS_MODELS:
        rows = frame.filter(pl.col("model") == name).select("question", "answer").iter_rows()
        replies: dict[str, list[str]] = {question: [] for question in golds}
        for question, answer in rows:
            replies[question].append("I do not know." if answer is None else f"The answer is {answer}.")
        with tempfile.TemporaryDirectory() as scratch:
            run_harness(Path(scratch), name, golds, replies)
            [out] = Path(scratch, "out").iterdir()
            shutil.copytree(out, folder / name)
        [results] = (folder / name).glob("results_*.json")
        keep_what_names_the_model(results)


def keep_what_names_the_model(results: Path) -> None:
    """Leave out of a results file what is about the machine."""
    found = json.loads(results.read_text())
    tasks = {
        task: {key: config[key] for key in ("task", "filter_list", "repeats")}
        for task, config in found["configs"].items()
    }
    names = {key: found[key] for key in ("model_name", "model_source")}
    model = {key: found["config"][key] for key in ("model", "model_args")}
    results.write_text(json.dumps({"configs": tasks, **names, "config": model}))


def run_harness(folder: Path, name: str, golds: dict[str, str], replies: dict[str, list[str]]) -> None:
    """Run the harness's own command with the replies of one model."""
    documents = [
        {"question": f"The text of this question is left out {at}.", "answer": gold} for at, gold in golds.items()
    ]
    (folder / "aime.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (folder / "replies.json").write_text(json.dumps(replies))
    (folder / "aime.yaml").write_text(HARNESS_TASK.format(folder=folder, repeats=REPEATS))
    command = [sys.executable, str(ROOT / "tests" / "support" / "harness_scripted.py"), str(folder / "replies.json")]
    command += ["--model", "scripted", "--model_args", f"pretrained={name}", "--tasks", "aime", "--log_samples"]
    command += ["--include_path", str(folder), "--output_path", str(folder / "out")]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    subprocess.run(command, env={**os.environ, **offline}, check=True, capture_output=True)


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
    lm_eval_logs()
    inspect_logs()
