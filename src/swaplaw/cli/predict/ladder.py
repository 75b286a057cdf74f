"""`swaplaw ladder`: how many samples a pair needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr, load_tally
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import INTERVALS, Column, emit, header, lift, percent, points, show, votes_options
from swaplaw.errors import InputError, quote
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.predict.ladder import Ladder


@click.command("ladder", cls=Command)
@votes_options
@click.option("--primary", required=True, metavar="MODEL", help="The model that carries weight 1.")
@click.option("--secondary", required=True, metavar="MODEL", help="The model that is added.")
@click.option("--weight", default=str(DEFAULT_WEIGHT), show_default=True, help="Weight of the secondary.")
@click.option("--samples", metavar="1,2,4,...", help="Samples of each model per question; by default up to all.")
@click.option("--beyond", type=int, metavar="N", help="Extrapolate to N samples instead of infinitely many.")
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is resampled.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
@doubts_on_stderr()
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    primary: str,
    secondary: str,
    samples: str | None,
    **options: Any,
) -> None:
    """Show what a pair gains with 1, 2, 4, ... samples of each model, and whether more would change the verdict."""
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.predict.ladder import sample_ladder

    tally = load_tally(votes, dataset)
    found = sample_ladder(tally, primary, secondary, _numbers(samples), **options)
    warn_thin(step.effect for step in found.steps)
    if as_json:
        emit(found.to_dict())
        return
    header(tally, primary, secondary)
    _show(found)


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"samples are {quote(text)}, expected numbers such as 1,2,4,8") from None


def _show(found: Ladder) -> None:
    rows = [
        [
            "all" if step.samples is None else str(step.samples),
            percent(step.primary),
            percent(step.secondary),
            percent(step.pair),
            *lift(step.lift, step.effect),
        ]
        for step in found.steps
    ]
    beyond = found.beyond
    more = "infinitely many" if beyond.samples is None else f"{beyond.samples:,}"
    rows.append([more, *map(_span, (beyond.primary, beyond.secondary, beyond.pair)), _span(beyond.lift, points), ""])
    note = (
        f"Expected accuracy in per cent when each model gives this many samples per question. {INTERVALS} The last row "
        "spans 95% intervals for these questions. "
    )
    verdict = "would leave the sign of the lift as it is." if found.settled else "could change the sign of the lift."
    names = ("Primary %", "Secondary %", "Pair %", "Lift pp", "±")
    title = f"{found.dataset}: {found.pair.primary} with {found.pair.secondary} at weight {found.weight}"
    show(title, [Column("Samples"), *map(Column, names)], rows, f"{note}More samples {verdict}")


def _span(ends: tuple[float, float], shown: Any = percent) -> str:
    return f"{shown(ends[0])} to {shown(ends[1])}"
