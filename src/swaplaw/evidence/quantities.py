"""Every quantity of every pair at a weight, with its interval.

All that the law says of a pair are ratios of sums over its common questions: of one, ok_A, ok_B and ok_A ok_B, and of
P_x - ok_A times each cell weight, Eq. (fuzzyrates). `sums_of` has these sums for all pairs of a fleet, in parts of the
questions (see `jackknife`); `Quantities` reads off them what the law defines (`law.pair.Masses`, `law.pair.Outcome`).

Quantities that are means over questions (lift, masses, accuracies) have the one interval of a mean (see `interval`);
rates and correlations are ratios of means, and the jackknife has their intervals.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._parallel import one_thread, require_memory
from swaplaw._result import Result
from swaplaw.errors import InputError, StatisticalWarning, listing, quote, several
from swaplaw.evidence.interval import LEVEL, check_level, effects
from swaplaw.evidence.jackknife import PARTS, Estimate, Estimates, Parts, jackknife, parts_of
from swaplaw.evidence.lifts import cannot_change
from swaplaw.evidence.units import LEAST_UNITS, Unit, Units, resampling_units
from swaplaw.law.pair import NOTHING, Masses, Outcome, Pair, Pooled, pairs, pooled
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

MEANS = dict.fromkeys(
    ("p", "q", "collective", "rescue", "damage", "both_right", "both_wrong", "accuracy"), 0.0
) | dict.fromkeys(("gap", "lift", "swap", "residual"), -1.0)
"""Quantities that are means over a pair's common questions, and the least that each can be."""
GAINS = ("lift", "swap", "residual")
"""What comes of changed votes alone."""
QUANTITIES = (
    *("p", "q", "gap", "collective", "rescue", "damage", "both_right", "both_wrong", "phi", "phi_max", "phi_adj"),
    *("ceiling", "alpha", "gamma", "beta", "kappa", "lift", "swap", "residual", "accuracy"),
)
"""What is known of a pair at a weight, by the names that JSON uses."""

SUMMED = 8
"""Sums of a pair: questions, scores of both models, their product, and what the four cells gain."""


class Quantities:
    """What `Masses` and `Outcome` say of a pair, for many pairs (last axis) in many samples (first axis).

    Undefined values are NaN: rates of cells without mass, and everything of a pair none of whose questions is there.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = quantities_of(list(sl.pairs(sl.demo_votes())), "2/3")
    >>> found.phi_adj.shape, round(float(found.lift.max()), 3)
    ((1, 36), 0.05)
    """

    def __init__(self, sums: Floats, weight: Fraction) -> None:
        self.n = sums[:, 0]
        """Common questions."""
        with np.errstate(invalid="ignore", divide="ignore"):
            p, q, both, *gains = (sums[:, row] / self.n for row in range(1, SUMMED))
        rescued, damaged, repaired, corrupted = gains
        of_arrays: Any = Masses, Outcome
        self.masses: Any = of_arrays[0](p, q, both)
        self.outcome: Any = of_arrays[1](weight, self.masses, rescued, -damaged, repaired, -corrupted)

    def __getattr__(self, name: str) -> Any:
        """Any quantity by name: samples x pairs."""
        if name in ("masses", "outcome"):
            raise AttributeError(name)
        found = getattr(self.outcome if hasattr(Outcome, name) else self.masses, name)
        # What cancels out in whole numbers may leave a rounding in floats, which is neither a gain nor a loss.
        return np.where(np.abs(found) < NOTHING, 0.0, found)

    def named(self, names: Sequence[str]) -> Floats:
        """Several quantities by name: samples x names x pairs."""
        return np.stack([getattr(self, name) for name in names], axis=1)


