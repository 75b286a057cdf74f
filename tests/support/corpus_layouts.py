"""Released corpora in random layouts, with what they hold: `python tests/support/corpus_layouts.py 200` tries so many.

A layout is drawn from a seed: the files' form, packing and folders, what the columns are called, how models are named,
how silence, grades and reasons are written, and which further tables lie beside the votes. What the votes are is kept
apart, as plain Python, so that nothing of the reader is used to judge it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

Row = dict[str, Any]
Tables = dict[str, dict[str, list[Row]]]
MODELS = {
    "gemma4-31b": ("google/gemma-4-31B-it", "Gemma-4-31B"),
    "qwen36-27b": ("Qwen/Qwen3.6-27B", "Qwen3.6-27B"),
    "gemma4-a4b": ("google/gemma-4-26B-A4B-it", "Gemma-4-26B-A4B"),
    "qwen3-30b-thinking": ("Qwen/Qwen3-30B-A3B-Thinking-2507", "Qwen3-30B-Think."),
    "diffusiongemma": ("google/diffusiongemma-26B-A4B-it", "DiffusionGemma-26B"),
    "glm47-flash": ("zai-org/GLM-4.7-Flash", "GLM-4.7-Flash"),
    "nemotron3-nano": ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "Nemotron-3-Nano"),
    "gpt-oss-20b": ("openai/gpt-oss-20b", "GPT-OSS-20B"),
    "magistral-small": ("mistralai/Magistral-Small-2509", "Magistral-Small"),
    "medgemma-27b": ("google/medgemma-27b-it", "MedGemma-27B"),
}
"""The card's codes, with Hugging Face's id and the paper's name."""
DATASETS = {
    "supergpqa": ("supergpqa", "SuperGPQA", "super_gpqa"),
    "gpqa-diamond": ("gpqa-diamond", "gpqa_diamond", "GPQA-Diamond", "gpqa"),
    "forensic": ("forensic", "cyber_forensic", "Forensic", "cyber"),
}
COLUMNS = {
    "dataset": ("dataset", "benchmark", "task", "dataset_name"),
    "question": ("question_id", "question", "qid", "item_id", "id", "problem_id", "Question ID", "uuid", "task_id"),
    "model": ("model", "model_name", "model_id", "llm", "Model", "model_code"),
    "sample": ("sample", "sample_id", "sample_idx", "trial", "run", "seed", "epoch", "attempt", "draw", "rollout"),
    "answer": ("answer", "predicted", "parsed_answer", "vote", "choice", "prediction", "extracted_answer", "letter"),
    "free": (
        *("answer_text", "response", "submission", "final_answer", "submitted_answer", "output", "agent_answer"),
        *("answer", "model_answer", "submitted", "completion", "prediction"),
    ),
    "gold": ("gold", "gold_answer", "correct_answer", "target", "answer_key", "ground_truth", "reference", "answer"),
    "grade": ("grade", "is_correct", "correct", "graded_correct", "verdict", "score", "passed", "outcome", "result"),
    "parse": ("parse_status", "parse_reason", "parse", "parse_result", "abstention_reason", "error_reason", "status"),
    "ended": ("termination_reason", "finish_reason", "stop_reason", "termination", "finish"),
    "votes": ("votes", "count", "vote_count", "n", "n_votes"),
}
WORDS = (
    ("correct", "incorrect", "unanswered"),
    ("1", "0", "0"),
    ("true", "false", "false"),
    ("True", "False", ""),
    ("right", "wrong", "no_answer"),
    ("CORRECT", "INCORRECT", "UNANSWERED"),
    ("1.0", "0.0", ""),
    ("pass", "fail", "unanswered"),
    ("yes", "no", "no"),
    ("correct", "wrong", "not_submitted"),
)
SILENCE = ("", "", "null", "NULL", "abstain", "unparsed", "None", "N/A")
BESIDE = (
    *("reasoning", "raw_response", "prompt", "id", "n_options", "is_reasoning", "subject", "cached", "output_tokens"),
    *("completion_tokens", "question", "full_text", "thinking", "raw_output", "elapsed_tokens"),
)
"""What else stands beside a vote."""
TEXT = 'Let us think. It might be A, or "B"; so the answer is C.\n' * 3


