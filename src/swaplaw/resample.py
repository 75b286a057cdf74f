"""The bootstrap: draw questions, or whole clusters where there are any; never single votes, and pairs stay paired.

A draw is a row of counts, how often each unit was drawn. Rows come in blocks of fixed size, each from a generator of
its own that the seed and the block's number determine: so the same seed gives the same rows, whatever the batches
or the number of workers, and more replicates begin with the same ones. Statistics follow from counts by one matrix
product (see `terms`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.multinomial import Counts, multinomial
from swaplaw.rows import Ints
from swaplaw.tally import Tally
from swaplaw.terms import Quantities, Terms
from swaplaw.wholes import Floats

Unit = Literal["question", "cluster"]

DEFAULT_REPLICATES = 10_000
FEW_CLUSTERS, FEW_QUESTIONS = 5, 30
"""Below these an interval says little: the bootstrap cannot know what it has never seen."""

BLOCK = 64
"""Replicates that share a generator. Changing this changes every draw."""
_BATCH = 20 * BLOCK
"""Replicates drawn, multiplied and judged at once: enough for BLAS, few enough that workers end together."""
WORKERS = min(4, os.cpu_count() or 1)
"""Threads that draw and multiply: NumPy does both without holding up the others."""


@dataclass(frozen=True)
class _Kinds:
    """Units that are alike may be counted together: often half of all questions have a twin."""

    first: Ints
    """The first unit of each kind."""
    shared: tuple[tuple[int, Ints], ...] = ()
    """Kinds of several units, each with those units."""

    @classmethod
    def equal_rows(cls, columns: Floats) -> _Kinds:
        """Units with equal columns are alike."""
        members: dict[bytes, list[int]] = {}
        for unit, row in enumerate(columns):
            members.setdefault(row.tobytes(), []).append(unit)
        shared = ((kind, np.array(units)) for kind, units in enumerate(members.values()) if len(units) > 1)
        return cls(np.array([units[0] for units in members.values()]), tuple(shared))

    def gather(self, counts: Counts, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Counts of kinds from those of units, both along the first axis."""
        gathered = counts.take(self.first, axis=0).astype(dtype)
        for kind, units in self.shared:
            counts.take(units, axis=0).sum(axis=0, out=gathered[kind], dtype=dtype)
        return gathered


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

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: all that it takes to draw the same again."""
        return {"unit": self.unit, "units": self.units, "replicates": self.replicates, "seed": self.seed}

    def counts(self, first: int, last: int) -> Ints:
        """How often each unit is drawn in replicates first to last - 1: replicates x units."""
        return self._counts(first, last).T.astype(np.int64)

    def _counts(self, first: int, last: int) -> Counts:
        """How often each unit is drawn: units x replicates."""
        start = first - first % BLOCK
        counts = np.empty((self.units, -(-(last - start) // BLOCK) * BLOCK), dtype=np.uint8)
        for place in range(0, counts.shape[1], BLOCK):
            source = np.random.SFC64([self.seed, (start + place) // BLOCK])
            counts[:, place : place + BLOCK] = multinomial(source, self.units, BLOCK)
        return counts[:, first - start : last - start]

    def weights(self, first: int, last: int) -> Ints:
        """How often each question is drawn: its unit's count; replicates x questions."""
        return self.counts(first, last)[:, self.member]

    def batches(self, size: int = _BATCH) -> Iterator[Ints]:
        """All replicates' counts in turn, `size` at a time; the rows do not depend on the size."""
        for first in range(0, self.replicates, size):
            yield self.counts(first, min(first + size, self.replicates))

    def gather(self, terms: Terms) -> Terms:
        """Terms of units instead of questions."""
        return terms if self.unit == "question" else terms.gather(self.member, self.units)

    def replicate(self, terms: Terms, statistic: Callable[[Quantities], Floats], *, workers: int = WORKERS) -> Floats:
        """Compute a statistic in every replicate, from terms of questions; replicates are the last axis of the result.

        The statistic sees some replicates at a time: quantities with replicates first and pairs last. It returns one
        row (or array) for each.
        """
        gathered = self.gather(terms)
        return self.transform(gathered.columns, lambda sums: statistic(Quantities(gathered, sums)), workers=workers)

    def transform(
        self,
        columns: Floats,
        statistic: Callable[[Floats], Floats],
        *,
        workers: int = WORKERS,
        size: int = _BATCH,
    ) -> Floats:
        """Compute a statistic of weighted column sums in every replicate; `columns` has a row for each unit.

        The statistic gets the sums of some replicates, one row each, and returns a row (or array) for each. Where
        columns are whole numbers (see `wholes`) the result depends neither on the workers nor on the batch size.
        """
        from threadpoolctl import threadpool_limits

        shape = statistic(columns.sum(axis=0, keepdims=True)).shape[1:]
        found = np.empty((*shape, self.replicates))
        kinds = _Kinds.equal_rows(columns)
        distinct = columns[kinds.first].T

        def fill(first: int) -> None:
            last = min(first + size, self.replicates)
            sums = distinct @ kinds.gather(self._counts(first, last), columns.dtype)
            found[..., first:last] = np.moveaxis(statistic(sums.T), 0, -1)

        # Workers take the cores: were each product to spread over all of them too, they would wait for each other.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(fill, range(0, self.replicates, size)):
                pass
        return found


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
