"""`swaplaw forensic grade`: saved logs in, a vote table out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.inspect_run import inspect_errors
from swaplaw._core.progress import counting
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, percent, show, tell
from swaplaw.errors import InputError
from swaplaw_forensic.cli._options import TABLES

if TYPE_CHECKING:
    from swaplaw_forensic.grading.judge import Item, Judgement


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOGS...")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Vote table (Parquet)."
)
@click.option("--judge", "judge_name", help="Any Inspect model, for the rubric tier; verdicts are kept and used again.")
@click.option("--judge-twice", is_flag=True, help="Judge twice: correct only where both agree; agreement is reported.")
@click.option(
    "--verdicts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where prompts, verdicts and rationales are kept. Default: OUTPUT with the ending .verdicts.jsonl.",
)
@click.option("--without-rubric", is_flag=True, help="Leave the rubric questions out.")
@click.option(
    "--categories",
    type=click.Choice(["oracle", "gold-free"]),
    default="oracle",
    show_default=True,
    help="What `answer` holds: the paper's categories, or those that a deployment would have.",
)
@click.option("--partial", is_flag=True, help="Use unfinished logs too.")
@TABLES
def grade(
    logs: tuple[Path, ...],
    output: Path,
    judge_name: str | None,
    judge_twice: bool,
    verdicts: Path | None,
    without_rubric: bool,
    categories: str,
    partial: bool,
    as_json: bool,
) -> None:
    """Grade saved logs into votes. No model is called, except the judge for new rubric answers."""
    from dataclasses import asdict

    from swaplaw.importers.reading import read_votes
    from swaplaw.votes.summary import summary
    from swaplaw_forensic.agent.traces import read_traces
    from swaplaw_forensic.grading.dependence import dependence
    from swaplaw_forensic.grading.votes import Key, grade_traces, to_judge, without_gold, write_votes

    if without_rubric and (judge_name or judge_twice):
        raise InputError("--without-rubric leaves nothing to judge: drop it, or drop --judge and --judge-twice")
    reading = read_traces(logs, partial=partial)
    key = Key(reading.traces)
    judgement = None
    if not without_rubric:
        file = verdicts or output.with_name(f"{output.name}.verdicts.jsonl")
        judgement = _judge(to_judge(reading.traces, key), judge_name, file, judge_twice)
    graded = grade_traces(reading.traces, key, None if judgement is None else judgement.outcomes)
    if not graded.votes:
        raise InputError("no question of these logs can be graded: all need a judge, or have no gold")
    rows = [asdict(vote) for vote in graded.votes] if categories == "oracle" else without_gold(graded.votes)
    write_votes(rows, output)
    tally = read_votes(output).tally()
    fleet = [row.to_dict() for row in summary(tally)]
    free = {row.model: row.to_dict() for row in dependence(graded.votes)}
    report = {
        "votes": str(output),
        "rows": len(rows),
        "categories": categories,
        "models": fleet,
        "normalisation": list(free.values()),
        "judge": judgement.to_dict() if judgement else None,
        "ungradeable": graded.ungradeable,
        "without_rubric": graded.without_rubric,
        "errata": sorted({v.question for v in graded.votes if v.why.startswith("a known error")}),
        "skipped": reading.skipped,
    }
    if as_json:
        emit(report)
    else:
        names = ["questions", "votes", "single %", "plurality %", "without gold %", "abstained %"]
        cells = [
            [
                row["model"],
                *(str(row[name]) for name in ("questions", "votes")),
                *(percent(row[name]) for name in ("single", "plurality")),
                percent(free[row["model"]]["gold_free"]),
                percent(row["abstained"]),
            ]
            for row in fleet
        ]
        note = "without gold: plurality over the categories that a deployment would form"
        header(tally)
        show(f"{output}: {len(rows)} votes", [Column("model", right=False), *map(Column, names)], cells, note)
    _notes(report)


def _judge(items: Sequence[Item], name: str | None, file: Path, twice: bool) -> Judgement:
    """Judge what needs it, with a bar on a terminal."""
    from swaplaw_forensic.grading.judge import judge

    model = None
    if name is not None:
        from inspect_ai.model import get_model

        with inspect_errors():
            model = get_model(name)
    of = len(items) * (2 if twice else 1)
    with counting("Judging") as progress:
        done = itertools.count(1)
        return judge(items, model, file=file, twice=twice, progress=lambda: progress(next(done), of))


def _notes(report: dict[str, Any]) -> None:
    """Say on stderr what the table cannot show."""
    if report["ungradeable"]:
        tell(f"{len(report['ungradeable'])} questions have no gold to grade by and were left out")
    if report["without_rubric"]:
        tell(f"{len(report['without_rubric'])} rubric questions were left out")
    if report["errata"]:
        tell(f"answers equal to a known error of a key were graded incorrect: {', '.join(report['errata'])}")
    judge = report["judge"]
    if judge and judge["undecided"]:
        tell(f"{judge['undecided']} answers without a clear verdict are abstentions (reason `judge`)")
    if judge and judge["twice"]:
        tell(f"the judge agreed with itself on {judge['agreed']} of {judge['twice']} answers")
    for line in report["skipped"]:
        tell(f"skipped {line}".replace("`partial`", "--partial"))
    tell(f"wrote {report['rows']} votes to {report['votes']}")
