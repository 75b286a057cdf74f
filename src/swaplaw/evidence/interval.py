"""The one interval of a mean over questions: of a lift, a difference, an accuracy, a mass.

It is Student's, mean ± t se, made for what votes look like (the figures behind each choice are in docs/evidence.md):

- Most questions don't change, so a spread that is estimated from the few that do is too small, or zero. Two
  questions more, a gain and a loss, are added to the sum of squares (Bonett and Price, 2012): where nothing changed,
  the interval still reaches about 3/n, as it must.
- Clusters are few and uneven. The spread between them is the bias-reduced one (CR2), and t has the degrees of freedom
  that their sizes leave (Bell and McCaffrey, 2002). Where each question is a unit of its own, both are the textbook's:
  the sample variance and n - 1.
- A few clusters can look alike by luck. So the interval is never narrower than the one over questions.

The mean itself is not adjusted: it is the exact lift. No replicates are drawn, so no seed matters.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from swaplaw._arrays import Floats, Ints
from swaplaw._result import decimals
from swaplaw.errors import InputError, StatisticalWarning
from swaplaw.evidence.units import unit_totals

LEVEL, POWER = 0.95, 0.8
PSEUDO_QUESTIONS = 2
FEW_CHANGED, FEW_EFFECTIVE = 6, 8
"""With changes in fewer clusters than this, an interval may cover less than 92% (see docs/evidence.md); the second is
for changes that are rare, in effective clusters."""
RARE = 0.1
"""Where fewer questions than this share change, clusters that were not seen matter."""
MOST_QUESTIONS = 10_000_000
"""Beyond this many, more questions are no practical answer."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval and how it was computed."""

    low: float
    high: float
    level: float
    method: str
    """"student" where it is that of a mean, "jackknife" where it is not."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"low": self.low, "high": self.high, "level": self.level, "method": self.method}


@dataclass(frozen=True)
class Effect:
    """A mean over questions, with its standard error and interval."""

    mean: float
    standard_error: float
    critical: float
    """Standard errors to each side of the interval."""
    level: float
    p: float
    """One-sided: how often noise alone would look as good."""
    n: int
    """Questions."""
    units: int
    """Clusters, or questions where there are none."""
    changed: int | None = None
    """Clusters with a question that changed; None where questions are the units."""
    effective: float | None = None
    """The effective number of such clusters where changes are rare (Kish); None elsewhere."""
    ends: tuple[float, float] | None = None
    """The ends of an interval that does not reach as far to both sides; None where it does."""
    least: float = -1.0
    """What the mean cannot go below: 0 for an accuracy."""

    @property
    def low(self) -> float:
        """Lower end of the interval; no mean gain is below -1, and no accuracy below 0."""
        return max(self.least, self.mean - self.half_width if self.ends is None else self.ends[0])

    @property
    def high(self) -> float:
        """Upper end of the interval; no mean gain is above 1."""
        return min(1.0, self.mean + self.half_width if self.ends is None else self.ends[1])

    @property
    def half_width(self) -> float:
        """How far the interval reaches to either side, or to both on average."""
        return self.critical * self.standard_error if self.ends is None else (self.ends[1] - self.ends[0]) / 2

    @property
    def p_two_sided(self) -> float:
        """How often noise alone would be as far from 0, either way."""
        return 2 * min(self.p, 1 - self.p)

    @property
    def certain(self) -> bool:
        """Whether no votes could have given another value (see `no_effect`)."""
        return self.standard_error == 0

    @property
    def thin(self) -> bool:
        """Whether so few clusters hold a change that the interval may cover less than 92%."""
        few = self.changed is not None and self.changed < FEW_CHANGED
        return few or (self.effective is not None and self.effective < FEW_EFFECTIVE)

    @property
    def places(self) -> int:
        """How many decimals it deserves in percentage points (see `rounding`)."""
        return decimals(-self.half_width, self.half_width)

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "lift": self.mean,
            "standard_error": self.standard_error,
            "interval": [self.low, self.high],
            "critical": self.critical,
            "level": self.level,
            "p": self.p,
            "questions": self.n,
            "units": self.units,
        }

    def questions_needed(self, boundary: float) -> int | None:
        """How many questions of this kind would separate the mean from the boundary; None: beyond reach.

        The standard error shrinks with the root of n, and the interval excludes the boundary with probability POWER
        once the distance is (critical + z(POWER)) standard errors: n' = n ((critical + z(POWER)) se / distance)^2.

        Parameters
        ----------
        boundary : float
            What the difference is compared with.
        """
        distance = abs(self.mean - boundary)
        reach = (self.critical + NormalDist().inv_cdf(POWER)) * self.standard_error
        if not distance or self.n * (reach / distance) ** 2 > MOST_QUESTIONS:
            return None
        return ceil(self.n * (reach / distance) ** 2)


@dataclass(frozen=True)
class Effects:
    """Many means over the same questions, one for each row of values."""

    mean: Floats
    standard_error: Floats
    critical: float
    level: float
    p: Floats
    """One-sided."""
    n: int
    units: int
    changed: Ints | None = None
    effective: Floats | None = None
    """NaN where changes are common."""

    @property
    def half_width(self) -> Floats:
        """How far each interval reaches to either side."""
        return self.critical * self.standard_error

    @property
    def low(self) -> Floats:
        """Lower ends; no mean gain is below -1."""
        return np.maximum(-1.0, self.mean - self.half_width)

    @property
    def high(self) -> Floats:
        """Upper ends; no mean gain is above 1."""
        return np.minimum(1.0, self.mean + self.half_width)

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, row: int) -> Effect:
        changed = None if self.changed is None else int(self.changed[row])
        effective = None if self.effective is None or np.isnan(self.effective[row]) else float(self.effective[row])
        mean, error, p = (float(each[row]) for each in (self.mean, self.standard_error, self.p))
        return Effect(mean, error, self.critical, self.level, p, self.n, self.units, changed, effective)

    def __iter__(self) -> Iterator[Effect]:
        return (self[row] for row in range(len(self)))


def effects(values: Floats, member: Ints, *, level: float = LEVEL) -> Effects:
    """Estimate the mean of every row at once, with its interval and p-value.

    Parameters
    ----------
    values
        Rows x questions: what each question adds, between -1 and 1.
    member
        The resampling unit of each question, numbered from 0 (see `resampling_units`).
    level
        Confidence level of the intervals.

    Returns
    -------
    Effects
        Arrays with a number for each row; `effects[row]` is that row's `Effect`.

    Raises
    ------
    InputError
        If the level is not between 0 and 1, or there are fewer than two units.

    Examples
    --------
    >>> gains = np.zeros((2, 100))
    >>> gains[0, :10] = 1
    >>> found = effects(gains, np.arange(100))
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.035, -0.028], [0.165, 0.028])
    """
    n, units = _checked(values, member, level)
    means, tail = values.mean(axis=1), (1 - level) / 2
    spreads = _spreads(values, member, means)
    critical = student(spreads[-1].degrees, tail)
    widths = [student(spread.degrees, tail) * spread.errors for spread in spreads]
    # The wider of two intervals at every level is the one whose p-value is larger.
    two_sided = np.maximum.reduce([2 * student_tail(each.degrees, np.abs(means) / each.errors) for each in spreads])
    p = np.where(means > 0, two_sided / 2, 1 - two_sided / 2)
    changed = _changed_units(values, member) if units < n else (None, None)
    return Effects(means, np.maximum.reduce(widths) / critical, critical, level, p, n, units, *changed)


def effect(values: Floats, member: Ints, *, level: float = LEVEL) -> Effect:
    """Estimate the mean of one row of values that was not picked from many (see `effects`)."""
    return effects(values[None], member, level=level)[0]


def effect_among(values: Floats, member: Ints, *, level: float = LEVEL) -> Effect | None:
    """Estimate the mean of values on some of the questions; None where there is nothing to resample."""
    units = np.unique(member, return_inverse=True)[1]
    return effect(values, units, level=level) if len(values) > 1 and units.any() else None


def no_effect(member: Ints, *, level: float = LEVEL) -> Effect:
    """Nothing at all, for certain: of what no votes could change. There is no noise to look as good as a gain.

    Examples
    --------
    >>> found = no_effect(np.arange(100))
    >>> found.low, found.mean, found.high, found.p_two_sided
    (0.0, 0.0, 0.0, 1.0)
    """
    n, units = len(member), int(member.max()) + 1
    return Effect(0.0, 0.0, critical_of(member, level=level), level, 0.5, n, units)


def errors_of_sums(means: Floats, squares: Floats, between: Floats | None, sizes: Ints, *, level: float) -> Floats:
    """Standard errors of means as `effects` has them, from sums that somebody keeps up instead of values.

    `squares` is the sum of squared values over all questions, `sizes` the questions of each unit, and `between`, where
    units are clusters, the sum over units of (total - size mean)^2 / (1 - size / n).
    """
    n, tail = int(sizes.sum()), (1 - level) / 2
    spreads = [_Spread(_errors(n / (n - 1) * np.maximum(0, squares - n * means**2), n), n - 1)]
    if between is not None:
        spreads.append(_Spread(_errors(np.maximum(0, between), n), degrees_of(sizes)))
    critical = student(spreads[-1].degrees, tail)
    errors: Floats = np.maximum.reduce([student(each.degrees, tail) * each.errors for each in spreads]) / critical
    return errors


def critical_of(member: Ints, *, level: float = LEVEL) -> float:
    """Standard errors to each side of an interval over these units."""
    return student(degrees_of(np.bincount(member)), (1 - level) / 2)


def degrees_of(sizes: Ints) -> float:
    """Degrees of freedom of the spread between units of these sizes (Bell and McCaffrey, for a mean).

    With even sizes they are one less than there are units, with uneven ones fewer.

    >>> degrees_of(np.array([5, 5, 5, 5])), round(degrees_of(np.array([17, 1, 1, 1])), 2)
    (3.0, 1.24)
    """
    if (sizes == sizes[0]).all():
        return len(sizes) - 1.0
    n = float(sizes.sum())
    pull = sizes.astype(np.float64) ** 2 / (1 - sizes / n)
    squares = float((sizes.astype(np.float64) ** 2).sum()) + (float(pull.sum()) ** 2 - float((pull**2).sum())) / n**2
    return n**2 / squares


def thin_note(found: Iterable[Effect | None], what: str = "intervals") -> str | None:
    """Say how many intervals rest on changes in so few clusters that they may cover less than 92%; None: none does."""
    judged = [each for each in found if each is not None]
    thin = sum(each.thin for each in judged)
    if not thin:
        return None
    which = (
        "the interval rests"
        if len(judged) == 1
        else f"{thin} of {len(judged)} {what} {'rests' if thin == 1 else 'rest'}"
    )
    return (
        f"{which} on changes in too few clusters (fewer than {FEW_CHANGED}, or effectively than {FEW_EFFECTIVE} where "
        "changes are rare), and may hold the truth less than 92% of the time; more clusters would help, more questions "
        "in the same ones would not"
    )


def warn_thin(found: Iterable[Effect | None], what: str = "intervals") -> None:
    """Warn of such intervals."""
    if (note := thin_note(found, what)) is not None:
        warnings.warn(note, StatisticalWarning, stacklevel=2)


@dataclass(frozen=True)
class _Spread:
    """Standard errors over one kind of unit, and how far they can be trusted."""

    errors: Floats
    degrees: float


def _spreads(values: Floats, member: Ints, means: Floats) -> list[_Spread]:
    """Over questions, and then over clusters where these are the units."""
    n = values.shape[1]
    # Written so that a row's sum doesn't depend on the other rows.
    squares = n / (n - 1) * np.maximum(0, (values * values).sum(axis=1) - n * means**2)
    spreads = [_Spread(_errors(squares, n), n - 1)]
    sizes = np.bincount(member)
    if len(sizes) < n:
        deviations = unit_totals(values, member) - sizes * means[:, None]
        squares = (deviations**2 / (1 - sizes / n)).sum(axis=1)
        spreads.append(_Spread(_errors(squares, n), degrees_of(sizes)))
    return spreads


def _errors(squares: Floats, n: int) -> Floats:
    """Add the pseudo-questions: each deviates by one."""
    errors: Floats = np.sqrt(squares + PSEUDO_QUESTIONS) / (n + PSEUDO_QUESTIONS)
    return errors


def _changed_units(values: Floats, member: Ints) -> tuple[Ints, Floats]:
    """How many units hold a value unlike most of their row: a change of the vote, or what a model rarely does.

    And the effective number of these where such values are rare (NaN elsewhere): clusters that have not been seen may
    then hold many more, and neither the mean nor the spread knows of them.
    """
    deviations = values - np.median(values, axis=1, keepdims=True)
    changes = unit_totals((deviations != 0).astype(np.float64), member)
    rare = changes.sum(axis=1) < RARE * values.shape[1]
    effective = changes.sum(axis=1) ** 2 / np.maximum(1, (changes**2).sum(axis=1))
    return (changes > 0).sum(axis=1), np.where(rare, effective, np.nan)


def _checked(values: Floats, member: Ints, level: float) -> tuple[int, int]:
    """Questions and units, if there are enough for an interval."""
    check_level(level)
    units = int(member.max(initial=-1)) + 1
    if units < 2:
        raise InputError(f"an interval needs two units or more, not {units}: there is nothing to resample")
    return values.shape[1], units


def check_level(level: float) -> None:
    """Refuse what is not a confidence level."""
    if not 0 < level < 1:
        raise InputError(f"level {level!r} is not between 0 and 1: give 0.95 for a 95% interval")


@lru_cache
def student(degrees: float, tail: float) -> float:
    """Upper quantile of Student's distribution, for a tail below 1/2: where Newton's steps on the tail end.

    >>> round(student(9, 0.025), 4)
    2.2622
    """
    log_goal = log(tail)
    # In logarithms of both, the tail is nearly a line and bends one way: the steps from below never overshoot for long.
    place = 0.0
    for _ in range(STEPS):
        t = exp(place)
        reached = float(student_tail(degrees, t))
        step = (log(reached) - log_goal) * reached / (t * _density(degrees, t))
        place += max(-1.0, min(1.0, step))
        if abs(step) < PRECISION:
            break
    return exp(place)


def student_tail(degrees: float, t: Floats | float) -> Any:
    """P(T > t), for numbers or arrays of them.

    With t = sqrt(degrees) sinh y the density is a power of cosh y. Beyond t it falls so evenly that Gauss's rule gives
    its integral, relative to where it starts, to the last digits.

    >>> round(float(student_tail(9, 2.2622)), 4)
    0.025
    """
    size = np.minimum(np.abs(np.asarray(t, dtype=np.float64)), FARTHEST)[..., None]
    steep = size / np.sqrt(degrees + size**2)
    scale = np.maximum(sqrt(degrees), degrees * steep)
    nodes, weights = _gauss()
    y = nodes / scale
    falls = np.exp(-degrees * np.log1p(2 * np.sinh(y / 2) ** 2 + steep * np.sinh(y)))
    start = np.exp(-degrees / 2 * np.log1p(size**2 / degrees)) / scale
    upper = _gamma_ratio(degrees / 2) / sqrt(pi) * start[..., 0] * (falls * weights).sum(axis=-1)
    return np.where(np.asarray(t) == 0, 0.5, np.where(np.asarray(t) < 0, 1 - upper, upper))


STEPS, PRECISION = 100, 1e-15
"""Newton's steps at most, and where they end."""
NODES, REACH, FARTHEST = 100, 45.0, 1e100
"""Points of Gauss's rule, how far they reach (less than exp(-45) is left), and the largest number told apart."""
LARGE = 100.0
"""From here on the gamma function's ratio is its series, to the last digit."""


@lru_cache
def _gauss() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2 * REACH, weights / 2 * REACH


def _density(degrees: float, t: float) -> float:
    return _gamma_ratio(degrees / 2) / sqrt(pi * degrees) * exp(-(degrees + 1) / 2 * log1p(t * t / degrees))


def _gamma_ratio(a: float) -> float:
    """Gamma(a + 1/2) / Gamma(a); of large a logarithms would leave too few digits."""
    if a < LARGE:
        return exp(lgamma(a + 0.5) - lgamma(a))
    return sqrt(a) * (1 - 1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4))
