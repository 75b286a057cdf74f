"""Every way to combine a fleet, judged on the same held-out questions, beside the best weights that there are.

Each rule (see `rules`) is cross-fitted against the best single model (see `crossfit`). In-sample figures of the same
rules, and the proven optimum over all weights, show how much of what a rule promises is luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._parallel import Crew, Progress, Workers
from swaplaw._result import Result
from swaplaw.decide.crossfit import Choice, Crossfit, Scorer, crossfit, deal, read_as
from swaplaw.decide.defaults import FOLDS, REPEATS
from swaplaw.decide.front import answered_by_all, pricing
from swaplaw.decide.policy import Silence
from swaplaw.decide.rules import RULES, CombiningRule
from swaplaw.errors import InputError, listing
from swaplaw.evidence.interval import Effect
from swaplaw.evidence.resample import Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.weights import as_weight
from swaplaw.panels.exact import FleetOptimum, fleet_optimum
from swaplaw.panels.panel import Weight
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

REPLICATES = 2_000
"""Draws that the probability of being the best rule rests on."""


@dataclass(frozen=True)
class RuleResult:
    """One rule: what it chooses, in-sample and held out."""

    rule: CombiningRule
    weights: Mapping[str, Fraction]
    """The weights chosen on all questions, by model; models without weight are left out."""
    accuracy: Fraction
    """In-sample: the accuracy of these weights on the questions that chose them."""
    in_sample: Effect
    """In-sample gain over the best single model."""
    gain: Effect
    """Held-out gain over the best single model, both chosen on training folds."""
    held_out: float
    """Held-out accuracy."""
    probability_best: float
    """How often the rule has the highest held-out accuracy when questions are drawn again."""
    cost: float
    """Cost of a question: prices of all samples, or how many samples there are where prices are unknown."""
    fallback: tuple[str, ...]
    """Models asked in this order where nothing was said or a tie stands."""
    silence: Silence
    """What null votes do."""

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        return {
            "rule": self.rule.name,
            "needs_labels": self.rule.needs_labels,
            "weights": {model: str(weight) for model, weight in self.weights.items()},
            "accuracy": float(self.accuracy),
            "held_out": self.held_out,
            "in_sample": _interval(self.in_sample),
            "gain": _interval(self.gain),
            "probability_best": self.probability_best,
            "cost": self.cost,
            "silence": self.silence,
            "fallback": list(self.fallback),
        }


def _interval(found: Effect) -> dict[str, float]:
    return {"mean": found.mean, "low": found.low, "high": found.high}


@dataclass(frozen=True)
class GivenWeights:
    """Weights that somebody else chose, scored exactly."""

    weights: Mapping[str, Fraction]
    accuracy: Fraction
    score: Fraction
    """Questions that the vote gets right, ties in part."""

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        weights = {model: str(weight) for model, weight in self.weights.items()}
        return {"weights": weights, "accuracy": float(self.accuracy), "score": float(self.score)}


@dataclass(frozen=True, repr=False)
class Combination(Result):
    """All rules on one dataset, the one with the highest held-out accuracy first."""

    tally: Tally
    """The models compared, on the questions that all of them answered."""
    of: int
    """Questions of the dataset."""
    baseline: str
    """The most accurate single model."""
    baseline_accuracy: Fraction
    rules: tuple[RuleResult, ...]
    optimum: FleetOptimum | None
    """The best weights over all models, as far as they are known; None if not requested."""
    given: GivenWeights | None
    """Weights that were given, to be compared with the optimum."""
    fitted: Crossfit
    """The cross-fit that all held-out numbers come from."""
    resampled: Resampler

    def __getitem__(self, rule: str) -> RuleResult:
        """The result of one rule, by name."""
        for found in self.rules:
            if found.rule.name == rule:
                return found
        raise InputError(f"there is no rule {rule!r} among {listing([one.rule.name for one in self.rules], 20)}")

    @cached_property
    def distances(self) -> dict[str, Fraction]:
        """How far each rule's in-sample accuracy is from the optimum's bound."""
        if self.optimum is None:
            return {}
        return {one.rule.name: self.optimum.bound - one.accuracy for one in self.rules}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.tally.dataset,
            "n": len(self.tally.questions),
            "of": self.of,
            "baseline": {"model": self.baseline, "accuracy": float(self.baseline_accuracy)},
            "rules": [
                one.to_dict() | ({"to_optimum": float(self.distances[one.rule.name])} if self.optimum else {})
                for one in self.rules
            ],
            "optimum": None if self.optimum is None else self.optimum.to_dict(),
            "given": None if self.given is None else self.given.to_dict(),
            "resampled": self.resampled.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per rule."""
        return [
            {
                "rule": one.rule.name,
                "members": len(one.weights),
                "accuracy": float(one.accuracy),
                "held_out": one.held_out,
                "gain": one.gain.mean,
                "low": one.gain.low,
                "high": one.gain.high,
                "probability_best": one.probability_best,
                "cost": one.cost,
            }
            for one in self.rules
        ]


