"""The residual over the paper's grid of weights: what the swap mass leaves out, of every pair at every weight.

A question adds to a pair's residual where both models are wrong, or both right, and the vote changes that. It does so
on one span of weights (see `spans`), so from one weight of the grid to the next few questions change. Only
these steps are held, for blocks of pairs; a bootstrap draw is one sparse product and a running sum over the weights.
What is wanted of a draw are moments over all pairs and weights, so blocks are forgotten as soon as their moments are
known: memory follows the steps, not pairs times weights times questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import lcm

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import SparseProduct, grid_for, reduced, rounded
from swaplaw._core.parallel import Crew, Progress
from swaplaw.evidence.association import count, mean
from swaplaw.evidence.resample import Resampler, batch_of
from swaplaw.law.pair import Pair, cells
from swaplaw.law.spans import Spans, batches, scores_in, spans_of_batch
from swaplaw.law.weights import PAPER_GRID
from swaplaw.votes.tally import Tally, credits

WEIGHTS = len(PAPER_GRID)
BLOCK = 256
"""Pairs whose residuals are held at a time. Changing this may change last digits of means over more pairs."""


@dataclass(frozen=True)
class Moments:
    """What is known of residuals in each draw: enough to merge with those of other pairs."""

    number: Floats
    """Cells (pairs at weights) that are defined."""
    mean: Floats
    squares: Floats
    """Squared distances from the mean, summed."""
    sizes: Floats
    """Absolute values, summed."""
    largest: Floats

    @classmethod
    def of(cls, residual: Floats) -> Moments:
        """Moments of residuals: draws x cells."""
        if not np.isnan(residual).any():
            # The same sums as below, without looking for what is not there.
            number = np.full(len(residual), float(residual.shape[1]))
            centre = residual.sum(axis=-1) / number
            size = np.abs(residual)
            sizes, largest = size.sum(axis=-1), size.max(axis=-1)
            np.subtract(residual, centre[:, None], out=size)
            np.square(size, out=size)
            return cls(number, centre, size.sum(axis=-1), sizes, largest)
        centre = mean(residual)
        squares = np.nansum((residual - centre[:, None]) ** 2, axis=-1)
        size = np.abs(residual)
        with np.errstate(invalid="ignore"):
            largest = np.fmax.reduce(size, axis=-1)
        return cls(count(residual).astype(np.float64), centre, squares, np.nansum(size, axis=-1), largest)

    @classmethod
    def nothing(cls, number: Floats) -> Moments:
        """Moments of cells without any residual."""
        zero = np.where(number > 0, 0.0, np.nan)
        return cls(number, zero, zero, zero, zero)

    def merge(self, other: Moments) -> Moments:
        """Moments of both together (Chan, Golub and LeVeque)."""
        number = self.number + other.number
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(other.number > 0, other.number / number, 0.0)
        apart = np.where(other.number > 0, np.nan_to_num(other.mean) - np.nan_to_num(self.mean), 0.0)
        alone = self.number == 0
        centre = np.where(alone, other.mean, self.mean + apart * part)
        squares = self._sum(self.squares, other.squares) + apart**2 * self.number * part
        sizes, largest = self._sum(self.sizes, other.sizes), np.fmax(self.largest, other.largest)
        return Moments(number, centre, squares, sizes, largest)

    @staticmethod
    def _sum(first: Floats, second: Floats) -> Floats:
        return np.nan_to_num(first) + np.nan_to_num(second)

    def statistics(self) -> Floats:
        """Mean, mean size, standard deviation and largest size: draws x 4."""
        with np.errstate(invalid="ignore"):
            return np.stack(
                [self.mean, self.sizes / self.number, np.sqrt(self.squares / self.number), self.largest], axis=-1
            )


@dataclass(frozen=True)
class _Block:
    """Steps of some pairs."""

    pairs: int
    steps: SparseProduct | None = field(repr=False)
    """A sparse matrix, (weights x pairs) x units; None where no pair has any residual."""
    scale: Floats = field(repr=False)
    """What each pair's steps are multiples of."""
    masks: Floats | None = field(repr=False)
    """How many questions of each unit the pairs share, one row a mask; None where all pairs share all questions."""
    mask: Ints = field(repr=False)
    """Which of them is each pair's."""

    def moments(self, counts: npt.NDArray[np.uint8], total: Floats) -> Moments:
        """Moments of the residuals in each draw; `total` is how many questions were drawn."""
        if self.steps is None and self.masks is None:
            return Moments.nothing(np.where(total > 0, float(WEIGHTS * self.pairs), 0.0))
        return Moments.of(self.residuals(counts, total))

    def residuals(self, counts: npt.NDArray[np.uint8], total: Floats) -> Floats:
        """Residuals of all cells: draws x (weights x pairs)."""
        cells = WEIGHTS * self.pairs
        sums = np.zeros((cells, counts.shape[1])) if self.steps is None else self.steps(counts, np.float64)
        by_weight = sums.reshape(WEIGHTS, self.pairs, -1)
        np.cumsum(by_weight, axis=0, out=by_weight)
        if self.masks is None:
            n = np.broadcast_to(total[:, None], (len(total), WEIGHTS * self.pairs))
        else:
            n = np.tile((self.masks @ counts.astype(np.float64))[self.mask].T, WEIGHTS)
        found = np.empty(n.shape)
        with np.errstate(invalid="ignore"):
            return np.divide(sums.T, n * np.tile(self.scale, WEIGHTS), out=found)


