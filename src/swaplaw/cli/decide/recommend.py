"""`swaplaw recommend`: which ensemble to deploy, if any."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import (
    Column,
    emit,
    header,
    lift,
    load,
    percent,
    points,
    progress_bar,
    say,
    show,
    tell,
    votes_options,
    workers_options,
)
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS, REPLICATES
from swaplaw.errors import printable, several

if TYPE_CHECKING:
    from swaplaw.decide.holdout import HeldOut
    from swaplaw.decide.sequential import FleetAnytime
    from swaplaw.decide.verdict import Recommendation
    from swaplaw.evidence.interval import Effect

NOT_DEPLOYED = 3
"""Exit code where a pipeline asked for an ensemble and there is none to deploy."""


@click.command("recommend", cls=Command)
@votes_options
@click.option("-o", "--output", metavar="FILE", help="Write the policy here, for `swaplaw serve`.")
@click.option("--models", metavar="A,B,...", help="Consider these models only.")
@click.option("--max-models", type=int, help="Largest ensemble: 1 compares single models only; any by default.")
@click.option("--min-gain", type=float, default=MIN_GAIN, show_default=True, help="Smallest gain worth a second model.")
@click.option(
    "--search",
    type=click.Choice(["family", "full"]),
    default="family",
    show_default=True,
    help="Compare a few rules, or every pair at every weight, too (less power).",
)
@click.option("--at-equal-cost", is_flag=True, help="The ensemble must gain at the single model's cost as well.")
@click.option("--anytime", is_flag=True, help="Add evidence that stays valid however often you look.")
@click.option("--fail-unless", type=click.Choice(["deploy"]), help="Exit 3 unless an ensemble is to be deployed.")
@click.option("--budget", type=float, help="Most that a question may cost: in prices, or in samples if there are none.")
@price_options
@click.option("--by", type=click.Choice(["question", "cluster"]), help="What is held out together.")
@click.option("--folds", type=int, default=FOLDS, show_default=True, help="Parts that questions are dealt into.")
@click.option("--repeats", type=int, default=REPEATS, show_default=True, help="How often they are dealt.")
@click.option(
    "--replicates", type=int, default=REPLICATES, show_default=True, help="Bootstrap draws over all candidates."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers.")
@workers_options
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    output: str | None,
    models: str | None,
    fail_unless: str | None,
    prices: str | None,
    price: tuple[str, ...],
    **options: Any,
) -> None:
    """Say what to deploy: an ensemble and its weights, the best single model, or that these votes cannot tell."""
    from swaplaw.decide.recommend import recommend
    from swaplaw.report.words import deploys
    from swaplaw.votes.checks import find_checks

    table = load(votes)
    tally = table.tally(dataset)
    with doubts_on_stderr():
        found = recommend(
            tally,
            models=None if models is None else [name.strip() for name in models.split(",") if name.strip()],
            prices=read_prices(prices, price),
            checks=None if models is not None else find_checks(table, tally.dataset),
            progress=progress_bar("Comparing pairs"),
            **options,
        )
    nonsense = found.reason == "checks"
    if output is not None and nonsense:
        tell(f"note: no policy was written to {printable(output)}: these votes are no reason to deploy anything")
    elif output is not None:
        from swaplaw.serve.drift import calibrated_on

        calibrated_on(found.policy, table, dataset).write(output)
    if as_json:
        emit(found.to_dict())
    else:
        show_recommendation(found)
        if output is not None and not nonsense:
            say(f"Wrote {output}: deploy {_members(found)}.")
    if fail_unless == "deploy" and not deploys(found):
        sys.exit(NOT_DEPLOYED)


def _members(found: Recommendation) -> str:
    members = found.policy.members
    return ", ".join(f"{each.model} (weight {each.weight}, {several(each.samples, 'sample')})" for each in members)


def show_recommendation(found: Recommendation) -> None:
    """Print the verdict and what it rests on."""
    header(found.tally)
    say(found.sentence + "\n")
    if found.anytime is not None:
        say(at_every_look(found.anytime) + "\n")
    if found.reason == "checks" or found.held_out is None or found.in_sample is None:
        return  # Numbers of votes that do not mean what they seem to would only mislead.
    rows = [
        [words, *_effect(effect)]
        for words, effect in (
            ("In-sample", found.in_sample),
            ("Held out", found.held_out),
            ("Held out, at equal cost", found.equal_compute),
            ("Held out, over a placebo", found.placebo),
        )
        if effect is not None
    ]
    names = [f"Gain of the best {found.kind}", "pp", "95% interval pp", "p"]
    columns = [Column(name, right=name != names[0]) for name in names]
    show(_title(found), columns, rows, _note(found))
    judged = [_rule(found, name, each) for name, each in found.rules.items()]
    names = ["Rule", "Models", "In-sample pp", "Held out pp", "Same models"]
    columns = [Column(name, right=name != "Rule") for name in names]
    show("Rules compared; held out, each chooses on training folds only", columns, judged, _chosen(found))


def at_every_look(found: FleetAnytime) -> str:
    """What evidence that is valid at every look says."""
    from swaplaw.report.words import amount

    members = zip(found.best.choice.members, found.best.choice.weights, strict=True)
    named = " + ".join(
        found.models[member] if weight == 1 else f"{weight} {found.models[member]}" for member, weight in members
    )
    said = {
        "gain": f"{named} beats every single model",
        "too_little": f"no candidate beats every single model by {amount(found.min_gain)}",
        "open": "not decided yet; collecting more and looking again is fine",
    }
    ends = f"{points(found.effect.low)} to {points(found.effect.high)}"
    return (
        f"At every look: {said[found.finding]}. Best of {len(found.candidates)} candidates: {named}, "
        f"{points(found.effect.mean)} points over the best single model (between {ends} at every look), "
        f"e = {found.best.gain:.3g}, adjusted {found.best.gain_adjusted:.3g} ({1 / (1 - found.level):.0f} is needed). "
        f"{found.guarantee}"
    )


def _title(found: Recommendation) -> str:
    chosen, n = found.selection, len(found.tally.questions)
    unit = (
        "" if found.held_out is None or found.held_out.units == n else f" in {several(found.held_out.units, 'cluster')}"
    )
    title = f"{found.tally.dataset}: {several(n, 'question')}{unit}; {several(chosen.rules, 'rule')} compared"
    if chosen.pairs:
        votes = several(chosen.candidates - chosen.panel_candidates, "different vote")
        title += f"; {several(chosen.pairs, 'pair')} at every weight ({votes})"
    if chosen.panels:
        title += f"; {several(chosen.panels, 'panel')} ({several(chosen.panel_candidates, 'different vote')})"
    return title


def _effect(found: Effect) -> list[str]:
    from swaplaw.report.words import p_value

    ends = f"[{points(found.low, found.places)}, {points(found.high, found.places)}]"
    return [lift(found.mean, found)[0], ends, p_value(found.p)]


def _rule(found: Recommendation, name: str, judged: HeldOut) -> list[str]:
    from swaplaw.report.words import rule_words

    places = 2 if found.held_out is None else found.held_out.places
    gains = (points(gain, places) for gain in (judged.in_sample, judged.held_out))
    return [rule_words(name), str(len(judged.choice.members)), *gains, f"{judged.stability:.0%}"]


def _chosen(found: Recommendation) -> str:
    from swaplaw.report.words import named, rule_words

    if found.best is None:
        return ""
    return (
        f"Of these, {rule_words(found.best.rule)} is judged above: {named(found, found.choice)}. Same "
        "models: the share of folds that chose them. --json has the weights of every rule."
    )


def _note(found: Recommendation) -> str:
    lines = [
        f"Gains are over {printable(found.names(found.baseline)[0])} ({percent(found.accuracy)}%), the best single "
        "model. Intervals and p-values (one-sided) allow for the choice among all candidates, but not at equal cost.",
        *_expectation(found),
        *found.notes,
    ]
    if found.more is not None and found.more.questions is not None:
        more = found.more
        reach = f"({more.effect.critical:.2f} + 0.84) x {100 * more.effect.standard_error:.2f}"
        distance = 100 * abs(more.effect.mean - more.boundary)
        lines.append(
            f"Questions needed if the gain is what was measured: {more.effect.n:,} x ({reach} / {distance:.2f})^2 = "
            f"{more.questions:,}, for a test that finds it four times in five."
        )
    return "\n".join(lines)


def _expectation(found: Recommendation) -> list[str]:
    from swaplaw.report.words import amount, gain_words, likely

    believed = found.belief
    if believed is None or found.held_out is None:
        return []
    places = found.held_out.places
    enough = f", {likely(believed.above(found.min_gain))} above {amount(found.min_gain)}" if found.min_gain else ""
    return [
        f"Expected gain (shrunk) {gain_words(believed.mean, places)}; {likely(believed.above(0))} above 0{enough}. "
        "Expected regret: "
        f"{amount(believed.regret_of_ensemble, places)} if the ensemble is deployed, "
        f"{amount(believed.regret_of_single, places)} if the single model is.",
    ]
