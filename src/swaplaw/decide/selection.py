"""How sure can we be of the best of many? A max-statistic bootstrap over all candidates at once.

The best of many candidates looks better than it is, because it was picked for looking good. So its gain is compared
not with its own sampling noise but with the largest noise that any candidate shows: each bootstrap draw of questions
(or clusters) gives every candidate's studentised deviation from its own mean, and the largest one is kept (White's
reality check, 2000, studentised as by Hansen's test of superior predictive ability, 2005). A candidate that is clearly
poor cannot be the best by luck, so it is not allowed for: one whose mean lies more than sqrt(2 log log n) standard
errors below 0 keeps that mean in the draws (Hansen's consistent version).

The test of "it helps" is one-sided: the largest deviation upwards decides. So it does for the lower end of the
interval, at half of the level. The upper end needs no such allowance: picking the best never makes it look worse.

The single model that is to be beaten was picked for looking good, too (see `luck`). And a held-out gain is that of what
the folds chose, not of what is deployed, which all questions chose: where the two differ in what they gain on all
questions, the interval reaches further by that difference, on its side.

Candidates are the rules of the family (see `family`), by their held-out gains. A full search adds all pairs at *every*
weight that is safe to deploy; neighbouring weights with the same votes count once. Panels count along the lines of
weights on which they are chosen (see `lines`). A line of very many different votes is represented by some of them,
evenly spaced: neighbours differ in a question or two, so their deviations hardly do.

A held-out mean needs this too. It is right on average, but where one candidate looks best by luck on all folds it is
chosen on all of them, and held-out and in-sample gains are the same lucky number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import ALONE, Crew, Progress
from swaplaw._core.threads import one_thread
from swaplaw.decide.choice import Choice, Scorer
from swaplaw.decide.luck import Luck, critical_with_bias, luck_of
from swaplaw.errors import InputError
from swaplaw.evidence.interval import (
    LEVEL,
    Effect,
    critical_of,
    degrees_of,
    effect,
    standard_errors,
    student_tail,
)
from swaplaw.evidence.resample import Resampler
from swaplaw.evidence.units import unit_totals
from swaplaw.law.lines import Line
from swaplaw.law.scoresheet import Scoresheet

PSEUDO = 1.5
"""Pseudo-questions in the interval of the best of several rules, instead of two: settled by simulation (see
docs/decisions.md), where two held the truth too often and one too rarely when few votes change."""
MOST_VOTES = 64
"""Different votes that represent a panel's line; pairs count with all of theirs."""


@dataclass(frozen=True)
class Selection:
    """The noise of the noisiest of many candidates, in standard errors."""

    member: Ints = field(repr=False)
    """The resampling unit of each question."""
    rules: int
    """Rules of the family that are compared."""
    pairs: int
    """Pairs compared by a full search."""
    candidates: int
    """Pairs times the stretches of weights on which their votes differ, and panels likewise."""
    largest: Floats = field(repr=False)
    """The largest deviation upwards of any candidate in each draw, poor ones left out; at least 0."""
    panels: int = 0
    """Panels of three or more compared, besides."""
    panel_candidates: int = 0
    """How many of the candidates are panels at weights."""
    luck: Luck | None = None
    """How much better than it is the single model to beat may look."""

    def critical(self, level: float = LEVEL) -> float:
        """Standard errors to each side of the best candidate's interval."""
        return max(critical_of(self.member, level=level), float(np.quantile(self.largest, (1 + level) / 2)))

    def reach(self, level: float = LEVEL) -> float:
        """Standard errors of a one-sided test of one candidate by itself."""
        return critical_of(self.member, level=2 * level - 1)

    def threshold(self, level: float = LEVEL) -> float:
        """Standard errors above 0 at which the best candidate helps, by a one-sided test."""
        return max(self.reach(level), float(np.quantile(self.largest, level)))

    def p(self, ratio: float) -> float:
        """How often the best of all candidates would look as good (mean by standard error) if none helped."""
        by_luck = (1 + int(np.sum(self.largest >= ratio))) / (1 + len(self.largest))
        return max(by_luck, float(student_tail(degrees_of(np.bincount(self.member)), ratio)))

    def effect(self, gains: Floats, *, level: float = LEVEL) -> Effect:
        """Estimate the mean of gains that were picked from the candidates, in sample or held out."""
        alone = effect(gains, self.member, level=level)
        return replace(alone, critical=self.critical(level), p=self.p(alone.mean / alone.standard_error))

    def held_out(self, gains: Floats, shift: float = 0.0, *, level: float = LEVEL) -> Effect:
        """Estimate a rule's gain from its held-out gains: the same test, and an interval that knows what was picked.

        `shift` is how much more what is deployed gains on all questions than what the folds chose (`HeldOut.shift`).
        """
        found = self.effect(gains, level=level)
        rows = np.stack([gains, np.zeros_like(gains)])
        error, least = standard_errors(rows, self.member, level=level, pseudo=PSEUDO).tolist()
        luck = 0.0
        if self.luck is not None:
            luck, error = self.luck.mean, max(least, self.luck.noise(gains, self.member, error))
        reach = error * critical_with_bias(luck / error, degrees_of(np.bincount(self.member)), level=level)
        low = found.mean - reach * self.critical(level) / critical_of(self.member, level=level) + min(0.0, shift)
        if found.p > 1 - level:
            # No interval is above 0 where the test cannot tell.
            low = min(low, 0.0, found.mean)
        return replace(found, ends=(low, found.mean + luck + reach + max(0.0, shift)))


