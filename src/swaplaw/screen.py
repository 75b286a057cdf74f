"""Screening pairs by S-hat before any vote is pooled, Eq. (shat).

A pair's masses follow from its models' own scores: all pairs of a fleet come from one matrix product of the scores
with themselves (three, where models skipped questions). Published accuracies and phi_adj will do as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw.errors import InputError, quote
from swaplaw.law import Law
from swaplaw.rows import Ints
from swaplaw.tally import Tally
from swaplaw.wholes import Floats, grid_for

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Screen:
    """S-hat of many pairs. Arrays are aligned, one entry a pair; `order` puts the most promising first."""

    models: tuple[str, ...] = field(repr=False)
    primary: Ints = field(repr=False)
    """Index of each pair's primary in `models`."""
    secondary: Ints = field(repr=False)
    p: Floats = field(repr=False)
    q: Floats = field(repr=False)
    rescue: Floats = field(repr=False)
    predicted: Floats
    """S-hat."""

    def __len__(self) -> int:
        return len(self.predicted)

    @cached_property
    def phi_adj(self) -> Floats:
        """Accuracy-adjusted correlation, Eq. (rescue); NaN where q = 0 or p = 1."""
        with np.errstate(invalid="ignore"):
            return 1 - self.rescue / (self.q * (1 - self.p))

    @cached_property
    def order(self) -> Ints:
        """The pairs by falling S-hat."""
        return np.argsort(-self.predicted, kind="stable")

    @cached_property
    def rank(self) -> Ints:
        """From 1; pairs with equal S-hat share the best of their ranks."""
        ordered = self.predicted[self.order]
        new = np.ones(len(self), dtype=bool)
        new[1:] = ordered[1:] != ordered[:-1]
        rank = np.empty(len(self), dtype=np.int64)
        rank[self.order] = np.maximum.accumulate(np.where(new, np.arange(1, len(self) + 1), 0))
        return rank

    def to_frame(self) -> pl.DataFrame:
        """One row a pair, the most promising first; null where undefined."""
        import polars as pl

        names = pl.Series(self.models)
        return pl.DataFrame(
            {
                "primary": names.gather(self.primary),
                "secondary": names.gather(self.secondary),
                "p": self.p,
                "q": self.q,
                "phi_adj": pl.Series(self.phi_adj).fill_nan(None),
                "predicted": self.predicted,
                "rank": self.rank,
            }
        )[self.order]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"pairs": self.to_frame().to_dicts()}


def screen(tally: Tally, law: Law) -> Screen:
    """Predict every pair's swap mass at the law's weight from the models' own scores."""
    if len(tally.models) < 2:
        raise InputError(
            f"dataset {quote(tally.dataset)} has one model only ({quote(tally.models[0])}); a pair needs two"
        )
    scores, scale = _score_matrix(tally)
    both = scores @ scores.T
    if tally.answered.all():
        # The more accurate first, equals in name order: of any two the first is the primary.
        own = scores.sum(axis=1, dtype=np.float64)
        ranking = np.argsort(-own, kind="stable")
        first, second = np.triu_indices(len(own), 1)
        primary, secondary = ranking[first], ranking[second]
        right_a, right_b = own[primary], own[secondary]
        unit = np.full(1, len(tally.questions) * scale, dtype=np.float64)
    else:
        mask = tally.answered.astype(scores.dtype)
        common, right = mask @ mask.T, scores @ mask.T
        first, second = np.nonzero(np.triu(common, 1))
        if not len(first):
            raise InputError(f"no two models of dataset {quote(tally.dataset)} have a question in common")
        turned = right[second, first] > right[first, second]
        primary, secondary = np.where(turned, second, first), np.where(turned, first, second)
        right_a, right_b = (right[a, b].astype(np.float64) for a, b in ((primary, secondary), (secondary, primary)))
        unit = common[primary, secondary] * np.float64(scale)
    rescue = (right_b * scale - both[primary, secondary]) / (unit * scale)
    return _predict(law, tally.models, primary, secondary, right_a / unit, right_b / unit, rescue)


def _score_matrix(tally: Tally) -> tuple[Floats, int]:
    """Scores of all models on one scale, as whole numbers whose sums are exact."""
    ties = np.stack([scores.ties for scores in tally.scores])
    sizes = [int(size) for size in np.flatnonzero(np.bincount(ties.ravel())) if size]
    scale = lcm(*sizes)
    scale = grid_for(scale, ties.shape[1]) or scale
    table = np.zeros(max(sizes, default=0) + 1)
    table[sizes] = [round(scale / size) for size in sizes]
    # Products of two scores must sum exactly in 32 bits, too, to be held there.
    narrow = scale**2 * ties.shape[1] < 2**24
    scores = table.take(ties)
    return (scores.astype(np.float32) if narrow else scores), scale


def _predict(
    law: Law, models: tuple[str, ...], primary: Ints, secondary: Ints, p: Floats, q: Floats, rescue: Floats
) -> Screen:
    """S-hat in the form that is defined everywhere, (alpha - gamma) r - gamma gap."""
    predicted = (law.alpha - law.gamma) * rescue - law.gamma * (p - q)
    return Screen(models, primary, secondary, p, q, rescue, predicted)


def screen_marginals(
    accuracy: Mapping[str, float], phi_adj: Mapping[tuple[str, str], float | None], law: Law
) -> Screen:
    """Predict swap mass from published accuracies and, for each pair of interest, its phi_adj (None: undefined).

    phi_adj may be given for a pair in either order: the more accurate model is the primary.
    """
    for model, value in accuracy.items():
        if not 0 <= value <= 1:
            raise InputError(f"accuracy of {quote(model)} is {value!r}, expected a fraction of one (0.69 for 69%)")
    if not phi_adj:
        raise InputError("there are no pairs to screen: give phi_adj for at least one pair")
    models = tuple(sorted(accuracy))
    rows = sorted(_marginal(models, accuracy, names, value) for names, value in phi_adj.items())
    columns: list[Any] = [np.array(column) for column in zip(*rows, strict=True)]
    return _predict(law, models, *columns)


def _marginal(
    models: tuple[str, ...], accuracy: Mapping[str, float], names: tuple[str, str], phi_adj: float | None
) -> tuple[int, int, float, float, float]:
    """Orient one pair and find its rescue mass, Eq. (rescue), holding phi_adj to what the accuracies permit."""
    for name in names:
        if name not in accuracy:
            raise InputError(f"there is phi_adj but no accuracy for model {quote(name)}; give both")
    primary, secondary = sorted(names, key=lambda name: (-accuracy[name], name))
    p, q = accuracy[primary], accuracy[secondary]
    room, pair = q * (1 - p), f"{quote(primary)} with {quote(secondary)}"
    if phi_adj is None and room:
        raise InputError(f"phi_adj of {pair} is empty; only where q = 0 or p = 1 is it undefined")
    rescue = 0.0 if phi_adj is None else room * (1 - phi_adj)
    # r is at most min(q, 1 - p), and at least 0: published figures are rounded, so a little room is left.
    if not -0.005 <= rescue <= min(q, 1 - p) + 0.005:
        least = 1 - min(q, 1 - p) / room if room else 1.0
        raise InputError(
            f"phi_adj of {pair} is {phi_adj!r}, but at accuracies {p!r} and {q!r} it lies between {least:.3g} and 1"
        )
    return models.index(primary), models.index(secondary), p, q, rescue
