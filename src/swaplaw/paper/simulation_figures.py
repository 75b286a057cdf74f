"""The paper's Figures theory and decomp: the simulated world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from swaplaw.paper.simulation import Point, Theory
from swaplaw.report.plots.style import (
    LINE_SYMBOL,
    PERCENT_POINTS,
    altair,
    bands,
    base,
    colour,
    dash,
    finish,
    signed,
    zero_line,
)

WIDTH, HEIGHT = 235, 230


def theory_figure(theory: Theory) -> Any:
    """Draw accuracy and lift against collective accuracy, and lift against the gap and against phi_adj."""
    alt = altair()
    first = theory.by_collective[0].world
    gap, mid, low = first.gap, theory.by_gap[0].world.collective, theory.by_overlap[0].world.collective
    fixed = f"mean gap {gap:.2f}"
    panels = [
        _panel(theory, theory.by_collective, _collective, "Accuracy of the vote", "mean rate m (θ)", fixed, lift=False),
        _panel(theory, theory.by_collective, _collective, "Lift over the primary", "mean rate m (θ)", fixed),
        _panel(
            theory, theory.by_gap, lambda point: point.world.gap, "Lift over the primary", "gap Δ (θ)", f"m = {mid:.2f}"
        ),
        _panel(
            theory,
            [point for point in theory.by_overlap if point.phi_adj is not None],
            lambda point: point.phi_adj,
            "Lift over the primary",
            "measured φ adjusted",
            f"m = {low:.2f}, gap {gap:.2f}",
        ),
    ]
    return finish(
        alt.hconcat(*panels, spacing=18),
        "The finite weighted vote in a question-clustered world",
        f"Monte Carlo, {theory.by_collective[0].trials:,} questions a point; bands are ±1.96 standard errors",
    )


def decomposition_figure(theory: Theory, split: str = "12:12") -> Any:
    """Draw what repeated sampling gives and what a second model adds to it, against collective accuracy."""
    alt = altair()
    names = ["self-consistency: the primary repeated", f"diversity: the vote at {split} on top", "both"]
    rows = []
    for point in theory.by_collective:
        own, lift = point.self_consistency.value, point.lifts[split].value
        rows += [
            {"x": point.world.collective, "gain": 100 * gain, "part": name}
            for name, gain in zip(names, (own, lift, own + lift), strict=True)
        ]
    lines = (
        base(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title="mean rate m (θ)", scale=alt.Scale(nice=False)),
            y=alt.Y("gain:Q", title="gain over one sample of the primary (pp)", axis=signed()),
            color=colour("part", names, None, orient="bottom", columns=1, labelLimit=330, symbolSize=LINE_SYMBOL),
            strokeDash=dash("part", names),
        )
        .properties(width=480, height=280)
    )
    return finish(
        alt.layer(lines, zero_line()),
        "What repeating a model gives, and what a second one adds",
        f"Monte Carlo, {theory.by_collective[0].trials:,} questions a point, mean gap "
        f"{theory.by_collective[0].world.gap:.2f}",
    )


def _collective(point: Point) -> float:
    return point.world.collective


def _panel(
    theory: Theory,
    points: Sequence[Point],
    place: Callable[[Point], float | None],
    what: str,
    across: str,
    fixed: str,
    *,
    lift: bool = True,
) -> Any:
    alt = altair()
    splits = [split for split in theory.splits if not (lift and split.startswith("0:"))]
    rows = []
    for point in points:
        for split in splits:
            estimate = point.lifts[split]
            height = 100 * (estimate.value if lift else estimate.value + point.accuracy.value)
            band = 0.0 if not lift else 196 * estimate.error
            rows.append({"x": place(point), "y": height, "low": height - band, "high": height + band, "split": split})
    unit = "pp" if lift else "%"
    y = alt.Y("y:Q", title=f"{what} ({unit})", axis=signed() if lift else alt.Axis())
    x = alt.X("x:Q", title=f"{across}, {fixed}", scale=alt.Scale(nice=False, zero=False))
    hue = colour("split", list(theory.splits), "secondary:primary", orient="bottom", symbolSize=LINE_SYMBOL)
    chart = base(rows)
    lines = chart.mark_line(strokeWidth=2).encode(
        x=x,
        y=y,
        color=hue,
        strokeDash=dash("split", list(theory.splits), "secondary:primary"),
        tooltip=["split:N", alt.Tooltip("x:Q", format=".2f"), alt.Tooltip("y:Q", format=PERCENT_POINTS)],
    )
    shaded = bands(rows, "split", theory.splits, x=x, y=alt.Y("low:Q"), y2="high:Q")
    layers = [*shaded, lines, zero_line()] if lift else [lines]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
