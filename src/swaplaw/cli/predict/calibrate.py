"""`swaplaw calibrate`: freeze the conversion rates of one dataset."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.rounding import PLAIN, decimals
from swaplaw.cli._shared.evidence import (
    bootstrap_options,
    doubts_on_stderr,
    drawn,
    interval,
    load_tally,
    models_option,
    over_grid,
    precise,
    size,
)
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, points, rate, say, show, votes_options
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.predict.law_file import Law

Shown = Callable[..., str]


@click.command("calibrate", cls=Command)
@votes_options
@models_option
@click.option(
    "--weight", default=str(DEFAULT_WEIGHT), show_default=True, help="Weight of the secondary; the primary carries 1."
)
@click.option("-o", "--output", metavar="FILE", help="Write the law here, for `screen` and `predictors`.")
@bootstrap_options
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    without: tuple[str, ...],
    weight: str,
    output: str | None,
    **options: Any,
) -> None:
    """Freeze the mean conversion rates alpha and gamma of a dataset, with lambda, the residual and the fit."""
    from swaplaw.predict.calibrate import calibrate

    with doubts_on_stderr():
        tally = load_tally(votes, dataset, without)
        law = calibrate(tally, weight, progress=over_grid(tally), **options)
    if output is not None:
        law.write(output)
    if as_json:
        emit(law.to_dict())
        return
    header(tally)
    show_law(law)
    if output is not None:
        say(f"Law written to {output}. Apply it to other votes: swaplaw screen VOTES --law {output}")


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
