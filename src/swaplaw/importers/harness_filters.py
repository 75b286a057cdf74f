"""What lm-evaluation-harness's own filters do to one response, before a reducer keeps one of several."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from swaplaw.answers.patterns import Pattern
from swaplaw.errors import InputError, quote

INVALID = ("[invalid]", "")
"""What the harness's extracting filters give where they find nothing."""
REDUCERS = ("take_first", "take_first_k", "majority_vote")
Step = Callable[[str], str]
PLAIN: dict[str, Step] = {
    "remove_whitespace": lambda text: text.strip(),
    "lowercase": lambda text: text.lower(),
    "uppercase": lambda text: text.upper(),
}


@dataclass(frozen=True)
class TaskFilters:
    """A task's filters as its results file records them, and what its metric does not look at."""

    steps: Mapping[str, tuple[Step, ...]]
    first: Mapping[str, int] = field(default_factory=dict)
    """Of filters that look at the first few responses only: how many."""
    ignored: tuple[str, ...] = ()
    """Patterns of what the metric does not look at."""
    ignores_case: bool = False

    def apply(self, name: str, response: str) -> str:
        """Take one response through the steps of a filter that look at responses one by one."""
        for step in self.steps.get(name, ()):
            response = step(response)
        return response

    def extracts(self, name: str) -> bool:
        """Whether a filter takes an answer out of a response."""
        return bool(self.steps.get(name))

    def spell(self, answer: str) -> str:
        """Spell an answer as the metric compares it."""
        for pattern in self.ignored:
            answer = _pattern(pattern).without(answer)
        return (answer.lower() if self.ignores_case else answer).strip()


def filters_of(results: Path | None, task: str) -> TaskFilters:
    """Read a task's filters from the results file that was written with its samples; none where that does not tell."""
    config = _load(results).get("configs", {}).get(task) or {}
    steps = {
        str(entry.get("name")): tuple(_steps(entry.get("filter") or [], task))
        for entry in config.get("filter_list") or []
        if isinstance(entry, dict)
    }
    first = {
        str(entry.get("name")): int(function["k"])
        for entry in config.get("filter_list") or []
        for function in entry.get("filter") or []
        if function.get("function") == "take_first_k"
    }
    metric = next((metric for metric in config.get("metric_list") or [] if isinstance(metric, dict)), {})
    ignored = tuple(str(pattern) for pattern in metric.get("regexes_to_ignore") or [])
    return TaskFilters(steps, first, ignored, bool(metric.get("ignore_case")))


def temperature_of(results: Path | None, task: str) -> float | None:
    """The temperature at which a task's responses were drawn; None where the results file does not tell."""
    document = _load(results)
    own = (document.get("configs", {}).get(task) or {}).get("generation_kwargs") or {}
    given = document.get("config", {}).get("gen_kwargs") or {}
    settings = {**own, **(given if isinstance(given, dict) else {})}
    if settings.get("do_sample") is False:
        return 0.0
    value = settings.get("temperature")
    return float(value) if isinstance(value, int | float) else None


def _load(results: Path | None) -> dict[str, Any]:
    try:
        found = json.loads(results.read_bytes()) if results is not None else {}
    except (ValueError, OSError, RecursionError):
        return {}
    parts = ("configs", "config")
    return {part: found[part] for part in parts if isinstance(found, dict) and isinstance(found.get(part), dict)}


def _steps(functions: list[Any], task: str) -> list[Step]:
    made: list[Step] = []
    for function in functions:
        name = function.get("function")
        if name in REDUCERS:
            continue
        if name == "regex":
            made.append(_regex(function))
        elif name in PLAIN:
            made.append(PLAIN[name])
        else:
            made.append(_unknown(str(name), task))
    return made


def _regex(function: Mapping[str, Any]) -> Step:
    """As the harness does: all matches, one of them, its first group that is not empty."""
    text = str(function.get("regex_pattern", r"#### (\-?[0-9\.\,]+)"))
    place = int(function.get("group_select", 0))
    fallback = str(function.get("fallback", INVALID[0]))

    def extract(response: str) -> str:
        found = _pattern(text).all(response)
        try:
            return found[place].strip() or fallback
        except IndexError:
            return fallback

    return extract


@lru_cache(maxsize=64)
def _pattern(text: str) -> Pattern:
    """Compile a task's pattern when it is needed: RE2 cannot run all of Python's, and not all filters are asked for."""
    return Pattern(text)


def _unknown(name: str, task: str) -> Step:
    def refuse(_: str) -> str:
        raise InputError(
            f"task {quote(task)}: its filter {quote(name)} kept one response of several, and is not known here; "
            "read every response by a pattern of your own instead"
        )

    return refuse
