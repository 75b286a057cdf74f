"""Many pairs at one weight: what each question gains, for several pairs at a time and only where the vote changes.

The spans on which gold leads (see `winning_spans`) say how a question scores at any weight. Pairs that share a table of
breakpoints are worked out together, as for curves; each is pooled once, for its outcome and for whatever else needs to
know what questions gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain
from math import lcm

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw.law.pair import Outcome, Pair, at_least_one, cells, oriented_pairs, places_of_pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.law.winning_spans import Spans, batches, own_scores, spans_of_batch
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally, credits


@dataclass(frozen=True)
class Pooled:
    """A pair's vote at one weight."""

    pair: Pair
    outcome: Outcome
    question: Ints = field(repr=False)
    """The questions on which the vote scores other than the primary does, once for each right answer that does."""
    gain: Ints = field(repr=False)
    """By how much, times `scale`."""
    scale: int = field(repr=False)
    contributions: Ints = field(repr=False)
    """The same times each cell weight (in the order of `pair.KINDS`), times `top`: cells x questions."""
    top: int = field(repr=False)

    @property
    def lifts(self) -> Floats:
        """What each common question gains, as fractions of one; each is rounded once."""
        gains = np.zeros(self.pair.of, dtype=self.gain.dtype)
        np.add.at(gains, self.question, self.gain)
        # A quotient of whole numbers that floats hold is rounded once; Python sees to larger ones.
        whole = gains if self.scale < 2**53 else gains.astype(object)
        lifts = (whole / self.scale).astype(np.float64)
        return lifts if self.pair.n == self.pair.of else lifts[self.pair.common]


def pooled(chosen: Iterable[Pair], weight: Fraction) -> Iterator[Pooled]:
    """Pool pairs of one tally at a weight, in turn; small ones several at a time."""
    for batch in batches(chosen):
        yield from _pooled(batch, weight)


def _pooled(batch: Sequence[Pair], weight: Fraction) -> list[Pooled]:
    tally = batch[0].tally
    breaks, spans, owner = spans_of_batch(batch)
    scale = lcm(*(tally.scores[model].denominator for chosen in batch for model in (chosen.a, chosen.b)))
    credit = spans.common_denominator
    narrow = scale**3 * credit * len(tally.questions) < 2**61
    if not narrow and len(batch) > 1:
        return [found for chosen in batch for found in _pooled([chosen], weight)]
    dtype = np.int64 if narrow else object
    alone, right = own_scores(tally, batch, owner, spans.row, credits(scale, tally.rivals.rows.height + 1, dtype))
    gain = scores_in(spans, [breaks.slot(weight)], credit, dtype)[0] * scale - alone[0] * credit
    question = spans.row
    if tally.rights is not None:
        gain *= tally.rights.copies.take(spans.row)
        question = tally.rights.question.take(spans.row)
    changed = np.flatnonzero(gain)
    changed = changed[np.argsort(owner[changed], kind="stable")]
    gain, owner, question = gain[changed], owner[changed], question[changed]
    contributions = gain * cells(right[0][changed], right[1][changed], scale, scale)
    totals = np.zeros((4, len(batch)), dtype=dtype)
    for total, contribution in zip(totals, contributions, strict=True):
        np.add.at(total, owner, contribution)
    ends = np.searchsorted(owner, np.arange(len(batch) + 1))
    top = scale**3 * credit
    found = []
    for number, chosen in enumerate(batch):
        own = slice(ends[number], ends[number + 1])
        rescued, damaged, repaired, corrupted = (Fraction(int(total), top * chosen.n) for total in totals[:, number])
        outcome = Outcome(weight, chosen.masses, rescued, -damaged, repaired, -corrupted)
        found.append(Pooled(chosen, outcome, question[own], gain[own], scale * credit, contributions[:, own], top))
    return found


def scores_in(spans: Spans, slots: Sequence[int], credit: int, dtype: npt.DTypeLike) -> Ints:
    """The vote's scores in some slots, times `credit`: slots x spans."""
    worth = credits(credit, max(int(ties.max(initial=0)) for ties in spans.ties), dtype)
    slot = np.array(slots)[:, None]
    at_low, inside, at_high = (worth.take(ties) for ties in spans.ties)
    scores = np.where(slot == spans.low, at_low, np.where(slot == spans.high, at_high, inside))
    leads = (slot >= spans.low) & (slot <= spans.high)
    found: Ints = np.where(leads, scores, 0)
    return found


def outcomes(
    votes: VotesLike,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    workers: Workers = None,
    progress: Progress = iter,
) -> Iterator[tuple[Pair, Outcome]]:
    """Score every pair at one weight.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    workers : int, optional
        Share the pairs among this many; the numbers stay the same.
    progress : callable
        Wraps the shares of the work as they are done.

    Yields
    ------
    tuple of Pair and Outcome
        Each pair, the more accurate model as primary, and its lift split exactly.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sum(outcome.lift > 0 for _, outcome in sl.law.outcomes(sl.demo_votes(), "2/3"))
    11
    """
    tally = inputs.tally(votes)
    crew = Crew(workers)
    shares = crew.split(places_of_pairs(tally))
    found = crew.share(partial(_outcomes, as_weight(weight)), tally, shares, progress=progress)
    return at_least_one(tally, chain.from_iterable(found))


def _outcomes(weight: Fraction, tally: Tally, places: Sequence[tuple[int, int]]) -> list[tuple[Pair, Outcome]]:
    return [(found.pair, found.outcome) for found in pooled(oriented_pairs(tally, places), weight)]
