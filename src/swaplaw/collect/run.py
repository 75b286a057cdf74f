"""A collection from plan to votes: an Inspect eval set, in which what is finished stays finished, whatever stops it.

Logs are the truth of a collection: votes are always read from them by the importer, in a fixed order. Before anything
is spent, every model is asked one short question, because only that tells whether there is such a model, whether the
key opens it and whether its server answers. A collection in waves is steered from outside: a function from the votes so
far to questions says who is asked what next (the command line hands in the one of `decide.until`). Every model's logs
are then in a folder of its own and only ever grow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, eval_set
from inspect_ai._eval.loader import load_tasks
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import (
    GenerateConfig,
    Model,
    ModelCost,
    ModelInfo,
    ModelOutput,
    get_model,
    get_model_info,
    set_model_info,
)
from inspect_ai.util import DisplayType
from tenacity import RetryError

from swaplaw._inspect_run import inspect_errors, stdout_to_stderr
from swaplaw.collect.local import LOCAL, MODEL, SHA256, SLOTS, require
from swaplaw.collect.task import CLUSTER, SAMPLES, TEMPERATURE, mcq, prompt
from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw.importers.reading import import_votes
from swaplaw.importers.record import Options
from swaplaw.votes.provenance import PROVENANCE
from swaplaw.votes.table import Votes, votes_of

if TYPE_CHECKING:
    import polars as pl

MAX_TOKENS = 4096


@dataclass(frozen=True)
class Plan:
    """One collection; the same plan run again goes on where it stopped."""

    dataset: str
    """Questions (see `read_questions`), or, with `task`, any Inspect task: `package/task` or `file.py@task`."""
    models: tuple[str, ...]
    samples: int = SAMPLES
    """Votes per model and question."""
    seed: int = 0
    brief: bool = False
    grammar: bool = False
    temperature: float = TEMPERATURE
    max_tokens: int = MAX_TOKENS
    """The token cap of a completion, reasoning included."""
    connections: Mapping[str, int] = field(default_factory=dict)
    """Requests at once for a model; the key "" stands for all others."""
    base_url: str | None = None
    time_limit: int | None = None
    """Seconds per sample."""
    manifest: str | None = None
    """A sample's manifest: ask only its questions."""
    limit: int | None = None
    """Ask only this many questions, the first ones."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of the dataset's file holds which part of a question, where it cannot be guessed."""
    name: str | None = None
    """What to call the dataset."""
    skip_invalid: bool = False
    unlabelled: bool = False
    """Whether questions may lack an answer."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of a million tokens of `input` and of `output`, for each model that has a price."""
    task: bool = False
    task_settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of such a task."""
    scorer: str | None = None
    """Of a task with several scorers: whose answers are the votes."""

    def task_args(self) -> dict[str, Any]:
        """What the Inspect task takes, defaults left out: a log is known by what was asked for."""
        if self.task:
            return dict(self.task_settings)
        plain = Plan(self.dataset, self.models)
        names = ("seed", "brief", "grammar", "manifest", "limit", "columns", "name", "skip_invalid", "unlabelled")
        asked = {name: getattr(self, name) for name in names}
        return {"dataset": self.dataset} | {
            name: value for name, value in asked.items() if value != getattr(plain, name)
        }


def read_prices(file: Path) -> dict[str, dict[str, float]]:
    """Read prices: for each model, what a million tokens of input and of output cost."""
    name = quote(str(file), 200)
    wanted = 'give an object such as {"openai/gpt-4o-mini": {"input": 0.15, "output": 0.6}}'
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {model: {part: float(price[part]) for part in ("input", "output")} for model, price in found.items()}
    except OSError as error:
        raise InputError(f"{name}: cannot read prices ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{name}: no prices of a million tokens in it; {wanted}") from None


UNASKED = ("mockllm", "none", "local")
"""Providers without a server that could be missing: a local server has said that it is ready."""
QUESTION = "Reply with the word OK."
SECONDS = 60


def check_models(names: Sequence[str], base_url: str | None = None) -> None:
    """Ask every model once; the first that cannot be asked is an error that says why."""
    asked = [name for name in names if name.partition("/")[0] not in UNASKED]
    failures = asyncio.run(_ask_all(asked, base_url)) if asked else []
    for name, failure in zip(asked, failures, strict=True):
        if failure is not None:
            raise _explained(name, failure)


async def _ask_all(names: Sequence[str], base_url: str | None) -> list[BaseException | None]:
    answers = await asyncio.gather(*(_ask_once(name, base_url) for name in names), return_exceptions=True)
    return [answer if isinstance(answer, BaseException) else None for answer in answers]


async def _ask_once(name: str, base_url: str | None) -> ModelOutput:
    # A client of its own: connections belong to the event loop that opened them.
    config = GenerateConfig(max_tokens=16, max_retries=0, timeout=SECONDS)
    async with get_model(name, base_url=base_url, config=config, memoize=False) as model:
        return await model.generate(QUESTION, cache=False)


def _explained(name: str, failure: BaseException) -> SwaplawError:
    cause = failure.last_attempt.exception() if isinstance(failure, RetryError) else failure
    status, kind = getattr(cause, "status_code", None), type(cause).__name__
    model = f"model {quote(name)}"
    if status == 404:
        return InputError(f"{model} is not known to its server: {_said(cause)}; check the name after the provider")
    if status in (401, 403):
        return InputError(f"{model}: its server refused the API key ({_said(cause)}); check the provider's key")
    if "Connection" in kind or "Timeout" in kind:
        return InputError(f"{model}: its server cannot be reached ({_said(cause)}); check the address and that it runs")
    return SwaplawError(f"{model} cannot be asked ({kind}: {_said(cause)})")


def _said(cause: BaseException | None) -> str:
    return quote(" ".join(str(getattr(cause, "provider_message", None) or cause).split()), 160)


LEFT_OUT = ("option", "run")
"""Text of the questions, which never leaves the logs, and names that differ between runs of the same thing."""
CAUSES = ("truncated", "no_parse", "refused", "error", "limit")


@dataclass(frozen=True)
class ModelVotes:
    """One model's votes, in the form of the paper's Table abstentions, and what they cost."""

    model: str
    votes: int
    parsed: int
    reasons: dict[str, int]
    tokens: int
    cost: float | None

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data; shares are fractions of one."""
        shares = {reason: number / self.votes for reason, number in self.reasons.items()}
        return dict(vars(self)) | {"parsed": self.parsed / self.votes, "reasons": shares}


