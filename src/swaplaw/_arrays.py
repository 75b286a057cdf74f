"""Arrays: their types, ragged columns laid out as rectangles, rows numbered, and derived ones kept while there is room.

A ragged column (a question) holds some values (its rivals), top first. Columns are sorted by falling height, so every
row is a contiguous prefix of the columns. Rows of similar width are padded to rectangles, which reduce over their
columns at the speed of memory; a flat array holds them in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]
"""Whole numbers: of 64 bits or fewer where they fit, Python's own (dtype object) where they do not."""
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating[Any]]
SPREAD = 8
"""Keys are looked up in a table of all that there could be, as long as it has no more places than this per row."""


@dataclass(frozen=True)
class Rows:
    """The shape of a flat array: rectangles of falling width over a number of columns."""

    columns: int
    shapes: tuple[tuple[int, int], ...]
    """Rows and width of each rectangle."""

    @classmethod
    def padded(cls, columns: int, widths: Ints) -> Rows:
        """Gather rows of falling widths into rectangles, at most twice as wide as the rows they hold."""
        shapes: list[tuple[int, int]] = []
        for width in map(int, widths):
            if shapes and 2 * width >= shapes[-1][1]:
                shapes[-1] = shapes[-1][0] + 1, shapes[-1][1]
            else:
                shapes.append((1, width))
        return cls(columns, tuple(shapes))

    @property
    def height(self) -> int:
        """Number of rows."""
        return sum(rows for rows, _ in self.shapes)

    @property
    def widths(self) -> Ints:
        """Width of each row, falling."""
        return np.array([width for rows, width in self.shapes for _ in range(rows)], dtype=np.intp)

    @cached_property
    def owner(self) -> Ints:
        """The column that each place of the flat array belongs to."""
        return np.concatenate(
            [np.tile(np.arange(width), rows) for rows, width in self.shapes] or [np.empty(0, np.intp)]
        )

    @cached_property
    def rectangles(self) -> list[tuple[slice, int, int]]:
        """Each rectangle's places in the flat array, its rows and its width."""
        found, start = [], 0
        for rows, width in self.shapes:
            found.append((slice(start, start + rows * width), rows, width))
            start += rows * width
        return found

    def maximum(self, values: Ints, floor: int) -> Ints:
        """The largest of each column's values (one or more side by side), or `floor` if none is larger."""
        out = np.full((self.columns, *values.shape[1:]), floor, dtype=values.dtype)
        for places, rows, width in self.rectangles:
            head = out[:width]
            np.maximum(head, values[places].reshape(rows, width, *values.shape[1:]).max(axis=0), out=head)
        return out

    def sums(self, values: Ints) -> Ints:
        """The sum of each column's values."""
        out = np.zeros(self.columns, dtype=values.dtype)
        for places, rows, width in self.rectangles:
            out[:width] += np.add.reduce(values[places].reshape(rows, width), axis=0, dtype=values.dtype)
        return out

    def count_equal(self, values: Ints, target: Ints) -> Ints:
        """How many of each column's values equal the column's target."""
        out = np.zeros(target.shape, dtype=self._count_type)
        for places, rows, width in self.rectangles:
            equal = values[places].reshape(rows, width, *values.shape[1:]) == target[:width]
            out[:width] += np.add.reduce(equal.view(np.int8), axis=0, dtype=self._count_type)
        return out

    def count_zero(self, values: Ints) -> Ints:
        """How many of each column's values are zero."""
        return self.count_equal(values, np.zeros(self.columns, dtype=values.dtype))

    @property
    def _count_type(self) -> type[np.integer[Any]]:
        # Narrow sums run several times faster, and can't overflow below 127 rows.
        return np.int8 if self.height < 127 else np.int32

    def where_maximum(self, values: Ints) -> Ints:
        """The place in the flat array of each column's (first) largest value; 0 for an empty column."""
        best = self.maximum(values, np.iinfo(values.dtype).min)
        out = np.zeros(self.columns, dtype=np.intp)
        for places, rows, width in self.rectangles[::-1]:
            block = values[places].reshape(rows, width)
            row = (block == best[:width]).argmax(axis=0)
            place = places.start + row * width + np.arange(width)
            out[:width] = np.where(values.take(place) == best[:width], place, out[:width])
        return out

    def only(self, columns: Ints) -> Rows:
        """The shape that is left of these columns (rising)."""
        return Rows(len(columns), tuple((rows, int(np.searchsorted(columns, width))) for rows, width in self.shapes))

    def take(self, values: Ints, columns: Ints, copies: Ints | None = None) -> Ints:
        """The values of these columns (rising, repeats allowed), flat in the shape of `only(columns)`.

        `values` may hold several arrays of this shape, as its rows; `copies` says whose column each one is.
        """
        arrays = np.atleast_2d(values)
        blocks = []
        for places, rows, width in self.rectangles:
            here = slice(int(np.searchsorted(columns, width)))
            # Side by side, so that one index serves all rows.
            block = arrays[:, places].reshape(len(arrays), rows, width).swapaxes(0, 1).reshape(rows, -1)
            index = columns[here] if copies is None else copies[here] * width + columns[here]
            blocks.append(block.take(index, axis=1).reshape(-1))
        return np.concatenate(blocks) if blocks else arrays[0]


