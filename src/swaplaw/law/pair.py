"""The weighted swap law of two models: masses, rates, correlation, ceilings and lift at a weight.

Everything but phi (a square root) is an exact `Fraction`, and every identity of the paper holds exactly.
Undefined quantities are None: rates of cells without mass, phi where an accuracy is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, combinations
from math import lcm, sqrt
from typing import Any, TypeVar

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._parallel import Crew, Progress, Workers
from swaplaw._result import Result, Results
from swaplaw.errors import InputError, quote
from swaplaw.law.spans import batches, own_scores, scores_in, spans_of_batch
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Scores, Silence, Tally, credits

Found = TypeVar("Found")

KINDS = ("rescued", "damaged", "repaired", "corrupted")
"""What can happen to a question, by its cell: R (only B right), D (only A), Z (neither), C (both)."""


NOTHING = 1e-13
"""A mass in floating point that is smaller than any question can make it: rounding."""


def divide(top: Any, bottom: Any) -> Any:
    """Divide; where there is nothing to divide by it is undefined: None, or NaN in arrays."""
    if isinstance(bottom, np.ndarray):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.abs(bottom) < NOTHING, np.nan, top / bottom)
    return top / bottom if bottom else None


def _root(square: Any) -> Any:
    return np.sqrt(square) if isinstance(square, np.ndarray) else sqrt(square)


@dataclass(frozen=True)
class Masses:
    """How often the models are right, alone and together: Eqs. (gapidentity) to (ceiling) follow from these.

    Masses of one pair are exact. Arrays, for many pairs in many samples, obey the same definitions, with NaN where
    they are undefined (see `evidence.quantities`).
    """

    p: Fraction
    """Accuracy of the primary A."""
    q: Fraction
    """Accuracy of the secondary B."""
    both_right: Fraction
    """c, the mass of questions that both answer correctly."""

    @property
    def rescue(self) -> Fraction:
        """r: the primary wrong, the secondary right."""
        return self.q - self.both_right

    @property
    def damage(self) -> Fraction:
        """d: the primary right, the secondary wrong; d = r + gap, Eq. (gapidentity)."""
        return self.p - self.both_right

    @property
    def both_wrong(self) -> Fraction:
        """z: both wrong."""
        return 1 - self.p - self.q + self.both_right

    @property
    def gap(self) -> Fraction:
        """The accuracy gap, p - q."""
        return self.p - self.q

    @property
    def collective(self) -> Fraction:
        """m, the collective accuracy (p + q) / 2."""
        return (self.p + self.q) / 2

    @property
    def phi(self) -> float | None:
        """Correlation of correctness, Eq. (phi)."""
        variance = self.p * (1 - self.p) * self.q * (1 - self.q)
        found: float | None = divide(self.both_right - self.p * self.q, _root(variance))
        return found

    @property
    def phi_max(self) -> float | None:
        """Largest phi that the accuracies permit, Eq. (phimax)."""
        p, q = self.p, self.q
        # Written so that it is undefined where either accuracy is 0 or 1.
        square = divide((q * (1 - p)) ** 2, p * (1 - p) * q * (1 - q))
        return None if square is None else _root(square)

    @property
    def phi_adj(self) -> Fraction | None:
        """Accuracy-adjusted correlation, Eq. (phiadjdef): Loevinger's H for p >= q."""
        found: Fraction | None = divide(self.both_right - self.p * self.q, self.q * (1 - self.p))
        return found

    @property
    def ceiling(self) -> Fraction:
        """The most that selection could gain at these accuracies, Eq. (ceiling); `rescue` is what this pair allows."""
        # Not `min`: the masses may be arrays of many pairs.
        collective: Any = self.collective
        found: Fraction = np.minimum(collective, 1 - collective) - self.gap / 2
        return found

    @property
    def threshold(self) -> Fraction | None:
        """What alpha/gamma must exceed for a positive swap mass, 1 + gap/r, Eq. (threshold)."""
        return 1 + self.gap / self.rescue if self.rescue else None

    def predicted_swap(self, alpha: Any, gamma: Any) -> Any:
        """Swap mass at given rates, (alpha - gamma) r - gamma gap, Eqs. (sstargap) and (shat).

        Parameters
        ----------
        alpha : number or array
            Rescue conversion.
        gamma : number or array
            Damage conversion.
        """
        return (alpha - gamma) * self.rescue - gamma * self.gap