@dataclass(frozen=True)
class Written:
    """The votes that were written, by model, and what is to be said about them."""

    models: list[ModelVotes]
    notes: tuple[str, ...]


def write_votes(logs: Path, output: Path, options: Options, facts: dict[str, Any]) -> Written:
    """Write the votes of a collection's logs; the same samples give the same rows in the same order."""
    imported = import_votes([logs], options)
    frame = imported.votes.frame.drop(LEFT_OUT, strict=False).sort("model", "question", "sample").collect()
    provenance = imported.provenance | {"collected": facts}
    votes_of(frame).write(output, metadata={PROVENANCE: json.dumps(provenance, sort_keys=True)})
    return Written([_tell(part) for part in frame.partition_by("model", maintain_order=True)], imported.notes)


def _tell(votes: pl.DataFrame) -> ModelVotes:
    counts = votes["reason"].drop_nulls().value_counts().rows()
    reasons = dict.fromkeys(CAUSES, 0) | dict(counts)
    return ModelVotes(
        votes["model"][0],
        len(votes),
        votes["answer"].count(),
        reasons,
        int(votes["tokens"].sum() or 0),
        None if votes["cost"].null_count() == len(votes) else float(votes["cost"].sum()),
    )


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
    written = write_votes(logs, output, import_options(plan, task), facts(plan, task))
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
    from swaplaw.collect.journal import Journal, keep_journal

    journal = Journal(partial(output), import_options(plan, task), resume=resume or any(logs.glob("*.eval")))
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
    if not plan.task:
        return mcq(**plan.task_args())
    place, at, named = plan.dataset.rpartition("@")
    file = place if at else named
    # Inspect looks for tasks in files below the working directory, and takes no absolute path.
    spec = f"{os.path.relpath(file)}{at}{named if at else ''}" if Path(file).is_file() else plan.dataset
    try:
        found = load_tasks([spec], dict(plan.task_settings))
    except (PrerequisiteError, SwaplawError):
        raise
    except Exception as error:  # Tasks are other people's code, and read files and networks of their own.
        detail = quote(str(error), 200)
        raise SwaplawError(f"the Inspect task {quote(plan.dataset, 200)} could not be made: {detail}") from None
    if len(found) != 1:
        named = "none" if not found else listing([task.name for task in found])
        raise InputError(
            f"{quote(plan.dataset, 200)}: one Inspect task is needed, and there is {named}: name FILE@TASK"
        )
    task = found[0]
    for number, sample in enumerate(task.dataset, 1):
        if sample.id is None:
            sample.id = number  # As Inspect itself would number them.
    if plan.limit is not None:
        task.dataset = task.dataset[: plan.limit]
    return task


