"""What an ensemble's samples cost, and the same ensemble scaled down to a cost.

Prices are per sample; without prices every sample costs 1, so that cost counts samples. An ensemble is scaled down by
drawing the same part of each member's recorded votes (see `draws`): never more votes than were recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw.decide.choice import Choice, Recorded, all_pairs, alone
from swaplaw.errors import InputError, listing, quote
from swaplaw.evidence.subsample import Draws, draw
from swaplaw.law.lines import Line
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.votes.tally import Tally

PANEL_BALLOTS = 200
"""Ballots a question that stand for a panel scaled down: there are many panels to draw for."""
_ROUNDING = 1e-9


def check_prices(tally: Tally, models: Sequence[str], prices: Mapping[str, float] | None) -> Floats:
    """Prices of these models, in their order; 1 for each where none are given."""
    if prices is None:
        return np.ones(len(models))
    for model, price in prices.items():
        if model not in tally.models:
            raise InputError(
                f"there is a price for {quote(model)}, which dataset {quote(tally.dataset)} does not have; "
                f"there are {listing(tally.models)}"
            )
        if isinstance(price, bool) or not isinstance(price, int | float) or not isfinite(price) or price < 0:
            raise InputError(f"the price of {quote(model)} is {quote(price)}: give a number, 0 or more, per sample")
    if missing := [model for model in models if model not in prices]:
        raise InputError(f"there is no price for {listing(missing)}: give one for every model that is considered")
    return np.array([float(prices[model]) for model in models])


def cost_of(sizes: Ints, prices: Floats) -> float:
    """Mean cost of a question when members (rows) are sampled so often."""
    return float((sizes * prices[:, None]).sum(axis=0).mean())


def scaled_down(votes: Ints, prices: Floats, budget: float | Floats) -> Ints | None:
    """Samples of each member (rows) on each question, within a cost per question; None where that is impossible.

    Each member but the last keeps the same part of its votes, rounded; the last takes what the budget still allows.
    """
    whole = votes.astype(np.int64)
    full = (whole * prices[:, None]).sum(axis=0)
    allowed = np.broadcast_to(np.asarray(budget, dtype=np.float64), full.shape)
    part = np.where(full > allowed, allowed / np.where(full > 0, full, 1), 1.0)
    sizes = np.clip(np.floor(whole * part + 0.5).astype(np.int64), 1, whole)
    left = allowed - (sizes[:-1] * prices[:-1, None]).sum(axis=0)
    if prices[-1] > 0:
        sizes[-1] = np.clip(np.floor(left / prices[-1] + _ROUNDING).astype(np.int64), 1, sizes[-1] + 1)
        sizes[-1] = np.minimum(sizes[-1], whole[-1])
    spent = (sizes * prices[:, None]).sum(axis=0)
    return sizes if (spent <= allowed * (1 + _ROUNDING) + _ROUNDING).all() else None


@dataclass(frozen=True)
class Budgeted:
    """Expected scores when no ensemble may cost more than a budget: costlier ones are scaled down to it."""

    tally: Tally
    prices: Floats = field(repr=False)
    budget: float | None = None
    priced: bool = False
    """Whether prices are real, not counts of samples."""
    seed: int = 0
    _sheets: dict[tuple[int, ...], Scoresheet] = field(default_factory=dict, repr=False, compare=False)
    _scores: dict[Choice, Floats] = field(default_factory=dict, repr=False, compare=False)
    _draws: dict[tuple[int, ...], Draws] = field(default_factory=dict, repr=False, compare=False)

    def only(self, models: Sequence[int]) -> Budgeted:
        """The same for some of the models."""
        kept = [self.tally.models[model] for model in models]
        return Budgeted(self.tally.select(models=kept), self.prices[list(models)], self.budget, self.priced, self.seed)

    @cached_property
    def recorded(self) -> Recorded:
        """Scores with all recorded votes, for what the budget allows in full."""
        return Recorded(self.tally)

    def sizes(self, members: Sequence[int]) -> Ints | None:
        """Samples of each member on each question; None where one of each is too expensive."""
        votes = self.tally.votes[list(members)].astype(np.int64)
        if self.budget is None:
            return votes
        return scaled_down(votes, self.prices[list(members)], self.budget)

    def affordable_sizes(self, members: Sequence[int]) -> Ints:
        """Samples of each member on each question, of members that the budget allows."""
        sizes = self.sizes(members)
        if sizes is None:
            named = listing([self.tally.models[member] for member in members])
            raise InputError(f"a budget of {self.budget:g} per question does not buy a sample of each of {named}")
        return sizes

    def affordable(self, members: Sequence[int]) -> bool:
        """Whether the budget allows a sample of each."""
        return self.sizes(members) is not None

    @cached_property
    def one_vote_each(self) -> bool:
        """Whether no more than one vote of either of any two models is asked: of two votes the heavier always wins."""
        if self.budget is None:
            return int(self.tally.votes.max(initial=0)) <= 1
        bought = map(self.sizes, all_pairs(range(len(self.tally.models))))
        return all(sizes is None or int(sizes.max()) <= 1 for sizes in bought)

    def draws(self, members: Sequence[int]) -> Draws | None:
        """Ballots within the budget; None where all votes fit in it."""
        sizes = self.sizes(members)
        if sizes is None or (sizes == self.tally.votes[list(members)]).all():
            return None
        ballots = PANEL_BALLOTS if len(members) > 2 else None
        if tuple(members) not in self._draws:
            drawn = draw(self.tally, members, list(sizes), seed=self.seed, ballots=ballots)
            self._draws[tuple(members)] = drawn
        return self._draws[tuple(members)]

    @cached_property
    def own(self) -> tuple[Floats, int]:
        """Each model's own expected scores."""
        if self.budget is None:
            return self.recorded.own
        rows = [self.score(alone(model)) for model in range(len(self.tally.models))]
        return np.stack(rows), 1

    def sheet(self, a: int, b: int) -> Scoresheet:
        """Expected scores of a pair at every weight."""
        drawn = None if self.budget is None else self._drawn_sheet(a, b)
        return drawn or self.recorded.sheet(a, b)

    def _drawn_sheet(self, a: int, b: int) -> Scoresheet | None:
        if (a, b) not in self._sheets:
            drawn = self.draws((a, b))
            if drawn is None:
                return None
            self._sheets[a, b] = drawn.sheet()
        return self._sheets[a, b]

    def along(self, line: Line) -> Scoresheet:
        """Expected scores at every weight along a line."""
        if len(line.members) == 2:
            return self.sheet(*line.members)
        drawn = None if self.budget is None else self.draws(line.members)
        return self.recorded.along(line) if drawn is None else drawn.sheet(line.mix)

    def score(self, choice: Choice) -> Floats:
        """Expected scores of a choice on every question; 0 for what no budget allows."""
        if self.budget is None:
            return self.recorded.score(choice)
        if choice not in self._scores:
            self._scores[choice] = self._expected(choice)
        return self._scores[choice]

    def _expected(self, choice: Choice) -> Floats:
        if not self.affordable(choice.members):
            return np.zeros(len(self.tally.questions))
        drawn = self.draws(choice.members)
        return self.recorded.score(choice) if drawn is None else drawn.scores(choice.weights)[0]
