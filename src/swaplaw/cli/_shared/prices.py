"""How prices per sample reach a command: a JSON file of model to price, or MODEL=PRICE on the line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from swaplaw.errors import InputError, quote

Command = TypeVar("Command", bound=Callable[..., Any])


def price_options(command: Command) -> Command:
    """Add --prices FILE and --price MODEL=PRICE."""
    command = click.option("--price", multiple=True, metavar="MODEL=PRICE", help="Price of a sample (repeatable).")(
        command
    )
    return click.option("--prices", metavar="FILE", help='Prices per sample, as JSON: {"model": price}.')(command)


def read_prices(file: str | None, given: Sequence[str]) -> dict[str, float] | None:
    """Prices from the file, then those given one by one; None where there are none at all."""
    prices: dict[str, float] = {}
    if file is not None:
        prices.update(_from_file(file))
    for each in given:
        model, equals, price = each.rpartition("=")
        try:
            prices[model] = float(price)
        except ValueError:
            equals = ""
        if not equals or not model:
            raise InputError(f"--price is {quote(each)}: give MODEL=PRICE, such as gpt-4=0.03")
    return prices or None


def _from_file(file: str) -> dict[str, float]:
    name = quote(file, 200)
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read prices ({error.strerror})") from None
    except ValueError:
        raise InputError(f'{name}: not JSON; give an object such as {{"model": 0.03}}') from None
    if not isinstance(found, dict) or not found:
        raise InputError(f'{name}: holds no prices; give an object such as {{"model": 0.03}}')
    return found
