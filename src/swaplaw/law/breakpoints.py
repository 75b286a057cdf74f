"""Where the vote of a pair can change: the weights at which gold ties with a rival.

With margins D of the primary and E of the secondary, and sample counts N_A and N_B, gold holds against a rival
at weight x exactly when D/N_A + x E/N_B >= 0. That is a lower bound on x, an upper bound, always or never; the
bound is -D N_B / (E N_A), a ratio of small integers. So all bounds that occur are ranked once, exactly, and
curves become look-ups of ranks. Ranks count *slots*: slot 2k is the k-th breakpoint x_k (x_0 = 0), slot 2k + 1 is
the open interval up to the next one, and the last slot has no end.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from swaplaw._core.arrays import Ints


@dataclass(frozen=True)
class Breakpoints:
    """Ranked breakpoints, and for each margin pair that was asked for its bounds as slots."""

    numerators: Ints
    """Breakpoints in rising order, 0 first: numerators[k] / denominators[k]."""
    denominators: Ints
    bounds: Ints
    """(lowest slot, minus highest slot) for each margin pair: both tighten under `maximum`."""

    @property
    def slots(self) -> int:
        """Number of slots, points and intervals together."""
        return 2 * len(self.numerators)

    def look_up(self, codes: Ints) -> Ints:
        """Bounds of margin pairs by their place in `bounds`."""
        # Both bounds travel as one word: a single gather instead of two.
        word = np.int32 if self.bounds.dtype == np.int16 else np.int64
        return self.bounds.view(word)[:, 0].take(codes).view(self.bounds.dtype).reshape(-1, 2)

    @cached_property
    def weights(self) -> list[Fraction]:
        """The breakpoints as fractions."""
        return [Fraction(int(a), int(b)) for a, b in zip(self.numerators, self.denominators, strict=True)]

    def slot(self, weight: Fraction) -> int:
        """The slot that a weight falls into."""
        point = bisect_right(self.weights, weight) - 1
        return 2 * point + (self.weights[point] != weight)

    def between(self, first: int, last: int) -> tuple[Fraction, Fraction | None]:
        """The weights at which a run of slots begins and ends, None where it has no end."""
        following = (last + 1) // 2
        return self.weights[first // 2], self.weights[following] if following < len(self.weights) else None


def breakpoints(D: Ints, E: Ints, samples_a: Ints | int, samples_b: Ints | int) -> Breakpoints:
    """Rank the breakpoints of margin pairs (D, E); see the module's text for the bounds."""
    crossing = (D.astype(np.int64) * E) < 0
    top = np.where(crossing, np.abs(D.astype(np.int64)) * samples_b, 0)
    bottom = np.where(crossing, np.abs(E.astype(np.int64)) * samples_a, 1)
    keys, first, rank = np.unique(
        np.concatenate([[0], _order_keys(top, bottom)]), return_index=True, return_inverse=True
    )
    top, bottom = np.concatenate([[0], top])[first], np.concatenate([[1], bottom])[first]
    shared = np.gcd(top, bottom)
    slot, end = 2 * rank[1:], 2 * len(keys)
    # D = 0 < E ties at x = 0 alone, D = 0 > E holds at x = 0 alone; both zero is a tie everywhere, no bound.
    low = np.select([(D < 0) & (E > 0), (D < 0), (D == 0) & (E > 0)], [slot, end + 1, 0], default=-1)
    high = np.select([(D > 0) & (E < 0), (D == 0) & (E < 0)], [slot, 0], default=end)
    narrow = np.int16 if end + 1 < 2**15 else np.int32
    return Breakpoints(top // shared, bottom // shared, np.stack([low, -high], axis=-1).astype(narrow))


def _order_keys(top: Ints, bottom: Ints) -> Ints:
    """Whole numbers in the order of top / bottom, equal only where the ratios are.

    Two different ratios with denominators below 2^b differ by more than 2^-2b, so scaling by 2^2b parts their floors.
    """
    shift = 2 * int(bottom.max(initial=1)).bit_length()
    if int(top.max(initial=0)).bit_length() + shift > 62:
        top, bottom = top.astype(object), bottom.astype(object)
    return (top << shift) // bottom


@lru_cache(maxsize=64)
def table(samples_a: int, samples_b: int) -> Breakpoints:
    """Rank the breakpoints of every possible margin pair of models with even sample counts.

    The bounds of (D, E) stand at D * (2 N_B + 1) + E, counted from the end where that is negative.
    """
    stride = 2 * samples_b + 1
    code = np.arange(stride * (2 * samples_a + 1))
    middle = len(code) // 2
    D, E = np.divmod(np.roll(code, -middle) - middle + samples_b, stride)
    return breakpoints(D, E - samples_b, samples_a, samples_b)
