"""The one renderer: how results reach people (tables as text, Markdown or CSV) and programs (one JSON document).

    answer(found, lambda: show(title, COLUMNS, rows, note))

A table is a list of columns, each of which says what it shows of a row and how: `Column("p %", "masses.p", percent)`.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from swaplaw._parallel import aside, busy
from swaplaw._parallel import with_bar as bar
from swaplaw._result import ARROWS, PLAIN, arrow, share
from swaplaw._result import points as signed_points
from swaplaw.errors import LostWorkerWarning, StatisticalWarning, printable, several

if TYPE_CHECKING:
    from swaplaw.evidence.interval import Effect, Interval
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Tally

Item = TypeVar("Item")

Get = str | int | Callable[[Any], Any] | None

LONG_WORK = 500
"""Pieces of work (a pair, a curve: well under a millisecond each) from which on a progress bar is worth it."""
FORMATS = ("text", "md", "csv")
_FORMAT = "swaplaw.format"
_STDOUT = "swaplaw.stdout"
_FACTS = "swaplaw.facts"


def options(json_help: str | None, tables: bool) -> list[click.Parameter]:
    """The options `--format`, which `show` and `say` obey, and `--json`, under which only `emit` writes to stdout."""

    def keep_format(context: click.Context, _: click.Parameter, value: str) -> None:
        context.meta[_FORMAT] = value

    def keep_json(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            context.meta[_STDOUT] = sys.stdout
            context.with_resource(contextlib.redirect_stdout(sys.stderr))

    made: list[click.Parameter] = []
    if json_help is not None:
        made.append(click.Option(["--json"], is_flag=True, expose_value=False, callback=keep_json, help=json_help))
    if tables:
        words = "Print tables as text, Markdown or CSV (with CSV, all else goes to stderr)."
        made.append(
            click.Option(
                ["--format"],
                type=click.Choice(FORMATS),
                default="text",
                show_default=True,
                expose_value=False,
                callback=keep_format,
                help=words,
            )
        )
    return made


def _meta(name: str, default: Any = None) -> Any:
    context = click.get_current_context(silent=True)
    return default if context is None else context.meta.get(name, default)


def chosen_format() -> str:
    """The format that this run was asked for."""
    return str(_meta(_FORMAT, "text"))


def wants_json() -> bool:
    """Whether this run was asked for JSON."""
    return _meta(_STDOUT) is not None


def answer(document: Any, shown: Callable[[], Any]) -> None:
    """Print the result: the JSON document where it was asked for, else what a person reads.

    The document is plain data, or a result with `to_dict`, or a function that makes either.
    """
    if not wants_json():
        shown()
        return
    if callable(document):
        document = document()
    emit(document.to_dict() if hasattr(document, "to_dict") else document)


def also(**facts: Any) -> None:
    """Add facts about the whole run, such as how votes were read, to the JSON document."""
    click.get_current_context().meta.setdefault(_FACTS, {}).update(facts)


def emit(document: Any) -> None:
    """Print exactly one JSON document."""
    if facts := _meta(_FACTS):
        document |= facts
    with aside():
        click.echo(json.dumps(document, indent=2, allow_nan=False), file=_meta(_STDOUT))


@contextlib.contextmanager
def doubts_on_stderr() -> Iterator[None]:
    """Say statistical doubts, and that workers were lost, as lines on standard error, each once."""
    told = (StatisticalWarning, LostWorkerWarning)
    with warnings.catch_warnings(record=True) as caught:
        for kind in told:
            warnings.simplefilter("always", kind)
        yield
    for each in caught:
        if not issubclass(each.category, told):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for doubt in dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, told)):
        tell(f"swaplaw: note: {doubt}")


def say(words: str) -> None:
    """Print a line that is not a table: on standard error where tables are CSV, and escaped where they are Markdown."""
    shown = _printable_lines(words)
    if chosen_format() == "text" and sys.stdout.isatty():
        shown = wrapped(shown)
    with aside():
        click.echo(f"{_literal(shown)}\n" if chosen_format() == "md" else shown, err=chosen_format() == "csv")


def wrapped(words: str) -> str:
    """Break lines between words where the terminal ends: it would break them anywhere."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    fill = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False).fill
    return "\n".join(line if len(line) <= width else fill(line) for line in words.split("\n"))


