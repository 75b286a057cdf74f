"""The paper's Monte Carlo world: question-clustered competence (Section "Accuracy Gap & Collective Accuracy").

A question is *known* to a model, which then answers it correctly with probability 0.95 a sample, or *unknown* to it
(0.05, the rest spread evenly over the distractors). A share of the questions is *contested*: neither model knows
them, both sample at their mean rates, and the finite vote decides. How often both know a question sets the
dependence of their errors. Simulated votes are tallied like any others, and the law is the same law.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import sqrt
from typing import Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw._result import Result
from swaplaw.errors import InputError, quote
from swaplaw.law.pair import Masses, Pair
from swaplaw.law.weights import as_weight, vote
from swaplaw.votes.tally import Scores, Tally, tally_array

TRIALS = 15_000
"""Questions simulated at each point of a sweep."""
SPLITS = ("0:24", "1:23", "6:18", "12:12", "18:6")
"""Shares of the pooled vote, secondary:primary, that the paper's Figure theory compares."""


@dataclass(frozen=True)
class World:
    """Two models and the questions they are asked; rates are per sample, averaged over questions."""

    collective: float
    """m_theta, the mean of the models' single-sample accuracies."""
    gap: float = 0.10
    """Delta_theta, the primary's single-sample accuracy less the secondary's."""
    overlap: float = 0.35
    """Latent overlap of knowledge: 0 is independence, 1 nested, -1 the smallest overlap possible."""
    options: int = 4
    samples: int = 24
    known: float = 0.95
    unknown: float = 0.05
    contested: float = 0.45

    def __post_init__(self) -> None:
        if not 0 <= self.unknown < self.known <= 1:
            raise InputError(
                f"rates unknown {self.unknown:g} and known {self.known:g} must satisfy 0 <= unknown < known <= 1"
            )
        for name, low, high in (("overlap", -1.0, 1.0), ("contested", 0.0, 1.0), ("gap", 0.0, 1.0)):
            _within(name, getattr(self, name), low, high)
        for name, least in (("options", 2), ("samples", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}: give at least {least}")
        # Rates a hair outside come from arithmetic such as 0.9 + 0.1 / 2.
        for rate in self.thetas:
            _within(
                f"a model's mean rate at collective accuracy {self.collective:g} and gap {self.gap:g}",
                round(rate, 12),
                self.unknown,
                self.known,
            )

    @property
    def thetas(self) -> tuple[float, float]:
        """Mean per-sample accuracies of primary and secondary."""
        return self.collective + self.gap / 2, self.collective - self.gap / 2

    @property
    def knowledge(self) -> tuple[float, float]:
        """k, the shares of uncontested questions that each knows: theta = unknown + (known - unknown) k."""
        primary, secondary = (
            min(max((theta - self.unknown) / (self.known - self.unknown), 0.0), 1.0) for theta in self.thetas
        )
        return primary, secondary

    @property
    def joint_knowledge(self) -> float:
        """Share of uncontested questions that both know."""
        a, b = self.knowledge
        extreme = min(a, b) if self.overlap >= 0 else max(0.0, a + b - 1)
        return a * b + abs(self.overlap) * (extreme - a * b)


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g}: give a number from {low:g} to {high:g}")


def draw(world: World, trials: int = TRIALS, seed: int | Sequence[int] = 0) -> Tally:
    """Let both models vote on `trials` questions of a world."""
    if trials < 2:
        raise InputError(f"trials is {trials}: give at least 2")
    rng = np.random.default_rng(seed)
    a, b = world.knowledge
    both = world.joint_knowledge
    place = rng.random(trials)
    # One uniform places a question: [0, both) both know it, [both, a) the primary, [a, a + b - both) the secondary.
    knows = np.stack([place < a, (place < both) | ((place >= a) & (place < a + b - both))])
    contested = rng.random(trials) < world.contested
    rates = np.where(contested, np.array(world.thetas)[:, None], np.where(knows, world.known, world.unknown))
    gold = rng.binomial(world.samples, np.clip(rates, 0, 1))
    distractors = world.options - 1
    wrong = rng.multinomial(world.samples - gold, np.full(distractors, 1 / distractors))
    counts = np.concatenate([gold[:, :, None], wrong], axis=2)
    return tally_array("simulation", ("primary", "secondary"), _question_names(trials), counts)


@lru_cache(maxsize=2)
def _question_names(number: int) -> tuple[str, ...]:
    return tuple(f"{question:08d}" for question in range(number))


@dataclass(frozen=True)
class Simulated:
    """A simulated mean and its Monte Carlo standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Point(Result):
    """What one world gives: accuracies and the lift of each split."""

    world: World
    trials: int
    masses: Masses = field(repr=False)
    accuracy: Simulated
    """A_0, the primary's own plurality accuracy."""
    lifts: Mapping[str, Simulated]
    """Lift of each split over the primary's own plurality, Eq. (lift)."""

    def __repr__(self) -> str:
        lifts = ", ".join(f"{split}: {lift.value:+.4f}" for split, lift in self.lifts.items())
        return f"Point(collective={self.world.collective}, {self.trials:,} trials, lifts {lifts})"

    def rows(self) -> list[dict[str, Any]]:
        """One row per split."""
        return [
            {"split": split, "lift": each.value, "standard_error": each.error} for split, each in self.lifts.items()
        ]

    @property
    def self_consistency(self) -> Simulated:
        """A_0 - theta_A: what repeated sampling of the primary alone gains over one sample."""
        return Simulated(self.accuracy.value - self.world.thetas[0], self.accuracy.error)

    @property
    def phi_adj(self) -> float | None:
        """Measured accuracy-adjusted correlation."""
        value = self.masses.phi_adj
        return None if value is None else float(value)

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "collective": self.world.collective,
            "gap": self.world.gap,
            "overlap": self.world.overlap,
            "trials": self.trials,
            "p": float(self.masses.p),
            "q": float(self.masses.q),
            "phi_adj": self.phi_adj,
            "self_consistency": self.self_consistency.value,
            "lifts": {split: {"lift": lift.value, "standard_error": lift.error} for split, lift in self.lifts.items()},
        }


