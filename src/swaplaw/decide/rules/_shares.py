"""Shares of answers as one sparse matrix, for rules that fit weights to them.

A row is an answer to a question: gold first, then every rival that somebody voted for. A column is a model. Weighted
shares of all answers are then one sparse product, and whatever is done per question runs along blocks of rows. Nothing
depends on the names or the order of options.

Abstentions are no row: null is never gold, so a model of what is gold has nothing to say about it (and would pay any
model for never abstaining, one that guesses at random included). They still count in a model's votes, so whoever
abstains has less to share out.

Options that nobody voted for are no rows either, but they may be counted: `options` says how many there are to each
question at least. Without them gold would be there whether somebody voted for it or not, and its rivals only where
somebody did: a question on which all are right would say nothing for the models, one on which all are wrong much
against them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.votes.ballots import Ballots
from swaplaw.votes.codes import distinct as distinct_codes
from swaplaw.votes.tally import Tally

DENSE = 4
"""A matrix in which at least one entry of this number is filled is multiplied in full."""


@dataclass(frozen=True)
class Shares:
    """Shares of the categories of each question."""

    matrix: csr_matrix = field(repr=False)
    """Share of each category (row) in each model's votes (column)."""
    question: Ints = field(repr=False)
    """The question of each row, rising."""
    gold: Ints = field(repr=False)
    """The row of each question's gold, the first of its rows."""
    options: Ints = field(repr=False)
    """How many options each question has at least; those without a row have no share."""

    @property
    def models(self) -> int:
        """How many models there are."""
        return int(self.matrix.shape[1])

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.gold)

    def select(self, questions: Bools) -> Shares:
        """Keep some questions (a mask)."""
        kept = questions[self.question]
        return _shares(self.matrix[kept], (np.cumsum(questions) - 1)[self.question[kept]], self.options[questions])

    def only(self, models: Ints) -> Shares:
        """Keep some models (their places)."""
        return _shares(self.matrix[:, models], self.question, self.options)

    @cached_property
    def turned(self) -> csr_matrix:
        """The same, transposed."""
        return self.matrix.T.tocsr()

    @cached_property
    def _both_ways(self) -> tuple[Any, Any]:
        """The matrix and its transpose to multiply with: in full where that is hardly larger, and faster."""
        rows, models = self.matrix.shape
        if self.matrix.nnz * DENSE < rows * models:
            return self.matrix, self.turned
        whole = self.matrix.toarray()
        return whole, whole.T

    @property
    def products(self) -> Floats:
        """Products of the shares of every two models, summed over all rows: models x models."""
        whole, turned = self._both_ways
        found: Floats = turned @ whole if whole is not self.matrix else (turned @ whole).toarray()
        return found

    @cached_property
    def unseen(self) -> Floats:
        """How many options of each question have no row."""
        rows = np.diff(self.gold, append=len(self.question))
        unseen: Floats = np.maximum(self.options - rows, 0).astype(np.float64)
        return unseen

    def answered(self) -> Shares:
        """Keep the answers that somebody gave: gold, too, only where somebody did."""
        given = np.diff(self.matrix.indptr) > 0
        # Rows in an order of their own, so that it does not matter which of them was gold.
        order = np.lexsort((*self.matrix[given].toarray().T, self.question[given]))
        question = self.question[given][order]
        return _shares(self.matrix[given][order], np.unique(question, return_inverse=True)[1])

    def probabilities(self, weights: Floats) -> Floats:
        """The softmax probability of each row among the answers to its question."""
        _, excess = self._softmax(weights)
        excess[self.gold] += 1
        return excess

    def fallen(self, probabilities: Floats) -> Floats:
        """How much of each model's votes falls on rows, each counted with its probability."""
        found: Floats = self._both_ways[1] @ probabilities
        return found

    def surprise(self, weights: Floats) -> tuple[Floats, Floats]:
        """Minus the log of gold's softmax probability on each question, and the gradient of their sum."""
        values, excess = self._softmax(weights)
        return values, self._both_ways[1] @ excess

    def squares(self, weights: Floats) -> csr_matrix | Floats:
        """Squares of the gradients: questions x models."""
        found = self.gradients(weights)
        return found**2 if isinstance(found, np.ndarray) else found.multiply(found).tocsr()

    def gradients(self, weights: Floats) -> csr_matrix | Floats:
        """The gradient of each question's surprise: questions x models."""
        _, excess = self._softmax(weights)
        whole = self._both_ways[0]
        if whole is not self.matrix:
            return np.add.reduceat(whole * excess[:, None], self.gold, axis=0)
        rows = np.arange(len(excess))
        found: csr_matrix = csr_matrix((excess, (self.question, rows)), shape=(self.questions, len(rows))) @ self.matrix
        return found

    def _softmax(self, weights: Floats) -> tuple[Floats, Floats]:
        """Each question's surprise, and each category's probability less 1 for gold."""
        pooled = self._both_ways[0] @ weights
        top = np.maximum.reduceat(pooled, self.gold)
        odds = pooled - top.take(self.question)
        np.exp(odds, out=odds)
        total = np.add.reduceat(odds, self.gold) + self.unseen * np.exp(-top)
        odds /= total.take(self.question)
        odds[self.gold] -= 1
        return np.log(total) + top - pooled.take(self.gold), odds