def _printable_lines(words: str) -> str:
    return "\n".join(map(printable, words.split("\n")))


WARNINGS = 5
"""Lines of warning at the head of a command, at most; `swaplaw checks` has them all."""


def warn_of(votes: Votes) -> None:
    """Say on standard error what looks wrong in votes, a line each."""
    from swaplaw.votes.checks import find_checks

    with busy("Checking votes"):
        found = [check for check in find_checks(votes) if check.severity != "note"]
    if not found:
        return
    from swaplaw.report.words import check_line  # Here: words know every verdict, which takes long to import.

    for check in found[:WARNINGS]:
        tell(check_line(check))
    if len(found) > WARNINGS:
        rest = several(len(found) - WARNINGS, "more check")
        tell(f"warning: {rest}: `swaplaw checks` lists them all")


def remark(notes: Sequence[str]) -> None:
    """Say on standard error what a reader should know about where votes came from."""
    for note in notes:
        tell(f"note: {printable(note)}")


def tell(line: str) -> None:
    """Print a line on standard error."""
    with aside():
        click.echo(line, err=True)


def header(tally: Tally, *models: str) -> None:
    """Print what the tables below rest on: the whole fleet, or these models of it."""
    import numpy as np

    if models:
        places = [tally.index(model) for model in models]
        tally = tally.select(models=models, questions=np.logical_or.reduce(tally.answered[places]))
    say(fleet_line(tally))


def fleet_line(tally: Tally) -> str:
    """What tables of a fleet rest on, in one line: models, questions, votes, abstention and the tie rule."""
    votes = int(tally.votes.sum(dtype="int64"))
    each = tally.votes[tally.answered]
    least, most = int(each.min()), int(each.max())
    samples = several(most, "vote") if least == most else f"{least:,}-{most:,} votes"
    left_out = f" ({tally.unlabelled:,} without a label left out)" if tally.unlabelled else ""
    null = sum(number for reasons in tally.reasons for number in reasons.values())
    questions = f"{several(len(tally.questions), 'question')}{left_out}"
    oracle = ", right answers are one category (oracle-normalised)" if tally.merged_right else ""
    silence = " (ignored)" if tally.silent == "ignored" else ""
    return (
        f"{tally.dataset}: {several(len(tally.models), 'model')}, {questions}, "
        f"{samples} per model and question, {share(null / votes)}% abstained{silence}, ties share credit{oracle}"
    )


def with_bar(work: Iterable[Item], total: int, label: str, each: int = 1) -> Iterator[Item]:
    """Pass items through, with a progress bar on standard error if that is a terminal and the work is long.

    An item may stand for several pieces of work.
    """
    return iter(work) if total * each < LONG_WORK else bar(work, label, total)


def progress_bar(label: str) -> Callable[[Sequence[Item]], Iterator[Item]]:
    """Make a progress bar for work that the library loops over, every item of which is long."""
    return lambda items: with_bar(items, len(items), label, each=LONG_WORK)


