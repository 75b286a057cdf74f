"""Screening pairs before any vote is pooled: by S-hat, Eq. (shat), or by the margin law.

A pair's masses follow from its models' own scores: all pairs of a fleet come from one matrix product of the scores
with themselves (three, where models skipped questions). Published accuracies and phi_adj will do as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import grid_for
from swaplaw._core.results import Result
from swaplaw.errors import InputError, quote, several
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.law_file import Law
from swaplaw.predict.laws.margins import margin_lift
from swaplaw.predict.reliability import Reliability
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally, tie_credit

if TYPE_CHECKING:
    import polars as pl

# Scores that are multiplied at a time: enough for BLAS, few enough to stay near the processor.
BLOCK = 2**21
# Blocks of fewer questions than this are not worth the switch to 32 bits.
NARROWEST = 1024


Rule = Literal["swap", "margin"]


@dataclass(frozen=True)
class Screen(Result):
    """S-hat of many pairs. Arrays have one entry per pair; `order` puts the most promising first."""

    models: tuple[str, ...] = field(repr=False)
    primary: Ints = field(repr=False)
    """Index of each pair's primary in `models`."""
    secondary: Ints = field(repr=False)
    p: Floats = field(repr=False)
    q: Floats = field(repr=False)
    rescue: Floats = field(repr=False)
    predicted: Floats = field(repr=False)
    """S-hat, or the lift that the margin law predicts."""
    rule: Rule = "swap"
    reliability: Reliability | None = None
    """How well this screen did, where that could be checked."""

    def __repr__(self) -> str:
        return f"Screen({several(len(self), 'pair')} by rule {self.rule!r}{self._first()})"

    def _first(self) -> str:
        if not len(self):
            return ""
        place = self.order[0]
        names = f"{self.models[self.primary[place]]!r} + {self.models[self.secondary[place]]!r}"
        return f", first {names}: {self.predicted[place]:+.4f}"

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
        """One row per pair, the most promising first; null where undefined."""
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

    def rows(self) -> list[dict[str, Any]]:
        """List the pairs, the most promising first."""
        return self.to_frame().to_dicts()

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        worth = None if self.reliability is None else self.reliability.to_dict()
        return {"rule": self.rule, "reliability": worth, "pairs": self.rows()}


def screen(
    votes: VotesLike, law: Law | None = None, *, rule: Rule = "swap", weight: str | float | Fraction | None = None
) -> Screen:
    """Predict every pair's lift from the models' own votes, without pooling any.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    law : Law, optional
        Conversion rates, frozen on other votes by `calibrate`; the rule "swap" needs them.
    rule : {"swap", "margin"}
        S-hat by the rates of a law, or the margin law, which needs none.
    weight : str, float or Fraction, optional
        The weight of the secondary: the law's, or 2/3.

    Returns
    -------
    Screen
        The prediction for every pair, the most promising first.

    Raises
    ------
    InputError
        If there is only one model, no two share a question, or the rule "swap" has no law.

    Examples
    --------
    >>> import swaplaw as sl
    >>> votes = sl.demo_votes()
    >>> law = sl.calibrate(votes, replicates=200)
    >>> sl.screen(votes, law).to_frame()["secondary"][0]
    'gemini-1.0-pro'
    """
    tally = inputs.tally(votes)
    if law is not None:
        law.require_weight(weight)
    if rule == "margin":
        return _by_margins(tally, as_weight(law.weight if law else DEFAULT_WEIGHT if weight is None else weight))
    if law is None:
        raise InputError("the rule 'swap' needs a law with conversion rates; calibrate one, or use the rule 'margin'")
    if len(tally.models) < 2:
        raise InputError(
            f"dataset {quote(tally.dataset)} has only one model ({quote(tally.models[0])}); a pair needs two"
        )
    sums = _Sums.of(tally)
    scale = sums.scale
    if tally.complete:
        # The more accurate first, equals in name order: of any two the first is the primary.
        ranking = np.argsort(-sums.own, kind="stable")
        first, second = np.triu_indices(len(sums.own), 1)
        primary, secondary = ranking[first], ranking[second]
        right_a, right_b = sums.own[primary], sums.own[secondary]
        unit: Floats = np.full(1, len(tally.questions) * scale, dtype=np.float64)
    else:
        first, second = np.nonzero(np.triu(sums.common, 1))
        if not len(first):
            raise InputError(f"no two models of dataset {quote(tally.dataset)} have a question in common")
        turned = sums.right[second, first] > sums.right[first, second]
        primary, secondary = np.where(turned, second, first), np.where(turned, first, second)
        right_a, right_b = sums.right[primary, secondary], sums.right[secondary, primary]
        unit = sums.common[primary, secondary] * scale
    both = sums.both
    rescue = (right_b * scale - both[primary, secondary]) / (unit * scale)
    return _predict(law, tally.models, primary, secondary, right_a / unit, right_b / unit, rescue)


def _by_margins(tally: Tally, weight: Fraction) -> Screen:
    """The margin law of every pair."""
    # A pair keeps arrays of its own once it is asked something, so no two are held at a time.
    rows = (_by_margin(pair, weight) for pair in pairs(tally))
    a, b, p, q, rescue, predicted = np.fromiter(rows, dtype=np.dtype((np.float64, 6))).T.copy()
    return Screen(tally.models, a.astype(np.int64), b.astype(np.int64), p, q, rescue, predicted, "margin")


