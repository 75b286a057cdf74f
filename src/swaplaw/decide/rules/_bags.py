"""Whole-number weights that grow one model at a time: exact votes of a bag of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.decide.choice import Choice, alone
from swaplaw.law.weights import narrowest, whole_factors
from swaplaw.votes.tally import Tally, tie_credit

LARGEST_BAG = 600
"""Bags hold fewer models than this."""


@dataclass(frozen=True)
class Margins:
    """Every model's margins on one scale per question, as whole numbers."""

    tally: Tally
    rows: Sequence[Ints]
    """One row a model, over the positions of the rivals."""

    def score(self, margins: Ints) -> Fraction:
        """Total score of a vote with these pooled margins."""
        sizes = np.bincount(self.tally.rivals.tie_sizes(margins))
        scale = lcm(*(size for size in range(1, len(sizes)) if sizes[size]))
        credit = (int(sizes[size]) * tie_credit(scale, size) for size in range(1, len(sizes)) if sizes[size])
        return Fraction(sum(credit), scale)


def whole_margins(tally: Tally) -> Margins:
    """Put the margins of all models on whole-number scales, as if all weighed 1."""
    models = range(len(tally.models))
    factors = whole_factors(tally, models, [Fraction(1)] * len(models))
    largest = max(int(factor.max()) for factor in factors) * int(tally.votes.max())
    dtype = narrowest(LARGEST_BAG * largest)
    rows = []
    for model, factor in zip(models, factors, strict=True):
        spread = factor if len(factor) == 1 else factor.take(tally.rivals.question)
        rows.append(tally.margins(model).astype(dtype) * spread.astype(dtype))
    return Margins(tally, rows)


def counted(bag: Sequence[int]) -> Choice:
    """The choice that a bag of models stands for: how often each is in it, in parts of the most frequent one."""
    if len(set(bag)) == 1:
        return alone(bag[0])
    members = sorted(set(bag), key=lambda member: (-bag.count(member), member))
    top = bag.count(members[0])
    return Choice(tuple(members), tuple(Fraction(bag.count(member), top) for member in members))