@dataclass
class World:
    """What a corpus holds: (dataset, question, model) to its votes; which answers are right; null votes are None."""

    votes: dict[tuple[str, str, str], list[str | None]] = field(default_factory=dict)
    right: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    gold: dict[tuple[str, str], str] = field(default_factory=dict)
    why: dict[tuple[str, str, str, int], str] = field(default_factory=dict)
    layout: list[str] = field(default_factory=list)
    """How it is laid out, in words."""

    def tallied(self) -> dict[tuple[str, str, str], tuple[int, Counter[str | None]]]:
        """Right votes and votes by answer, right ones as one, of every cell."""
        found = {}
        for cell, answers in self.votes.items():
            right = self.right[cell[:2]]
            merged = Counter("(right)" if answer in right else answer for answer in answers)
            found[cell] = (merged.pop("(right)", 0), merged)
        return found


def write(folder: Path, seed: int, strange: bool = False, questions: int = 6, samples: int = 4) -> World:
    """Lay a corpus out in a folder; the same seed gives the same bytes. Strange ones have names that nobody knows."""
    draw = random.Random(seed)
    world = _world(draw, questions, samples)
    _Layout(draw, world, folder, strange).write()
    return world


def _world(draw: random.Random, questions: int, samples: int) -> World:
    world = World()
    chosen = draw.sample(sorted(DATASETS), draw.randint(1, 3))
    models = draw.sample(sorted(MODELS), draw.choice([3, 5, 10]))
    for dataset in sorted(chosen):
        for number in range(questions):
            question = draw.choice(["{}", "q{}", "chal-{:02}", "rec{}XyZ"]).format(number) if number == 0 else ""
            question = question or f"{dataset[0]}{number:03}"
            letters = "ABCDEFGHIJ"[: draw.choice([4, 10])]
            gold = draw.choice(letters)
            right = {gold}
            pool: Sequence[str] = letters
            if dataset == "forensic":
                gold = draw.choice(["10.0.0.5", "mimikatz.exe", "3 pm", "2024-05-06T07:08:09Z", "4", "C:\\Temp\\a, b"])
                right = {gold, *draw.sample([gold.upper() + "!", f"the {gold}"], draw.randint(0, 2))}
                pool = [*right, "wrong.exe", "127.0.0.1", "7", 'not "that"']
            world.gold[dataset, question], world.right[dataset, question] = gold, right
            for model in models:
                cast: list[str | None] = []
                for sample in range(samples):
                    silent = draw.random() < 0.15
                    cast.append(None if silent else draw.choice([*pool, *right]))
                    if silent:
                        kinds = ("truncated", "unanswered" if dataset == "forensic" else "no_parse")
                        world.why[dataset, question, model, sample] = draw.choice(kinds)
                world.votes[dataset, question, model] = cast
    return world


