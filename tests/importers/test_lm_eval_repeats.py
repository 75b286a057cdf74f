"""Self-consistency as lm-evaluation-harness runs it: its own task, repeats and filters, imported vote by vote."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers import Reader
from swaplaw.importers.reading import import_votes
from swaplaw.importers.record import Options

from support.commands import Run
from support.harness import run_harness

lm_eval = pytest.importorskip("lm_eval")

REPEATS, DOCUMENTS = 64, 10
TASK = """
include: {own}
task: sums_self_consistency
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/sums.jsonl, train: {folder}/sums.jsonl}}}}
dataset_name: null
num_fewshot: 0
"""
SAID = ("{a} + {b} = {v}. The answer is {v}.", "The answer is {v:,}.", "Let us see. The answer is {v} dollars.")
UNSAID = ("I give up.", "It is {v}, I think.", "")
"""Ways in which the task's pattern finds the number, and ways in which it does not."""


def script(random: Random) -> tuple[list[dict[str, str]], dict[str, list[str]], list[list[str | None]]]:
    """Documents, the model's responses by question, and the vote that each response is."""
    documents, responses, votes = [], {}, []
    for n in range(DOCUMENTS):
        a, b = 1000 + 7 * n, 13 * n
        question = f"What is {a} plus {b}?"
        documents.append({"question": question, "answer": f"We add.\n#### {a + b:,}"})
        said, meant = [], []
        for _ in range(REPEATS):
            value = a + b if random.random() < 0.7 else a + b + random.choice([1, 10])
            found = random.random() < 0.9
            form = random.choice(SAID if found else UNSAID)
            said.append(form.format(a=a, b=b, v=value))
            meant.append(str(value) if found else None)
        responses[question] = said
        votes.append(meant)
    return documents, responses, votes


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[str | None]]]:
    """A real run of the harness with the filters, repeats and metric of its own task `gsm8k_cot_self_consistency`."""
    folder = tmp_path_factory.mktemp("self-consistency")
    documents, responses, votes = script(Random(0))
    (folder / "sums.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (folder / "responses.json").write_text(json.dumps(responses))
    own = Path(lm_eval.__file__).parent / "tasks" / "gsm8k" / "gsm8k-cot-self-consistency.yaml"
    (folder / "tasks").mkdir()
    (folder / "tasks" / "sums.yaml").write_text(TASK.format(own=own, folder=folder))
    model = ("--model", "scripted", "--model_args", "pretrained=scripted", "--tasks", "sums_self_consistency")
    run_harness(folder, folder / "out", *model, responses=folder / "responses.json")
    return folder / "out", votes


def answers(frame: pl.DataFrame) -> list[list[str | None]]:
    ordered = frame.with_columns(pl.col("question").cast(pl.Int64)).sort("question", "sample")
    return [part["answer"].to_list() for part in ordered.partition_by("question", maintain_order=True)]


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"filter": "raw"}, REPEATS),
        ({"filter": "maj@64"}, REPEATS),
        ({"filter": "score-first"}, REPEATS),
        ({"filter": "maj@8"}, 8),
        (
            {"filter": "raw", "reader": Reader("regex", pattern=r"The answer is ([0-9,]+)", canonical=["number"])},
            REPEATS,
        ),
    ],
    ids=["raw", "maj@64", "score-first", "maj@8", "a pattern"],
)
def test_every_response_is_the_vote_it_is(
    run: tuple[Path, list[list[str | None]]], options: dict[str, Any], first: int
) -> None:
    out, votes = run
    frame = import_votes(out, Options(**options)).votes.frame.collect()
    assert answers(frame) == [each[:first] for each in votes]
    golds = {str(n): str(1000 + 20 * n) for n in range(DOCUMENTS)}
    assert all(row["gold"] == golds[row["question"]] for row in frame.iter_rows(named=True))
    assert frame["correct"].to_list() == [
        answer is not None and answer == gold for answer, gold in frame.select("answer", "gold").iter_rows()
    ]


def test_the_majority_is_the_harness_s_own(run: tuple[Path, list[list[str | None]]]) -> None:
    """The accuracy of single votes and of the plurality, beside what the harness itself reports."""
    out, votes = run
    [results] = out.rglob("results_*.json")
    reported = json.loads(results.read_text())["results"]["sums_self_consistency"]
    [summary] = sl.summary(import_votes(out, Options(filter="raw")).votes)
    right = [[vote == str(1000 + 20 * n) for vote in own] for n, own in enumerate(votes)]
    assert float(summary.single) == sum(map(sum, right)) / (REPEATS * DOCUMENTS)
    assert float(summary.plurality) == reported["exact_match,maj@64"]
    assert sum(own[0] for own in right) / DOCUMENTS == reported["exact_match,score-first"]
    # Responses as they are would hardly ever be gold: that is what the task's filter is for.
    whole = import_votes(out, Options(filter="raw", reader=Reader("text"))).votes
    assert float(sl.summary(whole)[0].single) < 0.1 < float(summary.single)


def test_how_responses_came_about_is_recorded(run: tuple[Path, list[list[str | None]]]) -> None:
    reader = Reader("regex", pattern=r"The answer is ([0-9,]+)")
    imported = import_votes(run[0], Options(filter="raw", reader=reader))
    assert imported.votes.origin == {"reader": reader.to_dict(), "temperature": 0.2, "truncated": "read"}


def test_the_command_line_reads_it_the_same(
    swaplaw: Run, run: tuple[Path, list[list[str | None]]], tmp_path: Path
) -> None:
    out, votes = run
    output = tmp_path / "votes.parquet"
    command = ["import", out, "--filter", "raw", "-o", output]
    pattern = [*command, "--pattern", "The answer is ([0-9,]+)", "--canonical", "number"]
    for each in (command, pattern):
        done = swaplaw(*each)
        assert done.code == 0, done.err
        assert answers(pl.read_parquet(output)) == votes
