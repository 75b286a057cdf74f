"""`swaplaw labels`: what is known of lift from few labels, and which questions to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.output import Column, emit, load, points, say, show, votes_options

if TYPE_CHECKING:
    from swaplaw.decide.labels import Labels


@click.command("labels")
@votes_options
@click.option("--weight", default="2/3", show_default=True, help="Weight of the secondary; the primary carries 1.")
@click.option("--primary", metavar="MODEL", help="The model that carries weight 1; with --secondary, one pair only.")
@click.option("--secondary", metavar="MODEL", help="The model that is added.")
@click.option("--labels", "given", type=click.Path(path_type=Path), metavar="CSV", help="Take labels from this sheet.")
@click.option("--sheet", type=click.Path(path_type=Path), metavar="CSV", help="Write a blind labelling sheet here.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows and questions to print.")
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    weight: str,
    primary: str | None,
    secondary: str | None,
    given: Path | None,
    sheet: Path | None,
    top: int,
) -> None:
    """Bound the lift of pairs from the labels at hand, without guessing, and say which questions to label next.

    Gold may be missing for some or all questions. Only questions whose vote the secondary changes need a label: once
    they have one, the bounds are the exact lift.
    """
    from swaplaw.decide.labels import labels_needed, read_sheet
    from swaplaw.votes.ballots import ballots_of

    ballots = ballots_of(load(votes), dataset)
    if given is not None:
        ballots = ballots.with_labels(read_sheet(given))
    found = labels_needed(ballots, weight, primary=primary, secondary=secondary, top=top)
    written = None if sheet is None else found.write_sheet(sheet)
    if as_json:
        emit(found.to_dict())
        return
    _show(found, top)
    if written is not None:
        many = f"{written} question{'' if written == 1 else 's'}"
        say(f"{sheet}: {many} to label; fill in the column 'label', then give it with --labels.")


def _show(found: Labels, top: int) -> None:
    rows = sorted(found.pairs, key=lambda pair: (-pair.high, -pair.low, pair.primary, pair.secondary))
    columns = [Column("Primary", right=False), Column("Secondary", right=False), Column("n", minor=2)]
    columns += [Column("Changed"), Column("Of these labelled"), Column("Lift at least pp"), Column("at most pp")]
    cells = [
        [
            pair.primary,
            pair.secondary,
            f"{pair.n:,}",
            f"{pair.changed:,}",
            f"{pair.changed_labelled:,}",
            points(pair.low),
            points(pair.high),
        ]
        for pair in rows[:top]
    ]
    labelled, questions = int(found.ballots.labelled.sum()), len(found.ballots.questions)
    fleet = f"{found.dataset}: {len(found.ballots.models)} models, {labelled:,} of {questions:,} questions labelled"
    title = f"{fleet}; lift at weight {found.pairs[0].weight}"
    show(title, columns, cells, _note(found, top))


def _note(found: Labels, top: int) -> str:
    known = sum(pair.known for pair in found.pairs)
    hopeless = sum(pair.high < 0.01 for pair in found.pairs)
    many = len(found.pairs)
    sentences = [
        f"{known} of {many} lift{'' if many == 1 else 's'} known exactly; {hopeless} cannot help by 1 point or more.",
        "The bounds are sharp: no labels make a lift larger or smaller, and some labels attain each end.",
    ]
    if found.order:
        ids = ", ".join(found.ballots.questions[place] for place in found.order[:top])
        sentences.append(f"{len(found.order):,} questions could still change a bound. Label first: {ids}.")
    if many > top:
        sentences.append(f"The {top} pairs with the highest bounds are listed; --top lists more.")
    if many > 1:
        sentences.append("Which of two models is better takes labels to know, so every pair stands in both orders.")
    return " ".join(sentences)
