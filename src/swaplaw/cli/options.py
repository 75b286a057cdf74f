"""The options of the command line, each stated once, and commands that take them by the names of their parameters.

    @command(example="swaplaw pairs demo --weight 2/3")
    def pairs(votes: VotesGiven, weight: str) -> None: ...

A parameter takes the option of that name from `OPTIONS`, or a group of options as one object from `GROUPS` (`votes`,
`crew`, `folding`, ...), or an option of the command's own, stated as a keyword of `command`. Every command has `--json`
and `--format` (see `render`), an example in its help, and names flags in errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._files import allowing
from swaplaw._parallel import busy
from swaplaw.cli import render
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS, REPLICATES
from swaplaw.errors import Fix, InputError, listing, quote, several
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.importers.record import Options
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Silence, Tally

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
LONGEST = 76
"""Characters of a line of an example: with its indent, it fits 80 columns."""


class Flag(click.Option):
    """An option that knows under which heading it is listed, and which argument of the library it fills."""

    heading = "Options"
    argument = ""


@dataclass(frozen=True)
class Option:
    """An option as it is stated: its flag, what click should know, and the library's argument that it fills."""

    flag: str
    settings: Mapping[str, Any]
    argument: str = ""
    heading: str = "Options"

    def made(self, name: str) -> click.Parameter:
        """The option under the name of a parameter."""
        if not self.flag.startswith("-"):
            return click.Argument([name], metavar=self.flag, **self.settings)
        shown = self.settings.get("default") is not None and not self.settings.get("is_flag")
        made = Flag([*self.flag.split("/"), name], show_default=shown, **self.settings)
        made.heading, made.argument = self.heading, self.argument or name
        return made


def option(flag: str, help: str, *, argument: str = "", **settings: Any) -> Option:
    """State an option: `--flag` or `-o/--output`, settings of click, and what the library calls it."""
    return Option(flag, {"help": help, **settings}, argument)


def switch(flag: str, help: str, argument: str = "") -> Option:
    """State an option that is on or off."""
    return Option(flag, {"help": help, "is_flag": True}, argument)


def words(metavar: str, **settings: Any) -> Option:
    """State what is given without a flag."""
    return Option(metavar, {"nargs": -1, "required": True, **settings})


def _choice(*values: str) -> click.Choice[str]:
    return click.Choice(values)


BY = option("--by", "What is held out or resampled together.", type=_choice("question", "cluster"))
SEED = option("--seed", "The same seed gives the same numbers.", type=int, default=0)
OUTPUT = option("-o/--output", "Write the result here.", metavar="FILE")

OPTIONS: dict[str, Option] = {
    "weight": option("--weight", "Weight of the secondary; the primary carries 1.", default=str(DEFAULT_WEIGHT)),
    "primary": option("--primary", "The model that carries weight 1.", metavar="MODEL", required=True),
    "secondary": option("--secondary", "The model that is added.", metavar="MODEL", required=True),
    "models": option("--models", "Consider these models only.", metavar="A,B,...", callback=lambda *a: names(a[2])),
    "without": option("--without", "Leave this model out (repeatable).", multiple=True, metavar="MODEL"),
    "silence": option(
        "--silence",
        "Null votes: a category that can win, or ignored.",
        type=_choice("counts", "ignored"),
        default="counts",
    ),
    "min_gain": option("--min-gain", "Smallest gain worth a second model.", type=float, default=MIN_GAIN),
    "by": BY,
    "seed": SEED,
    "output": OUTPUT,
    "policy_key_file": option(
        "--policy-key-file",
        "A secret: policies are written with an HMAC by it, and read only with one.",
        metavar="FILE",
    ),
    "top": option("--top", "Rows of the printed table.", type=click.IntRange(1), default=30),
    "anytime": switch("--anytime", "Evidence that stays valid however often you look."),
    "prices": option("--prices", 'Prices per sample, as JSON: {"model": price}.', metavar="FILE"),
    "price": option("--price", "Price of a sample (repeatable).", multiple=True, metavar="MODEL=PRICE"),
    "folds": option("--folds", "Parts that questions are dealt into.", type=int, default=FOLDS),
    "repeats": option("--repeats", "How often they are dealt.", type=int, default=REPEATS),
    "replicates": option("--replicates", "Bootstrap draws.", type=int, default=REPLICATES),
}
"""What several commands take, by the name of the parameter."""


