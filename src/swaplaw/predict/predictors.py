"""The paper's Table of predictors: what tells observed lift in advance, and how well, over the pairs of a dataset.

`swap` needs the pooled votes and is a retrospective diagnostic; all others are known before pooling. The classical
measures of diversity stand beside them, then the laws from margins and shares (see `margins`, `shares` and `joint`),
and measures of agreement from the literature.

A rank correlation over pairs is uncertain in three ways, and each has its number: other questions (`rho_interval`,
by the bootstrap), other models (`model_interval`, by leaving out one model at a time), and that predictor and lift
were measured on the same questions (`rho_split`: the predictor from one half of the questions, lift from the other).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, log2
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Backend, Crew
from swaplaw._core.registry import Registry
from swaplaw._core.results import Result
from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.evidence.association import Against, centred_correlations, count, mean, over_models, rmse
from swaplaw.evidence.bootstrap import Estimate, Estimates, warn_few, without_each
from swaplaw.evidence.diversity import NON_PAIRWISE, PAIRWISE, classical
from swaplaw.evidence.intervals import LEVEL
from swaplaw.evidence.percentiles import Interval, Method, as_interval, bounds
from swaplaw.evidence.quantities import Quantities, Terms, require_columns_fit, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, Weighted, batch_of, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.predict.agreement import kappa_p, same_wrong
from swaplaw.predict.joint import joint_influence
from swaplaw.predict.law_file import Law
from swaplaw.predict.margins import Influence, margin_influence
from swaplaw.predict.shares import shares_influence
from swaplaw.votes import given
from swaplaw.votes.given import VotesLike

PAPER = ("swap", "predicted", "rescue", "collective", "gap", "phi_adj", "phi")
FROM_VOTES: dict[str, Callable[[Pair, Fraction], Influence]] = {
    "margin": margin_influence,
    "shares": shares_influence,
    "joint": joint_influence,
    "kappa_p": lambda pair, _: kappa_p(pair),
    "same_wrong": lambda pair, _: same_wrong(pair),
}
"""Predictors that need more of the votes than which models are right where."""
NAMES = (*PAPER, *PAIRWISE, *NON_PAIRWISE, *FROM_VOTES, "effective_votes")

SPLITS = 200
"""Random halves of the questions, for `rho_split`."""

Measure = Callable[[Quantities], Floats]
"""A number for each pair (last axis) under each weighting of the questions (first axis), NaN where undefined."""
MEASURES: Registry[Measure] = Registry("predictor")
"""Predictors that were added; those of the paper and the classical ones are always compared."""


def register(name: str, measure: Measure) -> None:
    """Add a predictor of your own: from then on it stands beside the others in every table of predictors.

    Parameters
    ----------
    name : str
        What it is called.
    measure : callable
        Gives one number for each pair from the pairs' quantities (`rescue`, `gap`, `phi_adj` and so on, as arrays).

    Raises
    ------
    InputError
        If a predictor of that name is there already.
    """
    if name in NAMES:
        raise InputError(f"there is a predictor {quote(name)} already; choose another name")
    MEASURES.register(name, measure)


@dataclass(frozen=True)
class Predictor:
    """How one number goes with observed lift over the pairs that define it."""

    name: str
    r2: Estimate
    """Squared Pearson correlation."""
    rho: Estimate
    """Spearman's rank correlation."""
    n: int
    """Pairs that define the number."""
    model_interval: Interval | None = None
    """Where rho would lie with other models of the same kind."""
    without_one: tuple[float, float] | None = None
    """The smallest and the largest rho when one model is left out."""
    split: float | None = None
    """Mean rho of the predictor from one half of the questions with lift on the other half."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = {f"{key}_interval": getattr(self, key).to_dict()["interval"] for key in ("r2", "rho")}
        models = None if self.model_interval is None else [self.model_interval.low, self.model_interval.high]
        return {
            "name": self.name,
            "r2": self.r2.value,
            "rho": self.rho.value,
            "n": self.n,
            **ends,
            "model_interval": models,
            "without_one": None if self.without_one is None else list(self.without_one),
            "rho_split": self.split,
        }


@dataclass(frozen=True)
class Predictors(Result):
    """The table of one dataset at one weight."""

    dataset: str
    weight: Fraction
    pairs: int
    predictors: tuple[Predictor, ...]
    rmse: Estimate
    """Direct error of S-hat, which predicts lift on its own scale."""
    baseline_rmse: Estimate
    """Error of predicting no lift at all."""
    alpha: float | None
    gamma: float | None
    calibrated_on: str | None
    """The dataset that the rates come from; None where they come from these very votes (in-sample)."""
    draws: Resampler = field(repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """List the predictors."""
        flat = (row.to_dict() for row in self.predictors)
        return [{name: value for name, value in row.items() if not isinstance(value, list | dict)} for row in flat]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "weight": str(self.weight),
            "pairs": self.pairs,
            "predictors": [row.to_dict() for row in self.predictors],
            "identity": {"rmse": self.rmse.value, "baseline_rmse": self.baseline_rmse.value},
            "law": {"alpha": self.alpha, "gamma": self.gamma, "calibrated_on": self.calibrated_on},
            "resampled": self.draws.to_dict(),
        }


def predictors(
    votes: VotesLike,
    law: Law | None = None,
    weight: str | float | Fraction | None = None,
    *,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = DEFAULT_REPLICATES,
    level: float = LEVEL,
    method: Method = "expanded",
    workers: int | None = None,
    backend: Backend = "processes",
) -> Predictors:
    """Compare every predictor with observed lift over all pairs, at one weight.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    law : Law, optional
        Conversion rates from other votes; without it the rates are those of these votes, so that `predicted` is
        in-sample.
    weight : str, float or Fraction, optional
        The weight of the secondary: the law's, or 2/3.
    by : {"question", "cluster"}, optional
        What is resampled; by default clusters where there are several.
    seed : int
        The same seed gives the same numbers.
    replicates : int
        Bootstrap draws.
    level : float
        Level of the intervals.
    method : {"expanded", "percentile", "bca"}
        How intervals are read off the draws.
    workers : int, optional
        Share the draws among this many; the numbers stay the same.
    backend : {"processes", "dask", "ray", "spark"}
        Where the workers are.

    Returns
    -------
    Predictors
        R2 and Spearman's rho of each predictor, with intervals.

    Examples
    --------
    >>> import swaplaw as sl
    >>> table = sl.predictors(sl.demo_votes(), replicates=200)
    >>> table.predictors[0].name, round(table.predictors[0].rho.value, 2)
    ('swap', 0.98)
    """
    tally = given.tally(votes)
    crew = Crew(workers, backend)
    if law is not None:
        law.require_weight(weight)
    draws = resampler(tally, by=by, seed=seed, replicates=replicates)
    terms = terms_of(pairs(tally), law.weight if law else DEFAULT_WEIGHT if weight is None else weight)
    found = terms.quantities()
    if len(terms.pairs) > 1 and np.ptp(found.lift) == 0:
        warnings.warn(
            f"all {len(terms.pairs)} pairs have the same lift at weight {terms.weight} ({found.lift[0]:+.3g}), so "
            "nothing can correlate with it; with one vote per question no secondary below weight 1 changes any answer",
            StatisticalWarning,
            stacklevel=2,
        )
    alpha, gamma = (law.alpha, law.gamma) if law else (_defined(mean(found.alpha)), _defined(mean(found.gamma)))
    compared = _Compared(terms, draws, None if law is None else (law.alpha, law.gamma))
    scores = compared.estimates(level, method, crew)
    rows = compared.rows(scores, level)
    return Predictors(
        tally.dataset,
        terms.weight,
        len(terms.pairs),
        rows,
        scores[2 * len(rows)],
        scores[2 * len(rows) + 1],
        alpha,
        gamma,
        None if law is None else str(law.provenance.get("dataset")),
        draws,
    )


def _number() -> int:
    """How many predictors are compared."""
    return len([*NAMES, *MEASURES])


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


class _Compared:
    """All predictors of the pairs of one dataset, ready to be drawn from."""

    def __init__(self, terms: Terms, draws: Resampler, rates: Sequence[float] | None) -> None:
        self.rates, self.draws = rates, draws
        self.terms = draws.gather(terms)
        self.influences = _influences(terms, draws)

    def values(self, found: Quantities, moved: Floats) -> dict[str, Floats]:
        """Every predictor by name; without frozen rates each draw has its own."""
        x = float(found.terms.weight)
        known = (
            {name: getattr(found, name) for name in PAPER if name != "predicted"}
            | {"predicted": self._predicted(found)}
            | classical(found)
            | self.influences.values(moved)
            | {"effective_votes": effective_votes(found.phi, x)}
        )
        return {name: known[name] for name in NAMES} | {name: MEASURES[name](found) for name in MEASURES}

    def _predicted(self, found: Quantities) -> Floats:
        alpha, gamma = self.rates or (mean(found.alpha)[..., None], mean(found.gamma)[..., None])
        return found.predicted_swap(alpha, gamma)

    def scores(self, sums: Floats, moved: Floats) -> Floats:
        """R2 and rho of every predictor in turn, then the error of S-hat and of predicting nothing."""
        found = Quantities(self.terms, sums)
        lift = found.lift
        errors = [rmse(self._predicted(found), lift), rmse(0 * lift, lift)]
        against = Against(lift)
        if not against.varies:
            # Nothing correlates with what never varies, so that nothing needs to be known of the others.
            nothing = np.full((len(lift), 2 * _number()), np.nan)
            return np.concatenate([nothing, np.stack(errors, axis=-1)], axis=1)
        values = self.values(found, moved)
        scores = [score(value) for value in values.values() for score in (against.r2, against.rho)]
        return np.stack([*scores, *errors], axis=-1)

    def estimates(self, level: float, method: Method, crew: Crew) -> Estimates:
        """The scores with intervals over questions: as far from the estimate as draws are from their median."""
        warn_few(self.draws)
        weighted = Weighted.of(self.scores, self.terms.columns, self.influences.columns)
        size = batch_of(self.terms.columns.shape[1] + self.influences.columns.shape[1])
        values = weighted(np.ones((self.draws.units, 1), dtype=np.uint8))[0]
        jackknife = np.moveaxis(without_each(self.draws.units, weighted, size), 0, -1) if method == "bca" else None
        replicates = self.draws.apply(weighted, crew=crew, size=size)
        undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
        if method != "bca":
            replicates[:-2] = centred_correlations(replicates[:-2], values[:-2])
        low, high = bounds(
            replicates, units=self.draws.units, level=level, method=method, estimate=values, jackknife=jackknife
        )
        return Estimates(values, low, high, undefined, level, method)

    def _at(self, weights: Floats, times: float = 1.0) -> tuple[Quantities, Floats]:
        """Quantities under some weightings of the units, and what the predictors from votes move by; sums as often."""
        found, moved = self.terms.quantities(weights), weights @ self.influences.columns
        return replace(found, totals=times * found.totals), times * moved

    def rows(self, scores: Estimates, level: float) -> tuple[Predictor, ...]:
        """The predictors, with what other models and other questions would make of them."""
        found, moved = self._at(np.ones((1, self.terms.units)))
        lift, values = found.lift[0], {name: value[0] for name, value in self.values(found, moved).items()}
        split = self._split()
        members = np.array([(pair.a, pair.b) for pair in self.terms.pairs]).T
        rows = []
        for place, (name, value) in enumerate(values.items()):
            low, high, without = over_models(value, lift, *members, level=level)
            known = without[~np.isnan(without)]
            rows.append(
                Predictor(
                    name,
                    scores[2 * place],
                    scores[2 * place + 1],
                    int(count(value)),
                    as_interval(low, high, level, "student"),
                    (float(known.min()), float(known.max())) if len(known) else None,
                    _defined(split[place]),
                )
            )
        return tuple(rows)

    def _split(self) -> Floats:
        """Mean over random halves of rho between a predictor on one half and lift on the other."""
        source = np.random.default_rng(self.draws.seed)
        half = np.argsort(source.random((SPLITS, self.terms.units)), axis=1) < self.terms.units // 2
        against = Against(self.terms.quantities((~half).astype(np.float64)).lift)
        if not against.varies:
            return np.full(_number(), np.nan)
        # A half's weights must sum to the whole's for influences to be a first-order change from it.
        found = [against.rho(value) for value in self.values(*self._at(half.astype(np.float64), 2.0)).values()]
        return mean(np.stack(found))


def effective_votes(phi: Floats, x: float) -> Floats:
    """Kish's effective number of votes of two models with weights 1 and x whose correctness correlates by phi."""
    found: Floats = (1 + x) ** 2 / (1 + x**2 + 2 * x * phi)
    return found


