"""The paper's Table of predictors: what tells observed lift in advance, and how well, over the pairs of a dataset.

`swap` needs the pooled votes and is a retrospective diagnostic; all others are known before pooling. The classical
measures of diversity stand beside them: they are what a new indicator must beat.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Backend, Crew
from swaplaw._core.registry import Registry
from swaplaw._core.results import Result
from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.evidence.association import count, mean, r2, rho, rmse
from swaplaw.evidence.bootstrap import Estimate, estimate
from swaplaw.evidence.diversity import NON_PAIRWISE, PAIRWISE, classical
from swaplaw.evidence.intervals import LEVEL
from swaplaw.evidence.percentiles import Method
from swaplaw.evidence.quantities import Quantities, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.predict.law_file import Law
from swaplaw.votes import given
from swaplaw.votes.given import VotesLike

PAPER = ("swap", "predicted", "rescue", "collective", "gap", "phi_adj", "phi")
NAMES = (*PAPER, *PAIRWISE, *NON_PAIRWISE)

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

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = {f"{key}_interval": getattr(self, key).to_dict()["interval"] for key in ("r2", "rho")}
        return {"name": self.name, "r2": self.r2.value, "rho": self.rho.value, "n": self.n, **ends}


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
    rates = None if law is None else (law.alpha, law.gamma)
    scores = estimate(draws, terms, lambda each: _scores(each, rates), level=level, method=method, crew=crew)
    values = _values(found, rates)
    defined = count(np.stack(list(values.values())))
    rows = [Predictor(name, scores[2 * k], scores[2 * k + 1], int(defined[k])) for k, name in enumerate(values)]
    return Predictors(
        tally.dataset,
        terms.weight,
        len(terms.pairs),
        tuple(rows),
        scores[2 * len(rows)],
        scores[2 * len(rows) + 1],
        alpha,
        gamma,
        None if law is None else str(law.provenance.get("dataset")),
        draws,
    )


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


def _values(found: Quantities, rates: Sequence[float] | None) -> dict[str, Floats]:
    """Every predictor by name; without frozen rates each draw has its own."""
    alpha, gamma = rates or (mean(found.alpha)[..., None], mean(found.gamma)[..., None])
    own = {name: getattr(found, name) for name in PAPER if name != "predicted"}
    values = own | {"predicted": found.predicted_swap(alpha, gamma)} | classical(found)
    return {name: values[name] for name in NAMES} | {name: MEASURES[name](found) for name in MEASURES}


def _scores(found: Quantities, rates: Sequence[float] | None) -> Floats:
    """R2 and rho of every predictor in turn, then the error of S-hat and of predicting nothing."""
    lift, values = found.lift, _values(found, rates)
    scores = [score(value, lift) for value in values.values() for score in (r2, rho)]
    return np.stack([*scores, rmse(values["predicted"], lift), rmse(0 * lift, lift)], axis=-1)
