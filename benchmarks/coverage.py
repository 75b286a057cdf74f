"""`python -m benchmarks.coverage`: how often each 95% interval of a mean holds the truth, where the truth is known.

Gains on questions are drawn from worlds that look like votes: most questions don't change. In clusters, the shares of
changes vary from cluster to cluster (a Dirichlet draw with a given intraclass correlation); on the real votes of this
repository the correlation of lift within clusters is -0.07 to 0.11, that of differences between models up to 0.4.
The table of docs/evidence.md is what this prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from swaplaw.evidence.interval import degrees_of, effects, student
from swaplaw.evidence.units import unit_totals

Array = npt.NDArray[np.floating[Any]]
Members = npt.NDArray[np.int64]
Ends = tuple[Array, Array]

GAINS = np.array([-1, -0.5, 0, 0.5, 1.0])
WORLDS = {
    "near-equal models": np.array([0.14, 0.01, 0.70, 0.02, 0.13]),
    "few changes": np.array([0.05, 0.0, 0.90, 0.0, 0.05]),
    "a lift of 3 points": np.array([0.03, 0.01, 0.89, 0.01, 0.06]),
    "heavy ties": np.array([0.005, 0.10, 0.80, 0.09, 0.005]),
    "very few changes": np.array([0.005, 0.0, 0.98, 0.0, 0.015]),
    "gains only": np.array([0.0, 0.0, 0.96, 0.0, 0.04]),
}
"""How common each gain is."""
SPARSE = ("very few changes", "gains only")


@dataclass(frozen=True)
class Setting:
    """How many questions, and in which clusters."""

    questions: int
    clusters: int | None = None
    uneven: bool = False
    """Whether the largest cluster is some ten times the smallest."""
    icc: float = 0.0
    """Intraclass correlation: how much questions of one cluster resemble each other."""

    @property
    def member(self) -> Members:
        """The unit of each question."""
        if self.clusters is None:
            return np.arange(self.questions)
        spread = 1.2 if self.uneven else 0.0
        weights = np.exp(spread * np.linspace(-1, 1, self.clusters))
        sizes = np.maximum(1, np.round(weights / weights.sum() * self.questions)).astype(int)
        return np.repeat(np.arange(self.clusters), sizes)

    def draw(self, shares: Array, draws: int, rng: np.random.Generator) -> Array:
        """Gains on every question in many draws of this setting."""
        member = self.member
        chances = np.broadcast_to(shares.cumsum(), (draws, len(member), len(GAINS)))
        if self.icc:
            own = rng.gamma(np.maximum(shares * (1 - self.icc) / self.icc, 1e-12), size=(draws, member[-1] + 1, 5))
            chances = (own / own.sum(axis=-1, keepdims=True)).cumsum(axis=-1)[:, member]
        kinds = (rng.random((draws, len(member), 1)) > chances).sum(axis=-1)
        gains: Array = GAINS[np.minimum(kinds, len(GAINS) - 1)]
        return gains

    def __str__(self) -> str:
        if self.clusters is None:
            return f"{self.questions:,} questions"
        shape = "uneven" if self.uneven else "even"
        return f"{self.clusters} {shape} clusters, {self.questions:,} questions, ICC {self.icc:g}"


SINGLE = tuple(Setting(n) for n in (30, 50, 100, 300, 1000, 3000))
CLUSTERED = tuple(
    Setting(30 * clusters, clusters, uneven, icc)
    for clusters in (5, 10, 20, 30)
    for uneven, icc in ((False, 0.0), (False, 0.05), (True, 0.05), (True, 0.2))
)


@dataclass(frozen=True)
class Row:
    """The share of draws in which each interval held the truth, by interval and world."""

    setting: Setting
    held: dict[str, dict[str, float]] = field(repr=False)

    def worst(self, name: str, worlds: tuple[str, ...] = tuple(WORLDS)) -> float:
        """The least share over some worlds."""
        return min(self.held[name][world] for world in worlds)


def ours(gains: Array, member: Members) -> Ends:
    """The interval that everything uses."""
    found = effects(gains, member)
    return found.low, found.high


def students(gains: Array, member: Members, pseudo: float = 0.0, most: bool = False) -> Ends:
    """Student's over units with G - 1 degrees of freedom; `most`: with the spread of questions where that is larger."""
    n, units, mean = gains.shape[1], int(member.max()) + 1, gains.mean(axis=1)
    deviations = unit_totals(gains, member) - np.bincount(member) * mean[:, None]
    squares = (deviations**2).sum(axis=1) * units / (units - 1)
    if most:
        squares = np.maximum(squares, ((gains - mean[:, None]) ** 2).sum(axis=1) * n / (n - 1))
    width = student(units - 1, 0.025) * np.sqrt(squares + pseudo) / (n + 2 * bool(pseudo))
    return mean - width, mean + width


