"""Lift from less than votes: from histograms of margins, or from accuracies alone.

Leaderboards publish accuracies, papers publish histograms; neither has votes. What the margin law needs of a model is
only how its margins are spread where it is right and where it is wrong. So it can be given

- a histogram of margins (gold's share less the best rival's), in any bins: `histogram`;
- two accuracies: that of a single sample and that of the plurality vote. Between two options, gold's share on a
  question is taken as drawn from the one Beta distribution that has this mean and this share above 1/2:
  `histogram_from_accuracies`.

How the two models overlap is not in either, so phi_adj has to be assumed or known from elsewhere. Sums run over all
pairs of bins; nothing is drawn. This extends the paper and is not the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.errors import InputError, several
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight

BINS = 200
"""Bins of a Beta distribution's histogram."""
FIRMEST, LOOSEST = 1e-3, 4.0
"""Sizes a + b of Beta distributions that are tried: from all-or-nothing shares to fairly even ones."""


@dataclass(frozen=True)
class Histogram:
    """How often each margin occurs for one model: all that a law from partial information knows about it."""

    margin: Floats
    """Gold's share less the best rival's, from -1 to 1."""
    mass: Floats
    """How often; sums to 1."""

    def __repr__(self) -> str:
        return f"Histogram({several(len(self.margin), 'margin')}, accuracy={self.accuracy:.4f})"

    @property
    def right(self) -> Floats:
        """The plurality score at each margin: a tie counts half."""
        found: Floats = np.where(self.margin > 0, 1.0, np.where(self.margin < 0, 0.0, 0.5))
        return found

    @property
    def accuracy(self) -> float:
        """The accuracy of the plurality vote."""
        return float(self.mass @ self.right)


def histogram(counts: Mapping[float, float]) -> Histogram:
    """Take a published histogram: how often each margin occurs.

    Parameters
    ----------
    counts : mapping
        From margin (the middle of its bin, -1 to 1) to how many questions have it.

    Returns
    -------
    Histogram
        The same, scaled to sum to 1.

    Raises
    ------
    InputError
        If a margin is not between -1 and 1, a count is negative, or all are 0.

    Examples
    --------
    >>> histogram({-0.5: 1, 0.25: 3})
    Histogram(2 margins, accuracy=0.7500)
    """
    margin, mass = (np.array([float(x) for x in some]) for some in (counts.keys(), counts.values()))
    if not (np.abs(margin) <= 1).all():
        raise InputError("a margin is gold's share less the best rival's: give numbers between -1 and 1")
    if not (mass >= 0).all() or not mass.sum() > 0:
        raise InputError("counts of margins are numbers from 0 on, and some must be above 0")
    return Histogram(margin, mass / mass.sum())


def histogram_from_accuracies(plurality: float, single: float) -> Histogram:
    """Derive a model's margins from two accuracies: with two options, gold's share has a Beta distribution.

    Parameters
    ----------
    plurality : float
        Accuracy of the model's plurality vote over many samples.
    single : float
        Accuracy of a single sample.

    Returns
    -------
    Histogram
        The margins of the Beta distribution with this mean and this share above 1/2, or of the nearest one.

    Raises
    ------
    InputError
        If an accuracy is not between 0 and 1.

    Examples
    --------
    >>> round(histogram_from_accuracies(0.8, 0.7).accuracy, 2)
    0.8
    """
    if not (0 < plurality < 1 and 0 < single < 1):
        raise InputError(f"accuracies of {plurality:.3g} and {single:.3g}: give numbers between 0 and 1, both excluded")
    from scipy.special import betainc

    def above(size: float) -> float:
        return 1 - float(betainc(size * single, size * (1 - single), 0.5))

    low, high = np.log(FIRMEST), np.log(LOOSEST)
    # The larger a + b, the nearer are all shares to their mean, and the further is the plurality from it.
    further = above(np.exp(high)) > above(np.exp(low))
    for _ in range(100):
        middle = (low + high) / 2
        if (above(np.exp(middle)) < plurality) == further:
            low = middle
        else:
            high = middle
    size = float(np.exp(low))
    edges = np.linspace(0, 1, BINS + 1)
    mass = np.diff(betainc(size * single, size * (1 - single), edges))
    margin = edges[:-1] + edges[1:] - 1
    # With more than two options no Beta distribution may fit both; the plurality's accuracy is kept.
    for half, share in ((margin > 0, plurality), (margin < 0, 1 - plurality)):
        own = mass[half].sum()
        mass[half] = mass[half] * (share / own) if own > 0 else share / half.sum()
    return Histogram(margin, mass)


def histogram_lift(
    first: Histogram,
    second: Histogram,
    phi_adj: float | Fraction,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
) -> float:
    """Predict a pair's lift by the margin law from two histograms and how the models overlap.

    Parameters
    ----------
    first, second : Histogram
        The primary's and the secondary's margins.
    phi_adj : float or Fraction
        The accuracy-adjusted correlation: 0 for models that err independently, 1 for a secondary that is right only
        where the primary is.
    weight : str, float or Fraction
        The weight of the secondary.

    Returns
    -------
    float
        The predicted lift; all pairs of bins are summed.

    Raises
    ------
    InputError
        If phi_adj is impossible at these accuracies.

    Examples
    --------
    >>> strong = histogram_from_accuracies(0.80, 0.72)
    >>> other = histogram_from_accuracies(0.78, 0.70)
    >>> round(100 * histogram_lift(strong, other, 0.3, "2/3"), 1)
    4.7
    """
    x = float(as_weight(weight))
    p, q = first.accuracy, second.accuracy
    rescue = q * (1 - p) * (1 - float(phi_adj))
    if not max(0.0, q - p) - 1e-12 <= rescue <= min(q, 1 - p) + 1e-12:
        raise InputError(f"phi_adj of {float(phi_adj):.3g} is impossible at accuracies {p:.3g}, {q:.3g}")
    # Margins are ratios of small counts: what differs from a tie by less than this does not differ.
    sums = np.round(first.margin[:, None] + x * second.margin, 12)
    gold_wins = (1 + np.sign(sums)) / 2

    def chance(of_a: Floats, of_b: Floats) -> float:
        total = of_a.sum() * of_b.sum()
        return float(of_a @ gold_wins @ of_b / total) if total else 0.0

    a, b = first.right, second.right
    wins = chance(first.mass * (1 - a), second.mass * b)
    holds = chance(first.mass * a, second.mass * (1 - b))
    return rescue * wins - (rescue + p - q) * (1 - holds)
