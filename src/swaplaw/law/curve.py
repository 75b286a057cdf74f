"""The exact lift curve of a pair: lift, swap mass and their four contributions at every real weight x >= 0.

On one question the weights for which gold is in the tie set form a single closed interval (see `spans`), so the whole
curve is n intervals with credit at their ends, summed over slots (see `spans`): points and open intervals in
turn, exact, and cheaper than a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import lcm
from typing import Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw._parallel import Crew, Workers
from swaplaw._result import Result
from swaplaw.law.pair import Masses, Outcome, Pair, at_least_one, cells, oriented_pairs, pair, pairs, places_of_pairs
from swaplaw.law.spans import Breakpoints, batches, own_scores, spans_of_batch, sum_over_slots
from swaplaw.law.weights import PAPER_GRID, as_weight, paper_rule, simplest_between
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Silence, Tally, credits


@dataclass(frozen=True)
class Piece:
    """A range of weights with one outcome: a point (low = high) or an open interval (high is None if it has no end)."""

    low: Fraction
    high: Fraction | None
    outcome: Outcome = field(repr=False)
    """The outcome at the piece's simplest weight, and so at all of its weights."""

    @property
    def is_point(self) -> bool:
        """Whether the piece is a single weight."""
        return self.low == self.high

    @property
    def lift(self) -> Fraction:
        """Lift at every weight of the piece."""
        return self.outcome.lift

    @property
    def swap(self) -> Fraction:
        """Swap mass at every weight of the piece."""
        return self.outcome.swap


@dataclass(frozen=True)
class Optimum:
    """A best weight, and the range of equally good weights from low to high (None: no end)."""

    weight: Fraction
    low: Fraction
    high: Fraction | None
    outcome: Outcome = field(repr=False)

    @property
    def fragile(self) -> bool:
        """Whether the optimum is an isolated point, lost by the slightest change of weight (0 is safe to deploy)."""
        return self.low == self.high and self.weight != 0

    @property
    def lift(self) -> Fraction:
        """Lift at the weight."""
        return self.outcome.lift

    @property
    def swap(self) -> Fraction:
        """Swap mass at the weight."""
        return self.outcome.swap


