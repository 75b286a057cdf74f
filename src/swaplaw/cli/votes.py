"""Commands about votes: from logs and tables to votes, what looks wrong in them, the fleet, and the whole path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli import law
from swaplaw.cli.options import FILE, Option, Reading, VotesGiven, command, option, switch, words
from swaplaw.cli.render import (
    Column,
    accuracy,
    answer,
    fleet_line,
    percent,
    progress_bar,
    remark,
    say,
    show,
    text,
)
from swaplaw.errors import InputError, printable, several
from swaplaw.votes.bundled import FILES

if TYPE_CHECKING:
    from swaplaw.evidence.interval import Effect
    from swaplaw.importers.reading import Imported
    from swaplaw.votes.checks import Check
    from swaplaw.votes.notation import Dispute
    from swaplaw.votes.position import PositionBias
    from swaplaw.votes.summary import ModelSummary
    from swaplaw.votes.tally import Silence, Tally

FAILED = 3
"""The exit code of a run whose checks found what it was told to fail on."""
DIFFERENT = 0.0005
"""Accuracies that differ by more than this are shown as different."""
PAIRS_SHOWN = 8
NEXT = """
Next, on the same votes:
  swaplaw compare demo:{name:<13} who is better, and how sure
  swaplaw combine demo:{name:<13} every way to combine them, held out
  swaplaw labels demo:{name:<14} how few labels would have told
  swaplaw demo mmlu-pro              other votes, which say yes"""


@command(
    example="swaplaw import examples/wide.csv --explain",
    sources=words("SOURCE..."),
    output=option("-o/--output", "Where the votes go (.parquet).", type=FILE),
    counts=switch("--counts", "Write how many votes each answer got: a small file that every command reads."),
    explain=switch("--explain", "Show how each column is read, and write nothing."),
    cluster=option("--cluster", "What questions are nested in: a metadata key, field or column.", metavar="KEY"),
    question=option(
        "--question", "Tables: build question ids; `order` is a column too.", multiple=True, metavar="COLUMN"
    ),
    drop_ambiguous=switch("--drop-ambiguous", "Tables: leave out ids that stand for several questions."),
    judge=option("--judge", "Let this Inspect model group answers by meaning; kept in --groups.", metavar="MODEL"),
    model=option("--model", "The model's name, where the source does not tell.", metavar="NAME"),
    dataset=option("--dataset", "The dataset's name, where the source does not tell.", metavar="NAME"),
)
def import_(
    sources: tuple[str, ...],
    output: Path | None,
    counts: bool,
    explain: bool,
    cluster: str | None,
    question: tuple[str, ...],
    drop_ambiguous: bool,
    judge: str | None,
    model: str | None,
    dataset: str | None,
    reading: Reading,
) -> None:
    """Read votes from Inspect, lm-evaluation-harness or HELM logs, or any table, and write them as Parquet."""
    from swaplaw.importers.reading import import_votes

    if output is None and not explain:
        raise InputError("say where the votes go with -o votes.parquet, or add --explain to only look")
    options = reading.options(
        cluster=cluster, question=question, drop_ambiguous=drop_ambiguous, judge=judge, model=model, dataset=dataset
    )
    imported = import_votes(sources, options)
    written = None if explain else output
    if written is not None:
        imported.write(written, counts=counts)

    def shown() -> None:
        remark(imported.notes)
        _show_import(imported, written)

    answer(imported.to_dict() | {"output": None if written is None else str(written)}, shown)


def _show_import(imported: Imported, output: Path | None) -> None:
    facts = imported.to_dict()
    rows = [
        [reading.column, reading.source + (" (guessed)" if reading.guessed else ""), reading.example]
        for reading in imported.readings
    ]
    head = (
        f"{several(facts['votes'], 'vote')} of {several(len(facts['models']), 'model')} on "
        f"{', '.join(facts['datasets'])}"
    )
    tail = f"written to {output}" if output is not None else "nothing written: leave out --explain to write"
    show(head, [Column(name, right=False) for name in ("Column", "Read from", "Example")], rows, tail)


@command(
    example="swaplaw checks demo",
    fail_on=option(
        "--fail-on",
        "Exit 3 if a check of this severity, or a worse one, is found.",
        type=click.Choice(["error", "warning"]),
    ),
    disputes=option(
        "--disputes",
        "List answers that are gold in another notation, or about which math-verify differs from swaplaw.",
        type=click.Choice(["notation", "math-verify"]),
    ),
)
def checks(votes: VotesGiven, fail_on: str | None, disputes: str | None) -> None:
    """Look for what is wrong in VOTES before anything is concluded from them.

    An error means that the votes do not mean what they seem to: `recommend` gives no verdict on them. A warning means
    that a conclusion may be weaker than it looks.
    """
    from swaplaw.votes.checks import SEVERITIES, find_checks, position_checks
    from swaplaw.votes.notation import notation, second_opinions

    table = votes.votes(warn=False, as_spelt=True)
    found = find_checks(table, votes.dataset) + position_checks(table, votes.dataset)
    differing: list[Dispute] = []
    for name in (table.datasets if votes.dataset is None else [votes.dataset]) if disputes else ():
        if disputes == "math-verify":
            differing += second_opinions(table, name)
        elif read := notation(table, name):
            differing += read.disputes

    def shown() -> None:
        _show_checks(found, len(table.datasets) > 1 and votes.dataset is None)
        if disputes:
            _show_disputes(differing)

    listed = {"disputes": [one.to_dict() for one in differing]} if disputes else {}
    answer({"checks": [check.to_dict() for check in found]} | listed, shown)
    bad = SEVERITIES[: SEVERITIES.index("error" if fail_on == "error" else "warning") + 1]
    if fail_on and any(check.severity in bad for check in found):
        sys.exit(FAILED)


def _show_checks(found: tuple[Check, ...], several_datasets: bool) -> None:
    """Print the checks, the most serious first."""
    columns = [
        text("Severity", "severity"),
        text("Check", "name"),
        Column("Questions", "questions"),
        text("What", lambda check: f"{check.dataset}: {check.message}" if several_datasets else check.message),
        text("Fix", "fix"),
    ]
    show(several(len(found), "check") if found else "Nothing looks wrong.", columns, found)


def _show_disputes(found: list[Dispute]) -> None:
    """Print disputed answers, those with the most votes first."""
    columns = [
        text("Question", "question"),
        text("Answer", "answer"),
        text("Gold", "gold"),
        Column("Votes", lambda one: f"{sum(one.votes.values()):,}"),
        Column("Models", lambda one: str(len(one.votes))),
        text("Needs gold", lambda one: "yes" if one.oracle else "", minor=1),
    ]
    note = "Needs gold: only the gold tells what the answer leaves out, or states beside its value."
    show(several(len(found), "disputed answer"), columns, found, note)


@command(example="swaplaw summary demo")
def summary(votes: VotesGiven, silence: Silence) -> None:
    """Show each model's single-sample and plurality accuracy, its abstentions by reason, and position bias.

    Position bias is the share of votes that would have to move for chosen positions to be even; it is shown where votes
    have the columns `position` and `options`, and flagged where chance would hardly make it.
    """
    from swaplaw.evidence.diversity import effective_votes
    from swaplaw.votes import position_bias
    from swaplaw.votes.summary import graded_accuracy, summary

    table = votes.votes()
    tallies = votes.tallies(table, silence)
    fleets = []
    for tally in tallies:
        told = position_bias(table, tally.dataset), graded_accuracy(table, tally.dataset)
        fleets.append(with_effects(tally, summary(tally, told[0], graded=told[1])))

    worth = {tally.dataset: effective_votes(tally) for tally in tallies}

    def shown() -> None:
        for tally, rows in zip(tallies, fleets, strict=True):
            show_fleet(tally, rows)
            if worth[tally.dataset].value is not None:
                say(f"{printable(worth[tally.dataset].sentence)}.\n")

    effective = {dataset: found.to_dict() for dataset, found in worth.items()}
    models = [as_dict(row, found) for rows in fleets for row, found in rows]
    one = next(iter(effective.values())) if len(effective) == 1 else effective
    answer({"models": models, "effective_votes": one}, shown)


def with_effects(tally: Tally, rows: Sequence[ModelSummary]) -> list[tuple[ModelSummary, Effect | None]]:
    """Each model with the interval of its accuracy."""
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.evidence.lifts import accuracy_effect
    from swaplaw.evidence.units import resampling_units

    units = resampling_units(tally)
    found = [(row, accuracy_effect(tally, tally.index(row.model), units)) for row in rows]
    warn_thin(judged for _, judged in found)
    return found


def as_dict(row: ModelSummary, found: Effect | None) -> dict[str, Any]:
    """One model for JSON, as the design fixes it, with the interval of its plurality accuracy."""
    return row.to_dict() | {"interval": None if found is None else [found.low, found.high]}


def show_fleet(tally: Tally, found: list[tuple[ModelSummary, Effect | None]]) -> None:
    """Print one dataset's models, the most accurate first."""
    rows = [row for row, _ in found]
    reasons = sorted({reason for row in rows for reason in row.reasons})
    shares = ["Single %", "Plurality %", "±", "Abstained %", *(f"{reason} %" for reason in reasons)]
    cells = [
        [
            row.model,
            str(row.questions),
            str(row.votes),
            percent(row.single),
            *accuracy(row.plurality, effect),
            percent(row.abstained),
            *(percent(row.reasons.get(reason, 0)) for reason in reasons),
        ]
        for row, effect in found
    ]
    if any(row.position for row in rows):
        shares += ["Position bias %", "Flag"]
        for row, line in zip(rows, cells, strict=True):
            bias = row.position
            line.append(percent(None if bias is None else bias.effect))
            line.append("biased" if bias and bias.flagged else "")
    if any(row.graded is not None and abs(row.graded - row.single) > DIFFERENT for row in rows):
        shares.append("Graded %")
        for row, line in zip(rows, cells, strict=True):
            line.append(percent(row.graded))
    missing = sum(row.missing for row in rows)
    notes = ["± is half of a 95% interval."]
    if "Graded %" in shares:
        notes.append("Graded is what the scorer says of single replies; Single is what would be counted in a vote.")
    notes += [_swayed(row.model, row.position) for row in rows if row.position and row.position.flagged]
    if missing:
        notes.append(f"{missing} model-question pairs have no votes: pairs use the questions that both answered.")
    minor = {"Questions": 2, "Votes": 3, **{f"{reason} %": 1 for reason in reasons}}
    columns = [Column(name, minor=minor.get(name, 0)) for name in ["Questions", "Votes", *shares]]
    show(fleet_line(tally), [Column("Model", right=False), *columns], cells, "\n".join(notes))


