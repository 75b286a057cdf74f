"""Every way to combine a fleet, judged on the same held-out questions, beside the best weights that there are.

Each rule (see `rules`) chooses members and weights on training folds and is scored on the others, exactly; so is the
best single model that it has to beat. In-sample figures of the same rules, and the proven optimum over all weights,
show how much of what a rule promises is luck.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw._core.results import Result
from swaplaw.decide.choice import BestSingle, Choice, Recorded
from swaplaw.decide.cost import check_prices
from swaplaw.decide.defaults import COMBINE_FOLDS, COMBINE_REPEATS
from swaplaw.decide.holdout import HeldOut, deal, judge, on_tests
from swaplaw.decide.rules import RULES, CombiningRule
from swaplaw.decide.rules._subjects import held_out_subjects, subject_weights
from swaplaw.errors import InputError, listing, quote, several
from swaplaw.evidence.interval import Effect, effect
from swaplaw.evidence.resample import Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.weights import as_weight, vote
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
    judged: HeldOut = field(repr=False)

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


@dataclass(frozen=True)
class SubjectWeights:
    """Weights of their own for every subject, judged on questions of subjects that were seen."""

    weights: Mapping[str, Mapping[str, Fraction]]
    """By subject, then by model."""
    held_out: float
    gain: Effect

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        return {
            "weights": {
                subject: {model: str(weight) for model, weight in own.items()} for subject, own in self.weights.items()
            },
            "held_out": self.held_out,
            "gain": _interval(self.gain),
        }


@dataclass(frozen=True)
class Combination(Result):
    """All rules on one dataset, the one with the highest held-out accuracy first."""

    tally: Tally = field(repr=False)
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
    subjects: SubjectWeights | None
    """Weights by subject, where they were asked for."""
    resampled: Resampler = field(repr=False)

    def __repr__(self) -> str:
        best = self.rules[0]
        counted = f"{several(len(self.tally.questions), 'question')}, {several(len(self.rules), 'rule')}"
        return f"Combination({self.tally.dataset!r}, {counted}, best {best.rule.name!r}: held_out={best.held_out:.4f})"

    def __getitem__(self, rule: str) -> RuleResult:
        """The result of one rule, by name."""
        for found in self.rules:
            if found.rule.name == rule:
                return found
        raise InputError(
            f"rule {quote(rule)} was not compared; there are {listing([one.rule.name for one in self.rules], 20)}"
        )

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
            "subjects": None if self.subjects is None else self.subjects.to_dict(),
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
    by_subject: bool = False,
    prices: Mapping[str, float] | None = None,
    by: Unit | None = None,
    folds: int = COMBINE_FOLDS,
    repeats: int = COMBINE_REPEATS,
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
    by_subject : bool
        Whether to choose weights for every subject (cluster), too, shrunk toward the global ones of `smooth`.
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
    >>> found = sl.combine(sl.demo_votes(), rules=["best_single", "equal"], repeats=1, time_limit=0)
    >>> [(one.rule.name, round(float(one.accuracy), 3)) for one in found.rules]
    [('best_single', 0.81), ('equal', 0.75)]
    """
    tally = inputs.tally(votes)
    considered = _considered(tally, models)
    chosen = [RULES[name] for name in (RULES if rules is None else dict.fromkeys(rules))]
    if not chosen:
        raise InputError(f"no rule is named: choose from {listing(list(RULES), 20)}")
    costs = check_prices(tally, considered.models, prices)
    draws = resampler(considered, by=by, seed=seed, replicates=REPLICATES)
    crew = Crew(workers)
    dealt = deal(draws.member, folds=folds, repeats=repeats, seed=seed)
    scorer = Recorded(considered)
    single = BestSingle(scorer, tuple(range(len(considered.models))))
    parts = dealt.with_whole
    made = _chosen(considered, chosen, parts, crew, progress)
    singles = single(parts)
    judged = [judge(scorer, choices, singles, dealt) for choices in made]
    shares = _best_shares(np.stack([found.scores for found in judged]), draws)
    results = [
        _result(considered, rule, found, draws.member, float(share), costs)
        for rule, found, share in zip(chosen, judged, shares, strict=True)
    ]
    given = None if weights is None else _given(considered, weights)
    subjects = _subjects(scorer, single, folds, repeats, seed) if by_subject else None
    (best,) = single(np.ones((1, len(considered.questions)), dtype=bool))
    known = [dict(zip(found.choice.members, found.choice.weights, strict=True)) for found in judged]
    optimum = fleet_optimum(considered, work=work, starts=known) if proof else None
    return Combination(
        considered,
        len(tally.questions),
        considered.models[best.members[0]],
        _accuracy(considered, best),
        tuple(sorted(results, key=lambda one: -one.held_out)),
        optimum,
        given,
        subjects,
        draws,
    )