@dataclass(frozen=True)
class ResidualGrid:
    """Residuals of all pairs at all weights of the grid."""

    pairs: tuple[Pair, ...] = field(repr=False)
    blocks: tuple[_Block, ...] = field(repr=False)
    sizes: Ints = field(repr=False)
    """Questions of each unit."""

    @property
    def cells(self) -> int:
        """Pairs times weights."""
        return WEIGHTS * len(self.pairs)

    @property
    def batch(self) -> int:
        """Draws to look at together."""
        return batch_of(2 * WEIGHTS * min(BLOCK, len(self.pairs)))

    def statistics(self, counts: npt.NDArray[np.uint8]) -> Floats:
        """Mean, mean size, standard deviation and largest size in each draw of units (columns): draws x 4."""
        total = self.sizes.astype(np.float64) @ counts.astype(np.float64)
        return reduce(Moments.merge, (block.moments(counts, total) for block in self.blocks)).statistics()

    def largest(self) -> dict[str, str]:
        """Where the largest residual of all questions is: the first such weight, and its first pair."""
        everything = np.ones((len(self.sizes), 1), dtype=np.uint8)
        total = np.array([float(self.sizes.sum())])
        best = (-1.0, 0, 0)
        for number, block in enumerate(self.blocks):
            sizes = np.abs(block.residuals(everything, total)[0])
            place, which = divmod(int(np.nanargmax(sizes)), block.pairs)
            found = (float(sizes[place * block.pairs + which]), -place, -(number * BLOCK + which))
            best = max(best, found)
        worst = self.pairs[-best[2]]
        return {"primary": worst.primary, "secondary": worst.secondary, "weight": str(PAPER_GRID[-best[1]])}


def residual_grid(chosen: Sequence[Pair], draws: Resampler, crew: Crew, progress: Progress) -> ResidualGrid:
    """Follow every pair over the grid, a block of pairs at a time."""
    places = [(pair.a, pair.b) for pair in chosen]
    shares = [places[first : first + BLOCK] for first in range(0, len(places), BLOCK)]
    blocks = crew.share(_block, (chosen[0].tally, draws), shares, progress=progress)
    return ResidualGrid(tuple(chosen), tuple(blocks), np.bincount(draws.member, minlength=draws.units))