class _Layout:
    def __init__(self, draw: random.Random, world: World, folder: Path, strange: bool) -> None:
        self.draw, self.world, self.folder = draw, world, folder
        self.form = draw.choice(["csv", "csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "tsv", "sqlite", "both"])
        self.names = {part: draw.choice(names) for part, names in COLUMNS.items()}
        for part in draw.sample(sorted(self.names), draw.randint(1, 2) if strange else 0):
            self.names[part] = f"{draw.choice(['x', 'field', 'col', 'data'])}_{draw.randint(1, 99)}_{part[:2]}"
        if self.names["sample"] == self.names["question"]:
            self.names["sample"] = "sample"
        if self.names["question"] == "id" and self.names["sample"] == "sample_id":
            self.names["sample"] = "trial"
        self.naming = draw.choice([0, 0, 1, 2])
        self.split = draw.choice(["column", "file", "file", "folder"])
        self.per_model = draw.choice(["column", "column", "column", "file", "file", "folder"])
        self.silence = draw.choice(SILENCE)
        self.words = draw.choice(WORDS)
        self.base = draw.choice([0, 1])
        self.gold = draw.choice(["inline", "table", "both"])
        self.grades = draw.choice(["inline", "inline", "table"])
        self.reasons = draw.choice(["inline", "table", "none"])
        self.title = draw.randint(0, 3)
        self.rows = 0
        self.beside = draw.sample(BESIDE, draw.randint(0, 5))
        if self.split == "column":
            self.names["free"] = self.names["answer"]
        world.layout += self.beside
        self.kind = draw.choice(["votes", "records", "trials", "inferences", "responses", ""])
        world.layout += [f"{name}={value}" for name, value in vars(self).items() if isinstance(value, str | int)]
        world.layout += [f"{part}:{name}" for part, name in self.names.items()]

    def model(self, code: str) -> str:
        return (code, *MODELS[code])[self.naming]

    def write(self) -> None:
        tables: Tables = {}
        for (dataset, question, code), cast in self.world.votes.items():
            for number, answer in enumerate(cast):
                self._vote(tables, dataset, question, code, number, answer)
        if self.gold != "inline":
            for (dataset, question), gold in self.world.gold.items():
                name = "gold" if self.names["gold"] == self.names["question"] else self.names["gold"]
                row = {self.names["question"]: question, name: gold}
                self._put(tables, dataset, None, "gold", row)
        if self.draw.random() < 0.3:
            self._counts(tables)
        for kind, files in tables.items():
            for path, rows in files.items():
                if not path.startswith("/"):
                    self._file(path if kind == "votes" else f"{path}", rows)
        if self.draw.random() < 0.3:
            about = [{"model": self.model(code), "hf_id": MODELS[code][0], "parameters_b": 27} for code in MODELS]
            self._file("models", about)
        if self.draw.random() < 0.3:
            (self.folder / "README.md").write_text("# deciban\n\n| table | rows |\n")

    def _vote(
        self, tables: Tables, dataset: str, question: str, code: str, number: int,
        answer: str | None,
    ) -> None:  # fmt: skip
        names, free = self.names, dataset == "forensic"
        place = {names["question"]: question, names["sample"]: number + self.base}
        said = names["free" if free else "answer"]
        why = self.world.why.get((dataset, question, code, number))
        row: Row = {**place, said: self.silence if answer is None else answer}
        gold = names["gold"] if names["gold"] not in (said, *place) else "gold_answer"
        if self.gold != "table":
            row[gold] = self.world.gold[dataset, question]
        if free:
            right = answer in self.world.right[dataset, question]
            word = self.words[2 if answer is None else 0 if right else 1]
            grade = names["grade"] if names["grade"] not in row else "is_correct"
            if self.grades == "inline":
                row[grade] = word
            else:
                self._put(tables, dataset, code, "grades", {**place, grade: word})
        reasons = {names["parse"]: "ok", names["ended"]: "stop"}
        if why is not None:
            reasons = {names["parse"]: "" if why == "truncated" else why, names["ended"]: "stop"}
            reasons[names["ended"]] = "length" if why == "truncated" else "stop"
        if self.reasons == "inline":
            row |= {name: value for name, value in reasons.items() if name not in row}
        elif self.reasons == "table" and why is not None:
            self._put(tables, dataset, code, "reasons", {**place, names["parse"]: why})
        for name in self.beside:
            row.setdefault(name, self._beside(name, dataset, question, number))
        self._put(tables, dataset, code, "votes", row)

    def _beside(self, name: str, dataset: str, question: str, number: int) -> object:
        self.rows += 1
        facts = {"id": self.rows, "n_options": 10, "is_reasoning": "true", "subject": dataset[:3], "cached": number % 2}
        facts |= {"prompt": f"What is {question} of {dataset}?", "question": f"What is {question}, then?"}
        return facts.get(name, 812 + number if name.endswith("tokens") else TEXT)

    def _counts(self, tables: Tables) -> None:
        for (dataset, question, code), cast in self.world.votes.items():
            said = self.names["free" if dataset == "forensic" else "answer"]
            for answer, number in Counter(cast).items():
                row = {self.names["question"]: question, said: self.silence if answer is None else answer}
                self._put(tables, dataset, code, "counts", row | {self.names["votes"]: number})

    def _put(self, tables: Tables, dataset: str, code: str | None, kind: str, row: Row) -> None:
        word = self.kind if kind == "votes" else {"counts": "vote_counts", "reasons": "abstentions"}.get(kind, kind)
        titles = DATASETS[dataset]
        title = titles[self.title % len(titles)]
        parts = []
        if self.split == "column":
            row = {self.names["dataset"]: title, **row}
        else:
            parts.append(title)
        if code is not None:
            alone = self.per_model if kind in ("votes", "grades") else "column"
            if alone == "column":
                row = {**row, self.names["model"]: self.model(code)}
            else:
                parts.append(self.model(code).rpartition("/")[2])
        place = ("/" if self.split == "folder" or self.per_model == "folder" else "_").join([*parts, word]).strip("_/")
        tables.setdefault(kind, {}).setdefault(place or "data", []).append(row)

    def _file(self, path: str, rows: list[Row]) -> None:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        cells = [[row.get(name) for name in columns] for row in rows]
        if self.form in ("sqlite", "both"):
            table = path.replace("/", "_").replace(".", "_")
            with sqlite3.connect(self.folder / "deciban.sqlite") as open_:
                listed = ", ".join(f'"{name}"' for name in columns)
                open_.execute(f'create table "{table}" ({listed})')
                open_.executemany(f'insert into "{table}" values ({", ".join("?" * len(columns))})', cells)
            if self.form == "sqlite":
                return
        form = "csv" if self.form == "both" else self.form
        file = self.folder / f"{path}.{form}"
        file.parent.mkdir(parents=True, exist_ok=True)
        if form == "parquet":
            frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in columns}, strict=False)
            frame.write_parquet(file)
            return
        if form.startswith("jsonl"):
            text = "".join(json.dumps({k: v if v != "" else None for k, v in row.items()}) + "\n" for row in rows)
        else:
            out = io.StringIO()
            writer = csv.writer(out, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(cells)
            text = out.getvalue()
        file.write_bytes(gzip.compress(text.encode()) if form.endswith(".gz") else text.encode())


def read(folder: Path) -> dict[tuple[str, str, str], tuple[int, Counter[str | None]]] | str:
    """What is read of a corpus, in the terms of `World.tallied`; a refusal in its words."""
    import swaplaw as sl
    from swaplaw.importers.corpus_tables import paper_name

    codes = {paper_name(code): code for code in MODELS}
    try:
        votes = sl.read_votes(folder).merging_right()
        found = {}
        for dataset in votes.datasets:
            tally = votes.tally(dataset)
            for place, model in enumerate(tally.models):
                counts = tally.dense(place)
                for index, question in enumerate(tally.questions):
                    if not tally.answered[place][index]:
                        continue
                    mine = Counter(
                        {
                            tally.rivals.labels[at]: int(counts[at])
                            for at in range(len(counts))
                            if tally.rivals.question[at] == index and counts[at]
                        }
                    )
                    found[dataset, question, codes[model]] = (int(tally.gold[place][index]), mine)
    except sl.InputError as error:
        return str(error)
    return found


def main(number: int, start: int = 0, strange: int = 0) -> None:
    """Try layouts, and print each that is read wrong, and what is said of those that are refused."""
    from tempfile import TemporaryDirectory

    outcomes: Counter[str] = Counter()
    for seed in range(start, start + number):
        with TemporaryDirectory() as folder:
            world = write(Path(folder), seed, bool(strange))
            try:
                found = read(Path(folder))
            except Exception as error:
                found = {}
                print(seed, "TRACEBACK", type(error).__name__, str(error)[:300])
            if isinstance(found, str):
                outcomes["refused"] += 1
                print(seed, "refused:", found[:300])
            elif found == world.tallied():
                outcomes["right"] += 1
            else:
                outcomes["WRONG"] += 1
                expected = world.tallied()
                lost, more = expected.keys() - found.keys(), found.keys() - expected.keys()
                odd = [
                    (cell, expected[cell], found[cell])
                    for cell in expected.keys() & found.keys()
                    if expected[cell] != found[cell]
                ]
                print(
                    seed,
                    "WRONG",
                    len(lost),
                    "lost",
                    len(more),
                    "more",
                    len(odd),
                    "of",
                    len(expected),
                    "differ:",
                    sorted(lost)[:1],
                    sorted(more)[:1],
                    sorted(odd, key=str)[:1],
                    *world.layout,
                )
    print(outcomes)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(*map(int, sys.argv[1:]))
