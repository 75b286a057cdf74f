"""Texts of counted votes as whole numbers: what comes after counting compares and sums these, not texts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints

if TYPE_CHECKING:
    import polars as pl

# Keys are looked up in a table of all that there could be, as long as it has no more places than this per row.
SPREAD = 8


class Codes:
    """Numbers the texts of a table's columns, each column once, when it is asked for."""

    def __init__(self, counts: pl.DataFrame) -> None:
        self.counts = counts
        self._found: dict[str, tuple[pl.Series, Ints]] = {}

    def __call__(self, column: str) -> tuple[pl.Series, Ints]:
        """The different texts of a column, sorted, and the place of each row's among them; null comes after all."""
        if column not in self._found:
            self._found[column] = numbered(self.counts[column])
        return self._found[column]

    @cached_property
    def right(self) -> Bools:
        """Which rows are right: by their grade, or where there are no grades because the answer is gold."""
        if "correct" in self.counts.columns:
            grades: Bools = self.counts["correct"].fill_null(False).to_numpy()
            return grades
        (answers, answer), (golds, gold) = self("answer"), self("gold")
        place = np.append(answers.search_sorted(golds).to_numpy().astype(np.int64), -1)
        # A gold that nobody gave, or that nobody knows, is no answer's place.
        place[:-1][~golds.is_in(answers.implode()).to_numpy()] = -1
        right: Bools = place.take(gold) == answer
        return right


def numbered(texts: pl.Series) -> tuple[pl.Series, Ints]:
    """The different texts, sorted, and the place of each among them; null comes after all."""
    import polars as pl

    names = texts.drop_nulls().unique().sort()
    places = texts.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(len(names)).to_numpy()
    return names, places


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


def one_each(key: Ints, keys: int, value: Ints) -> npt.NDArray[np.int64] | None:
    """The value of each key (-1 of one that does not occur), or None where rows of one key differ."""
    values = np.full(keys, -1)
    values[key] = value
    return values if (values.take(key) == value).all() else None
