"""What every rule for combining a fleet gains on questions that it has not seen."""

from __future__ import annotations

from typing import Any

from swaplaw.decide.combine import Combination
from swaplaw.report.plots.style import COLOURS, altair, base, finish, signed, zero_line


def rules_figure(found: Combination) -> Any:
    """Draw each rule's held-out gain with its interval, and its in-sample gain as a ring."""
    alt = altair()
    order = [one.rule.name for one in found.rules]
    rows = [
        {
            "rule": one.rule.name,
            "gain": 100 * one.gain.mean,
            "low": 100 * one.gain.low,
            "high": 100 * one.gain.high,
            "in_sample": 100 * one.in_sample.mean,
        }
        for one in found.rules
    ]
    y = alt.Y("rule:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    axis = alt.X("low:Q", title="gain over the best single model (pp)", axis=signed())
    chart = base(rows)
    spans = chart.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(x=axis, x2="high:Q", y=y)
    dots = chart.mark_point(filled=True, size=70, opacity=1, color=COLOURS[0]).encode(x="gain:Q", y=y)
    rings = chart.mark_point(size=70, opacity=1, color=COLOURS[1]).encode(x="in_sample:Q", y=y)
    layered = alt.layer(zero_line("x"), spans, dots, rings).properties(width=420, height=max(60, 26 * len(order)))
    subtitle = [
        f"{len(found.tally.questions):,} questions; the best single model is {found.baseline}",
        "dots with 95% intervals: held out; rings: on the questions that chose the weights",
    ]
    return finish(layered, f"{found.tally.dataset}: ways to combine {len(found.tally.models)} models", subtitle)
