"""What a screen was worth where it could be checked: on votes that can be pooled after all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw.evidence.association import over_models, rho
from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.predict.law_file import Law
    from swaplaw.predict.screen import Screen

MOST_MODELS = 40
"""Their 780 pairs are pooled in seconds and tell a screen's worth well enough."""
WORTHLESS = 0.3
"""A rank correlation below this is as good as none: the first pairs are hardly better than any."""


@dataclass(frozen=True)
class Reliability:
    """Rank correlation of a screen with the lift that pooling found, with its interval over models."""

    rho: float | None
    low: float | None
    high: float | None
    note: str
    gain: int | None = None
    """Pairs that gain; None where nothing was pooled."""
    predicted_gain: int | None = None
    """Of the same pairs, those that were predicted to gain."""
    pairs: int | None = None
    """Pairs that were checked."""

    @property
    def is_worthless(self) -> bool:
        """Whether the order of the screen says next to nothing."""
        return self.rho is None or self.rho < WORTHLESS

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {name: getattr(self, name) for name in ("rho", "low", "high", "note", "gain", "predicted_gain", "pairs")}


def with_reliability(found: Screen, tally: Tally, weight: str | float | Fraction = DEFAULT_WEIGHT) -> Screen:
    """Pool the votes that were screened, and say how well the screen foretold the lift.

    Of a large fleet, the pairs of `MOST_MODELS` models are pooled, drawn from a fixed seed.

    Parameters
    ----------
    found : Screen
        What `screen` gave for these votes.
    tally : Tally
        The votes.
    weight : str, float or Fraction
        The weight of the secondary.

    Returns
    -------
    Screen
        The same with its `reliability`.
    """
    x = as_weight(weight)
    many = len(found.models)
    drawn = np.random.default_rng(0).permutation(many)[:MOST_MODELS]
    checked_pairs = np.isin(found.primary, drawn) & np.isin(found.secondary, drawn)
    first, second, told = (each[checked_pairs] for each in (found.primary, found.secondary, found.predicted))
    lift = np.array([float(Pair(tally, a, b).at(x).lift) for a, b in zip(first.tolist(), second.tolist(), strict=True)])
    worth = float(rho(told, lift))
    low, high, _ = over_models(told, lift, first, second)
    gain, predicted = int((lift > 0).sum()), int((told > 0).sum())
    known, least, most = (None if isnan(each) else each for each in (worth, low, high))
    checked = Reliability(known, least, most, "", gain, predicted, len(lift))
    return replace(found, reliability=replace(checked, note=_note(checked)))


def of_law(law: Law) -> Reliability:
    """What a law was worth on the votes that it was calibrated on, where nothing else can be checked."""
    ends = law.intervals.get("rho")
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    worth = law.fit.get("rho")
    shown = "undefined" if worth is None else f"{worth:.2f}"
    where = law.provenance.get("dataset")
    note = f"rank correlation with the lift {shown} on {where}, where the law was calibrated; elsewhere it may be lower"
    return Reliability(worth, low, high, note)


def _note(found: Reliability) -> str:
    counted = f"{found.predicted_gain} of {found.pairs} pairs are predicted to gain, {found.gain} do"
    if found.rho is None:
        return f"{counted}; all predictions or all lifts are equal, so there is nothing to rank"
    span = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}] over models"
    verdict = "use it to choose what to pool first"
    if found.is_worthless:
        verdict = "do not choose pairs by this screen"
    elif found.low is None or found.low < 0:
        verdict = "it ranks these pairs, but may be worthless for other models"
    return f"{counted}; rank correlation with the lift {found.rho:.2f}{span}: {verdict}"
