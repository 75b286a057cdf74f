"""Screening pairs before any vote is pooled: by S-hat, Eq. (shat), or by the margin law.

A pair's masses follow from its models' own scores: all pairs of a fleet come from products of the scores with
themselves (see `overlaps`). Published accuracies and phi_adj will do as well. What a screen is worth shows on votes
that can be pooled after all: predicted from one half of the questions, checked on the other half.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw._result import Result
from swaplaw.errors import InputError, quote, several
from swaplaw.evidence.association import over_models
from swaplaw.evidence.jackknife import dealt
from swaplaw.evidence.quantities import Quantities, overlaps, sums_of
from swaplaw.evidence.units import LEAST_UNITS, resampling_units
from swaplaw.law.pair import Pair, at_least_one, oriented_pairs, places_of_pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.law_file import Law
from swaplaw.predict.laws import margin_lift
from swaplaw.predict.predictors import law_moved, law_sums
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    import polars as pl

MOST_MODELS = 40
"""Their 780 pairs are pooled in seconds and tell a screen's worth well enough."""
WORTHLESS = 0.3
"""A rank correlation below this is as good as none: the first pairs are hardly better than any."""

Rule = Literal["swap", "margin"]


@dataclass(frozen=True)
class Reliability:
    """Rank correlation of a screen on one half of the questions with the lift on the other, with its interval."""

    rho: float | None
    low: float | None
    high: float | None
    note: str
    gain: int | None = None
    """Pairs that gain; None where nothing was pooled."""
    predicted_gain: int | None = None
    """Of the same pairs, those that were predicted to gain."""
    pairs: int | None = None
    """Pairs that were checked."""

    @property
    def is_worthless(self) -> bool:
        """Whether the order of the screen says next to nothing."""
        return self.rho is None or self.rho < WORTHLESS

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {name: getattr(self, name) for name in ("rho", "low", "high", "note", "gain", "predicted_gain", "pairs")}


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
    sums, scale = overlaps(tally)
    shared, right, both = sums[0]
    accuracy = right.diagonal()
    if tally.complete:
        # The more accurate first, equals in name order: of any two the first is the primary.
        ranking = np.argsort(-accuracy, kind="stable")
        first, second = np.triu_indices(len(accuracy), 1)
        primary, secondary = ranking[first], ranking[second]
    else:
        first, second = np.nonzero(np.triu(shared, 1))
        if not len(first):
            raise InputError(f"no two models of dataset {quote(tally.dataset)} have a question in common")
        turned = right[second, first] > right[first, second]
        primary, secondary = np.where(turned, second, first), np.where(turned, first, second)
    unit, own, other = scale * shared[primary, secondary], right[primary, secondary], right[secondary, primary]
    rescue = (other * scale - both[primary, secondary]) / (unit * scale)
    return _predict(law, tally.models, primary, secondary, own / unit, other / unit, rescue)


def _by_margins(tally: Tally, weight: Fraction) -> Screen:
    """The margin law of every pair."""
    # A pair keeps arrays of its own once it is asked something, so no two are held at a time.
    found = at_least_one(tally, oriented_pairs(tally, places_of_pairs(tally)))
    rows = (_by_margin(pair, weight) for pair in found)
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


def with_reliability(
    found: Screen, tally: Tally, law: Law | None = None, weight: str | float | Fraction = DEFAULT_WEIGHT
) -> Screen:
    """Pool the votes that were screened, and say how well such a screen foretells the lift on other questions.

    The questions are halved at random, many times: pairs are screened on one half and pooled on the other. On the same
    questions a screen shares its luck with the lift, and looks good where it is worth nothing. Of a large fleet, the
    pairs of `MOST_MODELS` models are pooled, drawn from a fixed seed.

    Parameters
    ----------
    found : Screen
        What `screen` gave for these votes.
    tally : Tally
        The votes.
    law : Law, optional
        The rates that it was screened by, for the rule "swap".
    weight : str, float or Fraction
        The weight of the secondary.

    Returns
    -------
    Screen
        The same with its `reliability`.
    """
    x = as_weight(weight)
    many = len(found.models)
    drawn = np.random.default_rng(0).permutation(many)[:MOST_MODELS]
    checked_pairs = np.isin(found.primary, drawn) & np.isin(found.secondary, drawn)
    first, second, told = (each[checked_pairs] for each in (found.primary, found.secondary, found.predicted))
    chosen = [Pair(tally, a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    lift = Quantities(sums_of(chosen, x), x).lift[0]
    gain, predicted = int((lift > 0).sum()), int((told > 0).sum())
    low, high, worth = np.nan, np.nan, np.nan
    units = resampling_units(tally)
    if units.count >= LEAST_UNITS:
        parts = dealt(units)
        sums, (here, there) = sums_of(chosen, x, parts), parts.halves()
        lifts = Quantities(np.tensordot(there, sums, axes=1), x).lift
        screened = Quantities(np.tensordot(here, sums, axes=1), x)
        if found.rule == "margin" or law is None:
            values, slopes = law_sums(chosen, x, ("margin",), parts)
            moves = np.tensordot(here, slopes, axes=1)
            predictions = law_moved(values, moves, screened.n, sums[:, 0].sum(axis=0))[:, 0]
        else:
            predictions = screened.masses.predicted_swap(law.alpha, law.gamma)
        worth, low, high, _ = over_models(predictions, lifts, first, second)
    known, least, most = (None if isnan(each) else float(each) for each in (worth, low, high))
    checked = Reliability(known, least, most, "", gain, predicted, len(lift))
    return replace(found, reliability=replace(checked, note=_note(checked)))


def of_law(law: Law) -> Reliability:
    """What a law was worth on the votes that it was calibrated on, where nothing else can be checked."""
    ends = law.intervals.get("rho")
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    worth = law.fit.get("rho")
    shown = "undefined" if worth is None else f"{worth:.2f}"
    where = law.provenance.get("dataset")
    note = f"rank correlation with the lift {shown} on {where}, where the law was calibrated; elsewhere it may be lower"
    return Reliability(worth, low, high, note)


def _note(found: Reliability) -> str:
    counted = f"{found.predicted_gain} of {found.pairs} pairs are predicted to gain, {found.gain} do"
    if found.rho is None:
        return f"{counted}; all predictions or all lifts are equal, so there is nothing to rank"
    span = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}] over models"
    verdict = "use it to choose what to pool first"
    if found.is_worthless:
        verdict = "worthless here, do not choose pairs by this screen"
    elif found.low is None or found.low < 0:
        verdict = "it ranks these pairs, but may be worthless for other models"
    return f"{counted}; rank correlation with the lift on other questions {found.rho:.2f}{span}: {verdict}"
