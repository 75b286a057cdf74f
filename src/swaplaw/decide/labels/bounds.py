"""What can be known of lift from few labels, or none, and which questions to label next.

At a weight x the pooled score differs from the primary's own only on questions where the tie set *changes* (see
`change`). So every lift has sharp bounds without a single label, and is known exactly once the changed questions have
one. The same holds for panels, for the rules that `combine` compares, and for the difference between two single models:
which model is best has bounds, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._result import Result
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.decide.labels.change import Change
from swaplaw.errors import InputError, quote
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes.ballots import Ballots

NEXT = 20
"""Questions that are named as the next to label."""
Known = Literal["helps", "cannot_help", "too_little", "open"]
"""What bounds tell already: some gain, none, less than the smallest worth having, or nothing yet."""
Best = Literal["yes", "no", "maybe"]


@dataclass(frozen=True)
class EnsembleLabels:
    """One ensemble at given weights: bounds on its lift over a single model, and what to label next."""

    members: tuple[str, ...]
    weights: tuple[Fraction, ...]
    over: str
    """The model that it is compared with."""
    n: int
    labelled: int
    """Questions of these that have a label."""
    changed: int
    """Questions whose tie set the ensemble changes."""
    changed_labelled: int
    low: Fraction
    high: Fraction
    next: tuple[str, ...] = field(repr=False)
    """Questions to label, those first that narrow the bounds most."""
    unlabelled_low: Fraction
    """The bounds as they were without any label."""
    unlabelled_high: Fraction
    rule: str | None = None
    """The rule that chose the weights, where one did."""

    @property
    def primary(self) -> str:
        """The member that carries weight 1."""
        return self.members[0]

    @property
    def secondary(self) -> str:
        """The last member: of a pair, the one that is added."""
        return self.members[-1]

    @property
    def weight(self) -> Fraction:
        """The last member's weight."""
        return self.weights[-1]

    @property
    def known(self) -> bool:
        """Whether the lift is known exactly: every changed question has a label."""
        return self.low == self.high

    def verdict(self, min_gain: float = MIN_GAIN) -> Known:
        """What the bounds tell already, whatever the other labels are."""
        if self.high <= 0:
            return "cannot_help"
        if self.high < min_gain:
            return "too_little"
        return "helps" if self.low > 0 else "open"

    def _counts(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "labelled": self.labelled,
            "changed": self.changed,
            "changed_labelled": self.changed_labelled,
            "lift_low": float(self.low),
            "lift_high": float(self.high),
            "unlabelled_low": float(self.unlabelled_low),
            "unlabelled_high": float(self.unlabelled_high),
            "next": list(self.next),
        }

    def to_dict(self) -> dict[str, Any]:
        """Turn a pair into plain data: fractions of one, the weight as text."""
        pair = {"primary": self.primary, "secondary": self.secondary, "weight": str(self.weight)}
        return pair | self._counts()

    def to_ensemble(self) -> dict[str, Any]:
        """Turn any ensemble into plain data: fractions of one, weights as text."""
        weights = {model: str(weight) for model, weight in zip(self.members, self.weights, strict=True)}
        return {"rule": self.rule, "weights": weights, "over": self.over} | self._counts()


@dataclass(frozen=True)
class ModelLabels:
    """One model: bounds on its accuracy, and whether it can be the best."""

    model: str
    n: int
    labelled: int
    low: Fraction
    high: Fraction
    best: Best
    """Whether no labels could make another model better (yes), or some other model is better whatever they are (no)."""

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "model": self.model,
            "n": self.n,
            "labelled": self.labelled,
            "accuracy_low": float(self.low),
            "accuracy_high": float(self.high),
            "best": self.best,
        }


