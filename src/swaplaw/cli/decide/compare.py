"""`swaplaw compare`: paired differences between models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    INTERVALS,
    Column,
    emit,
    fleet_line,
    lift,
    load_tallies,
    percent,
    points,
    show,
    votes_options,
)

if TYPE_CHECKING:
    from swaplaw.decide.compare import Comparisons


@click.command("compare", cls=Command)
@votes_options
@click.option("--models", metavar="A,B,...", help="Compare only these models.")
@click.option(
    "--score",
    type=click.Choice(["plurality", "single"]),
    default="plurality",
    show_default=True,
    help="Each model's plurality vote, or the share of its samples that is right.",
)
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is resampled.")
@click.option("--anytime", is_flag=True, help="Evidence that stays valid however often you look.")
@click.option("--top", type=click.IntRange(1), default=30, show_default=True, help="Rows of the printed table.")
@doubts_on_stderr()
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    models: str | None,
    score: Any,
    by: Any,
    anytime: bool,
    top: int,
) -> None:
    """Compare every two models on the same questions: who is better, by how much, and how sure.

    Differences have 95% intervals that allow for clusters; p-values are adjusted for all comparisons shown (Holm).
    """
    from swaplaw.decide.compare import compare
    from swaplaw.evidence.interval import warn_thin

    chosen = models.split(",") if models else None
    tallies = load_tallies(votes, dataset)
    found = [(tally, compare(tally, chosen, score=score, by=by, anytime=anytime)) for tally in tallies]
    for _, each in found:
        warn_thin(one.effect for one in each.comparisons)
    if as_json:
        documents = [each.to_dict() for _, each in found]
        emit(documents[0] if len(documents) == 1 else {"datasets": documents})
        return
    for tally, each in found:
        _show(fleet_line(tally), each, top)
        _show_anytime(each, top)


def _show_anytime(found: Comparisons, top: int) -> None:
    """Print the e-values and confidence sequences, where they were asked for."""
    promised = found.anytime
    if promised is None:
        return
    columns = [Column("Better", right=False), Column("Worse", right=False), Column("Difference pp")]
    columns += [
        Column("At every look, from pp"),
        Column("to pp"),
        Column("Decisive"),
        Column("e"),
        Column("e, adjusted"),
    ]
    rows = [
        [
            each.first,
            each.second,
            points(look.mean),
            points(look.low),
            points(look.high),
            f"{look.decisive:,}",
            e_words(look.either),
            e_words(each.e_adjusted or 0.0),
        ]
        for each in found.comparisons[:top]
        if (look := each.anytime) is not None
    ]
    many = len(found.comparisons)
    note = (
        f"{promised['decided']} of {many} difference{'s' if many > 1 else ''} decided (adjusted e of "
        f"{promised['needed']:.0f} or more). {promised['guarantee']}"
    )
    show(f"{found.dataset}: evidence that is valid at every look", columns, rows, note)


def _show(title: str, found: Comparisons, top: int) -> None:
    columns = [Column("Better", right=False), Column("Worse", right=False), Column("n", minor=4)]
    columns += [Column("Better %", minor=2), Column("Worse %", minor=2), Column("Difference pp"), Column("±")]
    columns += [Column("p"), Column("McNemar", minor=3), Column("Detectable pp", minor=1), Column("Needed")]
    rows = [
        [
            each.first,
            each.second,
            f"{each.effect.n:,}",
            percent(each.first_score),
            percent(each.second_score),
            *lift(each.difference, each.effect),
            p_value(each.p_adjusted),
            p_value(each.mcnemar),
            percent(each.detectable),
            "–" if each.needed is None else f"{each.needed:,}",
        ]
        for each in found.comparisons[:top]
    ]
    many = len(found.comparisons)
    sure = sum(each.p_adjusted < 0.05 for each in found.comparisons)
    note = (
        f"{sure} of {many} difference{'s' if many > 1 else ''} {'are' if sure != 1 else 'is'} significant at 5% after "
        f"Holm's adjustment. {INTERVALS} p is adjusted, McNemar's is not. Detectable: the smallest difference that "
        "these questions would show four times in five; needed: how many would show the observed one."
    )
    if many > top:
        note += f" The {top} largest of {many} are listed; --top lists more."
    if found.disjoint:
        note += f" {found.disjoint} pairs of models share too few questions to be compared."
    show(title, columns, rows, note)


def e_words(e: float) -> str:
    """An e-value as people read it."""
    return f"{e:.2g}" if e < 10 else f"{e:,.0f}" if e < 1e6 else f"{e:.0e}"


def p_value(p: float) -> str:
    """A p-value as people read it."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