def overlaps(tally: Tally, parts: Parts | None = None) -> tuple[Floats, int]:
    """How models overlap, in each part of the questions: parts x 3 x models x models, one matrix product each.

    Parameters
    ----------
    tally : Tally
        The counted votes.
    parts : Parts, optional
        The parts; by default all questions are one.

    Returns
    -------
    array
        Questions that both answered, the first model's scores on these, and the products of both models' scores.
    int
        What scores are multiplied by, so that they are whole numbers; products are multiplied by its square.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sums, scale = overlaps(sl.demo_votes().tally())
    >>> shared, right, both = sums[0]
    >>> float(shared[0, 1]), float(right[0, 1] / scale), float(both[0, 1] / scale**2)
    (100.0, 79.0, 63.0)
    """
    scale = lcm(*(scores.denominator for scores in tally.scores))
    # Whole numbers as long as their sums are exact, so that what is nothing is exactly nothing; in 32 bits, which take
    # half the time, a block of questions at a time.
    exact, width = scale**2 * len(tally.questions) < 2**53, max(1, BLOCK // len(tally.models))
    narrow = exact and scale**2 * NARROWEST < 2**24
    scale = scale if exact else 1
    dtype: Any = np.float32 if narrow else np.float64
    width = min(width, 2**24 // scale**2) if narrow else width
    factors = np.array([scale / scores.denominator for scores in tally.scores], dtype=dtype)[:, None]

    def products(own: Any) -> Floats:
        right = np.stack([scores.numerators[own] for scores in tally.scores]).astype(dtype) * factors
        if tally.complete:
            total: Floats = np.broadcast_to(right.sum(axis=1, dtype=np.float64)[:, None], (len(right), len(right)))
            return np.stack([np.full(total.shape, float(right.shape[1])), total, right @ right.T])
        answered = tally.answered[:, own].astype(dtype)
        return np.stack([answered @ answered.T, right @ answered.T, right @ right.T])

    questions = [slice(0, len(tally.questions))] if parts is None else parts.questions
    found = np.zeros((len(questions), 3, len(tally.models), len(tally.models)))
    with one_thread():
        for sums, own in zip(found, questions, strict=True):
            for block in _blocks(own, width):
                sums += products(block)
    return found, scale


BLOCK, NARROWEST = 2**21, 1024
"""Scores that are multiplied at a time; blocks of fewer questions than this are not worth the switch to 32 bits."""


def _blocks(own: Any, width: int) -> Iterator[Any]:
    """Some questions, at most `width` at a time; neighbours stay a slice, which copies nothing."""
    if isinstance(own, slice):
        yield from (slice(start, min(start + width, own.stop)) for start in range(0, own.stop, width))
    else:
        yield from (own[start : start + width] for start in range(0, len(own), width))


def sums_of(chosen: Sequence[Pair], weight: str | float | Fraction, parts: Parts | None = None) -> Floats:
    """Sum up what pairs of one tally are at a weight: parts x `SUMMED` x pairs."""
    number = 1 if parts is None else parts.replicates
    what = f"the sums of {len(chosen):,} pairs in {number} parts"
    require_memory(16.0 * SUMMED * number * len(chosen), what, "analyse fewer models at a time")
    sums = np.zeros((number, SUMMED, len(chosen)))
    a, b = (np.array([getattr(each, side) for each in chosen], dtype=np.intp) for side in "ab")
    if chosen:
        found, scale = overlaps(chosen[0].tally, parts)
        shared, right, both = np.moveaxis(found / np.array([1, scale, scale**2])[:, None, None], 1, 0)
        sums[:, :4] = np.stack([shared[:, a, b], right[:, a, b], right[:, b, a], both[:, a, b]], axis=1)
    for place, own in enumerate(pooled(chosen, as_weight(weight))):
        gains = own.contributions.astype(np.float64)
        sums[:, 4:, place] = (gains.sum(axis=1) if parts is None else parts.sums(gains, own.question)) / own.top
    return sums


def quantities_of(chosen: Sequence[Pair], weight: str | float | Fraction) -> Quantities:
    """All quantities of pairs on all their questions."""
    return Quantities(sums_of(chosen, weight), as_weight(weight))


def question_values(found: Pooled, names: Sequence[str]) -> Floats:
    """What each common question adds to means of a pair: names x questions."""
    a, b = (np.asarray(each.numerators / each.denominator, dtype=np.float64) for each in found.pair.alone)
    gains = np.zeros((4, found.pair.of))
    np.add.at(gains.T, found.question, (found.contributions / found.top).astype(np.float64).T)
    rescued, damaged, repaired, corrupted = gains[:, found.pair.common]
    lift = found.lifts
    values = {"p": a, "q": b, "gap": a - b, "collective": (a + b) / 2, "accuracy": a + lift, "lift": lift}
    values |= {"rescue": (1 - a) * b, "damage": a * (1 - b), "both_wrong": (1 - a) * (1 - b), "both_right": a * b}
    values |= {"swap": rescued + damaged, "residual": repaired + corrupted}
    return np.stack([values[name] for name in names])


@dataclass(frozen=True)
class Intervals(Result):
    """Every pair's quantities at one weight with their intervals. Pairs stay oriented as in the full sample."""

    dataset: str
    weight: Fraction
    pairs: tuple[Pair, ...] = field(repr=False)
    parts: Parts
    estimates: Mapping[str, Estimates] = field(repr=False)
    """By name, one number for each pair."""
    level: float

    def __repr__(self) -> str:
        counted = f"{several(len(self.pairs), 'pair')}, {len(self.estimates)} quantities"
        return f"Intervals({self.dataset!r} at weight {self.weight}, {counted}, {self.parts!r})"

    def of(self, primary: str, secondary: str) -> dict[str, Estimate]:
        """The quantities of one pair by name, as oriented here.

        Parameters
        ----------
        primary : str
            The more accurate model of the pair.
        secondary : str
            The other one.

        Returns
        -------
        dict of str to Estimate
            The quantities by name.

        Raises
        ------
        InputError
            If there is no such pair.
        """
        for place, pair in enumerate(self.pairs):
            if (pair.primary, pair.secondary) == (primary, secondary):
                return {name: found[place] for name, found in self.estimates.items()}
        names = [f"{pair.primary} with {pair.secondary}" for pair in self.pairs]
        raise InputError(
            f"there is no pair of primary {quote(primary)} and secondary {quote(secondary)}; there are {listing(names)}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row per pair and quantity."""
        return [
            {
                "primary": pair.primary,
                "secondary": pair.secondary,
                "quantity": name,
                "value": one.value,
                "low": None if one.interval is None else one.interval.low,
                "high": None if one.interval is None else one.interval.high,
            }
            for place, pair in enumerate(self.pairs)
            for name, one in ((name, found[place]) for name, found in self.estimates.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        listed = [
            {"primary": pair.primary, "secondary": pair.secondary, "n": pair.n}
            | {name: found[place].to_dict() for name, found in self.estimates.items()}
            for place, pair in enumerate(self.pairs)
        ]
        head = {"dataset": self.dataset, "weight": str(self.weight), "resampled": self.parts.to_dict()}
        return head | {"level": self.level, "pairs": listed}


def intervals(
    votes: VotesLike,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    quantities: Sequence[str] = QUANTITIES,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = PARTS,
    level: float = LEVEL,
) -> Intervals:
    """Compute intervals for the named quantities of every pair at one weight.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    weight
        Weight of the secondary; the primary carries 1.
    quantities
        Names from `QUANTITIES`.
    by
        What is resampled: by default clusters where there are several, else questions.
    seed, replicates
        How units are dealt into parts, each of which is left out once. Means (lift, masses, accuracies) need none.
    level
        Confidence level.

    Returns
    -------
    Intervals
        `of(primary, secondary)` gives the estimates of one pair by name.

    Raises
    ------
    InputError
        If a quantity is unknown, or there is nothing to resample.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.intervals(sl.demo_votes(), quantities=["lift"])
    >>> interval = found.of("gpt-4", "mistral-large")["lift"].interval
    >>> interval.low < 0 < interval.high
    True
    """
    unknown = [name for name in quantities if name not in QUANTITIES]
    if unknown:
        raise InputError(f"there is no quantity {quote(unknown[0])}; there are {', '.join(QUANTITIES)}")
    check_level(level)
    tally, x = inputs.tally(votes), as_weight(weight)
    parts, chosen = parts_of(tally, by=by, seed=seed, replicates=replicates), tuple(pairs(tally))
    means = [name for name in quantities if name in MEANS]
    others = [name for name in quantities if name not in MEANS]
    found = _means(chosen, x, resampling_units(tally, by), means, level) if means else {}
    if others:
        parts.warn_few()
        sums = sums_of(chosen, x, parts)
        judged = jackknife(sums, lambda some: Quantities(some, x).named(others), level=level, least=-1.0, most=1.0)
        found |= {name: judged.row(place) for place, name in enumerate(others)}
        _warn_undefined(found, others, chosen, parts)
    return Intervals(tally.dataset, x, chosen, parts, {name: found[name] for name in quantities}, level)


def _means(
    chosen: Sequence[Pair], weight: Fraction, units: Units, names: Sequence[str], level: float
) -> dict[str, Estimates]:
    """The interval of every pair's means."""
    values, low, high = (np.full((len(names), len(chosen)), np.nan) for _ in range(3))
    gains = [row for row, name in enumerate(names) if name in GAINS]
    for place, found in enumerate(pooled(chosen, weight)):
        rows, common = question_values(found, names), found.pair.common
        values[:, place] = rows.mean(axis=1)
        member = units.among(common).member
        if member.max(initial=0) + 1 < LEAST_UNITS:
            continue
        judged = effects(rows, member, level=level)
        low[:, place], high[:, place] = judged.low, judged.high
        if cannot_change(found.pair.tally, found.pair.a, weight, common):
            low[gains, place] = high[gains, place] = 0
    none = np.zeros(len(chosen), dtype=np.int64)
    return {
        name: Estimates(values[row], np.maximum(low[row], MEANS[name]), high[row], none, level, "student")
        for row, name in enumerate(names)
    }


def _warn_undefined(found: Mapping[str, Estimates], names: Sequence[str], chosen: Sequence[Pair], parts: Parts) -> None:
    """Say how many quantities rest on a single part, naming the worst case."""
    undefined = np.array([found[name].undefined for name in names]).reshape(len(names), len(chosen))
    affected = int((undefined > 0).sum())
    if not affected:
        return
    row, place = divmod(int(undefined.argmax()), len(chosen))
    pair = chosen[place]
    warnings.warn(
        f"{affected} of the quantities have no interval, because they rest on one of {parts.replicates} parts of the "
        f"questions, such as {names[row]} of {quote(pair.primary)} with {quote(pair.secondary)}",
        StatisticalWarning,
        stacklevel=3,
    )