@dataclass(frozen=True)
class Labels(Result):
    """Bounds on lift from the labels at hand, for one pair or every ordered pair of a fleet."""

    dataset: str
    ballots: Ballots = field(repr=False)
    pairs: tuple[EnsembleLabels, ...] = field(repr=False)
    ensembles: tuple[EnsembleLabels, ...] = field(repr=False)
    """Panels and rules that were asked for."""
    changes: tuple[Change, ...] = field(repr=False)
    """Of all pairs and ensembles."""
    widths: Floats = field(repr=False)
    """By how much labelling each question would narrow the bounds of all of them together."""

    @cached_property
    def order(self) -> list[int]:
        """Questions to label, those first that narrow the bounds of all pairs and ensembles together most."""
        ranked = np.lexsort((np.arange(len(self.widths)), -self.widths))
        return [int(place) for place in ranked if self.widths[place] > 0]

    def random_order(self, seed: int = 0) -> list[int]:
        """The same questions in random order: then those that are labelled first are a random sample of them."""
        return [int(place) for place in np.random.default_rng(seed).permutation(sorted(self.order))]

    @cached_property
    def models(self) -> tuple[ModelLabels, ...]:
        """Bounds on the accuracy of every model, and which of them can be the best."""
        return model_labels(self.ballots)

    def rows(self) -> list[dict[str, Any]]:
        """List the pairs."""
        return [{name: value for name, value in pair.to_dict().items() if name != "next"} for pair in self.pairs]

    def to_dict(self, min_gain: float = MIN_GAIN) -> dict[str, Any]:
        """Turn it into plain data."""
        return {
            "dataset": self.dataset,
            "questions": len(self.ballots.questions),
            "labelled": int(self.ballots.labelled.sum()),
            "to_label": len(self.order),
            "next": [self.ballots.questions[place] for place in self.order[:NEXT]],
            "models": [model.to_dict() for model in self.models],
            "pairs": [pair.to_dict() | {"verdict": pair.verdict(min_gain)} for pair in self.pairs],
            "ensembles": [one.to_ensemble() | {"verdict": one.verdict(min_gain)} for one in self.ensembles],
        }


def labels_needed(
    ballots: Ballots,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    primary: str | None = None,
    secondary: str | None = None,
    panels: Sequence[Mapping[str, str | float | Fraction]] = (),
    rules: Sequence[str] = (),
    top: int = NEXT,
) -> Labels:
    """Bound the lift of pairs from the labels at hand, and name the questions to label next.

    Parameters
    ----------
    ballots : Ballots
        Counted votes, labelled or not (see `ballots_of`).
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    primary, secondary : str, optional
        One pair; by default every ordered pair of models, because which of two is better takes labels to know.
    panels : sequence of mappings
        Ensembles to bound as well: for each, the weight of every member; the heaviest is what it is compared with.
    rules : sequence of str
        Rules of `combine` to bound as well, each with the weights that it chooses from the votes (and labels) at hand.
    top : int
        Questions to name for each pair.

    Returns
    -------
    Labels
        Sharp bounds for each pair and ensemble, bounds on every model's accuracy, and an order of labelling.

    Raises
    ------
    InputError
        If a model is not there, only one of the two is named, or no two models share a question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.votes.ballots import ballots_of
    >>> hidden = ballots_of(sl.demo_votes()).without_labels()
    >>> found = labels_needed(hidden, "2/3", primary="gpt-4", secondary="mistral-large").pairs[0]
    >>> found.changed, found.n, float(found.low), float(found.high)
    (5, 100, -0.05, 0.05)
    """
    x = as_weight(weight)
    pairs = [change for change in _pairs(ballots, x, primary, secondary) if change.answered.any()]
    if not pairs:
        raise InputError(f"no two models of dataset {quote(ballots.dataset)} have a question in common")
    ensembles: list[tuple[str | None, Change]] = [(None, _panel(ballots, panel)) for panel in panels]
    ensembles += [(rule, change) for rule in rules if (change := _by_rule(ballots, rule)) is not None]
    summed, widths = [], np.zeros(len(ballots.questions))
    for change in (*pairs, *(change for _, change in ensembles)):
        # What a pair derives of the votes goes with this copy: kept for all pairs, it would fill the memory.
        own = replace(change)
        summed.append(_summed(own, top))
        widths += own.widths
    ruled = zip(summed[len(pairs) :], ensembles, strict=True)
    return Labels(
        ballots.dataset,
        ballots,
        tuple(summed[: len(pairs)]),
        tuple(replace(one, rule=rule) for one, (rule, _) in ruled),
        (*pairs, *(change for _, change in ensembles)),
        widths,
    )


def _pairs(ballots: Ballots, x: Fraction, primary: str | None, secondary: str | None) -> Iterator[Change]:
    if (primary is None) != (secondary is None):
        raise InputError("name both the primary and the secondary, or neither")
    weights = (Fraction(1), x)
    if primary is not None and secondary is not None:
        if primary == secondary:
            raise InputError(f"primary and secondary are both {quote(primary)}: name two different models")
        yield Change(ballots, (ballots.index(primary), ballots.index(secondary)), weights)
        return
    models = range(len(ballots.models))
    for a in models:
        for b in models:
            if a != b:
                yield Change(ballots, (a, b), weights)


