"""The paper's claims on other fleets: rates, residual, predictors, and transfers between datasets.

For each dataset: the mean conversion rates, lambda and the residual (RQ1), R2, rho and error of every predictor of lift
(RQ2), and how rates frozen on each dataset do on every other (RQ3). Pairs are oriented as everywhere, the more
accurate model first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._result import Result
from swaplaw.errors import InputError
from swaplaw.evidence.association import mean, r2, rho, rmse, slope
from swaplaw.evidence.quantities import Quantities, quantities_of
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.agreement import agreement_sums, kappa_p, same_wrong
from swaplaw.predict.laws.conditional import conditional_lift, conditional_rates
from swaplaw.predict.laws.histograms import Histogram, histogram_from_accuracies, histogram_lift
from swaplaw.predict.predictors import LAWS as FROM_VOTES
from swaplaw.predict.predictors import law_sums
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

LAWS = ("predicted", "accuracies", "conditional", "margin", "shares", "joint")
"""Predictors on lift's own scale, whose error means something."""
SURE = 1e-4
"""Accuracies nearer to 0 or 1 than this are taken as this far away."""
COMPARED = ("swap", *LAWS, "rescue", "gap", "phi_adj", "phi", "kappa_p", "same_wrong")


@dataclass(frozen=True)
class Studied:
    """One dataset at one weight."""

    dataset: str
    models: int
    questions: int
    pairs: int
    gaining: int
    alpha: float
    gamma: float
    slope: float
    """lambda."""
    residual: float
    """Mean of repair less corruption."""
    baseline: float
    """RMSE of predicting no lift."""
    r2: Mapping[str, float]
    rho: Mapping[str, float]
    rmse: Mapping[str, float]


@dataclass(frozen=True)
class Transfer:
    """Rates frozen on one dataset, tried on another."""

    source: str
    target: str
    rho: float
    rmse: float
    baseline: float
    """RMSE of predicting no lift on the target."""


@dataclass(frozen=True)
class Replication(Result):
    """All datasets at one weight, and all transfers between them."""

    weight: Fraction
    datasets: tuple[Studied, ...]
    transfers: tuple[Transfer, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"Replication({', '.join(repr(each.dataset) for each in self.datasets)} at weight {self.weight})"

    def median(self, what: str, name: str) -> float:
        """Median over the datasets of r2, rho or rmse of a predictor.

        Parameters
        ----------
        what : {"r2", "rho", "rmse"}
            Which measure of fit.
        name : str
            The predictor.

        Returns
        -------
        float
            The median over the datasets that define it.
        """
        return float(np.nanmedian([getattr(each, what)[name] for each in self.datasets]))

    def rows(self) -> list[dict[str, Any]]:
        """One row per dataset."""
        return [
            {name: value for name, value in vars(each).items() if not isinstance(value, Mapping)}
            | {f"rho_{name}": value for name, value in each.rho.items()}
            for each in self.datasets
        ]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "weight": str(self.weight),
            "datasets": [_plain(vars(each)) for each in self.datasets],
            "transfers": [_plain(vars(each)) for each in self.transfers],
        }


def replicate(datasets: Sequence[VotesLike], weight: str | float | Fraction = DEFAULT_WEIGHT) -> Replication:
    """Try the paper's claims on every dataset, and the rates of each dataset on every other.

    Parameters
    ----------
    datasets : sequence of Tally, Votes, dataframes or paths
        Votes of two datasets or more. A dataset is left out if all its pairs have the same lift at this weight (one
        sample per model below weight 1).
    weight : str, float or Fraction
        The weight of the secondary.

    Returns
    -------
    Replication
        `predicted` is S-hat with the mean rates of the other datasets, `conditional` has rates by margin from them, and
        `accuracies` knows only both models' accuracies and phi_adj.

    Raises
    ------
    InputError
        If fewer than two datasets are left.

    Examples
    --------
    >>> import swaplaw as sl
    >>> replicate([sl.demo_votes("exams"), sl.demo_votes("forensic-twin")])
    Replication('renze-temperature', 'forensic-twin' at weight 2/3)
    """
    if not isinstance(datasets, list | tuple):
        raise InputError("a replication needs a list of votes, one entry per dataset")
    x, tallies = as_weight(weight), [inputs.tally(votes) for votes in datasets]
    measured = [_Measured.of(tally, x) for tally in tallies]
    kept = {each.tally.dataset: each for each in measured if np.ptp(each.found.lift) > 0}
    if len(kept) < 2:
        raise InputError(f"a replication needs two datasets whose pairs differ in lift at weight {x}")
    rates = {name: (float(mean(each.found.alpha[0])), float(mean(each.found.gamma[0]))) for name, each in kept.items()}
    by_margin = {name: conditional_rates(each.pairs, x) for name, each in kept.items()}
    studied = tuple(_studied(each, x, rates, by_margin) for each in kept.values())
    transfers = tuple(
        _transfer(source, target, kept[target].found, rates[source])
        for source in kept
        for target in kept
        if source != target
    )
    return Replication(x, studied, transfers)


