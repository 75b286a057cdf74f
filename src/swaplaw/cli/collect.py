"""`swaplaw collect`: repeated votes from real models."""

from __future__ import annotations

import click

from swaplaw.cli._collect_mcq import mcq


@click.group(name="collect")
def command() -> None:
    """Repeated votes from real models: through Inspect AI, in balanced answer orders, abstentions kept."""


command.add_command(mcq)