def selection(
    family: Floats,
    draws: Resampler,
    *,
    singles: Floats | None = None,
    scorer: Scorer | None = None,
    baseline: Choice | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    lines: Sequence[Line] = (),
    progress: Progress = iter,
    crew: Crew = ALONE,
) -> Selection:
    """Bootstrap the gains of a family of rules (rules x questions), and over a baseline those of a full search.

    A full search compares all pairs at every weight, and panels along lines of weights. `singles` has what each single
    model gains over the baseline (models x questions).
    """
    counts = draws.all_counts()
    base = np.zeros(len(draws.member)) if scorer is None or baseline is None else scorer.score(baseline)
    noise = _Noise(scorer, base, draws.member, counts)
    candidates = [0, 0]
    # One product at a time: several small ones on all cores would wait for each other.
    with one_thread():
        largest = noise.deviations(family)
        shares = crew.split([Line(pair) for pair in pairs]) + crew.split(lines)
        for found in crew.share(_Noise.of, noise, shares, progress=progress):
            largest = np.maximum(largest, found.largest)
            candidates[found.panels] += found.candidates
        luck = None if singles is None else luck_of(singles, draws.member, counts)
    panels = len({frozenset(line.members) for line in lines})
    return Selection(draws.member, len(family), len(pairs), sum(candidates), largest, panels, candidates[1], luck)


@dataclass(frozen=True)
class _Largest:
    """The largest deviations of some lines' candidates in each draw."""

    candidates: int
    panels: bool
    largest: Floats


@dataclass(frozen=True)
class _Noise:
    """What it takes to see how candidates deviate from their means."""

    scorer: Scorer | None
    base: Floats
    member: Ints
    counts: Floats
    """How often each unit is drawn: draws x units."""

    def of(self, lines: Sequence[Line]) -> _Largest:
        """The largest deviations along these lines, all of pairs or all of panels."""
        panels = len(lines[0].members) > 2
        largest = np.zeros(len(self.counts))
        candidates = 0
        for line in lines:
            gains = self._gains(line)
            if panels:
                gains = gains[_spaced(len(gains), MOST_VOTES)]
            candidates += len(gains)
            largest = np.maximum(largest, self.deviations(gains))
        return _Largest(candidates, panels, largest)

    def _gains(self, line: Line) -> Floats:
        if self.scorer is None:
            raise InputError("a search over pairs or panels needs their scores")
        return _distinct_gains(self.scorer.along(line), self.base)

    def deviations(self, gains: Floats) -> Floats:
        """The largest deviation of any row upwards in each draw."""
        zero = np.zeros(len(self.counts))
        if not len(gains):
            return zero
        means, errors = gains.mean(axis=1), standard_errors(gains, self.member)
        poor = means < -poor_below(self.counts.shape[1]) * errors
        drawn = self.counts @ np.bincount(self.member).astype(np.float32)
        totals = unit_totals(gains, self.member).astype(np.float32)
        ratios = (self.counts @ totals.T / drawn[:, None] - means) / errors
        up = (ratios + np.where(poor, means / errors, 0)).max(axis=1)
        largest: Floats = np.maximum(zero, up)
        return largest


def poor_below(units: int) -> float:
    """Standard errors below 0 at which a candidate is clearly poor (Hansen, 2005)."""
    return sqrt(2 * log(log(max(3, units))))


def _spaced(number: int, most: int) -> Ints:
    """Places of at most `most` of a number of things, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(np.int64))


def _distinct_gains(sheet: Scoresheet, base: Floats) -> Floats:
    """Gains over the baseline on each stretch of weights that is safe to deploy, equal neighbours once."""
    rows = sheet.values[sheet.open]
    changed = np.ones(len(rows), dtype=bool)
    changed[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    gains: Floats = (rows[changed] / sheet.scale).astype(np.float64) - base
    return gains
