"""How VOTES are read: the importers' options, shared by every command that takes votes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from swaplaw._files import allowing
from swaplaw.errors import InputError, listing, quote

if TYPE_CHECKING:
    from swaplaw.answers.readers import Reader
    from swaplaw.importers.record import Options
    from swaplaw.votes.table import Votes

Command = TypeVar("Command", bound=Callable[..., Any])

_KEY = "swaplaw.reading"
KINDS = ("choice", "boxed", "regex", "json", "text")
GRADES_SUFFICE = ("summary", "pairs", "screen", "compare", "checks", "import")
"""Commands that need no more than right or wrong; of pairs, they show the masses, the correlation and the ceiling."""
_GRADES = "swaplaw.grades"
_FLAGS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--scorer",),
        {"metavar": "NAME", "help": "The scorer (Inspect), metric (lm-eval) or statistic (HELM) that grades."},
    ),
    (("--threshold",), {"type": float, "help": "The lowest score that counts as correct (1 by default)."}),
    (
        ("--filter",),
        {"metavar": "NAME", "help": "lm-eval: the filter whose responses vote, or `raw` for all responses."},
    ),
    (("--shares",), {"type": click.IntRange(1, 10_000), "help": "lm-eval: split the softmax into this many votes."}),
    (
        ("--column", "columns"),
        {"multiple": True, "metavar": "PART=NAME", "help": "Tables: which column holds a part of the vote."},
    ),
    (("--read", "kind"), {"type": click.Choice(KINDS), "help": "How to read answers from whole replies."}),
    (
        ("--pattern",),
        {"metavar": "REGEX", "help": "Read answers with this pattern (RE2): the first group of its last match."},
    ),
    (
        ("--canonical",),
        {"multiple": True, "metavar": "NAME", "help": "Canonical forms of answers and golds, in order."},
    ),
    (("--groups",), {"metavar": "FILE", "help": "Put answers in the categories of this file (`import --judge`)."}),
    (
        ("--max-unpacked", "max_unpacked"),
        {"type": int, "metavar": "BYTES", "help": "Read packed files and standard input up to this size."},
    ),
)


def reading_options(command: Command) -> Command:
    """Add the importers' options; what they say is kept for `reading_of_run`."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta.setdefault(_KEY, {})[parameter.name] = value

    for names, settings in reversed(_FLAGS):
        command = click.option(*names, expose_value=False, callback=keep, **settings)(command)
    return command


def said_about_reading(context: click.Context) -> dict[str, Any]:
    """What this run's options say about reading votes, by the name of the option."""
    said: dict[str, Any] = context.meta.get(_KEY, {})
    return said


def refuse_reading_options(what: str) -> None:
    """Refuse the importers' options for votes that have been read: nobody would see that they do nothing."""
    context = click.get_current_context(silent=True)
    said = {} if context is None else said_about_reading(context)
    given = [names[0] for names, _ in _FLAGS if said.get(names[-1].removeprefix("--")) not in (None, ())]
    if given:
        raise InputError(f"{quote(what)} stands for votes that have been read already: leave out {listing(given)}")


def column_map(given: tuple[str, ...]) -> dict[str, str]:
    """Read what --column declares: PART=NAME."""
    pairs = [part.partition("=") for part in given]
    for part, equals, name in pairs:
        if not (part and equals and name):
            raise InputError(
                f"--column {quote(part + equals + name)}: write it as PART=NAME, as in --column gold=target"
            )
    return {part: name for part, _, name in pairs}


def reading_of_run(**more: Any) -> Options:
    """What this run's options say about reading votes; `more` are options that only `import` has."""
    from swaplaw.importers.record import Options

    context = click.get_current_context(silent=True)
    said = {} if context is None else context.meta.get(_KEY, {})
    if context is not None:
        context.with_resource(allowing(said.get("max_unpacked")))
    kind, pattern = said.get("kind"), said.get("pattern")
    if pattern is not None and kind not in (None, "regex"):
        raise InputError(f"--pattern reads by a regular expression, but --read says {kind}: give one of them")
    if kind == "regex" and pattern is None:
        raise InputError("--read regex needs --pattern REGEX")
    reader = None if kind is None and pattern is None else _reader(kind, pattern)
    threshold = said.get("threshold")
    return Options(
        scorer=said.get("scorer"),
        threshold=1.0 if threshold is None else threshold,
        filter=said.get("filter"),
        shares=said.get("shares"),
        columns=column_map(said.get("columns", ())),
        canonical=tuple(said.get("canonical", ())),
        reader=reader,
        groups=said.get("groups"),
        **more,
    )


def _reader(kind: str | None, pattern: str | None) -> Reader:
    from swaplaw.answers.readers import Reader  # Here: most votes need no reader, whose patterns take long to compile.

    return Reader("regex", pattern=pattern) if pattern is not None else Reader(str(kind))


def refuse_grades(votes: Votes) -> None:
    """Refuse to pool votes that only say right or wrong."""
    from swaplaw.votes.contract import RIGHT

    context = click.get_current_context(silent=True)
    if context is None or not (votes.counts["gold"] == RIGHT).fill_null(False).all():
        return
    context.meta[_GRADES] = True
    if context.info_name in GRADES_SUFFICE:
        return
    raise InputError(
        "these votes only say right or wrong, and pooling needs the answers: two wrong votes win together only if they "
        f"agree; without answers, you can still use: {', '.join(GRADES_SUFFICE)}"
    )


def only_grades() -> bool:
    """Whether the votes of this run only say right or wrong."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_GRADES))
