"""Where the rivals of gold stand, laid out for arithmetic: a column for each question or each of its right answers.

Several answers to a question may be right. Each of them is then taken as gold in turn, with all others, right ones too,
as its rivals, and has a *row* of its own: the question scores the sum of its rows, which is the share of right answers
among those that tie. So whatever is true of one right answer is true of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints, Rows


@dataclass(frozen=True)
class RightSets:
    """The right answers of questions that have several: rows, in the order of the questions."""

    question: Ints
    """The question of each row, rising; every question has one at least."""
    copies: Ints
    """How many right answers a row stands for: those that got the same votes from every model tie wherever one does."""

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What rows have of their question's values (along the last axis)."""
        return values.take(self.question, axis=-1)

    def gather(self, values: Ints) -> Ints:
        """The sums of what rows have, for each question."""
        starts = np.flatnonzero(np.diff(self.question, prepend=-1))
        sums: Ints = np.add.reduceat(values * self.copies.astype(values.dtype), starts, axis=-1)
        return sums

    def select(self, questions: Bools) -> RightSets:
        """Keep some questions (a mask)."""
        kept = questions[self.question]
        return RightSets((np.cumsum(questions) - 1)[self.question[kept]], self.copies[kept])


@dataclass(frozen=True)
class Rivals:
    """Where each row's rivals stand: columns of `rows`, in the order `order`."""

    order: Ints
    """Rows of right answers by falling number of rivals: the columns of `rows`."""
    rows: Rows
    labels: npt.NDArray[np.object_] = field(repr=False)
    """The answer at each position of the flat array; None is the null category (and padding)."""
    rights: RightSets | None = field(default=None, repr=False)
    """Which rows belong to a question, where any has several right answers."""

    @cached_property
    def rank(self) -> Ints:
        """The column of each row."""
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def row(self) -> Ints:
        """The row that each position belongs to."""
        return self.order.take(self.rows.owner)

    @cached_property
    def question(self) -> Ints:
        """The question that each position belongs to."""
        return self.row if self.rights is None else self.rights.question.take(self.row)

    @cached_property
    def named(self) -> Bools:
        """Which positions are those of answers: neither null nor padding."""
        named: Bools = self.labels != None  # noqa: E711  Each label by itself.
        return named

    def tie_sizes(self, margins: Ints) -> Ints:
        """Size of gold's tie on each row, 0 where gold is not in the tie set."""
        loses = self.rows.maximum(-margins, 0) > 0
        ties = 1 + self.rows.count_zero(margins).astype(np.int32)
        return np.where(loses, 0, ties).take(self.rank)


def arrange(
    row: Ints,
    number: int,
    labels: Sequence[str | None] | npt.NDArray[np.object_],
    rights: RightSets | None = None,
) -> tuple[Rivals, Ints]:
    """Lay the rivals of a number of rows out, given the row of each; returns also each one's position."""
    sizes = np.bincount(row, minlength=number)
    order = np.argsort(-sizes, kind="stable")
    height = np.empty(len(row), dtype=np.intp)
    # NumPy sorts numbers of two bytes in linear time.
    narrow = row.astype(np.min_scalar_type(number), copy=False)
    height[np.argsort(narrow, kind="stable")] = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = Rows.padded(number, np.bincount(height))
    labelled = np.full(int(rows.widths.sum()), None, dtype=object)
    rivals = Rivals(order, rows, labelled, rights)
    position = (np.cumsum(rows.widths) - rows.widths)[height] + rivals.rank[row]
    labelled[position] = labels
    return rivals, position
