"""The Inspect task `mcq`: multiple-choice questions, asked anew in every epoch.

`inspect eval swaplaw/mcq -T dataset=questions.csv --epochs 24 --model ...` runs it; so does `swaplaw collect mcq`.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import PurePath

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from swaplaw.collect.plan import SAMPLES, TEMPERATURE
from swaplaw.collect.questions import Question, read_questions
from swaplaw.collect.scorer import vote
from swaplaw.collect.solver import ask
from swaplaw.errors import InputError
from swaplaw.importers.record import letter

CLUSTER = "cluster"


@task
def mcq(dataset: str, seed: int = 0, brief: bool = False, grammar: bool = False) -> Task:
    """Ask multiple-choice questions; N epochs are N votes a question.

    Args:
        dataset: a file of questions, or the name of a dataset.
        seed: of the answer orders and of every generation.
        brief: ask for one or two sentences of reasoning instead of step-by-step reasoning.
        grammar: hold a llama.cpp server to one line of reasoning and a valid answer line.
    """
    try:
        questions = read_questions(dataset)
    except InputError as error:
        raise PrerequisiteError(str(error)) from None  # Which Inspect shows as one line.
    return Task(
        dataset=MemoryDataset([sample(question) for question in questions], name=PurePath(dataset).stem),
        solver=ask(seed=seed, brief=brief, grammar=grammar),
        scorer=vote(),
        config=GenerateConfig(temperature=TEMPERATURE),
        epochs=SAMPLES,
        continue_on_fail=True,
        # Part of what a log is known by: changed questions are another task, and never mixed with these.
        version=fingerprint(questions),
        name=PurePath(dataset).stem,
    )


def sample(question: Question) -> Sample:
    """Make a question an Inspect sample: canonical options, and the letter of the right one."""
    return Sample(
        input=question.text,
        choices=list(question.options),
        target=letter(question.gold),
        id=question.id,
        metadata={CLUSTER: question.cluster} | dict(question.strata),
    )


def fingerprint(questions: list[Question]) -> str:
    """Tell questions apart by content, wherever they came from."""
    content = [[question.id, question.text, list(question.options), question.gold] for question in questions]
    return sha256(json.dumps(content).encode()).hexdigest()[:16]