def over_pairs(tally: Tally, label: str, each: int = 1) -> Callable[[Sequence[Item]], Iterator[Item]]:
    """Make a progress bar for shares of all pairs of a fleet, each pair worth a number of pieces of work."""
    pairs = len(tally.models) * (len(tally.models) - 1) // 2
    return lambda shares: with_bar(shares, len(shares), label, each=pairs * each // len(shares))


def number(value: Fraction | float | None) -> float | None:
    """A fraction of one for JSON; undefined is null."""
    return None if value is None else float(value)


@dataclass(frozen=True)
class Column:
    """One column of a printed table."""

    name: str
    get: Get = None
    """What it shows of a row: a path of attributes or keys, a place, a function; None: the cell at its own place."""
    form: Callable[[Any], str] = str
    """How that is written."""
    right: bool = True
    minor: int = 0
    """Columns above 0 may be left out of a terminal that is too narrow, the highest first."""

    def cell(self, row: Any, place: int) -> str:
        """What it says of a row."""
        return self.form(reached(row, place if self.get is None else self.get))


def reached(row: Any, get: Get) -> Any:
    """What a row has at a place, along a path, or by a function."""
    if callable(get):
        return get(row)
    if isinstance(get, int):
        return row[get]
    for name in str(get).split("."):
        row = row[name] if isinstance(row, dict) else getattr(row, name)
    return row


def text(name: str, get: Get = None, minor: int = 0) -> Column:
    """A column of names or sentences."""
    return Column(name, get, right=False, minor=minor)


def spread(name: str, value: Get, found: Get, minor: int = 0) -> tuple[Column, Column]:
    """A lift in points with its arrow, and how far its interval reaches."""

    def part(place: int) -> Callable[[Any], str]:
        return lambda row: lift(reached(row, value), reached(row, found))[place]

    return Column(name, part(0), minor=minor), Column("±", part(1), minor=minor)


def show(title: str, columns: Sequence[Column], rows: Iterable[Any], note: str = "") -> None:
    """Print a table: drawn on a terminal, plain and never cut off elsewhere, or as `--format` says."""
    # Names come from other people's files: shown as text, they carry no markup and no control characters.
    cells = [[printable(column.cell(row, place)) for place, column in enumerate(columns)] for row in rows]
    note = _printable_lines(note)
    with aside():
        if chosen_format() == "md":
            _print_markdown(title, columns, cells, note)
        elif chosen_format() == "csv":
            _print_csv(title, columns, cells, note)
        elif sys.stdout.isatty():
            _draw(title, columns, _aligned(cells), note)
        else:
            _print_plain(title, columns, _aligned(cells), note)


def _aligned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Give numbers without an arrow the room of one, where their column has any."""
    arrows = [any(cell.endswith(ARROWS) for cell in column) for column in zip(*rows, strict=True)]
    return [
        [f"{cell}  " if arrow and not cell.endswith(ARROWS) else cell for cell, arrow in zip(row, arrows, strict=True)]
        for row in rows
    ]


def _draw(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    kept = fitting(columns, rows, console.width)
    widths = widths_of(columns, rows, kept, console.width)
    for place in kept:
        column = columns[place]
        justify: Literal["right", "left"] = "right" if column.right else "left"
        table.add_column(Text(column.name), justify=justify, overflow="fold", width=widths.get(place))
    for row in rows:
        table.add_row(
            *(Text(row[place] if columns[place].right else at_joints(row[place], widths.get(place))) for place in kept)
        )
    console.print(Text(printable(title), style="bold"))
    if rows:
        console.print(table)
    if left_out := [column.name for place, column in enumerate(columns) if place not in kept]:
        note = (
            f"{note}\nThere is no room for {', '.join(left_out)}: a wider terminal or --format csv shows all.".lstrip()
        )
    if note:
        console.print(Text(note + "\n"))


MARGIN = 2
"""Characters between two columns."""
LEAST_NAME = 8
"""Characters that a column of names has at least, if its terminal is to be filled with care."""


def _needs(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column whose cells stay whole; a heading may break between its words."""
    cells = [[row[place] for row in rows] for place in range(len(columns))]
    return [
        MARGIN + max(map(len, [*column.name.split(), *texts]), default=0)
        for column, texts in zip(columns, cells, strict=True)
    ]


def widths_of(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], kept: Sequence[int], width: int
) -> dict[int, int]:
    """How wide columns are on a terminal that has not room for all: numbers whole, names a fair share of the rest."""
    needs = _needs(columns, rows)
    if sum(max(needs[place], MARGIN + len(columns[place].name)) for place in kept) <= width:
        return {}
    texts = [place for place in kept if not columns[place].right]
    room = width - sum(needs[place] for place in kept if columns[place].right)
    wanted = sum(needs[place] for place in texts)
    share = min(1.0, room / wanted) if wanted else 1.0
    found = {place: needs[place] - MARGIN for place in kept}
    found |= {place: int(needs[place] * share) - MARGIN for place in texts}
    return found if all(found[place] >= LEAST_NAME or share == 1.0 for place in texts) else {}


