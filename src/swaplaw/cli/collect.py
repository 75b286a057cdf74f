"""Commands that collect votes: from any Inspect task or multiple-choice questions, and samples of questions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._inspect_run import display, need_inspect
from swaplaw._parallel import busy
from swaplaw.cli.options import FILE, FOLDER, Group, Option, column_map, command, option, switch, words
from swaplaw.cli.render import Column, answer, percent, points, progress_bar, remark, show, tell, wants_json
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.errors import InputError, SwaplawError, listing, printable, quote
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.collect.design import Manifest
    from swaplaw.collect.run import Collected, Cost, Plan
    from swaplaw.decide.until import Decision, Steering
    from swaplaw.votes.table import Votes

COLUMN = option(
    "--column", "Which column holds a part of the question.", argument="columns", multiple=True, metavar="PART=NAME"
)
SKIP = switch("--skip-invalid", "Leave out questions that break the contract, and say how many.")
ASKED: dict[str, Option] = {
    "limit": option("--limit", "Ask only the first N questions, for a first try.", type=click.IntRange(1), metavar="N"),
    "models": option("--model/--models", "Models, as Inspect names them.", multiple=True, metavar="NAME,…"),
    "samples": option("--votes/--samples", "Votes per model and question.", type=click.IntRange(1), default=24),
    "output": option("-o/--output", "Write the votes here.", type=FILE, default="votes.parquet"),
    "logs": option("--logs", "Where Inspect's logs go; by default, beside the votes.", type=FOLDER),
    "report": option("--report", "Also write a report of the votes here.", type=FILE),
    "temperature": option("--temperature", "Sampling temperature.", type=click.FloatRange(0), default=1.0),
    "max_tokens": option("--max-tokens", "Token cap of a completion.", type=click.IntRange(1), default=4096),
    "connections": option("--connections", "Requests at once, of a model or each.", multiple=True, metavar="[MODEL=]N"),
    "base_url": option("--base-url", "Address of the models' server."),
    "time_limit": option("--time-limit", "Seconds per sample.", type=click.IntRange(1)),
    "token_prices": option(
        "--token-prices", "JSON: for each model, the price of a million tokens, input and output.", type=FILE
    ),
    "until": option("--until", "Ask in waves, and stop when the next step is decided.", type=click.Choice(["decided"])),
    "primary": option("--primary", "With --until: the model in use; the first by default.", metavar="MODEL"),
    "weight": option("--weight", "With --until: weight of each other model.", default=str(DEFAULT_WEIGHT)),
    "min_gain": option("--min-gain", "With --until: smallest gain worth a model.", type=float, default=MIN_GAIN),
    "wave": option("--wave", "With --until: questions between looks.", type=click.IntRange(1), default=20),
    "by": option("--by", "With --until: what is one observation.", type=click.Choice(["question", "cluster"])),
    "dry_run": switch("--dry-run", "Say what it would take, and ask nothing."),
    "pilot": switch("--pilot", "Ask each model 20 questions, and say what the rest is likely to take."),
}
"""What every collection takes."""


class Collect(click.Group):
    """Commands of its own, and any task by its name: `swaplaw collect FILE@TASK --model A`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take what is no command for the task that is to be run."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            return "task", self.commands["task"], args
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the example of what is asked for most."""
        self.commands["task"].format_epilog(ctx, formatter)


@click.group(cls=Collect)
def collect() -> None:
    """Ask real models again and again through Inspect AI. Abstentions are kept.

    `swaplaw collect TASK --model A --model B --votes 24` runs any Inspect task; `mcq` asks multiple-choice questions,
    with their options in balanced orders; `sample` draws questions.
    """


def added(made: click.Command) -> click.Command:
    """Make a command one of this group."""
    collect.add_command(made)
    return made


QUESTIONS: dict[str, Option] = {
    "dataset": option(
        "--dataset", "Questions: a file, a dataset's name, or `demo`.", required=True, metavar="NAME|FILE"
    ),
    "manifest": option("--manifest", "Ask only the questions of this sample (`collect sample`).", metavar="FILE"),
    "columns": COLUMN,
    "name": option("--name", "What to call the dataset; by default, the name of its file."),
    "skip_invalid": SKIP,
    "unlabelled": switch("--unlabelled", "Questions may lack an answer: their votes have no gold yet."),
    "seed": option("--seed", "Seed of answer orders and generations.", type=int, default=0),
    "brief": switch("--brief", "Ask for one or two sentences of reasoning, not for steps."),
    "grammar": switch("--grammar", "Hold llama.cpp servers to one line of reasoning and an answer line."),
}
"""Which multiple-choice questions are asked, and how."""


@added
@command(
    example="swaplaw collect inspect_evals/gsm8k --model openai/gpt-4o-mini --limit 5 --dry-run",
    own_display=True,
    task=words("TASK"),
    settings=option("-T", "An argument of the task.", multiple=True, metavar="NAME=VALUE"),
    scorer=option("--scorer", "The scorer whose answers are the votes, where the task has several.", metavar="NAME"),
    asked=Group(ASKED),
)
def task(task: tuple[str, ...], settings: tuple[str, ...], scorer: str | None, asked: dict[str, Any]) -> None:
    """Run any Inspect task, many times a question.

    TASK is PACKAGE/TASK or FILE.py@TASK.

    Run the same command again to resume, or to add samples or models.
    """
    if len(task) != 1:
        raise InputError(f"one task at a time: {listing(task)}")
    need_inspect("collecting votes")
    from inspect_ai._util.config import parse_cli_args

    told = parse_cli_args(settings)
    _run(asked, {"dataset": task[0], "task": True, "task_settings": told, "scorer": scorer})


@added
@command(
    example="swaplaw collect mcq --dataset demo --models openai/gpt-4o-mini --limit 5 --dry-run",
    own_display=True,
    questions=Group(QUESTIONS),
    local=option("--local", "A model on this machine: smollm2.", multiple=True, metavar="NAME"),
    asked=Group(ASKED),
)
def mcq(questions: dict[str, Any], local: tuple[str, ...], asked: dict[str, Any]) -> None:
    """Ask models multiple-choice questions, many times each.

    Run the same command again to resume, or to add samples or models.
    """
    need_inspect("collecting votes")
    _run(asked, questions | {"columns": column_map(questions["columns"])}, local)


def _run(asked: dict[str, Any], about: dict[str, Any], local: Sequence[str] = ()) -> None:
    """Collect, or say what that would take."""
    from swaplaw.collect import run

    plan = _plan(asked, about, local)
    output, report = asked["output"], asked["report"]
    folder, shown = asked["logs"] or output.with_suffix(".logs"), display(wants_json())
    if asked["dry_run"]:
        with busy("Counting samples"):
            rows = run.estimate(plan, folder)
        _show_estimate(rows, "what it would take; nothing was asked")
        return
    _check_writable(output, *([] if report is None else [report]))
    if asked["pilot"]:
        _show_estimate(run.pilot(plan, output, folder, display=shown), "what the rest would take")
        return
    if asked["until"] is None:
        collected, decision = run.collect(plan, output, folder, display=shown), None
    else:
        steering = _steering(plan, *(asked[name] for name in ("primary", "weight", "min_gain", "wave", "by")))
        collected = run.collect_until(plan, output, folder, steering.next, display=shown)
        decision = steering.decide(_votes(output))
    remark(collected.notes)

    def tables() -> None:
        show_collected(collected)
        if decision is not None:
            show_decision(decision)

    answer(collected.to_dict() | ({} if decision is None else {"decision": decision.to_dict()}), tables)
    if report is not None:
        _report(output, report)
    if not collected.complete:
        why = f" (such as {quote(collected.failure, 200)})" if collected.failure else ""
        raise SwaplawError(f"some samples failed{why}: run the same command again to repeat only those")


def _steering(plan: Plan, primary: str | None, weight: str, min_gain: float, wave: int, by: str | None) -> Steering:
    """Who is the primary, who may be added, and in what order questions are asked."""
    from swaplaw.collect.run import make_task
    from swaplaw.collect.task import CLUSTER
    from swaplaw.decide.until import Steering
    from swaplaw.law.weights import as_weight

    leads = plan.models[0] if primary is None else primary
    if leads not in plan.models:
        raise InputError(f"--primary is {quote(leads)}, which is none of the models: {listing(plan.models)}")
    clusters = {
        str(each.id): None if by == "question" else (each.metadata or {}).get(CLUSTER)
        for each in make_task(plan).dataset
    }
    if by == "cluster" and len(set(clusters.values())) < 2:
        raise InputError("--by cluster needs questions with at least two clusters; leave it out, or name clusters")
    others = tuple(name for name in plan.models if name != leads)
    return Steering(
        leads, others, clusters, as_weight(weight), min_gain, wave=wave, seed=plan.seed, samples=plan.samples
    )


def _votes(output: Path) -> Votes:
    from swaplaw import read_votes

    return read_votes(output)


def show_decision(found: Decision) -> None:
    """Print what was decided, and on what."""
    columns = [Column("Secondary", right=False), Column("Decided", right=False), Column("Questions"), Column("Asked")]
    columns += [Column("Decisive"), Column("Lift pp"), Column("From pp"), Column("To pp"), Column("e, adjusted")]
    columns += [Column("e, too little")]
    said = {"gain": "it gains", "too_little": "too little", "open": "not yet"}
    rows = [
        [
            each.model,
            said[each.finding],
            f"{each.questions:,}",
            f"{each.asked:,}",
            f"{each.effect.decisive:,}",
            points(each.effect.mean),
            points(each.effect.low),
            points(each.effect.high),
            f"{each.gain_adjusted:.3g}",
            f"{each.too_little:.3g}",
        ]
        for each in found.secondaries
    ]
    title = f"Adding a model to {found.primary} at weight {found.weight}; {found.planned:,} questions planned"
    plain = found.to_dict()
    note = (
        f"Decided at an e-value of {plain['needed']:.0f}. {plain['guarantee']} Other models were asked only where they "
        "could change the vote: judge the pair by this decision, not by the questions that both answered."
    )
    show(title, columns, rows, note)


def _plan(asked: dict[str, Any], about: dict[str, Any], local: Sequence[str]) -> Plan:
    """What is to be collected, from what the command line says."""
    from swaplaw.collect.run import Plan, read_prices

    named = [name.strip() for each in asked["models"] for name in each.split(",") if name.strip()]
    every = (*named, *(f"local/{name}" for name in local))
    if not every:
        raise InputError("no model to ask: give --model openai/gpt-4o-mini, or with `mcq` --local smollm2")
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise InputError(f"model {quote(twice[0])} is named twice: use --votes for more votes")
    prices = {} if asked["token_prices"] is None else read_prices(asked["token_prices"])
    names = ("limit", "samples", "temperature", "max_tokens", "base_url", "time_limit")
    settings = {name: asked[name] for name in names} | about
    return Plan(models=every, prices=prices, connections=dict(map(_connection, asked["connections"])), **settings)


def _connection(given: str) -> tuple[str, int]:
    model, _, number = given.rpartition("=")
    if not number.isdecimal() or int(number) < 1:
        raise InputError(f"--connections is {quote(given)}: give a whole number, 1 or more, or MODEL=NUMBER")
    return model, int(number)


def _check_writable(*files: Path) -> None:
    """Refuse an output that could not be written once everything is paid for."""
    for file in files:
        if not file.parent.is_dir():
            raise InputError(f"{quote(str(file), 200)}: there is no directory {quote(str(file.parent), 200)}")
    if files[0].suffix not in (".parquet", ".csv", ".jsonl"):
        raise InputError(f"{quote(str(files[0]), 200)}: votes are written as .parquet, .csv or .jsonl")


def _show_estimate(rows: list[Cost], title: str) -> None:
    """Print what is left to do: at most, and what it is likely to take, going by what is done."""
    remark([f"{row.model} cannot be asked yet: {row.lacks}" for row in rows if row.lacks is not None])

    def counted(value: int | None) -> str:
        return "–" if value is None else f"{value:,}"

    columns = [
        Column("Model", "model", right=False),
        Column("Samples", "samples", counted),
        Column("Finished", "finished", counted),
        Column("Prompt tokens, about", "prompt_tokens", counted),
        Column("Completion tokens, at most", "completion_tokens", counted),
    ]
    if any(row.cost is not None for row in rows):
        columns.append(Column("Cost, at most", "cost", _money))
    if any(row.likely_tokens is not None for row in rows):
        columns.append(Column("Tokens, likely", "likely_tokens", counted))
    if any(row.likely_cost is not None for row in rows):
        columns.append(Column("Cost, likely", "likely_cost", _money))
    if any(row.likely_seconds is not None for row in rows):
        columns.append(Column("Minutes, likely", lambda row: _money(row.likely_seconds and row.likely_seconds / 60)))
    answer({"models": [row.to_dict() for row in rows]}, lambda: show(title, columns, rows))


def show_collected(collected: Collected) -> None:
    """Print the models' abstentions, as the paper's Table abstentions does, and what they cost."""
    reasons = list(dict.fromkeys(reason for model in collected.models for reason in model.reasons))
    names = {"truncated": "Trunc. %", "no_parse": "No parse %"}
    columns = ["Votes", "Parsed %", *(names.get(reason, f"{reason.capitalize()} %") for reason in reasons), "Tokens"]
    priced = any(model.cost is not None for model in collected.models)
    cells = [
        [
            model.model,
            f"{model.votes:,}",
            percent(model.parsed / model.votes),
            *(percent(model.reasons.get(reason, 0) / model.votes) for reason in reasons),
            f"{model.tokens:,}",
            *([_money(model.cost)] if priced else []),
        ]
        for model in collected.models
    ]
    total = f"{sum(model.votes for model in collected.models):,} votes in {collected.output}"
    shown = [Column("Model", right=False), *map(Column, columns), *([Column("Cost")] if priced else [])]
    show(f"{total}; logs in {collected.logs}", shown, cells)


def _money(cost: float | None) -> str:
    return "–" if cost is None else f"{cost:.4f}"


def _report(votes: Path, file: Path) -> None:
    """Write the report, with a command on it that makes it again."""
    from swaplaw import read_votes
    from swaplaw.report import Options, document, page, write_page

    options = Options(command=shlex.join(["swaplaw", "report", str(votes), "-o", str(file)]), progress=progress_bar)
    found = document(read_votes(votes), None, options)
    write_page(page(found), file)
    tell(f"Wrote {printable(str(file))}: open it in any browser.")


@added
@command(
    "sample",
    example="swaplaw collect sample demo --size 24 --by difficulty --seed 7 -o sample.json",
    dataset=words("DATASET"),
    output=option("-o/--output", "Where the manifest goes (.json).", type=FILE),
    size=option("--size", "Questions in all, the stress phase included.", type=int, required=True),
    stress=option("--stress", "Of these, drawn from hard strata only.  [default: a fifth]", type=int),
    seed=option("--seed", "The same seed draws the same questions.", type=int, default=0),
    by=option(
        "--by",
        "What strata are made of; the last one says how hard.",
        multiple=True,
        default=("discipline", "difficulty"),
        metavar="COLUMN",
    ),
    hard=option("--hard", "Levels that are hard.", multiple=True, default=("hard",), metavar="LEVEL"),
    columns=COLUMN,
    skip_invalid=SKIP,
)
def sample(
    dataset: tuple[str, ...],
    output: Path | None,
    size: int,
    stress: int | None,
    seed: int,
    by: tuple[str, ...],
    hard: tuple[str, ...],
    columns: tuple[str, ...],
    skip_invalid: bool,
) -> None:
    """Draw a stratified sample of questions, and fix it in a manifest.

    The manifest holds ids, strata and weights. DATASET is a file (CSV, JSONL, Parquet), demo, supergpqa, mmlu-pro,
    gpqa-diamond, hf:OWNER/NAME[:FILES] or inspect:PACKAGE/TASK. Without -o, nothing is written.
    """
    from swaplaw.collect.design import sample as draw
    from swaplaw.collect.sources import read_questions

    if len(dataset) != 1:
        raise InputError(f"one dataset at a time: {listing(dataset)}")
    questions = read_questions(dataset[0], columns=column_map(columns), strata=by, skip_invalid=skip_invalid)
    manifest = draw(questions, size, stress=stress, seed=seed, by=by, hard=hard)
    if output is not None:
        manifest.write(output)
    remark([*questions.notes, *manifest.notes])
    answer(manifest.to_dict(), lambda: _show_sample(manifest, output))


def _show_sample(manifest: Manifest, output: Path | None) -> None:
    size, stress = len(manifest.questions), sum(stratum.stress for stratum in manifest.strata)
    rows = [
        [
            *(value or "(none)" for value in stratum.values),
            str(stratum.population),
            str(stratum.proportional),
            str(stratum.stress),
            percent(stratum.drawn / stratum.population),
            "–" if stratum.weight is None else f"{float(stratum.weight):.2f}",
        ]
        for stratum in manifest.strata
    ]
    names = [Column(name, right=False) for name in manifest.by]
    numbers = [Column(name) for name in ("Questions", "Proportional", "Stress", "Drawn %", "Weight")]
    title = (
        f"{manifest.dataset}: {size} of {manifest.population} questions, {size - stress} in proportion and {stress} "
        f"from hard strata, seed {manifest.seed}"
    )
    show(title, [*names, *numbers], rows, f"written to {output}" if output else "nothing written: say where with -o")
