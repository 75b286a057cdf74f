"""Commands about the law: every pair at one weight, one pair at every weight, and panels at weights proven best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Any

import click

from swaplaw._parallel import counting
from swaplaw.cli.options import VotesGiven, command, leave_out, only_grades, option, switch
from swaplaw.cli.render import (
    INTERVALS,
    Column,
    answer,
    fleet_line,
    header,
    intervals_of,
    number,
    over_pairs,
    percent,
    places_of,
    points,
    rate,
    say,
    show,
    spread,
    tell,
    text,
)
from swaplaw.errors import Fix, InputError, listing, quote, several

if TYPE_CHECKING:
    from swaplaw.decide.crossfit import HeldOutPanel
    from swaplaw.evidence.interval import Effect
    from swaplaw.law.curve import Curve
    from swaplaw.law.pair import Outcome, Pair
    from swaplaw.panels.exact import Certificate
    from swaplaw.panels.panel import PanelOptimum
    from swaplaw.panels.search import PanelSearch
    from swaplaw.votes.tally import Silence, Tally

MASSES = (
    *("p", "q", "gap", "collective", "rescue", "damage", "both_right", "both_wrong"),
    *("phi", "phi_max", "phi_adj", "ceiling"),
)
OUTCOME = ("alpha", "gamma", "beta", "kappa", "lift", "swap", "residual")
UNPOOLED = "these votes only say right or wrong, and rates and lift need the answers"
OPTIMA = {
    "best_lift": "Best lift",
    "best_swap": "Best S*",
    "best_plateau": "Best plateau",
    "paper_rule": "Paper's rule (S* on its grid)",
}
CHANGED = ("rescued", "damaged", "repaired", "corrupted")


@dataclass(frozen=True)
class Row:
    """A pair, its vote at a weight, and its lift with an interval."""

    pair: Pair
    outcome: Outcome
    found: Effect | None

    @property
    def other_way(self) -> Outcome | None:
        """The vote with the other model as the primary, where both are equally accurate and only names decide."""
        return None if self.pair.masses.gap else self.pair.turned.at(self.outcome.weight)

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        turned = {} if self.other_way is None else {"lift_turned": number(self.other_way.lift)}
        return {
            **described(self.pair),
            **{name: number(getattr(self.outcome, name)) for name in OUTCOME},
            "lift_interval": None if self.found is None else [self.found.low, self.found.high],
            **turned,
        }


@command(example="swaplaw pairs demo --weight 2/3")
def pairs(votes: VotesGiven, weight: str, silence: Silence) -> None:
    """Show the law for every pair at one weight: masses, correlation, rates, lift and swap mass."""
    from swaplaw.law import as_weight

    x, table = as_weight(weight), votes.votes()
    tallies = votes.tallies(table, silence)
    if only_grades(table):
        _masses(tallies)
        return
    fleets = [(tally, pooled(tally, x)) for tally in tallies]
    disjoint = [comb(len(tally.models), 2) - len(rows) for tally, rows in fleets]

    def shown() -> None:
        for (tally, rows), strangers in zip(fleets, disjoint, strict=True):
            show_pairs(f"{fleet_line(tally)}; {several(len(rows), 'pair')} at weight {x}", x, rows)
            if strangers:
                say(f"{strangers} more pairs of models have no question in common: nothing can be said about them.\n")

    every = [row.to_dict() for _, rows in fleets for row in rows]
    answer({"weight": str(x), "pairs": every, "disjoint": sum(disjoint)}, shown)


def _masses(tallies: Sequence[Tally]) -> None:
    """Show what right or wrong is enough for: the masses of each pair, its correlation and its ceiling."""
    from swaplaw.law.pair import oriented_pairs, places_of_pairs

    found = [pair for tally in tallies for pair in oriented_pairs(tally, list(places_of_pairs(tally)))]
    nothing: dict[str, Any] = dict.fromkeys((*OUTCOME, "lift_interval"))
    columns = [
        text("Primary", "primary"),
        text("Secondary", "secondary"),
        Column("n", "n"),
        *(Column(f"{name} %", f"masses.{name}", percent) for name in ("p", "q", "rescue", "damage")),
        Column("phi_adj", "masses.phi_adj", rate),
        Column("Ceiling pp", "masses.ceiling", points),
    ]
    document = {"weight": None, "pairs": [described(pair) | nothing for pair in found], "note": UNPOOLED}
    answer(document, lambda: show(f"{len(found)} pairs", columns, found, f"No lift: {UNPOOLED}."))


def pooled(tally: Tally, weight: Fraction) -> list[Row]:
    """Pool every pair at a weight."""
    from swaplaw._parallel import ALONE
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.evidence.lifts import pair_effects
    from swaplaw.evidence.units import resampling_units
    from swaplaw.law.pair import at_least_one, places_of_pairs

    units, watched = resampling_units(tally), over_pairs(tally, "Pooling pairs")
    found = (pair_effects(tally, share, weight, units) for share in watched(ALONE.split(places_of_pairs(tally))))
    rows = [Row(*each) for each in at_least_one(tally, chain.from_iterable(found))]
    warn_thin(row.found for row in rows)
    return rows


def described(pair: Pair) -> dict[str, Any]:
    """Tell which pair it is, and its masses."""
    return {
        "dataset": pair.tally.dataset,
        "primary": pair.primary,
        "secondary": pair.secondary,
        "n": pair.n,
        "of": pair.of,
        **{name: number(getattr(pair.masses, name)) for name in MASSES},
    }


def show_pairs(title: str, weight: Fraction, rows: Sequence[Row], top: int | None = None) -> None:
    """Print pairs, the largest lift first."""
    columns = [
        text("Primary", "pair.primary"),
        text("Secondary", "pair.secondary"),
        Column("n", lambda row: f"{row.pair.n}" + ("" if row.pair.n == row.pair.of else f" of {row.pair.of}"), minor=3),
        Column("p %", "pair.masses.p", percent),
        Column("q %", "pair.masses.q", percent),
        Column("rescue %", "pair.masses.rescue", percent, minor=4),
        Column("phi_adj", "pair.masses.phi_adj", rate, minor=1),
        Column("alpha", "outcome.alpha", rate, minor=5),
        Column("gamma", "outcome.gamma", rate, minor=6),
        *spread("Lift pp", "outcome.lift", "found"),
        Column("S* pp", lambda row: points(row.outcome.swap, places_of(row.found)), minor=2),
    ]
    ordered = sorted(rows, key=lambda row: (-row.outcome.lift, row.pair.primary, row.pair.secondary))[:top]
    gain = sum(row.outcome.lift > 0 for row in rows)
    note = (
        f"{gain} of {several(len(rows), 'pair')} {'gains' if 1 in (gain, len(rows)) else 'gain'} at weight {weight}. "
        f"The order is in-sample: the top pair's lift is inflated by selection. "
        f"{intervals_of(row.found for row in rows)}"
    )
    for row in ordered:
        if row.other_way is not None:
            here, there = (points(at.lift, places_of(row.found)) for at in (row.outcome, row.other_way))
            note += (
                f"\n{row.pair.primary} and {row.pair.secondary} are equally accurate, and the first by name is the "
                f"primary: {here} pp, and {there} pp the other way round."
            )
    show(title, columns, ordered, note)


@command(
    example="swaplaw curve demo --primary gpt-4 --secondary mistral-large --at 1/3",
    at=option("--at", "List the questions that this weight changes.", metavar="X"),
)
def curve(votes: VotesGiven, primary: str, secondary: str, at: str | None, silence: Silence) -> None:
    """Show the exact lift of one pair at every weight: its steps, its best weight and its best plateau."""
    from swaplaw import pair
    from swaplaw.law import as_weight
    from swaplaw.law.curve import curve_of

    x = None if at is None else as_weight(at)
    chosen = pair(_tally_of(votes.tallies(silence=silence), primary, secondary), primary, secondary)
    if chosen.masses.gap < 0:
        tell(f"note: {quote(secondary)} is the more accurate of the two on their {chosen.n} questions")
    found = curve_of(chosen)
    turned = {} if chosen.masses.gap else {"turned": _optima(curve_of(chosen.turned))}

    def shown() -> None:
        header(chosen.tally, primary, secondary)
        show_optima(chosen, found)
        if turned:
            other = turned["turned"]["best_plateau"]
            say(
                f"Both are equally accurate. With {secondary} as the primary the best plateau is at weight "
                f"{other['weight']}: {points(other['lift'])} pp.\n"
            )
        _show_grid(chosen, found)
        if x is not None:
            _show_changes(chosen, x)

    answer(curve_dict(found) | turned | ({} if x is None else {"at": _changes(chosen, x)}), shown)


def _tally_of(tallies: Sequence[Tally], *models: str) -> Tally:
    """The one dataset that holds both models."""
    holding = [tally for tally in tallies if all(model in tally.models for model in models)]
    if len(holding) > 1:
        raise InputError(
            f"{len(holding)} datasets hold both models ({listing([tally.dataset for tally in holding])})",
            Fix("dataset", "NAME", "pick one"),
        )
    # With no dataset for both, the first one's error names what is missing.
    return (holding or tallies)[0]


def bound(weight: Fraction | None) -> str:
    """An end of a range of weights; no end is inf."""
    return "inf" if weight is None else str(weight)


def curve_dict(found: Curve) -> dict[str, Any]:
    """The whole curve for JSON."""
    pieces = [
        {
            "lo": bound(piece.low),
            "hi": bound(piece.high),
            "lift": number(piece.lift),
            "swap": number(piece.swap),
            "accuracy": number(piece.outcome.accuracy),
        }
        for piece in found.pieces
    ]
    which = {name: getattr(found, name) for name in ("dataset", "primary", "secondary", "n", "of")}
    return {**which, "pieces": pieces, **_optima(found)}


def _optima(found: Curve) -> dict[str, Any]:
    """The best weights of a curve for JSON."""
    return {
        name: {
            "weight": str(best.weight),
            "lo": bound(best.low),
            "hi": bound(best.high),
            "lift": number(best.lift),
            "swap": number(best.swap),
            "fragile": best.fragile,
        }
        for name in OPTIMA
        for best in [getattr(found, name)]
    }


def _changes(pair: Pair, weight: Fraction) -> dict[str, Any]:
    """What one weight changes, for JSON."""
    outcome = pair.at(weight)
    return {
        "weight": str(weight),
        "lift": number(outcome.lift),
        **{name: number(getattr(outcome, name)) for name in CHANGED},
        "changes": [
            {"question": change.question, "kind": change.kind, "credit": number(change.credit)}
            for change in pair.changes(weight)
        ],
    }


def _effects(pair: Pair) -> Callable[[Any], Effect | None]:
    """The lift with its interval at the weight of what is given."""
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.evidence.lifts import lift_effect
    from swaplaw.evidence.units import resampling_units

    units, known = resampling_units(pair.tally), dict[Fraction, "Effect | None"]()

    def judged(at: Any) -> Effect | None:
        if at.weight not in known:
            known[at.weight] = lift_effect(pair.tally, (pair.a, pair.b), (Fraction(1), at.weight), units)
            warn_thin([known[at.weight]])
        return known[at.weight]

    return judged


def show_optima(pair: Pair, found: Curve) -> None:
    """Print the best weights."""
    effect, best = _effects(pair), {name: getattr(found, name) for name in OPTIMA}
    columns = [
        text("", lambda name: OPTIMA[name]),
        Column("Weight", lambda name: best[name].weight),
        Column("Range", lambda name: f"{bound(best[name].low)} to {bound(best[name].high)}"),
        Column("Accuracy %", lambda name: best[name].outcome.accuracy, percent),
        *spread("Lift pp", lambda name: best[name].lift, lambda name: effect(best[name])),
        Column("S* pp", lambda name: points(best[name].swap, places_of(effect(best[name])))),
        text("", lambda name: "isolated point: fragile" if best[name].fragile else ""),
    ]
    title = f"{found.primary} + {found.secondary}: {found.n} of {found.of} questions, {len(found.pieces)} pieces"
    note = f"Chosen on these same questions: expect less on new ones. {intervals_of(map(effect, best.values()))}"
    show(title, columns, best, note)


def _show_grid(pair: Pair, found: Curve) -> None:
    """Print the curve at the paper's grid."""
    effect = _effects(pair)
    columns = [
        Column("Weight", "weight"),
        Column("Accuracy %", "accuracy", percent),
        *spread("Lift pp", "lift", effect),
        Column("S* pp", lambda at: points(at.swap, places_of(effect(at)))),
    ]
    show("At the paper's grid", columns, found.grid())