class Kept:
    """Derived things by key, as many as fit in a number of bytes; what was used longest ago makes room.

    Threads may share one without locks: the worst that happens is that something is derived twice.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._found: dict[Hashable, tuple[Any, int]] = {}

    def get(self, key: Hashable, derive: Callable[[], tuple[Any, int]]) -> Any:
        """Look up, or derive (the thing and its bytes)."""
        found = self._found.pop(key, None)
        if found is None:
            found = derive()
            self._make_room(self.room - found[1])
        self._found[key] = found
        return found[0]

    def _make_room(self, rest: int) -> None:
        used = sum(size for _, size in list(self._found.values()))
        for oldest in list(self._found):
            if used <= rest:
                break
            used -= self._found.pop(oldest, (None, 0))[1]

    def __getstate__(self) -> int:
        """Copies and other processes derive their own: only what cannot be derived is worth sending."""
        return self.room

    def __setstate__(self, room: int) -> None:
        self.__init__(room)  # type: ignore[misc]


def summed(key: Ints, keys: int, numbers: Ints) -> tuple[Ints, Ints]:
    """The different keys (below `keys`), rising, and the sum of each one's numbers; keys without any are left out."""
    if keys <= SPREAD * len(key):
        table = np.bincount(key, numbers, minlength=keys)
        found = np.flatnonzero(table)
        return found, table[found].astype(np.int64)
    found, place = np.unique(key, return_inverse=True)
    total = np.zeros(len(found), dtype=np.int64)
    np.add.at(total, place, numbers)
    return found[total > 0], total[total > 0]


def distinct(key: Ints, keys: int) -> tuple[Ints, Ints]:
    """The different keys (below `keys`), rising, and the place of each row's among them."""
    if keys <= SPREAD * len(key):
        seen = np.zeros(keys, dtype=np.int64)
        seen[key] = 1
        return np.flatnonzero(seen), (np.cumsum(seen) - 1).take(key)
    found, place = np.unique(key, return_inverse=True)
    return found, place


def alike(facts: Iterable[Ints]) -> tuple[Ints, Ints]:
    """Number things by their facts, an array each; those with the same share a number. Also, where each first is."""
    number = np.zeros(1, dtype=np.int64)
    for fact in facts:
        least, most = int(fact.min(initial=0)), int(fact.max(initial=0))
        # Numbers stay below that of things, so that a pair of them fits 64 bits.
        keys = (int(number.max(initial=0)) + 1) * (most - least + 1)
        _, number = distinct(number * (most - least + 1) + (fact - least), keys)
    first = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.intp)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return number, first


def one_each(key: Ints, keys: int, value: Ints) -> Ints | None:
    """The value of each key (-1 of one that does not occur), or None where rows of one key differ."""
    values = np.full(keys, -1)
    values[key] = value
    return values if (values.take(key) == value).all() else None
