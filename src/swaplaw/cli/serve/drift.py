"""`swaplaw drift`: whether live votes still look like those a policy was judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, load, say, show, table_options
from swaplaw.cli._shared.reading import reading_options
from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    from swaplaw.decide.policy import Policy
    from swaplaw.serve.drift import Monitor


@click.command("drift", cls=Command)
@click.argument("policy", metavar="POLICY")
@click.argument("live", nargs=-1, required=True, metavar="LIVE_VOTES...")
@click.option("--calibration", multiple=True, metavar="VOTES", help="Votes to expect, where the policy carries none.")
@click.option("--dataset", metavar="NAME", help="Take this dataset of the calibration votes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Breaks ties between equal values.")
@click.option("--fail-on-alarm", is_flag=True, help="Exit with status 3 when the alarm rings.")
@reading_options
@table_options
def command(
    policy: str,
    live: tuple[str, ...],
    calibration: tuple[str, ...],
    dataset: str | None,
    seed: int,
    fail_on_alarm: bool,
    as_json: bool,
) -> None:
    """Compare LIVE_VOTES, recorded by `serve --record`, with what the votes behind POLICY imply. No labels needed."""
    from swaplaw.decide.policy import is_policy, read_policy
    from swaplaw.serve.drift import calibration_of
    from swaplaw.serve.drift import watch as watched

    if is_policy(live[-1]) and not is_policy(policy):
        policy, live = live[-1], (policy, *live[:-1])  # As `replay` takes them.
    chosen = read_policy(policy)
    expected = _expected(chosen, calibration, dataset) if calibration else calibration_of(chosen)
    if not expected:
        raise InputError(
            f"{quote(policy, 200)}: the policy carries no votes to compare with: give those it was judged on with "
            "--calibration, or recommend again"
        )
    monitor = watched(chosen, expected, live, seed=seed)
    if as_json:
        emit(monitor.to_dict())
    else:
        show_monitor(monitor)
    if fail_on_alarm and monitor.alarm:
        raise SystemExit(3)


def _expected(policy: Policy, paths: tuple[str, ...], dataset: str | None) -> list[list[Any]]:
    from swaplaw.serve.replay import recorded

    models = [member.model for member in policy.members]
    return list(recorded(load(list(paths)), models, dataset, policy.silence).by_question(models).values())


def show_monitor(monitor: Monitor) -> None:
    """Print one row per member and measure, and the verdict."""
    document = monitor.to_dict()
    rows = [
        [member["model"], name, _share(found["expected"]), _share(found["observed"]), f"{found['p']:.3g}"]
        for member in document["members"]
        for name, found in member.items()
        if name != "model"
    ]
    columns = [Column("Member", right=False), Column("Measure", right=False), *map(Column, ("Expected", "Live", "p"))]
    note = "p is valid at every look: without drift it ever falls to 0.05 in at most 5% of streams."
    show(f"{document['questions']} live questions", columns, rows, note)
    if monitor.alarm:
        say(f"ALARM at question {monitor.alarmed_at}: live votes differ from those the policy was judged on.")
    else:
        say("No alarm.")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
