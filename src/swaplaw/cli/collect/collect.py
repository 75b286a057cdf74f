"""`swaplaw collect`: repeated votes from real models."""

from __future__ import annotations

import click

from swaplaw.cli._shared.help import Group
from swaplaw.cli.collect._mcq import mcq
from swaplaw.cli.collect._sample import sample


@click.group("collect", cls=Group)
def command() -> None:
    """Ask real models again and again through Inspect AI, with the options in balanced orders. Abstentions are kept."""


for _subcommand in (sample, mcq):
    command.add_command(_subcommand)