def _show_changes(pair: Pair, weight: Fraction) -> None:
    """Print the questions that one weight changes."""
    changes, outcome = pair.changes(weight), pair.at(weight)
    columns = [
        text("Kind", "kind"),
        text("Question", "question"),
        Column("Credit", "credit", lambda credit: f"{float(credit):+.3g}"),
    ]
    title = f"What weight {weight} changes: lift {points(outcome.lift, places_of(_effects(pair)(outcome)))} pp"
    show(
        title, columns, changes, "" if changes else "Nothing: every question is scored as the primary alone scores it."
    )


@dataclass(frozen=True)
class PanelRow:
    """One panel as it is shown."""

    certificate: Certificate
    best: PanelOptimum
    """The best weights, or the grid's."""
    held_out: HeldOutPanel | None
    of: int
    """Questions of the dataset."""

    @property
    def gap(self) -> Fraction:
        """Proven distance of the weights to the best ones."""
        return self.certificate.bound - self.best.accuracy

    @property
    def lift(self) -> Fraction:
        """What the panel adds to its primary."""
        return self.best.accuracy - self.certificate.panel.accuracies[0]

    def to_dict(self) -> dict[str, Any]:
        """The panel for JSON."""
        return {
            **self.certificate.to_dict(),
            "weights": [str(weight) for weight in self.best.weights],
            "accuracy": float(self.best.accuracy),
            "lift": float(self.lift),
            "certified": not self.gap,
            "gap": float(self.gap),
            "fragile": self.best.fragile,
            "phi_adj": number(self.certificate.panel.union.phi_adj),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "of": self.of,
        }