@dataclass(frozen=True)
class _Influences:
    """Predictors from votes, and how they move with the weight of each unit."""

    base: Floats
    """Their values: predictors x pairs."""
    columns: Floats
    """The influence of each unit, as whole numbers: units x (predictors x pairs), or nothing where none is needed."""
    unit: Floats
    """What to divide these by: predictors x pairs."""

    def values(self, moved: Floats) -> dict[str, Floats]:
        """The predictors by name in draws that move them by so much: draws x pairs each."""
        if not moved.shape[-1]:
            return {name: np.broadcast_to(own, (len(moved), len(own))) for name, own in self._named(self.base)}
        steps = moved.reshape(len(moved), *self.unit.shape) / self.unit
        return {name: own + steps[:, row] for row, (name, own) in enumerate(self._named(self.base))}

    @staticmethod
    def _named(base: Floats) -> list[tuple[str, Floats]]:
        return list(zip(FROM_VOTES, base, strict=True))


def _influences(terms: Terms, draws: Resampler) -> _Influences:
    """Measure every pair; where no pair gains or loses anything, influences are not needed and stay 0."""
    many, pairs = len(FROM_VOTES), len(terms.pairs)
    base, unit = np.empty((many, pairs)), np.ones((many, pairs))
    moves = terms.gains_vary
    if moves:
        require_columns_fit(pairs, draws.units, many)
    rows = np.zeros((many, pairs, draws.units if moves else 0))
    for column, pair in enumerate(terms.pairs):
        member = draws.member[pair.common]
        for row, measure in enumerate(FROM_VOTES.values()):
            found = measure(pair, terms.weight)
            base[row, column] = found.value
            if moves:
                # Whole numbers whose sums are exact, so that nothing depends on the order of addition.
                largest = max(float(np.abs(found.slope).max(initial=0)), 2.0**-200)
                unit[row, column] = 2.0 ** floor(51 - log2(largest * terms.units))
                whole = np.round(found.slope * unit[row, column])
                rows[row, column] = np.bincount(member, whole, minlength=draws.units)
    columns = rows.reshape(many * pairs, draws.units).T if moves else np.zeros((draws.units, 0))
    return _Influences(base, columns, unit)
