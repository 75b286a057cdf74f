"""The bootstrap: draw questions, or whole clusters where there are any; never single votes, and pairs stay paired.

A draw is a row of counts, how often each unit was drawn. Rows come in blocks of fixed size, each from a generator of
its own that the seed and the block's number determine: so the same seed gives the same rows, whatever the batches
or the number of workers, and more replicates begin with the same ones. Statistics follow from counts by one matrix
product (see `quantities`).

Drawing is most of the work, so units are not drawn one by one. Independent Poisson counts that add up to m are m units
drawn at random; drawing the missing ones at random makes it as many as there are units. The rate is a little below one,
so that hardly ever too many are drawn (those replicates are drawn again, which favours no outcome); with few units it
is 0, and all are drawn one by one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import exp, prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import ExactProduct
from swaplaw._core.memory import require_memory
from swaplaw._core.parallel import ALONE, Crew
from swaplaw._core.threads import in_threads, one_thread
from swaplaw.errors import InputError
from swaplaw.evidence.quantities import Terms
from swaplaw.evidence.units import Unit, require_several, resampling_units
from swaplaw.law.pair import Pair
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

DEFAULT_REPLICATES = 10_000
FEW: dict[Unit, int] = {"cluster": 10, "question": 50}
"""With fewer units an expanded percentile interval covers less than 92% (see docs/evidence.md)."""

BLOCK = 64
"""Replicates that share a generator. Changing this changes every draw."""
BATCH = 20 * BLOCK
"""Replicates drawn, multiplied and judged at once: enough for BLAS, few enough that threads end together."""
LARGEST_BATCH = 2**22
"""Sums of columns that are held at once, and counts of units that are drawn at once: these stay near the processor."""
THREADS = min(4, os.cpu_count() or 1)
"""Threads of this process that draw and multiply: NumPy does both without holding up the others."""


@dataclass(frozen=True)
class _Kinds:
    """Units that are alike may be counted together: often half of all questions have a twin."""

    first: Ints
    """The first unit of each kind."""
    shared: tuple[tuple[int, Ints], ...] = ()
    """Kinds of several units, each with those units."""

    @classmethod
    def equal_rows(cls, *matrices: Floats) -> _Kinds:
        """Units are alike whose rows are equal in every matrix."""
        kind = np.zeros(len(matrices[0]), dtype=np.int64)
        alike = np.arange(len(kind))
        for matrix in matrices:
            for first in range(0, matrix.shape[1], _TOLD_BY):
                if not len(alike):
                    return cls(np.arange(len(kind)))
                columns = np.ascontiguousarray(matrix[alike, first : first + _TOLD_BY])
                kind[alike] = alike[_first_alike(kind[alike], columns)]
                # Whoever is like nobody before and nobody after it stays so.
                alike = alike[np.bincount(kind, minlength=len(kind))[kind[alike]] > 1]
        order = np.argsort(kind, kind="stable")
        members = np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)
        shared = ((each, units) for each, units in enumerate(members) if len(units) > 1)
        return cls(np.array([units[0] for units in members]), tuple(shared))

    def gather(self, counts: Counts) -> npt.NDArray[Any]:
        """Counts of kinds from those of units, both along the first axis."""
        if len(self.first) == len(counts):
            return counts
        gathered = counts.take(self.first, axis=0).astype(np.float64)
        for kind, units in self.shared:
            # Narrow sums of rows take a quarter of the time; no sum exceeds the number of units.
            gathered[kind] = np.add.reduce(counts.take(units, axis=0), axis=0, dtype=np.uint32)
        return gathered


_WORTH_GATHERING = 0.9
"""Units that are alike are counted together where no more kinds than this share of all units are left."""
_TOLD_BY = 64
"""Columns that are compared at a time: mostly the first few tell all units apart."""


def _first_alike(kind: Ints, columns: Floats) -> Ints:
    """The place of the first row that is of the same kind and equal in more columns, for each row."""
    seen: dict[tuple[int, bytes], int] = {}
    rows = enumerate(zip(kind.tolist(), columns, strict=True))
    return np.array([seen.setdefault((before, row.tobytes()), place) for place, (before, row) in rows])


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
        """Ready for JSON: everything needed to draw the same again."""
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

    def batches(self, size: int = BATCH) -> Iterator[Ints]:
        """The counts of all replicates in turn, `size` at a time; the rows do not depend on the size."""
        for first in range(0, self.replicates, size):
            yield self.counts(first, min(first + size, self.replicates))

    def all_counts(self) -> npt.NDArray[np.float32]:
        """The counts of all replicates, in the narrow floats that products take: replicates x units."""
        every = np.empty((self.replicates, self.units), dtype=np.float32)
        for first in range(0, self.replicates, BLOCK):
            last = min(first + BLOCK, self.replicates)
            every[first:last] = self._counts(first, last).T
        return every

    def by_unit(self, values: Ints | Floats, pair: Pair) -> Ints | Floats:
        """Sum what the common questions of a pair have by unit."""
        whole = pair.n == pair.of
        if whole and self.unit == "question":
            return values
        return np.bincount(self.member if whole else self.member[pair.common], values, minlength=self.units)

    def gather(self, terms: Terms) -> Terms:
        """Terms of units instead of questions."""
        return terms if self.unit == "question" else terms.gather(self.member, self.units)

    def transform(
        self,
        columns: Floats,
        statistic: Callable[[Floats], Floats],
        *,
        crew: Crew = ALONE,
        threads: int = THREADS,
        size: int | None = None,
    ) -> Floats:
        """Compute a statistic of weighted column sums in every replicate; `columns` has a row for each unit.

        The statistic gets the sums of some replicates, one row each, and returns a row (or array) for each. Where
        columns are whole numbers (see `exact_floats`) the result depends neither on who does the work nor on the
        batch size.
        """
        weighted = Weighted.of(statistic, columns)
        return self.apply(weighted, crew=crew, threads=threads, size=size or batch_of(columns.shape[1]))

    def apply(
        self, statistic: Callable[[Counts], Floats], *, crew: Crew = ALONE, threads: int = THREADS, size: int = BATCH
    ) -> Floats:
        """Compute a statistic of the draws themselves, with replicates along the last axis.

        The statistic gets how often each unit is drawn in some replicates (units x replicates), and returns a row (or
        array) for each replicate.
        """
        replication = _Replication(self, statistic)
        if not crew.is_alone:
            blocks = crew.split(range(-(-self.replicates // BLOCK)))
            shares = [(run[0] * BLOCK, min((run[-1] + 1) * BLOCK, self.replicates)) for run in blocks]
            return np.concatenate(list(crew.share(_Replication.part, replication, shares)), axis=-1)
        shape = statistic(np.ones((self.units, 1), dtype=np.uint8)).shape[1:]
        what = f"{self.replicates:,} replicates of {prod(shape):,} numbers"
        require_memory(8.0 * prod(shape) * self.replicates, what, "analyse fewer models, or ask for fewer replicates")
        found = np.empty((*shape, self.replicates))
        size = min(size, batch_of(self.units))

        def fill(first: int) -> None:
            last = min(first + size, self.replicates)
            found[..., first:last] = replication.part((first, last))

        # Threads take the cores: were each product to spread over all of them too, they would wait for each other.
        with one_thread():
            in_threads(fill, range(0, self.replicates, size), threads)
        return found


def batch_of(width: int) -> int:
    """Replicates to draw or judge at a time, given how many numbers each has: fewer of wide ones, in whole blocks."""
    return min(BATCH, max(BLOCK, LARGEST_BATCH // max(1, width) // BLOCK * BLOCK))


@dataclass(frozen=True)
class _Replication:
    """What it takes to compute a statistic in any replicate."""

    draws: Resampler
    statistic: Callable[[Counts], Floats]

    def part(self, span: tuple[int, int]) -> Floats:
        """The statistic in replicates first to last - 1, which are the last axis."""
        return np.moveaxis(self.statistic(self.draws._counts(*span)), 0, -1)


@dataclass(frozen=True)
class Weighted:
    """A statistic of weighted column sums: for each batch of draws one product with every matrix of columns, exact."""

    kinds: _Kinds
    products: tuple[ExactProduct, ...]
    statistic: Callable[..., Floats]
    """From the sums of each matrix's columns, draws x columns, to a row (or array) for each draw."""

    @classmethod
    def of(cls, statistic: Callable[..., Floats], *matrices: Floats) -> Weighted:
        """Make ready to weight the rows of some matrices, which are units."""
        kinds = _Kinds.equal_rows(*matrices)
        some = len(kinds.first) < _WORTH_GATHERING * len(matrices[0])
        if not some:
            # A few twins are not worth a copy of everything else.
            kinds = _Kinds(np.arange(len(matrices[0])))
        units = len(matrices[0])
        products = (
            ExactProduct.of(matrix.T.take(kinds.first, axis=1) if some else matrix.T, units) for matrix in matrices
        )
        return cls(kinds, tuple(products), statistic)

    def __call__(self, counts: Counts) -> Floats:
        """Compute the statistic of draws: how often each unit (row) is drawn in each (column)."""
        return self.statistic(*self.sums(counts))

    def sums(self, counts: Counts, first: int | None = None) -> list[Floats]:
        """The weighted sums of each matrix's columns, or of the first few matrices': draws x columns."""
        gathered = self.kinds.gather(counts)
        return [product(gathered).T for product in self.products[:first]]


