"""The values that the paper states of its simulation, beside ours, with the Monte Carlo error of both.

A statement holds when ours agrees up to the paper's rounding and the error of two simulations: ours at its number of
trials, the paper's at 15,000. Errors are standard errors, computed from the simulated votes; places where a curve
crosses zero have the error of its height divided by its slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, isfinite, nan, sqrt

import numpy as np

from swaplaw.paper.published import Comparison, published
from swaplaw.paper.simulation import TRIALS, Point, Simulated, Theory

Z = 1.96
"""Standard errors that two simulations may lie apart, for 95% of such comparisons."""

CHANCE = "simulated: one comparison in twenty lies farther apart than Monte Carlo error allows"


def stated_values(theory: Theory) -> list[Comparison]:
    """Compare every value that Section 4 and Appendix C state of the simulation."""
    m = [point.world.collective for point in theory.by_collective]
    gaps = [point.world.gap for point in theory.by_gap]
    balanced, light, heavy = (_lifts(theory.by_collective, split) for split in ("12:12", "6:18", "18:6"))
    balanced_gap, light_gap, heavy_gap = (_lifts(theory.by_gap, split) for split in ("12:12", "6:18", "18:6"))
    gain = [point.self_consistency for point in theory.by_collective]
    pooled = [split for split in theory.splits if not split.startswith("0:")]
    best_of_all = [max((point.lifts[split] for split in pooled), key=_value) for point in theory.by_collective]
    middle = min(theory.by_collective, key=lambda point: abs(point.world.collective - 0.5))
    both_turn = max((_crossing(gaps, lifts) for lifts in (light_gap, balanced_gap)), key=_value)
    ours = {
        "phi_adj_mid": Simulated(middle.phi_adj or 0.0, 1 / sqrt(middle.trials)),
        "peak_balanced": _percent(max(balanced, key=_value)),
        "peak_balanced_at": _place_of_peak(m, balanced),
        "peak_light": _percent(max(light, key=_value)),
        "harmful_below": _crossing(m, best_of_all),
        "worst_balanced": _percent(min(balanced, key=_value)),
        "heavy_best": _percent(max(heavy, key=_value)),
        "equals_heavy": _percent(heavy_gap[0]),
        "heavy_turns": _crossing(gaps, heavy_gap),
        "heavy_widest": _percent(heavy_gap[-1]),
        "light_turns": both_turn,
        "balanced_widest": _percent(balanced_gap[-1]),
        "complementary": _percent(_at_dependence(theory.by_overlap, -0.3)),
        "dependent": _percent(_at_dependence(theory.by_overlap, 0.5)),
        "nested": _percent(_at_dependence(theory.by_overlap, 0.8)),
        "heavy_anywhere": _percent(max(_lifts(theory.by_overlap, "18:6"), key=_value)),
        "foot": _percent(gain[0]),
        "top": _percent(gain[-1]),
        "gain_turns": _crossing(m, gain),
    }
    trials = middle.trials
    return [_compare(name, estimate, trials) for name, estimate in ours.items()]


def _compare(name: str, estimate: Simulated, trials: int) -> Comparison:
    if not isfinite(estimate.value):
        return Comparison(published().simulation[name], None)
    error_of_paper = estimate.error * sqrt(trials / TRIALS)
    allowed = Z * hypot(estimate.error, error_of_paper)
    return Comparison(published().simulation[name], estimate.value, allowed, reason=CHANCE)


def _value(estimate: Simulated) -> float:
    # A curve that never crosses zero has no place to compare.
    return -inf if estimate.value != estimate.value else estimate.value


def _percent(estimate: Simulated) -> Simulated:
    return Simulated(100 * estimate.value, 100 * estimate.error)


def _lifts(points: Sequence[Point], split: str) -> list[Simulated]:
    return [point.lifts[split] for point in points]


def _crossing(places: Sequence[float], heights: Sequence[Simulated]) -> Simulated:
    """Where a curve crosses zero: the root of a line through the neighbourhood, so that no single point decides."""
    values = np.array([height.value for height in heights])
    # The last change of sign between the curve's lowest and highest points; curves touch zero at their ends.
    low, high = sorted((int(values.argmin()), int(values.argmax())))
    signs = np.sign(values[low : high + 1])
    changes = np.flatnonzero(signs[1:] * signs[:-1] <= 0)
    if not len(changes):
        return Simulated(nan, inf)
    middle = low + int(np.median(changes))
    near = slice(max(middle - 2, 0), middle + 4)
    slope, height = np.polyfit(np.array(places[near]), values[near], 1)
    error = float(np.mean([height.error for height in heights[near]]))
    return Simulated(float(-height / slope), error / abs(float(slope)))


def _place_of_peak(places: Sequence[float], heights: Sequence[Simulated]) -> Simulated:
    """Where a curve is highest; its error is half the stretch that the Monte Carlo error cannot tell from the top."""
    top = max(heights, key=_value)
    level = [
        place
        for place, height in zip(places, heights, strict=True)
        if top.value - height.value <= Z * hypot(top.error, height.error)
    ]
    return Simulated((level[0] + level[-1]) / 2, (level[-1] - level[0]) / 2 / Z)


def _at_dependence(points: Sequence[Point], phi_adj: float) -> Simulated:
    """Lift of 12:12 at a measured phi_adj, between the two nearest points of the sweep (or at its end)."""
    ordered = sorted(points, key=lambda point: point.phi_adj or 0.0)
    measured = [point.phi_adj or 0.0 for point in ordered]
    lifts = _lifts(ordered, "12:12")
    value, error = (
        float(np.interp(phi_adj, measured, [getattr(lift, part) for lift in lifts])) for part in ("value", "error")
    )
    return Simulated(value, error)