def notes(task: Task) -> list[str]:
    """What reading the questions found that one should know."""
    return list((task.metadata or {}).get("notes", []))


def partial(output: Path) -> Path:
    """Where votes stand while a collection runs."""
    return output.with_name(f"{output.stem}.partial.jsonl")


def import_options(plan: Plan, task: Task) -> Options:
    """How the task's logs are read as votes."""
    clustered = all(CLUSTER in (sample.metadata or {}) for sample in task.dataset)
    return Options(dataset=task.name, cluster=CLUSTER if clustered else None, scorer=plan.scorer, panel="models")


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
        "weights": dict.fromkeys(set(local) & {MODEL}, SHA256),
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


def local_servers(models: list[Model]) -> Iterator[Any]:
    """Those of the models that run on this machine."""
    return (model.api for model in models if str(model).startswith(LOCAL))


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


Steer = Callable[[Votes | None], Mapping[str, Sequence[str]]]
"""From the votes so far to what each model must have been asked next; nothing where that is enough."""


def collect_until(plan: Plan, output: Path, logs: Path, steer: Steer, *, display: DisplayType = "none") -> Collected:
    """Collect wave after wave until `steer` asks for nothing more, then write all votes."""
    with inspect_errors(), own_logs(logs), stdout_to_stderr():
        task = make_task(plan)
        check_models([name for name in plan.models if not _folder(logs, name).exists()], plan.base_url)
        failure = None
        while not failure and (asked := steer(_votes(plan, logs, task))):
            for model, questions in asked.items():
                failure = failure or _ask(plan, task, model, questions, output, logs, display)
    written = write_votes(logs, output, import_options(plan, task), facts(plan, task))
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


def _votes(plan: Plan, logs: Path, task: Task) -> Votes | None:
    """The votes so far."""
    return import_votes([logs], import_options(plan, task)).votes if any(logs.rglob("*.eval")) else None


def _folder(logs: Path, model: str) -> Path:
    """Where the logs of one model are: a readable name that no two models share."""
    readable = re.sub(r"[^\w.-]+", "-", model).strip("-.")
    return logs / f"{readable[-60:]}-{sha256(model.encode()).hexdigest()[:8]}"


PILOT = 20
"""Samples from which on it can be said what a collection is likely to take."""
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
    likely_tokens: int | None = None
    """What the samples that are left are likely to take, going by the finished ones; None where there are none."""
    likely_cost: float | None = None
    likely_seconds: float | None = None
    lacks: str | None = None
    """What is missing before the model can be asked: a key, a package."""

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        return dict(vars(self))


