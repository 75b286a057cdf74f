"""Figures of pairs: heat map of dependence, predicted against observed lift, lift against the gap, forest of lifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swaplaw.report.plots.style import (
    COLOURS,
    INK,
    MUTED,
    PERCENT_POINTS,
    altair,
    base,
    colour,
    finish,
    shape,
    signed,
    zero_line,
)


@dataclass(frozen=True)
class Scatter:
    """One panel: a pair a point, both numbers in percentage points."""

    title: str
    x: Sequence[float]
    y: Sequence[float]
    names: Sequence[str]
    note: str = ""
    hue: int = 0
    """Which of the fixed colours; a dataset keeps its own from figure to figure."""


@dataclass(frozen=True)
class Lift:
    """One row of a forest: a lift with its interval, in percentage points."""

    name: str
    lift: float
    low: float
    high: float
    in_sample: float | None = field(default=None, kw_only=True)
    """The same on the questions that chose, drawn as a ring."""
    sure: bool | None = field(default=None, kw_only=True)
    """Whether it is told apart from zero; by default, where its interval does."""

    @property
    def kind(self) -> int:
        """Which of the kinds that a forest tells apart: up, down, not sure."""
        sure = self.low > 0 or self.high < 0 if self.sure is None else self.sure
        return 2 if not sure else int(self.lift < 0)


def heat_map(
    values: Mapping[tuple[str, str], float | None],
    order: Sequence[str],
    label: str,
    title: str,
    subtitle: str | Sequence[str] = "",
) -> Any:
    """Draw one number per pair of models; models in the given order, undefined pairs marked with a dash."""
    alt = altair()
    rows = []
    for (first, second), value in values.items():
        column, row = sorted((first, second), key=order.index)
        rows.append({"column": column, "row": row, "value": value, "text": "–" if value is None else f"{value:.2f}"})
    known = [value for value in values.values() if value is not None] or [0.0, 1.0]
    middle = (min(known) + max(known)) / 2
    chart = base(rows).encode(
        x=alt.X("column:N", sort=list(order), title=None, axis=alt.Axis(labelAngle=-40, orient="bottom")),
        y=alt.Y("row:N", sort=list(order), title=None),
    )
    cells = chart.mark_rect(stroke="white", strokeWidth=2).encode(
        color=alt.Color(
            "value:Q",
            title=label,
            scale=alt.Scale(scheme="viridis", domain=[min(known), max(known)], reverse=True),
            legend=alt.Legend(format=".2f", gradientLength=160),
        )
    )
    texts = chart.mark_text(fontSize=11).encode(
        text="text:N",
        color=alt.condition(f"datum.value !== null && datum.value > {middle}", alt.value("white"), alt.value(INK)),
    )
    return finish(alt.layer(cells, texts).properties(width=420, height=400), title, subtitle)


def scatter_figure(
    panels: Sequence[Scatter],
    across: str,
    up: str,
    title: str,
    subtitle: str | Sequence[str] = "",
    *,
    identity: bool = True,
) -> Any:
    """Draw panels side by side; with `identity` both axes share one range and the line of perfect prediction."""
    alt = altair()
    # One panel alone has to be as wide as its title.
    side = 250 if len(panels) > 1 else 380
    drawn = [_scatter(panel, across, up, identity, side) for panel in panels]
    return finish(alt.hconcat(*drawn, spacing=28), title, subtitle)


def _scatter(panel: Scatter, across: str, up: str, identity: bool, side: int) -> Any:
    alt = altair()
    rows = [{"x": x, "y": y, "name": name} for x, y, name in zip(panel.x, panel.y, panel.names, strict=True)]
    low, high = _range([*panel.x, *panel.y, 0.0])
    scale = alt.Scale(domain=[low, high], nice=False) if identity else alt.Scale()
    points = (
        base(rows)
        .mark_point(size=46, filled=True, opacity=0.75, color=COLOURS[panel.hue % len(COLOURS)])
        .encode(
            x=alt.X("x:Q", title=across, scale=scale, axis=signed() if identity else alt.Axis()),
            # A label that sticks out at the top would push its panel's title above the others.
            y=alt.Y("y:Q", title=up, scale=scale, axis=signed(labelBound=True)),
            tooltip=["name:N", alt.Tooltip("x:Q", format=PERCENT_POINTS), alt.Tooltip("y:Q", format=PERCENT_POINTS)],
        )
    )
    layers = [points, zero_line()]
    if identity:
        ends = [{"x": low, "y": low}, {"x": high, "y": high}]
        layers.append(base(ends).mark_line(color=MUTED, strokeDash=[5, 4], strokeWidth=1).encode(x="x:Q", y="y:Q"))
    heading = alt.TitleParams(panel.title, subtitle=panel.note, fontSize=12, anchor="start", offset=6)
    return alt.layer(*layers).properties(width=side, height=side, title=heading)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 1.0
    return low - room, high + room


def gap_figure(panels: Sequence[Scatter], title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Draw observed lift against the accuracy gap, all datasets in one panel, told apart by colour and shape."""
    alt = altair()
    order = [panel.title for panel in panels]
    rows = [
        {"x": x, "y": y, "name": name, "dataset": panel.title}
        for panel in panels
        for x, y, name in zip(panel.x, panel.y, panel.names, strict=True)
    ]
    points = (
        base(rows)
        .mark_point(size=46, filled=True, opacity=0.75)
        .encode(
            x=alt.X("x:Q", title="accuracy gap Δ (pp)"),
            y=alt.Y("y:Q", title="observed lift at 40:60 (pp)", axis=signed()),
            color=colour("dataset", order, None, orient="bottom", labelLimit=240),
            shape=shape("dataset", order),
            tooltip=["name:N", "dataset:N", alt.Tooltip("y:Q", format=PERCENT_POINTS)],
        )
        .properties(width=480, height=320)
    )
    return finish(alt.layer(points, zero_line()), title, subtitle)


def forest_figure(
    lifts: Sequence[Lift],
    title: str,
    subtitle: str | Sequence[str] = "",
    *,
    axis: str = "lift (pp)",
    kinds: Sequence[str] = ("helps", "harms", "interval reaches zero"),
) -> Any:
    """Draw lifts with their intervals, largest first; colour tells gain, harm and doubt apart."""
    alt = altair()
    ordered = sorted(lifts, key=lambda each: -each.lift)
    rows = [{**vars(each), "kind": kinds[each.kind]} for each in ordered]
    y = alt.Y("name:N", sort=[each.name for each in ordered], title=None, axis=alt.Axis(labelLimit=320))
    shown = dict(zip(reversed(kinds), (MUTED, COLOURS[1], COLOURS[0]), strict=True))
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    hue = alt.Color("kind:N", title=None, sort=list(kinds), scale=scale, legend=alt.Legend(orient="bottom"))
    chart = base(rows).encode(y=y, color=hue)
    bars = chart.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=axis, axis=signed()), x2="high:Q")
    dots = chart.mark_point(filled=True, size=55, opacity=1).encode(x="lift:Q", shape=shape("kind", list(shown)))
    rings = base([row for row in rows if row["in_sample"] is not None]).mark_point(size=55, opacity=1, color=COLOURS[4])
    layers = bars, dots, rings.encode(x="in_sample:Q", y=y), zero_line("x")
    layered = alt.layer(*layers).properties(width=420, height=max(60, 20 * len(rows)))
    return finish(layered, title, subtitle)