def _swayed(model: str, bias: PositionBias) -> str:
    chance = "p < 0.001" if bias.adjusted < 0.001 else f"p = {bias.adjusted:.3f}"
    return (
        f"{printable(model)} chose position {bias.position} in {percent(bias.share)}% of {bias.votes} votes, where "
        f"{percent(bias.expected)}% would be even ({chance}): the place of an option sways it."
    )


@command(
    example="swaplaw demo",
    which=Option("[NAME]", {"type": click.Choice(list(FILES)), "default": "gpqa-diamond", "required": False}),
)
def demo(which: str) -> None:
    """Show fleet, pairs, best weight and verdict on bundled real votes.

    NAME is gpqa-diamond (the default), math500, mmlu-pro or exams. Any command takes these votes as demo:NAME, and the
    exams as plain `demo`.
    """
    from swaplaw import demo_votes, pair, recommend
    from swaplaw.law import curves
    from swaplaw.law.weights import DEFAULT_WEIGHT
    from swaplaw.votes.summary import summary

    votes = demo_votes(which)
    tally = votes.tally()
    fleet = with_effects(tally, summary(tally))
    found = law.pooled(tally, DEFAULT_WEIGHT)
    best = max(curves(tally), key=lambda curve: curve.best_plateau.outcome.accuracy)
    verdict = recommend(votes, progress=progress_bar("Comparing pairs"))
    document = {
        "models": [as_dict(*row) for row in fleet],
        "weight": str(DEFAULT_WEIGHT),
        "pairs": [row.to_dict() for row in found],
        "best": law.curve_dict(best),
        "words": verdict.sentence,
        **verdict.to_dict(),
    }

    def shown() -> None:
        show_fleet(tally, fleet)
        title = f"The {PAIRS_SHOWN} of {len(found)} pairs with the largest lift at weight {DEFAULT_WEIGHT}"
        law.show_pairs(title, DEFAULT_WEIGHT, found, top=PAIRS_SHOWN)
        law.show_optima(pair(tally, best.primary, best.secondary), best)
        say(f"Verdict, judged on held-out questions: {verdict.sentence}")
        say(NEXT.format(name=which))

    answer(document, shown)
