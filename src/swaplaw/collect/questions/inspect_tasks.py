"""Questions from any Inspect dataset: samples with choices, whose target is the letter of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from swaplaw.collect.questions.question import Question, Questions, Row, content_id, gather, text_of
from swaplaw.errors import InputError, MissingExtraError, SwaplawError, quote
from swaplaw.importers.record import positions

if TYPE_CHECKING:
    from inspect_ai.dataset import Dataset, Sample


def from_samples(
    dataset: Dataset | Iterable[Sample],
    *,
    name: str | None = None,
    skip_invalid: bool = False,
    unlabelled: bool = False,
) -> Questions:
    """Take the questions of an Inspect dataset (or of any samples); its solvers and scorers are left alone."""
    called = name or getattr(dataset, "name", None) or "inspect"
    rows = (_builder(f"sample {number}", sample, unlabelled) for number, sample in enumerate(dataset, 1))
    return gather(called, getattr(dataset, "location", None) or called, rows, skip_invalid)


def from_task(task: str, *, name: str | None = None, skip_invalid: bool = False, unlabelled: bool = False) -> Questions:
    """Take the questions of an installed Inspect task, such as `inspect_evals/gpqa_diamond`."""
    try:
        from inspect_ai import Task
        from inspect_ai.util import registry_create
    except ImportError:
        raise MissingExtraError("collect", "reading questions from an Inspect task") from None
    try:
        made = registry_create("task", task)
    except LookupError:
        raise InputError(
            f"there is no Inspect task {quote(task)}; name one of an installed package, such as inspect_evals/mmlu_pro"
        ) from None
    except Exception as error:  # Tasks are other people's code, and read files and networks of their own.
        raise SwaplawError(f"the Inspect task {quote(task)} could not be made: {quote(str(error), 200)}") from None
    assert isinstance(made, Task)
    return from_samples(
        made.dataset, name=name or task.rpartition("/")[2], skip_invalid=skip_invalid, unlabelled=unlabelled
    )


def _builder(place: str, sample: Sample, unlabelled: bool) -> Row:
    return place, lambda: _question(sample, unlabelled)


def _question(sample: Sample, unlabelled: bool) -> Question:
    text, options = _text(sample), tuple(option.strip() for option in sample.choices or [])
    if not options:
        raise InputError("it has no choices; only multiple-choice samples can be asked")
    gold = positions(sample.target, len(options)) if sample.target else None
    keyless = unlabelled and not sample.target
    if not keyless and (gold is None or len(gold) != 1):
        raise InputError(f"its target {quote(sample.target)} is not the letter of one of its {len(options)} choices")
    metadata = sample.metadata or {}
    strata = {key: text_of(value, key) for key, value in metadata.items() if isinstance(value, str | int | bool)}
    identity = content_id(text, options) if sample.id is None else text_of(sample.id, "the id")
    return Question(identity, text, options, gold[0] if gold else None, strata.get("cluster") or None, strata)


def _text(sample: Sample) -> str:
    """The question as one text; pictures and the like cannot be asked here."""
    if isinstance(sample.input, str):
        return sample.input.strip()
    for message in sample.input:
        if not isinstance(message.content, str) and any(part.type != "text" for part in message.content):
            raise InputError("its input holds more than text; only questions in text can be asked")
    return "\n\n".join(message.text for message in sample.input).strip()
