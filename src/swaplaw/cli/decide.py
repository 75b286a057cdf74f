"""Commands that decide: what to deploy, what calls buy, ways to combine, who is better, what to label, and the page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._parallel import aside, busy
from swaplaw.cli.options import FILE, VotesGiven, assignments, command, names, option, switch
from swaplaw.cli.render import (
    INTERVALS,
    Column,
    answer,
    emit,
    fleet_line,
    header,
    lift,
    percent,
    points,
    progress_bar,
    say,
    show,
    spread,
    tell,
    text,
    wants_json,
)
from swaplaw.decide.defaults import PANEL_WORK
from swaplaw.errors import InputError, printable, several

if TYPE_CHECKING:
    from swaplaw.decide.combine import Combination, RuleResult
    from swaplaw.decide.compare import Comparisons
    from swaplaw.decide.front import Point
    from swaplaw.decide.labels.bounds import CurveBounds, EnsembleLabels, Labels
    from swaplaw.decide.labels.estimates import FleetEstimates, PairEstimate
    from swaplaw.decide.recommend import Recommendation
    from swaplaw.panels.exact import FleetOptimum

NOT_DEPLOYED = 3
"""Exit code where a pipeline asked for something that these votes do not give."""
BUDGET = option("--budget", "Most that a question may cost: in prices, or in calls if there are none.", type=float)
FIRST = option("--primary", "Of two models, the one that carries weight 1 or is asked first.", metavar="MODEL")
SECOND = option("--secondary", "The other one.", metavar="MODEL")


@command(
    example="swaplaw recommend demo -o policy.json",
    max_models=option("--max-models", "Models that may be asked at most; any number by default.", type=int),
    budget=BUDGET,
    only_proven=switch("--only-proven", "Deploy the single model unless an ensemble is proven to gain."),
    fail_unless=option(
        "--fail-unless",
        "Exit 3 unless an ensemble is proven (deploy), or is to be deployed now (now).",
        type=click.Choice(["deploy", "now"]),
    ),
)
def recommend(
    votes: VotesGiven,
    output: str | None,
    policy_key_file: str | None,
    models: list[str] | None,
    max_models: int | None,
    min_gain: float,
    only_proven: bool,
    fail_unless: str | None,
    budget: float | None,
    prices: dict[str, float] | None,
    folding: dict[str, Any],
    crew: dict[str, Any],
) -> None:
    """Say what to deploy now, how many calls it takes, and whether an ensemble is proven to gain."""
    from swaplaw.decide.policy import policy_key
    from swaplaw.decide.recommend import recommend

    key = None if policy_key_file is None else policy_key(policy_key_file)

    table = votes.votes()
    found = recommend(
        table,
        dataset=votes.dataset,
        models=models,
        prices=prices,
        budget=budget,
        max_models=max_models,
        min_gain=min_gain,
        only_proven=only_proven,
        progress=progress_bar("Comparing rules"),
        **folding,
        **crew,
    )
    nonsense = found.reason == "checks"
    if output is not None and nonsense:
        tell(f"note: no policy was written to {printable(output)}: these votes are no reason to deploy anything")
    elif output is not None:
        from swaplaw.serve.drift import calibrated_on

        calibrated_on(found.policy, table, votes.dataset).write(output, key)
    answer(found, lambda: _show_recommendation(found))
    if output is not None and not nonsense and not wants_json():
        say(f"Wrote {output}.")
    if (fail_unless == "deploy" and not found.proven) or (fail_unless == "now" and not found.now.deploys_more):
        sys.exit(NOT_DEPLOYED)


def _show_recommendation(found: Recommendation) -> None:
    """Print what to deploy, what is proven, and what calls buy."""
    header(found.tally)
    say(found.sentence + "\n")
    if found.reason == "checks":
        return  # Numbers of votes that do not mean what they seem to would only mislead.
    single, n = found.single, len(found.tally.questions)
    title = f"{found.tally.dataset}: what calls buy, on {several(n, 'question')} that had no part in the choice"
    show_points(title, found.telling, "\n".join([_over(single), *found.notes]))


def _over(single: dict[str, Any]) -> str:
    return (
        f"Gains are over {printable(single['model'])}, the best single model, with all its samples. Which model is the "
        "best, who votes and at what weight is chosen on other questions, so the best model of all questions "
        f"({percent(single['accuracy'])}%) may look less accurate here. What is expected of an ensemble lies between "
        "its gain here and what ensembles gained on real datasets. `swaplaw front` has every point."
    )


def show_points(title: str, points_: Sequence[Point], note: str) -> None:
    """Print operating points, the cheapest first."""
    from swaplaw.report.words import point_words

    priced = any(point.cost is not None for point in points_)
    columns = [
        text("Ask", point_words),
        Column("Calls", lambda point: f"{round(point.calls, 1):g}"),
        *([Column("Cost", lambda point: f"{point.cost:.3g}")] if priced else []),
        Column("Accuracy %", "accuracy", percent),
        *spread("Gain pp", "gain.mean", "gain"),
        text("Front", lambda point: "*" if point.on_front else "", minor=1),
    ]
    show(title, columns, sorted(points_, key=lambda point: point.price), note)


@command(
    example="swaplaw front demo",
    primary=FIRST,
    secondary=SECOND,
    samples=option("--samples", "Numbers of samples to look at.", metavar="1,2,4,..."),
    budget=BUDGET,
    every=switch("--all", "Print every point, not the front alone."),
)
def front(
    votes: VotesGiven,
    models: list[str] | None,
    primary: str | None,
    secondary: str | None,
    samples: str | None,
    prices: dict[str, float] | None,
    budget: float | None,
    every: bool,
    min_gain: float,
    folding: dict[str, Any],
    crew: dict[str, Any],
) -> None:
    """Say what accuracy n calls buy, from one call of one model to the whole panel, asked always or only if needed."""
    from swaplaw.decide.front import front

    tallies = votes.tallies()
    found = [
        front(
            tally,
            models=models,
            primary=primary,
            secondary=secondary,
            samples=None if samples is None else _numbers(samples),
            prices=prices,
            budget=budget,
            min_gain=min_gain,
            progress=progress_bar("Comparing rules"),
            **folding,
            **crew,
        )
        for tally in tallies
    ]
    note = (
        "Gains are over the best single model with all its samples; who votes and at what weight is chosen on other "
        f"questions. {INTERVALS} A star marks the front: nothing cheaper is as accurate."
    )

    def shown() -> None:
        for tally, one in zip(tallies, found, strict=True):
            header(tally, *(models or filter(None, (primary, secondary))))
            title = f"{one.dataset}: what calls buy, on {one.n:,} of {several(one.of, 'question')}"
            show_points(title, one.points if every else one.best, note)

    _answer_all(found, shown)


def _numbers(given: str) -> list[int]:
    try:
        return [int(each) for each in names(given) or []]
    except ValueError:
        raise InputError(f"--samples is {given!r}: give whole numbers with commas between") from None


def _answer_all(found: Sequence[Any], shown: Any) -> None:
    """One document for one dataset, a list for several."""
    documents = [one.to_dict() for one in found]
    answer(documents[0] if len(documents) == 1 else {"datasets": documents}, shown)


COMBINED = (
    "In-sample: accuracy in % on the questions that chose the weights. Gain: held out, in points over the best single "
    "model, both chosen on other questions; ± is half of a 95% interval. Best: how often the rule comes first when "
    "questions are drawn again. Cost: samples per question, or their price. Left: how many points its weights are, "
    "in-sample, below what is proven possible."
)
MOST_WEIGHTS = 6
"""Weights that a line shows."""


@command(
    example="swaplaw combine demo",
    rules=option("--rules", "Compare these rules only.", metavar="A,B,..."),
    weights=option("--weights", "Also score these weights, such as published ones.", metavar="A=W,B=W,..."),
    silence=option(
        "--silence",
        "What null votes do in every rule; by default what each rule says.",
        type=click.Choice(["counts", "ignored"]),
    ),
    proof=switch("--proof", "Search the best weights of the whole fleet, too, and prove them."),
    figure=option("--figure", "Draw the held-out gains here (.svg, .png, .pdf, .html or .json).", metavar="FILE"),
)
def combine(
    votes: VotesGiven,
    rules: str | None,
    models: list[str] | None,
    weights: str | None,
    silence: Any,
    prices: dict[str, float] | None,
    folding: dict[str, Any],
    proof: bool,
    figure: str | None,
    crew: dict[str, Any],
) -> None:
    """Compare ways to combine a fleet on questions that had no part in choosing the weights."""
    from swaplaw.decide.combine import combine
    from swaplaw.evidence.interval import warn_thin

    found = [
        combine(
            tally,
            rules=names(rules),
            models=models,
            weights=assignments(weights, "--weights"),
            silence=silence,
            prices=prices,
            proof=proof,
            progress=progress_bar("Comparing rules"),
            **folding,
            **crew,
        )
        for tally in votes.tallies()
    ]
    warn_thin(rule.gain for one in found for rule in one.rules)

    def shown() -> None:
        for one in found:
            _show_combination(one)

    _answer_all(found, shown)
    if figure is not None:
        _draw(found, figure)


def _show_combination(found: Combination) -> None:
    """Print all rules, what each would deploy, and the optimum."""
    header(found.tally)
    columns = [
        text("Rule", lambda one: one.rule.name + ("" if one.rule.needs_labels else " (no labels)")),
        Column("Models", lambda one: str(len(one.weights))),
        Column("In-sample", "accuracy", percent),
        Column("Held out", "held_out", percent),
        *spread("Gain", "gain.mean", "gain"),
        Column("Best", lambda one: f"{100 * one.probability_best:.0f}%"),
        Column("Cost", lambda one: f"{one.cost:.4g}", minor=1),
        Column("Left", lambda one: _left(found, one), minor=2),
    ]
    rules = several(len(found.rules), "rule")
    title = (
        f"{found.tally.dataset}: {rules} on {len(found.tally.questions):,} of {found.of:,} questions; "
        f"the best single model, {found.baseline}, has {percent(found.baseline_accuracy)}%"
    )
    show(title, columns, found.rules, COMBINED)
    columns = [text("Rule", "rule.name"), text("Weights on all questions", lambda one: _weights(one.weights))]
    show("Weights", columns, found.rules)
    if found.given is not None:
        got = f"{float(found.given.score):g} of {len(found.tally.questions):,} questions"
        say(f"The weights given get {got} right ({percent(found.given.accuracy)}%).")
    if found.optimum is not None:
        say(_optimum(found.optimum, len(found.tally.questions)) + "\n")


def _left(found: Combination, one: RuleResult) -> str:
    left = found.distances.get(one.rule.name)
    return "–" if left is None else points(left).lstrip("+")


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
    from swaplaw.report.plots import save

    for one in found:
        path = Path(file) if len(found) == 1 else Path(file).with_stem(f"{Path(file).stem}-{one.tally.dataset}")
        save(one.plot(), path)
        say(f"Wrote {path}.")


@command(
    example="swaplaw compare demo",
    score=option(
        "--score",
        "Each model's plurality vote, or the share of its samples that is right.",
        type=click.Choice(["plurality", "single"]),
        default="plurality",
    ),
    fail_if_worse=option(
        "--fail-if-worse", "Exit 3 if any model is significantly better than this one.", metavar="MODEL"
    ),
)
def compare(
    votes: VotesGiven,
    models: list[str] | None,
    score: Any,
    by: Any,
    anytime: bool,
    fail_if_worse: str | None,
    top: int,
) -> None:
    """Compare every two models on the same questions: who is better, by how much, and how sure.

    Differences have 95% intervals that allow for clusters; p-values are adjusted for all comparisons shown (Holm).
    """
    from swaplaw.decide.compare import compare
    from swaplaw.evidence.interval import warn_thin

    tallies = votes.tallies()
    found = [compare(tally, models, score=score, by=by, anytime=anytime) for tally in tallies]
    warn_thin(one.effect for each in found for one in each.comparisons)
    worse = fail_if_worse is not None and any(each.worse(fail_if_worse) for each in found)

    def shown() -> None:
        for tally, each in zip(tallies, found, strict=True):
            _show_comparisons(fleet_line(tally), each, top)
            _show_anytime(each, top)

    _answer_all(found, shown)
    if worse:
        sys.exit(NOT_DEPLOYED)


def _show_comparisons(title: str, found: Comparisons, top: int) -> None:
    from swaplaw.report.words import p_value

    columns = [
        text("Better", "first"),
        text("Worse", "second"),
        Column("n", lambda each: f"{each.effect.n:,}", minor=4),
        Column("Better %", "first_score", percent, minor=2),
        Column("Worse %", "second_score", percent, minor=2),
        Column("Difference pp", lambda each: points(each.difference, each.effect.places)),
        Column("±", lambda each: lift(each.difference, each.effect)[1]),
        Column("p", lambda each: p_value(each.p_adjusted) + (" *" if each.significant else "")),
        Column("Detectable pp", "detectable", percent, minor=1),
        Column("Needed", lambda each: "–" if each.needed is None else f"{each.needed:,}"),
    ]
    many, sure = len(found.comparisons), sum(each.significant for each in found.comparisons)
    note = (
        f"{sure} of {several(many, 'difference')} {'is' if sure == 1 else 'are'} significant at 5%: a star marks "
        "them. p is adjusted for all comparisons shown (Holm); ± is half of a 95% interval of one difference by "
        "itself. Detectable: the smallest difference that these questions would show four times in five; needed: how "
        "many would show the observed one."
    )
    if many > top:
        note += f" The {top} largest of {many} are listed; --top lists more."
    if found.disjoint:
        note += f" {several(found.disjoint, 'pair')} of models share too few questions to be compared."
    show(title, columns, found.comparisons[:top], note)


def _show_anytime(found: Comparisons, top: int) -> None:
    """Print the e-values and confidence sequences, where they were asked for."""
    promised = found.anytime
    if promised is None:
        return
    columns = [
        text("Better", "first"),
        text("Worse", "second"),
        Column("Difference pp", "anytime.mean", points),
        Column("At every look, from pp", "anytime.low", points),
        Column("to pp", "anytime.high", points),
        Column("Decisive", lambda each: f"{each.anytime.decisive:,}"),
        Column("e", "anytime.either", e_words),
        Column("e, adjusted", lambda each: e_words(each.e_adjusted or 0.0)),
    ]
    note = (
        f"{promised['decided']} of {several(len(found.comparisons), 'difference')} decided (adjusted e of "
        f"{promised['needed']:.0f} or more). {promised['guarantee']}"
    )
    show(f"{found.dataset}: evidence that is valid at every look", columns, found.comparisons[:top], note)


def e_words(e: float) -> str:
    """An e-value as people read it."""
    return f"{e:.2g}" if e < 10 else f"{e:,.0f}" if e < 1e6 else f"{e:.0e}"


@command(
    example="swaplaw labels examples/unlabelled.csv --weight 2/3",
    primary=FIRST,
    secondary=SECOND,
    panel=option("--panel", "Also bound this ensemble (repeatable).", metavar="A=W,B=W,...", multiple=True),
    rules=option("--rules", "Also bound what these rules of `combine` choose.", metavar="A,B,..."),
    curve=switch("--curve", "Bound one pair's lift at every weight."),
    method=option("--estimate", "Add estimates by agreement.", type=click.Choice(["one_coin", "dawid_skene"])),
    given=option("--labels", "Take labels from this sheet.", type=FILE, metavar="CSV"),
    sheet=option("--sheet", "Write a blind labelling sheet here.", type=FILE, metavar="CSV"),
    order=option(
        "--order",
        "Order of the sheet: what narrows the bounds most first, or random (for intervals).",
        type=click.Choice(["narrow", "random"]),
        default="narrow",
    ),
    output=option("-o/--output", "Write the votes with the labels of the sheet here.", type=FILE, metavar="FILE"),
)
def labels(
    votes: VotesGiven,
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
    from swaplaw.decide.labels.bounds import curve_bounds, labels_needed
    from swaplaw.decide.labels.estimates import estimate
    from swaplaw.decide.labels.sheet import labelled_votes, read_sheet, write_sheet

    if curve and (primary is None or secondary is None):
        raise InputError("--curve bounds one pair: give --primary and --secondary")
    loaded = votes.votes()
    known = {} if given is None else read_sheet(given)
    loaded = loaded if given is None else labelled_votes(loaded, known, votes.dataset)
    panels = [assignments(each, "--panel") or {} for each in panel]
    chosen = names(rules) or []
    pair = {"primary": primary, "secondary": secondary}
    found = labels_needed(loaded, weight, dataset=votes.dataset, **pair, panels=panels, rules=chosen, top=top)
    bounds = curve_bounds(found.candidates, found.pairs[0].primary, found.pairs[0].secondary) if curve else None
    estimates = None if method is None else estimate(found, method)
    ranked = found.random_order(seed) if order == "random" else found.order
    written = None if sheet is None else write_sheet(found, sheet, ranked)
    if output is not None:
        loaded.write(output)
    extra = {"curve": bounds.to_dict()} if bounds else {}
    extra |= {"estimates": estimates.to_dict()} if estimates else {}

    def shown() -> None:
        _show_labels(found, top, min_gain)
        _show_models(found)
        if bounds is not None:
            _show_curve(bounds)
        if estimates is not None:
            _show_estimates(found, estimates, top)
        if written is not None:
            fill = "fill in the column 'label', then give it with --labels"
            say(f"{sheet}: {several(written, 'question')} to label; {fill}.")
        if output is not None:
            say(f"Wrote {output}: {several(int(found.candidates.labelled.sum()), 'labelled question')}.")

    answer(lambda: found.to_dict(min_gain) | extra, shown)


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


def _show_labels(found: Labels, top: int, min_gain: float) -> None:
    shared = [
        Column("n", lambda one: f"{one.n:,}", minor=2),
        Column("Changed", lambda one: f"{one.changed:,}"),
        Column("Of these labelled", lambda one: f"{one.changed_labelled:,}"),
        Column("Lift at least pp", "low", points),
        Column("at most pp", "high", points),
        text("Narrowed to", _drawn, minor=1),
    ]
    rows = sorted(found.pairs, key=lambda pair: (-pair.high, -pair.low, pair.primary, pair.secondary))
    labelled, questions = int(found.candidates.labelled.sum()), len(found.candidates.labelled)
    fleet = f"{found.dataset}: {several(len(found.candidates.tally.models), 'model')}"
    title = (
        f"{fleet}, {labelled:,} of {several(questions, 'question')} labelled; lift at weight {found.pairs[0].weight}"
    )
    columns = [text("Primary", "primary"), text("Secondary", "secondary"), *shared]
    show(title, columns, rows[:top], _labels_note(found, top, min_gain))
    if found.ensembles:
        show("Ensembles", [text("Ensemble", _named), text("Over", "over"), *shared], found.ensembles)


def _named(one: EnsembleLabels) -> str:
    members = zip(one.members, one.weights, strict=True)
    shown = [model if weight == 1 else f"{weight} {model}" for model, weight in members]
    more = [] if len(shown) <= MOST_MEMBERS else [f"{len(shown) - MOST_MEMBERS} more"]
    listed = " + ".join(shown[:MOST_MEMBERS] + more)
    return listed if one.rule is None else f"{one.rule}: {listed}"


def _labels_note(found: Labels, top: int, min_gain: float) -> str:
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
        ids = ", ".join(found.candidates.tally.questions[place] for place in found.order[:top])
        sentences.append(f"{several(len(found.order), 'question')} could still change a bound. Label first: {ids}.")
    if many > top:
        sentences.append(f"The {top} pairs with the highest bounds are listed; --top lists more.")
    if many > 1 and known < many:
        sentences.append(
            "Without labels nobody knows which of two models is better, so every pair is listed in both orders."
        )
    return " ".join(sentences)


def _show_models(found: Labels) -> None:
    columns = [
        text("Model", "model"),
        Column("n", lambda each: f"{each.n:,}", minor=1),
        Column("Labelled", lambda each: f"{each.labelled:,}"),
        Column("Accuracy at least %", "low", percent),
        Column("at most %", "high", percent),
        text("Best single model", "best"),
    ]
    with busy("Bounding single models"):
        models = sorted(found.models, key=lambda each: (-each.high, -each.low, each.model))
    possible = sum(each.best != "no" for each in models)
    note = f"{several(possible, 'model')} can be the best. Accuracy takes more labels than lift does: one per question."
    show("Single models, as far as labels tell", columns, models, note)


def _show_curve(found: CurveBounds) -> None:
    most = found.at_most
    say(
        f"At every weight: {found.changed:,} of {found.n:,} questions change at some weight, "
        f"{found.changed_labelled:,} of them labelled. "
        f"No weight can help by more than {points(most.high)} points (at {most.weight})."
        + (" The whole curve is known exactly.\n" if found.known else "\n")
    )


def _show_estimates(found: Labels, estimates: FleetEstimates, top: int) -> None:
    columns = [
        text("Primary", "primary"),
        text("Secondary", "secondary"),
        Column("By agreement pp", "agreement", points),
        Column("With labels pp", lambda pair: _powered(pair, "mean"), points),
        Column("From pp", lambda pair: _powered(pair, "low"), points),
        Column("To pp", lambda pair: _powered(pair, "high"), points),
        Column("Labels used", lambda pair: "0" if pair.powered is None else f"{pair.powered.labelled:,}"),
    ]
    rows = sorted(estimates.pairs, key=lambda pair: -pair.agreement)[:top]
    show(f"Estimates of lift ({estimates.method})", columns, rows, estimates.to_dict()["note"])
    alone = sorted(estimates.accuracies.items(), key=lambda each: -each[1])
    columns = [text("Model", 0), Column("About %", 1, percent)]
    show("Estimates of accuracy, from agreement alone", columns, alone)


def _powered(pair: PairEstimate, end: str) -> float | None:
    """The mean or an end of an estimate that labels correct; None where too few changed questions have one."""
    return None if pair.powered is None else getattr(pair.powered, end)


@command(
    example="swaplaw report demo -o report.html",
    tables=False,
    json="Print the page's data as one JSON document as well.",
    output=option("-o/--output", "Write the page here.", default="report.html", metavar="FILE"),
    figures=option("--figures", "Draw the page's pictures here as well, as SVG and PNG.", metavar="DIR"),
    law=option("--law", "Screen with this law; by default one half of the questions makes it.", metavar="FILE"),
    panel_work=option(
        "--panel-work",
        "Work put into the search for panels, in millions of planes looked at (0: none).",
        type=click.FloatRange(0),
        default=PANEL_WORK,
    ),
)
def report(
    votes: VotesGiven,
    output: str,
    figures: str | None,
    law: str | None,
    min_gain: float,
    prices: dict[str, float] | None,
    folding: dict[str, Any],
    replicates: int,
    panel_work: float,
) -> None:
    """Write a self-contained page (no network, opens from disk) with everything there is to say about VOTES."""
    from swaplaw.predict.law_file import read_law
    from swaplaw.report import Options, document, page, write_figures, write_page

    options = Options(
        **folding,
        replicates=replicates,
        min_gain=min_gain,
        panel_work=panel_work,
        prices=prices,
        law=None if law is None else read_law(law),
        command=_command_line(),
        progress=progress_bar,
    )
    loaded = votes.votes()
    found = document(loaded, votes.dataset, options)
    write_page(page(found), output)
    drawn = [] if figures is None else write_figures(loaded.tally(found["dataset"]), found, figures)
    size = Path(output).stat().st_size
    if wants_json():
        emit(found)
    verdict = found["verdict"]
    with aside():
        click.echo(printable(verdict.get("sentence") or verdict["why"]), err=wants_json())
        click.echo(f"Wrote {printable(output)} ({size / 1e6:.1f} MB): open it in any browser.", err=wants_json())
        if drawn:
            click.echo(f"Drew {len(drawn)} figures into {printable(str(figures))}.", err=wants_json())


def _command_line() -> str:
    """The command line as it was given, to be shown on the page."""
    context = click.get_current_context()
    words = ["swaplaw", "report"]
    for parameter in context.command.params:
        name = parameter.name or ""
        value = context.params.get(name)
        if isinstance(parameter, click.Argument):
            words += value or ()
        elif context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE and parameter.expose_value:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0]] if each is True else [parameter.opts[-1], str(each)]
    return shlex.join(words)
