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
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Backend, Crew
from swaplaw._core.registry import Registry
from swaplaw._core.results import Result
from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.evidence.association import centred_correlations, count, mean, over_models, r2, rho, rmse
from swaplaw.evidence.bootstrap import Estimate, Estimates, warn_few
from swaplaw.evidence.diversity import NON_PAIRWISE, PAIRWISE, classical
from swaplaw.evidence.intervals import LEVEL
from swaplaw.evidence.percentiles import Interval, Method, as_interval, bounds
from swaplaw.evidence.quantities import Quantities, Terms, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, resampler
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
            "nothing can correlate with it; with one vote a question no secondary below weight 1 changes any answer",
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


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


class _Compared:
    """All predictors of the pairs of one dataset, ready to be drawn from."""

    def __init__(self, terms: Terms, draws: Resampler, rates: Sequence[float] | None) -> None:
        self.rates, self.draws = rates, draws
        self.base, influence, self.unit = _influences(terms)
        self.own = terms.columns.shape[1]
        columns = np.concatenate([terms.columns, influence], axis=1, dtype=np.float64)
        self.terms = draws.gather(replace(terms, columns=columns))

    def values(self, found: Quantities) -> dict[str, Floats]:
        """Every predictor by name; without frozen rates each draw has its own."""
        alpha, gamma = self.rates or (mean(found.alpha)[..., None], mean(found.gamma)[..., None])
        x = float(found.terms.weight)
        moved = found.totals[..., self.own :].reshape(*found.totals.shape[:-1], len(FROM_VOTES), -1) / self.unit
        known = (
            {name: getattr(found, name) for name in PAPER if name != "predicted"}
            | {"predicted": found.predicted_swap(alpha, gamma)}
            | classical(found)
            | {name: self.base[row] + moved[..., row, :] for row, name in enumerate(FROM_VOTES)}
            | {"effective_votes": effective_votes(found.phi, x)}
        )
        return {name: known[name] for name in NAMES} | {name: MEASURES[name](found) for name in MEASURES}

    def scores(self, sums: Floats) -> Floats:
        """R2 and rho of every predictor in turn, then the error of S-hat and of predicting nothing."""
        found = Quantities(self.terms, sums)
        lift, values = found.lift, self.values(found)
        scores = [score(value, lift) for value in values.values() for score in (r2, rho)]
        return np.stack([*scores, rmse(values["predicted"], lift), rmse(0 * lift, lift)], axis=-1)

    def estimates(self, level: float, method: Method, crew: Crew) -> Estimates:
        """The scores with intervals over questions: as far from the estimate as draws are from their median."""
        warn_few(self.draws)
        columns = self.terms.columns
        whole = columns.sum(axis=0, keepdims=True)
        values = self.scores(whole)[0]
        jackknife = np.moveaxis(self.scores(whole - columns), 0, -1) if method == "bca" else None
        replicates = self.draws.transform(columns, self.scores, crew=crew)
        undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
        if method != "bca":
            replicates[:-2] = centred_correlations(replicates[:-2], values[:-2])
        low, high = bounds(
            replicates, units=self.draws.units, level=level, method=method, estimate=values, jackknife=jackknife
        )
        return Estimates(values, low, high, undefined, level, method)

    def rows(self, scores: Estimates, level: float) -> tuple[Predictor, ...]:
        """The predictors, with what other models and other questions would make of them."""
        found = self.terms.quantities(np.ones((1, self.terms.units)))
        lift, values = found.lift[0], {name: value[0] for name, value in self.values(found).items()}
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
        first, second = (self.terms.quantities(weights) for weights in (half, ~half))
        # A half's weights must sum to the whole's for influences to be a first-order change from it.
        found = [rho(value, second.lift) for value in self.values(replace(first, totals=2 * first.totals)).values()]
        return mean(np.stack(found))


def effective_votes(phi: Floats, x: float) -> Floats:
    """Kish's effective number of votes of two models with weights 1 and x whose correctness correlates by phi."""
    found: Floats = (1 + x) ** 2 / (1 + x**2 + 2 * x * phi)
    return found


def _influences(terms: Terms) -> tuple[Floats, Floats, Floats]:
    """Predictors from votes: their values (predictors x pairs), and the influence of questions as whole numbers."""
    many = len(FROM_VOTES)
    base = np.empty((many, len(terms.pairs)))
    slopes = np.zeros((terms.units, many, len(terms.pairs)))
    for column, pair in enumerate(terms.pairs):
        for row, measure in enumerate(FROM_VOTES.values()):
            found = measure(pair, terms.weight)
            base[row, column] = found.value
            slopes[pair.common, row, column] = found.slope
    # Whole numbers whose sums are exact, so that nothing depends on the order of addition.
    largest = np.abs(slopes).max(axis=0, initial=0)
    unit = 2.0 ** np.floor(51 - np.log2(np.maximum(largest, 2.0**-200) * terms.units))
    return base, np.round(slopes * unit).reshape(terms.units, -1), unit
