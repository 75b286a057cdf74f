"""Controls: what an ensemble gains at the single model's cost, and over secondaries that know nothing.

Both are computed when somebody looks: a verdict that does not ask for them does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from swaplaw.decide.cost import Budgeted, scaled_down
from swaplaw.decide.holdout import HeldOut
from swaplaw.decide.placebo import Placebo, placebo
from swaplaw.decide.selection import Selection
from swaplaw.evidence.interval import Effect, effect
from swaplaw.evidence.subsample import draw

BALLOTS = 200
"""Ballots per question that stand for an ensemble scaled down: what drawing adds to the noise is then negligible."""


@dataclass(frozen=True)
class Controls:
    """What else the gain of an ensemble is compared with."""

    scorer: Budgeted = field(repr=False)
    judged: HeldOut | None = field(repr=False)
    """The ensemble; None where there is none."""
    selection: Selection = field(repr=False)
    seed: int

    @cached_property
    def equal_compute(self) -> Effect | None:
        """Gain when the ensemble may cost no more than the best single model does; None: it cannot be asked.

        Its weights were chosen on all questions, so what that flatters it by is taken off.
        """
        if self.judged is None:
            return None
        members, (single,) = self.judged.choice.members, self.judged.baseline.members
        allowed = self.scorer.affordable_sizes((single,))[0] * self.scorer.prices[single]
        sizes = scaled_down(self.scorer.affordable_sizes(members), self.scorer.prices[list(members)], allowed)
        if sizes is None:
            return None
        drawn = draw(self.scorer.tally, members, list(sizes), seed=self.seed, ballots=BALLOTS)
        gains = drawn.scores(self.judged.choice.weights)[0] - self.scorer.score(self.judged.baseline)
        return effect(gains - max(0.0, self.judged.optimism), self.selection.member)

    @cached_property
    def over_placebo(self) -> Effect | None:
        """Gain over the same ensemble with secondaries that know nothing; None: it cannot be asked.

        The ensemble is the best of all candidates, which the interval and the p-value allow for.
        """
        if self.judged is None or self._blind is None:
            return None
        return self.selection.effect(self.judged.scores - self._blind.scores)

    @property
    def options(self) -> int | None:
        """Among how many options secondaries that know nothing guess."""
        return None if self._blind is None else self._blind.options

    @cached_property
    def _blind(self) -> Placebo | None:
        """None where a budget lets nobody vote as recorded."""
        found = self.judged
        if found is None or (self.scorer.budget is not None and self.scorer.draws(found.choice.members) is not None):
            return None
        return placebo(self.scorer, found.choice, found.baseline, seed=self.seed)