@dataclass(frozen=True, repr=False)
class Curve(Result):
    """The lift of one pair and its four contributions, at every weight."""

    dataset: str
    primary: str
    secondary: str
    n: int
    of: int
    masses: Masses = field(repr=False)
    breaks: Breakpoints = field(repr=False)
    contributions: Ints = field(repr=False)
    """Gain of each cell (in the order of `pair.KINDS`) in each slot, times `denominator`."""
    denominator: int = field(repr=False)

    def __repr__(self) -> str:
        best = self.best_plateau
        return (
            f"Curve({self.primary!r} + {self.secondary!r}, {self.n:,} questions, {len(self.pieces)} pieces, "
            f"best plateau at {best.weight}: {float(best.lift):+.4f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: every piece, its ends as text, lift and swap mass as fractions of one."""
        whole = {"dataset": self.dataset, "primary": self.primary, "secondary": self.secondary, "n": self.n}
        return whole | {"of": self.of, "pieces": self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """List the pieces: points and open intervals in turn."""
        return [
            {
                "low": str(piece.low),
                "high": None if piece.high is None else str(piece.high),
                "accuracy": float(piece.outcome.accuracy),
                "lift": float(piece.lift),
                "swap": float(piece.swap),
            }
            for piece in self.pieces
        ]

    def at(self, weight: str | float | Fraction) -> Outcome:
        """Look up the outcome at any weight.

        Parameters
        ----------
        weight : str, float or Fraction
            Weight of the secondary; the primary carries 1.

        Returns
        -------
        Outcome
            The pooled vote, cell by cell.
        """
        x = as_weight(weight)
        return self._outcome(self.breaks.slot(x), x)

    def grid(self, weights: Sequence[str | float | Fraction] = PAPER_GRID) -> list[Outcome]:
        """Look up the outcome at each weight of a grid; by default the paper's 25 points.

        Parameters
        ----------
        weights : sequence of Fraction
            The weights to try.
        """
        return [self.at(weight) for weight in weights]

    @cached_property
    def steps(self) -> Ints:
        """The breakpoints at which any contribution changes, and 0."""
        columns = self.contributions
        changes = np.flatnonzero((columns[:, 1:] != columns[:, :-1]).any(axis=0))
        # A change into or out of slot 2k makes breakpoint k a point of the curve.
        return np.unique(np.concatenate([[0], (changes + 1) // 2]))

    @cached_property
    def pieces(self) -> list[Piece]:
        """Points and open intervals in turn, tiling [0, inf), without points at which nothing changes."""
        pieces = []
        for here, following in zip(self.steps, [*self.steps[1:], None], strict=True):
            low = self.breaks.weights[here]
            high = None if following is None else self.breaks.weights[following]
            pieces.append(Piece(low, low, self._outcome(2 * here, low)))
            pieces.append(Piece(low, high, self._outcome(2 * here + 1, simplest_between(low, high))))
        return pieces

    @cached_property
    def lifts(self) -> Ints:
        """Lift in each slot, times `denominator`."""
        total: Ints = self.contributions.sum(axis=0)
        return total

    @cached_property
    def swaps(self) -> Ints:
        """Swap mass in each slot, times `denominator`."""
        total: Ints = self.contributions[:2].sum(axis=0)
        return total

    @cached_property
    def best_lift(self) -> Optimum:
        """The best lift over all weights; of equally good ranges, the one with the smallest weights."""
        return self._around(int(self.lifts.argmax()), self.lifts)

    @cached_property
    def best_plateau(self) -> Optimum:
        """The best lift that a whole open interval of weights shares, and the simplest weight inside it."""
        return self._around(2 * int(self.lifts[1::2].argmax()) + 1, self.lifts)

    @cached_property
    def best_swap(self) -> Optimum:
        """The largest swap mass over all weights; of equally good ranges, the one with the smallest weights."""
        return self._around(int(self.swaps.argmax()), self.swaps)

    @cached_property
    def paper_rule(self) -> Optimum:
        """The paper's rule: the weight of its grid with the largest swap mass; of equal ones, the smallest."""
        slots = [self.breaks.slot(weight) for weight in PAPER_GRID]
        weight = paper_rule(self.swaps[slots])
        found = self._around(self.breaks.slot(weight), self.swaps)
        return Optimum(weight, found.low, found.high, self.at(weight))

    def _around(self, slot: int, values: Ints) -> Optimum:
        """Widen a slot to the neighbouring slots with the same value, and take the simplest weight inside."""
        other = np.flatnonzero(values != values[slot])
        place = int(np.searchsorted(other, slot))
        first = int(other[place - 1]) + 1 if place > 0 else 0
        last = int(other[place]) - 1 if place < len(other) else len(self.lifts) - 1
        low, high = self.breaks.between(first, last)
        weight = low if low == high else simplest_between(low, high)
        return Optimum(weight, low, high, self.at(weight))

    def _outcome(self, slot: int, weight: Fraction) -> Outcome:
        rescued, damaged, repaired, corrupted = (
            Fraction(int(gain), self.denominator) for gain in self.contributions[:, slot]
        )
        return Outcome(weight, self.masses, rescued, -damaged, repaired, -corrupted)


def curve(votes: VotesLike, primary: str, secondary: str, silence: Silence = "counts") -> Curve:
    """Compute the exact lift of two models at every weight.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    primary, secondary : str
        The model that carries weight 1, and the one that is added.
    silence : {"counts", "ignored"}
        What null votes do: a category that can win, or nothing (see `Tally.silence`).

    Returns
    -------
    Curve
        Pieces that tile all weights from 0 on; the best weight and the best plateau.

    Raises
    ------
    InputError
        If a model is unknown, both are the same, or they share no question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.curve(sl.demo_votes(), "claude-3-opus-20240229", "gemini-1.5-pro-preview-0409")
    >>> found.best_plateau.weight, found.best_plateau.lift
    (Fraction(1, 2), Fraction(3, 100))
    """
    return curve_of(pair(votes, primary, secondary, silence))


def curves(votes: VotesLike, *, workers: Workers = None) -> Iterator[Curve]:
    """Compute the exact curve of every pair, the more accurate model as primary.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    workers : int, optional
        Share the pairs among this many; the numbers stay the same.

    Yields
    ------
    Curve
        In the order of the models' names.

    Examples
    --------
    >>> import swaplaw as sl
    >>> len(list(sl.law.curves(sl.demo_votes())))
    36
    """
    tally = inputs.tally(votes)
    crew = Crew(workers)
    if crew.is_alone:
        return curves_of(pairs(tally))
    found = crew.share(_curves_at, tally, crew.split(places_of_pairs(tally)))
    return at_least_one(tally, chain.from_iterable(found))


def _curves_at(tally: Tally, places: Sequence[tuple[int, int]]) -> list[Curve]:
    return list(curves_of(oriented_pairs(tally, places)))


def curve_of(chosen: Pair) -> Curve:
    """Compute the exact curve of a pair."""
    return _curves([chosen])[0]


def curves_of(chosen: Iterable[Pair]) -> Iterator[Curve]:
    """Compute the exact curves of any pairs, in turn; small ones several at a time.

    Parameters
    ----------
    chosen : iterable of Pair
        The pairs, all of one tally.

    Yields
    ------
    Curve
        In the order of the pairs.

    Examples
    --------
    >>> import swaplaw as sl
    >>> next(curves_of([sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")]))
    Curve('gpt-4' + 'mistral-large', 100 questions, 32 pieces, best plateau at 1/9: +0.0000)
    """
    for batch in batches(chosen):
        yield from _curves(batch)


def _curves(batch: Sequence[Pair]) -> list[Curve]:
    tally = batch[0].tally
    breaks, spans, owner = spans_of_batch(batch)
    scales = [lcm(*(tally.scores[model].denominator for model in (chosen.a, chosen.b))) for chosen in batch]
    units = spans.common_denominators(owner, len(batch))
    scale, credit = lcm(*scales), lcm(*units)
    # Sums over questions stay below the denominator, and each step of a running sum below twice that.
    narrow = scale**3 * credit * len(tally.questions) < 2**61
    if not narrow and len(batch) > 1:
        return [curve_of(chosen) for chosen in batch]
    worth = credits(scale, tally.rivals.rows.height + 1, np.int64 if narrow else object)
    alone, right = own_scores(tally, batch, owner, spans.row, worth)
    # Gains are over the primary: P_x - ok_A, weighted by cell, on one denominator.
    weights = cells(right[0], right[1], scale, scale)
    if tally.rights is not None:
        weights = weights * tally.rights.copies.take(spans.row)
    gains = sum_over_slots(spans, weights, credit * scale, breaks.slots, owner, len(batch), alone[0] * credit)
    found = []
    for chosen, own, own_scale, own_credit in zip(batch, gains, scales, units, strict=True):
        # On the pair's own denominator a curve is the same, to the last bit, whatever it was computed with.
        spare = (scale // own_scale) ** 3 * (credit // own_credit)
        found.append(
            Curve(
                tally.dataset,
                chosen.primary,
                chosen.secondary,
                chosen.n,
                chosen.of,
                chosen.masses,
                breaks,
                own if spare == 1 else own // spare,
                own_scale**3 * own_credit * chosen.n,
            )
        )
    return found
