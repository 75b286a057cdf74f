"""The audit of weights that a program with one large constant calls optimal: what it claims, gets, and misses.

    python -m benchmarks.audit tests/data/votes > table.md

The program is that of "Best-of-infinity" (Komiyama, Oba and Oyamada, ICLR 2026), written anew from its description: a
switch per question, weights on the simplex, and for every rival

    sum of weights times (gold's share less the rival's) >= -10,000 (1 - switch).

Its solver is the one that the original uses, HiGHS, by way of SciPy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import swaplaw as sl
from swaplaw.law.weights import vote
from swaplaw.panels.exact import FleetOptimum, fleet_optimum
from swaplaw.panels.milp import quiet_solver
from swaplaw.votes.tally import Tally

CONSTANT = 10_000.0
SMALLEST = 1e-6
"""Margins below this are left out of the program, as the original does."""
DIGITS = 4
"""Decimals that weights are published with."""
FILES = ("best-of-infinity.parquet", "aime.parquet")


@dataclass(frozen=True)
class Audited:
    """One fleet: what the loose program says, and what is so. Scores are in questions."""

    dataset: str
    models: int
    questions: int
    claimed: int
    """Questions that the program counts as won."""
    raw: Fraction
    """What its weights get, scored exactly as they are."""
    published: Fraction
    """What they get when rounded as they are published."""
    best: FleetOptimum

    def line(self) -> str:
        """A row of the table."""
        optimum = self.best.accuracy * self.questions
        cells = (self.claimed, *(f"{float(x):g}" for x in (self.raw, self.published, optimum)), self.best.proof)
        return f"| {self.dataset} | {self.models} | {self.questions} | {' | '.join(map(str, cells))} |"


def audit(tally: Tally) -> Audited:
    """Hold the loose program's weights against the best there are."""
    claimed, weights = loose_program(tally)
    raw = [Fraction(weight) for weight in weights]
    rounded = [Fraction(round(weight, DIGITS)).limit_denominator(10**DIGITS) for weight in weights]
    best = fleet_optimum(tally)
    own, told = score(tally, raw), score(tally, rounded)
    return Audited(tally.dataset, len(tally.models), len(tally.questions), claimed, own, told, best)


def score(tally: Tally, weights: Sequence[Fraction]) -> Fraction:
    """Questions that the weighted vote gets right, exactly."""
    members = [place for place, weight in enumerate(weights) if weight > 0]
    pooled = vote(tally, members, [weights[place] for place in members])
    return Fraction(pooled.total, pooled.denominator)


def loose_program(tally: Tally) -> tuple[int, list[float]]:
    """Questions that the program counts as won, and the weights it gives."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    models, questions = len(tally.models), len(tally.questions)
    owner = tally.rivals.question
    shares = np.stack([tally.dense(m) / tally.votes[m][owner] for m in range(models)], axis=1)
    margins = (tally.gold / tally.votes).T[owner] - shares
    kept = (shares > 0).any(axis=1) & (np.abs(margins) > SMALLEST).any(axis=1)
    margins, owner = np.where(np.abs(margins) > SMALLEST, margins, 0)[kept], owner[kept]
    switches = np.zeros((len(owner), questions))
    switches[np.arange(len(owner)), owner] = -CONSTANT
    goal = np.concatenate([np.zeros(models), np.ones(questions)])
    with quiet_solver():
        found = milp(
            -goal,
            constraints=[
                LinearConstraint(np.hstack([margins, switches]), -CONSTANT, np.inf),
                LinearConstraint((1 - goal)[None], 1, 1),
            ],
            integrality=goal,
            bounds=Bounds(0, 1),
        )
    assert found.x is not None
    assert found.fun is not None
    return round(-float(found.fun)), [max(0.0, float(weight)) for weight in found.x[:models]]


def fleets(folder: Path) -> Iterator[Tally]:
    """The published votes that are at hand: whole fleets, and the most accurate five and eight of each."""
    for file in FILES:
        votes = sl.read_votes(folder / file)
        for dataset in votes.datasets:
            whole = votes.tally(dataset)
            strongest = sorted(range(len(whole.models)), key=lambda model: -whole.scores[model].total)
            for size in dict.fromkeys((5, min(8, len(strongest)), len(strongest))):
                models = sorted(whole.models[model] for model in strongest[:size])
                yield whole.select(models=models)


def main(folder: Path) -> None:
    """Print the table as Markdown."""
    print("| dataset | models | questions | claimed | its weights | as published | best weights | proof |")
    print("|:--|--:|--:|--:|--:|--:|--:|:--|")
    for tally in fleets(folder):
        print(audit(tally).line(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
