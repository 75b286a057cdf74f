"""`swaplaw cascade`: ask the secondary only where the primary's lead is small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import Column, emit, header, load, percent, points, say, show, votes_options
from swaplaw.cli._shared.prices import price_options, read_prices
from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    from swaplaw.decide.cascade import Cascade, Cascades, HeldOutCascade
    from swaplaw.votes.table import Votes
    from swaplaw.votes.tally import Tally


@click.command("cascade", cls=Command)
@votes_options
@click.option("--primary", required=True, metavar="MODEL", help="The model that answers first.")
@click.option("--secondary", required=True, metavar="MODEL", help="The model that is asked where the lead is small.")
@click.option("--most-asked", type=float, default=1.0, show_default=True, help="Largest share of questions to ask on.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed deals the same folds.")
@click.option("-o", "--output", metavar="FILE", help="Write the chosen cascade as a policy.")
@price_options
@doubts_on_stderr()
def command(
    votes: tuple[str, ...],
    dataset: str | None,
    as_json: bool,
    primary: str,
    secondary: str,
    most_asked: float,
    seed: int,
    output: str | None,
    prices: str | None,
    price: tuple[str, ...],
) -> None:
    """Show the exact front of accuracy against the share of questions on which the secondary is asked."""
    from swaplaw.decide.cascade import cascade_policy, cascades
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.serve.drift import calibrated_on

    if not 0 <= most_asked <= 1:
        raise InputError(f"--most-asked is {most_asked}, expected a share from 0 to 1, such as 0.3")
    loaded = load(votes)
    tally = _tally_of(loaded, dataset, primary, secondary)
    given = read_prices(prices, price)
    costs, unit = question_costs(loaded, tally, (primary, secondary), given)
    found = cascades(tally, primary, secondary, costs)
    chosen = found.at(*found.best(most_asked=most_asked))
    held = found.held_out(most_asked=most_asked, seed=seed)
    pair, lossless = (found.held_out(how=how, seed=seed) for how in ("pair", "lossless"))
    warn_thin(each.effect for each in (held, pair, lossless))
    if output is not None:
        each = [None if given is None else given.get(model) for model in (primary, secondary)]
        calibrated_on(cascade_policy(found, chosen, held, each), loaded, tally.dataset).write(output)
    if as_json:
        emit(as_dict(found, chosen, held, pair, lossless, unit))
        return
    header(tally, primary, secondary)
    show_front(found, unit)
    tell(chosen, held, pair, lossless, found, unit)


def _tally_of(votes: Votes, dataset: str | None, *models: str) -> Tally:
    """The one dataset that holds both models."""
    if dataset is not None:
        return votes.tally(dataset)
    tallies = [votes.tally(name) for name in votes.datasets]
    holding = [tally for tally in tallies if all(model in tally.models for model in models)]
    if len(holding) > 1:
        raise InputError(f"{len(holding)} datasets hold both models; pick one with --dataset")
    return (holding or tallies)[0]


def question_costs(
    votes: Votes, tally: Tally, models: tuple[str, str], prices: dict[str, float] | None
) -> tuple[dict[str, dict[str, float]] | None, str | None]:
    """What each model's votes on each question cost: by price, else in tokens where every vote has them."""
    import polars as pl

    if prices is not None:
        if missing := [model for model in models if model not in prices]:
            raise InputError(f"there is no price for {quote(missing[0])}: give one for both models")
        rows = {model: zip(tally.questions, tally.votes[tally.index(model)], strict=True) for model in models}
        return {model: {q: prices[model] * int(n) for q, n in own} for model, own in rows.items()}, "price"
    if "tokens" not in votes.frame.collect_schema().names():
        return None, None
    mine = votes.frame.filter(pl.col("model").is_in(list(models)), pl.col("dataset") == tally.dataset)
    sums = mine.group_by("model", "question").agg(pl.col("tokens").sum(), pl.col("tokens").null_count().alias("gaps"))
    frame = sums.collect()
    if frame["gaps"].sum():
        return None, None
    costs: dict[str, dict[str, float]] = {model: {} for model in models}
    for model, question, tokens, _ in frame.iter_rows():
        costs[model][question] = float(tokens)
    return costs, "tokens"


def as_dict(
    found: Cascades,
    chosen: Cascade,
    held: HeldOutCascade,
    pair: HeldOutCascade,
    lossless: HeldOutCascade,
    unit: str | None,
) -> dict[str, Any]:
    """All of it for JSON."""
    from swaplaw.decide.cascade import ends

    return {
        "dataset": found.pair.tally.dataset,
        "primary": found.pair.primary,
        "secondary": found.pair.secondary,
        "n": found.pair.n,
        "of": found.pair.of,
        "cost_unit": unit,
        "front": [one.to_dict() for one in found.front],
        "chosen": {**chosen.to_dict(), "held_out": held.to_dict()},
        "pair": {"held_out": pair.to_dict()},
        "lossless": {"held_out": lossless.to_dict()},
        "over_pair": ends(held.over(pair)),
    }


def show_front(found: Cascades, unit: str | None) -> None:
    """Print the front."""
    rows = [
        [
            "never" if one.threshold is None else str(one.threshold),
            str(one.weight),
            percent(one.asked),
            percent(one.accuracy),
            points(one.lift),
            "–" if one.cost is None else _amount(one.cost, unit),
        ]
        for one in found.front
    ]
    columns = ["Ask up to lead", "Weight", "Asked %", "Accuracy %", "Lift pp", f"Cost ({unit or 'unknown'})"]
    show(
        f"{found.pair.primary}, then {found.pair.secondary}: {found.pair.n} of {found.pair.of} questions",
        list(map(Column, columns)),
        rows,
        "Each row is more accurate than every cascade that asks less. Chosen and judged on the same questions here.",
    )


def tell(
    chosen: Cascade,
    held: HeldOutCascade,
    pair: HeldOutCascade,
    lossless: HeldOutCascade,
    found: Cascades,
    unit: str | None,
) -> None:
    """Say what choosing is worth on questions that had no part in it."""
    say(_line("A cascade chosen on other questions", held, unit))
    say(_line("The pair at a weight chosen on other questions", pair, unit))
    say(_line("That pair, asked only where it can matter", lossless, unit))
    over = held.over(pair)
    interval = f"[{points(over.low)}, {points(over.high)}]"
    say(f"The cascade's accuracy less the pair's: {points(over.mean)} pp {interval}.")
    if held.cost is not None and lossless.cost is not None and pair.cost:
        saved, sure = percent(1 - held.cost / pair.cost), percent(1 - lossless.cost / pair.cost)
        say(f"The cascade costs {saved}% less than the pair; {sure}% can be saved without changing any decision.")
    if chosen.threshold is None:
        say(f"On all questions {quote(found.pair.primary)} alone is best: nothing is gained by asking the other.")


def _amount(cost: float, unit: str | None) -> str:
    """A cost: tokens are whole numbers, prices may be small."""
    return f"{cost:,.0f}" if unit == "tokens" else f"{cost:,.4g}"


def _line(what: str, held: HeldOutCascade, unit: str | None) -> str:
    each = "tokens per question" if unit == "tokens" else "in prices per question"
    cost = "" if held.cost is None else f", {_amount(held.cost, unit)} {each}"
    low, high = points(held.effect.low), points(held.effect.high)
    return (
        f"{what}: accuracy {percent(held.accuracy)}%, lift {points(held.effect.mean)} pp [{low}, {high}], asks on "
        f"{percent(held.asked)}%{cost}."
    )
