"""Lift and accuracy with their interval: what `pairs`, `curve`, `panel`, `summary` and the report show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.evidence.interval import LEVEL, Effect, effect_among, effects, errors_of_sums, no_effect
from swaplaw.evidence.units import Units
from swaplaw.law.pair import Outcome, Pair, oriented_pairs, pooled
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Scores, Tally

LARGEST = 2**20
"""Questions of pairs that are judged at once."""


def lift_effect(
    tally: Tally, members: Sequence[int], weights: Sequence[Fraction], units: Units, *, level: float = LEVEL
) -> Effect | None:
    """Lift of a pair or panel over its first member, at weights that were given in advance, not chosen.

    Parameters
    ----------
    tally
        The counted votes.
    members
        Places of the models in the tally, the primary first.
    weights
        One for each member.
    units
        What is resampled (see `resampling_units`).
    level
        Confidence level.

    Returns
    -------
    Effect or None
        On the questions that all members answered; None if these hold fewer than two units.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.evidence import resampling_units
    >>> tally = sl.demo_votes().tally()
    >>> pair = sl.pair(tally, "gpt-4", "mistral-large")
    >>> found = lift_effect(tally, (pair.a, pair.b), (Fraction(1), Fraction(2, 3)), resampling_units(tally))
    >>> found.n, found.units
    (100, 10)
    """
    gains = _difference(vote(tally, members, weights), tally.scores[members[0]])
    common = np.logical_and.reduce(tally.answered[list(members)])
    found = effect_among(gains[common], units.member[common], level=level)
    settled = cannot_change(tally, members[0], sum(weights[1:], Fraction()) / weights[0], common)
    return no_effect(units.among(common).member, level=level) if settled and found is not None else found


def cannot_change(tally: Tally, primary: int, weight: Fraction, common: Bools) -> bool:
    """Whether secondaries of this weight could not change the primary's vote, whatever they and it had said.

    One vote per question leads by all of it, so lighter votes never tie with it. Such a lift is 0 by construction, not
    by observation: an interval around it would speak of an uncertainty that there is not.

    Parameters
    ----------
    tally : Tally
        The counted votes.
    primary : int
        The place of the primary in the tally.
    weight : Fraction
        The weight of all others together, the primary's being 1.
    common : array of bool
        The questions that count.

    Returns
    -------
    bool
        True where the weight is 0, or below 1 with one vote of the primary per question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> tally = sl.demo_votes("mmlu-pro").tally()
    >>> everywhere = tally.answered.all(axis=0)
    >>> cannot_change(tally, 0, Fraction(2, 3), everywhere), cannot_change(tally, 0, Fraction(1), everywhere)
    (True, False)
    """
    return weight == 0 or (weight < 1 and bool((tally.votes[primary][common] == 1).all()))


def pair_effects(
    tally: Tally, places: Iterable[tuple[int, int]], weight: Fraction, units: Units, *, level: float = LEVEL
) -> list[tuple[Pair, Outcome, Effect | None]]:
    """Pool many pairs at a weight, and give each lift its interval; every pair is pooled once.

    Parameters
    ----------
    tally : Tally
        The counted votes.
    places : iterable of pairs of int
        Places of the models in the tally; the more accurate one is the primary.
    weight : Fraction
        The weight of the secondary.
    units : Units
        What is resampled (see `resampling_units`).
    level : float
        Confidence level.

    Returns
    -------
    list of Pair, Outcome and Effect (or None)
        Those pairs that share questions, in the order of places; None where fewer than two units were answered.
    """
    found = list(pooled(oriented_pairs(tally, places), weight))
    judged: list[Effect | None] = [None] * len(found)
    alike: dict[bytes, list[int]] = {}
    for place, each in enumerate(found):
        alike.setdefault(b"" if tally.complete else each.pair.common.tobytes(), []).append(place)
    for members in alike.values():
        common = found[members[0]].pair.common
        member = units.among(common).member
        if not member.any():
            continue
        most = max(1, LARGEST // len(member))
        for first in range(0, len(members), most):
            some = members[first : first + most]
            rows = np.stack([found[place].lifts for place in some])
            for place, effect in zip(some, effects(rows, member, level=level), strict=True):
                settled = cannot_change(tally, found[place].pair.a, weight, common)
                judged[place] = no_effect(member, level=level) if settled else effect
    return [(each.pair, each.outcome, effect) for each, effect in zip(found, judged, strict=True)]


def errors_along(sheet: Scoresheet, base: Floats, member: Ints, *, level: float = LEVEL) -> Floats:
    """Standard error of the mean gain over `base` at every stretch of weights, from one to the next.

    Parameters
    ----------
    sheet : Scoresheet
        Scores of the pair on the questions that are resampled.
    base : array
        What each question scores without the secondary.
    member : array
        The resampling unit of each question.
    level : float
        Confidence level that the errors are for (see `effects`).

    Returns
    -------
    array
        One number per stretch.
    """
    start, step = sheet.constant.astype(np.float64) / sheet.scale - base, sheet.step.astype(np.float64) / sheet.scale
    sizes, stretches = np.bincount(member), len(sheet.firsts)
    n = len(start)
    moves = np.bincount(sheet.place, step, minlength=stretches)
    means = (start.sum() + np.cumsum(moves)) / n
    squares = _running_squares(sheet.place, sheet.owner, step, start, np.ones(n), stretches)
    between = None
    if len(sizes) < n:
        unit, factor = member[sheet.owner], 1 / (1 - sizes / n)
        totals = np.bincount(member, start).astype(np.float64)
        spread = _running_squares(sheet.place, unit, step, totals, factor, stretches)
        linear = np.bincount(sheet.place, step * (factor * sizes)[unit], minlength=stretches)
        crossed = (factor * sizes * totals).sum() + np.cumsum(linear)
        between = spread - 2 * means * crossed + means**2 * float((factor * sizes**2).sum())
    return errors_of_sums(means, squares, between, sizes, level=level)


def _running_squares(place: Ints, owner: Ints, step: Floats, start: Floats, factor: Floats, stretches: int) -> Floats:
    """Sum over owners of factor times value squared, in every stretch, where values change by steps."""
    order = np.argsort(owner, kind="stable")
    own, steps = owner[order], step[order]
    total = np.cumsum(steps)
    first = np.flatnonzero(np.diff(own, prepend=-1))
    before = np.repeat(total[first] - steps[first], np.diff(np.append(first, len(own))))
    after = start[own] + total - before
    change = factor[own] * (after**2 - (after - steps) ** 2)
    return float((factor * start**2).sum()) + np.cumsum(np.bincount(place[order], change, minlength=stretches))


def accuracy_effect(tally: Tally, model: int, units: Units, *, level: float = LEVEL) -> Effect | None:
    """Estimate the accuracy of a model's own vote on the questions that it answered.

    Parameters
    ----------
    tally : Tally
        The counted votes.
    model : int
        The model's place in the tally.
    units : Units
        What is resampled (see `resampling_units`).
    level : float
        Confidence level.

    Returns
    -------
    Effect or None
        None where fewer than two units were answered.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.evidence import resampling_units
    >>> tally = sl.demo_votes().tally()
    >>> found = accuracy_effect(tally, tally.index("gpt-4"), resampling_units(tally))
    >>> round(found.mean, 2), found.low < found.mean < found.high
    (0.81, True)
    """
    answered, scores = tally.answered[model], tally.scores[model]
    values = scores.numerators.astype(np.float64) / scores.denominator
    found = effect_among(values[answered], units.member[answered], level=level)
    return found and replace(found, least=0.0)


def _difference(first: Scores, second: Scores) -> Floats:
    """What the first scores above the second on each question: one rounding, so that equal differences are equal."""
    whole = first.numerators.astype(object) * second.denominator - second.numerators.astype(object) * first.denominator
    return np.array(whole / (first.denominator * second.denominator), dtype=np.float64)
