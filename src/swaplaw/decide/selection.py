"""How sure can we be of the best of many? A max-statistic bootstrap over all candidates at once.

The best of many candidates looks better than it is, because it was picked for looking good. So its gain is compared
not with its own sampling noise but with the largest noise that any candidate shows: each bootstrap draw of questions
(or clusters) gives every candidate's studentised deviation from its own mean, and the largest one is kept (White's
reality check, 2000, studentised as by Hansen, 2005, and without leaving poor candidates out, which is cautious).
Candidates are all pairs at *every* weight that is safe to deploy; neighbouring weights with the same votes count once.
Panels count along the lines of weights on which they are chosen (see `lines`). A line of very many different votes is
represented by some of them, evenly spaced: neighbours differ in a question or two, so their deviations hardly do.

A held-out mean needs this too. It is right on average, but where one candidate looks best by luck on all folds it is
chosen on all of them, and held-out and in-sample gains are the same lucky number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import ALONE, Crew, Progress
from swaplaw.decide.choice import Choice, Scorer
from swaplaw.evidence.intervals import LEVEL, Effect, critical_of, effect, standard_errors
from swaplaw.evidence.resample import Resampler
from swaplaw.evidence.units import unit_totals
from swaplaw.law.mixtures import Line
from swaplaw.law.scoresheet import Scoresheet

MOST_VOTES = 64
"""Different votes that represent a panel's line; pairs count with all of theirs."""


@dataclass(frozen=True)
class Selection:
    """The noise of the noisiest of many candidates, in standard errors."""

    member: Ints = field(repr=False)
    """The resampling unit of each question."""
    pairs: int
    """Pairs compared."""
    candidates: int
    """Pairs times the stretches of weights on which their votes differ, and panels likewise."""
    largest: Floats = field(repr=False)
    """The largest deviation upwards of any candidate in each draw."""
    widest: Floats = field(repr=False)
    """The largest deviation either way."""
    panels: int = 0
    """Panels of three or more compared, besides."""
    panel_candidates: int = 0
    """How many of the candidates are panels at weights."""

    def critical(self, level: float = LEVEL) -> float:
        """Standard errors that no candidate's deviation exceeds, with probability `level`."""
        single = critical_of(self.member, level=level)
        return max(single, float(np.quantile(self.widest, level))) if self.candidates else single

    def effect(self, gains: Floats, *, level: float = LEVEL) -> Effect:
        """Estimate the mean of gains that were picked from the candidates, in sample or held out."""
        alone = effect(gains, self.member, level=level)
        p = (1 + int(np.sum(self.largest >= alone.mean / alone.standard_error))) / (1 + len(self.largest))
        return replace(alone, critical=self.critical(level), p=p)


def selection(
    scorer: Scorer,
    baseline: Choice,
    pairs: Sequence[tuple[int, int]],
    draws: Resampler,
    *,
    lines: Sequence[Line] = (),
    progress: Progress = iter,
    crew: Crew = ALONE,
) -> Selection:
    """Bootstrap the gains over a baseline of all pairs at every weight, and of panels along lines of weights."""
    counts = np.concatenate(list(draws.batches())).astype(np.float32)
    noise = _Noise(scorer, scorer.score(baseline), draws.member, counts)
    largest, widest = np.zeros(len(counts)), np.zeros(len(counts))
    candidates = [0, 0]
    shares = crew.split([Line(pair) for pair in pairs]) + crew.split(lines)
    for found in crew.share(_Noise.of, noise, shares, progress=progress):
        largest, widest = np.maximum(largest, found.largest), np.maximum(widest, found.widest)
        candidates[found.panels] += found.candidates
    panels = len({frozenset(line.members) for line in lines})
    return Selection(draws.member, len(pairs), sum(candidates), largest, widest, panels, candidates[1])


@dataclass(frozen=True)
class _Largest:
    """The largest deviations of some lines' candidates in each draw."""

    candidates: int
    panels: bool
    largest: Floats
    widest: Floats


@dataclass(frozen=True)
class _Noise:
    """What it takes to see how candidates deviate from their means."""

    scorer: Scorer
    base: Floats
    member: Ints
    counts: Floats
    """How often each unit is drawn: draws x units."""

    def of(self, lines: Sequence[Line]) -> _Largest:
        """The largest deviations along these lines, all of pairs or all of panels."""
        panels = len(lines[0].members) > 2
        drawn = self.counts @ np.bincount(self.member).astype(np.float32)
        largest, widest = np.zeros(len(self.counts)), np.zeros(len(self.counts))
        candidates = 0
        for line in lines:
            gains = _distinct_gains(self.scorer.along(line), self.base)
            if panels:
                gains = gains[_spaced(len(gains), MOST_VOTES)]
            candidates += len(gains)
            totals = unit_totals(gains, self.member).astype(np.float32)
            deviation = self.counts @ totals.T / drawn[:, None] - gains.mean(axis=1)
            deviation /= standard_errors(gains, self.member)
            largest = np.maximum(largest, deviation.max(axis=1))
            widest = np.maximum(widest, np.abs(deviation).max(axis=1))
        return _Largest(candidates, panels, largest, widest)


def _spaced(number: int, most: int) -> Ints:
    """Places of at most so many of a number of things, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(np.int64))


def _distinct_gains(sheet: Scoresheet, base: Floats) -> Floats:
    """Gains over the baseline on each stretch of weights that is safe to deploy, equal neighbours once."""
    rows = sheet.values[sheet.open]
    changed = np.ones(len(rows), dtype=bool)
    changed[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    gains: Floats = (rows[changed] / sheet.scale).astype(np.float64) - base
    return gains
