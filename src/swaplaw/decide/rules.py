"""Ways to combine a fleet: a rule looks at training votes and says who votes, at what weight, and who is asked next.

A rule is a function under the decorator `rule`; all of them, yours too, are in one list and judged by one cross-fit.
Each says what silence does in its votes. Weights are simple fractions, scored exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._parallel import one_thread
from swaplaw._result import Registry
from swaplaw.decide.crossfit import Choice, alone, own_totals, read_as
from swaplaw.decide.policy import Silence
from swaplaw.law.pair import Pair, places_of_pairs
from swaplaw.law.scoresheet import scoresheet
from swaplaw.law.weights import narrowest, whole_factors
from swaplaw.panels.search import best_panels
from swaplaw.votes.tally import Scores, Tally

PARTS = 24
"""Weights are whole multiples of a part of the largest: 1/2, 2/3, 3/4 are among them, and rounding moves few votes."""

OnPart = Callable[[Tally], Choice]
OnParts = Callable[[Tally, Bools], Sequence[Choice]]
Many = TypeVar("Many", bound=OnParts)


@dataclass(frozen=True)
class CombiningRule:
    """One way to combine a fleet."""

    name: str
    summary: str
    """What it does, in one line."""
    on_parts: OnParts = field(repr=False)
    """Choose members and weights on each of some training parts; places refer to that tally's models."""
    needs_labels: bool = True
    """Whether it looks at gold."""
    silence: Silence = "ignored"
    """What null votes do, where it chooses and where its choice votes."""

    def choose(self, tally: Tally, parts: Bools) -> list[Choice]:
        """Choose on every part of the questions (rows of a mask)."""
        read = read_as(tally, self.silence)
        return [replace(choice, silence=read.silent) for choice in self.on_parts(read, parts)]

    def on_all(self, tally: Tally) -> Choice:
        """Choose on all questions."""
        return self.choose(tally, np.ones((1, len(tally.questions)), dtype=bool))[0]


RULES: Registry[CombiningRule] = Registry("rule")


def rule(
    name: str, summary: str, *, needs_labels: bool = True, silence: Silence = "ignored"
) -> Callable[[OnPart], OnPart]:
    """Add a function that chooses from training votes to the rules: it is then compared wherever the others are.

    Parameters
    ----------
    name, summary : str
        What it is called, and what it does in one line.
    needs_labels : bool
        Whether it looks at gold.
    silence : {"ignored", "counts"}
        What null votes do in it.

    Returns
    -------
    callable
        A decorator that leaves the function as it is.

    Raises
    ------
    InputError
        If there is already a rule of that name.

    Examples
    --------
    >>> from swaplaw.decide import Choice
    >>> @rule("first", "the first model alone")
    ... def first(tally):
    ...     return Choice((0,), (Fraction(1),))
    >>> RULES["first"].summary
    'the first model alone'
    >>> RULES.unregister("first")
    """

    def add(fit: OnPart) -> OnPart:
        RULES.register(name, CombiningRule(name, summary, partial(_on_each, fit), needs_labels, silence))
        return fit

    return add


def _on_each(fit: OnPart, tally: Tally, parts: Bools) -> list[Choice]:
    return [fit(tally if part.all() else tally.select(questions=part)) for part in parts]


def rule_on_parts(name: str, summary: str) -> Callable[[Many], Many]:
    """Add a function that chooses on many training parts at once."""

    def add(on_parts: Many) -> Many:
        RULES.register(name, CombiningRule(name, summary, on_parts))
        return on_parts

    return add


def by_accuracy(totals: Ints) -> list[int]:
    """Models in order of their total scores; of equals the first by name."""
    return sorted(range(len(totals)), key=lambda model: (-totals[model], model))


def _totals(tally: Tally) -> Ints:
    found: Ints = own_totals(tally, np.ones((1, len(tally.questions)), dtype=bool))[0][0]
    return found


def rounded(weights: Floats, order: Sequence[int], *, then_ask: bool = False) -> Choice:
    """Round weights to parts of the largest: that member first, then falling weight; equal weights as in the order.

    Where no weight is above 0, the first of the order is alone. `then_ask` makes models without weight the fallback.
    """
    top = float(weights.max(initial=0))
    parts = np.rint(weights / top * PARTS).astype(int) if top > 0 else np.zeros(len(weights), dtype=int)
    members = sorted((model for model in order if parts[model]), key=lambda model: -parts[model]) or [order[0]]
    chosen = tuple(Fraction(int(parts[model]), PARTS) for model in members) if top > 0 else (Fraction(1),)
    fallback = tuple(model for model in order if model not in members) if then_ask else ()
    return Choice(tuple(members), chosen, fallback=fallback)