@command(
    example="swaplaw panel demo --size 3 --top 5",
    size=option("--size", "How many members a panel has.", type=int, default=3),
    members=option("--members", "Look at this panel only.", multiple=True, metavar="A,B,..."),
    top=option("--top", "How many panels to list.", type=click.IntRange(1), default=10),
    everything=switch("--all", "List every panel."),
    work=option("--work", "Stop after looking at this many planes, with a proven gap.", type=float, metavar="PLANES"),
    grid=switch("--grid", "Weights of the paper's grid, and how far they are from the optimum."),
    folds=option("--folds", "Parts of the held-out check, most of the work (0: none).", type=int, default=5),
    repeats=option("--repeats", "How often they are dealt.", type=int, default=2),
)
def panel(
    votes: VotesGiven,
    size: int,
    members: tuple[str, ...],
    without: tuple[str, ...],
    top: int,
    everything: bool,
    work: float | None,
    grid: bool,
    folds: int,
    repeats: int,
    seed: int,
    silence: Silence,
    crew: dict[str, Any],
) -> None:
    """Find the best panels: k models pooled by weighted vote, at weights that are proven best.

    Panels are ordered by held-out accuracy: weights chosen on some questions, judged on others.
    """
    from swaplaw.panels import best_panels

    if folds < 0 or folds == 1:
        raise InputError(f"{folds} folds leave nothing to hold out: ask for 2 or more, or 0 for no held-out numbers")
    dealt = {"folds": folds, "repeats": repeats, "seed": seed}
    done: list[tuple[Tally, list[PanelRow], PanelSearch | None]] = []
    for tally in votes.tallies(silence=silence):
        fleet = leave_out(tally, without)
        if members:
            searched, found = None, [_certified(fleet, members, work)]
        else:
            with counting("Searching panels") as progress:
                listed = None if everything else top
                searched = best_panels(fleet, size, top=listed, work=work, progress=progress, **crew)
            found = list(searched.panels)
        rows = _on_grid(fleet, found) if grid else _held_out(fleet, found, dealt, crew)
        done.append((fleet, rows, searched))

    def document() -> dict[str, Any]:
        return {
            "panels": [
                row.to_dict() | ({} if searched else _details(row)) for _, rows, searched in done for row in rows
            ],
            "search": [{"dataset": fleet.dataset, **searched.to_dict()} for fleet, _, searched in done if searched],
        }

    def shown() -> None:
        for fleet, rows, searched in done:
            header(fleet, *(() if searched else rows[0].certificate.panel.members))
            _show_panels(fleet, rows, searched)
            if searched is None:
                _show_details(rows[0])

    answer(document, shown)


