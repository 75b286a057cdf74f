"""Figures over the weight: exact lift curves, and mean lift with its interquartile range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from swaplaw.law.curve import Curve
from swaplaw.law.weights import DEFAULT_WEIGHT, PAPER_GRID
from swaplaw.report.plots.style import LINE_SYMBOL, MUTED, altair, bands, base, colour, dash, finish, signed, zero_line

LEAST, MOST = PAPER_GRID[0], PAPER_GRID[-1]
_TICKS = tuple(
    Fraction(*each) for each in ((1, 24), (1, 12), (1, 6), (1, 3), (2, 3), (1, 1), (2, 1), (4, 1), (8, 1), (24, 1))
)


@dataclass(frozen=True)
class Spread:
    """Lifts of many pairs at each weight, in percentage points."""

    title: str
    weights: Sequence[Fraction]
    mean: Sequence[float]
    low: Sequence[float]
    """First quartile."""
    high: Sequence[float]
    """Third quartile."""


def _weight_axis(field: str = "x") -> Any:
    """Weights on a logarithmic axis, labelled as the fractions they are."""
    alt = altair()
    cases = " : ".join(f"abs(datum.value - {float(tick)!r}) < 1e-6 ? '{tick}'" for tick in _TICKS)
    axis = alt.Axis(values=[float(tick) for tick in _TICKS], labelExpr=f"{cases} : ''", grid=True)
    scale = alt.Scale(type="log", base=2, domain=[float(LEAST), float(MOST)], nice=False)
    return alt.X(f"{field}:Q", title="weight of the secondary, x (the primary carries 1)", scale=scale, axis=axis)


def _lift_axis(field: str = "y") -> Any:
    alt = altair()
    return alt.Y(f"{field}:Q", title="lift (pp)", axis=signed())


def steps(curve: Curve) -> list[dict[str, float]]:
    """The exact curve between the smallest and the largest weight of the grid, as corners of its steps."""
    corners = []
    for piece in curve.pieces:
        high = MOST if piece.high is None else piece.high
        if piece.is_point or high <= LEAST or piece.low >= MOST:
            continue
        lift = 100 * float(piece.lift)
        corners += [{"x": float(max(piece.low, LEAST)), "y": lift}, {"x": float(min(high, MOST)), "y": lift}]
    return corners


def curves_figure(
    curves: Sequence[tuple[str, Curve]],
    title: str,
    subtitle: str | Sequence[str] = "",
    *,
    plateau: tuple[Fraction, Fraction] | None = None,
) -> Any:
    """Draw exact lift curves, one a series; `plateau` shades a range of weights."""
    alt = altair()
    order = [name for name, _ in curves]
    rows = [
        {"series": name, "place": place, **corner}
        for name, curve in curves
        for place, corner in enumerate(steps(curve))
    ]
    lines = (
        base(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=_weight_axis(),
            y=_lift_axis(),
            order="place:O",
            color=colour("series", order, None, orient="bottom", columns=2, labelLimit=330, symbolSize=LINE_SYMBOL),
            strokeDash=dash("series", order),
        )
    )
    layers = [lines, zero_line(), *_operating_weight()]
    if plateau is not None:
        shade = base([{"low": float(plateau[0]), "high": float(plateau[1])}]).mark_rect(color="#E69F00", opacity=0.22)
        layers.insert(0, shade.encode(x=_weight_axis("low"), x2="high:Q"))
    return finish(alt.layer(*layers).properties(width=520, height=300), title, subtitle)


def exact_curve_figure(curve: Curve, subtitle: str | Sequence[str] = "") -> Any:
    """Draw one pair's exact curve with its best plateau shaded."""
    best = curve.best_plateau
    ends = max(best.low, LEAST), MOST if best.high is None else min(best.high, MOST)
    plateau = ends if best.lift > 0 and ends[0] < ends[1] else None
    title = f"{curve.primary} with {curve.secondary}: lift at every weight"
    return curves_figure([("exact lift", curve)], title, subtitle, plateau=plateau)


def spread_figure(spreads: Sequence[Spread], title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Draw mean lift over pairs against the weight, with the interquartile range shaded."""
    alt = altair()
    order = [spread.title for spread in spreads]
    rows = [
        {"series": spread.title, "x": float(weight), "y": mean, "low": low, "high": high}
        for spread in spreads
        for weight, mean, low, high in zip(spread.weights, spread.mean, spread.low, spread.high, strict=True)
    ]
    legend = {"orient": "bottom", "labelLimit": 330, "symbolSize": LINE_SYMBOL, "symbolType": "stroke"}
    hue = colour("series", order, "Mean of", **legend)
    chart = base(rows).encode(x=_weight_axis())
    line = {"strokeWidth": 2, "point": alt.OverlayMarkDef(size=24)}
    lines = chart.mark_line(**line).encode(y=_lift_axis(), color=hue, strokeDash=dash("series", order, "Mean of"))
    shaded = bands(rows, "series", order, x=_weight_axis(), y=_lift_axis("low"), y2="high:Q")
    layers = alt.layer(*shaded, lines, zero_line(), *_operating_weight())
    return finish(layers.properties(width=520, height=320), title, subtitle)


def _operating_weight() -> list[Any]:
    """Mark the 40:60 split."""
    alt = altair()
    place = base([{"x": float(DEFAULT_WEIGHT), "text": "40:60"}]).encode(x=_weight_axis())
    rule = place.mark_rule(color=MUTED, strokeDash=[2, 3])
    label = place.mark_text(align="center", dy=-7, color=MUTED, fontSize=11).encode(text="text:N", y=alt.value(0))
    return [rule, label]