@dataclass(frozen=True)
class Contests:
    """What models said, as one sparse matrix: an answer for each line, a model for each column.

    The answers to a question stand together, gold first: a *contest*. Where a question has several right answers there
    is a contest for each of them (see `votes.tally`), in which the others are rivals.
    """

    matrix: csr_matrix = field(repr=False)
    """Votes, or shares of votes."""
    owner: Ints
    """The contest of each line, rising."""
    first: Ints
    """The first line of each contest: gold, where gold has a line of its own."""

    @property
    def models(self) -> int:
        """How many models there are."""
        return int(self.matrix.shape[1])

    def select(self, contests: Bools) -> Contests:
        """Keep some contests (a mask)."""
        kept = contests[self.owner]
        return _contests(self.matrix[kept], self.owner[kept])

    def only(self, models: Sequence[int]) -> Contests:
        """Keep some models."""
        return replace(self, matrix=self.matrix[:, list(models)])

    def probabilities(self, weights: Floats, *, unnamed: int = 0) -> tuple[Floats, Floats]:
        """The softmax probability of each line among those of its contest, and minus the log of it.

        `unnamed` is how many answers that nobody gave, of share 0, there are beside.
        """
        pooled = self.matrix @ weights
        place = np.repeat(np.arange(len(self.first)), np.diff(self.first, append=len(pooled)))
        top = np.maximum.reduceat(pooled, self.first)
        odds = pooled - top[place]
        likely = np.exp(odds)
        total = (np.add.reduceat(likely, self.first) + unnamed * np.exp(-top))[place]
        return likely / total, np.log(total) - odds


def _contests(matrix: csr_matrix, owner: Ints) -> Contests:
    return Contests(matrix, owner, np.flatnonzero(np.diff(owner, prepend=-1)))


def contests_of_shares(shares: Floats, owner: Ints) -> Contests:
    """Take shares (lines x models) that are laid out already, with the contest of each line, rising."""
    return _contests(csr_matrix(shares), owner)


