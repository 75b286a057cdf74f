"""The paper's Table of predictors: what tells observed lift in advance, and how well, over the pairs of a dataset.

`swap` needs the pooled votes and is a retrospective diagnostic; all others are known before pooling. The classical
measures of diversity stand beside them, then the laws from margins and shares (see `laws`),
and measures of agreement from the literature.

A rank correlation over pairs is uncertain in three ways, and each has its number: other questions (`rho_interval`,
by the jackknife), other models (`model_interval`, by leaving out one model at a time), and that predictor and lift
were measured on the same questions (`rho_split`: the predictor from one half of the questions, lift from the other).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._result import Registry, Result
from swaplaw.errors import InputError, StatisticalWarning, quote, several
from swaplaw.evidence.association import count, mean, over_models, r2, rho, rmse
from swaplaw.evidence.diversity import classical
from swaplaw.evidence.interval import LEVEL, Interval
from swaplaw.evidence.jackknife import PARTS, Estimate, Estimates, Parts, jackknife, parts_of
from swaplaw.evidence.quantities import SUMMED, Quantities, sums_of
from swaplaw.evidence.units import Unit
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.predict.agreement import SUMS, agreement_sums, kappa_p, same_wrong
from swaplaw.predict.law_file import Law
from swaplaw.predict.laws import Alike, Influence, alike, joint_influence, margin_influence, shares_influence
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

LAWS: dict[str, Callable[[Alike, Fraction], Influence]] = {
    "margin": margin_influence,
    "shares": shares_influence,
    "joint": joint_influence,
}
"""Laws that are worked out on kinds of questions (see `laws`)."""

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
    parts: Parts = field(repr=False)

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
            "resampled": self.parts.to_dict(),
        }


def predictors(
    votes: VotesLike,
    law: Law | None = None,
    weight: str | float | Fraction | None = None,
    *,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = PARTS,
    level: float = LEVEL,
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
    seed, replicates : int
        How units are dealt into parts, each of which is left out once.
    level : float
        Level of the intervals.

    Returns
    -------
    Predictors
        R2 and Spearman's rho of each predictor, with intervals.

    Examples
    --------
    >>> import swaplaw as sl
    >>> table = sl.predictors(sl.demo_votes())
    >>> table.predictors[0].name, round(table.predictors[0].rho.value, 2)
    ('swap', 0.98)
    """
    tally = inputs.tally(votes)
    if law is not None:
        law.require_weight(weight)
    x = as_weight(law.weight if law else DEFAULT_WEIGHT if weight is None else weight)
    parts, chosen = parts_of(tally, by=by, seed=seed, replicates=replicates), list(pairs(tally))
    parts.warn_few()
    base = sums_of(chosen, x, parts)
    found = Quantities(base.sum(axis=0, keepdims=True), x)
    lift = found.lift[0]
    if len(chosen) > 1 and np.ptp(lift) == 0:
        warnings.warn(
            f"all {len(chosen)} pairs have the same lift at weight {x} ({lift[0]:+.3g}), so nothing can correlate with "
            "it; with one vote per question no secondary below weight 1 changes any answer",
            StatisticalWarning,
            stacklevel=2,
        )
    rates = (law.alpha, law.gamma) if law else None
    alpha, gamma = rates or (_defined(mean(found.alpha[0])), _defined(mean(found.gamma[0])))
    values, slopes = law_sums(chosen, x, parts=parts)
    every = np.concatenate([base, agreement_sums(chosen, parts), slopes], axis=1)
    compared = _Compared(x, rates, values)
    squares = np.array([True, False] * len(compared.names) + [True, True])
    # Noise makes squared correlations and squared errors larger; a rank correlation is no square.
    scored = jackknife(
        every, compared.scores, level=level, inflated=squares, least=np.where(squares, 0.0, -1.0), most=1.0
    )
    rows = _rows(compared, scored, every, chosen, parts, level)
    error, baseline = (Estimate(_defined(np.sqrt(each)), None) for each in scored.values[-2:])
    return Predictors(
        tally.dataset,
        x,
        len(chosen),
        rows,
        error,
        baseline,
        alpha,
        gamma,
        None if law is None else str(law.provenance.get("dataset")),
        parts,
    )


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


def law_sums(
    chosen: Sequence[Pair], x: Fraction, names: Sequence[str] = tuple(LAWS), parts: Parts | None = None
) -> tuple[Floats, Floats]:
    """What laws say of each pair (laws x pairs), and how far each part moves them (parts x laws x pairs)."""
    values = np.empty((len(names), len(chosen)))
    slopes = np.zeros((1 if parts is None else parts.replicates, len(names), len(chosen)))
    for column, pair in enumerate(chosen):
        found, common = alike(pair), np.flatnonzero(pair.common)
        for row, name in enumerate(names):
            influence = LAWS[name](found, x)
            values[row, column] = influence.value
            if parts is not None:
                slopes[:, row, column] = parts.sums(influence.slope, common)
    return values, slopes


