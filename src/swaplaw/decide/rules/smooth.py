"""Smooth weights over the whole fleet: a regularised conditional logit, shrunk toward the best single model.

Gold's probability on a question is modelled as the softmax of the weighted shares over all categories that somebody
voted for, gold, and the options that nobody voted for. Weights that are not negative maximise the likelihood of
gold less an elastic net,

    sum_i log softmax(sum_m w_m s_m(i))[gold] - sum_m threshold_m w_m - (strength / 2) |w|^2,

a strictly concave function, so the optimum is one and does not depend on where the search starts. A model's threshold
is `NOISE` standard errors of its own gradient: votes that know nothing of gold get no weight. The strength of the ridge
is chosen by the likelihood of held-out gold on nested folds.

Likelihood is not accuracy: where one model leads clearly, many weak models that agree may outvote it more often than
they should. So the best single model of the training questions gets `INCUMBENT` times the largest weight on top. Where
the vote is then no more accurate on the training questions than that model, it is left alone: few questions, or others
that add nothing, are no reason to ask more models.

Models whose shares are the same everywhere count as one (the first by name), so a duplicate changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.threads import one_thread
from swaplaw.decide.choice import Choice, alone
from swaplaw.decide.placebo import FREE_TEXT, most_answers, options_of
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._rationals import accuracies, leader, rounded
from swaplaw.decide.rules._shares import Shares, distinct, shares_of
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

OPTIONS = 10
"""Most options that are counted on a question whose votes do not state their number; free text could be anything."""
STRENGTHS = (10.0, 3.0, 1.0)
"""Ridges to choose from, the strongest first: of equals the strongest is chosen."""
PILOT = 3.0
"""The ridge at which the noise of each model's gradient is estimated."""
NOISE = 2.0
"""Standard errors by which a model's gradient must stand out before the model gets any weight."""
INCUMBENT = 0.5
"""What the best single model gets on top of its own weight, in units of the largest weight."""
FOLDS = 5
EXACT, COARSE = 1e-9, 1e-6
"""Relative changes of the likelihood at which the search ends: for the answer, and on nested folds."""


def smooth(tally: Tally) -> Choice:
    """Choose weights by regularised likelihood, shrunk toward the best single model."""
    single = leader(accuracies(tally))
    shares = with_options(tally)
    kept = distinct(shares)
    weights = np.zeros(shares.models)
    weights[kept] = global_weights(tally, shares.only(kept))
    weights[single] += INCUMBENT * float(weights.max())
    return worthwhile(tally, rounded(weights, single), single)


def with_options(tally: Tally) -> Shares:
    """The shares of a tally beside the options that nobody voted for, as far as their number can be told."""
    options = options_of(tally)
    if (options == FREE_TEXT).any():
        options = np.where(options == FREE_TEXT, most_answers(tally), options)
    stated = False if tally.options is None else tally.options > 0
    return shares_of(tally, np.where(stated, options, np.minimum(options, OPTIONS)))


def worthwhile(tally: Tally, choice: Choice, single: int) -> Choice:
    """The choice, or the single model where all the others together gain nothing on the training questions."""
    pooled, own = vote(tally, choice.members, choice.weights), tally.scores[single]
    gains = pooled.total * own.denominator > own.total * pooled.denominator
    return choice if gains else alone(single)


def global_weights(tally: Tally, shares: Shares) -> Floats:
    """The regularised weights of all questions, before anything is added for the best single model."""
    pilot = likeliest(shares, PILOT, tolerance=COARSE)
    return likeliest(shares, chosen_strength(shares, tally, pilot), thresholds(shares, pilot), pilot)


def likeliest(
    shares: Shares,
    strength: float,
    barriers: Floats | float = 0.0,
    start: Floats | None = None,
    tolerance: float = EXACT,
) -> Floats:
    """Weights of the largest regularised likelihood."""

    def objective(weights: Floats) -> tuple[float, Floats]:
        surprise, gradient = shares.surprise(weights)
        slope = barriers + strength / 2 * weights
        return float(surprise.sum() + (slope * weights).sum()), gradient + slope + strength / 2 * weights

    with one_thread():
        found = minimize(
            objective,
            np.ones(shares.models) if start is None else start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * shares.models,
            options={"ftol": tolerance, "gtol": 1e-6, "maxiter": 500},
        )
    weights: Floats = found.x
    return weights


def thresholds(shares: Shares, weights: Floats) -> Floats:
    """Standard errors of each model's gradient at some weights, as often as the gradient must exceed them."""
    return _noise(shares.squares(weights))


def _noise(squares: Any) -> Floats:
    noise: Floats = NOISE * np.sqrt(np.asarray(squares.sum(axis=0), dtype=np.float64).ravel())
    return noise


def _units(tally: Tally) -> Ints:
    """What nested folds keep whole: the clusters if there are enough of them to deal, else the questions."""
    if tally.clusters is not None and len(set(tally.clusters)) >= FOLDS:
        return np.unique(np.array(tally.clusters, dtype=object), return_inverse=True)[1]
    return np.arange(len(tally.questions))


def chosen_strength(shares: Shares, tally: Tally, start: Floats) -> float:
    """The strength whose weights, fitted on the other folds, make held-out gold likeliest."""
    unit = _units(tally)
    folds = min(FOLDS, int(unit.max(initial=0)) + 1)
    if folds < 2:
        return STRENGTHS[0]
    fold = (np.random.default_rng(0).permutation(int(unit.max()) + 1) % folds)[unit]
    surprise, squares = np.zeros(len(STRENGTHS)), shares.squares(start)
    for number in range(folds):
        train, test = shares.select(fold != number), shares.select(fold == number)
        barriers, weights = _noise(squares[fold != number]), start
        for place, strength in enumerate(STRENGTHS):
            weights = likeliest(train, strength, barriers, weights, COARSE)
            surprise[place] += test.surprise(weights)[0].sum()
    return STRENGTHS[int(surprise.argmin())]


RULE = CombiningRule("smooth", "weights of the likeliest gold, shrunk toward the best single model", smooth)
