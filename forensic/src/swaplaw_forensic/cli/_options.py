"""What several `swaplaw forensic` commands share."""

from collections.abc import Collection
from pathlib import Path

import click

from swaplaw.cli._shared.output import Column, table_options

TABLES = table_options
CHALLENGES = click.argument("challenges", nargs=-1, required=True, metavar="CHALLENGE...")
EVIDENCE = click.option(
    "--evidence",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the evidence, with one folder per challenge. Default: $SWAPLAW_EVIDENCE, or 'evidence' here.",
)
SANDBOX = click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "apptainer"]),
    default="bwrap",
    show_default=True,
    help="Where the agent's tools run.",
)
IMAGE = click.option("--image", help="Apptainer image (SIF). Default: $SWAPLAW_APPTAINER_IMAGE.")
LOGS = click.option(
    "--logs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("logs"),
    show_default=True,
    help="Log folder.",
)


def columns(*names: str, numbers: Collection[str] = ()) -> list[Column]:
    """Head a table: text to the left, numbers to the right."""
    return [Column(name, right=name in numbers) for name in names]
