"""`swaplaw tally`: votes counted once, into a folder that every command takes in place of votes."""

from __future__ import annotations

from pathlib import Path

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, progress_bar, remark, show, table_options
from swaplaw.cli._shared.reading import reading_of_run, reading_options


@click.command("tally", cls=Command)
@click.argument("votes", nargs=-1, required=True, metavar="VOTES...")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to write; it must not be there yet.")
@reading_options
@table_options
def command(votes: tuple[str, ...], output: str, as_json: bool) -> None:
    """Count votes, or merge tallies, into a folder of integer counts, one Parquet file per model.

    Counting streams: only counts are held. Every command takes the folder in place of VOTES. A run that was stopped
    goes on where it was when it is given the same VOTES.
    """
    from swaplaw import demo_votes
    from swaplaw.importers.reading import open_votes
    from swaplaw.votes.bundled import bundled_name
    from swaplaw.votes.tally_writing import write_tally

    notes: list[str] = []
    bundled = bundled_name(votes[0]) if len(votes) == 1 else None
    if bundled is not None:
        sources = list(demo_votes(bundled).sources)
    else:
        sources, notes = open_votes(votes, reading_of_run())
    written = write_tally(sources, Path(output), progress=progress_bar("Counting"))
    if as_json:
        emit(written.to_dict())
        return
    remark(notes)
    rows = [
        [each["dataset"], f"{len(each['models']):,}", f"{each['questions']:,}", f"{each['votes']:,}"]
        for each in written.manifest["datasets"]
    ]
    columns = [Column("Dataset", right=False), Column("Models"), Column("Questions"), Column("Votes")]
    show(f"Tally in {output}", columns, rows, f"Use it as votes: swaplaw pairs {output}")
