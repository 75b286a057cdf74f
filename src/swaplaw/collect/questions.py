"""Multiple-choice questions: what one is, what must hold for it, and where questions are read from.

Everything is checked when questions are read, before anything is asked or paid: what breaks the contract is an
`InputError` that names the file, the row, the value and the fix.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swaplaw.answers.letters import letter
from swaplaw.collect.design import FEWEST_OPTIONS, MOST_OPTIONS
from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote
from swaplaw.importers.record import positions

if TYPE_CHECKING:
    from inspect_ai.dataset import Dataset, Sample

DEMO = "demo"
"""Stands for the 48 bundled questions wherever a dataset is asked for."""
SKIP = "leave such rows out (`skip_invalid`)"


@dataclass(frozen=True)
class Question:
    """One question with its options in canonical order; votes name options by the letters of that order."""

    id: str
    text: str
    options: tuple[str, ...]
    gold: int | None
    """The position of the correct option, from 0; None where nobody knows it yet."""
    cluster: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a stratified sample can be drawn by: discipline, difficulty and the like."""

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise InputError("the id is empty; give every question an id")
        if not self.id.isprintable():
            # Ids name files of logs and stand in terminals.
            raise InputError(f"the id {quote(self.id)} holds characters that cannot be printed; leave them out")
        if not self.text.strip():
            raise InputError("the question is empty; write its text")
        if not FEWEST_OPTIONS <= len(self.options) <= MOST_OPTIONS:
            raise InputError(f"there are {len(self.options)} options; give {FEWEST_OPTIONS} to {MOST_OPTIONS}")
        seen: dict[str, int] = {}
        for place, option in enumerate(self.options):
            if not (words := " ".join(option.split())):
                raise InputError(f"option {letter(place)} is empty; write its text or remove it")
            if words in seen:
                raise InputError(
                    f"options {letter(seen[words])} and {letter(place)} are the same, {quote(words)}; "
                    "options must differ, or a vote names no single one"
                )
            seen[words] = place
        if self.gold is not None and not 0 <= self.gold < len(self.options):
            raise InputError(f"gold is option number {self.gold + 1}, but there are {len(self.options)} options")

    @property
    def letter(self) -> str:
        """The letter of the correct option; empty where nobody knows it yet."""
        return "" if self.gold is None else letter(self.gold)


@dataclass(frozen=True)
class Questions:
    """The questions of one dataset, in the order in which they were read."""

    dataset: str
    items: tuple[Question, ...] = field(repr=False)
    source: str
    """Where they were read from."""
    notes: tuple[str, ...] = ()
    """What reading found that one should know: guesses that matter, rows left out."""

    def __iter__(self) -> Iterator[Question]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of ids, texts, options and golds: the same for the same questions, in whatever file or order."""
        digest = hashlib.sha256()
        for question in sorted(self.items, key=lambda question: question.id):
            content = [question.id, question.text, question.options, question.gold]
            digest.update(json.dumps(content).encode() + b"\n")
        return f"sha256:{digest.hexdigest()}"

    def first(self, number: int) -> Questions:
        """Take the first ones."""
        return Questions(self.dataset, self.items[:number], self.source, self.notes)

    def select(self, ids: Sequence[str]) -> Questions:
        """Take the questions with these ids, in this order."""
        known = {question.id: question for question in self.items}
        if missing := [one for one in ids if one not in known]:
            raise InputError(
                f"{quote(self.source, 200)}: {len(missing)} of {len(ids)} questions are not in it "
                f"({listing(missing, 3)}); is it the same version of the same dataset?"
            )
        return Questions(self.dataset, tuple(known[one] for one in ids), self.source, self.notes)


Row = tuple[str, Callable[[], Question]]
"""Where a question stands, and what builds it (or raises an `InputError`)."""


def gather(dataset: str, source: str, rows: Iterable[Row], skip_invalid: bool, notes: Sequence[str] = ()) -> Questions:
    """Build all questions of a source; what is wrong with one is said with its place."""
    items: list[Question] = []
    places: dict[str, str] = {}
    problems: list[str] = []
    for place, build in rows:
        try:
            question = build()
            if question.id in places:
                raise InputError(
                    f"the id {quote(question.id)} is also that of {places[question.id]}; give every question its own id"
                )
        except InputError as error:
            problems.append(f"{place}: {error}")
            if not skip_invalid:
                raise InputError(f"{quote(source, 200)}, {problems[0]}; fix the row, or {SKIP}") from None
            continue
        places[question.id] = place
        items.append(question)
    total = len(items) + len(problems)
    left_out = ""
    if problems:
        left_out = f"{len(problems)} of {total} questions are invalid and left out (the first: {problems[0]})"
    if not items:
        raise InputError(f"{quote(source, 200)}: {left_out or 'there are no questions'}; one is needed at least")
    found = Questions(dataset, tuple(items), source, (*notes, left_out) if left_out else tuple(notes))
    return _clustered(found)


def _clustered(questions: Questions) -> Questions:
    """Votes have clusters for all questions or for none."""
    lacking = [question.id for question in questions if question.cluster is None]
    if not 0 < len(lacking) < len(questions):
        return questions
    note = (
        f"{len(lacking)} of {len(questions)} questions have no cluster ({listing(lacking, 3)}): clusters are not used"
    )
    items = tuple(replace(question, cluster=None) for question in questions)
    return replace(questions, items=items, notes=(*questions.notes, note))


def text_of(value: Any, what: str) -> str:
    """A cell as text: numbers and truth values as they are written, nothing as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise InputError(f"{what} is {quote(value)}; expected text")
    # Lone surrogates, which JSON can spell, fit in no file of votes.
    return str(value).encode("utf-8", "replace").decode().strip()


def content_id(text: str, options: Sequence[str]) -> str:
    """An id for a question that has none: the same for the same text and options, wherever they stand."""
    return hashlib.sha256(json.dumps([text, *options]).encode()).hexdigest()[:16]


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
