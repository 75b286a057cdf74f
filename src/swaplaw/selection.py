"""How sure can we be of the best of many? A max-statistic bootstrap over all candidates at once.

The best of many candidates looks better than it is, because it was picked for looking good. So its gain is compared
not with its own sampling noise but with the largest noise that any candidate shows: each bootstrap draw of questions
(or clusters) gives every candidate's studentised deviation from its own mean, and the largest one is kept (White's
reality check, 2000, studentised as by Hansen, 2005, and without leaving poor candidates out, which is cautious).
Candidates are all pairs at *every* weight; those that change nothing anywhere count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swaplaw.choice import Choice, Scorer, Track
from swaplaw.effect import LEVEL, standard_errors, unit_totals
from swaplaw.resample import Resampler
from swaplaw.terms import Floats

REPLICATES = 2_000


@dataclass(frozen=True)
class Selection:
    """The best candidate's gain, with an interval and p-value that account for all that it was picked from."""

    lift: float
    standard_error: float
    lo: float
    hi: float
    level: float
    p: float
    pairs: int
    """Pairs compared."""
    candidates: int
    """Pairs times the stretches of weights on which their votes differ."""
    replicates: int
    largest: Floats = field(repr=False)
    """The largest studentised deviation of each draw."""

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "lift": self.lift,
            "standard_error": self.standard_error,
            "interval": [self.lo, self.hi],
            "level": self.level,
            "p": self.p,
            "pairs": self.pairs,
            "candidates": self.candidates,
            "replicates": self.replicates,
        }


def best_of_many(
    scorer: Scorer,
    choice: Choice,
    baseline: Choice,
    pairs: Sequence[tuple[int, int]],
    draws: Resampler,
    *,
    level: float = LEVEL,
    track: Track = iter,
) -> Selection:
    """Judge a choice that was picked from these pairs at every weight, against one baseline."""
    base = scorer.score(baseline)
    counts = np.concatenate(list(draws.batches())).astype(np.float32)
    sizes = np.bincount(draws.member).astype(np.float32)
    drawn = counts @ sizes
    largest, widest = np.full(len(counts), -np.inf), np.zeros(len(counts))
    candidates = 0
    for a, b in track(pairs):
        gains = _distinct(scorer.sheet(a, b), base)
        candidates += len(gains)
        errors = standard_errors(gains, draws.member)
        means = gains.mean(axis=1)
        totals = unit_totals(gains, draws.member).astype(np.float32)
        deviation = (counts @ totals.T / drawn[:, None] - means) / errors
        largest = np.maximum(largest, deviation.max(axis=1))
        widest = np.maximum(widest, np.abs(deviation).max(axis=1))
    gains = (scorer.score(choice) - base)[None]
    lift, error = float(gains.mean()), float(standard_errors(gains, draws.member)[0])
    reach = float(np.quantile(widest, level)) * error
    p = (1 + int(np.sum(largest >= lift / error))) / (1 + len(largest))
    return Selection(
        lift, error, lift - reach, lift + reach, level, p, len(pairs), candidates, len(counts), largest
    )


def _distinct(sheet: Any, base: Floats) -> Floats:
    """Gains over the baseline on each stretch of weights that is safe to deploy, equal ones once."""
    rows = sheet.values[sheet.open]
    changed = np.ones(len(rows), dtype=bool)
    changed[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    gains: Floats = rows[changed] / sheet.scale - base
    return gains.astype(np.float64)
