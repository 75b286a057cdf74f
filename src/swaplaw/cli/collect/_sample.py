"""`swaplaw collect sample`: a stratified sample, fixed as a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, percent, remark, show, table_options
from swaplaw.cli._shared.reading import column_map

if TYPE_CHECKING:
    from swaplaw.collect.design.manifest import Manifest


@click.command("sample", cls=Command)
@click.argument("dataset")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where the manifest goes (.json)."
)
@click.option("--size", type=int, required=True, help="Questions in all, the stress phase included.")
@click.option("--stress", type=int, help="Of these, drawn from hard strata only.  [default: a fifth]")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same questions.")
@click.option(
    "--by",
    multiple=True,
    default=("discipline", "difficulty"),
    show_default=True,
    metavar="COLUMN",
    help="What strata are made of; the last one says how hard.",
)
@click.option(
    "--hard", multiple=True, default=("hard",), show_default=True, metavar="LEVEL", help="Levels that are hard."
)
@click.option(
    "--column", "columns", multiple=True, metavar="PART=NAME", help="Which column holds a part of the question."
)
@click.option("--skip-invalid", is_flag=True, help="Leave out rows that break the contract, and say how many.")
@table_options
def sample(
    dataset: str,
    output: Path | None,
    size: int,
    stress: int | None,
    seed: int,
    by: tuple[str, ...],
    hard: tuple[str, ...],
    columns: tuple[str, ...],
    skip_invalid: bool,
    as_json: bool,
) -> None:
    """Draw a stratified sample of questions, and fix it in a manifest.

    The manifest holds ids, strata and weights. DATASET is a file (CSV, JSONL, Parquet), demo, supergpqa, mmlu-pro,
    gpqa-diamond, hf:OWNER/NAME[:FILES] or inspect:PACKAGE/TASK. Without -o, nothing is written.
    """
    from swaplaw.collect.design.manifest import sample as draw
    from swaplaw.collect.questions.sources import read_questions

    questions = read_questions(dataset, columns=column_map(columns), strata=by, skip_invalid=skip_invalid)
    manifest = draw(questions, size, stress=stress, seed=seed, by=by, hard=hard)
    if output is not None:
        manifest.write(output)
    remark([*questions.notes, *manifest.notes])
    if as_json:
        emit(manifest.to_dict())
    else:
        _show(manifest, output)


def _show(manifest: Manifest, output: Path | None) -> None:
    size, stress = len(manifest.questions), sum(stratum.stress for stratum in manifest.strata)
    rows = [
        [
            *(value or "(none)" for value in stratum.values),
            str(stratum.population),
            str(stratum.proportional),
            str(stratum.stress),
            percent(stratum.drawn / stratum.population),
            "–" if stratum.weight is None else f"{float(stratum.weight):.2f}",
        ]
        for stratum in manifest.strata
    ]
    names = [Column(name, right=False) for name in manifest.by]
    numbers = [Column(name) for name in ("Questions", "Proportional", "Stress", "Drawn %", "Weight")]
    title = (
        f"{manifest.dataset}: {size} of {manifest.population} questions, {size - stress} in proportion and {stress} "
        f"from hard strata, seed {manifest.seed}"
    )
    show(title, [*names, *numbers], rows, f"written to {output}" if output else "nothing written: say where with -o")
