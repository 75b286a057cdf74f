"""Streams of changed questions, looked at after every one: false alarms, and how many labels it takes.

A fixed-n test is the exact one-sided sign test at 5% with as many changed questions as give it a power of 80%.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from swaplaw._arrays import Floats, Ints

LOSSES = 0.03


def wealth_path(values: Floats, null: float = 0.0) -> Floats:
    """Logarithm of the e-value against "the mean is at most `null`" after every unit; streams are rows."""
    points, weights = np.polynomial.legendre.leggauss(64)
    shares = (points + 1) / 2
    counted = weights * shares * (1 - shares) ** 2
    kinds, codes = np.unique(values, return_inverse=True)
    steps = np.log1p(shares / (1 + null) * (kinds[:, None] - null))
    held = np.tile(np.log(counted / counted.sum()), (len(values), 1))
    path = np.empty(values.shape)
    for place, step in enumerate(codes.reshape(values.shape).T):
        held += steps[step]
        path[:, place] = np.logaddexp.reduce(held, axis=1)
    return path


def null_streams(streams: int, changed: int, rng: np.random.Generator, halves: float = 0.2) -> Floats:
    """Changed questions of pairs that gain nothing: gains and losses alike, some of them halves."""
    signs = rng.choice([-1.0, 1.0], (streams, changed))
    return np.where(rng.random((streams, changed)) < halves, signs / 2, signs)


def false_alarms(streams: int, changed: int, seed: int = 0, batch: int = 1_000) -> float:
    """The share of null streams that are ever taken for a gain, with a look after every question."""
    rng, alarms = np.random.default_rng(seed), 0
    for start in range(0, streams, batch):
        path = wealth_path(null_streams(min(batch, streams - start), changed, rng))
        alarms += int((path.max(axis=1) >= np.log(20)).sum())
    return alarms / streams


def labels_to_find(lift: float, streams: int, most: int = 3_000, seed: int = 0) -> Ints:
    """Changed questions after which each stream shows the gain; `most` and more where it never does."""
    rng = np.random.default_rng(seed)
    right = (LOSSES + lift) / (2 * LOSSES + lift)
    gains = np.where(rng.random((streams, most)) < right, 1.0, -1.0)
    shown = wealth_path(gains) >= np.log(20)
    return np.where(shown.any(axis=1), shown.argmax(axis=1) + 1, most)


def fixed_labels(lift: float, power: float = 0.8) -> int:
    """Changed questions with which the exact sign test finds the gain four times in five, from there on."""
    right, found = (LOSSES + lift) / (2 * LOSSES + lift), 0
    for n in range(1_000, 0, -1):
        wins = np.arange(n + 1)
        reject = wins[bdtrc(wins - 1, n, 0.5) <= 0.05]
        if not len(reject) or bdtrc(reject[0] - 1, n, right) < power:
            return found
        found = n
    return found
