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
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Crew, Workers
from swaplaw._core.registry import Registry
from swaplaw._core.results import Result
from swaplaw._core.threads import one_thread
from swaplaw.errors import InputError, StatisticalWarning, quote, several
from swaplaw.evidence.association import Against, centred_correlations, count, mean, over_models, rmse
from swaplaw.evidence.bootstrap import Estimate, Estimates, warn_few, without_each
from swaplaw.evidence.diversity import classical
from swaplaw.evidence.interval import LEVEL
from swaplaw.evidence.percentiles import Interval, Method, as_interval, bounds
from swaplaw.evidence.quantities import Quantities, Terms, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Counts, Resampler, Weighted, batch_of, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.predict.influences import influences
from swaplaw.predict.law_file import Law
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

PAPER = ("swap", "predicted", "rescue", "collective", "gap", "phi_adj", "phi")
MEANING = {
    "swap": "S*, measured swap mass (needs pooled votes)",
    "predicted": "S-hat, the calibrated heuristic",
    "rescue": "r, rescue mass",
    "collective": "m, collective accuracy",
    "gap": "accuracy gap",
    "phi_adj": "accuracy-adjusted correlation",
    "phi": "raw correlation",
    "q_statistic": "Yule's Q",
    "correlation": "the same as phi",
    "disagreement": "r + d",
    "double_fault": "z",
    "entropy": "for two models the same as disagreement",
    "kohavi_wolpert": "Kohavi-Wolpert variance, a quarter of disagreement",
    "kappa": "interrater agreement",
    "difficulty": "spread of the share of models that are right",
    "generalised_diversity": "Partridge & Krzanowski",
    "coincident_failure": "coincident failure diversity",
    "margin": "margin law, from each model's own margins",
    "shares": "shares law, from shares in each cell",
    "joint": "joint law, from margins on the same questions",
    "kappa_p": "CAPA, agreement beyond accuracy",
    "same_wrong": "agreement when both are wrong",
    "effective_votes": "Kish; ranks like -phi",
}
"""The predictors that are always compared, in the order of the table, and what each is."""

SPLITS = 200
"""Random halves of the questions, for `rho_split`."""

TWINS = {"correlation": ("phi", 1.0), "entropy": ("disagreement", 1.0), "kohavi_wolpert": ("disagreement", 4.0)}
"""Of two models, some classical measures are another one, or as many times it: they are not ranked again."""
NEAR = 64
"""Draws that are scored at a time: so that what is known of all pairs stays near the processor."""

Measure = Callable[[Quantities], Floats]
"""A number for each pair (last axis) under each weighting of the questions (first axis), NaN where undefined."""
MEASURES: Registry[tuple[Measure, str]] = Registry("predictor")
"""Predictors that were added, each with what it is."""


def register(name: str, measure: Measure, meaning: str = "added here") -> None:
    """Add a predictor of your own: from then on it stands beside the others in every table of predictors.

    Parameters
    ----------
    name : str
        What it is called.
    measure : callable
        Gives one number for each pair from the pairs' quantities (`rescue`, `gap`, `phi_adj` and so on, as arrays).
    meaning : str
        What the table says about it, in a few words.

    Raises
    ------
    InputError
        If a predictor of that name is there already.

    Examples
    --------
    >>> import swaplaw as sl
    >>> register("oracle", lambda pairs: pairs.p + pairs.rescue, "accuracy if the right model were always chosen")
    >>> sl.predictors(sl.demo_votes(), replicates=20).predictors[-1].name
    'oracle'
    >>> MEASURES.unregister("oracle")
    """
    if name in MEANING:
        raise InputError(f"there is a predictor {quote(name)} already; choose another name")
    MEASURES.register(name, (measure, meaning))