@dataclass(frozen=True)
class _Measured:
    """The pairs of a dataset and what the law says of them."""

    tally: Tally
    pairs: tuple[Pair, ...]
    found: Quantities

    @classmethod
    def of(cls, tally: Tally, x: Fraction) -> _Measured:
        chosen = tuple(pairs(tally))
        return cls(tally, chosen, quantities_of(chosen, x))


def _studied(
    own: _Measured, x: Fraction, rates: Mapping[str, tuple[float, float]], by_margin: Mapping[str, Floats]
) -> Studied:
    tally, found = own.tally, own.found
    frozen = np.mean([each for name, each in rates.items() if name != tally.dataset], axis=0)
    binned = _known_means([each for name, each in by_margin.items() if name != tally.dataset])
    agreed = agreement_sums(own.pairs)
    values: dict[str, Floats] = {
        "predicted": found.masses.predicted_swap(*frozen)[0],
        "conditional": np.array([conditional_lift(pair, x, binned) for pair in own.pairs]),
        "accuracies": np.array([_by_accuracies(pair, x) for pair in own.pairs]),
        "kappa_p": kappa_p(agreed)[0],
        "same_wrong": same_wrong(agreed)[0],
        **dict(zip(FROM_VOTES, law_sums(own.pairs, x)[0], strict=True)),
    }
    values |= {name: getattr(found, name)[0] for name in COMPARED if name not in values}
    lift = found.lift[0]
    return Studied(
        tally.dataset,
        len(tally.models),
        len(tally.questions),
        len(own.pairs),
        int((lift > 0).sum()),
        *rates[tally.dataset],
        float(slope(found.swap[0], lift)),
        float(mean(found.residual[0])),
        float(rmse(0 * lift, lift)),
        {name: float(r2(values[name], lift)) for name in COMPARED},
        {name: float(rho(values[name], lift)) for name in COMPARED},
        {name: float(rmse(values[name], lift)) for name in LAWS},
    )


def _known_means(tables: Sequence[Floats]) -> Floats:
    """Means over datasets of what is known; NaN where none knows anything."""
    known = ~np.isnan(tables)
    total = np.where(known, tables, 0).sum(axis=0)
    found: Floats = np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
    return found


def _by_accuracies(pair: Pair, weight: Fraction) -> float:
    """What two accuracies of each model and phi_adj say about the lift."""
    tally, where, masses = pair.tally, pair.common, pair.masses

    def spread(model: int, plurality: Fraction) -> Histogram:
        single = (tally.right_votes(model)[where] / tally.votes[model][where]).mean()
        return histogram_from_accuracies(*(float(np.clip(x, SURE, 1 - SURE)) for x in (float(plurality), single)))

    first, second = spread(pair.a, masses.p), spread(pair.b, masses.q)
    return histogram_lift(first, second, _possible(float(masses.phi_adj or 0), first, second), weight)


def _possible(phi_adj: float, first: Histogram, second: Histogram) -> float:
    """The nearest phi_adj that two accuracies allow: a Beta distribution may miss an accuracy by a little."""
    p, q = first.accuracy, second.accuracy
    return float(np.clip(phi_adj, 1 - min(q, 1 - p) / (q * (1 - p)), 1 - max(0.0, q - p) / (q * (1 - p))))


def _transfer(source: str, target: str, found: Quantities, rates: tuple[float, float]) -> Transfer:
    predicted, lift = found.masses.predicted_swap(*rates)[0], found.lift[0]
    scores = (rho(predicted, lift), rmse(predicted, lift), rmse(0 * lift, lift))
    return Transfer(source, target, *map(float, scores))


def _plain(value: Any) -> Any:
    """Plain data without NaN."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and np.isnan(value) else value
