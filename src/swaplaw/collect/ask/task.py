"""The Inspect task `mcq`: multiple-choice questions, asked anew in every epoch.

`inspect eval swaplaw/mcq -T dataset=questions.csv --epochs 24 --model ...` runs it; so does `swaplaw collect mcq`.
"""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from swaplaw._core.inspect_run import errors_for_inspect
from swaplaw.collect.ask.scorer import vote
from swaplaw.collect.ask.solver import ask
from swaplaw.collect.design.manifest import read_manifest
from swaplaw.collect.questions.question import Question
from swaplaw.collect.questions.sources import read_questions
from swaplaw.collect.run.plan import SAMPLES, TEMPERATURE

CLUSTER = "cluster"
"""Key of a sample's metadata."""


@task
def mcq(
    dataset: str,
    seed: int = 0,
    brief: bool = False,
    grammar: bool = False,
    manifest: str | None = None,
    limit: int | None = None,
    columns: dict[str, str] | None = None,
    name: str | None = None,
    skip_invalid: bool = False,
    unlabelled: bool = False,
) -> Task:
    """Ask multiple-choice questions; N epochs are N votes per question.

    Args:
        dataset: a file of questions (CSV, JSONL, Parquet), or a dataset's name (docs/collect.md lists them).
        seed: of the answer orders and of every generation.
        brief: ask for one or two sentences of reasoning instead of step-by-step reasoning.
        grammar: hold a llama.cpp server to one line of reasoning and a valid answer line.
        manifest: a sample's manifest (`swaplaw collect sample`): ask only its questions.
        limit: ask only this many questions, the first ones.
        columns: which column of a file holds which part of a question, where it cannot be guessed.
        name: what to call the dataset; default: after its file.
        skip_invalid: leave invalid questions out instead of refusing all.
        unlabelled: questions may lack an answer; their votes have no gold.
    """
    with errors_for_inspect():
        questions = read_questions(
            dataset, columns=columns, name=name, skip_invalid=skip_invalid, unlabelled=unlabelled
        )
        if manifest is not None:
            questions = read_manifest(manifest).take(questions)
        if limit is not None:
            questions = questions.first(limit)
    return Task(
        dataset=MemoryDataset([sample(question) for question in questions], name=questions.dataset),
        solver=ask(seed=seed, brief=brief, grammar=grammar),
        scorer=vote(),
        config=GenerateConfig(temperature=TEMPERATURE),
        epochs=SAMPLES,
        continue_on_fail=True,
        # Part of what a log is known by: changed questions are another task, and never mixed with these.
        version=questions.fingerprint,
        metadata={"notes": list(questions.notes)},
        name=questions.dataset,
    )


def sample(question: Question) -> Sample:
    """Make a question an Inspect sample: canonical options, and the letter of the right one."""
    cluster = {} if question.cluster is None else {CLUSTER: question.cluster}
    return Sample(
        input=question.text,
        choices=list(question.options),
        target=question.letter,
        id=question.id,
        metadata=dict(question.strata) | cluster,
    )
