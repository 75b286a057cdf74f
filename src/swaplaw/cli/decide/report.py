"""`swaplaw report`: one page that shows the verdict, the fleet, every pair and an exact explorer."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from swaplaw._core.progress import aside
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import emit, json_option, load, progress_bar
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.cli._shared.reading import reading_options, said_about_reading
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, PANEL_WORK, REPEATS, REPLICATES
from swaplaw.errors import printable


@click.command("report", cls=Command)
@click.argument("votes", nargs=-1, required=True, metavar="VOTES...")
@reading_options
@click.option("--dataset", metavar="NAME", help="Report on this dataset; needed where VOTES hold several.")
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE", help="Write the page here.")
@click.option("--figures", metavar="DIR", help="Draw the page's pictures here as well, as SVG and PNG.")
@click.option("--law", metavar="FILE", help="Screen with this law; by default one half of the questions makes it.")
@click.option("--min-gain", type=float, default=MIN_GAIN, show_default=True, help="Smallest gain worth a second model.")
@price_options
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is held out together.")
@click.option("--folds", type=int, default=FOLDS, show_default=True, help="Parts that questions are dealt into.")
@click.option("--repeats", type=int, default=REPEATS, show_default=True, help="How often they are dealt.")
@click.option(
    "--replicates", type=int, default=REPLICATES, show_default=True, help="Bootstrap draws over all candidates."
)
@click.option(
    "--panel-work",
    type=click.FloatRange(0),
    default=PANEL_WORK,
    show_default=True,
    help="Work put into the search for panels, in millions of planes looked at (0: none).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
@json_option("Print the page's data as one JSON document as well.")
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    output: str,
    figures: str | None,
    law: str | None,
    min_gain: float,
    prices: str | None,
    price: tuple[str, ...],
    by: str | None,
    folds: int,
    repeats: int,
    replicates: int,
    panel_work: float,
    seed: int,
    as_json: bool,
) -> None:
    """Write a self-contained page (no network, opens from disk) with everything there is to say about VOTES."""
    from swaplaw.predict.law_file import read_law
    from swaplaw.report import Options, document, page, write_figures, write_page

    options = Options(
        by=by,  # type: ignore[arg-type]
        seed=seed,
        folds=folds,
        repeats=repeats,
        replicates=replicates,
        min_gain=min_gain,
        panel_work=panel_work,
        prices=read_prices(prices, price),
        law=None if law is None else read_law(law),
        command=_command(),
        progress=progress_bar,
    )
    loaded = load(votes)
    found = document(loaded, dataset, options)
    write_page(page(found), output)
    drawn = [] if figures is None else write_figures(loaded.tally(found["dataset"]), found, figures)
    size = Path(output).stat().st_size
    if as_json:
        emit(found)
    verdict = found["verdict"]
    with aside():
        click.echo(printable(verdict.get("sentence") or verdict["why"]), err=as_json)
        click.echo(f"Wrote {printable(output)} ({size / 1e6:.1f} MB): open it in any browser.", err=as_json)
        if drawn:
            click.echo(f"Drew {len(drawn)} figures into {printable(str(figures))}.", err=as_json)


def _command() -> str:
    """The command line as it was given, to be shown on the page."""
    context = click.get_current_context()
    words = ["swaplaw", "report"]
    values = context.params | said_about_reading(context)
    for parameter in context.command.params:
        value = values[parameter.name or ""]
        if isinstance(parameter, click.Argument):
            words += value
        elif context.get_parameter_source(parameter.name or "") == click.core.ParameterSource.COMMANDLINE:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0]] if each is True else [parameter.opts[-1], str(each)]
    return shlex.join(words)
