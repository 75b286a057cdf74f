"""Commands that predict: freeze conversion rates, screen pairs before pooling, compare predictors of lift."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._result import PLAIN, decimals
from swaplaw.cli.options import VotesGiven, command, option
from swaplaw.cli.render import (
    Column,
    answer,
    drawn,
    header,
    interval,
    percent,
    points,
    precise,
    rate,
    say,
    show,
    size,
    tell,
    text,
)
from swaplaw.errors import InputError, listing, quote
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight

if TYPE_CHECKING:
    from swaplaw.predict.law_file import Law
    from swaplaw.predict.predictors import Predictors
    from swaplaw.predict.screen import Screen

Shown = Callable[..., str]


@command(
    example="swaplaw calibrate demo -o law.json",
    output=option("-o/--output", "Write the law here, for `screen` and `predictors`.", metavar="FILE"),
)
def calibrate(
    votes: VotesGiven, without: tuple[str, ...], weight: str, output: str | None, parts: dict[str, Any]
) -> None:
    """Freeze the mean conversion rates alpha and gamma of a dataset, with lambda, the residual and the fit."""
    from swaplaw.predict.calibrate import calibrate as calibrated

    tally = votes.tally(without)
    law = calibrated(tally, weight, **parts)
    if output is not None:
        law.write(output)

    def shown() -> None:
        header(tally)
        show_law(law)
        if output is not None:
            say(f"Law written to {output}. Apply it to other votes: swaplaw screen VOTES --law {output}")

    answer(law, shown)


def show_law(law: Law) -> None:
    """Print rates, residual and fit with their intervals."""
    known, at, fit = law.provenance, law.residual["at_weight"], law.fit
    pairs, defining = known["pairs"], known["pairs_defining"]

    def line(name: str, value: float | None, key: str, note: str, shown: Shown = rate) -> list[str]:
        ends = law.intervals[key]
        if shown not in (points, size):
            return [name, shown(value), interval(ends, shown), note]
        places = PLAIN if ends is None else decimals(ends.low, ends.high)
        rounded = partial(shown, places=places)
        return [name, f"{rounded(value)} pp", interval(ends, rounded), note]

    largest = law.residual["max_at"]
    where = f"{largest['primary']} with {largest['secondary']} at weight {largest['weight']}"
    no_lift = f"of S-hat as it is; predicting no lift: {size(fit['baseline_rmse'])} pp"
    rows = [
        line("alpha", law.alpha, "alpha", f"mean rescue conversion of {defining['alpha']} of {pairs} pairs", precise),
        line("gamma", law.gamma, "gamma", f"mean damage conversion of {defining['gamma']} of {pairs} pairs", precise),
        line("lambda", law.slope, "lambda", "lift per swap mass, through the origin", precise),
        line("residual", at["mean"], "residual_at_weight_mean", f"mean at weight {law.weight}", points),
        line("  mean", law.residual["mean"], "residual_mean", "over the grid of 25 weights", points),
        line("  mean size", law.residual["mean_absolute"], "residual_mean_absolute", "over the grid", size),
        line("  spread", law.residual["sd"], "residual_sd", "standard deviation over the grid", size),
        line("  largest size", law.residual["max"], "residual_max", where, size),
        line("R2", fit["r2"], "r2", "of S-hat with observed lift, in-sample"),
        line("rho", fit["rho"], "rho", "Spearman, of the same"),
        line("RMSE", fit["rmse"], "rmse", no_lift, size),
    ]
    title = f"{known['dataset']}: the law at weight {law.weight}, from {pairs} pairs and {known['questions']} questions"
    first = next((each for each in law.intervals.values() if each), None)
    note = "" if first is None else f"{first.level:.0%} intervals ({first.method}): {drawn(known['resampled'])}."
    columns = [Column("", right=False), Column("Value"), Column("Interval"), Column("", right=False)]
    show(title, columns, rows, note)


@command(
    example="swaplaw predictors demo",
    law_file=option("--law", "Rates from `swaplaw calibrate -o`; without, in-sample ones.", metavar="FILE"),
    calibrate_on=option("--calibrate-on", "Calibrate on these votes first, and apply their law here.", metavar="VOTES"),
    weight=option("--weight", "Weight of the secondary; the law's, or 2/3."),
)
def predictors(
    votes: VotesGiven,
    without: tuple[str, ...],
    law_file: str | None,
    calibrate_on: str | None,
    weight: str | None,
    parts: dict[str, Any],
) -> None:
    """Compare every predictor of lift, the law's and the classical ones: R2 and Spearman's rho over pairs."""
    from swaplaw.predict.calibrate import calibrate as calibrated
    from swaplaw.predict.law_file import read_law
    from swaplaw.predict.predictors import predictors as compared

    if law_file is not None and calibrate_on is not None:
        raise InputError("give either --law or --calibrate-on, not both")
    law = None if law_file is None else read_law(law_file, weight=weight)
    source = None if calibrate_on is None else replace(votes, paths=(calibrate_on,), dataset=None).tally()
    if source is not None:
        law = calibrated(source, weight or DEFAULT_WEIGHT, **parts)
    tally = votes.tally(without)
    found = compared(tally, law, weight, **parts)

    def shown() -> None:
        if source is not None and law is not None:
            header(source)
            show_law(law)
        header(tally)
        show_predictors(found)

    answer(found, shown)


def show_predictors(found: Predictors) -> None:
    """Print the table and the direct error of S-hat."""
    source = "these votes (in-sample)" if found.calibrated_on is None else found.calibrated_on
    note = (
        f"Rates from {source}: alpha {rate(found.alpha)}, gamma {rate(found.gamma)}. S-hat as a point prediction errs "
        f"by {size(found.rmse.value)} pp (RMSE), predicting no lift by {size(found.baseline_rmse.value)} pp. "
        f"Questions: interval over other questions ({drawn(found.parts.to_dict())}). Models: over other models, by "
        "leaving out one at a time; undefined for fewer than six. Split: the predictor from one half of the questions, "
        "lift from the other half."
    )
    columns = [
        text("Predictor", "name"),
        Column("R2", "r2.value", rate),
        Column("rho", "rho.value", rate),
        Column("Questions", "rho.interval", interval),
        Column("Models", "model_interval", interval),
        Column("Split", "split", rate),
        Column("n", "n", minor=1),
        text("Meaning", "meaning"),
    ]
    title = f"{found.dataset}: predicting lift at weight {found.weight} over {found.pairs} pairs"
    show(title, columns, found.predictors, note)


@command(
    example="swaplaw screen demo --rule margin",
    law_file=option("--law", "The law that `swaplaw calibrate -o` wrote.", metavar="FILE"),
    rule=option(
        "--rule",
        "S-hat by the rates of --law, or the margin law, which needs no rates; swap where there is a law.",
        type=click.Choice(["swap", "margin"]),
    ),
    weight=option("--weight", "Weight of the secondary; the law's, or 2/3."),
    accuracy=option("--accuracy", "Instead of VOTES: columns model, accuracy (fractions of one).", metavar="CSV"),
    phi_adj=option("--phi-adj", "With --accuracy: columns primary, secondary, phi_adj.", metavar="CSV"),
)
def screen(
    if_any: VotesGiven,
    law_file: str | None,
    rule: Any,
    weight: str | None,
    without: tuple[str, ...],
    accuracy: str | None,
    phi_adj: str | None,
    top: int,
) -> None:
    """Rank pairs by predicted lift, without pooling a vote; from VOTES or from published marginals.

    Where VOTES allow it, the votes are pooled afterwards to say what the screen was worth: predicted from one half of
    the questions, and checked on the other half.
    """
    from swaplaw.predict.law_file import read_law
    from swaplaw.predict.screen import of_law, screen_marginals, with_reliability
    from swaplaw.predict.screen import screen as screened

    rule = rule or ("margin" if law_file is None else "swap")
    law = None if law_file is None else read_law(law_file, weight=weight)
    if (accuracy is None) != (phi_adj is None) or bool(if_any.paths) == (accuracy is not None):
        raise InputError("give either VOTES, or both --accuracy and --phi-adj")
    if law is None and (rule == "swap" or accuracy is not None):
        raise InputError("S-hat needs the rates of a law: give --law, or screen VOTES with --rule margin")
    x = law.weight if law else as_weight(weight or DEFAULT_WEIGHT)
    tally = None
    if accuracy is not None and phi_adj is not None and law is not None:
        found = screen_marginals(read_accuracy(accuracy), read_phi_adj(phi_adj), law)
        found = replace(found, reliability=of_law(law))
    else:
        tally = if_any.tally(without)
        found = screened(tally, law, rule=rule, weight=x)
        # What the screen was worth here shows only where votes can be pooled; else the law says what it was worth.
        known = of_law(law) if tally.only_grades and law is not None else None
        found = with_reliability(found, tally, law, x) if known is None else replace(found, reliability=known)
    worth = found.reliability
    if worth is not None and worth.is_worthless:
        tell(f"swaplaw: note: {worth.note}")

    def shown() -> None:
        if tally is not None:
            header(tally)
        error = law.fit["rmse"] if law and rule == "swap" else None
        title = "Published marginals" if tally is None else tally.dataset
        name = "S-hat" if rule == "swap" else "the margin law"
        places = decimals(None if error is None else -error, error)
        show_screen(f"{title}: {len(found)} pairs by {name} at weight {x}", found, top, places)
        if rule == "swap" and law is not None:
            say(
                f"Rates from {law.provenance.get('dataset')}: alpha {rate(law.alpha)}, gamma {rate(law.gamma)}. "
                "Off its calibration set S-hat is a rank screen, not a point prediction."
            )
        if worth is not None:
            say(f"What this screen is worth: {worth.note}.")

    answer({"weight": str(x), **found.to_dict()}, shown)


def show_screen(title: str, found: Screen, top: int, places: int) -> None:
    """Print the most promising pairs; S-hat with as many decimals as its error on the calibration set allows."""
    gain = int((found.predicted > 0).sum())
    note = f"{gain} of {len(found)} pairs are predicted to gain."
    if len(found) > top:
        note += f" The first {top} are shown; --top N shows more, --json all."
    columns = [
        Column("Rank", "rank"),
        text("Primary", "primary"),
        text("Secondary", "secondary"),
        Column("p %", "p", percent),
        Column("q %", "q", percent),
        Column("phi_adj", "phi_adj", rate),
        Column("S-hat pp" if found.rule == "swap" else "Margin pp", "predicted", partial(points, places=places)),
    ]
    show(title, columns, found.rows()[:top], note)


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
