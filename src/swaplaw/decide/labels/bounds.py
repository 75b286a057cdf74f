"""What can be known of lift from few labels, or none, and which questions to label next.

Every named answer to a question is taken as right in its turn (see `votes.counts.Candidates`), and the vote that runs
says what the question would score then, with an ensemble and with a single model alone. So without any label the sum
over questions of the largest (smallest) difference that any answer could make bounds n times the lift from above
(below), sharply: some labels attain it. A label replaces a question's range by its one value; once every question on
which the difference can be other than 0 (it *changes*) has one, both bounds are the exact lift. Null is never right,
and an answer that nobody gave may be. Where several answers to a question may be right, as where answers are graded,
what each adds is summed over any set of them.

The same holds for panels, for the rules that `combine` compares, for the difference between two single models (which
is best has bounds, too), and for a pair at every weight: between the ends of all answers' spans (see `law.spans`)
nothing changes, so the bounds are a step function of the weight.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from math import lcm
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._result import Result
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.errors import InputError, quote
from swaplaw.law.pair import Pair
from swaplaw.law.spans import scores_in, spans_of_batch
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight, vote
from swaplaw.votes.counts import Candidates, candidates
from swaplaw.votes.table import Votes
from swaplaw.votes.tally import Scores, Tally, credits

NEXT = 20
"""Questions that are named as the next to label."""
ONE = Fraction(1)
Known = Literal["helps", "cannot_help", "too_little", "open"]
"""What bounds tell already: some gain, none, less than the smallest worth having, or nothing yet."""
Best = Literal["yes", "no", "maybe"]


def ends_of(effects: Ints, candidates: Candidates) -> tuple[Ints, Ints]:
    """The least and the most that each question could add without its label, given what each answer would."""
    low, high = np.minimum(effects, 0), np.maximum(effects, 0)
    starts = np.searchsorted(candidates.question, np.arange(len(candidates.labelled)))
    if candidates.several:
        return np.add.reduceat(low, starts), np.add.reduceat(high, starts)
    return np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def narrowed(effects: Ints, candidates: Candidates) -> tuple[Ints, Ints, Ints]:
    """The least and the most that each question can add, given the labels at hand, and what its label makes it add."""
    known = np.zeros(len(candidates.labelled), dtype=effects.dtype)
    np.add.at(known, candidates.question[candidates.right], effects[candidates.right])
    low, high = (np.where(candidates.labelled, known, end) for end in ends_of(effects, candidates))
    return low, high, known


@dataclass(frozen=True)
class Change:
    """What an ensemble's vote changes over a single model's own, question by question, where all of them answered."""

    candidates: Candidates = field(repr=False)
    members: tuple[int, ...]
    weights: tuple[Fraction, ...]
    single: int | None = None
    """The model that it is compared with; by default the first member."""

    @property
    def tally(self) -> Tally:
        """The votes."""
        return self.candidates.tally

    @property
    def labelled(self) -> Bools:
        """Which questions have a label."""
        return self.candidates.labelled

    @property
    def over(self) -> int:
        """The model that it is compared with."""
        return self.members[0] if self.single is None else self.single

    @property
    def answered(self) -> Bools:
        """Which questions all members answered, and the model that they are compared with."""
        everyone: Bools = np.logical_and.reduce(self.tally.answered[[*self.members, self.over]])
        return everyone

    @property
    def n(self) -> int:
        """Questions that all members answered."""
        return int(self.answered.sum())

    @cached_property
    def votes(self) -> tuple[Scores, Scores]:
        """What each answer would score if it were right: by the single model alone, and by the ensemble."""
        return vote(self.tally, (self.over,), (ONE,)), vote(self.tally, self.members, self.weights)

    @cached_property
    def effects(self) -> tuple[Ints, int]:
        """What each answer would add if it were right, and the denominator."""
        before, after = self.votes
        scale = lcm(before.denominator, after.denominator)
        largest = max(int(found.ties.max(initial=0)) for found in self.votes)
        credit = credits(scale, largest, np.int64 if scale < 2**31 else object)
        common = self.tally.by_row(self.answered)
        return np.where(common, credit.take(after.ties) - credit.take(before.ties), 0), scale

    @cached_property
    def _ends(self) -> tuple[Ints, Ints, Ints]:
        return narrowed(self.effects[0], self.candidates)

    @cached_property
    def terms(self) -> tuple[Floats, Floats, Floats]:
        """What each question could add at least and at most without its label, and what it adds by its label."""
        effects, scale = self.effects
        least, most, known = (
            end.astype(np.float64) / scale for end in (*ends_of(effects, self.candidates), self._ends[2])
        )
        return least, most, known

    def expected(self, right: Floats) -> Floats:
        """What each question is expected to add if its answers are right with these probabilities."""
        effects, scale = self.effects
        starts = np.searchsorted(self.candidates.question, np.arange(len(self.labelled)))
        summed: Floats = np.add.reduceat(effects.astype(np.float64) / scale * right, starts)
        return summed

    @cached_property
    def changed(self) -> Bools:
        """Which questions could score otherwise with the ensemble than with the single model alone."""
        low, high = ends_of(self.effects[0], self.candidates)
        moved: Bools = (low != 0) | (high != 0)
        return moved

    def _mean(self, end: Ints) -> Fraction:
        return Fraction(int(end.sum()), self.effects[1] * self.n)

    @property
    def low(self) -> Fraction:
        """No labels make the lift smaller."""
        return self._mean(self._ends[0])

    @property
    def high(self) -> Fraction:
        """No labels make the lift larger."""
        return self._mean(self._ends[1])

    @property
    def unlabelled(self) -> tuple[Fraction, Fraction]:
        """The bounds as they are without any label."""
        low, high = ends_of(self.effects[0], self.candidates)
        return self._mean(low), self._mean(high)

    @cached_property
    def widths(self) -> Floats:
        """By how much labelling each question would narrow the bounds, as floats: for ordering only."""
        low, high, _ = self._ends
        return ((high - low) / (self.effects[1] * max(self.n, 1))).astype(np.float64)

    def competing(self, question: int) -> list[str]:
        """The answers that lead a question in either vote; where several may be right, all of them."""
        own = self.candidates.question == question
        leads = np.logical_or.reduce([found.ties > 0 for found in self.votes])
        shown = own if self.candidates.several else own & leads
        return [answer for answer in self.candidates.answers[shown] if answer is not None]


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
    candidates: Candidates = field(repr=False)
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
        return model_labels(self.candidates)

    def rows(self) -> list[dict[str, Any]]:
        """List the pairs."""
        return [{name: value for name, value in pair.to_dict().items() if name != "next"} for pair in self.pairs]

    def to_dict(self, min_gain: float = MIN_GAIN) -> dict[str, Any]:
        """Turn it into plain data."""
        return {
            "dataset": self.dataset,
            "questions": len(self.candidates.labelled),
            "labelled": int(self.candidates.labelled.sum()),
            "to_label": len(self.order),
            "next": [self.candidates.tally.questions[place] for place in self.order[:NEXT]],
            "models": [model.to_dict() for model in self.models],
            "pairs": [pair.to_dict() | {"verdict": pair.verdict(min_gain)} for pair in self.pairs],
            "ensembles": [one.to_ensemble() | {"verdict": one.verdict(min_gain)} for one in self.ensembles],
        }


def labels_needed(
    votes: Votes,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    dataset: str | None = None,
    primary: str | None = None,
    secondary: str | None = None,
    panels: Sequence[Mapping[str, str | float | Fraction]] = (),
    rules: Sequence[str] = (),
    top: int = NEXT,
) -> Labels:
    """Bound the lift of pairs from the labels at hand, and name the questions to label next.

    Parameters
    ----------
    votes : Votes
        Votes, labelled or not.
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    dataset : str, optional
        Which dataset, where the votes hold several.
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
    >>> found = labels_needed(sl.demo_votes(), "2/3", primary="gpt-4", secondary="mistral-large").pairs[0]
    >>> found.changed, found.n, float(found.unlabelled_low), float(found.unlabelled_high)
    (5, 100, -0.05, 0.05)
    """
    x, found = as_weight(weight), candidates(votes, dataset)
    pairs = [change for change in _pairs(found, x, primary, secondary) if change.n]
    if not pairs:
        raise InputError(f"no two models of dataset {quote(found.tally.dataset)} have a question in common")
    ensembles: list[tuple[str | None, Change]] = [(None, _panel(found, panel)) for panel in panels]
    ensembles += [(rule, change) for rule in rules if (change := _by_rule(votes, found, rule)) is not None]
    changes = (*pairs, *(change for _, change in ensembles))
    summed, widths = [], np.zeros(len(found.labelled))
    for change in changes:
        # What a pair derives of the votes goes with this copy: kept for all pairs, it would fill the memory.
        own = replace(change)
        summed.append(_summed(own, top))
        widths += own.widths
    ruled = zip(summed[len(pairs) :], ensembles, strict=True)
    return Labels(
        found.tally.dataset,
        found,
        tuple(summed[: len(pairs)]),
        tuple(replace(one, rule=rule) for one, (rule, _) in ruled),
        changes,
        widths,
    )


def _pairs(found: Candidates, x: Fraction, primary: str | None, secondary: str | None) -> Iterator[Change]:
    if (primary is None) != (secondary is None):
        raise InputError("name both the primary and the secondary, or neither")
    weights = (Fraction(1), x)
    if primary is not None and secondary is not None:
        if primary == secondary:
            raise InputError(f"primary and secondary are both {quote(primary)}: name two different models")
        yield Change(found, (found.tally.index(primary), found.tally.index(secondary)), weights)
        return
    for both in permutations(range(len(found.tally.models)), 2):
        yield Change(found, both, weights)


def _panel(found: Candidates, given: Mapping[str, str | float | Fraction]) -> Change:
    """A panel as the heaviest member's secondaries."""
    weights = {found.tally.index(model): as_weight(weight) for model, weight in given.items()}
    kept = sorted((model for model in weights if weights[model]), key=lambda model: (-weights[model], model))
    if len(kept) < 2:
        raise InputError("a panel needs two members with a weight above 0")
    change = Change(found, tuple(kept), tuple(weights[model] / weights[kept[0]] for model in kept))
    if not change.n:
        raise InputError(
            f"no question of dataset {quote(found.tally.dataset)} was answered by every member of the panel"
        )
    return change


