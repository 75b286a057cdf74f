"""`swaplaw combine`: every way to combine a fleet, judged on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    Column,
    emit,
    header,
    lift,
    load_tallies,
    percent,
    points,
    progress_bar,
    say,
    show,
    votes_options,
    workers_options,
)
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.decide.defaults import COMBINE_FOLDS, COMBINE_REPEATS
from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    from swaplaw.decide.combine import Combination, RuleResult
    from swaplaw.panels.exact import FleetOptimum

NOTE = (
    "In-sample: accuracy in % on the questions that chose the weights. Gain: held out, in points over the best single "
    "model, both chosen on other questions; ± is half of a 95% interval. Best: how often the rule comes first when "
    "questions are drawn again. Cost: samples per question, or their price. Left: how many points its weights are, "
    "in-sample, below what is proven possible."
)
MOST_WEIGHTS = 6
"""Weights that a line shows."""


@click.command("combine", cls=Command)
@votes_options
@click.option("--rules", metavar="A,B,...", help="Compare these rules only.")
@click.option("--models", metavar="A,B,...", help="Combine these models only.")
@click.option("--weights", metavar="A=W,B=W,...", help="Also score these weights, such as published ones.")
@click.option(
    "--by-subject", is_flag=True, help="Also choose weights for every subject (cluster), near the global ones."
)
@price_options
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is held out together.")
@click.option(
    "--folds", type=int, default=COMBINE_FOLDS, show_default=True, help="Parts that questions are dealt into."
)
@click.option("--repeats", type=int, default=COMBINE_REPEATS, show_default=True, help="How often they are dealt.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
@click.option("--proof", is_flag=True, help="Search the best weights of the whole fleet, too, and prove them.")
@click.option("--figure", metavar="FILE", help="Draw the held-out gains here (.svg, .png, .pdf, .html or .json).")
@workers_options
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    rules: str | None,
    models: str | None,
    weights: str | None,
    by_subject: bool,
    prices: str | None,
    price: tuple[str, ...],
    by: str | None,
    folds: int,
    repeats: int,
    seed: int,
    proof: bool,
    figure: str | None,
    **crew: Any,
) -> None:
    """Compare ways to combine a fleet on questions that had no part in choosing the weights."""
    from swaplaw.decide.combine import combine
    from swaplaw.evidence.interval import warn_thin

    found = []
    for tally in load_tallies(votes, dataset):
        with doubts_on_stderr():
            found.append(
                combine(
                    tally,
                    rules=_names(rules),
                    models=_names(models),
                    weights=_given(weights),
                    by_subject=by_subject,
                    prices=read_prices(prices, price),
                    by=by,  # type: ignore[arg-type]
                    folds=folds,
                    repeats=repeats,
                    seed=seed,
                    proof=proof,
                    progress=progress_bar("Comparing rules"),
                    **crew,
                )
            )
            warn_thin(one.gain for one in found[-1].rules)
    if as_json:
        documents = [one.to_dict() for one in found]
        emit(documents[0] if len(documents) == 1 else {"datasets": documents})
    else:
        for one in found:
            show_combination(one)
    if figure is not None:
        _draw(found, figure)


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _given(text: str | None) -> dict[str, str] | None:
    """Read weights by model: the last = of each part parts its name from its weight."""
    if text is None:
        return None
    parts = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    for name, _, weight in parts:
        if not name or not weight:
            raise InputError(f"weights are {quote(text)}: write them as MODEL=WEIGHT, with commas between")
    return {name: weight for name, _, weight in parts}


def show_combination(found: Combination) -> None:
    """Print all rules, what each would deploy, and the optimum."""
    header(found.tally)
    columns = [
        Column("Rule", right=False),
        Column("Models"),
        Column("In-sample"),
        Column("Held out"),
        Column("Gain"),
        Column("±"),
        Column("Best"),
        Column("Cost", minor=1),
        Column("Left", minor=2),
    ]
    title = (
        f"{found.tally.dataset}: {len(found.rules)} rules on {len(found.tally.questions):,} of {found.of:,} questions; "
        f"the best single model, {found.baseline}, has {percent(found.baseline_accuracy)}%"
    )
    show(title, columns, [_row(found, one) for one in found.rules], NOTE)
    columns = [Column("Rule", right=False), Column("Weights on all questions", right=False)]
    show("Weights", columns, [[one.rule.name, _weights(one.weights)] for one in found.rules])
    if found.subjects is not None:
        rows = [[subject, _weights(own)] for subject, own in found.subjects.weights.items()]
        gain, reach = lift(found.subjects.gain.mean, found.subjects.gain)
        note = f"Held out: {percent(found.subjects.held_out)}%, a gain of {gain} ± {reach} points."
        show("Weights by subject", [Column("Subject", right=False), Column("Weights", right=False)], rows, note)
    if found.given is not None:
        got = f"{float(found.given.score):g} of {len(found.tally.questions):,} questions"
        say(f"The weights given get {got} right ({percent(found.given.accuracy)}%).")
    if found.optimum is not None:
        say(_optimum(found.optimum, len(found.tally.questions)) + "\n")


def _row(found: Combination, one: RuleResult) -> list[str]:
    left = found.distances.get(one.rule.name)
    return [
        one.rule.name + ("" if one.rule.needs_labels else " (no labels)"),
        str(len(one.weights)),
        percent(one.accuracy),
        percent(one.held_out),
        # The best single model is what gains are over: its own gain is no estimate.
        *(("–", "–") if one.rule.name == "best_single" else lift(one.gain.mean, one.gain)),
        f"{100 * one.probability_best:.0f}%",
        f"{one.cost:.4g}",
        points(left).lstrip("+") if left is not None else "–",
    ]


def _weights(weights: Any) -> str:
    shown = [f"{model} {weight}" for model, weight in list(weights.items())[:MOST_WEIGHTS]]
    return ", ".join(shown) + (f" and {len(weights) - MOST_WEIGHTS} more" if len(weights) > MOST_WEIGHTS else "")


def _optimum(found: FleetOptimum, n: int) -> str:
    proof = {
        "exact": "proven best in whole numbers",
        "solver": "proven best by a solver, up to floating-point tolerance",
        "none": f"not proven best: no weights have more than {percent(found.bound)}%",
    }
    ties = ", but only exact ties give it" if found.fragile else ""
    known = f"{percent(found.accuracy)}% ({proof[found.proof]}{ties})"
    got = f"{float(found.accuracy * n):g} of {n:,} questions"
    return f"The best weights of all get {got} right, {known}: {_weights(found.weights)}."


def _draw(found: Sequence[Combination], file: str) -> None:
    from swaplaw.report.plots.rules import rules_figure
    from swaplaw.report.plots.style import save

    for one in found:
        path = Path(file) if len(found) == 1 else Path(file).with_stem(f"{Path(file).stem}-{one.tally.dataset}")
        save(rules_figure(one), path)
        say(f"Wrote {path}.")
