"""`swaplaw panel`: the best panels of a size, at weights that are proven best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.progress import counting
from swaplaw.cli._shared.evidence import doubts_on_stderr, leave_out, models_option
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    INTERVALS,
    Column,
    emit,
    header,
    lift,
    load_tallies,
    number,
    percent,
    places_of,
    points,
    rate,
    show,
    tell,
    votes_options,
)
from swaplaw.cli._shared.workers import workers_options
from swaplaw.errors import InputError

if TYPE_CHECKING:
    from swaplaw.decide.holdout import HeldOutPanel
    from swaplaw.panels.certificates import Certificate
    from swaplaw.panels.panel import PanelOptimum
    from swaplaw.panels.search import PanelSearch
    from swaplaw.votes.tally import Tally

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    """One panel as it is shown."""

    certificate: Certificate
    shown: PanelOptimum
    """The best weights, or the grid's."""
    held_out: HeldOutPanel | None
    of: int
    """Questions of the dataset."""

    @property
    def gap(self) -> Fraction:
        """Proven distance of the weights to the best ones."""
        return self.certificate.bound - self.shown.accuracy

    def to_dict(self) -> dict[str, Any]:
        """The panel for JSON, as the design fixes it."""
        return {
            **self.certificate.to_dict(),
            "weights": [str(weight) for weight in self.shown.weights],
            "accuracy": float(self.shown.accuracy),
            "lift": float(self.shown.accuracy - self.certificate.panel.accuracies[0]),
            "certified": not self.gap,
            "gap": float(self.gap),
            "fragile": self.shown.fragile,
            "phi_adj": number(self.certificate.panel.union.phi_adj),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "of": self.of,
        }


@click.command("panel", cls=Command)
@votes_options
@click.option("--size", type=int, default=3, show_default=True, help="How many members a panel has.")
@click.option("--members", multiple=True, metavar="A,B,...", help="Look at this panel only.")
@models_option
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many panels to list.")
@click.option("--all", "everything", is_flag=True, help="List every panel.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after this, with a proven gap.")
@click.option("--grid", is_flag=True, help="Weights of the paper's grid, and how far they are from the optimum.")
@click.option(
    "--folds", type=int, default=5, show_default=True, help="Parts of the held-out check, most of the work (0: none)."
)
@click.option("--repeats", type=int, default=2, show_default=True, help="How often they are dealt.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
@workers_options
@doubts_on_stderr()
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    size: int,
    members: tuple[str, ...],
    without: tuple[str, ...],
    top: int,
    everything: bool,
    time_limit: float | None,
    grid: bool,
    folds: int,
    repeats: int,
    seed: int,
    **crew: Any,
) -> None:
    """Find the best panels: k models pooled by weighted vote, at weights that are proven best.

    Panels are ordered by held-out accuracy: weights chosen on some questions, judged on others.
    """
    from swaplaw.panels import best_panels

    if folds < 0 or folds == 1:
        raise InputError(f"{folds} folds leave nothing to hold out: ask for 2 or more, or 0 for no held-out numbers")
    document: dict[str, list[Any]] = {"panels": [], "search": []}
    for tally in load_tallies(votes, dataset):
        fleet = leave_out(tally, without)
        if members:
            searched, found = None, [_certified(fleet, members, time_limit)]
        else:
            with counting("Searching panels") as progress:
                listed = None if everything else top
                searched = best_panels(fleet, size, top=listed, time_limit=time_limit, progress=progress, **crew)
            found = list(searched.panels)
        rows = _on_grid(fleet, found) if grid else _held_out(fleet, found, time_limit, folds, repeats, seed, crew)
        if as_json:
            document["panels"] += [row.to_dict() | ({} if searched else _details(row)) for row in rows]
            document["search"] += [{"dataset": fleet.dataset, **searched.to_dict()}] if searched else []
        else:
            header(fleet, *(() if searched else rows[0].certificate.panel.members))
            _show_rows(fleet, rows, searched)
            if searched is None:
                _show_details(rows[0])
    if as_json:
        emit(document)


def _certified(tally: Tally, given: Sequence[str], time_limit: float | None) -> Certificate:
    """Certify one panel. A name that is not a model is taken as a list with commas."""
    from swaplaw import panel
    from swaplaw.panels import certify

    names: list[str] = []
    for name in given:
        names += [name] if name in tally.models else [part.strip() for part in name.split(",") if part.strip()]
    return certify(panel(tally, names), time_limit=time_limit)


def _on_grid(tally: Tally, found: Sequence[Certificate]) -> list[Row]:
    """Give each panel the best weights of the paper's grid."""
    from swaplaw.panels import grid_search

    rows = []
    with counting("Trying the grid") as progress:
        for done, one in enumerate(found):
            progress(done, len(found))
            rows.append(Row(one, grid_search(one.panel), None, len(tally.questions)))
    return sorted(rows, key=lambda row: -row.shown.accuracy)


def _held_out(
    tally: Tally,
    found: Sequence[Certificate],
    time_limit: float | None,
    folds: int,
    repeats: int,
    seed: int,
    crew: dict[str, Any],
) -> list[Row]:
    """Hold each panel out, and put the best first; Ctrl-C leaves the rest as they are."""
    from swaplaw.decide import held_out_panel

    # All folds of all panels together may take as long as the search did.
    limit = None if time_limit is None else time_limit / (len(found) * max(folds, 1) * max(repeats, 1))
    judged: dict[int, HeldOutPanel | None] = {}
    try:
        parts = max(folds, 1) * max(repeats, 1)
        with counting(f"Certifying each panel on {parts} training parts") as progress:
            for done, one in enumerate(found if folds else []):
                judged[done] = held_out_panel(
                    one.panel,
                    folds=folds,
                    repeats=repeats,
                    seed=seed,
                    time_limit=limit,
                    progress=_steps(progress, done * parts, len(found) * parts),
                    **crew,
                )
    except KeyboardInterrupt:
        tell(f"swaplaw: stopped: {len(judged)} of {len(found)} panels were held out")
    rows = [Row(one, one.best, judged.get(place), len(tally.questions)) for place, one in enumerate(found)]
    return sorted(rows, key=lambda row: -(row.held_out.accuracy if row.held_out else 0.0))


