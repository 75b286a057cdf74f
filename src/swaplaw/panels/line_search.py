"""Exact line search in a panel's weight space: along any line the pair's exact curve applies.

Weights u + x v, for x from 0 on, run from u to v. With D and E gold's margins at u and at v, gold holds against a
rival where D + x E >= 0: the bound of a pair. So the best weights of the whole line are found exactly, as for a pair,
and going from line to line (along each member in turn, then in random directions) climbs fast to good weights.

The paper's way stands below for comparison: every combination of the weights of its grid, on all secondaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from itertools import product as combinations_of
from math import lcm

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.law.spans import Spans, breakpoints, sum_over_slots
from swaplaw.law.weights import PAPER_GRID, simplest_between
from swaplaw.panels.arrangement import Arrangement, Ray, arrangement, primitive, product
from swaplaw.panels.panel import Panel, PanelOptimum

RANDOM_DIRECTIONS = 8
LARGEST_STEP = 12


@dataclass(frozen=True)
class Peak:
    """The best weights of a line or of a climb, as whole numbers, and their score in questions."""

    point: Ray
    score: Fraction


def line_search(those: Arrangement, starts: Sequence[Ray] = (), *, seed: int = 0) -> Peak:
    """Climb from each start (equal weights always being one) along every member, then in random directions."""
    rng = np.random.default_rng(seed)
    equal = (1,) * those.size
    peaks = [_climb(those, start, rng) for start in dict.fromkeys([equal, *starts])]
    return max(peaks, key=lambda peak: peak.score)


def _climb(those: Arrangement, start: Ray, rng: np.random.Generator) -> Peak:
    peak = Peak(start, those.score(start))
    climbing = True
    while climbing:
        before = peak.score
        for member in range(those.size):
            rest = tuple(0 if place == member else weight for place, weight in enumerate(peak.point))
            axis = tuple(int(place == member) for place in range(those.size))
            peak = max(peak, best_on_line(those, rest, axis), key=lambda one: one.score)
        climbing = peak.score > before
    for _ in range(RANDOM_DIRECTIONS):
        ends = _ends(peak.point, rng.integers(-LARGEST_STEP, LARGEST_STEP + 1, those.size).tolist())
        if ends is not None:
            peak = max(peak, best_on_line(those, *ends), key=lambda one: one.score)
    return peak


def _ends(point: Ray, direction: Sequence[int]) -> tuple[Ray, Ray] | None:
    """Where a line through a point leaves the positive weights; None if it never does on one side."""
    ends = []
    for sign in (1, -1):
        steps = [sign * step for step in direction]
        room = [Fraction(weight, -step) for weight, step in zip(point, steps, strict=True) if step < 0]
        if not room:
            return None
        far = [weight + min(room) * step for weight, step in zip(point, steps, strict=True)]
        scale = lcm(*(part.denominator for part in far))
        ends.append(primitive([int(part * scale) for part in far]))
    return ends[0], ends[1]


def climbed(panel: Panel) -> tuple[Fraction, ...]:
    """Weights of all members that climbing finds: nearly always the best, in a thirtieth of the time of a proof."""
    point = line_search(arrangement(panel.tally, panel.indices, panel.common)).point
    return tuple(Fraction(weight, point[0]) for weight in point)


def best_on_line(those: Arrangement, start: Ray, end: Ray) -> Peak:
    """Find the best weights strictly between two ends, between which all weights are positive."""
    D, E = product(those.normals, np.array([start, end], dtype=object if max(*start, *end) >= 2**62 else None).T).T
    breaks = breakpoints(D, E, 1, 1)
    scores, unit = _scores(those, D, E, breaks.bounds, breaks.slots)
    # Slot 0 is the start itself, which lies outside. An open stretch is preferred to a point that scores the same.
    stretch, touch = 2 * int(scores[1::2].argmax()) + 1, 2 * int(scores[2::2].argmax()) + 2 if breaks.slots > 2 else 1
    slot = stretch if scores[stretch] >= scores[touch] else touch
    low, high = (
        Fraction(int(breaks.numerators[place]), int(breaks.denominators[place]))
        if place < len(breaks.numerators)
        else None
        for place in (slot // 2, slot // 2 + 1)
    )
    assert low is not None
    x = simplest_between(low, high) if slot % 2 else low
    point = [x.denominator * a + x.numerator * b for a, b in zip(start, end, strict=True)]
    return Peak(primitive(point), Fraction(int(scores[slot]), unit) + Fraction(those.sure, those.unit))


def _scores(those: Arrangement, D: Ints, E: Ints, bounds: Ints, slots: int) -> tuple[Ints, int]:
    """Score of the questions that the weights decide in each slot, and the unit of these scores."""
    if not len(those.ties):
        return np.zeros(slots, dtype=np.int64), 1
    tightest = np.maximum.reduceat(bounds, those.first, axis=0)
    binding = np.add.reduceat(bounds == tightest[those.question], those.first, axis=0, dtype=np.int64)
    inside = those.ties + np.add.reduceat((D == 0) & (E == 0), those.first, dtype=np.int64)
    low, high = tightest[:, 0], -tightest[:, 1]
    first, last = np.maximum(low, 0), np.minimum(high, slots - 1)
    at_low = inside + binding[:, 0] * (low == first) + binding[:, 1] * (high == first)
    at_high = inside + binding[:, 0] * (low == last) + binding[:, 1] * (high == last)
    held = first <= last
    spans = Spans(np.flatnonzero(held), first[held], last[held], at_low[held], inside[held], at_high[held])
    unit = spans.common_denominator
    copies = those.copies[None, held]
    dtype = np.int64 if unit * int(copies.sum()) < 2**61 else object
    return sum_over_slots(spans, copies.astype(dtype), unit, slots)[0, 0], unit


# Points that are scored at once.
BATCH = 256


def grid_search(panel: Panel, weights: Sequence[Fraction] = PAPER_GRID) -> PanelOptimum:
    """Find the best weights of a grid, as the paper does.

    Parameters
    ----------
    panel : Panel
        The models.
    weights : sequence of Fraction
        The grid; by default the paper's 25 points.

    Returns
    -------
    PanelOptimum
        The most accurate combination; of equally good ones, the one with the smallest total weight.

    Examples
    --------
    >>> import swaplaw as sl
    >>> grid_search(sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large"])).accuracy
    Fraction(81, 100)
    """
    size = len(panel.indices)
    best = PanelOptimum((Fraction(1), *[Fraction(0)] * (size - 1)), panel.accuracies[0])
    positive = [weight for weight in weights if weight]
    for number in range(1, size):
        for places in combinations(range(1, size), number):
            found = _best_of(panel, places, positive)
            best = min(best, found, key=lambda one: (-one.accuracy, one.total, one.weights))
    return best


def _best_of(panel: Panel, places: tuple[int, ...], weights: Sequence[Fraction]) -> PanelOptimum:
    """Find the best weights of the grid at which exactly these secondaries take part."""
    those = arrangement(panel.tally, [panel.indices[place] for place in (0, *places)], panel.common)
    scale = lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * scale) for weight in weights]
    best, at = Fraction(-1), (0,) * len(places)
    combined = combinations_of(whole, repeat=len(places))
    while points := list(islice(combined, BATCH)):
        scores = those.scores(np.array([(scale, *point) for point in points]).T)
        for score, point in zip(scores, points, strict=True):
            if score > best or (score == best and sum(point) < sum(at)):
                best, at = score, point
    spread = [Fraction(0)] * (len(panel.indices) - 1)
    for place, weight in zip(places, at, strict=True):
        spread[place - 1] = Fraction(weight, scale)
    fragile = bool(len(those.around((scale, *at)).levels))
    return PanelOptimum((Fraction(1), *spread), best / panel.n, fragile)
