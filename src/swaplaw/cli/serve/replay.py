"""`swaplaw replay`: recorded votes played back through a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, load, percent, show, table_options, with_bar
from swaplaw.cli._shared.reading import reading_options
from swaplaw.errors import InputError

if TYPE_CHECKING:
    from swaplaw.serve.replay import Recorded, Replayed
    from swaplaw.serve.stop import StopRule

ERRORS = (0.05, 0.01)


@click.command("replay", cls=Command)
@click.argument("arguments", nargs=-1, required=True, metavar="VOTES... POLICY")
@reading_options
@click.option("--dataset", metavar="NAME", help="Play this dataset back.")
@click.option("--error", "errors", multiple=True, type=float, help="A statistical stop with this bound; repeatable.")
@click.option("--rounds", multiple=True, type=click.IntRange(1), help="An exact stop in this many rounds; repeatable.")
@click.option("--seed", type=int, help="Shuffle the recorded samples; otherwise they come in their own order.")
@click.option("--decisions", is_flag=True, help="Print every decision of the exact stop, too.")
@table_options
def command(
    arguments: tuple[str, ...],
    dataset: str | None,
    errors: tuple[float, ...],
    rounds: tuple[int, ...],
    seed: int | None,
    decisions: bool,
    as_json: bool,
) -> None:
    """Say what POLICY decides on recorded VOTES, and what stopping early saves, at each setting."""
    from swaplaw.decide.policy import is_policy, read_policy
    from swaplaw.serve.replay import recorded, replay

    if len(arguments) < 2:
        raise InputError("give the votes and, last, the policy file that `swaplaw recommend -o` wrote")
    if is_policy(arguments[0]) and not is_policy(arguments[-1]):
        arguments = (*arguments[1:], arguments[0])  # As `drift` takes them.
    *paths, file = arguments
    policy = read_policy(file)
    members = policy.models
    loaded = load(paths)
    votes = recorded(loaded, members, dataset, policy.silence)
    chosen = settings(errors or ERRORS, rounds, policy.serving)
    played = replay(
        votes, policy, chosen, seed=seed, progress=lambda work: with_bar(work, len(votes.right), "Replaying")
    )
    if as_json:
        emit(
            {
                "members": [member.to_dict() for member in policy.members],
                "of": len(votes.right),
                "short": short(votes, played[0]),
                "settings": [
                    {**row.to_dict(), "decisions": [one.to_dict() for one in row.decisions]} for row in played
                ],
            }
        )
        return
    header(loaded.tally(dataset), *members)
    show_settings(played, votes, seed)
    if decisions:
        show_decisions(next(row for row in played if row.name == "exact"))


def settings(errors: tuple[float, ...], rounds: tuple[int, ...], serving: Mapping[str, Any]) -> dict[str, StopRule]:
    """The settings to compare: all samples, the exact stop, what the policy says, and what was asked for."""
    from swaplaw.serve.stop import StopRule, stop_rule

    rules = {"all samples": StopRule(exact=False), "exact": StopRule()}
    for number in rounds:
        rules[f"exact, {number} round{'s' if number > 1 else ''}"] = StopRule(rounds=number)
    for error in errors:
        if not 0 < error < 0.5:
            raise InputError(f"--error is {error}, expected a probability above 0 and below 0.5, such as 0.05")
        rules[f"statistical, {100 * error:g}%"] = StopRule(error=error)
    rules["as the policy says"] = stop_rule(serving)
    return rules


def short(votes: Recorded, row: Replayed) -> int:
    """Questions with fewer recorded votes than the policy draws."""
    most = tuple(max(one.planned[m] for one in row.decisions) for m in range(len(row.prices)))
    return sum(one.planned != most for one in row.decisions)


def show_settings(played: list[Replayed], votes: Recorded, seed: int | None) -> None:
    """Print one row per setting."""
    rows = [
        [
            row.name,
            str(row.changed),
            percent(row.accuracy),
            str(row.spent),
            percent(row.saved),
            f"{float(row.rounds):.2f}",
            str(row.rounds_at(0.9)),
            str(row.rounds_at(1)),
            "–" if row.cost is None else f"{row.cost:.4g}",
        ]
        for row in played
    ]
    columns = [
        Column("Stop", right=False),
        *map(Column, ("Changed", "Accuracy %", "Samples", "Saved %", "Rounds", "p90", "Max", "Cost")),
    ]
    n = len(played[0].decisions)
    order = "in recorded order" if seed is None else f"shuffled by seed {seed}"
    note = (
        "Changed: decisions that differ from the vote of all samples; an exact stop changes none. "
        "A statistical stop bounds their share under its prior. Rounds: how often a question waits for its slowest "
        "sample: mean, 90th percentile and most."
    )
    show(f"{n} of {len(votes.right)} questions, samples {order}", columns, rows, note)


def show_decisions(row: Replayed) -> None:
    """Print every decision."""
    rows = [
        [one.question, _word(one.winner), ", ".join(map(_word, one.ties[1:])), str(sum(one.spent)), str(one.rounds)]
        for one in row.decisions
    ]
    names = [Column("Question", right=False), Column("Winner", right=False), Column("Tied with", right=False)]
    show("Decisions", [*names, Column("Samples"), Column("Rounds")], rows)


def _word(answer: str | None) -> str:
    return "(null)" if answer is None else answer