def _certified(tally: Tally, given: Sequence[str], work: float | None) -> Certificate:
    """Certify one panel. A name that is not a model is taken as a list with commas."""
    from swaplaw import panel
    from swaplaw.panels import certify

    members: list[str] = []
    for name in given:
        members += [name] if name in tally.models else [part.strip() for part in name.split(",") if part.strip()]
    return certify(panel(tally, members), work=work)


def _on_grid(tally: Tally, found: Sequence[Certificate]) -> list[PanelRow]:
    """Give each panel the best weights of the paper's grid."""
    from swaplaw.panels import grid_search

    rows = []
    with counting("Trying the grid") as progress:
        for done, one in enumerate(found):
            progress(done, len(found))
            rows.append(PanelRow(one, grid_search(one.panel), None, len(tally.questions)))
    return sorted(rows, key=lambda row: -row.best.accuracy)


def _held_out(
    tally: Tally,
    found: Sequence[Certificate],
    dealt: dict[str, Any],
    crew: dict[str, Any],
) -> list[PanelRow]:
    """Hold each panel out, and put the best first; Ctrl-C leaves the rest as they are."""
    from swaplaw.decide.crossfit import held_out_panel

    parts = max(dealt["folds"], 1) * max(dealt["repeats"], 1)
    judged: dict[int, HeldOutPanel | None] = {}
    try:
        with counting(f"Weighing each panel on {parts} training parts") as progress:
            for done, one in enumerate(found if dealt["folds"] else []):
                steps = _steps(progress, done * parts, len(found) * parts)
                judged[done] = held_out_panel(one.panel, progress=steps, **dealt, **crew)
    except KeyboardInterrupt:
        tell(f"swaplaw: stopped: {len(judged)} of {len(found)} panels were held out")
    rows = [PanelRow(one, one.best, judged.get(place), len(tally.questions)) for place, one in enumerate(found)]
    return sorted(rows, key=lambda row: -(row.held_out.accuracy if row.held_out else 0.0))


