"""What the importers of JSON documents and event logs share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError, quote
from swaplaw.importers.record import Findings, Options, bounded

MAX_DOCUMENT = 2**30
MAX_LINE = 64 * 2**20
"""The longest line that is read: a document with all its responses."""
GOLDS = ("gold", "expected", "expected_output", "answer", "target", "label", "ideal", "reference", "correct_answer")
IDS = ("id", "question_id", "qid", "name")
LETTER = re.compile("[A-J]")
CHOICE = Reader("choice")
"""Reads whole replies where the gold is a letter."""


def load(file: Path) -> Any:
    """Read a JSON document of bounded size."""
    if file.stat().st_size > MAX_DOCUMENT:
        raise InputError(f"{quote(str(file), 200)}: larger than {MAX_DOCUMENT:,} bytes; split the run")
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise InputError(f"{quote(str(file), 200)}: not JSON; the file seems cut off: copy it again") from None


def lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read a JSONL file, one object per line."""
    with file.open("rb") as handle:
        number = 0
        while line := handle.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise InputError(f"{quote(str(file), 200)}: line {number} is longer than {MAX_LINE:,} bytes")
            if not line.strip():
                continue
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                cut = "" if line.endswith(b"\n") else "; the file seems cut off"
                raise InputError(
                    f"{quote(str(file), 200)}: line {number} is not JSON{cut}; correct or remove that line"
                ) from None
            if not isinstance(event, dict):
                raise InputError(f"{quote(str(file), 200)}: line {number} is not a JSON object; correct or remove it")
            yield number, event


def known(file: Path, tool: str, make: Callable[[], None]) -> None:
    """Do the reading, and turn a surprise into one line that says which file it was."""
    try:
        make()
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise InputError(
            f"{quote(str(file), 200)}: not a file of {tool} that this version reads ({type(error).__name__}: "
            f"{quote(str(error), 80)}); was it written by another version?"
        ) from None


def question_of(inputs: Mapping[str, Any]) -> str:
    """Name a question by its id where its inputs have one, else by a digest of them."""
    for name in IDS:
        if isinstance(inputs.get(name), str | int):
            return storable(str(inputs[name]))
    canonical = json.dumps(inputs, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def gold_in(inputs: Mapping[str, Any]) -> str | None:
    """Find the gold answer among a question's inputs."""
    plain = {str(name).lower().lstrip("_"): value for name, value in inputs.items()}
    return next((first(plain[name]) for name in GOLDS if plain.get(name) not in (None, "")), None)


def first(value: Any) -> str:
    """Take the first of several golds: any will do, and the grade says who hit one."""
    return storable(str(value[0] if isinstance(value, list) and value else value))


def vote(output: Any, gold: str, correct: bool | None, options: Options, findings: Findings) -> dict[str, Any]:
    """Make the answer, gold, grade and reason of one vote from what a tool recorded.

    Completions are read by the reader that was asked for; without one, letters are read where the gold is a letter.
    """
    reader = options.reader or (CHOICE if LETTER.fullmatch(gold.strip()) else None)
    findings.reader = findings.reader or reader
    text = "" if output is None else output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    spelt = options.gold(bounded(gold))
    if not text.strip():
        return {"answer": None, "gold": spelt, "reason": "unanswered", "correct": False}
    answer = options.answer(text, reader)
    if answer is None or not answer.strip():
        return {"answer": None, "gold": spelt, "reason": "no_parse", "correct": False}
    graded = answer == spelt if correct is None or reader is not None else correct
    return {"answer": answer, "gold": spelt, "reason": None, "correct": graded}