@dataclass(frozen=True)
class Outcome(Result):
    """The vote of a pair at one weight: lift and its four contributions, Eq. (exact)."""

    weight: Fraction
    masses: Masses = field(repr=False)
    rescued: Fraction
    """alpha r, what rescues add."""
    damaged: Fraction
    """gamma d, what damage takes."""
    repaired: Fraction
    """beta z, what both-wrong repairs add."""
    corrupted: Fraction
    """kappa c, what both-right corruption takes."""

    def __repr__(self) -> str:
        return f"Outcome(weight={self.weight}, accuracy={float(self.accuracy):.4f}, lift={float(self.lift):+.4f})"

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, the weight as text, None where undefined."""
        exact = ("accuracy", "lift", "swap", "residual", "rescued", "damaged", "repaired", "corrupted")
        rates = ("alpha", "gamma", "beta", "kappa")
        values = {name: getattr(self, name) for name in (*exact, *rates)}
        return {"weight": str(self.weight)} | {
            name: None if value is None else float(value) for name, value in values.items()
        }

    @property
    def swap(self) -> Fraction:
        """The weighted swap mass S*, Eq. (sstar)."""
        return self.rescued - self.damaged

    @property
    def residual(self) -> Fraction:
        """What the swap mass leaves out: repair less corruption."""
        return self.repaired - self.corrupted

    @property
    def lift(self) -> Fraction:
        """Accuracy over the primary's, Eq. (lift)."""
        return self.swap + self.residual

    @property
    def accuracy(self) -> Fraction:
        """Accuracy of the weighted vote, A_x."""
        return self.masses.p + self.lift

    @property
    def alpha(self) -> Fraction | None:
        """Rescue conversion, Eq. (fuzzyrates)."""
        return _rate(self.rescued, self.masses.rescue)

    @property
    def gamma(self) -> Fraction | None:
        """Damage conversion."""
        return _rate(self.damaged, self.masses.damage)

    @property
    def beta(self) -> Fraction | None:
        """Both-wrong repair."""
        return _rate(self.repaired, self.masses.both_wrong)

    @property
    def kappa(self) -> Fraction | None:
        """Both-right corruption."""
        return _rate(self.corrupted, self.masses.both_right)


def _rate(contribution: Fraction, mass: Fraction) -> Fraction | None:
    found: Fraction | None = divide(contribution, mass)
    return found


@dataclass(frozen=True)
class Change:
    """One question that the vote changes, and how much credit that brings.

    A question on which a model alone ties belongs to several cells in part and may appear once for each; the
    credits of one kind add up to n times that kind's contribution to lift.
    """

    question: str
    kind: str
    credit: Fraction