def _steps(show: Callable[[int, int], None], before: int, total: int) -> Callable[[Sequence[Any]], Iterator[Any]]:
    """Show training parts as they are done, out of a known total."""

    def steps(parts: Sequence[Any]) -> Iterator[Any]:
        for done, part in enumerate(parts, before):
            show(done, total)
            yield part

    return steps


def _details(row: PanelRow) -> dict[str, Any]:
    """What only a single panel shows: its cells, and what each member is worth to it."""
    from swaplaw.panels import marginals

    one = row.certificate
    return {
        "cells": one.panel.at(row.best.weights).to_dict()["cells"],
        "marginals": {name: float(loss) for name, loss in marginals(one).items()},
    }


def _show_panels(tally: Tally, rows: Sequence[PanelRow], searched: PanelSearch | None) -> None:
    from swaplaw.evidence.interval import warn_thin
    from swaplaw.evidence.lifts import lift_effect
    from swaplaw.evidence.units import resampling_units

    units = resampling_units(tally)
    judged = {id(row): lift_effect(tally, row.certificate.panel.indices, row.best.weights, units) for row in rows}
    warn_thin(judged.values())
    columns = [
        text("Panel", lambda row: " + ".join(row.certificate.panel.members)),
        text(
            "Weights", lambda row: " : ".join(map(str, row.best.weights)) + (" (fragile)" if row.best.fragile else "")
        ),
        Column("p %", lambda row: percent(row.certificate.panel.accuracies[0]), minor=1),
        Column("Accuracy %", "best.accuracy", percent),
        *spread("Lift pp", "lift", lambda row: judged[id(row)]),
        Column("Ceiling pp", lambda row: points(row.certificate.ceiling, places_of(judged[id(row)])), minor=2),
        Column("Held out %", lambda row: percent(None if row.held_out is None else row.held_out.accuracy)),
        Column("Proven", lambda row: "best" if row.gap == 0 else f"{points(row.gap)} at most"),
    ]
    n = rows[0].certificate.panel.n
    title = f"{tally.dataset}: {several(len(rows), 'panel')}, primary first, on {n} of {rows[0].of} questions"
    show(title, columns, rows, " ".join(_notes(rows, searched)))