def simulate(
    world: World, *, splits: Sequence[str] = SPLITS, trials: int = TRIALS, seed: int | Sequence[int] = 0
) -> Point:
    """Simulate one world of the paper's Monte Carlo study, and pool its votes at each split.

    Parameters
    ----------
    world : World
        Competence, overlap and gap of the two models.
    splits : sequence of str
        Secondary:primary splits, such as 12:12.
    trials : int
        Simulated questions.
    seed : int or sequence of int
        The same seed gives the same votes.

    Returns
    -------
    Point
        Accuracies, masses and lift at each split, with Monte Carlo errors.

    Examples
    --------
    >>> 0 < simulate(World(0.45), trials=500).lifts["12:12"].value < 0.2
    True
    """
    tally = draw(world, trials, seed)
    own = tally.scores[0]
    lifts = {split: _lift(tally, own, split_weight(split)) for split in splits}
    accuracy = _mean(own.numerators, own.denominator)
    return Point(world, trials, Pair(tally, 0, 1).masses, accuracy, lifts)


def split_weight(split: str) -> tuple[Fraction, Fraction]:
    """Read a secondary:primary split such as "6:18" as the weights (primary, secondary) of 18 and 6."""
    parts = split.split(":")
    if len(parts) != 2:
        raise InputError(f"split {quote(split)} is not secondary:primary: give one such as 6:18")
    secondary, primary = (as_weight(part) for part in parts)
    if not primary and not secondary:
        raise InputError(f"split {quote(split)} gives nobody a vote: give one such as 6:18")
    return primary, secondary


def _lift(tally: Tally, own: Scores, weights: tuple[Fraction, Fraction]) -> Simulated:
    pooled = vote(tally, (0, 1), weights)
    gains = pooled.numerators * own.denominator - own.numerators * pooled.denominator
    return _mean(gains, own.denominator * pooled.denominator)


def _mean(numerators: Ints, denominator: int) -> Simulated:
    spread = float(numerators.std(ddof=1)) / denominator
    return Simulated(int(numerators.sum()) / (denominator * len(numerators)), spread / sqrt(len(numerators)))


@dataclass(frozen=True)
class Theory:
    """The three sweeps behind the paper's Figures theory and decomp."""

    by_collective: tuple[Point, ...]
    """Over m_theta at a fixed gap (panels 1 and 2, and the decomposition)."""
    by_gap: tuple[Point, ...]
    """Over the gap at a fixed m_theta (panel 3)."""
    by_overlap: tuple[Point, ...]
    """Over the latent overlap, so over phi_adj (panel 4)."""

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that every point was pooled at."""
        return tuple(self.by_collective[0].lifts)

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            name: [point.to_dict() for point in getattr(self, name)]
            for name in ("by_collective", "by_gap", "by_overlap")
        }


def theory(
    base: World | None = None,
    *,
    gap_panel: float = 0.30,
    overlap_panel: float = 0.40,
    step: float = 0.01,
    splits: Sequence[str] = SPLITS,
    trials: int = TRIALS,
    seed: int = 0,
) -> Theory:
    """Run the sweeps of Figure theory around a base world; its gap and overlap hold where they are not swept.

    `gap_panel` and `overlap_panel` are the m_theta of panels 3 and 4, `step` the distance between points of the
    sweeps over m_theta and the gap.
    """
    world = World(0.5) if base is None else base
    if not 0 < step <= 0.1:
        raise InputError(f"step is {step:g}: give a number above 0 and up to 0.1")
    lowest, highest = world.unknown + world.gap / 2, world.known - world.gap / 2
    widest = min(0.30, 2 * (gap_panel - world.unknown), 2 * (world.known - gap_panel))
    sweeps: list[Iterable[World]] = [
        [replace(world, collective=m) for m in _steps(lowest, highest, step)],
        [replace(world, collective=gap_panel, gap=gap) for gap in _steps(0.0, widest, step)],
        [replace(world, collective=overlap_panel, overlap=overlap) for overlap in _steps(-1.0, 1.0, 5 * step)],
    ]
    swept = [
        tuple(
            simulate(place, splits=splits, trials=trials, seed=(seed, panel, number))
            for number, place in enumerate(worlds)
        )
        for panel, worlds in enumerate(sweeps)
    ]
    return Theory(*swept)


def _steps(low: float, high: float, step: float) -> list[float]:
    number = round((high - low) / step)
    return [round(low + (high - low) * place / max(number, 1), 10) for place in range(number + 1)]
