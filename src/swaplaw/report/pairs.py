"""The pair table: every pair in-sample and, where it is worth it, held out; and which pairs the explorer carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.decide.crossfit import deal, held_out_weight
from swaplaw.evidence.interval import Effect, effect, no_effect, warn_thin
from swaplaw.law.curve import Curve, curve_of
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.scoresheet import scoresheet
from swaplaw.report.explorer import curve_data, votes_data
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw._parallel import Progress

MOST_PAIRS = 100
"""Pairs with exact curves and held-out numbers; of more, those with the largest in-sample lift."""
MOST_CELLS = 120_000
"""Models times questions whose votes are embedded: what keeps the page small."""
MOST_STRETCHES = 250_000_000
"""Stretches times questions, over all pairs, that held-out numbers may take."""


@dataclass(frozen=True)
class Row:
    """One pair."""

    pair: Pair = field(repr=False)
    curve: Curve = field(repr=False)
    held_out: Effect | None = None
    """Lift over the primary at weights chosen without the question."""
    data: dict[str, Any] | None = field(default=None, repr=False)
    """Its exact pieces, if the explorer carries them."""

    def to_list(self) -> list[Any]:
        """The numbers of `COLUMNS`."""
        masses, best, held = self.pair.masses, self.curve.best_plateau, self.held_out
        phi = masses.phi_adj
        numbers = [masses.p, masses.q, masses.rescue, masses.ceiling, phi, best.lift, best.swap]
        return [
            *(self.pair.a, self.pair.b, self.pair.n),
            *(None if value is None else round(float(value), 6) for value in numbers),
            str(best.weight),
            *((None,) * 3 if held is None else (round(value, 6) for value in (held.mean, held.low, held.high))),
        ]


COLUMNS = (
    *("a", "b", "n", "p", "q", "rescue", "ceiling", "phi_adj", "lift", "swap", "weight"),
    *("held", "lo", "hi"),
)


@dataclass(frozen=True)
class PairRows:
    """All pairs of a fleet, the largest in-sample lift first; of equal lifts, the most accurate models first."""

    tally: Tally = field(repr=False)
    rows: tuple[Row, ...] = field(repr=False)

    def first(self, lead: str | None) -> tuple[str, str]:
        """The pair with the largest lift over `lead`; over any model where `lead` leads no pair."""
        chosen = _first(self.rows, lead).pair
        return chosen.primary, chosen.secondary

    def to_dict(self) -> dict[str, Any]:
        """The table as it is embedded."""
        carried = sum(row.data is not None for row in self.rows)
        return {
            "columns": list(COLUMNS),
            "rows": [row.to_list() for row in self.rows],
            "carried": carried,
            "disjoint": comb(len(self.tally.models), 2) - len(self.rows),
        }

    def explorer(self, golds: Sequence[str | None]) -> dict[str, Any]:
        """Exact curves and votes of the pairs that are carried."""
        carried = [row.data for row in self.rows if row.data is not None]
        models = sorted({data[end] for data in carried for end in ("a", "b")})
        return {"pairs": carried, "votes": votes_data(self.tally, models, golds)}


def pair_rows(
    tally: Tally,
    member: Ints,
    folds: int,
    repeats: int,
    seed: int,
    always: tuple[str, str] | None,
    lead: str | None,
    progress: Progress,
) -> PairRows:
    """Compute every pair; hold out and carry those worth it: first `always`, or the best pair that `lead` leads."""
    found = [Row(chosen, curve_of(chosen)) for chosen in progress(list(pairs(tally)))]
    found.sort(key=_rank)
    first = _first(found, lead).pair
    named = set(always or (first.primary, first.secondary))
    by_worth = sorted(found, key=lambda row: {row.pair.primary, row.pair.secondary} != named)
    chosen = _worth_carrying(by_worth, len(tally.questions))
    full = {id(row): _carried(row, member, folds, repeats, seed) for row in progress(chosen)}
    warn_thin((row.held_out for row in full.values()), "held-out intervals of pairs")
    return PairRows(tally, tuple(full.get(id(row), row) for row in found))


def _rank(row: Row) -> tuple[Any, ...]:
    masses = row.pair.masses
    return -row.curve.best_plateau.lift, -masses.p, -masses.q, row.pair.primary, row.pair.secondary


def _first(rows: Sequence[Row], lead: str | None) -> Row:
    return next((row for row in rows if row.pair.primary == lead), rows[0])


def _worth_carrying(ordered: Sequence[Row], questions: int) -> list[Row]:
    """Take pairs from the best down while their curves and their models' votes fit."""
    models: set[int] = set()
    chosen: list[Row] = []
    work = 0
    for row in ordered:
        together = models | {row.pair.a, row.pair.b}
        cost = 2 * len(row.curve.steps) * questions
        fits = len(together) * questions <= MOST_CELLS and work + cost <= MOST_STRETCHES
        if chosen and not fits:
            continue
        chosen.append(row)
        models, work = together, work + cost
        if len(chosen) == MOST_PAIRS:
            break
    return chosen


def _carried(row: Row, member: Ints, folds: int, repeats: int, seed: int) -> Row:
    sheet = scoresheet(row.pair)
    common = row.pair.common
    units = np.unique(member[common], return_inverse=True)[1]
    held = None
    if row.pair.n > 1 and units.any():
        # Questions that not both answered belong to no fold: they take part in no choice and no score.
        scores = sheet if common.all() else sheet.among(common)
        own = row.pair.alone[0]
        dealt = deal(units, folds=folds, repeats=repeats, seed=seed)
        gains = held_out_weight(scores, dealt) - own.numerators.astype(np.float64) / own.denominator
        # Of two votes the heavier always wins: such a lift of 0 is no observation.
        single = (row.pair.tally.votes[[row.pair.a, row.pair.b]][:, common] == 1).all()
        held = no_effect(units) if single and not gains.any() else effect(gains, units)
    return Row(row.pair, row.curve, held, curve_data(row.pair, row.curve, sheet, member))
