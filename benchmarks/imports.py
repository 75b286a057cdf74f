"""Importing: counting a Parquet dataset beside Polars' own group-by, reading an Inspect log beside Inspect itself.

`SWAPLAW_BENCH_ROWS` sets the size of the Parquet dataset (100 million votes by default). Each count runs in a process
of its own, so that its peak of memory can be told. CPU time is compared, because neighbours on the machine change the
wall time of either by more than the difference; wall time stands beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, in_turns, seconds
from benchmarks.peers import SYNTHETIC

ROWS = int(os.environ.get("SWAPLAW_BENCH_ROWS", 100_000_000))
SAMPLES = 10_000
WITHIN = 1 / 1.5
"""The goal: at most 1.5 times as slow as what is compared with."""
MEMORY = 2048.0
"""The goal for counting: at most this many megabytes."""
PARTS = 20
REPEATED = "50 samples of a mock model, repeated"
SUMMARIES = "Inspect's read_eval_log_sample_summaries"
"""The quickest read, which does not say why a model stopped: an import must also read samples without an answer."""
SHAPES = {"100 samples per question": (20, 100), "a tenth of all votes per model": (10, 10_000)}

COUNT = {
    "swaplaw": "import swaplaw as sl; tally = sl.read_votes(folder).counts",
    "polars": (
        "import polars as pl; pl.scan_parquet(folder).group_by('dataset', 'question', 'model', 'answer', 'gold')"
        ".agg(pl.len()).collect(engine='streaming')"
    ),
}
PROBE = """
import json, sys, time
folder = sys.argv[1]
import numpy, polars, swaplaw, swaplaw.votes, swaplaw.importers
start, wall = time.process_time(), time.perf_counter()
{work}
took = [time.process_time() - start, time.perf_counter() - wall]
# Not ru_maxrss, which begins with the peak of the process that started this one.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([*took, peak / 1024]))
"""


def measure() -> list[Row]:
    rows: list[Row] = []
    for shape, (models, samples) in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            made = parquet(Path(folder), models, samples)
            runs = [(probe("swaplaw", folder), probe("polars", folder)) for _ in range(2)]
        ours, theirs = ([min(values) for values in zip(*side, strict=True)] for side in zip(*runs, strict=True))
        name = f"count {made / 1e6:g} million votes, {shape}"
        rows.append(Row(name, ours[0], theirs[0], "Polars' own group-by", WITHIN, "CPU s", note=SYNTHETIC))
        rows.append(Row(f"{name}: wall time", ours[1], theirs[1], "Polars' own group-by", WITHIN, note=SYNTHETIC))
        peak = max(run[0][2] for run in runs)
        rows.append(Row(f"{name}: memory", peak, MEMORY, "the limit", 1.0, "MB", note=SYNTHETIC))
    return rows + inspect_rows()


def parquet(folder: Path, models: int, samples: int) -> int:
    """Write made-up votes, part by part; returns how many."""
    import polars as pl

    questions = max(PARTS, ROWS // (models * samples)) // PARTS
    letters, rng = np.array(["A", "B", "C", "D"]), np.random.default_rng(0)
    for part in range(PARTS):
        question = np.repeat(np.arange(part * questions, (part + 1) * questions), models * samples)
        gold = question * 7 % 4
        luck = rng.random(len(question))
        answer = letters[np.where(luck < 0.6, gold, rng.integers(0, 4, len(question)))]
        frame = pl.DataFrame(
            {
                "dataset": pl.Series(["mmlu"]).new_from_index(0, len(question)),
                "question": pl.Series(question).cast(pl.String).str.zfill(8),
                "model": "org/model-"
                + pl.Series(np.tile(np.repeat(np.arange(models), samples), questions)).cast(pl.String),
                "sample": np.tile(np.arange(samples, dtype=np.int32), questions * models),
                "answer": pl.Series(answer).set(pl.Series(luck > 0.98), None),
                "gold": letters[gold],
            }
        )
        frame.write_parquet(folder / f"{part:03}.parquet")
    return PARTS * questions * models * samples


def probe(who: str, folder: str) -> tuple[float, float, float]:
    """CPU and wall seconds and peak megabytes of one count."""
    command = [sys.executable, "-c", PROBE.format(work=COUNT[who]), folder]
    processor, wall, peak = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return processor, wall, peak


def inspect_rows() -> list[Row]:
    """Import a log of 10,000 samples, made of a real one's samples under new ids."""
    try:
        from inspect_ai.analysis import samples_df
        from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
    except ImportError:
        print("skip the Inspect log: pip install 'swaplaw[inspect]'")
        return []
    import swaplaw as sl

    with tempfile.TemporaryDirectory() as folder:
        log = inspect_log(Path(folder))
        ours, summaries = in_turns(
            lambda: sl.import_votes(log).votes.counts, lambda: read_eval_log_sample_summaries(log), rounds=2
        )
        theirs = {
            SUMMARIES: summaries,
            "Inspect's samples_df": seconds(lambda: samples_df(log, quiet=True), 1),
            "Inspect's read_eval_log": seconds(lambda: read_eval_log(log), 1),
        }
    return [
        Row(f"import {SAMPLES:,} samples", ours, took, what, WITHIN, note=REPEATED) for what, took in theirs.items()
    ]


def inspect_log(folder: Path) -> str:
    """Run Inspect on a few samples, and write them again and again into one log."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import write_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    few = 50
    samples = [
        Sample(id=str(i), input=f"Question {i}? " * 20, choices=["red", "green", "blue"], target="ABC"[i % 3])
        for i in range(few)
    ]
    outputs = []
    for i in range(few):
        text = f"{'Let me think. ' * 20}\nANSWER: {'ABC'[i % 2]}" if i % 25 else "I do not know."
        outputs.append(ModelOutput.from_content("mockllm/model", text))
        outputs[-1].usage = ModelUsage(input_tokens=100, output_tokens=50, total_tokens=150)
    task = Task(name="colours", dataset=MemoryDataset(samples), solver=multiple_choice(), scorer=choice())
    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = eval(task, model=model, log_dir=str(folder), display="none")
    real = list(log.samples or [])
    log.samples = [
        sample.model_copy(update={"id": f"{sample.id}-{n}", "uuid": f"{sample.uuid}{n}"})
        for n in range(SAMPLES // few)
        for sample in real
    ]
    log.eval.dataset.samples = SAMPLES
    log.eval.dataset.sample_ids = [sample.id for sample in log.samples]
    file = str(folder / "large.eval")
    write_eval_log(log, file)
    return file
