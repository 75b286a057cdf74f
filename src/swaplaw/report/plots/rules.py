"""What every rule for combining a fleet gains on questions that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swaplaw.decide.combine import Combination
from swaplaw.report.plots.style import COLOURS, altair, base, finish, signed, zero_line


@dataclass(frozen=True)
class RuleGain:
    """A rule's gain over the best single model, in percentage points."""

    rule: str
    gain: float
    low: float
    high: float
    in_sample: float


def rules_figure(found: Combination) -> Any:
    """Draw each rule's held-out gain with its interval, and its in-sample gain as a ring."""
    gains = [
        RuleGain(one.rule.name, *(100 * x for x in (one.gain.mean, one.gain.low, one.gain.high, one.in_sample.mean)))
        for one in found.rules
    ]
    title = f"{found.tally.dataset}: ways to combine {len(found.tally.models)} models"
    words = f"{len(found.tally.questions):,} questions; the best single model is {found.baseline}"
    return gains_figure(gains, title, words)


def gains_figure(gains: Sequence[RuleGain], title: str, words: str) -> Any:
    """Draw gains in the order given."""
    alt = altair()
    y = alt.Y("rule:N", sort=[one.rule for one in gains], title=None, axis=alt.Axis(labelLimit=320))
    axis = alt.X("low:Q", title="gain over the best single model (pp)", axis=signed())
    chart = base([vars(one) for one in gains])
    spans = chart.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(x=axis, x2="high:Q", y=y)
    dots = chart.mark_point(filled=True, size=70, opacity=1, color=COLOURS[0]).encode(x="gain:Q", y=y)
    rings = chart.mark_point(size=70, opacity=1, color=COLOURS[1]).encode(x="in_sample:Q", y=y)
    layered = alt.layer(zero_line("x"), spans, dots, rings).properties(width=420, height=max(60, 26 * len(gains)))
    subtitle = [words, "dots with 95% intervals: held out; rings: on the questions that chose the weights"]
    return finish(layered, title, subtitle)
