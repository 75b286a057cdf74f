"""JSON documents as rows: arrays of records one by one, and objects whose keys are datasets, models or questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from swaplaw.errors import InputError
from swaplaw.paper.corpus.words import DATASETS, known, model_name

CHUNK = 2**20
"""Characters that are read at once."""
LARGEST_OBJECT = 2**28
"""Characters of an object that is read whole; arrays and lines may be of any size."""
GOLD = (("gold", "gold"), ("key", "gold"), ("label", "gold"), ("solution", "gold"))
ANSWERS = ("answers", "final_answers", "submitted_answers", "submission", "votes")
_SPACE = " \t\r\n"


def json_rows(text: IO[str], name: str) -> Iterator[dict[str, Any]]:
    """Rows of a JSON document; other JSON (a card, a description) has none.

    An array is read a record at a time, so that long texts are never held together.
    """
    start = text.read(CHUNK).lstrip(_SPACE)
    if start.startswith("["):
        for record in _elements(text, start[1:]):
            if not isinstance(record, dict):
                return
            yield record
        return
    document = start + text.read(LARGEST_OBJECT)
    if text.read(1):
        raise InputError("a JSON object of this size is not read: store records as JSON lines")
    yield from _unfolded(json.loads(document), {}, known(name, GOLD) is not None)


def _elements(text: IO[str], buffer: str) -> Iterator[Any]:
    """Elements of an array whose bracket has been read."""
    decoder, place = json.JSONDecoder(), 0
    while True:
        while place < len(buffer) and buffer[place] in _SPACE + ",":
            place += 1
        if buffer.startswith("]", place):
            return
        try:
            element, place = decoder.raw_decode(buffer, place)
        except ValueError:
            # As much again as is held already: a record of any length is read in few steps.
            more = text.read(max(CHUNK, len(buffer) - place))
            if not more:
                raise ValueError("the array ends in the middle of a record") from None
            buffer, place = buffer[place:] + more, 0
            continue
        yield element


def _unfolded(node: Any, named: Mapping[str, Any], gold: bool) -> Iterator[dict[str, Any]]:
    """Rows under a node of nested objects; `named` is what the keys above it said."""
    if isinstance(node, list):
        if all(isinstance(entry, dict) for entry in node):
            yield from ({**named, **entry} for entry in node)
        elif {"question", "model"} <= set(named):
            yield {**named, "answers": node}
        return
    if not isinstance(node, dict) or not node:
        if gold and "question" in named:
            yield {**named, "gold": node}
        return
    answers = next((node[key] for key in ANSWERS if isinstance(node.get(key), dict)), None)
    if answers is not None and "question" not in named and any(not isinstance(each, dict) for each in node.values()):
        # The record of one run over many questions.
        facts = {**named, **{name: value for name, value in node.items() if not isinstance(value, dict | list)}}
        for question, given in answers.items():
            yield {**facts, "question": question, **(given if isinstance(given, dict) else {"answer": given})}
        return
    level = _level(node, named, gold)
    if level:
        for key, below in node.items():
            yield from _unfolded(below, {**named, level: key}, gold)
    elif {"question", "model"} <= set(named):
        counts = all(isinstance(value, int) and not isinstance(value, bool) for value in node.values())
        yield {**named, "votes": node} if counts else {**named, **node}


def _level(node: Mapping[str, Any], named: Mapping[str, Any], gold: bool) -> str | None:
    """What the keys of an object are: datasets, models, questions, or (None) answers or columns."""
    datasets, models = [known(key, DATASETS) for key in node], [model_name(key) for key in node]
    nested = all(isinstance(below, dict | list) for below in node.values())
    if nested and "dataset" not in named and None not in datasets and len(set(datasets)) == len(datasets):
        return "dataset"
    if nested and "model" not in named and None not in models and len(set(models)) == len(models):
        return "model"
    if "question" not in named and (nested or gold):
        return "question"
    return None
