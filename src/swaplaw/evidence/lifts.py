"""Lift and accuracy with their interval: what `pairs`, `curve`, `panel`, `summary` and the report show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw.evidence.intervals import LEVEL, Effect, effect_among
from swaplaw.evidence.units import Units
from swaplaw.law.plurality import vote
from swaplaw.votes.tally import Scores, Tally


def lift_effect(
    tally: Tally, members: Sequence[int], weights: Sequence[Fraction], units: Units, *, level: float = LEVEL
) -> Effect | None:
    """Lift of a pair or panel over its first member, at weights that were given, not chosen.

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
        On the questions that all members answered; None where fewer than two units did.

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
    return effect_among(gains[common], units.member[common], level=level)


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
    """
    answered, scores = tally.answered[model], tally.scores[model]
    values = scores.numerators.astype(np.float64) / scores.denominator
    return effect_among(values[answered], units.member[answered], level=level)


def _difference(first: Scores, second: Scores) -> Floats:
    """What the first scores above the second on each question: one rounding, so that equal differences are equal."""
    whole = first.numerators.astype(object) * second.denominator - second.numerators.astype(object) * first.denominator
    return np.array(whole / (first.denominator * second.denominator), dtype=np.float64)
