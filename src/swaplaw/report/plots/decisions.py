"""Figures to decide by: what makes a lift, accuracy against calls, and how each model votes on each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swaplaw.law.pair import KINDS, Outcome
from swaplaw.report.plots.style import COLOURS, altair, base, colour, finish, shape, signed, zero_line
from swaplaw.votes.summary import summary
from swaplaw.votes.tally import Tally

MOST_COLUMNS = 300
SERIES = ("other points", "on the front")


def contributions_figure(
    outcomes: Sequence[tuple[str, Outcome]], title: str, subtitle: str | Sequence[str] = ""
) -> Any:
    """Draw lift at a weight as its four signed contributions, Eq. (exact), one bar a name; a tick marks the sum."""
    alt = altair()
    names = [name for name, _ in outcomes]
    rows = [
        {"name": name, "kind": kind, "points": 100 * float(value)}
        for name, outcome in outcomes
        for kind, value in zip(KINDS, contributions(outcome), strict=True)
    ]
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=320))
    x = alt.X("points:Q", title="contribution to lift (pp)", axis=signed(), stack="zero")
    bars = base(rows).mark_bar(size=16).encode(x=x, y=y, color=colour("kind", KINDS, None, orient="bottom"))
    sums = [{"name": name, "points": 100 * float(outcome.lift)} for name, outcome in outcomes]
    ticks = base(sums).mark_tick(thickness=3, size=24, color=COLOURS[-1]).encode(x="points:Q", y=y)
    layered = alt.layer(bars, ticks, zero_line("x")).properties(width=420, height=max(60, 30 * len(names)))
    return finish(layered, title, subtitle)


def contributions(outcome: Outcome) -> tuple[Any, ...]:
    """The four contributions in the order of `KINDS`, signed: they add up to lift."""
    return outcome.rescued, -outcome.damaged, outcome.repaired, -outcome.corrupted


def front_figure(points: Sequence[dict[str, Any]], priced: bool, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Draw held-out accuracy against calls (or cost, with prices), the Pareto front, and a ring round what is `now`."""
    alt = altair()
    rows = [
        {"x": point["cost"] if priced else point["calls"], "accuracy": 100 * point["accuracy"], "name": point["name"]}
        | {"series": SERIES[point["on_front"]], "now": point.get("now", False)}
        for point in points
    ]
    chart = base(rows).encode(
        x=alt.X("x:Q", title="cost of a question" if priced else "calls per question", scale=alt.Scale(type="log")),
        y=alt.Y("accuracy:Q", title="held-out accuracy (%)", scale=alt.Scale(zero=False)),
    )
    dots = chart.mark_point(filled=True, size=60, opacity=1).encode(
        color=colour("series", SERIES, None, orient="bottom", labelLimit=240),
        shape=shape("series", SERIES),
        tooltip="name:N",
    )
    line = chart.transform_filter(alt.datum.series == SERIES[1]).mark_line(color=COLOURS[1], interpolate="step-after")
    ring = chart.transform_filter(alt.datum.now).mark_point(size=220, opacity=1, color=COLOURS[-1])
    return finish(alt.layer(line, dots, ring).properties(width=420, height=280), title, subtitle)


def vote_map(tally: Tally, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Draw gold's share of each model's votes on each question: models by accuracy, questions by difficulty.

    Of many questions, a column stands for several that are about as hard: what no eye could tell apart is not drawn.
    """
    alt = altair()
    shares = np.stack([tally.right_votes(model) / np.maximum(votes, 1) for model, votes in enumerate(tally.votes)])
    hardness = np.argsort(-shares.sum(axis=0) / tally.answered.sum(axis=0), kind="stable")
    starts = np.linspace(0, len(hardness), min(len(hardness), MOST_COLUMNS), endpoint=False).astype(np.int64)
    sums, asked = (
        np.add.reduceat(values[:, hardness], starts, axis=1) for values in (shares, tally.answered.astype(np.int64))
    )
    order = [row.model for row in summary(tally)]
    rows = [
        {"model": model, "question": place, "share": float(total / number) if number else None}
        for model in order
        for row in [tally.index(model)]
        for place, (total, number) in enumerate(zip(sums[row], asked[row], strict=True))
    ]
    cells = (
        base(rows)
        .mark_rect()
        .encode(
            x=alt.X("question:O", title="questions, the easiest first", axis=alt.Axis(labels=False, ticks=False)),
            y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
            color=alt.Color(
                "share:Q",
                title="gold's share",
                scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                legend=alt.Legend(format=".0%"),
            ),
        )
    )
    return finish(cells.properties(width=560, height=max(60, 24 * len(order))), title, subtitle)
