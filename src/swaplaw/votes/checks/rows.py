"""Counted votes as columns of whole numbers: what checks compare and sum. Texts are looked at once each, elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Bools, Ints
from swaplaw.votes.codes import distinct, summed


@dataclass(frozen=True)
class Sizes:
    """How many different names there are, each of which has a place in a sorted list."""

    models: int
    questions: int
    answers: int
    golds: int


@dataclass(frozen=True)
class Rows:
    """A row for each model, question and answer, in any order."""

    model: Ints
    question: Ints
    answer: Ints
    """Its place among all answers; the place after the last one stands for no answer."""
    gold: Ints
    """The place of the question's gold; the place after the last one stands for an unknown one."""
    right: Bools
    labelled: Bools
    votes: Ints
    sizes: Sizes

    def where(self, chosen: Bools | Ints) -> Rows:
        """Some of the rows."""
        columns = (each.name for each in fields(self) if each.name != "sizes")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def merged(self) -> Rows:
        """The same votes, with those of one model, question and answer in one row."""
        key = 2 * (self.ballot * (self.sizes.answers + 1) + self.answer) + self.right
        ranked = np.sort(key)
        if (ranked[1:] != ranked[:-1]).all():
            return self
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return replace(self.where(first), votes=np.bincount(place, self.votes).astype(np.int64))

    @cached_property
    def ballot(self) -> Ints:
        """A number for each model's votes on a question."""
        return self.model * self.sizes.questions + self.question

    @cached_property
    def ballots(self) -> Ints:
        """The ballots that there are, rising."""
        return distinct(self.ballot, self.sizes.models * self.sizes.questions)[0]

    @cached_property
    def models(self) -> Ints:
        """The models that there are."""
        return np.flatnonzero(np.bincount(self.model, minlength=self.sizes.models))

    @cached_property
    def questions(self) -> int:
        """How many different questions there are."""
        return int(np.count_nonzero(np.bincount(self.question, minlength=self.sizes.questions)))

    @cached_property
    def asked(self) -> Ints:
        """How many different questions each model has."""
        return np.bincount(self.ballots // max(1, self.sizes.questions), minlength=self.sizes.models)

    @cached_property
    def cast(self) -> Ints:
        """Votes of each model."""
        return added(self.model, self.votes, self.sizes.models)

    @cached_property
    def answers(self) -> Ints:
        """The answers that there are, rising; no answer is not among them."""
        return np.flatnonzero(np.bincount(self.answer, minlength=self.sizes.answers)[: self.sizes.answers])

    @cached_property
    def golds(self) -> Ints:
        """The golds that there are, rising."""
        return np.flatnonzero(np.bincount(self.gold, minlength=self.sizes.golds)[: self.sizes.golds])

    @property
    def total(self) -> int:
        """All votes."""
        return int(self.votes.sum())

    @property
    def commonest(self) -> int:
        """The answer with the most votes, the first of equals."""
        return int(added(self.answer, self.votes, self.sizes.answers).argmax())

    def per(self, one: Ints, size: int, other: Ints, sizes: int) -> tuple[Ints, Ints, Ints]:
        """Votes of each two places that occur together: the one, the other (each below its size), and their votes."""
        found, votes = summed(one * sizes + other, size * sizes, self.votes)
        return found // max(1, sizes), found % max(1, sizes), votes


def added(place: Ints, votes: Ints, size: int) -> Ints:
    """Votes of each place below a size."""
    total: npt.NDArray[np.int64] = np.bincount(place, votes, minlength=size).astype(np.int64)
    return total


def flags(places: Ints | list[int], size: int) -> Bools:
    """A mask that is true at some places, with one more for no answer."""
    found = np.zeros(size + 1, dtype=bool)
    found[places] = True
    return found
