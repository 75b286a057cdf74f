"""Options and words that the commands about evidence share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from swaplaw._core.rounding import PLAIN, share
from swaplaw.cli._shared.output import load, over_pairs, rate, tell
from swaplaw.errors import InputError, StatisticalWarning, listing
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw._core.arrays import Bools
    from swaplaw.evidence.percentiles import Interval
    from swaplaw.votes.tally import Tally

Command = TypeVar("Command", bound=Callable[..., Any])


def models_option(command: Command) -> Command:
    """Add --without MODEL, as often as needed."""
    return click.option("--without", multiple=True, metavar="MODEL", help="Leave this model out (repeatable).")(command)


def weight_option(command: Command) -> Command:
    """Add the weight of a secondary."""
    words = "Weight of the secondary; the primary carries 1."
    return click.option("--weight", default=str(DEFAULT_WEIGHT), show_default=True, help=words)(command)


def bootstrap_options(command: Command) -> Command:
    """Add the options of the bootstrap."""
    from swaplaw.evidence.intervals import LEVEL
    from swaplaw.evidence.percentiles import METHODS
    from swaplaw.evidence.resample import DEFAULT_REPLICATES

    for option in (
        click.option("--method", type=click.Choice(METHODS), default="expanded", show_default=True, help="Intervals."),
        click.option("--level", type=float, default=LEVEL, show_default=True, help="Confidence level."),
        click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers."),
        click.option("--replicates", type=int, default=DEFAULT_REPLICATES, show_default=True, help="Bootstrap draws."),
        click.option(
            "--by",
            type=click.Choice(["question", "cluster"]),
            help="What is drawn: clusters where there are any, unless said otherwise.",
        ),
    ):
        command = option(command)
    return command


def load_tally(paths: Sequence[str], dataset: str | None, without: Sequence[str] = ()) -> Tally:
    """Count one dataset of VOTES, without some of its models and the questions that only they answered."""
    return leave_out(load(paths).tally(dataset), without)


def leave_out(tally: Tally, without: Sequence[str]) -> Tally:
    """Drop some models, and the questions that only they answered."""
    import numpy as np

    if not without:
        return tally
    dropped = {tally.models[tally.index(name)] for name in without}
    left = [model for model in tally.models if model not in dropped]
    if not left:
        raise InputError(f"--without leaves no model of {listing(tally.models)}")
    kept: Bools = np.logical_or.reduce([tally.answered[tally.index(model)] for model in left])
    return tally.select(models=left, questions=kept)


@contextmanager
def doubts_on_stderr() -> Iterator[None]:
    """Say statistical doubts as lines on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StatisticalWarning)
        yield
    for each in caught:
        if not issubclass(each.category, StatisticalWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for doubt in dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, StatisticalWarning)):
        tell(f"swaplaw: note: {doubt}")


def over_grid(tally: Tally) -> Callable[[Sequence[Any]], Iterator[Any]]:
    """Show progress over shares of pairs that vote at every weight of the grid."""
    from swaplaw.law.weights import PAPER_GRID

    return over_pairs(tally, "Following pairs", each=len(PAPER_GRID))


def interval(found: Interval | None, show: Callable[[float], str] = rate) -> str:
    """An interval as [low, high]."""
    return "–" if found is None else f"[{show(found.low)}, {show(found.high)}]"


def precise(value: float | None) -> str:
    """A rate with three decimals."""
    return "–" if value is None else f"{value:.3f}"


def size(value: float | None, places: int = PLAIN) -> str:
    """A size in percentage points, without a sign: an error, a spread."""
    return "–" if value is None else share(value, places)


def drawn(resampled: dict[str, Any]) -> str:
    """How an interval came about, in words."""
    return f"{resampled['replicates']:,} draws of {resampled['units']} {resampled['unit']}s, seed {resampled['seed']}"
