"""A small family of ensembles, named before anybody looks at gold: what `recommend` compares by default.

The more candidates, the better the best of them looks by luck alone, and the more an interval must allow for. So the
family is small, and its members are rules that hardly move when a few questions change:

- `equal`: every model at weight 1;
- `log_odds`: the log-odds of each model's accuracy, which would be best if models erred independently; whoever errs
  more often than not has no weight;
- `lead` and `lead_3`: the whole fleet, or the three most accurate models, at nearly equal weights: the best one of the
  training questions leads, so it breaks ties;
- `smooth`: the smooth weights of the whole fleet (see `rules.smooth`), which find by themselves who counts;
- `smooth_3` and `smooth_2`: the three, or two, heaviest of these, for those who want to run no more.

Every rule chooses on training questions only and is judged on the others. Pairs of models with a single vote per
question cannot change a vote, whatever their weights (of two votes the heavier always wins), so there is no `smooth_2`
of such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from swaplaw._core.arrays import Bools, Floats
from swaplaw._core.parallel import ALONE, Crew
from swaplaw.decide.choice import BestSingle, Choice, alone
from swaplaw.decide.cost import Budgeted
from swaplaw.decide.rules import RULES
from swaplaw.decide.rules import smooth as smooth_rule
from swaplaw.decide.rules._rationals import rounded
from swaplaw.decide.rules._shares import Shares, distinct
from swaplaw.decide.rules.log_odds import odds_weights

FOLLOWING = Fraction(23, 24)
SMALL = (2, 3)
"""Sizes that are compared besides the whole fleet."""


@dataclass(frozen=True)
class Family:
    """The rules that are compared, on the models of a scorer's tally."""

    scorer: Budgeted
    max_models: int | None = None
    """Largest ensemble; by default the whole fleet."""
    crew: Crew = field(default=ALONE, repr=False, compare=False)

    @cached_property
    def pairs_can_gain(self) -> bool:
        """Whether two models can change each other's votes: of two that never split theirs, the heavier always wins."""
        tally = self.scorer.tally
        owner = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
        cast = tally.votes[owner, tally.rivals.question[tally.positions]]
        return bool(((tally.counts > 0) & (tally.counts < cast)).any()) and not self.scorer.one_vote_each

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many members an ensemble may have, the smallest first."""
        fleet = len(self.scorer.tally.models)
        largest = fleet if self.max_models is None else min(fleet, self.max_models)
        least = 2 if self.pairs_can_gain else 3
        return tuple(sorted({size for size in (*SMALL, largest) if least <= size <= largest}))

    def choices(self, parts: Bools) -> dict[str, list[Choice]]:
        """What each rule chooses on each part; the first part is all questions."""
        if not self.sizes:
            return {}
        leaders = BestSingle(self.scorer, tuple(range(len(self.scorer.tally.models))))
        singles = [choice.members[0] for choice in leaders(parts)]
        fitted = self._smooth(parts, singles)
        fleet = len(self.scorer.tally.models)
        found = {
            f"smooth_{size}" if size < fleet else "smooth": [heaviest(w, size) for w in fitted] for size in self.sizes
        }
        ranked = np.argsort(-leaders.totals(parts).astype(np.float64), axis=0, kind="stable").T.tolist()
        for size in self.sizes:
            if size > 2 or size == self.sizes[-1]:
                found["lead" if size == fleet else f"lead_{size}"] = [led(order[:size]) for order in ranked]
        if self.sizes[-1] == fleet:
            sizes = parts.sum(axis=1)
            right = (leaders.totals(parts).astype(np.float64) / self.scorer.own[1] / sizes).T
            odds = [odds_weights(*each) for each in zip(right, sizes.tolist(), strict=True)]
            found["log_odds"] = [rounded(*each) for each in zip(odds, singles, strict=True)]
            found["equal"] = [RULES["equal"].fit(self.scorer.tally)] * len(parts)
        # What the budget does not buy on all questions could not be deployed.
        return {
            rule: [self._within_budget(*each) for each in zip(choices, singles, strict=True)]
            for rule, choices in found.items()
            if self.scorer.affordable(choices[0].members)
        }

    def _within_budget(self, made: Choice, single: int) -> Choice:
        """What was chosen, or the single model where the budget does not buy a sample of each member."""
        return made if self.scorer.affordable(made.members) else alone(single)

    def _smooth(self, parts: Bools, singles: Sequence[int]) -> list[Choice]:
        """Smooth weights on each part; on all questions, what the rule itself would choose."""
        fit = _SmoothFit.of(self.scorer)
        weights = self.crew.share(_SmoothFit.weights, fit, list(zip(parts[1:], singles[1:], strict=True)))
        whole = smooth_rule.worthwhile(self.scorer.tally, rounded(fit.whole(singles[0]), singles[0]), singles[0])
        return [whole, *(rounded(row, single) for row, single in zip(weights, singles[1:], strict=True))]


def led(members: Sequence[int]) -> Choice:
    """The first of some models at weight 1, the others so near it that the first only breaks ties of whole votes."""
    return Choice(tuple(members), (Fraction(1), *(FOLLOWING,) * (len(members) - 1)))


def heaviest(choice: Choice, size: int) -> Choice:
    """The members that weigh most (they come in that order)."""
    return Choice(choice.members[:size], choice.weights[:size])


@dataclass(frozen=True)
class _SmoothFit:
    """What it takes to fit smooth weights on parts of the questions: the ridge is the whole's, all else the part's."""

    shares: Shares
    kept: Mapping[int, int] = field(repr=False)
    models: int
    strength: float
    start: Floats = field(repr=False)

    @classmethod
    def of(cls, scorer: Budgeted) -> _SmoothFit:
        shares = smooth_rule.with_options(scorer.tally)
        kept = distinct(shares)
        own = shares.only(kept)
        start = smooth_rule.likeliest(own, smooth_rule.PILOT, tolerance=smooth_rule.COARSE)
        strength = smooth_rule.chosen_strength(own, scorer.tally, start)
        return cls(own, dict(enumerate(kept.tolist())), shares.models, strength, start)

    def whole(self, single: int) -> Floats:
        """Weights on all questions, whose best single model is given."""
        thresholds = smooth_rule.thresholds(self.shares, self.start)
        return self._led(smooth_rule.likeliest(self.shares, self.strength, thresholds, self.start), single)

    def weights(self, task: tuple[Bools, int]) -> Floats:
        """Weights on one part, whose best single model is given."""
        part, single = task
        train = self.shares.select(part)
        fit = partial(smooth_rule.likeliest, train, tolerance=smooth_rule.COARSE)
        pilot = fit(smooth_rule.PILOT, start=self.start)
        return self._led(fit(self.strength, smooth_rule.thresholds(train, pilot), start=pilot), single)

    def _led(self, fitted: Floats, single: int) -> Floats:
        weights = np.zeros(self.models)
        weights[list(self.kept.values())] = fitted
        weights[single] += smooth_rule.INCUMBENT * float(weights.max())
        return weights
