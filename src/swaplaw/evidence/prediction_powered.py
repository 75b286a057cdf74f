"""Prediction-powered intervals: few labels, many predictions, and an interval that is right however wrong these are.

A mean over questions is estimated from the predictions for all of them, plus what the labelled ones show the
predictions to be wrong by [1]_. Good predictions make the interval narrow; bad ones cost nothing, because they are
weighted by how well they foretell the labels (the tuning of PPI++ [2]_, between 0 and 1).

All that is assumed is that the labelled questions are a random sample of those that the mean is about.

- target "table": the mean of these very questions, as a census of labels would show it. With every question labelled
  the interval is a point. Chance enters only by which questions were labelled, so questions that resemble each other
  and predictions that err together do no harm.
- target "population": the mean of the population that the questions, too, are a random sample of.

References
----------
.. [1] A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023). Prediction-powered inference.
   Science 382, 669-674.
.. [2] A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered inference. arXiv
   2311.01453.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.errors import InputError
from swaplaw.evidence.interval import LEVEL, PSEUDO_QUESTIONS, check_level, student

Target = Literal["table", "population"]
LEAST = 3
"""Labels below which there is no interval."""


@dataclass(frozen=True)
class Powered:
    """A mean from few labels and many predictions."""

    mean: float
    low: float
    high: float
    level: float
    tuning: float
    """How much the predictions count, between 0 and 1."""
    labelled: int
    unlabelled: int

    def scaled(self, factor: float) -> Powered:
        """The same for a mean that is `factor` times as large: over more questions, the others adding nothing."""
        ends = (self.mean * factor, self.low * factor, self.high * factor)
        return Powered(*ends, self.level, self.tuning, self.labelled, self.unlabelled)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return dict(vars(self))


def prediction_powered(
    values: Floats, predictions: Floats, others: Floats, *, target: Target = "table", level: float = LEVEL
) -> Powered:
    """Estimate a mean from labelled questions and predictions for all.

    Parameters
    ----------
    values : array
        What the labelled questions add, between -1 and 1.
    predictions : array
        What they were predicted to add.
    others : array
        What the unlabelled questions are predicted to add.
    target : {"table", "population"}
        Whose mean: that of these questions, or that of the population that they come from.
    level : float
        Confidence level.

    Returns
    -------
    Powered
        The mean and its interval.

    Raises
    ------
    InputError
        If there are fewer than three labels, or arrays do not fit together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.choice([-1.0, 1.0], 400)
    >>> found = prediction_powered(truth[:40], 0.9 * truth[:40], 0.9 * truth[40:])
    >>> bool(found.low <= truth.mean() <= found.high), found.high - found.low < 0.2
    (True, True)
    """
    check_level(level)
    n, rest = len(values), len(others)
    if len(predictions) != n:
        raise InputError(
            f"there are {n} labelled values and {len(predictions)} predictions for them; give one for each"
        )
    if n < LEAST:
        raise InputError(f"an interval needs at least {LEAST} labels, not {n}")
    tuning = _tuning(values, predictions, others, target)
    left = values - tuning * predictions
    squares = n / (n - 1) * float(((left - left.mean()) ** 2).sum())
    error = sqrt(squares + PSEUDO_QUESTIONS) / (n + PSEUDO_QUESTIONS)
    predicted = float(others.mean()) if rest else 0.0
    share = rest / (n + rest)
    if target == "table":
        mean = (1 - share) * float(values.mean()) + share * (tuning * predicted + float(left.mean()))
        error *= sqrt(share)
    else:
        mean = tuning * predicted + float(left.mean()) if rest else float(values.mean())
        error = sqrt(error**2 + (tuning**2 * float(others.var()) / rest if rest else 0.0))
    reach = student(n - 1, (1 - level) / 2) * error
    return Powered(mean, max(-1.0, mean - reach), min(1.0, mean + reach), level, tuning, n, rest)


def _tuning(values: Floats, predictions: Floats, others: Floats, target: Target) -> float:
    """How much to trust predictions: what makes the interval narrowest."""
    if not len(others):
        return 0.0
    spread = float(np.concatenate([predictions, others]).var())
    if not spread:
        return 0.0
    together = float(((values - values.mean()) * (predictions - predictions.mean())).sum()) / (len(values) - 1)
    ratio = len(values) / len(others) if target == "population" else 0.0
    return min(1.0, max(0.0, together / ((1 + ratio) * spread)))