def _block(data: tuple[Tally, Resampler], places: Sequence[tuple[int, int]]) -> _Block:
    from scipy.sparse import csr_matrix

    tally, draws = data
    chosen = [Pair(tally, a, b) for a, b in places]
    scale = np.ones(len(chosen))
    rows, units, steps = [], [], []
    which = 0
    for batch in batches(chosen):
        breaks, spans, owner = spans_of_batch(batch)
        slots = [breaks.slot(weight) for weight in PAPER_GRID]
        for number, pair in enumerate(batch):
            found = _steps(pair, slots, _own(spans, owner == number))
            if found is not None:
                weight, question, step, scale[which] = found
                rows.append(weight * len(chosen) + which)
                units.append(draws.member[question])
                steps.append(step)
            which += 1
    masks, mask = (None, np.zeros(0, dtype=np.intp)) if tally.complete else _masks(chosen, draws)
    if not rows:
        return _Block(len(chosen), None, scale, masks, mask)
    entries = np.concatenate(steps), (np.concatenate(rows), np.concatenate(units))
    matrix = csr_matrix(entries, shape=(WEIGHTS * len(chosen), draws.units))
    return _Block(len(chosen), SparseProduct.of(matrix), scale, masks, mask)


def _own(spans: Spans, mine: npt.NDArray[np.bool_]) -> Spans:
    facts = (spans.row, spans.low, spans.high, spans.at_low, spans.inside, spans.at_high)
    return Spans(*(fact[mine] for fact in facts))


def _steps(pair: Pair, slots: Sequence[int], spans: Spans) -> tuple[Ints, Ints, Floats, float] | None:
    """Which questions change a pair's residual at which weights, by how much, and what that is a multiple of."""
    tally = pair.tally
    ties = [tally.ties[model].take(spans.row) for model in (pair.a, pair.b)]
    scales = [lcm(*map(int, np.flatnonzero(np.bincount(own)[1:]) + 1)) if len(own) else 1 for own in ties]
    question, copies = spans.row, np.ones(1, dtype=np.int64)
    if tally.rights is not None:
        scales = [tally.scores[model].denominator for model in (pair.a, pair.b)]
        question, copies = (fact.take(spans.row) for fact in (tally.rights.question, tally.rights.copies))
    credit = spans.common_denominator
    top = credit * scales[0] ** 2 * scales[1]
    dtype = np.int64 if top * pair.n < 2**61 else object
    right_a, right_b = alone = [
        credits(scale, int(own.max(initial=0)), dtype).take(own) for scale, own in zip(scales, ties, strict=True)
    ]
    if tally.rights is not None:
        right_a, right_b = (tally.scores[model].numerators.take(question) for model in (pair.a, pair.b))
    _, _, wrong, right = cells(right_a, right_b, *scales)
    weight = (wrong + right) * copies
    counts = np.flatnonzero(weight)
    if not len(counts):
        return None
    scores = scores_in(_own(spans, weight != 0), slots, credit, dtype)
    residual = (scores * scales[0] - alone[0][counts] * credit) * weight[counts]
    if not residual.any():
        return None
    if pair.n * top >= 2**48:
        residual, top = reduced(residual, top)
    grid = grid_for(top, pair.n)
    steps = np.diff(rounded(residual, top, grid), axis=0, prepend=0)
    place, column = np.nonzero(steps)
    return place, question[counts[column]], steps[place, column].astype(np.float64), float(grid or top)


def _masks(chosen: Sequence[Pair], draws: Resampler) -> tuple[Floats, Ints]:
    """The different sets of questions that pairs share, as questions of each unit, and which is each pair's."""
    seen: dict[bytes, int] = {}
    mask = np.array([seen.setdefault(pair.common.tobytes(), len(seen)) for pair in chosen])
    first = {number: pair for pair, number in zip(reversed(chosen), mask[::-1].tolist(), strict=True)}
    rows = [np.bincount(draws.member[first[number].common], minlength=draws.units) for number in range(len(seen))]
    return np.array(rows, dtype=np.float64), mask