def _panel(ballots: Ballots, given: Mapping[str, str | float | Fraction]) -> Change:
    """A panel as the heaviest member's secondaries."""
    weights = {ballots.index(model): as_weight(weight) for model, weight in given.items()}
    kept = sorted((model for model in weights if weights[model]), key=lambda model: (-weights[model], model))
    if len(kept) < 2:
        raise InputError("a panel needs two members with a weight above 0")
    change = Change(ballots, tuple(kept), tuple(weights[model] / weights[kept[0]] for model in kept))
    if not change.n:
        raise InputError(f"no question of dataset {quote(ballots.dataset)} was answered by every member of the panel")
    return change


def _by_rule(ballots: Ballots, rule: str) -> Change | None:
    """What a rule of `combine` chooses; None where that is a single model."""
    from swaplaw.decide.rules import RULES  # Here: SciPy takes long to import.

    found = RULES[rule]
    if found.needs_labels and not ballots.labelled.any():
        free = ", ".join(name for name in RULES if not RULES[name].needs_labels)
        raise InputError(f"rule {quote(rule)} needs labels, and there are none yet; these need none: {free}")
    tally = ballots.tally(labelled=found.needs_labels)
    everyone = np.logical_and.reduce(tally.votes > 0)
    if not everyone.any():
        raise InputError(f"no question of dataset {quote(ballots.dataset)} was answered by every model")
    choice = found.on_all(tally.select(questions=everyone))
    named = {ballots.models[member]: weight for member, weight in zip(choice.members, choice.weights, strict=True)}
    return None if len(named) < 2 else _panel(ballots, named)


def _summed(change: Change, top: int) -> EnsembleLabels:
    ballots, labelled = change.ballots, change.ballots.labelled & change.answered
    order = np.lexsort((np.arange(len(change.widths)), -change.widths))
    ahead = [ballots.questions[place] for place in order[:top] if change.widths[place] > 0]
    return EnsembleLabels(
        tuple(ballots.models[member] for member in change.members),
        change.weights,
        ballots.models[change.over],
        change.n,
        int(labelled.sum()),
        int(change.changed.sum()),
        int((change.changed & labelled).sum()),
        change.low,
        change.high,
        tuple(ahead),
        *change.unlabelled,
    )


def narrowing(change: Change, steps: int = 50) -> list[dict[str, float]]:
    """How the bounds on a lift narrow as the labels at hand come in, those first that narrow them most.

    Parameters
    ----------
    change : Change
        What the ensemble changes, with the labels at hand.
    steps : int
        Points to show at most; the first has no label, the last all of them.

    Returns
    -------
    list of dict
        At each step: labels, low, high.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.votes.ballots import ballots_of
    >>> ballots = ballots_of(sl.demo_votes())
    >>> pair = Change(ballots, (ballots.index("gpt-4"), ballots.index("mistral-large")), (Fraction(1), Fraction(2, 3)))
    >>> [(step["labels"], round(step["low"], 2), round(step["high"], 2)) for step in narrowing(pair)][::5]
    [(0, -0.05, 0.05), (5, -0.03, -0.03)]
    """
    lows, highs, values = change.terms
    used = np.flatnonzero(change.changed & change.ballots.labelled)
    used = used[np.lexsort((used, -(highs - lows)[used]))]
    low = np.concatenate([[lows.sum()], lows.sum() + np.cumsum((values - lows)[used])])
    high = np.concatenate([[highs.sum()], highs.sum() + np.cumsum((values - highs)[used])])
    shown = np.unique(np.linspace(0, len(used), min(steps, len(used)) + 1).round().astype(int))
    return [{"labels": int(k), "low": float(low[k] / change.n), "high": float(high[k] / change.n)} for k in shown]


def model_labels(ballots: Ballots) -> tuple[ModelLabels, ...]:
    """Bound the accuracy of every model, and say which of them can be the best.

    Parameters
    ----------
    ballots : Ballots
        Counted votes, labelled or not.

    Returns
    -------
    tuple of ModelLabels
        In the order of the ballots' models.
    """
    models = range(len(ballots.models))
    ahead: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for a in models:
        for b in range(a):
            between = Change(ballots, (a,), (Fraction(1),), single=b)
            if between.n:
                ahead[a, b], ahead[b, a] = (between.low, between.high), (-between.high, -between.low)
    return tuple(_model(ballots, model, [ahead[model, b] for b in models if (model, b) in ahead]) for model in models)


def _model(ballots: Ballots, model: int, ahead: list[tuple[Fraction, Fraction]]) -> ModelLabels:
    low, high = Change(ballots, (model,), (Fraction(1),)).own_score
    answered = ballots.votes[model] > 0
    n = int(answered.sum())
    best: Best = (
        "yes" if all(least >= 0 for least, _ in ahead) else "no" if any(most < 0 for _, most in ahead) else "maybe"
    )
    return ModelLabels(ballots.models[model], n, int((answered & ballots.labelled).sum()), low, high, best)
