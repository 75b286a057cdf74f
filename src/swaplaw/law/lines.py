"""Lines in a panel's weight space: secondaries that share their weight in a fixed mix vote as one model does.

With the primary at 1 and the secondaries at x times a mix, the vote depends on x alone, and the pair's exact curve
applies: the secondaries' votes, pooled in that mix, are those of a single secondary of weight x. So whatever is known
of pairs at *every* weight (scoresheets, held-out weights, draws) is known of panels along lines. The lines of a panel
are those through a small grid of mixes: all secondaries alike, or one of them counting double.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.errors import InputError, quote
from swaplaw.law.weights import whole_factors
from swaplaw.votes.tally import Tally

LARGEST_COUNT = 2**31
"""Pooled votes stay below this, so that products with another model's fit in 64 bits."""


@dataclass(frozen=True, order=True)
class Line:
    """All weights of an ensemble at which its secondaries keep to one mix."""

    members: tuple[int, ...]
    """Places in the tally, the primary first."""
    mix: tuple[int, ...] = (1,)
    """How the secondaries share their weight."""

    def weights(self, total: Fraction) -> tuple[Fraction, ...]:
        """The members' weights when the secondaries' add up to a total."""
        return Fraction(1), *(total * Fraction(part, sum(self.mix)) for part in self.mix)


def panel_lines(panel: Sequence[int]) -> list[Line]:
    """Every member as the primary, the others alike or one of them counting double."""
    found = []
    for primary in panel:
        others = tuple(member for member in panel if member != primary)
        mixes = [(1,) * len(others)]
        mixes += [tuple(1 + (other == doubled) for other in others) for doubled in others]
        found += [Line((primary, *others), mix) for mix in mixes]
    return found


def all_panels(models: Sequence[int], largest: int) -> list[tuple[int, ...]]:
    """Every panel of three members to `largest`, small ones first."""
    return [panel for size in range(3, largest + 1) for panel in combinations(models, size)]


def mixed(tally: Tally, line: Line) -> Tally:
    """The primary, and its secondaries' votes pooled into those of one model."""
    primary, *others = line.members
    factors = [_per_question(tally, factor) for factor in _factors(tally, others, line.mix)]
    question = tally.rivals.question
    answered = np.logical_and.reduce(tally.answered[others])
    votes, gold = (
        sum(counts[other].astype(np.int64) * spread(factor) for other, factor in zip(others, factors, strict=True))
        * spread(answered)
        for counts, spread in ((tally.votes, np.asarray), (tally.gold, tally.by_row))
    )
    pooled = sum(tally.dense(other) * factor[question] for other, factor in zip(others, factors, strict=True))
    return tally.with_counts(
        [tally.models[primary], " + ".join(tally.models[other] for other in others)],
        np.stack([tally.votes[primary].astype(np.int64), votes]),
        np.stack([tally.gold[primary].astype(np.int64), gold]),
        [tally.dense(primary), pooled * answered[question]],
    )


def _factors(tally: Tally, others: Sequence[int], mix: Sequence[int]) -> list[Ints]:
    """Whole numbers that a vote of each secondary counts, as small as they can be."""
    whole = whole_factors(tally, others, [Fraction(part) for part in mix])
    common = np.gcd.reduce(whole)
    found = [factor // common for factor in whole]
    largest = max(int(factor.max(initial=0)) for factor in found) * int(tally.votes.max(initial=0)) * len(others)
    if largest >= LARGEST_COUNT:
        named = ", ".join(quote(tally.models[other]) for other in others)
        raise InputError(
            f"the votes of {named} cannot be pooled exactly: their sample counts have no common multiple below "
            f"{LARGEST_COUNT:,}; draw equally many samples of each, or allow fewer models"
        )
    return [factor.astype(np.int64) for factor in found]


def _per_question(tally: Tally, factor: Ints) -> Ints:
    return np.broadcast_to(factor, len(tally.questions))
