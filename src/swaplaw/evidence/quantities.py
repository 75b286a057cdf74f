"""Per-question terms: whole numbers whose weighted sums give every quantity of every pair.

All that the law says of a pair at a weight are ratios of sums over its common questions: of one, ok_A, ok_B,
ok_A ok_B, and of P_x - ok_A times each cell weight, Eq. (fuzzyrates). `Terms` holds these summands for many pairs as
columns of one matrix. A row of question weights (a bootstrap draw, a fold, or all ones) times that matrix gives
every statistic of every pair at once, and no vote is ever pooled again.

Columns are integers held as floats, wide enough that no sum is ever rounded. So the product is exact, and can't
depend on the order in which a BLAS library adds, on batches or on threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.exact_floats import compact, exact_float, grid_for, reduced, rounded
from swaplaw._core.memory import require_memory
from swaplaw.law.pair import Pair, Pooled, pooled
from swaplaw.law.weights import as_weight


@dataclass(frozen=True)
class Terms:
    """Summands of many pairs at one weight. Rows are units (questions, or whole clusters after `gather`)."""

    pairs: tuple[Pair, ...] = field(repr=False)
    weight: Fraction
    columns: Floats = field(repr=False)
    """Units x columns, whole numbers."""
    places: Ints = field(repr=False)
    """Which column holds each pair's n, A, B, AB and four gains: 8 x pairs."""
    factor_a: Floats = field(repr=False)
    """Whole numbers that bring A's sum to the scale of AB's, `mass_scale`."""
    factor_b: Floats = field(repr=False)
    mass_scale: Floats = field(repr=False)
    gain_scale: Floats = field(repr=False)

    @property
    def units(self) -> int:
        """How many rows there are to be weighted."""
        return len(self.columns)

    @property
    def gains_vary(self) -> bool:
        """Whether any pair's vote differs from its primary's on any question: if not, lift is 0 in every draw."""
        return any(bool(self.columns[:, place].any()) for place in np.unique(self.places[4:]).tolist())

    def gather(self, member: Ints, units: int) -> Terms:
        """Sum the rows of each unit, so that units are weighted whole."""
        sums = np.zeros((units, self.columns.shape[1]))
        np.add.at(sums, member, self.columns)
        return self._with(compact(sums))

    def totals(self, weights: npt.ArrayLike) -> Floats:
        """Weighted sums of all columns, one row for each row of weights: the one matrix product."""
        totals: Floats = np.asarray(weights, dtype=self.columns.dtype) @ self.columns
        return totals

    def quantities(self, weights: npt.ArrayLike | None = None) -> Quantities:
        """Every quantity of every pair under each row of weights; by default every unit counts once."""
        ones = np.ones(self.units) if weights is None else weights
        return Quantities(self, self.totals(ones))

    def without_columns(self) -> Terms:
        """What it takes to read quantities off sums that were taken already."""
        return self._with(self.columns[:0, :0].copy())

    def _with(self, columns: Floats) -> Terms:
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Quantities:
    """What `Masses` and `Outcome` say of one pair, for many pairs (last axis) under many weightings (first axis).

    Undefined values are NaN: rates of cells without mass, and everything of a pair none of whose questions has weight.
    Equal rationals are equal floats, whatever their scales: each value is one correctly rounded quotient of integers.
    """

    terms: Terms = field(repr=False)
    totals: Floats = field(repr=False)
    """Weightings x columns."""

    def _total(self, row: int) -> Floats:
        taken: Floats = self.totals.take(self.terms.places[row], axis=-1).astype(np.float64, copy=False)
        return taken

    @cached_property
    def _mass_unit(self) -> Floats:
        return self._total(0) * self.terms.mass_scale

    @cached_property
    def _gain_unit(self) -> Floats:
        return self._total(0) * self.terms.gain_scale

    @cached_property
    def _right_a(self) -> Floats:
        return self._total(1) * self.terms.factor_a

    @cached_property
    def _right_b(self) -> Floats:
        return self._total(2) * self.terms.factor_b

    @cached_property
    def _both(self) -> Floats:
        return self._total(3)

    @cached_property
    def _gains(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self._total(4), self._total(5), self._total(6), self._total(7)

    @property
    def n(self) -> Floats:
        """Weight of the common questions."""
        return self._total(0)

    @property
    def p(self) -> Floats:
        """Accuracy of the primary."""
        return _ratio(self._right_a, self._mass_unit)

    @property
    def q(self) -> Floats:
        """Accuracy of the secondary."""
        return _ratio(self._right_b, self._mass_unit)

    @property
    def gap(self) -> Floats:
        """The accuracy gap; negative where a draw turns the pair round, which stays oriented as in the full sample."""
        return _ratio(self._right_a - self._right_b, self._mass_unit)

    @property
    def collective(self) -> Floats:
        """m, the mean of p and q."""
        return _ratio(self._right_a + self._right_b, 2 * self._mass_unit)

    @property
    def both_right(self) -> Floats:
        """The mass c."""
        return _ratio(self._both, self._mass_unit)

    @property
    def rescue(self) -> Floats:
        """The mass r."""
        return _ratio(self._right_b - self._both, self._mass_unit)

    @property
    def damage(self) -> Floats:
        """The mass d."""
        return _ratio(self._right_a - self._both, self._mass_unit)

    @property
    def both_wrong(self) -> Floats:
        """The mass z."""
        return _ratio(self._wrong, self._mass_unit)

    @property
    def _wrong(self) -> Floats:
        return self._mass_unit - self._right_a - self._right_b + self._both

    @property
    def _variance(self) -> Floats:
        p, q = self.p, self.q
        return p * (1 - p) * q * (1 - q)

    @property
    def phi(self) -> Floats:
        """Correlation of correctness, Eq. (phi)."""
        return _ratio(self.both_right - self.p * self.q, np.sqrt(self._variance))

    @property
    def phi_max(self) -> Floats:
        """Largest phi at these accuracies, Eq. (phimax)."""
        p, q = self.p, self.q
        with np.errstate(divide="ignore"):
            return np.where(self._variance > 0, np.sqrt(_ratio(q * (1 - p), p * (1 - q))), np.nan)

    @property
    def phi_adj(self) -> Floats:
        """Accuracy-adjusted correlation, Eq. (phiadjdef): 1 - r / (q (1 - p))."""
        unit = self._mass_unit
        return 1 - _ratio((self._right_b - self._both) * unit, self._right_b * (unit - self._right_a))

    @property
    def ceiling(self) -> Floats:
        """Most that selecting could gain, Eq. (ceiling) where p >= q: min(q, 1 - p)."""
        return np.minimum(self.q, 1 - self.p)

    @property
    def rescued(self) -> Floats:
        """What rescues add, alpha r."""
        return _ratio(self._gains[0], self._gain_unit)

    @property
    def damaged(self) -> Floats:
        """What damage takes, gamma d."""
        return _ratio(-self._gains[1], self._gain_unit)

    @property
    def repaired(self) -> Floats:
        """What repairs add, beta z."""
        return _ratio(self._gains[2], self._gain_unit)

    @property
    def corrupted(self) -> Floats:
        """What corruption takes, kappa c."""
        return _ratio(-self._gains[3], self._gain_unit)

    @property
    def alpha(self) -> Floats:
        """Rescue conversion, Eq. (fuzzyrates)."""
        return self._rate(self._gains[0], self._right_b - self._both)

    @property
    def gamma(self) -> Floats:
        """Damage conversion."""
        return self._rate(-self._gains[1], self._right_a - self._both)

    @property
    def beta(self) -> Floats:
        """Both-wrong repair."""
        return self._rate(self._gains[2], self._wrong)

    @property
    def kappa(self) -> Floats:
        """Both-right corruption."""
        return self._rate(-self._gains[3], self._both)

    def _rate(self, gain: Floats, mass: Floats) -> Floats:
        return _ratio(gain * self.terms.mass_scale, mass * self.terms.gain_scale)

    @property
    def swap(self) -> Floats:
        """The swap mass S*, Eq. (sstar)."""
        return _ratio(self._gains[0] + self._gains[1], self._gain_unit)

    @property
    def residual(self) -> Floats:
        """Repair less corruption."""
        return _ratio(self._gains[2] + self._gains[3], self._gain_unit)

    @property
    def lift(self) -> Floats:
        """Accuracy over the primary's, Eq. (lift)."""
        return _ratio(sum(self._gains[1:], self._gains[0]), self._gain_unit)

    @property
    def accuracy(self) -> Floats:
        """Accuracy of the weighted vote."""
        return self.p + self.lift

    def named(self, names: Sequence[str]) -> Floats:
        """Several quantities by name: weightings x names x pairs."""
        # Weightings lie together in memory, because that is how intervals read them.
        stacked = np.empty((len(names), len(self.terms.pairs), len(self.totals)))
        for row, name in enumerate(names):
            stacked[row] = getattr(self, name).T
        return np.moveaxis(stacked, -1, 0)

    def predicted_swap(self, alpha: npt.ArrayLike, gamma: npt.ArrayLike) -> Floats:
        """S-hat at given rates, (alpha - gamma) r - gamma gap, Eqs. (sstargap) and (shat)."""
        predicted: Floats = np.subtract(alpha, gamma) * self.rescue - np.asarray(gamma) * self.gap
        return predicted


QUANTITIES = (
    *("p", "q", "gap", "collective", "rescue", "damage", "both_right", "both_wrong", "phi", "phi_max", "phi_adj"),
    *("ceiling", "alpha", "gamma", "beta", "kappa", "lift", "swap", "residual", "accuracy"),
)
"""What is known of a pair at a weight, by the names that JSON uses."""

GAINS = ("lift", "swap", "residual")
"""What comes of changed votes alone."""
MEANS = dict.fromkeys(
    ("p", "q", "collective", "rescue", "damage", "both_right", "both_wrong", "accuracy"), 0.0
) | dict.fromkeys(("gap", *GAINS), -1.0)
"""Quantities that are means over a pair's common questions, and the least that each can be."""


def question_values(pair: Pair, weight: Fraction, names: Sequence[str]) -> Floats:
    """What each common question adds to means of a pair, names x questions; each value is rounded once."""
    right_a, right_b = pair.alone
    a, b = right_a.numerators.astype(object), right_b.numerators.astype(object)
    scale_a, scale_b = right_a.denominator, right_b.denominator
    masses, scale = pair.cells()
    found: dict[str, tuple[Ints, int]] = {
        "p": (a, scale_a),
        "q": (b, scale_b),
        "gap": (a * scale_b - b * scale_a, scale_a * scale_b),
        "collective": (a * scale_b + b * scale_a, 2 * scale_a * scale_b),
        **{name: (mass, scale) for name, mass in zip(CELLS, masses, strict=True)},
    }
    if not found.keys() >= set(names):
        gains, top = pair.gains(weight)
        lift = gains.sum(axis=0)
        found |= {"lift": (lift, top), "accuracy": (lift + a * (top // scale_a), top)}
        found |= {"swap": (gains[0] + gains[1], top), "residual": (gains[2] + gains[3], top)}
    return np.stack([(found[name][0].astype(object) / found[name][1]).astype(np.float64) for name in names])


CELLS = ("rescue", "damage", "both_wrong", "both_right")
"""The masses in the order of `Pair.cells`."""


def terms_of(chosen: Iterable[Pair], weight: str | float | Fraction) -> Terms:
    """Lay out the terms of pairs of one tally at one weight; columns that pairs share are held once."""
    x = as_weight(weight)
    layout, listed = _Layout(), list(chosen)
    if listed:
        require_columns_fit(len(listed), listed[0].of)
    for found in pooled(listed, x):
        layout.add(found)
    return layout.terms(x)


def require_columns_fit(pairs: int, questions: int, more: int = 0) -> None:
    """Refuse pairs whose summands, five columns each and those of the residuals, would not fit into memory."""
    what = f"the summands of {pairs:,} pairs on {questions:,} questions"
    require_memory(8.0 * (5 + more) * pairs * questions, what, "analyse fewer models or fewer questions at a time")


class Columns:
    """Columns side by side, in 32 bits as long as no weighted sum can be rounded there; they grow in place."""

    def __init__(self) -> None:
        self._rows: Floats = np.empty((0, 0), dtype=np.float32)
        self._number = 0

    def add(self, values: Ints | Floats, where: Ints | slice, questions: int) -> int:
        """Add a column that has these values on some of the questions, and 0 elsewhere; returns its place."""
        column = exact_float(values, questions)
        if self._number == len(self._rows):
            # At once, without a second copy of what is there.
            self._rows.resize((max(64, self._number * 9 // 8), questions), refcheck=False)
        if column.dtype != self._rows.dtype and column.dtype == np.float64:
            self._rows = self._rows.astype(np.float64)
        self._rows[self._number] = 0
        self._rows[self._number, where] = column
        self._number += 1
        return self._number - 1

    def whole(self) -> Floats:
        """All columns: questions x columns."""
        self._rows.resize((self._number, self._rows.shape[1]), refcheck=False)
        return self._rows.T


class _Layout:
    """Collects columns, each under a key, and remembers where those of each pair are."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.questions = 0
        self.columns = Columns()
        self.index: dict[object, int] = {}
        self.places: list[list[int]] = []
        self.factors: list[tuple[int, int]] = []
        self.scales: list[tuple[int, int]] = []

    def add(self, found: Pooled) -> None:
        """Add the eight columns of one pair; accuracies are shared by all pairs with the same common questions."""
        pair = found.pair
        self.questions = pair.of
        where, own = np.flatnonzero(pair.common), len(self.pairs)
        on = pair.common.tobytes()
        right_a, right_b = pair.alone
        a, b = right_a.numerators, right_b.numerators
        scale_a, scale_b = right_a.denominator, right_b.denominator
        scale, factors = scale_a * scale_b, (scale_b, scale_a)
        grid = grid_for(scale, pair.n)
        both = rounded(a * b, scale, grid)
        if grid:
            a, b = rounded(a, scale_a, grid), rounded(b, scale_b, grid)
            scale, factors = grid, (1, 1)
        gains, top = reduced(found.contributions, found.top)
        gain_grid = grid_for(top, pair.n)
        self.places.append(
            [
                self._column((on,), np.ones(pair.n), where),
                self._column((on, pair.a, grid), a, where),
                self._column((on, pair.b, grid), b, where),
                self._column((own, "both"), both, where),
                *(
                    self._column((own, cell), rounded(gain, top, gain_grid), found.question)
                    for cell, gain in enumerate(gains)
                ),
            ]
        )
        self.factors.append(factors)
        self.scales.append((scale, gain_grid or top))
        self.pairs.append(pair)

    def _column(self, key: object, values: Ints | Floats, where: Ints) -> int:
        # Many pairs gain nothing in some cell: all of those share one column.
        key = key if values.any() else "nothing"
        if key not in self.index:
            self.index[key] = self.columns.add(values, where, self.questions)
        return self.index[key]

    def terms(self, x: Fraction) -> Terms:
        """Put the columns side by side."""
        scales, factors = (np.array(each, dtype=np.float64) for each in (self.scales, self.factors))
        return Terms(
            tuple(self.pairs),
            x,
            self.columns.whole(),
            np.array(self.places).T,
            factors[:, 0],
            factors[:, 1],
            scales[:, 0],
            scales[:, 1],
        )


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide; where there is no mass nothing was gained either, and 0 / 0 is NaN: undefined."""
    with np.errstate(invalid="ignore"):
        return top / bottom
