"""Commands about the paper: its simulated world, its tables beside ours, and votes released as it released its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli.options import OPTIONS, Group, Reading, VotesGiven, command, option, switch, words
from swaplaw.cli.render import Column, answer, header, progress_bar, show, tell, text
from swaplaw.errors import InputError, quote
from swaplaw.evidence.jackknife import PARTS

if TYPE_CHECKING:
    from swaplaw.paper.published import Comparison
    from swaplaw.paper.reproduce import Reproduction, Study
    from swaplaw.paper.simulation import Theory, World
    from swaplaw.votes.table import Votes

TWINS = ("supergpqa-twin", "gpqa-diamond-twin", "forensic-twin")


@command(
    example="swaplaw release demo -o released --licence CC-BY-4.0",
    output=option("-o/--output", "The folder that is made.", metavar="DIR", required=True),
    with_text=switch("--with-text", "Tell the texts of questions, where ids are texts."),
    licence=option("--licence", "What the card says of the licence.", default="unknown", metavar="NAME"),
)
def release(votes: VotesGiven, output: str, with_text: bool, licence: str) -> None:
    """Release votes: records, counts, gold answers, grades and reasons as CSV and SQLite, with a dataset card.

    The texts of questions are left out. Every command reads the folder as votes.
    """
    from swaplaw.paper.release import release as write

    done = write(votes.votes(), output, with_text=with_text, licence=licence)
    columns = [text("File", "name"), Column("Rows", lambda row: f"{row['rows']:,}")]
    note = "Read README.md, the dataset card, before you publish it."
    answer(done.to_dict, lambda: show(f"Released in {done.folder}", columns, done.rows(), note))


# --- the paper beside ours ---


@command(
    example="swaplaw reproduce --corpus deciban --strict",
    paths=words("[VOTES]...", required=False),
    corpus=option("--corpus", "Reproduce from the released corpus: a folder or a database.", metavar="DIR"),
    download=switch("--download", "Download the corpus into DIR first (needs the extra 'hub')."),
    column_file=option("--columns", "JSON map from our column names to the corpus's.", metavar="FILE"),
    strict=switch("--strict", "Exit with 1 where a value does not agree, or could not be compared."),
    grid=option("--grid", "Weights to search instead of ours: a file, one fraction per line.", metavar="FILE"),
    twin=switch("--twin", "Reproduce from synthetic twins of the paper's datasets."),
    output=option("-o/--output", "Write everything here.", metavar="DIR", default="reproduction"),
    trials=option("--trials", "Simulated questions a point.", type=click.IntRange(2), default=15000),
    replicates=option("--replicates", "Parts left out in turn.", type=click.IntRange(2), default=PARTS),
)
def reproduce(
    paths: tuple[str, ...],
    corpus: str | None,
    download: bool,
    column_file: str | None,
    strict: bool,
    grid: str | None,
    twin: bool,
    output: str,
    seed: int,
    replicates: int,
    trials: int,
    reading: Reading,
) -> None:
    """Write every table and figure of the paper, and compare every published number with ours.

    From VOTES of any kind, from the released corpus, or from synthetic twins of the paper's datasets.
    """
    if sum([bool(paths), corpus is not None, twin]) != 1:
        raise InputError("name one source: VOTES, --corpus DIR for the released corpus, or --twin for synthetic twins")
    if (download or column_file or strict) and corpus is None:
        raise InputError("--download, --columns and --strict go with --corpus DIR")
    from swaplaw import demo_votes
    from swaplaw.paper.reproduce import study_of, write_reproduction
    from swaplaw.paper.simulation import theory

    asked: dict[str, Any] = {"seed": seed, "replicates": replicates, "grid": None if grid is None else _weights(grid)}
    if twin:
        study = study_of([demo_votes(name) for name in TWINS], sources=["bundled twins"], **asked)
    elif corpus is not None:
        try:
            votes, said, gaps = _read_corpus(corpus, download, column_file)
        except InputError as error:
            if not strict:
                raise
            tell(f"swaplaw: {error}")
            raise SystemExit(1) from None
        study = study_of(votes, problems=gaps, sources=said, **asked)
    else:
        study = study_of(reading.load(paths), **asked)
    done = write_reproduction(study, theory(trials=trials, seed=seed), output, progress=progress_bar("Reproducing"))
    for problem in done.problems:
        tell(f"swaplaw: note: {' '.join(problem.split())}")

    def document() -> dict[str, Any]:
        facts = {"synthetic": study.synthetic, "datasets": list(study.datasets), "sources": list(study.sources)}
        return facts | done.to_dict()

    answer(document, lambda: _show(study, done))
    if strict:
        _hold(done)


def _hold(done: Reproduction) -> None:
    """End with 1 where real votes should have given what the paper says, and did not or could not."""
    for comparison in done.failed:
        said = comparison.published
        tell(f"swaplaw: should agree: {said.id}: published {said.show(said.value)}, ours {comparison.ours}")
    for missing in done.not_compared:
        tell(f"swaplaw: not compared: {missing['table']}: {missing['row']}: {missing['why']}")
    if done.failed or done.problems or done.not_compared:
        raise SystemExit(1)


def _read_corpus(corpus: str, download: bool, columns: str | None) -> tuple[list[Votes], list[str], list[str]]:
    """Read the corpus, and say what was read from where before any number; also what it lacks."""
    from swaplaw.importers.corpus import read_corpus
    from swaplaw.importers.record import Options
    from swaplaw.paper.completeness import download_corpus, gaps
    from swaplaw.votes.table import votes_of

    place = download_corpus(corpus) if download else Path(corpus)
    found = read_corpus(place, Options(columns={} if columns is None else _column_map(columns)))
    for line in found.said:
        tell(f"swaplaw: read {line}")
    return [votes_of(frame) for frame in found.datasets.values()], found.said, gaps(found)


def _column_map(file: str) -> dict[str, str]:
    name, example = quote(file, 200), 'expected a JSON object such as {"question": "item_id", "answer": "vote"}'
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read the column map ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{name}: the column map is not JSON; {example}") from None
    if not isinstance(document, dict) or not all(isinstance(value, str) for value in document.values()):
        raise InputError(f"{name}: the column map is not a map from text to text; {example}")
    return document


def _weights(file: str) -> tuple[Fraction, ...]:
    from swaplaw.law.weights import as_weight

    try:
        given = Path(file).read_text(encoding="utf-8").replace(",", " ").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{quote(file, 200)}: cannot read the weights ({error})") from None
    weights = sorted({as_weight(word) for word in given} - {Fraction(0)})
    if not weights:
        raise InputError(f"{quote(file, 200)}: there are no weights; write fractions such as 2/3, one per line")
    return tuple(weights)


def _show(study: Study, done: Reproduction) -> None:
    from swaplaw.paper.reproduce.comparison import differences

    rows = [(section.title, f"{section.within} of {len(section.comparisons)}") for section in done.sections]
    rows.append(("All", f"{done.within} of {len(done.comparisons)}"))
    note = f"{len(done.files)} files in {done.folder}; open {done.folder / 'comparison.html'} first."
    if study.synthetic:
        made = ": arranged until they agree, so no evidence for the paper" if study.twin else ""
        note = f"SYNTHETIC votes{made}.\n{note}"
    for dataset in study.datasets.values():
        header(dataset.tally)
    titles = ", ".join(dataset.title for dataset in study.datasets.values())
    title = f"Published numbers that ours agree with: {titles}"
    show(title, [text("", 0), Column("Agree", 1)], rows, note)
    if missed := differences(done.comparisons):
        click.echo()
        columns = [text("Place", 0), text("What", 1), Column("Published", 2), Column("Ours", 3), text("Reason", 4)]
        show("Published numbers that ours do not agree with", columns, missed)
    if done.not_compared:
        click.echo()
        columns = [text("Table", "table"), text("Row", "row"), text("Why", "why")]
        show("Published numbers that could not be compared", columns, done.not_compared)


# --- the simulated world ---


def _world(**said: Any) -> World:
    from swaplaw.paper.simulation import World

    return World(collective=(said["known"] + said["unknown"]) / 2, **said)


WORLD = Group(
    {
        "gap": option("--gap", "Gap of single-sample accuracies.", type=float, default=0.10),
        "overlap": option("--overlap", "Latent overlap of knowledge, -1 to 1.", type=float, default=0.35),
        "options": option("--options", "Options that a question has.", type=int, default=4),
        "samples": option("--samples", "Samples that a model gives.", type=int, default=24),
        "known": option("--known", "Accuracy on known questions.", type=float, default=0.95),
        "unknown": option("--unknown", "Accuracy on unknown questions.", type=float, default=0.05),
        "contested": option("--contested", "Share of contested questions.", type=float, default=0.45),
    },
    _world,
)


@command(
    example="swaplaw simulate --trials 2000",
    output=option("-o/--output", "Draw the figures theory and decomp here, as SVG and PNG.", metavar="DIR"),
    world=WORLD,
    gap_panel=option("--gap-panel", "Mean rate of the panel over the gap.", type=float, default=0.30),
    overlap_panel=option("--overlap-panel", "Mean rate of the panel over dependence.", type=float, default=0.40),
    splits=option("--split", "Secondary:primary split to pool (repeatable).", multiple=True, metavar="S:P"),
    trials=option("--trials", "Questions simulated at each point.", type=int, default=15000),
    seed=OPTIONS["seed"],
)
def simulate(
    output: str | None,
    world: World,
    gap_panel: float,
    overlap_panel: float,
    splits: tuple[str, ...],
    trials: int,
    seed: int,
) -> None:
    """Simulate two models whose competence is clustered by question, and check the values that the paper states.

    Published values are those of the default world: in another world, differences are what you asked for.
    """
    from swaplaw.paper.reproduce.simulation import stated_values
    from swaplaw.paper.simulation import SPLITS, theory

    # The stated values are about the paper's splits: they are always pooled.
    pooled = tuple(dict.fromkeys([*SPLITS, *splits]))
    found = theory(world, gap_panel=gap_panel, overlap_panel=overlap_panel, splits=pooled, trials=trials, seed=seed)
    stated = stated_values(found)
    files = [] if output is None else _draw(found, Path(output))

    def document() -> dict[str, Any]:
        facts = {"seed": seed, "trials": trials, "stated": [comparison.to_dict() for comparison in stated]}
        return facts | {"files": [str(file) for file in files], **found.to_dict()}

    answer(document, lambda: _show_stated(stated, trials, files))


def _draw(found: Theory, folder: Path) -> list[Path]:
    from swaplaw.paper.simulation_figures import decomposition_figure, theory_figure
    from swaplaw.report.plots import save

    files = []
    for name, chart in (("theory", theory_figure(found)), ("decomp", decomposition_figure(found))):
        for suffix in (".svg", ".png"):
            files.append(folder / f"{name}{suffix}")
            save(chart, files[-1])
    return files


def _show_stated(stated: Sequence[Comparison], trials: int, files: Sequence[Path]) -> None:
    columns = [
        text("Figure", lambda one: one.published.place.split(", ", 1)[-1]),
        text("What", "published.says"),
        Column(
            "Published",
            lambda one: ("≤ " if one.published.kind == "at_most" else "") + one.published.show(one.published.value),
        ),
        Column(
            "Ours",
            lambda one: f"{one.ours:.{one.published.decimals + 1}f}" if isinstance(one.ours, float) else "–",
        ),
        Column("Allowed", lambda one: f"±{one.published.rounding + one.tolerance:.{one.published.decimals + 2}f}"),
        text("Agrees", lambda one: "yes" if one.within else "no"),
    ]
    agree = sum(comparison.within for comparison in stated)
    note = (
        f"{agree} of {len(stated)} agree. Allowed: the paper's rounding and 1.96 standard errors of two simulations, "
        f"the paper's of 15,000 trials and this one of {trials:,}."
    )
    show("The simulated world beside the paper's statements", columns, stated, note)
    for file in files:
        tell(f"Written: {file}")