def _steps(show: Progress, before: int, total: int) -> Callable[[Sequence[Any]], Iterator[Any]]:
    """Show training parts as they are done, out of a known total."""

    def steps(parts: Sequence[Any]) -> Iterator[Any]:
        for done, part in enumerate(parts, before):
            show(done, total)
            yield part

    return steps


def _details(row: Row) -> dict[str, Any]:
    """What only a single panel shows: its cells, and what each member is worth to it."""
    from swaplaw.panels import marginals

    one = row.certificate
    return {
        "cells": one.panel.at(row.shown.weights).to_dict()["cells"],
        "marginals": {name: float(loss) for name, loss in marginals(one).items()},
    }


def _show_rows(tally: Tally, rows: Sequence[Row], searched: PanelSearch | None) -> None:
    from swaplaw.evidence.intervals import warn_thin
    from swaplaw.evidence.lifts import lift_effect
    from swaplaw.evidence.units import resampling_units

    units = resampling_units(tally)
    judged = [lift_effect(tally, row.certificate.panel.indices, row.shown.weights, units) for row in rows]
    warn_thin(judged)
    names = ["Weights", "p %", "Accuracy %", "Lift pp", "±", "Ceiling pp", "Held out %", "Proven"]
    cells = [
        [
            " + ".join(row.certificate.panel.members),
            " : ".join(map(str, row.shown.weights)) + (" (fragile)" if row.shown.fragile else ""),
            percent(row.certificate.panel.accuracies[0]),
            percent(row.shown.accuracy),
            *lift(row.shown.accuracy - row.certificate.panel.accuracies[0], found),
            points(row.certificate.ceiling, places_of(found)),
            percent(None if row.held_out is None else row.held_out.accuracy),
            "best" if row.gap == 0 else f"{points(row.gap)} at most",
        ]
        for row, found in zip(rows, judged, strict=True)
    ]
    n = rows[0].certificate.panel.n
    title = f"{tally.dataset}: {_some(len(rows), 'panel')}, primary first, on {n} of {rows[0].of} questions"
    minor = {"Ceiling pp": 2, "p %": 1}
    numbers = [Column(name, minor=minor.get(name, 0)) for name in names[1:]]
    columns = [Column("Panel", right=False), Column(names[0], right=False), *numbers]
    show(title, columns, cells, " ".join(_notes(tally, rows, searched)))


def _notes(tally: Tally, rows: Sequence[Row], searched: PanelSearch | None) -> Iterator[str]:
    """What the numbers mean, and how far they can be trusted."""
    if searched is not None:
        yield (
            f"{_some(searched.of, 'panel')} of {searched.size}: {searched.searched + searched.cut:,} searched, "
            f"{searched.pruned:,} ({100 * searched.share_pruned:.0f}%) ruled out by their bounds."
        )
        if searched.greedy:
            yield "Too many to search: built greedily, one member at a time."
        elif not searched.complete:
            yield "Stopped before all were searched."
        if not searched.certified:
            yield f"No panel of this size is more than {points(searched.gap)} pp better than the best of these."
        if searched.dropped:
            yield f"{searched.dropped:,} questions that some model did not answer are left out."
    judged = next((row.held_out for row in rows if row.held_out is not None), None)
    if judged is not None:
        yield (
            f"Held out: weights chosen on {judged.folds - 1} of {judged.folds} parts of the questions, judged on the "
            f"other, {_some(judged.repeats, 'time')} over."
        )
        if searched is not None and searched.of > 1:
            yield f"The choice among {searched.of:,} panels itself is in-sample: the top one is inflated by selection."
    else:
        yield "In-sample: expect less on new questions."
    yield INTERVALS
    if any(row.shown.fragile for row in rows):
        yield "Fragile weights rest on exact ties: the least change loses them."


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _show_details(row: Row) -> None:
    """Print what each member is worth, and lift cell by cell."""
    from swaplaw.panels import marginals

    one = row.certificate
    losses = marginals(one)
    show(
        "Members",
        [Column("Member", right=False), Column("Alone %"), Column("Weight"), Column("Lost without it pp")],
        [
            [name, percent(alone), str(weight), points(losses[name])]
            for name, alone, weight in zip(one.panel.members, one.panel.accuracies, row.shown.weights, strict=True)
        ],
        f"Without a member the rest votes at its own best weights. The secondaries together are right on "
        f"{percent(one.panel.union.q)}% (phi_adj with the primary {rate(one.panel.union.phi_adj)}).",
    )
    outcome = one.panel.at(row.shown.weights)
    show(
        "Lift, cell by cell",
        [Column("Right alone", right=False), Column("Cell", right=False), *map(Column, ("Mass %", "Rate", "Lift pp"))],
        [
            [
                " + ".join(cell.right) or "nobody",
                cell.kind,
                percent(cell.mass),
                rate(cell.rate),
                points(cell.contribution),
            ]
            for cell in sorted(outcome.cells, key=lambda cell: (-abs(cell.contribution), -cell.mass))
        ],
        f"Sum: {points(outcome.lift)} pp.",
    )