def _by_margin(pair: Pair, weight: Fraction) -> tuple[float, ...]:
    masses = pair.masses
    return pair.a, pair.b, *map(float, (masses.p, masses.q, masses.rescue, margin_lift(pair, weight)))


def best_pairs(votes: VotesLike, found: Screen, number: int) -> list[Pair]:
    """Take the pairs with the largest S-hat, to compute their exact curves next.

    They come in the order of their models' accuracy. Neighbours then share models, so a large fleet's margins are
    computed once, not once for each pair.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes that were screened.
    found : Screen
        What `screen` gave.
    number : int
        How many pairs.

    Returns
    -------
    list of Pair
        As many pairs, or all where there are fewer.

    Examples
    --------
    >>> import swaplaw as sl
    >>> votes = sl.demo_votes()
    >>> best_pairs(votes, sl.screen(votes, rule="margin"), 1)
    [Pair('cohere-command-r-plus' + 'gemini-1.0-pro', 100 questions)]
    """
    tally = inputs.tally(votes)
    best = found.order[:number]
    order = np.lexsort((-found.q[best], -found.p[best]))
    return [Pair(tally, int(found.primary[place]), int(found.secondary[place])) for place in best[order]]


@dataclass(frozen=True)
class _Sums:
    """Sums over questions for all pairs at once, on one scale: whole numbers, exact."""

    scale: int
    own: Floats
    """Each model's scores."""
    both: Floats
    """Products of two models' scores (times the scale again)."""
    common: Floats
    """Questions that both answered."""
    right: Floats
    """The first model's scores on the questions that the second answered; as `common`, only where some did not."""

    @classmethod
    def of(cls, tally: Tally) -> _Sums:
        """Multiply the scores with themselves, a block of questions at a time.

        A block is as wide as its products sum exactly in 32 bits, which are twice as fast; blocks are added in 64.
        Where scores are so fine that such blocks would be narrow, 64 bits do all of it.
        """
        models, questions = tally.votes.shape
        sizes = [int(size) for size in np.flatnonzero(_occurring(tally.ties)) if size]
        scale, worth, width = score_table(sizes, questions, models)
        square = np.zeros((models, models)) if tally.complete else np.zeros((3, models, models))
        own = np.zeros(models)
        every = None if tally.rights is None else tally.rights.gather(worth.take(tally.ties))
        for start in range(0, questions, width):
            part = slice(start, start + width)
            scores = worth.take(tally.ties[:, part]) if every is None else every[:, part]
            own += scores.sum(axis=1, dtype=np.float64)
            if tally.complete:
                square += scores @ scores.T
            else:
                mask = tally.answered[:, part].astype(scores.dtype)
                square += scores @ scores.T, mask @ mask.T, scores @ mask.T
        both, common, right = (square, *2 * [np.empty(0)]) if tally.complete else square
        return cls(scale, own, both, common, right)


def score_table(sizes: Sequence[int], questions: int, models: int) -> tuple[int, Floats, int]:
    """What ties of these sizes are worth: the scale, the scores by tie size, and questions to multiply at a time."""
    scale = lcm(*sizes)
    scale = grid_for(scale, questions) or scale
    worth: Floats = np.zeros(max(sizes, default=0) + 1)
    worth[list(sizes)] = [round(tie_credit(float(scale), size)) for size in sizes]
    width = 2**24 // scale**2
    if width < NARROWEST:
        width = questions
    else:
        worth = worth.astype(np.float32)
    return scale, worth, max(1, min(width, BLOCK // models))


def _occurring(ties: Ints) -> Ints:
    """Which tie sizes occur, model by model: counting them all at once would take eight bytes for each."""
    found = np.zeros(int(ties.max(initial=0)) + 1, dtype=bool)
    for row in ties:
        found |= np.bincount(row, minlength=len(found)) > 0
    return found


def _predict(
    law: Law, models: tuple[str, ...], primary: Ints, secondary: Ints, p: Floats, q: Floats, rescue: Floats
) -> Screen:
    """S-hat in the form that is defined everywhere, (alpha - gamma) r - gamma gap."""
    predicted = (law.alpha - law.gamma) * rescue - law.gamma * (p - q)
    return Screen(models, primary, secondary, p, q, rescue, predicted)


def screen_marginals(
    accuracy: Mapping[str, float], phi_adj: Mapping[tuple[str, str], float | None], law: Law
) -> Screen:
    """Predict swap mass from published accuracies and, for each pair of interest, its phi_adj.

    Parameters
    ----------
    accuracy : mapping of str to float
        The accuracy of each model, as a fraction of one.
    phi_adj : mapping of (str, str) to float or None
        The adjusted correlation of each pair, in either order; None where it is undefined.
    law : Law
        Conversion rates, frozen on other votes by `calibrate`.

    Returns
    -------
    Screen
        S-hat of every pair that was given, the more accurate model as primary.

    Raises
    ------
    InputError
        If a number is impossible at these accuracies, or a model's accuracy is missing.

    Examples
    --------
    >>> import swaplaw as sl
    >>> law = sl.calibrate(sl.demo_votes(), replicates=10)
    >>> len(screen_marginals({"a": 0.8, "b": 0.7}, {("a", "b"): 0.5}, law))
    1
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