def names(text: str | None) -> list[str] | None:
    """Names with commas between."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def assignments(text: str | None, flag: str) -> dict[str, str] | None:
    """MODEL=WEIGHT with commas between: the last = of each part parts its name from its value."""
    if text is None:
        return None
    parts = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    if not all(name and value for name, _, value in parts):
        raise InputError(f"{flag} is {quote(text)}: write it as MODEL=WEIGHT, with commas between")
    return {name: value for name, _, value in parts}


def column_map(given: Iterable[str]) -> dict[str, str]:
    """What --column declares: PART=NAME."""
    pairs = [part.partition("=") for part in given]
    for part, equals, name in pairs:
        if not (part and equals and name):
            raise InputError(
                f"--column {quote(part + equals + name)}: write it as PART=NAME, as in --column gold=target"
            )
    return {part: name for part, _, name in pairs}


READING: dict[str, Option] = {
    "scorer": option(
        "--scorer", "The scorer (Inspect), metric (lm-eval) or statistic (HELM) that grades.", metavar="NAME"
    ),
    "threshold": option("--threshold", "The lowest score that counts as correct (1 by default).", type=float),
    "filter": option(
        "--filter", "lm-eval: the filter whose responses vote, or `raw` for all responses.", metavar="NAME"
    ),
    "shares": option("--shares", "lm-eval: split the softmax into this many votes.", type=click.IntRange(1, 10_000)),
    "columns": option("--column", "Tables: which column holds a part of the vote.", multiple=True, metavar="PART=NAME"),
    "reader": option(
        "--read",
        "How to read answers from whole replies.",
        type=_choice("choice", "boxed", "regex", "json", "text"),
    ),
    "pattern": option(
        "--pattern", "Read answers with this pattern (RE2): the first group of its last match.", metavar="REGEX"
    ),
    "canonical": option(
        "--canonical", "Canonical forms of answers and golds, in order.", multiple=True, metavar="NAME"
    ),
    "sheet": option("--sheet", "Excel: the sheet to read, instead of the first.", metavar="NAME"),
    "panel": option(
        "--panel",
        "Inspect: whose votes, where a panel of graders scored the replies (judges by default).",
        type=_choice("judges", "models"),
    ),
    "groups": option("--groups", "Put answers in the categories of this file (`import --judge`).", metavar="FILE"),
    "max_unpacked": option(
        "--max-unpacked", "Read packed files and standard input up to this size.", metavar="BYTES", type=int
    ),
}
"""How VOTES are read, by the name of what the importers call it."""

GRADES_SUFFICE = ("summary", "pairs", "screen", "compare", "checks", "import")
"""Commands that need no more than right or wrong; of pairs, they show the masses, the correlation and the ceiling."""


@dataclass(frozen=True)
class Reading:
    """What a run says about reading votes."""

    said: Mapping[str, Any]

    def options(self, **more: Any) -> Options:
        """The importers' options; `more` are those that only one command has."""
        from swaplaw.importers.record import Options

        said = {name: value for name, value in self.said.items() if value not in (None, ())}
        click.get_current_context().with_resource(allowing(said.pop("max_unpacked", None)))
        kind, pattern = said.pop("reader", None), said.pop("pattern", None)
        if pattern is not None and kind not in (None, "regex"):
            raise InputError(f"--pattern reads by a regular expression, but --read says {kind}: give one of them")
        if kind == "regex" and pattern is None:
            raise InputError("--read regex needs --pattern REGEX")
        reader = None
        if kind or pattern is not None:
            from swaplaw.answers.readers import Reader  # Here: its patterns take long to compile.

            reader = Reader("regex", pattern=pattern) if pattern is not None else Reader(str(kind))
        said["columns"] = column_map(said.get("columns", ()))
        return Options(reader=reader, **said, **more)

    def load(self, paths: Sequence[str], *, warn: bool = True, as_spelt: bool = False) -> Votes:
        """Read votes: files, logs, directories, or `demo:NAME` for bundled ones; warn of what looks wrong.

        `as_spelt` keeps answers as they are spelt where nothing else was asked for, however unlike gold that is.
        """
        from swaplaw import demo_votes, read_votes
        from swaplaw.votes.bundled import bundled_name

        bundled = bundled_name(paths[0]) if len(paths) == 1 else None
        if bundled is not None:
            given = [READING[name].flag for name, value in self.said.items() if value not in (None, ())]
            if given:
                raise InputError(
                    f"{quote(paths[0])} stands for votes that have been read already: leave out {listing(given)}"
                )
            return demo_votes(bundled)
        options = self.options()
        if as_spelt and not options.canonical:
            options = replace(options, canonical=("exact",))
        with busy("Reading votes"):
            votes = read_votes(paths, options=options)
        render.remark([*votes.notes, *_without_label(votes)])
        self._refuse_grades(votes)
        if warn:
            render.warn_of(votes)
        return votes

    def _refuse_grades(self, votes: Votes) -> None:
        """Refuse to pool votes that only say right or wrong."""
        if click.get_current_context().info_name not in GRADES_SUFFICE and only_grades(votes):
            raise InputError(
                "these votes only say right or wrong, and pooling needs the answers: two wrong votes win together only "
                f"if they agree; without answers, you can still use: {', '.join(GRADES_SUFFICE)}"
            )


