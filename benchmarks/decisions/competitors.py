"""Ways to decide that recommend is compared with: each names an ensemble from the votes of half of the questions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np

from benchmarks.decisions.simulation import decided, score
from swaplaw.decide.choice import Choice, PairRule, Recorded, all_pairs, alone
from swaplaw.decide.family import led
from swaplaw.votes.tally import Tally

Decide = Callable[[Tally], Choice]
GREEDY_STEPS = 20
PARTS = 24


def accuracies(tally: Tally) -> list[float]:
    """Accuracy of each model's own vote."""
    return [scores.total / scores.denominator / len(tally.questions) for scores in tally.scores]


def ranked(tally: Tally) -> list[int]:
    """Models by falling accuracy."""
    own = accuracies(tally)
    return sorted(range(len(own)), key=lambda model: (-own[model], model))


def verdict(tally: Tally) -> Choice:
    """What recommend deploys: the best single model unless it says otherwise."""
    found = decided(tally)
    return Choice(tuple(tally.index(name) for name in found.names(found.chosen)), found.chosen.weights)


def equal(tally: Tally) -> Choice:
    """Everybody alike."""
    models = tuple(range(len(tally.models)))
    return Choice(models, (Fraction(1),) * len(models))


def weighted(tally: Tally, weigh: Callable[[float], float]) -> Choice:
    """Weights from accuracies, as parts of the largest."""
    raw = [max(0.0, weigh(min(0.98, max(0.02, own)))) for own in accuracies(tally)]
    top = max(raw)
    if not top:
        return alone(ranked(tally)[0])
    parts = {model: round(PARTS * value / top) for model, value in enumerate(raw)}
    kept = sorted((model for model in parts if parts[model]), key=lambda model: (-parts[model], model))
    return Choice(tuple(kept), tuple(Fraction(parts[model], PARTS) for model in kept))


def greedy(tally: Tally) -> Choice:
    """Caruana's: add, with replacement, whatever model improves the training accuracy most; keep the best moment."""
    chosen: dict[int, int] = {ranked(tally)[0]: 1}
    best, kept = -1.0, dict(chosen)
    for _ in range(GREEDY_STEPS):
        gains = {}
        for model in range(len(tally.models)):
            tried = chosen | {model: chosen.get(model, 0) + 1}
            gains[model] = float(score(tally, _counted(tried)).mean())
        model = max(gains, key=lambda one: (gains[one], -one))
        chosen[model] = chosen.get(model, 0) + 1
        if gains[model] > best:
            best, kept = gains[model], dict(chosen)
    return _counted(kept)


def _counted(counts: dict[int, int]) -> Choice:
    members = sorted(counts, key=lambda model: (-counts[model], model))
    return Choice(tuple(members), tuple(Fraction(counts[model], counts[members[0]]) for model in members))


def best_pair(tally: Tally) -> Choice:
    """The pair with the largest lift at its best weight, whether that is luck or not."""
    models = tuple(range(len(tally.models)))
    return PairRule(Recorded(tally), models, all_pairs(models))(np.ones((1, len(tally.questions)), dtype=bool))[0]


DECIDERS: dict[str, Decide] = {
    "recommend": verdict,
    "equal": equal,
    "accuracy": lambda tally: weighted(tally, lambda own: own),
    "log-odds": lambda tally: weighted(tally, lambda own: log(own / (1 - own))),
    "greedy": greedy,
    "top 3": lambda tally: led(ranked(tally)[:3]),
    "best pair": best_pair,
}
