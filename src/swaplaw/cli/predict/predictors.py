"""`swaplaw predictors`: compare predictors of lift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import (
    bootstrap_options,
    doubts_on_stderr,
    drawn,
    interval,
    load_tally,
    models_option,
    over_grid,
    size,
)
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, rate, show, votes_options
from swaplaw.cli.predict.calibrate import show_law
from swaplaw.errors import InputError
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.predict.predictors import Predictors


@click.command("predictors", cls=Command)
@votes_options
@models_option
@click.option("--law", "law_file", metavar="FILE", help="Rates from `swaplaw calibrate -o`; without, in-sample ones.")
@click.option("--calibrate-on", metavar="VOTES", help="Calibrate on these votes first, and apply their law here.")
@click.option("--weight", help="Weight of the secondary; the law's, or 2/3.")
@bootstrap_options
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    without: tuple[str, ...],
    law_file: str | None,
    calibrate_on: str | None,
    weight: str | None,
    **options: Any,
) -> None:
    """Compare every predictor of lift, the law's and the classical ones: R2 and Spearman's rho over pairs."""
    from swaplaw.predict.calibrate import calibrate
    from swaplaw.predict.law_file import read_law
    from swaplaw.predict.predictors import predictors

    if law_file is not None and calibrate_on is not None:
        raise InputError("give either --law or --calibrate-on, not both")
    law = None if law_file is None else read_law(law_file, weight=weight)
    with doubts_on_stderr():
        if calibrate_on is not None:
            source = load_tally([calibrate_on], None)
            law = calibrate(source, weight or DEFAULT_WEIGHT, progress=over_grid(source), **options)
        tally = load_tally(votes, dataset, without)
        found = predictors(tally, law, weight, **options)
    if as_json:
        emit(found.to_dict())
        return
    if calibrate_on is not None and law is not None:
        header(source)
        show_law(law)
    header(tally)
    show_predictors(found)


def show_predictors(found: Predictors) -> None:
    """Print the table and the direct error of S-hat."""
    rows = [
        [
            row.name,
            rate(row.r2.value),
            rate(row.rho.value),
            interval(row.rho.interval),
            interval(row.model_interval),
            rate(row.split),
            str(row.n),
            row.meaning,
        ]
        for row in found.predictors
    ]
    source = "these votes (in-sample)" if found.calibrated_on is None else found.calibrated_on
    note = (
        f"Rates from {source}: alpha {rate(found.alpha)}, gamma {rate(found.gamma)}. S-hat as a point prediction errs "
        f"by {size(found.rmse.value)} pp (RMSE), predicting no lift by {size(found.baseline_rmse.value)} pp. "
        f"Questions: interval over other questions ({drawn(found.draws.to_dict())}). Models: over other models, by "
        "leaving out one at a time; undefined for fewer than six. Split: the predictor from one half of the questions, "
        "lift from the other half."
    )
    columns = [Column("Predictor", right=False), *map(Column, ("R2", "rho", "Questions", "Models")), Column("Split")]
    columns.append(Column("n", minor=1))
    title = f"{found.dataset}: predicting lift at weight {found.weight} over {found.pairs} pairs"
    show(title, [*columns, Column("Meaning", right=False)], rows, note)
