"""`swaplaw reproduce`: the paper's tables, figures and numbers beside ours."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, load, progress_bar, show, table_options, tell
from swaplaw.cli._shared.reading import reading_options
from swaplaw.errors import InputError, quote
from swaplaw.evidence.jackknife import PARTS

if TYPE_CHECKING:
    from swaplaw.paper.corpus import Corpus
    from swaplaw.paper.reproduce import Reproduction, Study


@click.command("reproduce", cls=Command)
@click.argument("votes", nargs=-1, metavar="[VOTES]...")
@reading_options
@click.option("--corpus", metavar="DIR", help="Reproduce from the released corpus, downloaded into DIR.")
@click.option("--download", is_flag=True, help="Download the corpus into DIR first (needs the extra 'hub').")
@click.option("--columns", metavar="FILE", help="JSON map from our column names to the corpus's, also one per role.")
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=None,
    help="Votes per model and question of the corpus.  [default: 24]",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when a value that should agree does not.")
@click.option("--grid", metavar="FILE", help="Weights to search instead of ours: a text file, one fraction per line.")
@click.option("--twin", is_flag=True, help="Reproduce from synthetic twins of the paper's datasets.")
@click.option("--arrangements", metavar="FILE", help="With --twin: another file of arrangements than ours.")
@click.option("--replicate", is_flag=True, help="Try the paper's claims on two or more datasets of VOTES instead.")
@click.option("-o", "--output", default="reproduction", show_default=True, metavar="DIR", help="Write everything here.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all that is drawn.")
@click.option(
    "--replicates", type=click.IntRange(min=2), default=PARTS, show_default=True, help="Parts left out in turn."
)
@click.option(
    "--trials", type=click.IntRange(min=2), default=15000, show_default=True, help="Simulated questions a point."
)
@table_options
def command(
    votes: tuple[str, ...],
    corpus: str | None,
    download: bool,
    columns: str | None,
    samples: int | None,
    strict: bool,
    grid: str | None,
    twin: bool,
    arrangements: str | None,
    replicate: bool,
    output: str,
    seed: int,
    replicates: int,
    trials: int,
    as_json: bool,
) -> None:
    """Write every table and figure of the paper, and compare every published number with ours.

    From VOTES of any kind, from the released corpus, or from synthetic twins of the paper's datasets.
    """
    if sum([bool(votes), corpus is not None, twin]) != 1:
        raise InputError("name one source: VOTES, --corpus DIR for the released corpus, or --twin for synthetic twins")
    if replicate:
        if not votes:
            raise InputError("--replicate goes with VOTES of two or more datasets")
        from swaplaw.cli.paper import _replicate

        _replicate.run(votes, as_json)
        return
    if (download or columns or samples or strict) and corpus is None:
        raise InputError("--download, --columns, --samples and --strict go with --corpus DIR")
    if arrangements is not None and not twin:
        raise InputError("--arrangements goes with --twin")
    from swaplaw.paper.reproduce import study_of, write_reproduction
    from swaplaw.paper.simulation import theory

    weights = None if grid is None else _read_grid(grid)
    if twin:
        from swaplaw.paper.twins import taken, twins

        study = study_of(
            twins(seed=seed, arrangements=arrangements),
            seed=seed,
            replicates=replicates,
            grid=weights,
            sources=[f"twins: {taken(seed, arrangements)}"],
        )
    elif corpus is not None:
        found = _read_corpus(corpus, download, columns, samples)
        study = study_of(
            found.votes.values(),
            seed=seed,
            replicates=replicates,
            problems=[*found.problems, *_missing(found)],
            grid=weights,
            sources=[str(reading) for reading in found.readings],
        )
    else:
        study = study_of(load(votes), seed=seed, replicates=replicates, grid=weights)
    with doubts_on_stderr():
        done = write_reproduction(study, theory(trials=trials, seed=seed), output, progress=progress_bar("Reproducing"))
    for problem in done.problems:
        tell(f"swaplaw: note: {' '.join(problem.split())}")
    if as_json:
        emit(
            {
                "synthetic": study.synthetic,
                "datasets": list(study.datasets),
                "sources": list(study.sources),
                **done.to_dict(),
            }
        )
    else:
        _show(study, done)
    if strict:
        _hold(done)


def _hold(done: Reproduction) -> None:
    """End with 1 where real votes should have given what the paper says, and did not."""
    for comparison in done.failed:
        said = comparison.published
        ours = f"ours {comparison.ours}"
        tell(f"swaplaw: should agree: {said.id}: published {said.show(said.value)}, {ours}")
    if done.failed or done.problems:
        raise SystemExit(1)


def _read_corpus(corpus: str, download: bool, columns: str | None, samples: int | None) -> Corpus:
    """Read the corpus, and say what was read from where before any number."""
    from swaplaw.paper.corpus import download_deciban, read_deciban
    from swaplaw.paper.corpus.read import SAMPLES

    declared = {} if columns is None else _read_map(columns)
    found = read_deciban(download_deciban(corpus) if download else corpus, declared, samples or SAMPLES)
    for reading in found.readings:
        tell(f"swaplaw: read {reading}")
    for line in found.unused:
        tell(f"swaplaw: not used: {line}")
    return found


def _missing(found: Corpus) -> list[str]:
    return [f"the corpus has no votes for dataset {quote(name)}: what needs it is left out" for name in found.missing]


def _read_map(columns: str) -> dict[str, Any]:
    name = quote(columns, 200)
    example = 'expected a JSON object such as {"question": "item_id", "answer": "vote"}'
    try:
        document = json.loads(Path(columns).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read the column map ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{name}: the column map is not JSON; {example}") from None
    if not isinstance(document, dict) or not all(isinstance(value, str | dict) for value in document.values()):
        raise InputError(f"{name}: the column map is not a map from text to text; {example}")
    return document


def _read_grid(file: str) -> tuple[Fraction, ...]:
    from swaplaw.law.weights import as_weight

    try:
        words = Path(file).read_text(encoding="utf-8").replace(",", " ").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{quote(file, 200)}: cannot read the weights ({error})") from None
    weights = sorted({as_weight(word) for word in words} - {Fraction(0)})
    if not weights:
        raise InputError(f"{quote(file, 200)}: there are no weights; write fractions such as 2/3, one per line")
    return tuple(weights)


def _show(study: Study, done: Reproduction) -> None:
    from swaplaw.paper.reproduce.comparison import differences

    rows = [[section.title, f"{section.within} of {len(section.comparisons)}"] for section in done.sections]
    rows.append(["All", f"{done.within} of {len(done.comparisons)}"])
    note = f"{len(done.files)} files in {done.folder}; open {done.folder / 'comparison.html'} first."
    if study.synthetic:
        made = ": arranged until they agree, so no evidence for the paper" if study.twin else ""
        which = "".join(f"\n{source[:1].upper()}{source[1:]}." for source in study.sources if study.twin)
        note = f"SYNTHETIC votes{made}.{which}\n{note}"
    for dataset in study.datasets.values():
        header(dataset.tally)
    titles = ", ".join(dataset.title for dataset in study.datasets.values())
    show(f"Published numbers that ours agree with: {titles}", [Column("", right=False), Column("Agree")], rows, note)
    if missed := differences(done.comparisons):
        click.echo()
        names = [Column("Place", right=False), Column("What", right=False), Column("Published"), Column("Ours")]
        show("Published numbers that ours do not agree with", [*names, Column("Reason", right=False)], missed)
