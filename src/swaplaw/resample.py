"""The bootstrap: draw questions, or whole clusters where there are any; never single votes, and pairs stay paired.

A draw is a row of counts, how often each unit was drawn. Rows come in blocks of fixed size, each from a generator of
its own that the seed and the block's number determine: so the same seed gives the same rows, whatever the batches
or the number of workers, and more replicates begin with the same ones. Statistics follow from counts by one matrix
product (see `terms`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.tally import Ints, Tally
from swaplaw.terms import Quantities, Terms

Unit = Literal["question", "cluster"]

DEFAULT_REPLICATES = 10_000
FEW_CLUSTERS, FEW_QUESTIONS = 5, 30
"""Below these an interval says little: the bootstrap cannot know what it has never seen."""

BLOCK = 64
"""Replicates that share a generator. Changing this changes every draw."""
_BATCH_BLOCKS = 4
"""Blocks drawn and multiplied at once: few enough that the counts of a batch stay in the cache."""


@dataclass(frozen=True)
class Resampler:
    """Draws of units with replacement, as many as there are units."""

    member: Ints = field(repr=False)
    """The unit that each question belongs to."""
    unit: Unit
    seed: int = 0
    replicates: int = DEFAULT_REPLICATES

    @cached_property
    def units(self) -> int:
        """How many questions or clusters there are to draw from."""
        return int(self.member.max()) + 1

    def counts(self, first: int, last: int) -> Ints:
        """How often each unit is drawn in replicates first to last - 1: replicates x units."""
        blocks = range(first // BLOCK, -(-last // BLOCK))
        rows = np.concatenate([self._block(block) for block in blocks])
        start = first - blocks.start * BLOCK
        return rows[start : start + last - first]

    def _block(self, block: int) -> Ints:
        rng = np.random.default_rng([self.seed, block])
        drawn = rng.integers(self.units, size=(BLOCK, self.units))
        return np.stack([np.bincount(row, minlength=self.units) for row in drawn])

    def weights(self, first: int, last: int) -> Ints:
        """How often each question is drawn: its unit's count; replicates x questions."""
        return self.counts(first, last)[:, self.member]

    def batches(self, size: int = BLOCK * _BATCH_BLOCKS) -> Iterator[Ints]:
        """All replicates' counts in turn, `size` at a time; the rows do not depend on the size."""
        for first in range(0, self.replicates, size):
            yield self.counts(first, min(first + size, self.replicates))

    def gather(self, terms: Terms) -> Terms:
        """Terms of units instead of questions."""
        return terms if self.unit == "question" else terms.gather(self.member, self.units)

    def replicate(self, terms: Terms, *, workers: int = 1, size: int = BLOCK * _BATCH_BLOCKS) -> Quantities:
        """Every quantity of every pair in every replicate, from terms of questions."""
        gathered = self.gather(terms)
        totals = np.empty((self.replicates, gathered.columns.shape[1]), dtype=gathered.columns.dtype)

        def fill(first: int) -> None:
            last = min(first + size, self.replicates)
            totals[first:last] = gathered.totals(self.counts(first, last))

        starts = range(0, self.replicates, size)
        if workers == 1:
            for first in starts:
                fill(first)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(fill, starts))
        return Quantities(gathered, totals)


def resampler(
    tally: Tally, *, by: Unit | None = None, seed: int = 0, replicates: int = DEFAULT_REPLICATES
) -> Resampler:
    """Resample a tally's clusters where it has any, else its questions; `by` says which to take."""
    if replicates < 1:
        raise InputError(f"there cannot be {replicates} bootstrap replicates: ask for 1 or more (1,000 at the least)")
    if seed < 0:
        raise InputError(f"seed {seed} is negative: give 0 or more")
    unit: Unit = by or ("question" if tally.clusters is None else "cluster")
    names = tally.questions if unit == "question" else tally.clusters
    if names is None:
        raise InputError(
            f"dataset {quote(tally.dataset)} has no column 'cluster': add one, or resample questions instead"
        )
    member = np.unique(np.array(names, dtype=object), return_inverse=True)[1]
    _check_units(tally, unit, int(member.max()) + 1, str(names[0]))
    return Resampler(member, unit, seed, replicates)


def _check_units(tally: Tally, unit: Unit, units: int, name: str) -> None:
    """One unit cannot be resampled at all, and a few hardly."""
    dataset = f"dataset {quote(tally.dataset)}"
    if units == 1 and unit == "cluster":
        raise InputError(
            f"{dataset} has a single cluster ({quote(name)}): clusters cannot be resampled; "
            "name at least 2 (better 5 or more), or resample questions instead"
        )
    if units == 1:
        raise InputError(
            f"{dataset} has a single question ({quote(name)}): nothing can be resampled; "
            f"give at least 2 questions (better {FEW_QUESTIONS} or more)"
        )
    few = FEW_CLUSTERS if unit == "cluster" else FEW_QUESTIONS
    if units < few:
        warnings.warn(
            f"{dataset} has only {units} {unit}s: bootstrap intervals need about {few} or more to be trusted",
            StatisticalWarning,
            stacklevel=3,
        )
