"""`swaplaw reproduce --replicate`: the paper's claims on votes of your own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swaplaw.cli._shared.output import Column, emit, load, say, show
from swaplaw.errors import InputError

if TYPE_CHECKING:
    from swaplaw.predict.replication import Replication

WEIGHTS = ("1/3", "2/3", "1")


def run(paths: Sequence[str], as_json: bool) -> None:
    """Try every claim on every dataset of the votes, at three weights."""
    from swaplaw.predict.replication import replicate

    votes = [load([path]) for path in paths]
    tallies = [each.tally(dataset) for each in votes for dataset in each.datasets]
    names = [tally.dataset for tally in tallies]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"dataset {twice[0]!r} is given twice: give each dataset a name of its own")
    found, left = [], []
    for weight in WEIGHTS:
        try:
            found.append(replicate(tallies, weight))
        except InputError as error:
            left.append(str(error))
    if not found:
        raise InputError(left[0])
    if as_json:
        emit({"replications": [each.to_dict() for each in found], "left_out": left})
        return
    for each in found:
        _show(each)
    for words in left:
        say(f"Left out: {words}.")


def _show(found: Replication) -> None:
    from swaplaw.predict.replication import COMPARED, LAWS

    title = f"Weight {found.weight}: the law (RQ1)"
    heads = ("dataset", "models", "gain", "alpha", "gamma", "lambda", "residual pp", "R2 of S*")
    show(title, _columns(heads), claims(found))
    rows = [[each.dataset, *(f"{each.rho[name]:.2f}" for name in COMPARED)] for each in found.datasets]
    rows.append(["median", *(f"{found.median('rho', name):.2f}" for name in COMPARED)])
    show(f"Weight {found.weight}: rank correlation with lift (RQ2)", _columns(("dataset", *COMPARED)), rows)
    rows = [
        [each.dataset, *(f"{100 * each.rmse[name]:.1f}" for name in LAWS), f"{100 * each.baseline:.1f}"]
        for each in found.datasets
    ]
    show(f"Weight {found.weight}: error in points (RQ2)", _columns(("dataset", *LAWS, "no lift")), rows)
    names = [each.dataset for each in found.datasets]
    worse = np.mean([each.rmse > each.baseline for each in found.transfers])
    note = (
        "Rank correlation of the paper's predicted swap mass with rates from the row's dataset, on the column's. In "
        f"{worse:.0%} of the transfers its error is larger than that of predicting no lift."
    )
    show(f"Weight {found.weight}: transfer (RQ3)", _columns(("from / to", *names)), transfers(found), note)


def claims(found: Replication) -> list[list[str]]:
    """What the law's claims come to, a row per dataset."""
    return [
        [
            each.dataset,
            f"{each.models}",
            f"{each.gaining} of {each.pairs}",
            *(f"{value:.2f}" for value in (each.alpha, each.gamma, each.slope)),
            f"{100 * each.residual:+.2f}",
            f"{each.r2['swap']:.2f}",
        ]
        for each in found.datasets
    ]


def transfers(found: Replication) -> list[list[str]]:
    """Rank correlations with rates from the row's dataset, on the column's."""
    names = [each.dataset for each in found.datasets]
    cells = {(each.source, each.target): each for each in found.transfers}
    return [
        [source, *("–" if source == target else f"{cells[source, target].rho:.2f}" for target in names)]
        for source in names
    ]


def _columns(heads: Sequence[str]) -> list[Column]:
    return [Column(head, right=place > 0) for place, head in enumerate(heads)]
