"""The paper's way with panels: every combination of the rational weights of its grid, on all secondaries.

For reproduction, and to hold certified weights against. As for pairs, 0 is always a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import lcm

import numpy as np

from swaplaw.arrangement import arrangement
from swaplaw.certify import PanelOptimum
from swaplaw.panel import Panel
from swaplaw.weights import PAPER_GRID

# Points that are scored at once.
BATCH = 256


def grid_search(panel: Panel, weights: Sequence[Fraction] = PAPER_GRID) -> PanelOptimum:
    """Find the best weights of the grid; equally good ones: the smallest total weight of secondaries."""
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
    combined = product(whole, repeat=len(places))
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