def combine(
    votes: VotesLike,
    *,
    rules: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    weights: Mapping[str, Weight] | None = None,
    silence: Silence | None = None,
    prices: Mapping[str, float] | None = None,
    by: Unit | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    proof: bool = False,
    work: float | None = None,
    workers: Workers = None,
    progress: Progress = iter,
) -> Combination:
    """Compare ways to combine a fleet on questions that had no part in choosing the weights.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`). Questions that some model did not answer are left out.
    rules : sequence of str, optional
        Names of the rules to compare; all that are registered if not given.
    models : sequence of str, optional
        Names of the models to combine; all if not given.
    weights : mapping, optional
        Weights by model, such as published ones: they are scored exactly and compared with the optimum.
    silence : {"counts", "ignored"}, optional
        What null votes do in every rule and in the best single model; by default what each rule says.
    prices : mapping, optional
        Price of a sample of each model, for the cost of a question.
    by : {"question", "cluster"}, optional
        What is held out together and resampled; by default clusters where there are any.
    folds, repeats, seed : int
        How many parts questions are dealt into, how often, and the seed.
    proof : bool
        Whether to search the optimum over all weights of the fleet and prove it, too: most of the time.
    work : float, optional
        Planes that this search may look at (see `swaplaw.panels.certify`).
    workers, progress
        Who does the work, and what shows its progress.

    Returns
    -------
    Combination
        The rules, ordered by held-out accuracy, and the optimum.

    Raises
    ------
    InputError
        If a rule or model is unknown, or there is too little to hold out.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.combine(sl.demo_votes(), rules=["best_single", "equal"], repeats=1)
    >>> [(one.rule.name, round(float(one.accuracy), 3)) for one in found.rules]
    [('best_single', 0.81), ('equal', 0.77)]
    """
    tally = inputs.tally(votes)
    considered = answered_by_all(tally, models)
    chosen = [RULES[name] for name in (RULES if rules is None else dict.fromkeys(rules))]
    if silence is not None:
        considered = read_as(considered, silence)
        chosen = [replace(rule, silence=silence) for rule in chosen]
    if not chosen:
        raise InputError(f"no rule is named: choose from {listing(list(RULES), 20)}")
    costs = pricing(tally, considered.models, prices)
    draws = resampler(considered, by=by, seed=seed, replicates=REPLICATES)
    dealt = deal(draws.member, folds=folds, repeats=repeats, seed=seed)
    fitted = crossfit(considered, chosen, dealt, crew=Crew(workers), progress=progress)
    shares = _best_shares(np.stack([one.scores for one in fitted.rules.values()]), draws)
    results = [_result(fitted, rule, float(share), costs) for rule, share in zip(chosen, shares, strict=True)]
    # The rules' own silence, so that what they leave of the optimum is comparable.
    read = Scorer(considered).read(chosen[0].silence)
    given = None if weights is None else _given(read, weights)
    starts = [dict(zip(one.choice.members, one.choice.weights, strict=True)) for one in fitted.rules.values()]
    optimum = fleet_optimum(read, work=work, starts=starts) if proof else None
    return Combination(
        considered,
        len(tally.questions),
        considered.models[fitted.single.choice.members[0]],
        _accuracy(considered, fitted.single.choice),
        tuple(sorted(results, key=lambda one: -one.held_out)),
        optimum,
        given,
        fitted,
        draws,
    )


def _accuracy(tally: Tally, choice: Choice) -> Fraction:
    pooled = Scorer(tally).pooled(choice)
    return Fraction(pooled.total, pooled.denominator * len(tally.questions))


def _given(tally: Tally, weights: Mapping[str, Weight]) -> GivenWeights:
    exact = {model: as_weight(weight) for model, weight in weights.items()}
    kept = {tally.index(model): weight for model, weight in exact.items() if weight}
    if not kept:
        raise InputError("no weight that is given is above 0: nobody would vote")
    accuracy = _accuracy(tally, Choice(tuple(kept), tuple(kept.values()), tally.silent))
    return GivenWeights(exact, accuracy, accuracy * len(tally.questions))


def _result(fitted: Crossfit, rule: CombiningRule, share: float, costs: Floats | None) -> RuleResult:
    tally, found = fitted.tally, fitted[rule.name]
    members = list(found.choice.members)
    prices = np.ones(len(members)) if costs is None else costs[members]
    return RuleResult(
        rule,
        {tally.models[place]: weight for place, weight in zip(members, found.choice.weights, strict=True)},
        _accuracy(tally, found.choice),
        fitted.in_sample(rule.name),
        fitted.gain(rule.name),
        float(found.scores.mean()),
        share,
        float(prices @ tally.votes[members].mean(axis=1)),
        tuple(tally.models[place] for place in found.choice.fallback),
        found.choice.silence,
    )


def _best_shares(scores: Floats, draws: Resampler) -> Floats:
    """How often each rule (row) has the highest total when units are drawn again; equals share."""
    totals = np.stack([np.bincount(draws.member, row, minlength=draws.units) for row in scores])
    wins = np.zeros(len(scores))
    for counts in draws.batches():
        # Scores are sums of simple fractions: what differs by less than this does not differ.
        values = np.round(counts @ totals.T, 6)
        best = values == values.max(axis=1, keepdims=True)
        wins += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins / draws.replicates