@dataclass(frozen=True)
class Predictor:
    """How well one number predicts observed lift, over the pairs where it is defined."""

    name: str
    r2: Estimate
    """Squared Pearson correlation."""
    rho: Estimate
    """Spearman's rank correlation."""
    n: int
    """Pairs for which the number is defined."""
    model_interval: Interval | None = None
    """Where rho would lie with other models of the same kind."""
    without_one: tuple[float, float] | None = None
    """The smallest and the largest rho when one model is left out."""
    split: float | None = None
    """Mean rho between the predictor on one half of the questions and lift on the other half."""
    meaning: str = ""
    """What it is, in a few words."""

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

    def __repr__(self) -> str:
        counted = f"{several(self.pairs, 'pair')}, {several(len(self.predictors), 'predictor')}"
        return f"Predictors({self.dataset!r} at weight {self.weight}, {counted})"

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
    workers: Workers = None,
) -> Predictors:
    """Compare every predictor with observed lift over all pairs, at one weight.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    law : Law, optional
        Conversion rates from other votes; without it the rates come from these votes, so `predicted` is in-sample.
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
    tally = inputs.tally(votes)
    crew = Crew(workers)
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
    # What was laid out for all questions makes room.
    terms = compared.terms
    del found
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
    return len([*MEANING, *MEASURES])


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


class _Compared:
    """All predictors of the pairs of one dataset, ready to be drawn from."""

    def __init__(self, terms: Terms, draws: Resampler, rates: Sequence[float] | None) -> None:
        self.rates, self.draws = rates, draws
        gathered = draws.gather(terms)
        self.influences = influences(terms, draws)
        matrices = (gathered.columns, *self.influences.matrices)
        self.width = sum(matrix.shape[1] for matrix in matrices)
        self.weighted = Weighted.of(self.scores, *matrices)
        # Products hold all that is summed: what they were made of makes room.
        self.terms = gathered.without_columns()
        self.influences = self.influences.without_columns()

    def values(self, found: Quantities, sums: Sequence[Floats], times: float = 1.0) -> dict[str, Floats]:
        """Every predictor by name; without frozen rates each draw has its own."""
        x = float(found.terms.weight)
        known = (
            {name: getattr(found, name) for name in PAPER if name != "predicted"}
            | {"predicted": self._predicted(found)}
            | classical(found)
            | self.influences.values(found, sums, times)
            | {"effective_votes": effective_votes(found.phi, x)}
        )
        return {name: known[name] for name in MEANING} | {name: MEASURES[name][0](found) for name in MEASURES}

    def _predicted(self, found: Quantities) -> Floats:
        alpha, gamma = self.rates or (mean(found.alpha)[..., None], mean(found.gamma)[..., None])
        return found.predicted_swap(alpha, gamma)

    def scores(self, totals: Floats, *sums: Floats) -> Floats:
        """R2 and rho of every predictor in turn, then the error of S-hat and of predicting nothing."""
        parts = [slice(first, first + NEAR) for first in range(0, len(totals), NEAR)]
        # Pairs side by side in memory: that is how they are ranked.
        rows = ((np.ascontiguousarray(each[part]) for each in (totals, *sums)) for part in parts)
        return np.concatenate([self._scores(*each) for each in rows])

    def _scores(self, totals: Floats, *sums: Floats) -> Floats:
        found = Quantities(self.terms, totals)
        lift = found.lift
        errors = [rmse(self._predicted(found), lift), rmse(0 * lift, lift)]
        against = Against(lift)
        if not against.varies:
            # Nothing correlates with what never varies, so that nothing needs to be known of the others.
            nothing = np.full((len(lift), 2 * _number()), np.nan)
            return np.concatenate([nothing, np.stack(errors, axis=-1)], axis=1)
        values = self.values(found, sums)
        scores: dict[str, tuple[Floats, Floats]] = {}
        for name, value in values.items():
            twin, times = TWINS.get(name, (name, 1.0))
            if twin in scores and np.array_equal(times * value, values[twin], equal_nan=True):
                scores[name] = scores[twin]
            else:
                scores[name] = against.r2(value), against.rho(value)
        return np.stack([*chain.from_iterable(scores.values()), *errors], axis=-1)

    def estimates(self, level: float, method: Method, crew: Crew) -> Estimates:
        """The scores with intervals over questions: as far from the estimate as draws are from their median."""
        warn_few(self.draws)
        size = batch_of(self.width)
        values = self.weighted(self._once)[0]
        jackknife = None
        if method == "bca":
            jackknife = np.moveaxis(without_each(self.draws.units, self.weighted, size), 0, -1)
        replicates = self.draws.apply(self.weighted, crew=crew, size=size)
        undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
        if method != "bca":
            replicates[:-2] = centred_correlations(replicates[:-2], values[:-2])
        low, high = bounds(
            replicates, units=self.draws.units, level=level, method=method, estimate=values, jackknife=jackknife
        )
        return Estimates(values, low, high, undefined, level, method)

    @property
    def _once(self) -> Counts:
        """Every unit, once."""
        return np.ones((self.draws.units, 1), dtype=np.uint8)

    def rows(self, scores: Estimates, level: float) -> tuple[Predictor, ...]:
        """The predictors, with what other models and other questions would make of them."""
        totals, *sums = self.weighted.sums(self._once)
        found = Quantities(self.terms, totals)
        lift, values = found.lift[0], {name: value[0] for name, value in self.values(found, sums).items()}
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
                    MEANING.get(name) or MEASURES[name][1],
                )
            )
        return tuple(rows)

    def _split(self) -> Floats:
        """Mean over random halves of rho between a predictor on one half and lift on the other."""
        units = self.draws.units
        source = np.random.default_rng(self.draws.seed)
        half = (np.argsort(source.random((SPLITS, units)), axis=1) < units // 2).T.astype(np.uint8)
        with one_thread():
            other, *_ = self.weighted.sums(1 - half, first=1)
            against = Against(Quantities(self.terms, other).lift)
            if not against.varies:
                return np.full(_number(), np.nan)
            # A half's weights must sum to the whole's for influences to be a first-order change from it.
            totals, *sums = self.weighted.sums(half)
        values = self.values(Quantities(self.terms, 2.0 * totals), sums, times=2.0)
        return mean(np.stack([against.rho(value) for value in values.values()]))


def effective_votes(phi: Floats, x: float) -> Floats:
    """Kish's effective number of votes of two models with weights 1 and x whose correctness correlates by phi."""
    found: Floats = (1 + x) ** 2 / (1 + x**2 + 2 * x * phi)
    return found
