"""The published JSON schemas: one per command, every key explained, and true of output that they were not made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from schemas import RUNS, SCHEMAS

from support.commands import Run

OTHERS = {
    "summary": ["summary", "demo:gpqa-diamond"],
    "compare": ["compare", "demo:gpqa-diamond", "--models", "gpt-oss-20b,Phi-4-reasoning"],
    "pairs": ["pairs", "demo:math500", "--weight", "1/3"],
    "curve": ["curve", "demo:gpqa-diamond", "--primary", "gpt-oss-20b", "--secondary", "MetaStone-S1-32B"],
    "checks": ["checks", "demo:mmlu-pro"],
    "labels": ["labels", "demo:gpqa-diamond", "--primary", "gpt-oss-20b", "--secondary", "MetaStone-S1-32B"],
    "recommend": ["recommend", "demo:mmlu-pro"],
}


def schema(command: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{command}.json").read_text())
    return found


def keys(part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, inside in part.get("properties", {}).items():
        yield key, inside
        yield from keys(inside)
    for inside in (part.get("items"), part.get("additionalProperties"), *part.get("anyOf", [])):
        if isinstance(inside, dict):
            yield from keys(inside)


@pytest.mark.parametrize("command", RUNS)
def test_every_key_is_explained(command: str) -> None:
    found = schema(command)
    jsonschema.Draft202012Validator.check_schema(found)
    assert [key for key, inside in keys(found) if "description" not in inside] == []


@pytest.mark.parametrize("command", OTHERS)
def test_other_output_keeps_the_schema(command: str, swaplaw: Run) -> None:
    jsonschema.validate(json.loads(swaplaw(*OTHERS[command], "--json").out), schema(command))