def bias_reduced(gains: Array, member: Members) -> Ends:
    """CR2 with Bell and McCaffrey's degrees of freedom, and nothing else."""
    n, mean, sizes = gains.shape[1], gains.mean(axis=1), np.bincount(member)
    deviations = unit_totals(gains, member) - sizes * mean[:, None]
    width = student(degrees_of(sizes), 0.025) * np.sqrt((deviations**2 / (1 - sizes / n)).sum(axis=1)) / n
    return mean - width, mean + width


EXACT: dict[str, Callable[[Array, Members], Ends]] = {
    "student, two more questions": ours,
    "student, half a gain and half a loss": lambda gains, member: students(gains, member, 1.0, most=True),
    "student": students,
    "CR2": bias_reduced,
}
DRAWN = ("percentile", "expanded", "BCa", "bootstrap-t")


def bootstraps(
    row: Array, member: Members, replicates: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """The intervals that need replicates, of one draw."""
    each = np.stack([unit_totals(row[None], member)[0], np.bincount(member)])
    # Units that are alike are drawn together.
    (totals, sizes), times = np.unique(each, axis=1, return_counts=True)
    units, n, mean = each.shape[1], len(row), row.mean()
    counts = rng.multinomial(units, times / units, size=replicates)
    drawn = counts @ sizes
    means = counts @ totals / drawn
    squares = (counts * (totals - sizes * means[:, None]) ** 2).sum(axis=1)
    errors = np.sqrt(squares + 1) / (drawn + 2)
    error = np.sqrt((times * (totals - sizes * mean) ** 2).sum() + 1) / (n + 2)
    z = student(units - 1, 0.025) * np.sqrt(units / (units - 1))
    t = np.quantile((means - mean) / errors, [0.975, 0.025])
    low, high = mean - t * error
    return {
        "percentile": tuple(np.quantile(means, [0.025, 0.975])),
        "expanded": tuple(np.quantile(means, [ndtr(-z), ndtr(z)])),
        "BCa": tuple(np.quantile(means, _bca_shares(means, mean, (row.sum() - each[0]) / (n - each[1])))),
        "bootstrap-t": (low, high),
    }


def _bca_shares(means: Array, mean: float, jackknife: Array) -> list[float]:
    deviations = jackknife.mean() - jackknife
    squares = (deviations**2).sum()
    acceleration = (deviations**3).sum() / (6 * squares**1.5) if squares > 0 else 0.0
    below = ((means < mean).mean() + (means <= mean).mean()) / 2
    bias = ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    return [float(ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))) for z in (-1.96, 1.96)]


def coverage(setting: Setting, draws: int, replicates: int = 400, drawn: int = 400, seed: int = 1) -> Row:
    """Count how often each interval holds the truth; without replicates, only those that need none."""
    rng = np.random.default_rng([seed, setting.questions, setting.clusters or 0])
    member = setting.member
    held: dict[str, dict[str, float]] = {}
    for world, shares in WORLDS.items():
        truth = float(shares @ GAINS)
        gains = setting.draw(shares, draws, rng)
        for name, interval in EXACT.items():
            low, high = interval(gains, member)
            held.setdefault(name, {})[world] = float(((low <= truth) & (truth <= high)).mean())
        if replicates:
            found = [bootstraps(row, member, replicates, rng) for row in gains[:drawn]]
            for name in DRAWN:
                inside = [each[name][0] <= truth <= each[name][1] for each in found]
                held.setdefault(name, {})[world] = float(np.mean(inside))
    return Row(setting, held)


def single_warned(setting: Setting, draws: int, seed: int = 2) -> dict[str, tuple[float, float]]:
    """In each world: how often intervals without a warning hold the truth, and the share of those with one."""
    rng, found = np.random.default_rng([seed, setting.questions, setting.clusters or 0]), {}
    for world, shares in WORLDS.items():
        truth = float(shares @ GAINS)
        judged = list(effects(setting.draw(shares, draws, rng), setting.member))
        clear = [each.low <= truth <= each.high for each in judged if not each.thin]
        found[world] = float(np.mean(clear)) if clear else 1.0, 1 - len(clear) / len(judged)
    return found


def table(rows: Iterator[Row], names: tuple[str, ...]) -> Iterator[str]:
    """The published table: the least coverage over worlds with many changes, and over those with few."""
    yield "| setting | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    many = tuple(world for world in WORLDS if world not in SPARSE)
    for row in rows:
        cells = (f"{100 * row.worst(name, many):.0f} / {100 * row.worst(name, SPARSE):.0f}" for name in names)
        yield f"| {row.setting} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=4000, help="draws of each world")
    parser.add_argument("--replicates", type=int, default=400, help="replicates of the bootstrap; 0 leaves it out")
    chosen = parser.parse_args()
    names = (*EXACT, *(DRAWN if chosen.replicates else ()))
    rows = (coverage(setting, chosen.draws, chosen.replicates) for setting in (*SINGLE, *CLUSTERED))
    for line in table(rows, names):
        print(line, flush=True)


if __name__ == "__main__":
    main()
