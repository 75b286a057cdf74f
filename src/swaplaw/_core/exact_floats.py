"""Whole numbers held as floats, narrow enough for BLAS and wide enough that no sum is ever rounded.

Sums of whole numbers below 2^53 are exact in 64-bit floats (below 2^24 in 32-bit ones), so a matrix product of them
is exact whatever the order in which a library adds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Floats, Ints

SPARSE = 0.1
"""Rows of which a smaller part is not 0 are multiplied entry by entry: BLAS would multiply the noughts, too."""
WORTH_IT = 0.2
"""The least part of all rows that is worth sorting out."""
NEAR, GROUP = 128, 512
"""Columns that are multiplied at a time, and sparse rows that are: so their sums stay near the processor."""


def reduced(values: Ints, scale: int) -> tuple[Ints, int]:
    """Cancel what all values and their scale have in common."""
    shared = gcd(scale, int(np.gcd.reduce(values, axis=None)))
    return values // shared, scale // shared


def grid_for(scale: int, n: int) -> int:
    """0 where sums of n terms on this scale are exact in a float; else a power of two to round the terms to.

    Only ties of many different sizes need that (their least common multiple explodes). Rounding terms, not sums, keeps
    sums exact; the few bits to spare are for clusters of very different sizes.
    """
    return 0 if n * scale < 2**48 else int(2 ** (48 - n.bit_length()))


def rounded(values: Ints, scale: int, grid: int) -> Ints:
    """Bring values from their scale to the nearest points of the grid, if there is one."""
    if not grid:
        return values
    rounded: Ints = (values.astype(object) * (2 * grid) + scale) // (2 * scale)
    return rounded


def compact(columns: Floats) -> Floats:
    """Hold columns in 32 bits where even then no weighted sum can be rounded: products run twice as fast."""
    largest = len(columns) * float(np.abs(columns).max(initial=0))
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)


def exact_float(values: npt.ArrayLike, n: int) -> Floats:
    """Whole numbers as 32-bit floats where even n times the largest of them is exact there, else as 64-bit ones."""
    column = np.asarray(values, dtype=np.float64)
    return column.astype(np.float32) if n * float(np.abs(column).max(initial=0)) < 2**24 else column


@dataclass(frozen=True)
class SparseProduct:
    """A sparse matrix of whole numbers, ready to be multiplied by others.

    Entries are gone through column by column, some rows at a time: what is multiplied is read in order, once for each
    group of rows, and what is added to stays near the processor.
    """

    rows: int
    groups: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, matrix: Any) -> SparseProduct:
        """Cut a matrix in compressed rows into groups of rows, each in compressed columns."""
        rows = matrix.shape[0]
        return cls(rows, tuple(matrix[first : first + GROUP].tocsc() for first in range(0, rows, GROUP)))

    def __call__(self, columns: npt.NDArray[Any], dtype: npt.DTypeLike) -> Floats:
        """Multiply: rows of the matrix x columns, which are cast to a type first."""
        product = np.empty((self.rows, columns.shape[1]), dtype=dtype)
        for left in range(0, columns.shape[1], NEAR):
            part = slice(left, left + NEAR)
            near = np.ascontiguousarray(columns[:, part], dtype=dtype)
            for place, group in enumerate(self.groups):
                product[place * GROUP : (place + 1) * GROUP, part] = group @ near
        return product


@dataclass(frozen=True)
class ExactProduct:
    """A matrix of whole numbers, ready to be multiplied by counts: full rows by BLAS, sparse ones by their entries.

    Full rows of numbers so small that no sum is rounded in 32 bits are multiplied there, in half the time.
    """

    rows: int
    dtype: np.dtype[Any]
    dense: tuple[tuple[Ints, Floats], ...] = field(repr=False)
    """Full rows, by the bits that they need: which they are, and what they hold."""
    rest: Ints = field(repr=False)
    """Which rows are sparse."""
    sparse: SparseProduct | None = field(repr=False)

    @classmethod
    def of(cls, matrix: Floats, most: int) -> ExactProduct:
        """Sort the rows of a matrix into full and sparse ones; `most` is what a column of counts may add up to."""
        few = np.array([np.count_nonzero(row) for row in matrix]) < SPARSE * matrix.shape[1]
        if few.sum() <= WORTH_IT * len(few):
            few[:] = False
        rest, full = np.flatnonzero(few), np.flatnonzero(~few)
        return cls(len(matrix), matrix.dtype, _by_width(matrix, full, most), rest, _entries(matrix, rest))

    def __call__(self, columns: npt.NDArray[Any]) -> Floats:
        """Multiply: rows of the matrix x columns."""
        if len(self.dense) == 1 and self.sparse is None:
            (_, every), *_ = self.dense
            whole: Floats = every @ columns.astype(every.dtype, copy=False)
            return whole
        product = np.empty((self.rows, columns.shape[1]), dtype=self.dtype)
        for full, rows in self.dense:
            product[full] = rows @ columns.astype(rows.dtype, copy=False)
        if self.sparse is not None:
            product[self.rest] = self.sparse(columns, self.dtype)
        return product


def _by_width(matrix: Floats, full: Ints, most: int) -> tuple[tuple[Ints, Floats], ...]:
    """Some rows of a matrix, in 32 bits where no weighted sum is rounded there, else as they are."""
    largest = np.array([np.abs(matrix[row]).max(initial=0) for row in full])
    narrow = largest * most < 2**24
    found = []
    for which, dtype in ((full[narrow], np.dtype(np.float32)), (full[~narrow], matrix.dtype)):
        if len(which) == len(matrix):
            found.append((which, np.ascontiguousarray(matrix, dtype=dtype)))
        elif len(which):
            rows = np.empty((len(which), matrix.shape[1]), dtype=dtype)
            for place, row in enumerate(which):
                rows[place] = matrix[row]
            found.append((which, rows))
    return tuple(found)


def _entries(matrix: Floats, rest: Ints) -> SparseProduct | None:
    """Some rows of a matrix by their entries."""
    if not len(rest):
        return None
    from scipy.sparse import csr_matrix, vstack

    # A few rows at a time: all of them at once would be a second copy.
    blocks = [csr_matrix(matrix[rest[first : first + NEAR]]) for first in range(0, len(rest), NEAR)]
    return SparseProduct.of(vstack(blocks, format="csr"))