def resampler(
    votes: VotesLike, *, by: Unit | None = None, seed: int = 0, replicates: int = DEFAULT_REPLICATES
) -> Resampler:
    """Resample a tally's clusters where it has several, else its questions.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    by : {"question", "cluster"}, optional
        What to resample instead.
    seed : int
        The same seed gives the same draws.
    replicates : int
        How many draws.

    Returns
    -------
    Resampler
        Draws of units with replacement.

    Raises
    ------
    InputError
        If there is nothing to resample, or `replicates` is less than 1.

    Examples
    --------
    >>> import swaplaw as sl
    >>> resampler(sl.demo_votes(), replicates=100)
    Resampler(unit='cluster', seed=0, replicates=100)
    """
    if replicates < 1:
        raise InputError(f"there cannot be {replicates} bootstrap replicates: ask for 1 or more (better 1,000 or more)")
    if seed < 0:
        raise InputError(f"seed {seed} is negative: give 0 or more")
    tally = inputs.tally(votes)
    units = resampling_units(tally, by)
    require_several(tally, units)
    return Resampler(units.member, units.kind, seed, replicates)


Counts = npt.NDArray[np.uint8]
"""A byte is enough: the chance that one of n units is drawn more than 255 times is below 1 / 255!."""

_MARGIN = 5.0
"""Standard deviations by which the Poisson counts stay below the number of units."""
_CELLS = 2**16
_ESCAPE = _CELLS - 1


