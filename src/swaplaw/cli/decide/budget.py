"""`swaplaw budget`: is the lift of a pair diversity, or just more samples?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr, load_tally
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, percent, points, progress_bar, show, votes_options
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    from swaplaw.decide.equal_compute import Budget, Split


@click.command("budget", cls=Command)
@votes_options
@click.option("--primary", required=True, metavar="MODEL", help="The model that carries weight 1.")
@click.option("--secondary", required=True, metavar="MODEL", help="The model that is added.")
@click.option(
    "--samples", metavar="T[,T...]", help="Samples per question in all; by default as many as the primary has."
)
@price_options
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is held out together.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    primary: str,
    secondary: str,
    samples: str | None,
    prices: str | None,
    price: tuple[str, ...],
    by: str | None,
    seed: int,
) -> None:
    """Compare a pair with its models alone at equal compute: every split of the same number of samples."""
    from swaplaw.decide.equal_compute import budget

    tally = load_tally(votes, dataset)
    with doubts_on_stderr():
        found = budget(
            tally,
            primary,
            secondary,
            _totals(samples),
            prices=read_prices(prices, price),
            by=by,  # type: ignore[arg-type]
            seed=seed,
            progress=progress_bar("Drawing ballots"),
        )
    if as_json:
        emit(found.to_dict())
    else:
        header(tally, primary, secondary)
        show_budget(found)


def _totals(samples: str | None) -> list[int] | None:
    try:
        return None if samples is None else [int(total) for total in samples.split(",")]
    except ValueError:
        raise InputError(f"--samples is {quote(samples)}: give whole numbers such as 8 or 4,8,16") from None


def show_budget(found: Budget) -> None:
    """Print the splits, and what they say."""
    cost = [Column("Cost"), Column("Front", right=False)] if found.priced else []
    columns = [
        Column(name) for name in ("Samples", "Primary", "Secondary", "Weight", "Accuracy %", "Held out %", "± %")
    ]
    rows = [_cells(split, found.priced) for split in found.splits]
    n = f"{found.n}" if found.n == found.of else f"{found.n} of {found.of}"
    show(
        f"{found.dataset}: {found.primary} (primary) with {found.secondary}, {n} questions",
        [*columns, *cost],
        rows,
        "\n".join(
            [
                *(_compared(found, total) for total in found.totals),
                "Weights are chosen on these questions; held out, a question's weight is chosen without it.",
            ]
        ),
    )


def _cells(split: Split, priced: bool) -> list[str]:
    error = "exact" if split.exact else f"{100 * split.standard_error:.2f}"
    cells = [
        str(split.samples),
        str(split.primary),
        str(split.secondary),
        "–" if split.weight is None else str(split.weight),
        percent(split.accuracy),
        percent(split.held_out),
        error,
    ]
    return [*cells, f"{split.cost:g}", "*" if split.efficient else ""] if priced else cells


def _compared(found: Budget, total: int) -> str:
    alone, mixed = found.best(total)
    name = found.primary if alone.secondary == 0 else found.secondary
    said = f"{total} samples: {name} alone {percent(alone.held_out)} %"
    if mixed is None:
        return f"{said}; there is no split to compare."
    gain = mixed.held_out - alone.held_out
    return (
        f"{said}; best split {mixed.primary} + {mixed.secondary} {percent(mixed.held_out)} % ({points(gain)} points)."
    )
