"""`swaplaw simulate`: the paper's Monte Carlo world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, show, table_options, tell

if TYPE_CHECKING:
    from swaplaw.paper.published import Comparison


@click.command("simulate", cls=Command)
@click.option("-o", "--output", metavar="DIR", help="Draw the figures theory and decomp here, as SVG and PNG.")
@click.option("--gap", type=float, default=0.10, show_default=True, help="Gap of single-sample accuracies.")
@click.option("--overlap", type=float, default=0.35, show_default=True, help="Latent overlap of knowledge, -1 to 1.")
@click.option("--options", type=int, default=4, show_default=True, help="Options that a question has.")
@click.option("--samples", type=int, default=24, show_default=True, help="Samples that a model gives.")
@click.option("--known", type=float, default=0.95, show_default=True, help="Accuracy on known questions.")
@click.option("--unknown", type=float, default=0.05, show_default=True, help="Accuracy on unknown questions.")
@click.option("--contested", type=float, default=0.45, show_default=True, help="Share of contested questions.")
@click.option("--gap-panel", type=float, default=0.30, show_default=True, help="Mean rate of the panel over the gap.")
@click.option(
    "--overlap-panel", type=float, default=0.40, show_default=True, help="Mean rate of the panel over dependence."
)
@click.option("--split", "splits", multiple=True, metavar="S:P", help="Secondary:primary split to pool (repeatable).")
@click.option("--trials", type=int, default=15000, show_default=True, help="Questions simulated at each point.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all that is drawn.")
@table_options
def command(
    output: str | None,
    gap: float,
    overlap: float,
    options: int,
    samples: int,
    known: float,
    unknown: float,
    contested: float,
    gap_panel: float,
    overlap_panel: float,
    splits: tuple[str, ...],
    trials: int,
    seed: int,
    as_json: bool,
) -> None:
    """Simulate two models whose competence is clustered by question, and check the values that the paper states.

    Published values are those of the default world: in another world, differences are what you asked for.
    """
    from swaplaw.paper.reproduce.simulation import stated_values
    from swaplaw.paper.simulation import SPLITS, World, theory

    base = World((known + unknown) / 2, gap, overlap, options, samples, known, unknown, contested)
    # The stated values are about the paper's splits: they are always pooled.
    pooled = tuple(dict.fromkeys([*SPLITS, *splits]))
    found = theory(base, gap_panel=gap_panel, overlap_panel=overlap_panel, splits=pooled, trials=trials, seed=seed)
    stated = stated_values(found)
    files = [] if output is None else _draw(found, Path(output))
    if as_json:
        emit(
            {
                "seed": seed,
                "trials": trials,
                "stated": [comparison.to_dict() for comparison in stated],
                "files": [str(file) for file in files],
                **found.to_dict(),
            }
        )
        return
    _show(stated, trials)
    for file in files:
        tell(f"Written: {file}")


def _draw(found: object, folder: Path) -> list[Path]:
    from swaplaw.paper.simulation import Theory
    from swaplaw.paper.simulation_figures import decomposition_figure, theory_figure
    from swaplaw.report.plots import save

    assert isinstance(found, Theory)
    files = []
    for name, chart in (("theory", theory_figure(found)), ("decomp", decomposition_figure(found))):
        for suffix in (".svg", ".png"):
            files.append(folder / f"{name}{suffix}")
            save(chart, files[-1])
    return files


def _show(stated: list[Comparison], trials: int) -> None:
    rows = []
    for comparison in stated:
        said = comparison.published
        bound = {"at_most": "≤ "}.get(said.kind, "")
        ours = f"{comparison.ours:.{said.decimals + 1}f}" if isinstance(comparison.ours, float) else "–"
        rows.append(
            [
                said.place.split(", ", 1)[-1],
                said.says,
                bound + said.show(said.value),
                ours,
                f"±{said.rounding + comparison.tolerance:.{said.decimals + 2}f}",
                "yes" if comparison.within else "no",
            ]
        )
    agree = sum(comparison.within for comparison in stated)
    note = (
        f"{agree} of {len(stated)} agree. Allowed: the paper's rounding and 1.96 standard errors of two simulations, "
        f"the paper's of 15,000 trials and this one of {trials:,}."
    )
    names = [Column("Figure", right=False), Column("What", right=False), *map(Column, ("Published", "Ours", "Allowed"))]
    show("The simulated world beside the paper's statements", [*names, Column("Agrees", right=False)], rows, note)
