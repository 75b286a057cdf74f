"""`swaplaw twin`: synthetic votes with the paper's marginals."""

from __future__ import annotations

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, percent, show, table_options


@click.command("twin", cls=Command)
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the votes here (.parquet, .csv, .jsonl).")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Takes an arrangement.")
@click.option("--arrangements", metavar="FILE", help="Another file of arrangements than ours.")
@table_options
def command(datasets: tuple[str, ...], output: str, seed: int, arrangements: str | None, as_json: bool) -> None:
    """Draw SYNTHETIC twins of the paper's datasets: supergpqa, gpqa-diamond, forensic (all three by default)."""
    from swaplaw.paper.twins import taken, twins
    from swaplaw.votes.summary import summary

    votes = twins(datasets or None, seed, arrangements)
    which = taken(seed, arrangements)
    votes.write(output)
    rows = [model for name in votes.datasets for model in summary(votes.tally(name))]
    if as_json:
        models = [row.to_dict() for row in rows]
        emit({"synthetic": True, "file": output, "seed": seed, "arrangement": which, "models": models})
        return
    cells = [
        [row.dataset, row.model, percent(row.single), percent(row.plurality), percent(row.abstained)] for row in rows
    ]
    columns = [
        Column("Dataset", right=False),
        Column("Model", right=False),
        *map(Column, ("Single %", "Plurality %", "Null %")),
    ]
    total = sum(row.votes for row in rows)
    for name in votes.datasets:
        header(votes.tally(name))
    note = f"{total:,} votes written to {output}.\nTwins: {which}."
    show("SYNTHETIC votes: twins of the paper's datasets", columns, cells, note)
