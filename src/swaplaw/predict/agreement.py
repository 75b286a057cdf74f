"""Agreement between two models' answers, wrong ones included: competitors of the law from the literature.

Both use vote shares as the models' answer probabilities, so they need no plurality and no tie-breaking. Abstention is
an answer like any other. Options that nobody voted for are not recorded in votes, and are not counted.

Either measure is a function of six sums over questions (`SUMS`), so its slopes in these sums are all it takes to know
how it moves in a bootstrap draw. `Agreements` holds the summands of many pairs as whole numbers, shared where pairs
share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import grid_for
from swaplaw.evidence.quantities import Columns
from swaplaw.evidence.resample import Resampler
from swaplaw.law.pair import Pair
from swaplaw.votes.tally import Tally

SUMS = ("questions", "agree", "agree_wrong", "gold_a", "gold_b", "one_of")
"""What is summed: 1; the chance that one sample of each is the same answer, and the same wrong one; both models'
shares of gold; and one over the number of wrong answers that anybody gave."""


def kappa_p(sums: Floats) -> tuple[Floats, Floats]:
    """CAPA: agreement of answers beyond what the accuracies make us expect (Goel et al. 2025).

    With c the mean chance that both give the same answer, p and q the mean shares of gold and k the number of wrong
    answers to a question, kappa_p = (c - e) / (1 - e), e = p q + (1 - p)(1 - q) mean(1 / k).

    Parameters
    ----------
    sums : array
        The sums of `SUMS` (first axis), of one pair or many.

    Returns
    -------
    tuple of two arrays
        The measure, NaN where it is undefined, and its slope in each sum (there, 0).
    """
    n = sums[0]
    c, _, p, q, k = sums[1:] / n
    expected = p * q + (1 - p) * (1 - q) * k
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(expected == 1, np.nan, (c - expected) / (1 - expected))
        ones, zeros = np.ones_like(value), np.zeros_like(value)
        less = value - 1
        slopes = np.stack(
            [ones, zeros, less * (q - (1 - q) * k), less * (p - (1 - p) * k), less * (1 - p) * (1 - q)]
        ) / ((1 - expected) * n)
    return value, _with_first(slopes, sums)


def same_wrong(sums: Floats) -> tuple[Floats, Floats]:
    """How often two models that are both wrong give the same answer (Kim et al. 2025), one sample of each.

    Parameters
    ----------
    sums : array
        The sums of `SUMS` (first axis), of one pair or many.

    Returns
    -------
    tuple of two arrays
        The measure, NaN where it is undefined, and its slope in each sum (there, 0).
    """
    n, agree, wrong, gold_a, gold_b, _ = sums
    both = n - gold_a - gold_b + (agree - wrong)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(both > 0, wrong / both, np.nan)
        slopes = np.stack([-value, 1 + value, value, value, np.zeros_like(value)]) / both
    return value, _with_first(slopes, sums)


def _with_first(slopes: Floats, sums: Floats) -> Floats:
    """Slopes in all sums: in the first it is what makes nothing move when all grow alike."""
    whole = np.concatenate([-(slopes * sums[1:]).sum(axis=0, keepdims=True) / sums[0], slopes])
    return np.where(np.isnan(whole).any(axis=0), 0.0, whole)


MEASURES = {"kappa_p": kappa_p, "same_wrong": same_wrong}


@dataclass(frozen=True)
class Agreements:
    """The sums of many pairs, and what adds up to them."""

    sums: Floats
    """Sums x pairs."""
    columns: Floats = field(repr=False)
    """Units x columns, whole numbers; nothing where draws are not asked for."""
    places: Ints = field(repr=False)
    """Which column holds each summand of each pair: sums x pairs."""
    scales: Floats = field(repr=False)
    """What a column is a multiple of."""

    def values(self, totals: Floats | None = None, times: float = 1.0) -> dict[str, Floats]:
        """The measures by name: of all questions, or (to first order) in draws with `times` these totals."""
        found = {}
        for name, measure in MEASURES.items():
            value, slopes = measure(self.sums)
            if totals is not None:
                slopes = times * slopes / self.scales[self.places]
                moved = (totals.take(place, axis=-1) * slope for place, slope in zip(self.places, slopes, strict=True))
                value = value + sum(moved)
            found[name] = value
        return found


def agreements(chosen: Sequence[Pair], draws: Resampler | None = None, units: int = 0) -> Agreements:
    """Sum up how pairs of one tally agree; with draws, also lay out the summands of their units."""
    sums = np.empty((len(SUMS), len(chosen)))
    layout = _Layout(draws)
    for number, pair in enumerate(chosen):
        for row, (key, (top, bottom)) in enumerate(_summands(pair).items()):
            sums[row, number] = layout.add(key, pair, top, bottom)
    places = np.array(layout.places, dtype=np.intp).reshape(-1, len(SUMS)).T
    columns = np.zeros((units, 0)) if draws is None else layout.columns.whole()
    return Agreements(sums, columns, places, np.array(layout.scales))


def summands(pair: Pair) -> Floats:
    """What each common question adds to the sums of a pair: sums x questions."""
    return np.stack([np.broadcast_to(top / bottom, pair.n) for top, bottom in _summands(pair).values()])


def _summands(pair: Pair) -> dict[tuple[object, ...], tuple[Ints, Ints]]:
    """What each common question adds to each sum, as fractions; those of one model or none are the same for many."""
    tally = pair.tally.principal
    whole = pair.n == pair.of

    def own(values: Ints) -> Ints:
        return values if whole else values[pair.common]

    votes_a, votes_b, gold_a, gold_b = (
        own(table[model]).astype(np.int64) for table in (tally.votes, tally.gold) for model in (pair.a, pair.b)
    )
    wrong = own(_same_rival(tally, pair.a, pair.b))
    once = np.ones(1, dtype=np.int64)
    on = b"" if whole else pair.common.tobytes()
    return {
        (on, "questions"): (np.ones(pair.n, dtype=np.int64), once),
        (pair.a, pair.b, "agree"): (gold_a * gold_b + wrong, votes_a * votes_b),
        (pair.a, pair.b, "wrong"): (wrong, votes_a * votes_b),
        (on, pair.a): (gold_a, votes_a),
        (on, pair.b): (gold_b, votes_b),
        (on, "one of"): (np.ones(pair.n, dtype=np.int64), own(rivals_per_question(tally))),
    }


class _Layout:
    """Columns by key, each held once."""

    def __init__(self, draws: Resampler | None) -> None:
        self.draws = draws
        self.columns = Columns()
        self.known: dict[object, tuple[int, float]] = {}
        self.places: list[int] = []
        self.scales: list[float] = []

    def add(self, key: object, pair: Pair, top: Ints, bottom: Ints) -> float:
        """Add a summand of a pair, a fraction for each common question; returns its sum."""
        if key not in self.known:
            whole, scale = _whole(top, bottom, pair.n)
            if self.draws is not None:
                self.columns.add(self.draws.by_unit(whole, pair), slice(None), self.draws.units)
            self.scales.append(float(scale))
            self.known[key] = len(self.known), float(whole.sum()) / scale
        place, total = self.known[key]
        self.places.append(place)
        return total


def _whole(top: Ints, bottom: Ints, n: int) -> tuple[Ints | Floats, int]:
    """Fractions as multiples of one, whose sums are exact in floats; rounded where they have too little in common."""
    different = [int(bottom[0])] if (bottom == bottom[0]).all() else np.unique(bottom).tolist()
    scale = lcm(*different)
    grid = grid_for(scale, n)
    if grid:
        return np.round(top / bottom * grid), grid
    return top * (scale // bottom), scale


def rivals_per_question(tally: Tally) -> Ints:
    """How many answers other than gold anybody gave to each question; 1 where nobody gave any."""

    def derive() -> tuple[Ints, int]:
        voted = np.zeros(len(tally.rivals.question))
        voted[tally.positions] = 1
        found = np.bincount(tally.rivals.question, voted, minlength=len(tally.questions)).astype(np.int64)
        return np.maximum(found, 1), found.nbytes

    found: Ints = tally.derived("rivals per question", derive)
    return found


def _same_rival(tally: Tally, a: int, b: int) -> Ints:
    """In how many ways one vote of each model is for the same rival, on every question."""
    sums: Ints = tally.rivals.rows.sums(_dense(tally, a) * _dense(tally, b)).take(tally.rivals.rank)
    return sums


def _dense(tally: Tally, model: int) -> Ints:
    """A model's votes at every rival position, wide enough for products and their sums."""

    def derive() -> tuple[Ints, int]:
        narrow = int(tally.votes.max(initial=0)) < 2**15
        found = tally.dense(model).astype(np.int32 if narrow else np.int64)
        return found, found.nbytes

    found: Ints = tally.derived(("dense", model), derive)
    return found