def law_moved(values: Floats, moves: Floats, n: Floats, questions: Floats) -> Floats:
    """What laws say of samples with n of the questions, to first order: samples x laws x pairs.

    `moves` are the summed influences of what is in a sample, each of which is for a sample as large as all questions.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        moved: Floats = values + moves * (questions / n)[:, None]
    return moved


@dataclass(frozen=True)
class _Compared:
    """All predictors of the pairs of one dataset."""

    x: Fraction
    rates: tuple[float, float] | None
    """Frozen rates; without them each sample has its own."""
    laws: Floats
    """What the laws say on all questions; how parts move them is known to first order."""

    @property
    def names(self) -> list[str]:
        """The predictors, in the order of the table."""
        return [*MEANING, *MEASURES]

    def quantities(self, sums: Floats) -> Quantities:
        """What the law says of all pairs."""
        return Quantities(sums[:, :SUMMED], self.x)

    def predicted(self, found: Quantities) -> Floats:
        """S-hat."""
        alpha, gamma = self.rates or (mean(found.alpha)[:, None], mean(found.gamma)[:, None])
        swap: Floats = found.masses.predicted_swap(alpha, gamma)
        return swap

    def values(self, sums: Floats, questions: Floats) -> dict[str, Floats]:
        """Every predictor by name in samples with these sums; `questions` is how many all samples together have."""
        found, agreed = self.quantities(sums), sums[:, SUMMED : SUMMED + len(SUMS)]
        moved = law_moved(self.laws, sums[:, SUMMED + len(SUMS) :], found.n, questions)
        known = {name: getattr(found, name) for name in PAPER if name != "predicted"} | classical(found)
        known |= dict(zip(LAWS, np.moveaxis(moved, 1, 0), strict=True))
        known |= {"predicted": self.predicted(found), "kappa_p": kappa_p(agreed), "same_wrong": same_wrong(agreed)}
        known |= {"effective_votes": effective_votes(found.phi, float(self.x))}
        return {name: known[name] for name in MEANING} | {name: MEASURES[name][0](found) for name in MEASURES}

    def scores(self, sums: Floats) -> Floats:
        """R2 and rho of every predictor in turn, then the squared errors of S-hat and of predicting nothing."""
        found = self.quantities(sums)
        lift = found.lift
        values = self.values(sums, found.n.max(axis=0))
        fits = [each for value in values.values() for each in (r2(value, lift), rho(value, lift))]
        errors = [rmse(self.predicted(found), lift) ** 2, rmse(0 * lift, lift) ** 2]
        return np.stack([*fits, *errors], axis=-1)


def _rows(
    compared: _Compared, scored: Estimates, sums: Floats, chosen: Sequence[Pair], parts: Parts, level: float
) -> tuple[Predictor, ...]:
    """The predictors, with what other models and other questions would make of them."""
    whole = sums.sum(axis=0, keepdims=True)
    found = compared.quantities(whole)
    values, lift = compared.values(whole, found.n[0]), found.lift[0]
    first, second = (np.array([getattr(pair, side) for pair in chosen]) for side in "ab")
    split = split_half(compared, sums, parts)
    rows = []
    for place, name in enumerate(compared.names):
        _, low, high, without = over_models(values[name][0], lift, first, second, level=level)
        known = without[~np.isnan(without)]
        squared, ranked = scored[2 * place], scored[2 * place + 1]
        rows.append(
            Predictor(
                name,
                squared,
                ranked,
                int(count(values[name][0])),
                None if np.isnan(low) else Interval(low, high, level, "student"),
                (float(known.min()), float(known.max())) if len(known) else None,
                _defined(split[name]),
                MEANING.get(name) or MEASURES[name][1],
            )
        )
    return tuple(rows)


def split_half(compared: _Compared, sums: Floats, parts: Parts) -> dict[str, Floats]:
    """Mean over random halves of rho between a predictor on one half of the parts and lift on the other half."""
    here, there = (np.tensordot(taken, sums, axes=1) for taken in parts.halves())
    lift = compared.quantities(there).lift
    values = compared.values(here, sums[:, 0].sum(axis=0))
    return {name: mean(rho(value, lift)) for name, value in values.items()}


def effective_votes(phi: Floats, x: float) -> Floats:
    """Kish's effective number of votes of two models with weights 1 and x whose correctness correlates by phi."""
    found: Floats = (1 + x) ** 2 / (1 + x**2 + 2 * x * phi)
    return found