@dataclass(frozen=True, repr=False)
class Pair(Result):
    """Two models on the questions that both answered."""

    tally: Tally = field(repr=False)
    a: int = field(repr=False)
    b: int = field(repr=False)

    def __repr__(self) -> str:
        return f"Pair({self.primary!r} + {self.secondary!r}, {self.n:,} questions)"

    def to_dict(self) -> dict[str, Any]:
        """Turn what does not depend on a weight into plain data: fractions of one, None where undefined."""
        names = ("p", "q", "rescue", "damage", "both_right", "both_wrong", "gap", "phi", "phi_adj", "ceiling")
        values = {name: getattr(self.masses, name) for name in names}
        return {"primary": self.primary, "secondary": self.secondary, "n": self.n, "of": self.of} | {
            name: None if value is None else float(value) for name, value in values.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        """What travels between processes: all but the arrays that follow from the tally."""
        return {name: value for name, value in vars(self).items() if name not in ("common", "alone")}

    @property
    def primary(self) -> str:
        """Name of the model that carries weight 1."""
        return self.tally.models[self.a]

    @property
    def secondary(self) -> str:
        """Name of the model that carries weight x."""
        return self.tally.models[self.b]

    @cached_property
    def common(self) -> Bools:
        """The questions that both answered."""
        both: Bools = self.tally.answered[self.a] & self.tally.answered[self.b]
        return both

    @cached_property
    def n(self) -> int:
        """How many questions both answered."""
        return self.of if self.tally.complete else int(self.common.sum())

    @property
    def of(self) -> int:
        """How many questions the dataset has."""
        return len(self.tally.questions)

    @cached_property
    def masses(self) -> Masses:
        """Standalone accuracies and their overlap, as exact means over the common questions."""
        right_a, right_b = self.alone
        a, b = right_a.numerators, right_b.numerators
        scale_a, scale_b = right_a.denominator, right_b.denominator
        return Masses(
            Fraction(right_a.total, scale_a * self.n),
            Fraction(right_b.total, scale_b * self.n),
            Fraction(int((a * b).sum()), scale_a * scale_b * self.n),
        )

    @property
    def turned(self) -> Pair:
        """The same two models with the other one as primary; nothing known about both is computed again."""
        other = Pair(self.tally, self.b, self.a)
        masses = self.masses
        vars(other).update(n=self.n, masses=Masses(masses.q, masses.p, masses.both_right))
        return other

    @cached_property
    def alone(self) -> tuple[Scores, Scores]:
        """Both models' own scores on the common questions."""
        return self._on_common(self.tally.scores[self.a]), self._on_common(self.tally.scores[self.b])

    def _on_common(self, scores: Scores) -> Scores:
        return scores if self.n == self.of else scores.among(self.common)

    def cells(self) -> tuple[Ints, int]:
        """Fuzzy cell weights of common questions, in the order of KINDS, and their common denominator."""
        right_a, right_b = self.alone
        scales = right_a.denominator, right_b.denominator
        return cells(right_a.numerators, right_b.numerators, *scales), scales[0] * scales[1]

    def at(self, weight: str | float | Fraction) -> Outcome:
        """Score the vote at one weight and split its lift exactly, Eqs. (exact) and (fuzzyrates).

        Parameters
        ----------
        weight : str, float or Fraction
            Weight of the secondary; the primary carries 1.

        Returns
        -------
        Outcome
            The pooled vote, cell by cell.
        """
        return next(pooled([self], as_weight(weight))).outcome

    def changes(self, weight: str | float | Fraction) -> list[Change]:
        """Which questions the vote at this weight rescues, damages, repairs or corrupts, and with what credit.

        Parameters
        ----------
        weight : str, float or Fraction
            Weight of the secondary; the primary carries 1.

        Returns
        -------
        list of Change
            The questions whose score changes.
        """
        gains, scale = self.gains(as_weight(weight))
        names = np.flatnonzero(self.common)
        return [
            Change(
                self.tally.questions[names[question]],
                KINDS[cell],
                Fraction(int(gains[cell, question]), scale),
            )
            for cell, question in zip(*np.nonzero(gains), strict=True)
        ]

    def gains(self, x: Fraction) -> tuple[Ints, int]:
        """(P_x - ok_A) times each cell weight, for each cell and common question, and the common denominator."""
        found = next(pooled([self], x))
        gains = np.zeros((len(KINDS), self.of), dtype=found.contributions.dtype)
        for cell, contributed in zip(gains, found.contributions, strict=True):
            np.add.at(cell, found.question, contributed)
        return gains if self.n == self.of else gains[:, self.common], found.top


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


def cells(right_a: Ints, right_b: Ints, scale_a: int, scale_b: int) -> Ints:
    """How far each question belongs to each cell, in the order of KINDS: products of scores and their complements."""
    wrong_a, wrong_b = scale_a - right_a, scale_b - right_b
    return np.stack([wrong_a * right_b, right_a * wrong_b, wrong_a * wrong_b, right_a * right_b])


def pair(votes: VotesLike, primary: str, secondary: str, silence: Silence = "counts") -> Pair:
    """Take two models as primary and secondary, as given, on the questions that both answered.

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
    Pair Masses, correlation and ceilings of the two; `.at(weight)` gives the exact lift at a weight.

    Raises
    ------
    InputError
        If a model is not there, both are the same, or they share no question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.pair(sl.demo_votes(), "gpt-4", "mistral-large")
    >>> two
    Pair('gpt-4' + 'mistral-large', 100 questions)
    >>> two.at("2/3").lift
    Fraction(-3, 100)
    """
    tally = inputs.tally(votes, silence=silence)
    if primary == secondary:
        raise InputError(f"primary and secondary are both {quote(primary)}: name two different models")
    chosen = Pair(tally, tally.index(primary), tally.index(secondary))
    if not chosen.n:
        raise InputError(
            f"{quote(primary)} and {quote(secondary)} have no question in common (of {chosen.of}); "
            "a pair needs questions that both answered"
        )
    return chosen


class Pairs(Results[Pair]):
    """Every pair of a fleet, and its vote at a weight where one is given."""

    weight: Fraction | None = None

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """The vote of each pair at the weight."""
        return [] if self.weight is None else [each.outcome for each in pooled(self, self.weight)]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each pair, the largest lift first where there is a weight."""
        if self.weight is None:
            return super().rows()
        voted = zip(self, self.outcomes, strict=True)
        ranked = sorted(voted, key=lambda both: -both[1].lift)
        first = ("primary", "secondary", "weight", "lift")
        rows = (two.to_dict() | outcome.to_dict() for two, outcome in ranked)
        return [{name: row[name] for name in dict.fromkeys((*first, *row))} for row in rows]


def pairs(votes: VotesLike, silence: Silence = "counts", weight: str | float | Fraction | None = None) -> Pairs:
    """List every pair with common questions, the more accurate model as primary.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    silence : {"counts", "ignored"}
        What null votes do: a category that can win, or nothing (see `Tally.silence`).
    weight : str, float or Fraction, optional
        Weight of the secondary at which the table of them shows lift; the primary carries 1.

    Returns
    -------
    Pairs
        In the order of the models' names; of two equally accurate models, the first by name is the primary.

    Raises
    ------
    InputError
        If there is only one model, or no two share a question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> max(sl.pairs(sl.demo_votes()), key=lambda two: two.at("2/3").lift)
    Pair('cohere-command-r-plus' + 'gemini-1.0-pro', 100 questions)
    """
    tally = inputs.tally(votes, silence=silence)
    found = Pairs(at_least_one(tally, oriented_pairs(tally, places_of_pairs(tally))))
    found.weight = None if weight is None else as_weight(weight)
    return found


def places_of_pairs(tally: Tally) -> list[tuple[int, int]]:
    """Every two models, in name order."""
    if len(tally.models) < 2:
        raise InputError(
            f"dataset {quote(tally.dataset)} has only one model ({quote(tally.models[0])}); a pair needs two"
        )
    return list(combinations(range(len(tally.models)), 2))


def oriented_pairs(tally: Tally, places: Iterable[tuple[int, int]]) -> Iterator[Pair]:
    """These pairs, where there are common questions, the more accurate model as primary."""
    for a, b in places:
        candidate = Pair(tally, a, b)
        if candidate.n:
            yield candidate if candidate.masses.gap >= 0 else candidate.turned


def at_least_one(tally: Tally, found: Iterable[Found]) -> Iterator[Found]:
    """Pass on what was found of pairs; that there are none is an error."""
    empty = True
    for each in found:
        empty = False
        yield each
    if empty:
        raise InputError(f"no two models of dataset {quote(tally.dataset)} have a question in common")


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