def _by_rule(votes: Votes, found: Candidates, rule: str) -> Change | None:
    """What a rule of `combine` chooses; None where that is a single model."""
    from swaplaw.decide.rules import RULES  # Here: SciPy takes long to import.

    chosen = RULES[rule]
    if chosen.needs_labels and not found.labelled.any():
        free = ", ".join(name for name in RULES if not RULES[name].needs_labels)
        raise InputError(f"rule {quote(rule)} needs labels, and there are none yet; these need none: {free}")
    # Without labels it matters to no rule which answer stands first.
    tally = votes.tally(found.tally.dataset) if chosen.needs_labels else found.tally.principal
    everyone: Bools = np.logical_and.reduce(tally.answered)
    if not everyone.any():
        raise InputError(f"no question of dataset {quote(tally.dataset)} was answered by every model")
    choice = chosen.on_all(tally.select(questions=everyone))
    named = {tally.models[member]: weight for member, weight in zip(choice.members, choice.weights, strict=True)}
    return None if len(named) < 2 else _panel(found, named)


def _summed(change: Change, top: int) -> EnsembleLabels:
    tally, labelled = change.tally, change.labelled & change.answered
    order = np.lexsort((np.arange(len(change.widths)), -change.widths))
    ahead = [tally.questions[place] for place in order[:top] if change.widths[place] > 0]
    return EnsembleLabels(
        tuple(tally.models[member] for member in change.members),
        change.weights,
        tally.models[change.over],
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
    >>> found = labels_needed(sl.demo_votes(), "2/3", primary="gpt-4", secondary="mistral-large")
    >>> pair = found.changes[0]
    >>> [(step["labels"], round(step["low"], 2), round(step["high"], 2)) for step in narrowing(pair)][::5]
    [(0, -0.05, 0.05), (5, -0.03, -0.03)]
    """
    lows, highs, values = change.terms
    used = np.flatnonzero(change.changed & change.labelled)
    used = used[np.lexsort((used, -(highs - lows)[used]))]
    low = np.concatenate([[lows.sum()], lows.sum() + np.cumsum((values - lows)[used])])
    high = np.concatenate([[highs.sum()], highs.sum() + np.cumsum((values - highs)[used])])
    shown = np.unique(np.linspace(0, len(used), min(steps, len(used)) + 1).round().astype(int))
    return [{"labels": int(k), "low": float(low[k] / change.n), "high": float(high[k] / change.n)} for k in shown]


def model_labels(found: Candidates) -> tuple[ModelLabels, ...]:
    """Bound the accuracy of every model, and say which of them can be the best.

    Parameters
    ----------
    found : Candidates
        Counted votes, labelled or not.

    Returns
    -------
    tuple of ModelLabels
        In the order of the models.
    """
    models = range(len(found.tally.models))
    ahead: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for a, b in combinations(models, 2):
        between = Change(found, (b,), (ONE,), single=a)
        if between.n:
            ahead[b, a], ahead[a, b] = (between.low, between.high), (-between.high, -between.low)
    return tuple(_model(found, model, [ahead[model, b] for b in models if (model, b) in ahead]) for model in models)


def _model(found: Candidates, model: int, ahead: list[tuple[Fraction, Fraction]]) -> ModelLabels:
    own, answered = found.tally.scores[model], found.tally.answered[model]
    credit = credits(own.denominator, int(own.ties.max(initial=0)), object).take(own.ties)
    low, high, _ = narrowed(credit, found)
    n = int(answered.sum())
    best: Best = (
        "yes" if all(least >= 0 for least, _ in ahead) else "no" if any(most < 0 for _, most in ahead) else "maybe"
    )
    least, most = (Fraction(int(end.sum()), own.denominator * n) for end in (low, high))
    return ModelLabels(found.tally.models[model], n, int((answered & found.labelled).sum()), least, most, best)


@dataclass(frozen=True)
class Stretch:
    """Weights at which the bounds are the same: one point, or an open interval."""

    start: Fraction
    end: Fraction | None
    """None: without end. A point where it equals the start."""
    low: Fraction
    high: Fraction

    @property
    def weight(self) -> Fraction:
        """A weight inside."""
        if self.end is None:
            return self.start + 1
        return (self.start + self.end) / 2

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, weights as text."""
        end = None if self.end is None else str(self.end)
        return {"start": str(self.start), "end": end, "lift_low": float(self.low), "lift_high": float(self.high)}


@dataclass(frozen=True)
class CurveBounds:
    """Bounds on lift at every weight."""

    primary: str
    secondary: str
    n: int
    changed: int
    """Questions that change at some weight: with labels for these the whole curve is known."""
    changed_labelled: int
    stretches: tuple[Stretch, ...] = field(repr=False)

    @property
    def at_most(self) -> Stretch:
        """Where the upper bound is highest: no weight can help by more than that."""
        return max(self.stretches, key=lambda each: (each.high, -each.start))

    def at(self, weight: Fraction) -> Stretch:
        """The stretch that a weight above 0 is in."""
        place = bisect_left([each.start for each in self.stretches[1::2]], weight)
        point = self.stretches[2 * place + 1] if 2 * place + 1 < len(self.stretches) else None
        return point if point is not None and point.start == weight else self.stretches[2 * place]

    @property
    def known(self) -> bool:
        """Whether the lift is known exactly at every weight."""
        return all(each.low == each.high for each in self.stretches)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data."""
        most = self.at_most
        return {
            "primary": self.primary,
            "secondary": self.secondary,
            "n": self.n,
            "changed": self.changed,
            "changed_labelled": self.changed_labelled,
            "lift_at_most": float(most.high),
            "at_weight": str(most.weight),
            "known": self.known,
            "stretches": [each.to_dict() for each in self.stretches],
        }


def curve_bounds(found: Candidates, primary: str, secondary: str) -> CurveBounds:
    """Bound the lift of a pair at every weight above 0.

    Parameters
    ----------
    found : Candidates
        Counted votes, labelled or not.
    primary, secondary : str
        The pair.

    Returns
    -------
    CurveBounds
        Stretches of weights with their bounds, from 0 upwards, points and open intervals in turn.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.votes.counts import candidates
    >>> found = curve_bounds(candidates(sl.demo_votes()).knowing(), "gpt-4", "mistral-large")
    >>> found.changed, float(found.at_most.high)
    (17, 0.16)
    """
    tally = found.tally
    pair = Pair(tally, tally.index(primary), tally.index(secondary))
    breaks, spans, _ = spans_of_batch([pair])
    before = vote(tally, (pair.a,), (ONE,))
    scale = lcm(spans.common_denominator, before.denominator)
    own = credits(scale, int(before.ties.max(initial=0)), object).take(before.ties).take(spans.row)
    ends = np.unique(np.concatenate([spans.low, spans.high]))
    points = [0, *ends[(ends > 0) & (ends % 2 == 0) & (ends < breaks.slots)].tolist()]
    changed = np.zeros(pair.of, dtype=bool)
    stretches = []
    for slot in sorted({*points[1:], *(point + 1 for point in points)}):
        effects = np.zeros(len(found.question), dtype=object)
        effects[spans.row] = scores_in(spans, [slot], scale, object)[0] - own
        changed |= np.logical_or(*(end != 0 for end in ends_of(effects, found)))
        low, high = (Fraction(int(end.sum()), scale * pair.n) for end in narrowed(effects, found)[:2])
        start = breaks.weights[slot // 2]
        following = [point for point in points if point > slot]
        end = start if slot % 2 == 0 else breaks.weights[following[0] // 2] if following else None
        stretches.append(Stretch(start, end, low, high))
    labelled = int((changed & found.labelled).sum())
    return CurveBounds(primary, secondary, pair.n, int(changed.sum()), labelled, tuple(stretches))
