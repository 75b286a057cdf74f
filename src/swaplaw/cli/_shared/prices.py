"""How prices per sample reach a command: a JSON file of model to price, or MODEL=PRICE on the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from swaplaw.cli.options import read_prices

__all__ = ["price_options", "read_prices"]

Command = TypeVar("Command", bound=Callable[..., Any])


def price_options(command: Command) -> Command:
    """Add --prices FILE and --price MODEL=PRICE."""
    command = click.option("--price", multiple=True, metavar="MODEL=PRICE", help="Price of a sample (repeatable).")(
        command
    )
    return click.option("--prices", metavar="FILE", help='Prices per sample, as JSON: {"model": price}.')(command)