def multinomial(source: np.random.SFC64, units: int, replicates: int, margin: float = _MARGIN) -> Counts:
    """Draw `units` of as many units in each replicate (an even number of them): units x replicates."""
    pairs = _PoissonPairs.of_rate(max(0.0, 1 - margin / sqrt(units)))
    counts = pairs.draw(source, units, replicates)
    while (over := (missing := units - _totals(counts)) < 0).any():
        counts[:, over] = pairs.draw(source, units, replicates)[:, over]
    drawn = uniform(source, units, int(missing.sum()))
    np.add.at(counts.reshape(-1), drawn * replicates + np.repeat(np.arange(replicates), missing), np.uint8(1))
    return counts


def _totals(counts: Counts) -> Ints:
    totals: Ints = counts.sum(axis=0, dtype=np.uint32).astype(np.int64)  # narrower sums take half the time
    return totals


@dataclass(frozen=True)
class _PoissonPairs:
    """Two Poisson counts at a time from 16 random bits, by a table of what they mean.

    A pair of counts has as many cells of the table as its chance fills wholly. Cells left over send on to `rest`, where
    what is left of the chances decides by a full-size random number: so chances are as exact as floats are.
    """

    table: npt.NDArray[np.uint16]
    values: npt.NDArray[np.uint16]
    rest: npt.NDArray[np.float64]
    """Running sum of the chances left over."""

    @staticmethod
    @lru_cache(maxsize=8)
    def of_rate(rate: float) -> _PoissonPairs:
        """Make the table for counts of one rate."""
        chances = [exp(-rate)]
        while chances[-1] > 2**-60:
            chances.append(chances[-1] * rate / len(chances))
        cells = np.outer(chances, chances).ravel() * _CELLS
        high, low = np.divmod(np.arange(len(cells)), len(chances))
        values = (high * 256 + low).astype(np.uint16)
        whole = cells.astype(np.int64)
        table = np.full(_CELLS, _ESCAPE, dtype=np.uint16)
        table[: whole.sum()] = np.repeat(values, whole)
        return _PoissonPairs(table, values, np.cumsum(cells - whole))

    def draw(self, source: np.random.SFC64, units: int, replicates: int) -> Counts:
        """Draw units x replicates independent counts."""
        pairs = self.table.take(_bits(source, units * replicates // 2, np.uint16))
        escaped = np.flatnonzero(pairs == _ESCAPE)
        places = np.random.Generator(source).random(len(escaped)) * self.rest[-1]
        pairs[escaped] = self.values[np.searchsorted(self.rest, places, side="right")]
        return pairs.view(np.uint8).reshape(units, replicates)


def uniform(source: np.random.SFC64, below: int, size: int) -> Ints:
    """Whole numbers from 0 to `below` - 1, each as likely as any other to within 2^-32.

    Scaling 32 random bits takes half the time of NumPy's own way, which draws again for the last of those 2^-32.
    """
    bits = _bits(source, size, np.uint32).astype(np.uint64)
    bits *= np.uint64(below)
    bits >>= np.uint64(32)
    return bits.view(np.int64)


def _bits(source: np.random.SFC64, size: int, dtype: type[np.unsignedinteger[Any]]) -> npt.NDArray[Any]:
    """Random whole numbers of a size in bits."""
    each = 8 // np.dtype(dtype).itemsize
    return source.random_raw(-(-size // each)).view(dtype)[:size]
