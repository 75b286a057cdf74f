"""Every quantity of every pair with its interval, and the means to give any other statistic one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isnan
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import ALONE, Backend, Crew
from swaplaw.errors import InputError, StatisticalWarning, listing, quote
from swaplaw.evidence.intervals import DEFAULT_LEVEL, Interval, Method, as_interval, bounds
from swaplaw.evidence.quantities import QUANTITIES, Quantities, Terms, terms_of
from swaplaw.evidence.resample import DEFAULT_REPLICATES, Resampler, Unit, resampler
from swaplaw.law.pair import Pair, pairs
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.votes.tally import Tally


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


def estimate(
    draws: Resampler,
    terms: Terms,
    statistic: Callable[[Quantities], Floats],
    *,
    level: float = DEFAULT_LEVEL,
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
    level: float = DEFAULT_LEVEL,
    method: Method = "expanded",
    crew: Crew = ALONE,
) -> Estimates:
    """Give a statistic of weighted column sums (see `Resampler.transform`) its intervals."""
    whole = columns.sum(axis=0, keepdims=True, dtype=np.float64)
    values = statistic(whole)[0]
    jackknife = np.moveaxis(statistic(whole - columns), 0, -1) if method == "bca" else None
    replicates = draws.transform(columns, statistic, crew=crew)
    undefined = np.isnan(replicates).sum(axis=-1) * ~np.isnan(values)
    low, high = bounds(replicates, units=draws.units, level=level, method=method, estimate=values, jackknife=jackknife)
    return Estimates(values, low, high, undefined, level, method)


@dataclass(frozen=True)
class Bootstrap:
    """Every pair's quantities at one weight with their intervals. Pairs stay oriented as in the full sample."""

    dataset: str
    weight: Fraction
    pairs: tuple[Pair, ...] = field(repr=False)
    names: tuple[str, ...]
    draws: Resampler
    estimates: Estimates = field(repr=False)
    """Names x pairs."""

    def of(self, primary: str, secondary: str) -> dict[str, Estimate]:
        """The quantities of one pair by name, as oriented here."""
        for place, pair in enumerate(self.pairs):
            if (pair.primary, pair.secondary) == (primary, secondary):
                return self._pair(place)
        names = [f"{pair.primary} with {pair.secondary}" for pair in self.pairs]
        raise InputError(
            f"there is no pair of primary {quote(primary)} and secondary {quote(secondary)}; there are {listing(names)}"
        )

    def _pair(self, place: int) -> dict[str, Estimate]:
        return {name: self.estimates[row, place] for row, name in enumerate(self.names)}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "weight": str(self.weight),
            "resampled": self.draws.to_dict(),
            "level": self.estimates.level,
            "method": self.estimates.method,
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
    tally: Tally,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    quantities: Sequence[str] = QUANTITIES,
    by: Unit | None = None,
    seed: int = 0,
    replicates: int = DEFAULT_REPLICATES,
    level: float = DEFAULT_LEVEL,
    method: Method = "expanded",
    workers: int | None = None,
    backend: Backend = "processes",
) -> Bootstrap:
    """Bootstrap the named quantities of every pair at one weight; workers share the replicates (see `crew`)."""
    unknown = [name for name in quantities if name not in QUANTITIES]
    if unknown:
        raise InputError(f"there is no quantity {quote(unknown[0])}; there are {', '.join(QUANTITIES)}")
    draws = resampler(tally, by=by, seed=seed, replicates=replicates)
    terms = terms_of(pairs(tally), weight)

    estimates = estimate(
        draws, terms, lambda found: found.named(quantities), level=level, method=method, crew=Crew(workers, backend)
    )
    _warn_degenerate(estimates, tuple(quantities), terms.pairs, replicates)
    return Bootstrap(tally.dataset, terms.weight, terms.pairs, tuple(quantities), draws, estimates)


def _warn_degenerate(estimates: Estimates, names: Sequence[str], chosen: Sequence[Pair], replicates: int) -> None:
    """Say how often a draw left a quantity undefined, naming the worst case."""
    affected = int((estimates.undefined > 0).sum())
    if not affected:
        return
    row, place = divmod(int(estimates.undefined.argmax()), len(chosen))
    pair = chosen[place]
    warnings.warn(
        f"{affected} intervals rest on fewer than {replicates:,} replicates, because some draws hold no question that "
        f"defines the quantity; the worst is {names[row]} of {quote(pair.primary)} with {quote(pair.secondary)}, "
        f"undefined in {int(estimates.undefined[row, place]):,}",
        StatisticalWarning,
        stacklevel=3,
    )
