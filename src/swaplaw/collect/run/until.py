"""Collect in waves, as long as somebody wants to know more.

Who is asked what next is not decided here: a function from the votes so far to questions says it (the command line
hands in the one of `decide.until`). Every model's logs are in a folder of its own and only ever grow, so a collection
that was killed goes on where it was: votes that are there are not asked for again, and the same votes lead to the same
questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from inspect_ai import Task
from inspect_ai.util import DisplayType

from swaplaw._core.inspect_run import inspect_errors, stdout_to_stderr
from swaplaw.collect.run.collection import (
    Collected,
    facts,
    import_options,
    make_task,
    notes,
    opened,
    own_logs,
    partial,
    priced,
    run_models,
)
from swaplaw.collect.run.plan import Plan
from swaplaw.collect.run.preflight import check_models
from swaplaw.collect.run.votes import write_votes
from swaplaw.importers.reading import import_votes
from swaplaw.votes.table import Votes

Steer = Callable[[Votes | None], Mapping[str, Sequence[str]]]
"""From the votes so far to what each model must have been asked next; nothing where that is enough."""


def collect_until(plan: Plan, output: Path, logs: Path, steer: Steer, *, display: DisplayType = "none") -> Collected:
    """Collect wave after wave until `steer` asks for nothing more, then write all votes."""
    with inspect_errors(), own_logs(logs), stdout_to_stderr():
        task = make_task(plan)
        check_models([name for name in plan.models if not _folder(logs, name).exists()], plan.base_url)
        failure = None
        while not failure and (asked := steer(_votes(logs, task))):
            for model, questions in asked.items():
                failure = failure or _ask(plan, task, model, questions, output, logs, display)
    written = write_votes(logs, output, import_options(task), facts(plan, task))
    if not failure:
        partial(output).unlink(missing_ok=True)
    return Collected(not failure, output, logs, written.models, (*notes(task), *written.notes), failure)


def _ask(
    plan: Plan, task: Task, model: str, questions: Sequence[str], output: Path, logs: Path, display: DisplayType
) -> str | None:
    """Ask one model what it has not been asked yet; returns what a sample died of, where one did."""
    alone = replace(plan, models=(model,))
    # Opened anew for every wave: connections belong to the event loop that opened them.
    with opened(alone) as models, priced(alone):
        complete, failure = run_models(
            alone, task, models, output, _folder(logs, model), display, questions, resume=any(logs.rglob("*.eval"))
        )
    return None if complete else failure or f"not all samples of {model} ended"


def _votes(logs: Path, task: Task) -> Votes | None:
    """The votes so far."""
    return import_votes([logs], import_options(task)).votes if any(logs.rglob("*.eval")) else None


def _folder(logs: Path, model: str) -> Path:
    """Where the logs of one model are: a readable name that no two models share."""
    readable = re.sub(r"[^\w.-]+", "-", model).strip("-.")
    return logs / f"{readable[-60:]}-{sha256(model.encode()).hexdigest()[:8]}"
