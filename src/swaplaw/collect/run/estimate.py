"""What a collection would take: samples, tokens and money, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inspect_ai import Task

from swaplaw._core.inspect_run import inspect_errors, stdout_to_stderr
from swaplaw.collect.ask.solver import prompt
from swaplaw.collect.local.models import require
from swaplaw.collect.run.collection import import_options, make_task, open_model
from swaplaw.collect.run.plan import LOCAL, Plan
from swaplaw.importers.reading import import_votes

CHARACTERS = 4
"""Characters per token, about, in English text."""


@dataclass(frozen=True)
class Cost:
    """What one model's samples would take; finished ones are in the logs and cost nothing more."""

    model: str
    samples: int
    finished: int
    prompt_tokens: int
    """About, at four characters per token."""
    completion_tokens: int
    """At most: every completion as long as the token cap."""
    cost: float | None
    """At most; None where no price is known."""
    lacks: str | None = None
    """What is missing before the model can be asked: a key, a package."""

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        return dict(vars(self))


def estimate(plan: Plan, logs: Path) -> list[Cost]:
    """Say what is left to do, having checked all that can be checked without asking a model."""
    with inspect_errors(), stdout_to_stderr():
        task = make_task(plan)
        lacks = {name: _lacks(plan, name) for name in plan.models}
    finished = _finished(task, logs)
    return [replace(_estimate(plan, task, name, finished.get(name, 0)), lacks=lacks[name]) for name in plan.models]


def _lacks(plan: Plan, name: str) -> str | None:
    """What a model lacks before it can be asked; an estimate needs neither its key nor its package."""
    from inspect_ai._util.error import PrerequisiteError
    from rich.text import Text

    if name.startswith(LOCAL):
        require(name.removeprefix(LOCAL))
        return None
    try:
        open_model(plan, name)
    except PrerequisiteError as error:
        return " ".join(Text.from_markup(str(error.message)).plain.removeprefix("ERROR: ").split())
    return None


def _finished(task: Task, logs: Path) -> dict[str, int]:
    import polars as pl

    if not any(logs.glob("*.eval")):
        return {}
    votes = import_votes([logs], import_options(task)).votes.frame
    good = votes.filter(pl.col("reason").is_null() | (pl.col("reason") != "error"))
    return dict(good.group_by("model").len().collect().rows())


def _estimate(plan: Plan, task: Task, model: str, finished: int) -> Cost:
    samples = len(task.dataset) * plan.samples
    left = max(0, samples - finished)
    characters = sum(len(prompt(str(each.input), each.choices or [], plan.brief)) for each in task.dataset)
    tokens = round(left * characters / len(task.dataset) / CHARACTERS)
    most = left * plan.max_tokens
    price = plan.prices.get(model)
    cost = None if price is None else (tokens * price["input"] + most * price["output"]) / 1e6
    return Cost(model, samples, min(finished, samples), tokens, most, cost)