def counts_of(tally: Tally) -> Contests:
    """Lay the votes of a tally out."""
    golden, contest = np.nonzero(tally.gold)
    model = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
    rivals, rival = np.unique(tally.positions, return_inverse=True)
    number = tally.gold.shape[1]
    owner = np.concatenate([np.arange(number), tally.rivals.row[rivals]])
    order = np.argsort(owner, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    line = place[np.concatenate([contest, number + rival])]
    votes = np.concatenate([tally.gold[golden, contest], tally.counts]).astype(np.int64)
    matrix = csr_matrix((votes, (line, np.concatenate([golden, model]))), shape=(len(order), len(tally.models)))
    return _contests(matrix, owner[order])


def shares_of(tally: Tally) -> Contests:
    """The same as shares of all of a model's votes on a question, null votes among them."""
    counts = counts_of(tally)
    entries = counts.matrix.tocoo()
    shares = entries.data / tally.by_row(tally.votes)[entries.col, counts.owner[entries.row]]
    return replace(counts, matrix=csr_matrix((shares, (entries.row, entries.col)), shape=entries.shape))


STRENGTH = 0.01
"""Of the ridge, beside the mean loss: from 0.001 to 0.1 nothing changes, so it is not tuned."""
STEPS = 60


def likeliest(shares: Contests) -> Floats:
    """Weights, none below 0, that make gold likeliest: a ridge conditional logit.

    Gold's probability on a question is the softmax of the weighted shares over gold, all that somebody voted for, and
    one answer that nobody gave: without it, gold would compete where all are wrong and have no rival where all are
    right. The mean of minus its logarithm plus STRENGTH times the squares of the weights is strictly convex, so there
    is one minimum.
    """
    gold, questions = shares.first, len(shares.first)
    columns = shares.matrix.T.tocsr()

    def loss(weights: Floats) -> tuple[float, Floats]:
        probability, surprise = shares.probabilities(weights, unnamed=1)
        probability[gold] -= 1
        value = float(surprise[gold].mean()) + STRENGTH * float(weights @ weights)
        return value, columns @ probability / questions + 2 * STRENGTH * weights

    with one_thread():
        found = minimize(
            loss,
            np.ones(shares.models),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * shares.models,
            options={"maxiter": STEPS},
        )
    weights: Floats = found.x
    return weights


VOTERS = 5
"""More that vote add nothing on halves of real datasets; a fourth adds 0.4 points there, and a fifth 0.1."""


@rule_on_parts(
    "smooth", f"ridge logit over shares, of up to {VOTERS} voters; the others are asked where no answer stands"
)
def smooth(tally: Tally, parts: Bools, most: int | None = None) -> list[Choice]:
    """Likeliest weights on every part; models without weight are asked in order of accuracy where no answer stands.

    No more than VOTERS vote, those with the largest weights, weighed anew. `most` limits all that may be asked.
    """
    shares, totals = shares_of(tally), own_totals(tally, parts)[0]
    return [
        _smooth(shares.select(tally.by_row(part)), by_accuracy(own), len(tally.models) if most is None else most)
        for part, own in zip(parts, totals, strict=True)
    ]


def _smooth(shares: Contests, order: Sequence[int], most: int) -> Choice:
    weights, voters = likeliest(shares), min(VOTERS, most)
    if voters < shares.models:
        kept = sorted(order, key=lambda model: -round(float(weights[model]) * PARTS))[:voters]
        weights = np.zeros(shares.models)
        weights[kept] = likeliest(shares.only(kept))
    made = rounded(weights, order, then_ask=True)
    return replace(made, fallback=made.fallback[: most - len(made.members)])


def smooth_up_to(most: int) -> CombiningRule:
    """The rule `smooth` with this many models at most, the fallback among them."""
    return replace(RULES["smooth"], on_parts=partial(smooth, most=most))


@rule("chain", "the best single model; the others are asked in order of accuracy where no answer stands")
def chain(tally: Tally) -> Choice:
    """Choose the best single model, and all others as its fallback."""
    first, *others = by_accuracy(_totals(tally))
    return Choice((first,), (Fraction(1),), fallback=tuple(others))


@rule("best_single", "the most accurate single model, which gains are measured against", silence="counts")
def best_single(tally: Tally) -> Choice:
    """Choose the most accurate model: what gains are measured against."""
    return alone(by_accuracy(_totals(tally))[0])


@rule("equal", "equal weights", needs_labels=False)
def equal(tally: Tally) -> Choice:
    """Weigh all models the same."""
    models = range(len(tally.models))
    return Choice(tuple(models), (Fraction(1),) * len(models))


def options_of(tally: Tally) -> float:
    """Options of a question on average: as stated, or else as many as any question shows; at least 2."""
    rivals = tally.rivals.row[np.unique(tally.positions)]
    named = 1 + np.bincount(rivals, minlength=tally.gold.shape[1])
    stated = np.zeros(len(tally.questions)) if tally.options is None else tally.options
    return max(2.0, float(np.where(stated > 0, stated, named.max(initial=2)).mean()))


def log_odds_weights(right: Floats, options: float) -> Floats:
    """Log-odds of answers being right where wrong ones are spread over all other options; none below 0.

    With two options this is log(p / (1 - p)); with more, a model that is right less than half the time may know much.
    """
    weights: Floats = np.maximum(np.log(right / (1 - right) * (options - 1)), 0)
    return weights


@rule("log_odds", "weights by the log-odds of being right (Nitzan and Paroush)")
def log_odds(tally: Tally) -> Choice:
    """Weigh every model by the log-odds of its accuracy, optimal for independent voters [1]_.

    References
    ----------
    .. [1] S. Nitzan and J. Paroush (1982). Optimal decision rules in uncertain dichotomous choice situations.
       International Economic Review 23(2), 289-297.
    """
    questions = len(tally.questions)
    totals, scale = own_totals(tally, np.ones((1, questions), dtype=bool))
    # Half a right and half a wrong answer more keep perfect models finite.
    right = (totals[0].astype(np.float64) / scale + 0.5) / (questions + 1)
    return rounded(log_odds_weights(right, options_of(tally)), by_accuracy(totals[0]))


SETTLED, ROUNDS = 1e-9, 200


def agreement_weights(shares: Contests) -> Floats:
    """Weights of one-coin voters from votes alone (EM [1]_): who agrees with the weighted majority is trusted more.

    Each model is right with a probability of its own, and else errs evenly among the other answers. What is right
    follows from everybody's answers, and each model's probability from how much of its votes falls on what is probably
    right; both are worked out in turn until they settle.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM
       algorithm. Journal of the Royal Statistical Society C 28(1), 20-28.
    """
    if not len(shares.first):
        return np.zeros(shares.models)
    columns, voted = shares.matrix.T.tocsr(), np.asarray(shares.matrix.sum(axis=0), dtype=np.float64).ravel()
    options = max(2.0, len(shares.owner) / len(shares.first))
    weights: Floats = np.ones(shares.models)
    for _ in range(ROUNDS):
        # One vote right and one wrong keep everybody's probability between 0 and 1.
        right = (columns @ shares.probabilities(weights)[0] + 1) / (voted + 2)
        before, weights = weights, log_odds_weights(right, options)
        if np.abs(weights - before).max() < SETTLED:
            break
    return weights


@rule("agreement", "weights from agreement alone, without labels (EM)", needs_labels=False)
def agreement(tally: Tally) -> Choice:
    """Weigh every model by the log-odds of being right, estimated without labels."""
    shares = shares_of(tally)
    given = np.diff(shares.matrix.indptr) > 0
    # Rows in an order of their own, so that it does not matter which of them was gold.
    rows = np.flatnonzero(given)[np.lexsort((*shares.matrix[given].toarray().T, shares.owner[given]))]
    return rounded(agreement_weights(_contests(shares.matrix[rows], shares.owner[rows])), range(shares.models))


BAG = 20
"""How large the bag of `greedy` grows; the best of its sizes is chosen, of equals the smallest."""


@rule("greedy", "greedy selection with replacement (Caruana)")
def greedy(tally: Tally) -> Choice:
    """Grow a bag by the model that makes its vote most accurate [1]_; of equals the more accurate model.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes (2004). Ensemble selection from libraries of models.
       ICML.
    """
    order = by_accuracy(_totals(tally))
    margins = _whole_margins(tally)
    bag, pooled = [order[0]], margins[order[0]]
    best, chosen = _credit(tally, pooled), 1
    while len(bag) < BAG:
        added = max(order, key=lambda model: _credit(tally, pooled + margins[model]))
        bag.append(added)
        pooled = pooled + margins[added]
        if (score := _credit(tally, pooled)) > best:
            best, chosen = score, len(bag)
    times = np.bincount(bag[:chosen], minlength=len(order))
    members = sorted(set(bag[:chosen]), key=lambda member: (-times[member], member))
    return Choice(tuple(members), tuple(Fraction(int(times[each]), int(times.max())) for each in members))


def _whole_margins(tally: Tally) -> list[Ints]:
    """Every model's margins on one scale for each question, as whole numbers that a bag of them does not overflow."""
    models = range(len(tally.models))
    factors = whole_factors(tally, models, [Fraction(1)] * len(models))
    dtype: Any = narrowest(BAG * max(int(factor.max()) for factor in factors) * int(tally.votes.max()))
    return [
        tally.margins(model).astype(dtype)
        * (factor if len(factor) == 1 else factor.take(tally.rivals.question)).astype(dtype)
        for model, factor in zip(models, factors, strict=True)
    ]


def _credit(tally: Tally, margins: Ints) -> Fraction:
    """Total score of a vote with these pooled margins."""
    sizes = np.where(tally.gold.any(axis=0), tally.rivals.tie_sizes(margins), 0)
    scores = Scores(sizes, tally.rights)
    return Fraction(scores.total, scores.denominator)


@rule_on_parts("best_pair", "the most accurate pair at its best weight: exact")
def best_pair(tally: Tally, parts: Bools) -> list[Choice]:
    """The most accurate pair of each part on its best plateau, or a single model where no pair does better."""
    totals, scale = own_totals(tally, parts)
    best = [(Fraction(int(own.max()), scale), alone(by_accuracy(own)[0])) for own in totals]
    for a, b in places_of_pairs(tally) if len(tally.models) > 1 else ():
        sheet = scoresheet(Pair(tally, a, b))
        sums = sheet.sums(parts)
        winners = np.where(sheet.open, sums, -1).argmax(axis=1)
        for place, (row, stretch) in enumerate(zip(sums, winners, strict=True)):
            value = Fraction(int(row[stretch])) / sheet.scale
            if value > best[place][0]:
                best[place] = value, _heaviest_first((a, b), sheet.weight(*sheet.run(row, stretch)))
    return [choice for _, choice in best]


def _heaviest_first(pair: tuple[int, int], weight: Fraction) -> Choice:
    """A pair at a weight of its second model, with the heavier one first."""
    members = pair if weight <= 1 else pair[::-1]
    return Choice(members, (Fraction(1), min(weight, 1 / weight))) if weight else alone(pair[0])


STRONGEST, LARGEST = 6, 3
PART_WORK = 3e4
"""Planes looked at for the panels of each size, before they are left to line search."""


@rule("best_panel", f"the most accurate panel of up to {LARGEST} of the {STRONGEST} best models, certified")
def best_panel(tally: Tally) -> Choice:
    """Choose members and weights, proven best; equally good: the smaller panel."""
    totals, scale = own_totals(tally, np.ones((1, len(tally.questions)), dtype=bool))
    order = by_accuracy(totals[0])
    strong = sorted(order[:STRONGEST])
    some = tally.select(models=[tally.models[model] for model in strong])
    sizes = range(2, min(LARGEST, len(strong)) + 1)
    found = [best_panels(some, size, top=1, work=PART_WORK).panels[0] for size in sizes]
    best = max(found, key=lambda one: one.recommended.accuracy, default=None)
    if best is None or best.recommended.accuracy * scale * len(tally.questions) <= totals[0][order[0]]:
        return alone(order[0])
    weights = zip(best.panel.indices, best.recommended.weights, strict=True)
    members, kept = zip(*((strong[index], weight) for index, weight in weights if weight), strict=True)
    return Choice(members, kept)