def shares_of(tally: Tally, options: Ints | None = None) -> Shares:
    """Lay a tally's shares out, with this many options to each question at least; who did not answer has no share."""

    def derive() -> tuple[Shares, int]:
        found = _laid_out(tally)
        return found, found.matrix.data.nbytes + found.matrix.indices.nbytes + found.question.nbytes

    # Several rules look at the shares of one training part.
    shares: Shares = tally.derived("shares", derive)
    return shares if options is None else replace(shares, options=options)


def _laid_out(tally: Tally) -> Shares:
    questions = len(tally.questions)
    model_of_gold, question_of_gold = np.nonzero(tally.gold)
    model_of_entry = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
    answers = tally.rivals.named[tally.positions]
    rivals, rival = distinct_codes(tally.positions[answers], len(tally.rivals.question))
    question = np.concatenate([np.arange(questions), tally.rivals.question[rivals]])
    row = np.concatenate([question_of_gold, questions + rival])
    model = np.concatenate([model_of_gold, model_of_entry[answers]])
    votes = np.concatenate([tally.gold[model_of_gold, question_of_gold], tally.counts[answers]])
    share = votes / tally.votes[model, question[row]]
    order = np.argsort(question, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    matrix = csr_matrix((share, (place[row], model)), shape=(len(order), len(tally.models)))
    return _shares(matrix, question[order])


def shares_of_ballots(ballots: Ballots) -> Shares:
    """Lay out the shares of all answers that somebody gave, in the order of the ballots; labels have no effect."""
    given = np.flatnonzero(~ballots.null)
    shares = ballots.counts[:, given] / np.maximum(ballots.votes, 1)[:, ballots.question[given]]
    return _shares(csr_matrix(shares.T), np.unique(ballots.question[given], return_inverse=True)[1])


def _shares(matrix: csr_matrix, question: Ints, options: Ints | None = None) -> Shares:
    starts = np.ones(len(question), dtype=bool)
    starts[1:] = question[1:] != question[:-1]
    gold = np.flatnonzero(starts)
    return Shares(matrix, question, gold, np.zeros(len(gold), dtype=np.int64) if options is None else options)


def distinct(shares: Shares) -> Ints:
    """The first of each group of models whose shares are the same everywhere."""
    columns = shares.turned
    seen: dict[tuple[bytes, bytes], int] = {}
    for model in range(shares.models):
        own = slice(columns.indptr[model], columns.indptr[model + 1])
        seen.setdefault((columns.indices[own].tobytes(), columns.data[own].tobytes()), model)
    return np.array(sorted(seen.values()))
