"""Where the rivals of gold stand: a column for each question, a row for each rival, laid out for arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Bools, Ints
from swaplaw._core.ragged import Rows


@dataclass(frozen=True)
class Rivals:
    """Where each question's rivals stand: columns of `rows`, in the order `order`."""

    order: Ints
    """Questions by falling number of rivals: the columns of `rows`."""
    rows: Rows
    labels: npt.NDArray[np.object_] = field(repr=False)
    """The answer at each position of the flat array; None is the null category (and padding)."""

    @cached_property
    def rank(self) -> Ints:
        """The column of each question."""
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def question(self) -> Ints:
        """The question that each position belongs to."""
        return self.order.take(self.rows.owner)

    @cached_property
    def named(self) -> Bools:
        """Which positions are those of answers: neither null nor padding."""
        named: Bools = self.labels != None  # noqa: E711  Each label by itself.
        return named

    def tie_sizes(self, margins: Ints) -> Ints:
        """Size of gold's tie on each question, 0 where gold is not in the tie set."""
        loses = self.rows.maximum(-margins, 0) > 0
        ties = 1 + self.rows.count_zero(margins).astype(np.int32)
        return np.where(loses, 0, ties).take(self.rank)


def arrange(
    question: Ints, questions: int, labels: Sequence[str | None] | npt.NDArray[np.object_]
) -> tuple[Rivals, Ints]:
    """Lay rivals out in rows. `question` names the question of each; returns also each one's position."""
    number = np.bincount(question, minlength=questions)
    order = np.argsort(-number, kind="stable")
    row = np.empty(len(question), dtype=np.intp)
    # NumPy sorts numbers of two bytes in linear time.
    narrow = question.astype(np.min_scalar_type(questions), copy=False)
    row[np.argsort(narrow, kind="stable")] = np.arange(len(question)) - np.repeat(np.cumsum(number) - number, number)
    rows = Rows.padded(questions, np.bincount(row))
    labelled = np.full(int(rows.widths.sum()), None, dtype=object)
    rivals = Rivals(order, rows, labelled)
    position = (np.cumsum(rows.widths) - rows.widths)[row] + rivals.rank[question]
    labelled[position] = labels
    return rivals, position
