"""Every quantity of every pair with its interval, and the means to give any other statistic one.

Quantities that are means over questions (lift, masses, accuracies) have the one interval of a mean (see `interval`),
which needs no replicates. Rates and correlations are ratios of means: their intervals come from the bootstrap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import ALONE, Crew, Workers
from swaplaw._core.results import Result
from swaplaw.errors import InputError, StatisticalWarning, listing, quote, several
from swaplaw.evidence.interval import LEVEL, check_level, effects
from swaplaw.evidence.lifts import cannot_change
from swaplaw.evidence.percentiles import METHODS, Interval, Method, as_interval, bounds
from swaplaw.evidence.quantities import GAINS, MEANS, QUANTITIES, Quantities, Terms, question_values, terms_of
from swaplaw.evidence.resample import BATCH, DEFAULT_REPLICATES, FEW, Counts, Resampler, resampler
from swaplaw.evidence.units import LEAST_UNITS, Unit, Units
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

LARGEST = 2**25
"""Replicates of numbers that are held at once: pairs are judged in blocks, however many there are."""


@dataclass(frozen=True)
class Estimate:
    """A number, its interval, and in how many replicates it was undefined (and so left out)."""

    value: float | None
    interval: Interval | None
    undefined: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = None if self.interval is None else [self.interval.low, self.interval.high]
        return {"value": self.value, "interval": ends, "undefined": self.undefined}


@dataclass(frozen=True)
class Estimates:
    """Many numbers of one shape with their intervals; NaN where undefined."""

    values: Floats
    low: Floats
    high: Floats
    undefined: Ints
    """Replicates left out, for numbers that the full sample defines."""
    level: float
    method: Method

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        value = float(self.values[place])
        if isnan(value):
            return Estimate(None, None)
        interval = as_interval(float(self.low[place]), float(self.high[place]), self.level, self.method)
        return Estimate(value, interval, int(self.undefined[place]))

    @classmethod
    def joined(cls, parts: Sequence[Estimates]) -> Estimates:
        """Numbers of several parts, one after the other."""
        values, low, high, undefined = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "low", "high", "undefined")
        )
        return cls(values, low, high, undefined, parts[0].level, parts[0].method)

    def row(self, place: int) -> Estimates:
        """The numbers at one place of the first axis."""
        values, low, high, undefined = self.values[place], self.low[place], self.high[place], self.undefined[place]
        return Estimates(values, low, high, undefined, self.level, self.method)


def estimate(
    draws: Resampler,
    terms: Terms,
    statistic: Callable[[Quantities], Floats],
    *,
    level: float = LEVEL,
    method: Method = "expanded",
    crew: Crew = ALONE,
) -> Estimates:
    """Give a statistic of the quantities (see `Resampler.replicate`) its intervals."""
    gathered = draws.gather(terms)
    return estimate_sums(
        draws,
        gathered.columns,
        lambda sums: statistic(Quantities(gathered, sums)),
        level=level,
        method=method,
        crew=crew,
    )


def estimate_sums(
    draws: Resampler,
    columns: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    level: float = LEVEL,
    method: Method = "expanded",
    crew: Crew = ALONE,
) -> Estimates:
    """Give a statistic of weighted column sums (see `Resampler.transform`) its intervals."""
    warn_few(draws)
    return _judged(draws, columns, statistic, level, method, crew)


def _judged(
    draws: Resampler, columns: Floats, statistic: Callable[[Floats], Floats], level: float, method: Method, crew: Crew
) -> Estimates:
    whole = columns.sum(axis=0, keepdims=True, dtype=np.float64)
    values = statistic(whole)[0]
    jackknife = np.moveaxis(statistic(whole - columns), 0, -1) if method == "bca" else None
    replicates = draws.transform(columns, statistic, crew=crew)
    undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
    low, high = bounds(replicates, units=draws.units, level=level, method=method, estimate=values, jackknife=jackknife)
    return Estimates(values, low, high, undefined, level, method)


def estimate_counts(
    draws: Resampler,
    statistic: Callable[[Counts], Floats],
    *,
    level: float = LEVEL,
    method: Method = "expanded",
    crew: Crew = ALONE,
    size: int = BATCH,
) -> Estimates:
    """Give a statistic of the draws themselves (see `Resampler.apply`) its intervals."""
    warn_few(draws)
    values = statistic(np.ones((draws.units, 1), dtype=np.uint8))[0]
    jackknife = np.moveaxis(without_each(draws.units, statistic, size), 0, -1) if method == "bca" else None
    replicates = draws.apply(statistic, crew=crew, size=size)
    undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
    low, high = bounds(replicates, units=draws.units, level=level, method=method, estimate=values, jackknife=jackknife)
    return Estimates(values, low, high, undefined, level, method)


def without_each(units: int, statistic: Callable[[Counts], Floats], size: int) -> Floats:
    """The statistic without each unit in turn."""
    found = []
    for first in range(0, units, size):
        left_out = np.arange(first, min(first + size, units))
        counts = np.ones((units, len(left_out)), dtype=np.uint8)
        counts[left_out, np.arange(len(left_out))] = 0
        found.append(statistic(counts))
    return np.concatenate(found)


@dataclass(frozen=True)
class Bootstrap(Result):
    """Every pair's quantities at one weight with their intervals. Pairs stay oriented as in the full sample."""

    dataset: str
    weight: Fraction
    pairs: tuple[Pair, ...] = field(repr=False)
    names: tuple[str, ...]
    draws: Resampler
    estimates: Mapping[str, Estimates] = field(repr=False)
    """By name, one number for each pair."""
    level: float
    method: Method
    """How the intervals of quantities that are not means were read off the replicates."""

    def __repr__(self) -> str:
        counted = f"{several(len(self.pairs), 'pair')}, {len(self.names)} quantities, {self.draws!r}"
        return f"Bootstrap({self.dataset!r} at weight {self.weight}, {counted})"

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
                return self._pair(place)
        names = [f"{pair.primary} with {pair.secondary}" for pair in self.pairs]
        raise InputError(
            f"there is no pair of primary {quote(primary)} and secondary {quote(secondary)}; there are {listing(names)}"
        )

    def _pair(self, place: int) -> dict[str, Estimate]:
        return {name: self.estimates[name][place] for name in self.names}

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
                "undefined": one.undefined,
            }
            for place, pair in enumerate(self.pairs)
            for name, one in self._pair(place).items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "weight": str(self.weight),
            "resampled": self.draws.to_dict(),
            "level": self.level,
            "method": self.method,
            "pairs": [
                {
                    "primary": pair.primary,
                    "secondary": pair.secondary,
                    "n": pair.n,
                    **{name: each.to_dict() for name, each in self._pair(place).items()},
                }
                for place, pair in enumerate(self.pairs)
            ],
        }


