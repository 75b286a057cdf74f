"""The Inspect task `mcq`: multiple-choice questions, asked anew in every epoch, and what a generation votes for.

`inspect eval swaplaw/mcq -T dataset=questions.csv --epochs 24 --model ...` runs it; so does `swaplaw collect`.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.answers.choice import read_choice
from swaplaw.answers.letters import letter
from swaplaw.collect.design import order, read_manifest
from swaplaw.collect.questions import Question
from swaplaw.collect.sources import read_questions
from swaplaw.importers.record import STOPS

SAMPLES = 24
TEMPERATURE = 1.0
ORDER = "order"
"""Key of the sample's metadata: canonical letters in the order in which this epoch showed their options."""

FULL = "Think step by step before you answer."
BRIEF = "Think in one or two sentences."
PROMPT = """Answer the following multiple choice question. {think} \
The last line of your reply must be of the form 'ANSWER: X', where X is one of {letters}.

{question}

{options}"""

GRAMMAR = r"""root ::= reasoning "\nANSWER: " [A-{last}]
reasoning ::= ([^A\n *] | "A" [^N\n]) [^\n]{{0,{longest}}}"""
"""Reasoning cannot begin as an answer line does: a model that is made to answer twice contradicts itself."""
LONGEST = 200
"""Characters of reasoning that the grammar allows: about 50 tokens."""


@solver
def ask(seed: int = 0, brief: bool = False, grammar: bool = False) -> Solver:
    """Ask one question once, with its options in the order that the schedule gives this epoch.

    Args:
        seed: of the schedule and of every generation.
        brief: ask for one or two sentences of reasoning instead of step-by-step reasoning.
        grammar: hold a llama.cpp server to one line of reasoning and a valid answer line.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        options = [choice.value for choice in state.choices]
        question = str(state.sample_id)
        shown = order(seed, question, state.epoch, len(options))
        state.metadata[ORDER] = "".join(map(letter, shown))
        state.messages = [ChatMessageUser(content=prompt(state.input_text, [options[i] for i in shown], brief))]
        body: dict[str, Any] = {"extra_body": {"grammar": gbnf(len(options))}} if grammar else {}
        # Never from a cache: an answer that is read back would be the same vote counted twice.
        return await generate(
            state,
            tool_calls="none",
            cache=False,
            seed=generation_seed(seed, question, state.epoch, str(state.model)),
            **body,
        )

    return solve


def prompt(question: str, options: list[str], brief: bool = False) -> str:
    """Put a question as the model sees it."""
    letters = [letter(index) for index in range(len(options))]
    listed = "\n".join(f"{name}) {option}" for name, option in zip(letters, options, strict=True))
    think = BRIEF if brief else FULL
    return PROMPT.format(think=think, letters=", ".join(letters), question=question.strip(), options=listed)


def gbnf(options: int) -> str:
    """Write the grammar (GBNF, which llama.cpp reads) of one line of reasoning and an answer line."""
    return GRAMMAR.format(last=letter(options - 1), longest=LONGEST)


def generation_seed(seed: int, question: str, epoch: int, model: str) -> int:
    """Give every sample a seed of its own (31 bits), the same in every run."""
    key = json.dumps([seed, question, epoch, model]).encode()
    return int.from_bytes(blake2b(key, digest_size=4).digest()) >> 1


@metric
def abstained() -> Metric:
    """The share of samples that are null votes."""

    def share(scores: list[SampleScore]) -> float:
        return sum(score.score.reason is not None for score in scores) / len(scores) if scores else 0.0

    return share


@scorer(metrics=[accuracy(), stderr(), abstained()])
def vote() -> Scorer:
    """Score a sample's vote. An abstention has a reason and no answer, and is never correct."""
    return _score


@scorer(metrics=[abstained()])
def ballot() -> Scorer:
    """Read the vote of a sample that nobody has labelled yet: there is no accuracy to show."""
    return _score


async def _score(state: TaskState, target: Target) -> Score:
    options = len(state.choices)
    reason = abstention(state)
    shown = [state.choices[ord(name) - ord("A")].value for name in state.metadata[ORDER]]
    label = None if reason else read_choice(state.output.completion, options, texts=shown)
    if label is None:
        return Score(value=NOANSWER, reason=reason or "no_parse")
    position = [letter(place) for place in range(options)].index(label)
    answer = state.metadata[ORDER][position]
    return Score(
        value=CORRECT if answer == target.text else INCORRECT,
        answer=answer,
        metadata={"position": position + 1, "options": options},
    )


def abstention(state: TaskState) -> str | None:
    """Say why there is no answer to look for; None where there may be one."""
    if not state.output.choices:
        return "limit"  # The sample was stopped before its generation came back.
    return STOPS.get(state.output.stop_reason)


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
        scorer=vote() if any(question.gold is not None for question in questions) else ballot(),
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
