"""`swaplaw collect mcq`: ask models multiple-choice questions, many times each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.inspect_run import display, need_inspect
from swaplaw._core.progress import busy
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, percent, points, progress_bar, remark, show, table_options, tell
from swaplaw.cli._shared.reading import column_map
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.errors import InputError, SwaplawError, listing, printable, quote
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.collect.run.collection import Collected
    from swaplaw.collect.run.plan import Plan
    from swaplaw.decide.until import Decision, Steering
    from swaplaw.votes.table import Votes

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(cls=Command, own_display=True)
@click.option("--dataset", required=True, metavar="NAME|FILE", help="Questions: a file, a dataset's name, or `demo`.")
@click.option("--manifest", metavar="FILE", help="Ask only the questions of this sample (`collect sample`).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask only the first N questions, for a first try.")
@click.option(
    "--column", "columns", multiple=True, metavar="PART=NAME", help="Which column holds a part of the question."
)
@click.option("--name", help="What to call the dataset; by default, the name of its file.")
@click.option("--skip-invalid", is_flag=True, help="Leave invalid questions out instead of refusing all.")
@click.option("--unlabelled", is_flag=True, help="Questions may lack an answer: their votes have no gold yet.")
@click.option("--models", multiple=True, metavar="NAME,…", help="Inspect models, such as openai/gpt-4o-mini.")
@click.option("--local", multiple=True, metavar="NAME", help="A model on this machine: smollm2, qwen2.5-coder, a GGUF.")
@click.option("--samples", type=click.IntRange(1), default=24, show_default=True, help="Votes per model and question.")
@click.option("-o", "--output", type=FILE, default="votes.parquet", show_default=True, help="Write the votes here.")
@click.option(
    "--logs",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where Inspect's logs go; by default, beside the votes.",
)
@click.option("--report", type=FILE, help="Also write a report of the votes here.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of answer orders and generations.")
@click.option("--temperature", type=click.FloatRange(0), default=1.0, show_default=True, help="Sampling temperature.")
@click.option(
    "--max-tokens", type=click.IntRange(1), default=4096, show_default=True, help="Token cap of a completion."
)
@click.option("--brief", is_flag=True, help="Ask for one or two sentences of reasoning, not for steps.")
@click.option("--grammar", is_flag=True, help="Hold llama.cpp servers to one line of reasoning and an answer line.")
@click.option("--connections", multiple=True, metavar="[MODEL=]N", help="Requests at once, of one model or of each.")
@click.option("--base-url", help="Address of the models' server.")
@click.option("--time-limit", type=click.IntRange(1), help="Seconds per sample.")
@click.option(
    "--token-prices", type=FILE, help="JSON: for each model, the price of a million tokens, input and output."
)
@click.option("--until", type=click.Choice(["decided"]), help="Ask in waves, and stop when the next step is decided.")
@click.option("--primary", metavar="MODEL", help="With --until: the model in use; by default the first that is named.")
@click.option(
    "--weight", default=str(DEFAULT_WEIGHT), show_default=True, help="With --until: weight of each other model."
)
@click.option(
    "--min-gain", type=float, default=MIN_GAIN, show_default=True, help="With --until: smallest gain worth a model."
)
@click.option(
    "--wave", type=click.IntRange(1), default=20, show_default=True, help="With --until: questions between looks."
)
@click.option("--by", type=click.Choice(["question", "cluster"]), help="With --until: what counts as one observation.")
@click.option("--dry-run", is_flag=True, help="Say what it would take, and ask nothing.")
@table_options
def mcq(
    output: Path,
    logs: Path | None,
    report: Path | None,
    until: str | None,
    primary: str | None,
    weight: str,
    min_gain: float,
    wave: int,
    by: str | None,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask models multiple-choice questions, many times each.

    Run the same command again to resume, or to add samples or models.
    """
    need_inspect("collecting votes")
    plan = _plan(**options)
    folder = logs or output.with_suffix(".logs")
    if dry_run:
        _estimate(plan, folder, as_json)
        return
    _check_writable(output, *([] if report is None else [report]))
    if until is None:
        from swaplaw.collect.run.collection import collect

        collected, decision = collect(plan, output, folder, display=display(as_json)), None
    else:
        from swaplaw.collect.run.until import collect_until

        steering = _steering(plan, primary, weight, min_gain, wave, by)
        collected = collect_until(plan, output, folder, steering.next, display=display(as_json))
        decision = steering.decide(_votes(output))
    remark(collected.notes)
    if as_json:
        emit(collected.to_dict() | ({} if decision is None else {"decision": decision.to_dict()}))
    else:
        show_collected(collected)
        if decision is not None:
            show_decision(decision)
    if report is not None:
        _report(output, report)
    if not collected.complete:
        why = f" (such as {quote(collected.failure, 200)})" if collected.failure else ""
        raise SwaplawError(f"some samples failed{why}: run the same command again to repeat only those")


def _steering(plan: Plan, primary: str | None, weight: str, min_gain: float, wave: int, by: str | None) -> Steering:
    """Who is the primary, who may be added, and in what order questions are asked."""
    from swaplaw.collect.ask.task import CLUSTER
    from swaplaw.collect.run.collection import make_task
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


def _plan(
    models: tuple[str, ...],
    local: tuple[str, ...],
    connections: tuple[str, ...],
    columns: tuple[str, ...],
    token_prices: Path | None,
    **settings: Any,
) -> Plan:
    from swaplaw.collect.run.plan import Plan, read_prices

    named = [name.strip() for each in models for name in each.split(",") if name.strip()]
    every = (*named, *(f"local/{name}" for name in local))
    if not every:
        raise InputError("no model to ask: give --models openai/gpt-4o-mini, or --local smollm2 to run one here")
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise InputError(f"model {quote(twice[0])} is named twice: use --samples for more votes")
    prices = {} if token_prices is None else read_prices(token_prices)
    settings |= {"connections": dict(map(_connection, connections)), "columns": column_map(columns)}
    return Plan(models=every, prices=prices, **settings)


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


def _estimate(plan: Plan, logs: Path, as_json: bool) -> None:
    from swaplaw.collect.run.estimate import estimate

    with busy("Counting samples"):
        rows = estimate(plan, logs)
    remark([f"{row.model} cannot be asked yet: {row.lacks}" for row in rows if row.lacks is not None])
    if as_json:
        emit({"models": [row.to_dict() for row in rows]})
        return
    priced = any(row.cost is not None for row in rows)
    columns = ["Samples", "Finished", "Prompt tokens, about", "Completion tokens, at most"]
    cells = [
        [
            row.model,
            *(f"{number:,}" for number in (row.samples, row.finished, row.prompt_tokens, row.completion_tokens)),
            *([_money(row.cost)] if priced else []),
        ]
        for row in rows
    ]
    shown = [Column("Model", right=False), *map(Column, columns), *([Column("Cost, at most")] if priced else [])]
    show("what it would take; nothing was asked", shown, cells)


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
