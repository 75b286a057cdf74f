"""`swaplaw screen`: predicted lift of every pair before pooling."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.rounding import decimals
from swaplaw.cli._shared.evidence import load_tally, models_option
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, percent, points, rate, say, show, table_options, tell
from swaplaw.cli._shared.reading import reading_options
from swaplaw.errors import InputError, listing, quote
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight

if TYPE_CHECKING:
    from swaplaw.predict.screen import Screen

SHOWN = 30


@click.command("screen", cls=Command)
@click.argument("votes", nargs=-1, metavar="[VOTES...]")
@reading_options
@click.option("--law", "law_file", metavar="FILE", help="The law that `swaplaw calibrate -o` wrote.")
@click.option(
    "--rule",
    type=click.Choice(["swap", "margin"]),
    help="S-hat by the rates of --law, or the margin law, which needs no rates; swap where there is a law.",
)
@click.option("--weight", help="Weight of the secondary; the law's, or 2/3.")
@click.option("--dataset", metavar="NAME", help="Analyse this dataset only.")
@models_option
@click.option("--accuracy", metavar="CSV", help="Instead of VOTES: columns model, accuracy (fractions of one).")
@click.option("--phi-adj", metavar="CSV", help="With --accuracy: columns primary, secondary, phi_adj.")
@click.option("--top", type=click.IntRange(1), default=SHOWN, show_default=True, help="Rows of the printed table.")
@table_options
def command(
    votes: tuple[str, ...],
    law_file: str | None,
    rule: Any,
    weight: str | None,
    dataset: str | None,
    without: tuple[str, ...],
    accuracy: str | None,
    phi_adj: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Rank pairs by predicted lift, without pooling a vote; from VOTES or from published marginals.

    Where VOTES allow it, the votes are pooled afterwards to say what the screen was worth.
    """
    from swaplaw.predict.law_file import read_law
    from swaplaw.predict.reliability import of_law, with_reliability
    from swaplaw.predict.screen import screen, screen_marginals

    rule = rule or ("margin" if law_file is None else "swap")
    law = None if law_file is None else read_law(law_file, weight=weight)
    if (accuracy is None) != (phi_adj is None) or bool(votes) == (accuracy is not None):
        raise InputError("give either VOTES, or both --accuracy and --phi-adj")
    if law is None and (rule == "swap" or accuracy is not None):
        raise InputError("S-hat needs the rates of a law: give --law, or screen VOTES with --rule margin")
    x = law.weight if law else as_weight(weight or DEFAULT_WEIGHT)
    if accuracy is not None and phi_adj is not None and law is not None:
        found = screen_marginals(read_accuracy(accuracy), read_phi_adj(phi_adj), law)
        found = replace(found, reliability=of_law(law))
        title = "Published marginals"
    else:
        tally = load_tally(votes, dataset, without)
        found, title = screen(tally, law, rule=rule, weight=x), tally.dataset
        # What the screen was worth here shows only where votes can be pooled; else the law says what it was worth.
        known = of_law(law) if tally.only_grades and law is not None else None
        found = with_reliability(found, tally, x) if known is None else replace(found, reliability=known)
    worth = found.reliability
    if worth is not None and worth.is_worthless:
        tell(f"swaplaw: note: {worth.note}")
    if as_json:
        emit({"weight": str(x), **found.to_dict()})
        return
    if accuracy is None:
        header(tally)
    error = law.fit["rmse"] if law and rule == "swap" else None
    places = decimals(None if error is None else -error, error)
    name = "S-hat" if rule == "swap" else "the margin law"
    show_screen(f"{title}: {len(found)} pairs by {name} at weight {x}", found, top, places)
    if rule == "swap" and law is not None:
        say(
            f"Rates from {law.provenance.get('dataset')}: alpha {rate(law.alpha)}, gamma {rate(law.gamma)}. "
            "Off its calibration set S-hat is a rank screen, not a point prediction."
        )
    if worth is not None:
        say(f"What this screen is worth: {worth.note}.")


def show_screen(title: str, found: Screen, top: int, places: int) -> None:
    """Print the most promising pairs; S-hat with as many decimals as its error on the calibration set allows."""
    rows = [
        [str(rank), primary, secondary, percent(p), percent(q), rate(phi_adj), points(predicted, places)]
        for primary, secondary, p, q, phi_adj, predicted, rank in found.to_frame().head(top).iter_rows()
    ]
    gain = int((found.predicted > 0).sum())
    note = f"{gain} of {len(found)} pairs are predicted to gain."
    if len(found) > top:
        note += f" The first {top} are shown; --top N shows more, --json all."
    names = [Column("Primary", right=False), Column("Secondary", right=False)]
    predicted = "S-hat pp" if found.rule == "swap" else "Margin pp"
    show(title, [Column("Rank"), *names, *map(Column, ("p %", "q %", "phi_adj", predicted))], rows, note)


def read_accuracy(path: str) -> dict[str, float]:
    """Read a table of published accuracies."""
    found: dict[str, float] = {}
    for place, (model, value) in _rows(path, ("model", "accuracy")):
        if model in found:
            raise InputError(f"{place}: model {quote(model)} is listed twice; keep one accuracy")
        found[model] = _number(place, "accuracy", value)
    return found


def read_phi_adj(path: str) -> dict[tuple[str, str], float | None]:
    """Read a table of published phi_adj; an empty one is undefined."""
    found: dict[tuple[str, str], float | None] = {}
    for place, (primary, secondary, value) in _rows(path, ("primary", "secondary", "phi_adj")):
        if primary == secondary:
            raise InputError(f"{place}: primary and secondary are both {quote(primary)}; name two different models")
        if (primary, secondary) in found or (secondary, primary) in found:
            raise InputError(f"{place}: the pair {quote(primary)} and {quote(secondary)} is listed twice; keep one")
        found[primary, secondary] = _number(place, "phi_adj", value) if value else None
    return found


def _rows(path: str, columns: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Read these columns of a CSV file, with the place of each row for messages."""
    name = quote(path, 200)
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            for column in columns:
                if column not in (reader.fieldnames or []):
                    raise InputError(
                        f"{name}: column '{column}' is missing (found {listing(list(reader.fieldnames or []))}); "
                        f"the table needs {', '.join(columns)}"
                    )
            for row in reader:
                yield f"{name}, line {reader.line_num}", [(row[column] or "").strip() for column in columns]
    except OSError as error:
        raise InputError(f"{name}: cannot read the table ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{name}: not a CSV table in UTF-8") from None


def _number(place: str, column: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise InputError(f"{place}: {column} is {quote(value)}, expected a number such as 0.69")
    return number
