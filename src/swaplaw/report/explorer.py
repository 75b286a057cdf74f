"""What the pair explorer needs, exactly: the pieces of each curve as whole numbers, and everybody's votes.

A pair's curve is stored symmetrically. For each cell (in the order of `pair.KINDS`) it holds the mass that the *pooled
vote* gets right on each piece, and the masses that either model alone gets right. A contribution to lift over the
primary is pooled less alone, so the page can let either model lead without a second curve: weight x of B to A is
weight 1/x of A to B. All masses of a pair are whole numbers over one denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.evidence.interval import critical_of
from swaplaw.evidence.lifts import errors_along
from swaplaw.law.curve import Curve
from swaplaw.law.pair import Pair
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.votes.tally import Tally

SAFE = 2**53
"""Whole numbers from here on are sent as text: JavaScript's numbers would round them."""
ERROR_SCALE = 10**6
LONGEST_LABEL = 200


def curve_data(chosen: Pair, curve: Curve, sheet: Scoresheet, member: Ints) -> dict[str, Any]:
    """One pair's pieces; `member` is the resampling unit of each of the tally's questions."""
    slots = (2 * curve.steps[:, None] + [0, 1]).reshape(-1)
    alone = [_alone(chosen, which) for which in (0, 1)]
    whole = lcm(curve.denominator, *(mass.denominator for masses in alone for mass in masses))
    factor = whole // curve.denominator
    own, other = ([int(mass * whole) for mass in masses] for masses in alone)
    # No mass is larger than the whole; what does not fit 64 bits is computed by Python's own numbers.
    dtype = np.int64 if 2 * whole < 2**62 else object
    pooled = curve.contributions[:, slots].astype(dtype) * factor + np.array(own, dtype=dtype)[:, None]
    shared = gcd(whole, *own, *other, int(np.gcd.reduce(pooled, axis=None)) if pooled.size else 0)
    return {
        "a": chosen.a,
        "b": chosen.b,
        "n": chosen.n,
        "denominator": _whole(whole // shared),
        "x": curve.breaks.numerators[curve.steps].tolist(),
        "y": curve.breaks.denominators[curve.steps].tolist(),
        "pooled": [_steps(row) for row in pooled // shared],
        "aloneA": [_whole(value // shared) for value in own],
        "aloneB": [_whole(value // shared) for value in other],
        **_errors(chosen, curve, sheet, slots, member),
    }


def _alone(chosen: Pair, which: int) -> list[Fraction]:
    """The mass of each cell that one model alone gets right."""
    cells, scale = chosen.cells()
    scores = chosen.alone[which]
    totals = cells.astype(object) @ scores.numerators.astype(object)
    return [Fraction(int(total), scale * scores.denominator * chosen.n) for total in totals]


def _errors(chosen: Pair, curve: Curve, sheet: Scoresheet, slots: Ints, member: Ints) -> dict[str, Any]:
    """Standard errors of lift on each piece, over either model, in millionths; none where nothing can be resampled."""
    units = np.unique(member[chosen.common], return_inverse=True)[1]
    if chosen.n < 2 or not units.any():
        return {"critical": None, "errorsA": [], "errorsB": []}
    stretches = np.searchsorted(sheet.firsts, slots, side="right") - 1
    scores = sheet if chosen.common.all() else sheet.among(chosen.common)
    found: dict[str, Any] = {"critical": critical_of(units)}
    x, y = curve.breaks.numerators[curve.steps], curve.breaks.denominators[curve.steps]
    # Each break is a point and the interval that follows it. Lighter votes cannot change single ones (see `lifts`).
    lighter = (np.repeat(x < y, 2), np.column_stack([x > y, x >= y]).reshape(-1))
    for name, own, model, light in zip(
        ("errorsA", "errorsB"), chosen.alone, (chosen.a, chosen.b), lighter, strict=True
    ):
        errors = errors_along(scores, own.numerators.astype(np.float64) / own.denominator, units)[stretches]
        if (chosen.tally.votes[model][chosen.common] == 1).all():
            errors = np.where(light, 0, errors)
        found[name] = np.rint(errors * ERROR_SCALE).astype(int).tolist()
    return found


def _steps(values: Ints) -> list[int | str]:
    """A first value and differences: curves are long, their steps small."""
    steps = np.diff(values, prepend=values[:1] * 0).tolist()
    return steps if max(map(abs, steps)) < SAFE else [_whole(value) for value in steps]


def _whole(value: int) -> int | str:
    return value if abs(value) < SAFE else str(value)


def votes_data(tally: Tally, models: Sequence[int], golds: Sequence[str | None]) -> dict[str, Any]:
    """Everybody's votes: per question the answers (gold first, null for no answer), per model their counts."""
    tally = tally.principal  # The answer that stands first is one, whatever else is right.
    answers: list[list[str | None]] = [[_label(gold)] for gold in golds]
    place = np.zeros(len(tally.rivals.labels), dtype=int)
    entries = np.concatenate([tally.positions[tally.starts[m] : tally.starts[m + 1]] for m in models])
    positions = np.unique(entries)
    numbers = []
    for question, text in zip(
        tally.rivals.question[positions].tolist(), tally.rivals.labels[positions].tolist(), strict=True
    ):
        own = answers[question]
        numbers.append(len(own))
        own.append(_label(text))
    place[positions] = numbers
    return {"answers": answers, "counts": {str(model): _counts(tally, model, place) for model in models}}


def _counts(tally: Tally, model: int, place: Ints) -> list[list[int] | int]:
    """Votes of one model on each question, in the order of its answers without trailing noughts; 0: never asked."""
    own = slice(tally.starts[model], tally.starts[model + 1])
    positions = tally.positions[own]
    question, spot = tally.rivals.question[positions], place[positions]
    last = np.zeros(len(tally.questions), dtype=int)
    np.maximum.at(last, question, spot)
    table = np.zeros((len(last), int(last.max(initial=0)) + 1), dtype=int)
    table[:, 0] = tally.gold[model]
    table[question, spot] += tally.counts[own]
    asked = zip(table.tolist(), last.tolist(), tally.answered[model].tolist(), strict=True)
    return [row[: end + 1] if answered else 0 for row, end, answered in asked]


def _label(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
