"""`swaplaw recommend`: which ensemble to deploy, if any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr, load_tally
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
    votes_options,
)
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.cli._shared.workers import workers_options
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS, REPLICATES
from swaplaw.errors import printable

if TYPE_CHECKING:
    from swaplaw.decide.holdout import HeldOut
    from swaplaw.decide.verdict import Recommendation
    from swaplaw.evidence.intervals import Effect


@click.command("recommend")
@votes_options
@click.option("-o", "--output", metavar="FILE", help="Write the policy here, for `swaplaw serve`.")
@click.option("--models", metavar="A,B,...", help="Consider these models only.")
@click.option(
    "--max-models",
    type=int,
    default=2,
    show_default=True,
    help="Largest ensemble: 1 compares single models, 3 or more panels, too.",
)
@click.option("--min-gain", type=float, default=MIN_GAIN, show_default=True, help="Smallest gain worth a second model.")
@click.option("--budget", type=float, help="Most that a question may cost: in prices, or in samples without them.")
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
    max_models: int,
    min_gain: float,
    budget: float | None,
    prices: str | None,
    price: tuple[str, ...],
    by: str | None,
    folds: int,
    repeats: int,
    replicates: int,
    seed: int,
    **crew: Any,
) -> None:
    """Say what to deploy: an ensemble and its weights, the best single model, or that these votes cannot tell."""
    from swaplaw.decide.recommend import recommend

    tally = load_tally(votes, dataset)
    with doubts_on_stderr():
        found = recommend(
            tally,
            models=None if models is None else [name.strip() for name in models.split(",") if name.strip()],
            prices=read_prices(prices, price),
            budget=budget,
            max_models=max_models,
            min_gain=min_gain,
            by=by,  # type: ignore[arg-type]
            folds=folds,
            repeats=repeats,
            replicates=replicates,
            seed=seed,
            **crew,
            progress=progress_bar("Comparing pairs" if max_models < 3 else "Comparing pairs and panels"),
        )
    if output is not None:
        from swaplaw.serve.drift import calibrated_on

        calibrated_on(found.policy, load(votes), dataset).write(output)
    if as_json:
        emit(found.to_dict())
    else:
        show_recommendation(found)
        if output is not None:
            say(f"Wrote {output}: deploy {_members(found)}.")


def _members(found: Recommendation) -> str:
    members = found.policy.members
    return ", ".join(f"{each.model} (weight {each.weight}, {each.samples} samples)" for each in members)


def show_recommendation(found: Recommendation) -> None:
    """Print the verdict and what it rests on."""
    from swaplaw.decide.verdict import sentence

    header(found.tally)
    say(sentence(found) + "\n")
    n = len(found.tally.questions)
    unit = "" if found.held_out.units == n else f" in {found.held_out.units} clusters"
    pair_votes = found.selection.candidates - found.selection.panel_candidates
    title = (
        f"{found.tally.dataset}: {n:,} questions{unit}; {found.selection.pairs} pairs at every weight "
        f"({pair_votes:,} different votes)"
    )
    if found.selection.panels:
        title += f"; {found.selection.panels:,} panels ({found.selection.panel_candidates:,})"
    rows = [["In-sample", *_effect(found.in_sample)], ["Held out", *_effect(found.held_out)]]
    for name, words in (("equal_compute", "Held out, at equal compute"), ("placebo", "Held out, over a placebo")):
        effect = found.effect(name)  # type: ignore[arg-type]
        if effect is not None:
            rows.append([words, *_effect(effect)])
    columns = [
        Column(f"Gain of the best {found.kind}", right=False),
        Column("pp"),
        Column("95% interval pp"),
        Column("p"),
    ]
    show(title, columns, rows, _note(found))
    rules = [["exact lift", *_rule(found, found.by_lift)], ["paper (S*)", *_rule(found, found.by_swap)]]
    names = ["Rule", "Chooses", "In-sample pp", "Held out pp", "Optimism pp", "Same models"]
    columns = [Column(name, right=name not in names[:2]) for name in names]
    show("Two rules; held out, each chooses on training folds only", columns, rules)


def _effect(found: Effect) -> list[str]:
    ends = f"[{points(found.low, found.places)}, {points(found.high, found.places)}]"
    return [lift(found.mean, found)[0], ends, f"{found.p:.3f}"]


def _rule(found: Recommendation, judged: HeldOut) -> list[str]:
    names = found.names(judged.choice)
    weighted = zip(judged.choice.weights[1:], names[1:], strict=True)
    chosen = " + ".join([names[0], *(f"{weight} {name}" for weight, name in weighted)])
    gains = (judged.in_sample, judged.held_out, judged.optimism)
    return [chosen, *(points(gain, found.held_out.places) for gain in gains), f"{judged.stability:.0%}"]


def _note(found: Recommendation) -> str:
    single = found.names(found.by_lift.baseline)[0]
    accuracy = percent(float(found.scorer.score(found.by_lift.baseline).mean()))
    lines = [
        f"Gains are over {printable(single)} ({accuracy} %), the best single model; the first two intervals and "
        "p-values allow for the best of all candidates.",
    ]
    lines += found.notes
    if found.more is not None and found.more.questions is not None:
        more = found.more
        reach = f"({more.effect.critical:.2f} + 0.84) x {100 * more.effect.standard_error:.2f}"
        distance = 100 * abs(more.effect.mean - more.boundary)
        lines.append(
            f"Questions needed: {more.effect.n:,} x ({reach} / {distance:.2f})^2 = {more.questions:,}, "
            "for an interval that ends clear of it four times in five."
        )
    return "\n".join(lines)