def at_joints(text: str, width: int | None) -> str:
    """Break a name that is too long after a hyphen, a slash or the like, and only else inside a word."""
    if width is None or len(text) <= width:
        return text
    lines = [""]
    for part in re.split(r"(?<=[-_/:,\s])", text):
        if len(lines[-1]) + len(part.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Which columns to show on a terminal this wide: all that matter, and of the others what has room."""
    needs = _needs(columns, rows)
    kept = list(range(len(columns)))
    for place in sorted(kept, key=lambda place: -columns[place].minor):
        if sum(needs[one] for one in kept) <= width or not columns[place].minor:
            break
        kept.remove(place)
    return kept


def _print_plain(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str) -> None:
    lines = [[column.name for column in columns], *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    click.echo(printable(title))
    for line in lines if rows else []:
        placed = zip(line, columns, widths, strict=True)
        click.echo("  ".join(c.rjust(w) if column.right else c.ljust(w) for c, column, w in placed).rstrip())
    click.echo(f"{note}\n" if note else "")


def _print_markdown(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str) -> None:
    """A pipe table as GitHub reads it; whatever Markdown could take for markup is escaped."""
    click.echo(f"**{_literal(printable(title))}**\n")
    if rows:
        names = [_literal(column.name) for column in columns]
        rulers = ["---:" if column.right else ":---" for column in columns]
        for line in (names, rulers, *([_literal(cell) for cell in row] for row in rows)):
            click.echo(f"| {' | '.join(line)} |")
        click.echo()
    if note:
        click.echo(f"{_literal(note)}\n")


def _literal(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", text)


def _print_csv(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str) -> None:
    """Comma-separated values, an empty line between tables; title and note go to standard error."""
    import csv

    click.echo(printable(title), err=True)
    if rows:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([column.name for column in columns])
        writer.writerows([_cell(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows)
        click.echo()
    if note:
        click.echo(note, err=True)


def _cell(text: str, column: Column) -> str:
    """A cell that no spreadsheet takes for a formula; a number has no arrow, and one that is not there is empty."""
    if column.right:
        return "" if text == "–" else text.rstrip(f" {''.join(ARROWS)}")
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def percent(value: Fraction | float | None, places: int = 1) -> str:
    """A share in per cent."""
    return "–" if value is None else share(value, places)


def points(value: Fraction | float | None, places: int = PLAIN) -> str:
    """A difference in signed percentage points."""
    return "–" if value is None else signed_points(value, places)


def places_of(found: Effect | None) -> int:
    """Decimals that a number deserves by its interval."""
    return PLAIN if found is None else found.places


INTERVALS = "± is half of a 95% interval; an arrow marks one that excludes 0."
BY_CONSTRUCTION = (
    "± 0.00 marks a lift that is 0 by construction: at such a weight the secondary cannot change the primary's vote."
)


def intervals_of(found: Iterable[Effect | None]) -> str:
    """Say what the intervals of a table are."""
    certain = any(each is not None and each.certain for each in found)
    return f"{INTERVALS} {BY_CONSTRUCTION}" if certain else INTERVALS


def lift(value: Fraction | float, found: Effect | None) -> list[str]:
    """A lift in points with its arrow, and how far its interval reaches to either side."""
    if found is None:
        return [points(value), "–"]
    signed = f"{points(value, found.places)} {arrow(found.low, found.high)}"
    return [signed.rstrip(), share(found.half_width, found.places)]


def accuracy(value: Fraction | float, found: Effect | None) -> list[str]:
    """An accuracy in per cent, with a decimal at least, and how far its interval reaches to either side."""
    if found is None:
        return [percent(value), "–"]
    return [share(value, max(1, found.places)), share(found.half_width, max(1, found.places))]


def rate(value: Fraction | float | None) -> str:
    """A rate or correlation, with two decimals."""
    return "–" if value is None else f"{float(value):.2f}"


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
    parts = f"{resampled['units']:,} {resampled['unit']}s in {resampled['replicates']} parts"
    return f"{parts}, each left out in turn, seed {resampled['seed']}"