def bootstrap(
    votes: VotesLike,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    quantities: Sequence[str] = QUANTITIES,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = DEFAULT_REPLICATES,
    level: float = LEVEL,
    method: Method = "expanded",
    workers: Workers = None,
) -> Bootstrap:
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
        The seed and the number of bootstrap draws. Means (lift, masses, accuracies) need none.
    level
        Confidence level.
    method
        How intervals of rates and correlations are read off the replicates: "expanded", "percentile" or "bca". Means
        always have the same kind of interval, whatever the method.
    workers
        Who shares the replicates (see `Crew`).

    Returns
    -------
    Bootstrap
        `of(primary, secondary)` gives the estimates of one pair by name.

    Raises
    ------
    InputError
        If a quantity or method is unknown, or there is nothing to resample.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = bootstrap(sl.demo_votes(), quantities=["lift"])
    >>> interval = found.of("gpt-4", "mistral-large")["lift"].interval
    >>> interval.low < 0 < interval.high
    True
    """
    unknown = [name for name in quantities if name not in QUANTITIES]
    if unknown:
        raise InputError(f"there is no quantity {quote(unknown[0])}; there are {', '.join(QUANTITIES)}")
    if method not in METHODS:
        raise InputError(f"there is no interval method {method!r}; there are {', '.join(METHODS)}")
    check_level(level)
    tally = inputs.tally(votes)
    draws = resampler(tally, by=by, seed=seed, replicates=replicates)
    chosen, crew = tuple(pairs(tally)), Crew(workers)
    means = [name for name in quantities if name in MEANS]
    drawn = [name for name in quantities if name not in MEANS]
    if drawn:
        warn_few(draws)
    most = max(1, LARGEST // (replicates * max(1, len(drawn))))
    parts: list[dict[str, Estimates]] = []
    for first in range(0, len(chosen), most):
        terms = terms_of(chosen[first : first + most], weight)
        found = _means(terms, draws, means, level) if means else {}
        if drawn:
            gathered = draws.gather(terms)
            named = partial(_named, gathered, drawn)
            many = _judged(draws, gathered.columns, named, level, method, crew)
            found |= {name: many.row(row) for row, name in enumerate(drawn)}
        parts.append(found)
    whole = {name: Estimates.joined([part[name] for part in parts]) for name in quantities}
    _warn_degenerate(whole, drawn, chosen, replicates)
    return Bootstrap(tally.dataset, as_weight(weight), chosen, tuple(quantities), draws, whole, level, method)


def _named(terms: Terms, names: Sequence[str], sums: Floats) -> Floats:
    return Quantities(terms, sums).named(names)


def _means(terms: Terms, draws: Resampler, names: Sequence[str], level: float) -> dict[str, Estimates]:
    """The interval of every pair's means; pairs with the same common questions are judged at once."""
    alike: dict[bytes, list[int]] = {}
    for place, pair in enumerate(terms.pairs):
        alike.setdefault(pair.common.tobytes(), []).append(place)
    low, high = (np.full((len(names), len(terms.pairs)), np.nan) for _ in range(2))
    x, gains = as_weight(terms.weight), [row for row, name in enumerate(names) if name in GAINS]
    for places in alike.values():
        common = terms.pairs[places[0]].common
        units = Units(draws.member, draws.unit).among(common)
        if units.count < LEAST_UNITS:
            continue
        rows = [question_values(terms.pairs[place], terms.weight, names) for place in places]
        judged = effects(np.concatenate(rows), units.member, level=level)
        ends = (each.reshape(len(places), len(names)).T for each in (judged.low, judged.high))
        low[:, places], high[:, places] = ends
        settled = [
            place for place in places if cannot_change(terms.pairs[place].tally, terms.pairs[place].a, x, common)
        ]
        low[np.ix_(gains, settled)] = high[np.ix_(gains, settled)] = 0
    values = terms.quantities(np.ones((1, terms.units))).named(names)[0]
    none = np.zeros(len(terms.pairs), dtype=np.int64)
    return {
        name: Estimates(values[row], np.maximum(low[row], MEANS[name]), high[row], none, level, "student")
        for row, name in enumerate(names)
    }


def warn_few(draws: Resampler) -> None:
    """Say where there is too little to draw from."""
    if draws.units < FEW[draws.unit]:
        warnings.warn(
            f"only {draws.units} {draws.unit}s are resampled: with fewer than {FEW[draws.unit]}, bootstrap intervals "
            "hold the truth less than 92% of the time",
            StatisticalWarning,
            stacklevel=4,
        )


def _warn_degenerate(
    estimates: Mapping[str, Estimates], names: Sequence[str], chosen: Sequence[Pair], replicates: int
) -> None:
    """Say how often a draw left a quantity undefined, naming the worst case."""
    undefined = np.array([estimates[name].undefined for name in names]).reshape(len(names), len(chosen))
    affected = int((undefined > 0).sum())
    if not affected:
        return
    row, place = divmod(int(undefined.argmax()), len(chosen))
    pair = chosen[place]
    warnings.warn(
        f"{affected} intervals rest on fewer than {replicates:,} replicates, because some draws hold no question that "
        f"defines the quantity; the worst is {names[row]} of {quote(pair.primary)} with {quote(pair.secondary)}, "
        f"undefined in {int(undefined[row, place]):,}",
        StatisticalWarning,
        stacklevel=3,
    )
