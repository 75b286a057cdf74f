"""`swaplaw collect`: repeated votes from real models."""

from __future__ import annotations

import click

from swaplaw.cli.collect._mcq import mcq
from swaplaw.cli.collect._sample import sample


@click.group(name="collect")
def command() -> None:
    """Repeated votes from real models: through Inspect AI, in balanced answer orders, abstentions kept."""


for _subcommand in (sample, mcq):
    command.add_command(_subcommand)
