"""`swaplaw import`: votes from logs and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, remark, show, table_options
from swaplaw.cli._shared.reading import reading_of_run, reading_options
from swaplaw.errors import InputError, several

if TYPE_CHECKING:
    from swaplaw.importers.reading import Imported


@click.command("import", cls=Command)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where the votes go (.parquet).")
@click.option("--explain", is_flag=True, help="Show how each column is read, and write nothing.")
@click.option("--cluster", metavar="KEY", help="What questions are nested in: a metadata key, field or column.")
@click.option(
    "--question", multiple=True, metavar="COLUMN", help="Tables: build question ids; `order` is a column too."
)
@click.option("--drop-ambiguous", is_flag=True, help="Tables: leave out ids that stand for several questions.")
@click.option("--judge", metavar="MODEL", help="Let this Inspect model group answers by meaning; kept in --groups.")
@click.option("--model", metavar="NAME", help="The model's name, where the source does not tell.")
@click.option("--dataset", metavar="NAME", help="The dataset's name, where the source does not tell.")
@reading_options
@table_options
def command(
    sources: tuple[str, ...],
    output: Path | None,
    explain: bool,
    cluster: str | None,
    question: tuple[str, ...],
    drop_ambiguous: bool,
    judge: str | None,
    model: str | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Read votes from Inspect, lm-evaluation-harness or HELM logs, or any table, and write them as Parquet."""
    from swaplaw.importers.reading import import_votes

    if output is None and not explain:
        raise InputError("say where the votes go with -o votes.parquet, or add --explain to only look")
    options = reading_of_run(
        cluster=cluster, question=question, drop_ambiguous=drop_ambiguous, judge=judge, model=model, dataset=dataset
    )
    imported = import_votes(sources, options)
    if output is not None and not explain:
        imported.write(output)
    if as_json:
        emit(imported.to_dict() | {"output": str(output) if output is not None and not explain else None})
        return
    remark(imported.notes)
    _show(imported, output if not explain else None)


def _show(imported: Imported, output: Path | None) -> None:
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