def _chosen(
    tally: Tally, rules: Sequence[CombiningRule], parts: Bools, crew: Crew, progress: Progress
) -> list[Sequence[Choice]]:
    """What each rule chooses on each part. Rules that fit one part at a time share its votes, laid out once."""
    fits = [rule.fit for rule in rules if rule.at_once is None]
    one_by_one = iter(zip(*crew.share(partial(_fitted, fits), tally, list(parts), progress=progress), strict=True))
    return [list(next(one_by_one)) if rule.at_once is None else rule.at_once(tally, crew)(parts) for rule in rules]


def _fitted(fits: Sequence[Callable[[Tally], Choice]], tally: Tally, part: Bools) -> list[Choice]:
    train = tally.select(questions=part)
    return [fit(train) for fit in fits]


def _considered(tally: Tally, models: Sequence[str] | None) -> Tally:
    """Keep the models asked for and the questions that all of them answered."""
    if models is not None:
        if twice := [model for model in models if list(models).count(model) > 1]:
            raise InputError(f"{quote(twice[0])} is named twice among the models")
        for model in models:
            tally.index(model)
    kept = tally if models is None else tally.select(models=sorted(models))
    if not kept.models:
        raise InputError(f"no model is named: choose from {listing(tally.models)}")
    answered = np.logical_and.reduce(kept.answered)
    if not answered.any():
        raise InputError(
            f"there is no question in dataset {quote(tally.dataset)} that all {len(kept.models)} models answered; "
            "name models that share questions"
        )
    return kept if answered.all() else kept.select(questions=answered)


def _subjects(scorer: Recorded, single: BestSingle, folds: int, repeats: int, seed: int) -> SubjectWeights:
    """Judge weights by subject: questions are dealt one by one, as the subjects are to come again."""
    tally = scorer.tally
    chosen = subject_weights(tally)
    every = np.arange(len(tally.questions))
    dealt = deal(every, folds=folds, repeats=repeats, seed=seed)
    scores = held_out_subjects(tally, dealt.tests)
    alone = on_tests([scorer.score(made) for made in single(dealt.trains)], dealt)
    weights = {
        subject: {tally.models[place]: weight for place, weight in zip(choice.members, choice.weights, strict=True)}
        for subject, choice in chosen.items()
    }
    return SubjectWeights(weights, float(scores.mean()), effect(scores - alone, every))


def _given(tally: Tally, weights: Mapping[str, Weight]) -> GivenWeights:
    exact = {model: as_weight(weight) for model, weight in weights.items()}
    kept = {model: weight for model, weight in exact.items() if weight}
    if not kept:
        raise InputError("no weight that is given is above 0: nobody would vote")
    pooled = vote(tally, [tally.index(model) for model in kept], list(kept.values()))
    score = Fraction(pooled.total, pooled.denominator)
    return GivenWeights(exact, score / len(tally.questions), score)


def _accuracy(tally: Tally, choice: Choice) -> Fraction:
    pooled = vote(tally, choice.members, choice.weights)
    return Fraction(pooled.total, pooled.denominator * len(tally.questions))


def _result(tally: Tally, rule: CombiningRule, found: HeldOut, member: Ints, share: float, costs: Floats) -> RuleResult:
    choice = found.choice
    samples = np.asarray(tally.votes[list(choice.members)], dtype=np.float64).mean(axis=1)
    return RuleResult(
        rule,
        {tally.models[place]: weight for place, weight in zip(choice.members, choice.weights, strict=True)},
        _accuracy(tally, choice),
        effect(found.own_gains, member),
        effect(found.gains, member),
        float(found.scores.mean()),
        share,
        float(samples @ np.asarray(costs)[list(choice.members)]),
        found,
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
