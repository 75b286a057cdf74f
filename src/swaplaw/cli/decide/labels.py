"""`swaplaw labels`: what is known of lift from few labels, and which questions to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.progress import busy
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, load, percent, points, say, show, votes_options
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.errors import InputError, quote, several
from swaplaw.law.weights import DEFAULT_WEIGHT

if TYPE_CHECKING:
    from swaplaw.decide.labels.bounds import EnsembleLabels, Labels
    from swaplaw.decide.labels.curve import CurveBounds
    from swaplaw.decide.labels.estimates import FleetEstimates

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("labels", cls=Command)
@votes_options
@click.option(
    "--weight", default=str(DEFAULT_WEIGHT), show_default=True, help="Weight of the secondary; the primary carries 1."
)
@click.option("--primary", metavar="MODEL", help="The model that carries weight 1; with --secondary, one pair only.")
@click.option("--secondary", metavar="MODEL", help="The model that is added.")
@click.option("--panel", multiple=True, metavar="A=W,B=W,...", help="Also bound this ensemble.")
@click.option("--rules", metavar="A,B,...", help="Also bound what these rules of `combine` choose.")
@click.option("--curve", is_flag=True, help="Bound one pair's lift at every weight.")
@click.option(
    "--estimate", "method", type=click.Choice(["one_coin", "dawid_skene"]), help="Add estimates by agreement."
)
@click.option("--min-gain", type=float, default=MIN_GAIN, show_default=True, help="Smallest gain worth a second model.")
@click.option("--labels", "given", type=FILE, metavar="CSV", help="Take labels from this sheet.")
@click.option("--sheet", type=FILE, metavar="CSV", help="Write a blind labelling sheet here.")
@click.option(
    "--order",
    type=click.Choice(["narrow", "random"]),
    default="narrow",
    show_default=True,
    help="Order of the sheet: what narrows the bounds most first, or random (for intervals).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random order.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the votes with the labels of the sheet here.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows and questions to print.")
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    weight: str,
    primary: str | None,
    secondary: str | None,
    panel: tuple[str, ...],
    rules: str | None,
    curve: bool,
    method: Any,
    min_gain: float,
    given: Path | None,
    sheet: Path | None,
    order: str,
    seed: int,
    output: Path | None,
    top: int,
) -> None:
    """Bound the lift of pairs from the labels at hand, without guessing, and say which questions to label next.

    Gold may be missing for some or all questions. Only questions whose vote the secondary changes need a label: once
    they have one, the bounds are the exact lift.
    """
    from swaplaw.decide.labels.bounds import labels_needed
    from swaplaw.decide.labels.sheet import labelled_votes, read_sheet, write_sheet
    from swaplaw.votes.ballots import ballots_of

    if curve and (primary is None or secondary is None):
        raise InputError("--curve bounds one pair: give --primary and --secondary")
    loaded = load(votes)
    ballots = ballots_of(loaded, dataset)
    labels = {} if given is None else read_sheet(given)
    ballots = ballots.with_labels(labels)
    chosen = [name.strip() for name in (rules or "").split(",") if name.strip()]
    panels = [_weights(text) for text in panel]
    found = labels_needed(ballots, weight, primary=primary, secondary=secondary, panels=panels, rules=chosen, top=top)
    bounds = _curve(found) if curve else None
    estimates = None if method is None else _estimate(found, method)
    ranked = found.random_order(seed) if order == "random" else found.order
    written = None if sheet is None else write_sheet(found, sheet, ranked)
    if output is not None:
        labelled_votes(loaded, labels, dataset).write(output)
    if as_json:
        extra = {"curve": bounds.to_dict()} if bounds else {}
        extra |= {"estimates": estimates.to_dict()} if estimates else {}
        emit(found.to_dict(min_gain) | extra)
        return
    _show(found, top, min_gain)
    _show_models(found)
    if bounds is not None:
        _show_curve(bounds)
    if estimates is not None:
        _show_estimates(found, estimates, top)
    if written is not None:
        say(
            f"{sheet}: {several(written, 'question')} to label; fill in the column 'label', then give it with --labels."
        )
    if output is not None:
        say(f"Wrote {output}: {several(int(ballots.labelled.sum()), 'labelled question')}.")


def _weights(text: str) -> dict[str, str]:
    """Read weights by model: the last = of each part parts its name from its weight."""
    parts = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    for name, _, weight in parts:
        if not name or not weight:
            raise InputError(f"--panel is {quote(text)}: write it as MODEL=WEIGHT, with commas between")
    return {name: weight for name, _, weight in parts}


def _curve(found: Labels) -> CurveBounds:
    from swaplaw.decide.labels.curve import curve_bounds

    return curve_bounds(found.ballots, found.pairs[0].primary, found.pairs[0].secondary)


def _estimate(found: Labels, method: Any) -> FleetEstimates:
    from swaplaw.decide.labels.estimates import estimate

    return estimate(found, method)


MOST_MEMBERS = 4
"""Members of an ensemble that a line names."""
WIDTH = 21
"""Characters of the drawn bounds."""


def _drawn(one: EnsembleLabels) -> str:
    """Draw bounds on a line: how wide they were without labels, and what is left of them."""
    widest = max(abs(one.unlabelled_low), abs(one.unlabelled_high))
    if not widest:
        return "·" * (WIDTH // 2) + "|" + "·" * (WIDTH // 2)

    def place(value: Any) -> int:
        return round((WIDTH - 1) * float((value / widest + 1) / 2))

    cells = ["·"] * WIDTH
    for start, end, mark in ((one.unlabelled_low, one.unlabelled_high, "-"), (one.low, one.high, "█")):
        cells[place(start) : place(end) + 1] = mark * (place(end) - place(start) + 1)
    if cells[WIDTH // 2] != "█":
        cells[WIDTH // 2] = "|"
    return "".join(cells)


def _row(one: EnsembleLabels, *names: str) -> list[str]:
    return [
        *names,
        f"{one.n:,}",
        f"{one.changed:,}",
        f"{one.changed_labelled:,}",
        points(one.low),
        points(one.high),
        _drawn(one),
    ]


def _show(found: Labels, top: int, min_gain: float) -> None:
    rows = sorted(found.pairs, key=lambda pair: (-pair.high, -pair.low, pair.primary, pair.secondary))
    shared = [Column("n", minor=2), Column("Changed"), Column("Of these labelled"), Column("Lift at least pp")]
    shared += [Column("at most pp"), Column("Narrowed to", right=False, minor=1)]
    columns = [Column("Primary", right=False), Column("Secondary", right=False), *shared]
    labelled, questions = int(found.ballots.labelled.sum()), len(found.ballots.questions)
    fleet = f"{found.dataset}: {several(len(found.ballots.models), 'model')}"
    title = (
        f"{fleet}, {labelled:,} of {several(questions, 'question')} labelled; lift at weight {found.pairs[0].weight}"
    )
    cells = [_row(pair, pair.primary, pair.secondary) for pair in rows[:top]]
    show(title, columns, cells, _note(found, top, min_gain))
    if found.ensembles:
        columns = [Column("Ensemble", right=False), Column("Over", right=False), *shared]
        show("Ensembles", columns, [_row(one, _named(one), one.over) for one in found.ensembles])


def _named(one: EnsembleLabels) -> str:
    members = zip(one.members, one.weights, strict=True)
    shown = [model if weight == 1 else f"{weight} {model}" for model, weight in members]
    more = [] if len(shown) <= MOST_MEMBERS else [f"{len(shown) - MOST_MEMBERS} more"]
    listed = " + ".join(shown[:MOST_MEMBERS] + more)
    return listed if one.rule is None else f"{one.rule}: {listed}"


def _note(found: Labels, top: int, min_gain: float) -> str:
    many = len(found.pairs)
    known = sum(pair.known for pair in found.pairs)
    hopeless = sum(pair.high < min_gain for pair in found.pairs)
    sure = sum(pair.low > 0 for pair in found.pairs)
    most = max(pair.high for pair in found.pairs)
    least = f"{100 * min_gain:g} point{'' if min_gain == 0.01 else 's'}"
    sentences = [
        f"{known} of {many} lift{'' if many == 1 else 's'} known exactly; {hopeless} cannot help by {least} or more"
        f"{'' if known == many else ', whatever the other labels are'}; {sure} help for sure. "
        f"No pair can help by more than {points(most)} points.",
        "The bounds are sharp: no labels make a lift larger or smaller, and some labels attain each end.",
        "In the drawings - is what was open without labels, █ what still is.",
    ]
    if found.order:
        ids = ", ".join(found.ballots.questions[place] for place in found.order[:top])
        sentences.append(f"{several(len(found.order), 'question')} could still change a bound. Label first: {ids}.")
    if many > top:
        sentences.append(f"The {top} pairs with the highest bounds are listed; --top lists more.")
    if many > 1 and known < many:
        sentences.append(
            "Without labels nobody knows which of two models is better, so every pair is listed in both orders."
        )
    return " ".join(sentences)


def _show_models(found: Labels) -> None:
    columns = [Column("Model", right=False), Column("n", minor=1), Column("Labelled")]
    columns += [Column("Accuracy at least %"), Column("at most %"), Column("Best single model", right=False)]
    with busy("Bounding single models"):
        models = sorted(found.models, key=lambda each: (-each.high, -each.low, each.model))
    rows = [
        [each.model, f"{each.n:,}", f"{each.labelled:,}", percent(each.low), percent(each.high), each.best]
        for each in models
    ]
    possible = sum(each.best != "no" for each in models)
    note = f"{several(possible, 'model')} can be the best. Accuracy takes more labels than lift does: one per question."
    show("Single models, as far as labels tell", columns, rows, note)


def _show_curve(found: CurveBounds) -> None:
    most = found.at_most
    say(
        f"At every weight: {found.changed:,} of {found.n:,} questions change at some weight, "
        f"{found.changed_labelled:,} of them labelled. "
        f"No weight can help by more than {points(most.high)} points (at {most.weight})."
        + (" The whole curve is known exactly.\n" if found.known else "\n")
    )


def _show_estimates(found: Labels, estimates: FleetEstimates, top: int) -> None:
    columns = [Column("Primary", right=False), Column("Secondary", right=False), Column("By agreement pp")]
    columns += [Column("With labels pp"), Column("From pp"), Column("To pp"), Column("Labels used")]
    rows = []
    for pair in sorted(estimates.pairs, key=lambda pair: -pair.agreement)[:top]:
        own = pair.powered
        ends = ["–"] * 3 if own is None else [points(own.mean), points(own.low), points(own.high)]
        rows.append(
            [pair.primary, pair.secondary, points(pair.agreement), *ends, "0" if own is None else f"{own.labelled:,}"]
        )
    show(f"Estimates of lift ({estimates.method})", columns, rows, estimates.to_dict()["note"])
    rows = [[model, percent(value)] for model, value in sorted(estimates.accuracies.items(), key=lambda each: -each[1])]
    show("Estimates of accuracy, from agreement alone", [Column("Model", right=False), Column("About %")], rows)
