"""Run a collection as an Inspect eval set: what is finished stays finished, whatever stops the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, ModelCost, ModelInfo, get_model, get_model_info, set_model_info
from inspect_ai.util import DisplayType

from swaplaw._core.inspect_run import inspect_errors, stdout_to_stderr
from swaplaw.collect.ask.task import CLUSTER, mcq
from swaplaw.collect.local.models import MODELS, SLOTS
from swaplaw.collect.run.plan import LOCAL, Plan
from swaplaw.collect.run.preflight import check_models
from swaplaw.collect.run.votes import ModelVotes, write_votes
from swaplaw.errors import InputError, quote
from swaplaw.importers.record import Options

if TYPE_CHECKING:
    from swaplaw.collect.local.api import LocalAPI

RETRIES = 6
"""How often a request that failed for a passing reason is sent again (Inspect waits 3, 6, 12, … seconds)."""


@dataclass(frozen=True)
class Collected:
    """What a collection brought."""

    complete: bool
    """Whether every sample ended without an error; if not, running it again repeats only what failed."""
    output: Path
    logs: Path
    models: list[ModelVotes]
    notes: tuple[str, ...]
    """What a reader should know about the questions and the logs."""
    failure: str | None
    """What one of the samples died of, where any did."""

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        models = [model.to_dict() for model in self.models]
        places = {"votes": str(self.output), "logs": str(self.logs)}
        return {
            "complete": self.complete,
            **places,
            "models": models,
            "notes": list(self.notes),
            "failure": self.failure,
        }


def collect(plan: Plan, output: Path, logs: Path, *, display: DisplayType = "none") -> Collected:
    """Collect what is not in the logs yet, then write all votes."""
    with inspect_errors(), own_logs(logs), stdout_to_stderr():
        task = make_task(plan)
        with opened(plan) as models:
            check_models(plan.models, plan.base_url)
            with priced(plan):
                complete, failure = run_models(plan, task, models, output, logs, display)
    written = write_votes(logs, output, import_options(task), facts(plan, task))
    if complete:
        partial(output).unlink(missing_ok=True)
    return Collected(
        complete, output, logs, written.models, (*notes(task), *written.notes), None if complete else failure
    )


def run_models(
    plan: Plan,
    task: Task,
    models: list[Model],
    output: Path,
    logs: Path,
    display: DisplayType,
    questions: Sequence[str] | None = None,
    resume: bool = False,
) -> tuple[bool, str | None]:
    """Ask models all questions, or these, that their logs do not answer yet; whether all ended, and else why not."""
    # Registers itself with Inspect, which lists such things the first time that it makes a model: so not before.
    from swaplaw.collect.run.journal import Journal, keep_journal

    journal = Journal(partial(output), import_options(task), resume=resume or any(logs.glob("*.eval")))
    with keep_journal(journal):
        complete, _ = eval_set(
            task,
            log_dir=str(logs),
            model=models,
            sample_id=None if questions is None else list(questions),
            # Not a setting of the task: so more samples later are the same task with more to do.
            epochs=plan.samples,
            temperature=plan.temperature,
            time_limit=plan.time_limit,
            # A sample that failed is tried again, first at once, then at the end; only what failed.
            continue_on_fail=True,
            retry_on_error=2,
            retry_attempts=1,
            max_tasks=len(models),
            ctl_server=False,
            display=display,
        )
    return complete, journal.failure


def make_task(plan: Plan) -> Task:
    """Make the plan's task; what is wrong with its questions is said here."""
    return mcq(**plan.task_args())


def notes(task: Task) -> list[str]:
    """What reading the questions found that one should know."""
    return list((task.metadata or {}).get("notes", []))


def partial(output: Path) -> Path:
    """Where votes stand while a collection runs."""
    return output.with_name(f"{output.stem}.partial.jsonl")


def import_options(task: Task) -> Options:
    """How the task's logs are read as votes."""
    clustered = all(CLUSTER in (sample.metadata or {}) for sample in task.dataset)
    return Options(dataset=task.name, cluster=CLUSTER if clustered else None)


def facts(plan: Plan, task: Task) -> dict[str, Any]:
    """How votes were collected, to be kept with them."""
    local = [name.removeprefix(LOCAL) for name in plan.models if name.startswith(LOCAL)]
    settings = {name: getattr(plan, name) for name in ("samples", "temperature", "max_tokens", "time_limit")}
    return {
        "task": plan.task_args(),
        "questions": len(task.dataset),
        "fingerprint": task.version,
        "settings": settings,
        "models": list(plan.models),
        "weights": {name: MODELS[name].sha256 for name in local if name in MODELS},
        "versions": {name: version(name) for name in ("swaplaw", "inspect-ai", *(["xllamacpp"] if local else []))},
    }


@contextlib.contextmanager
def opened(plan: Plan) -> Iterator[list[Model]]:
    """Make all models ready to be asked; local servers end when this does."""
    models: list[Model] = []
    try:
        for name in plan.models:
            models.append(open_model(plan, name))
        for server in local_servers(models):
            server.start()
        yield models
    finally:
        for server in local_servers(models):
            server.stop()


def local_servers(models: list[Model]) -> Iterator[LocalAPI]:
    """Those of the models that run on this machine."""
    for model in models:
        if str(model).startswith(LOCAL):
            from swaplaw.collect.local.api import LocalAPI  # Only here: it needs the extra `local`.

            assert isinstance(model.api, LocalAPI)
            yield model.api


def open_model(plan: Plan, name: str) -> Model:
    """Make one model ready; Inspect says what it lacks."""
    slots = SLOTS if name.startswith(LOCAL) else None
    config = GenerateConfig(
        max_tokens=plan.max_tokens,
        max_connections=plan.connections.get(name, plan.connections.get("", slots)),
        max_retries=RETRIES,
    )
    return get_model(name, config=config, base_url=plan.base_url, memoize=False)


@contextlib.contextmanager
def priced(plan: Plan) -> Iterator[None]:
    """Tell Inspect the plan's prices, so that it counts what every sample cost; cached input at the full price."""
    known = {model: get_model_info(model) or ModelInfo() for model in plan.prices}
    for model, price in plan.prices.items():
        cached = {"input_cache_write": price["input"], "input_cache_read": price["input"]}
        set_model_info(model, known[model].model_copy(update={"cost": ModelCost(**price, **cached)}))
    try:
        yield
    finally:
        for model, before in known.items():
            set_model_info(model, before)


@contextlib.contextmanager
def own_logs(logs: Path) -> Iterator[None]:
    """Say in our words that logs of something else are in the way."""
    try:
        yield
    except PrerequisiteError as error:
        if "log_dir" not in str(error.message):
            raise
        raise InputError(
            f"{quote(str(logs), 200)} holds logs of another collection (other questions, models or settings): "
            "give the command that began it to go on, or another place for logs and votes to begin a new one"
        ) from None
