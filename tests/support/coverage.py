"""How often the interval of a mean holds the truth, in worlds that look like votes.

Gains on questions are drawn from worlds that look like votes: most questions don't change. In clusters, the shares of
changes vary from cluster to cluster (a Dirichlet draw with a given intraclass correlation); on the real votes of this
repository the correlation of lift within clusters is -0.07 to 0.11, that of differences between models up to 0.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from swaplaw.evidence.interval import effects

Array = npt.NDArray[np.floating[Any]]
Members = npt.NDArray[np.int64]

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


def coverage(setting: Setting, draws: int, seed: int = 1) -> dict[str, float]:
    """The share of draws in which the interval holds the truth, in each world."""
    rng = np.random.default_rng([seed, setting.questions, setting.clusters or 0])
    held = {}
    for world, shares in WORLDS.items():
        truth = float(shares @ GAINS)
        found = effects(setting.draw(shares, draws, rng), setting.member)
        held[world] = float(((found.low <= truth) & (truth <= found.high)).mean())
    return held


def single_warned(setting: Setting, draws: int, seed: int = 2) -> dict[str, tuple[float, float]]:
    """In each world: how often intervals without a warning hold the truth, and the share of those with one."""
    rng, found = np.random.default_rng([seed, setting.questions, setting.clusters or 0]), {}
    for world, shares in WORLDS.items():
        truth = float(shares @ GAINS)
        judged = list(effects(setting.draw(shares, draws, rng), setting.member))
        clear = [each.low <= truth <= each.high for each in judged if not each.thin]
        found[world] = float(np.mean(clear)) if clear else 1.0, 1 - len(clear) / len(judged)
    return found