def pilot(plan: Plan, output: Path, logs: Path, *, display: DisplayType = "none") -> list[Cost]:
    """Ask each model a few questions from all over the dataset, and say what the rest is likely to take."""
    with inspect_errors(), own_logs(logs), stdout_to_stderr():
        task = make_task(plan)
        ids = [str(sample.id) for sample in task.dataset]
        some = ids[:: max(1, len(ids) // PILOT)][:PILOT]
        few = replace(plan, samples=min(plan.samples, -(-PILOT // len(some))))
        with opened(plan) as models:
            check_models(plan.models, plan.base_url)
            with priced(plan):
                run_models(few, task, models, output, logs, display, some)
    return estimate(plan, logs)


def estimate(plan: Plan, logs: Path) -> list[Cost]:
    """Say what is left to do, having checked all that can be checked without asking a model."""
    with inspect_errors(), stdout_to_stderr():
        task = make_task(plan)
        lacks = {name: _lacks(plan, name) for name in plan.models}
        done = _finished(plan, task, logs)
    return [replace(_estimate(plan, task, name, done.get(name, Finished())), lacks=lacks[name]) for name in plan.models]


def _lacks(plan: Plan, name: str) -> str | None:
    """What a model lacks before it can be asked; an estimate needs neither its key nor its package."""
    from rich.text import Text

    if name.startswith(LOCAL):
        require(name.removeprefix(LOCAL))
        return None
    try:
        open_model(plan, name)
    except PrerequisiteError as error:
        return " ".join(Text.from_markup(str(error.message)).plain.removeprefix("ERROR: ").split())
    return None


@dataclass(frozen=True)
class Finished:
    """What the finished samples of a model took."""

    samples: int = 0
    tokens: float | None = None
    cost: float | None = None
    seconds: float | None = None


def _finished(plan: Plan, task: Task, logs: Path) -> dict[str, Finished]:
    import polars as pl

    if not any(logs.rglob("*.eval")):
        return {}
    votes = import_votes([logs], import_options(plan, task)).votes.frame
    good = votes.filter(pl.col("reason").is_null() | (pl.col("reason") != "error"))
    sums = good.group_by("model").agg(pl.len(), pl.col("tokens").mean(), pl.col("cost").mean()).collect()
    seconds = _seconds(logs)
    return {
        name: Finished(number, tokens, cost, seconds[name] / number if name in seconds else None)
        for name, number, tokens, cost in sums.rows()
    }


def _seconds(logs: Path) -> dict[str, float]:
    """How long the evaluations of each model ran."""
    found: dict[str, float] = {}
    for info in list_eval_logs(str(logs)):
        header = read_eval_log(info, header_only=True)
        began, ended = header.stats.started_at, header.stats.completed_at
        if began and ended:
            took = (datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(began))).total_seconds()
            found[header.eval.model] = found.get(header.eval.model, 0.0) + took
    return found


def _estimate(plan: Plan, task: Task, model: str, done: Finished) -> Cost:
    samples = len(task.dataset) * plan.samples
    left = max(0, samples - done.samples)
    asked = [
        str(each.input) if plan.task else prompt(str(each.input), each.choices or [], plan.brief)
        for each in task.dataset
    ]
    tokens = round(left * sum(map(len, asked)) / len(asked) / CHARACTERS)
    most = left * plan.max_tokens
    price = plan.prices.get(model)
    cost = None if price is None else (tokens * price["input"] + most * price["output"]) / 1e6
    return Cost(
        model,
        samples,
        min(done.samples, samples),
        tokens,
        most,
        cost,
        None if done.tokens is None else round(left * done.tokens),
        None if done.cost is None else left * done.cost,
        None if done.seconds is None else left * done.seconds,
    )
