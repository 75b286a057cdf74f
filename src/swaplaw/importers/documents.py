"""JSON documents, lines and arrays, each read in one way; and what a recorded reply votes for."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from swaplaw import _files
from swaplaw.answers.characters import storable
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError, quote
from swaplaw.importers.record import Findings, Options, bounded

MAX_DOCUMENT = 2**30
MAX_LINE = 64 * 2**20
"""The longest line that is read: a document with all its responses."""
_CHUNK = 1 << 18
_BETWEEN = re.compile(r"[\s,]*")
GOLDS = ("gold", "expected", "expected_output", "answer", "target", "label", "ideal", "reference", "correct_answer")
IDS = ("id", "question_id", "qid", "name")
LETTER = re.compile("[A-J]")
CHOICE = Reader("choice")
"""Reads whole replies where the gold is a letter."""


def load(file: Path) -> Any:
    """Read a JSON document of bounded size."""
    _files.require_small(_files.regular(file).stat().st_size, str(file), MAX_DOCUMENT)
    return _files.read_json(file.read_bytes(), str(file))


def lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read a JSONL file, one object per line; it may be packed, and begin with a mark of UTF-8."""
    name, number = quote(str(file), 200), 0
    with _files.unpacked(file).open("rb") as handle:
        while line := handle.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise InputError(f"{name}: line {number} is longer than {MAX_LINE:,} bytes")
            if text := line.removeprefix(codecs.BOM_UTF8).strip():
                yield number, _object(text, f"{name}: line {number}", whole=line.endswith(b"\n"))


def _object(line: bytes, place: str, *, whole: bool) -> dict[str, Any]:
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 text ({error}); write the file again as UTF-8") from None
    except (ValueError, RecursionError) as error:
        cut = "" if whole else "; the file seems cut off"
        raise InputError(f"{place} is not JSON{cut} ({error}); correct or remove that line") from None
    if not isinstance(found, dict):
        raise InputError(f"{place} is {quote(found)}; expected a JSON object")
    return found


def elements(handle: IO[bytes], name: str) -> Iterator[dict[str, Any]]:
    """Give the objects of a JSON array as they come. Python's decoder takes the bare NaN that Inspect writes."""
    decode, reader = json.JSONDecoder().raw_decode, TextIOWrapper(handle, encoding="utf-8")
    text, place = reader.read(_CHUNK).lstrip(), 1
    if not text.startswith("["):
        raise ValueError(f"expected a list in {name}")
    while True:
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]  # matches nothing, too
        if text.startswith("]", place):
            return
        try:
            element, place = decode(text, place)
        except json.JSONDecodeError:
            if not (chunk := reader.read(_CHUNK)):
                raise
            text, place = text[place:] + chunk, 0
            continue
        yield element


@contextmanager
def known(file: Path, tool: str) -> Iterator[None]:
    """Turn a surprise into one line that says which file it was."""
    try:
        yield
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