def only_grades(votes: Votes) -> bool:
    """Whether votes only say right or wrong."""
    from swaplaw.votes.contract import RIGHT

    return bool((votes.counts["gold"] == RIGHT).fill_null(False).all())


def _without_label(votes: Votes) -> Iterator[str]:
    """Say how many questions of each dataset have no label, where others have one."""
    counts = votes.counts
    if 0 < counts["gold"].null_count() < len(counts):
        for (dataset,), rows in counts.group_by("dataset", maintain_order=True):
            unknown, all_of = (part["question"].n_unique() for part in (rows.filter(rows["gold"].is_null()), rows))
            if 0 < unknown < all_of:
                yield (
                    f"{unknown:,} of {several(all_of, 'question')} of {dataset} "
                    f"{'has' if unknown == 1 else 'have'} no label; whatever needs one leaves them out"
                )


@dataclass(frozen=True)
class VotesGiven(Reading):
    """VOTES as a run names them: where they are, and how they are read and counted."""

    paths: tuple[str, ...]
    dataset: str | None
    merge_right: bool

    def votes(self, **how: Any) -> Votes:
        """The table of votes."""
        votes = self.load(self.paths, **how)
        if not self.merge_right:
            return votes
        render.also(oracle_normalised=True)
        return votes.merging_right()

    def tally(self, without: Sequence[str] = (), silence: Silence = "counts") -> Tally:
        """One dataset counted, without some of its models and the questions that only they answered."""
        return leave_out(_counted(self.votes(), self.dataset, silence), without)

    def tallies(self, votes: Votes | None = None, silence: Silence = "counts") -> list[Tally]:
        """Every dataset counted, or the one that is named."""
        votes = self.votes() if votes is None else votes
        names = votes.datasets if self.dataset is None else [self.dataset]
        return [_counted(votes, name, silence) for name in names]


def _counted(votes: Votes, dataset: str | None, silence: Silence) -> Tally:
    if silence != "counts":
        render.also(silence=silence)
    return votes.tally(dataset).silence(silence)