def _notes(rows: Sequence[PanelRow], searched: PanelSearch | None) -> Iterator[str]:
    """What the numbers mean, and how far they can be trusted."""
    if searched is not None:
        yield (
            f"{several(searched.of, 'panel')} of {searched.size}: {searched.searched + searched.cut:,} searched, "
            f"{searched.pruned:,} ({100 * searched.share_pruned:.0f}%) ruled out by their bounds."
        )
        if searched.greedy:
            yield "Too many to search: built greedily, one member at a time."
        elif not searched.complete:
            yield "Stopped before all were searched."
        if not searched.certified:
            yield f"No panel of this size is more than {points(searched.gap)} pp better than the best of these."
        if searched.dropped:
            yield f"{searched.dropped:,} questions that some model did not answer are left out."
    judged = next((row.held_out for row in rows if row.held_out is not None), None)
    if judged is not None:
        yield (
            f"Held out: weights chosen on {judged.folds - 1} of {judged.folds} parts of the questions, judged on the "
            f"other, {several(judged.repeats, 'time')} over."
        )
        if searched is not None and searched.of > 1:
            yield f"The choice among {searched.of:,} panels itself is in-sample: the top one is inflated by selection."
    else:
        yield "In-sample: expect less on new questions."
    yield INTERVALS
    if any(row.best.fragile for row in rows):
        yield "Fragile weights rest on exact ties: the least change loses them."


def _show_details(row: PanelRow) -> None:
    """Print what each member is worth, and lift cell by cell."""
    from swaplaw.panels import marginals

    one = row.certificate
    losses = marginals(one)
    columns = [
        text("Member", 0),
        Column("Alone %", 1, percent),
        Column("Weight", 2),
        Column("Lost without it pp", lambda member: losses[member[0]], points),
    ]
    note = (
        f"Without a member the rest votes at its own best weights. The secondaries together are right on "
        f"{percent(one.panel.union.q)}% (phi_adj with the primary {rate(one.panel.union.phi_adj)})."
    )
    show("Members", columns, zip(one.panel.members, one.panel.accuracies, row.best.weights, strict=True), note)
    outcome = one.panel.at(row.best.weights)
    columns = [
        text("Right alone", lambda cell: " + ".join(cell.right) or "nobody"),
        text("Cell", "kind"),
        Column("Mass %", "mass", percent),
        Column("Rate", "rate", rate),
        Column("Lift pp", "contribution", points),
    ]
    cells = sorted(outcome.cells, key=lambda cell: (-abs(cell.contribution), -cell.mass))
    show("Lift, cell by cell", columns, cells, f"Sum: {points(outcome.lift)} pp.")