def leave_out(tally: Tally, without: Sequence[str]) -> Tally:
    """Drop some models, and the questions that only they answered."""
    if not without:
        return tally
    import numpy as np

    dropped = {tally.models[tally.index(name)] for name in without}
    left = [model for model in tally.models if model not in dropped]
    if not left:
        raise InputError(f"--without leaves no model of {listing(tally.models)}")
    kept = np.logical_or.reduce([tally.answered[tally.index(model)] for model in left])
    return tally.select(models=left, questions=kept)


def read_prices(prices: str | None, price: Sequence[str]) -> dict[str, float] | None:
    """Prices from the file, then those given one by one; None where there are none at all."""
    found: dict[str, float] = {} if prices is None else _prices_of(prices)
    for each in price:
        model, _, number = each.rpartition("=")
        try:
            found[model] = float(number)
        except ValueError:
            model = ""
        if not model:
            raise InputError(f"--price is {quote(each)}: give MODEL=PRICE, such as gpt-4=0.03")
    return found or None


def _prices_of(file: str) -> dict[str, float]:
    name, example = quote(file, 200), 'give an object such as {"model": 0.03}'
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read prices ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{name}: not JSON; {example}") from None
    if not isinstance(found, dict) or not found:
        raise InputError(f"{name}: holds no prices; {example}")
    return found


@dataclass(frozen=True)
class Group:
    """Options that belong together; the command gets one object made of their values."""

    options: Mapping[str, Option]
    make: Callable[..., Any] = dict


def _headed(heading: str, options: Mapping[str, Option]) -> dict[str, Option]:
    return {name: replace(each, heading=heading) for name, each in options.items()}


_READ = _headed("How VOTES are read", READING)
_COUNTED = _headed(
    "How VOTES are read",
    {
        "dataset": option("--dataset", "Analyse this dataset only.", metavar="NAME"),
        "merge_right": switch(
            "--merge-right", "All right answers of a question are one category (the paper's free text)."
        ),
    },
)


def _reading(**values: Any) -> Reading:
    return Reading(values)


def _votes(paths: tuple[str, ...], dataset: str | None, merge_right: bool, **said: Any) -> VotesGiven:
    return VotesGiven(said, paths, dataset, merge_right)


def _parts() -> Group:
    from swaplaw.evidence.interval import LEVEL
    from swaplaw.evidence.jackknife import PARTS

    return Group(
        {
            "by": BY,
            "replicates": option("--replicates", "Parts that are left out in turn.", type=int, default=PARTS),
            "seed": SEED,
            "level": option("--level", "Confidence level.", type=float, default=LEVEL),
        }
    )


def _crew(workers: int | None, cluster: str | None) -> dict[str, Any]:
    from swaplaw._parallel import Crew, executor_at

    if cluster is not None and workers is not None:
        raise InputError("--workers is for processes of this machine, and --cluster for a cluster: give one of them")
    return {"workers": Crew(workers).workers if cluster is None else executor_at(cluster)}


CREW = _headed(
    "Workers",
    {
        "workers": option(
            "--workers",
            "Share the work among this many processes; the results are the same, and worth it for minutes of work.",
            type=int,
            metavar="N",
        ),
        "cluster": option(
            "--cluster",
            "Share the work on a cluster: of Dask (`tcp://HOST:PORT`, or `dask` to start one here) or Ray "
            "(`ray://HOST:PORT`, or `ray`).",
            metavar="ADDRESS",
        ),
    },
)

GROUPS: dict[str, Group | Callable[[], Group]] = {
    "votes": Group({"paths": words("VOTES..."), **_COUNTED, **_READ}, _votes),
    "if_any": Group({"paths": words("[VOTES...]", required=False), **_COUNTED, **_READ}, _votes),
    "reading": Group(_READ, _reading),
    "prices": Group({name: OPTIONS[name] for name in ("prices", "price")}, read_prices),
    "folding": Group({name: OPTIONS[name] for name in ("by", "folds", "repeats", "seed")}),
    "parts": _parts,
    "crew": Group(CREW, _crew),
}
"""Groups of options, by the name of the parameter that takes them as one object; a function makes a costly one."""


class Command(click.Command):
    """A command that lists its options in groups, ends its help with an example, and shows that it is at work."""

    example = ""
    own_display = False
    """Those that run Inspect or a server show by themselves what they do."""

    def invoke(self, ctx: click.Context) -> Any:
        """Name the command on a terminal for as long as nothing else is shown, and flags in errors."""
        with nullcontext() if self.own_display else busy(str(ctx.info_name)), self._doubts():
            try:
                return super().invoke(ctx)
            except InputError as error:
                raise type(error)(error.worded(self._spelt)) from None

    def _doubts(self) -> AbstractContextManager[None]:
        return nullcontext() if self.own_display else render.doubts_on_stderr()

    def _spelt(self, fix: Fix) -> str:
        """A fix by the flag that fills its argument, or as Python has it where no flag does."""
        filled = {getattr(each, "argument", each.name): each for each in self.params if isinstance(each, click.Option)}
        flag = filled.get(fix.argument) or (filled.get("kind") if fix.argument == "reader" else None)
        if flag is None:
            return str(fix)
        values = (
            [f"{part}={name}" for part, name in fix.value.items()] if isinstance(fix.value, Mapping) else [fix.value]
        )
        return fix.worded(" ".join(flag.opts[0] if value is True else f"{flag.opts[0]} {value}" for value in values))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's own options, then the shared ones under their headings."""
        records: dict[str, list[tuple[str, str]]] = {"Options": []}
        for each in self.get_params(ctx):
            heading = each.heading if isinstance(each, Flag) else "Output"
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
                records.setdefault(heading, []).append(record)
        output = records.pop("Output", [])
        for heading, rows in {**records, "Output": output}.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show one example."""
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"{' ' * formatter.current_indent}{folded(self.example)}\n")
        super().format_epilog(ctx, formatter)


def folded(line: str) -> str:
    """Continue a long command on a second line, as a shell reads it, so that it can be copied from any terminal."""
    if len(line) <= LONGEST:
        return line
    end = line.rindex(" --", 0, LONGEST)
    return f"{line[:end]} \\\n    {line[end + 1 :]}"


def command(
    name: str | None = None,
    *,
    example: str = "",
    json: str | None = "Print one JSON document instead of tables.",
    tables: bool = True,
    own_display: bool = False,
    **own: Option | Group,
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function: its parameters name its options, its docstring is its help.

    Parameters
    ----------
    name
        What it is called; by default, as the function.
    example
        A line to copy.
    json, tables
        What `--json` does (None: there is none), and whether there are tables for `--format`.
    own_display
        Whether it shows by itself what it does.
    own
        Options and groups of this command alone, by the name of the parameter.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        params: list[click.Parameter] = []
        groups: dict[str, Group] = {}
        mine = {each.flag for each in own.values() if isinstance(each, Option)}
        for parameter in signature(function).parameters:
            found = own.get(parameter) or GROUPS.get(parameter) or OPTIONS[parameter]
            if isinstance(found, Option):
                params.append(found.made(parameter))
            else:
                group = found if isinstance(found, Group) else found()
                # A flag of the command's own is not that of a group.
                kept = {name: each for name, each in group.options.items() if each.flag not in mine}
                groups[parameter] = replace(group, options=kept)
                params += [each.made(name) for name, each in kept.items()]

        def run(**values: Any) -> Any:
            for parameter, group in groups.items():
                made = {each: values.pop(each) for each in group.options}
                values[parameter] = group.make(**made)
            return function(**values)

        called = name or function.__name__.strip("_").replace("_", "-")
        params += render.options(json, tables)
        made = Command(called, callback=run, params=params, help=function.__doc__)
        made.example, made.own_display = example, own_display
        return made

    return decorate
