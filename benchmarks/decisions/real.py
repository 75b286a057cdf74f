"""Decisions on real votes: made on one half of the questions, scored on the other, again and again.

A gain is over the best single model of the first half, so always staying single has 0 by definition. Halves overlap
from split to split, so the standard error is that of questions: each question's gain, averaged over the splits in
which it was scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import swaplaw as sl
from benchmarks.decisions.competitors import DECIDERS, ranked
from benchmarks.decisions.simulation import Array, score
from swaplaw.decide.choice import alone
from swaplaw.importers.record import Options
from swaplaw.votes.tally import Tally

SEED = 5
MOST_QUESTIONS = 1_500
SUBJECTS = 4
FLEETS = 3
"""Random fleets of the large dataset, and models of each."""
FLEET_SIZE = 5


@dataclass(frozen=True)
class Row:
    """One way to decide on one dataset."""

    dataset: str
    decider: str
    splits: int
    gain: float
    error: float
    """Question-level standard error of the mean gain."""
    worst: float
    """The worst split."""
    deployed: float
    """Share of splits in which more than one model was deployed."""


def datasets(folder: Path) -> Iterator[tuple[str, Tally]]:
    """Every real dataset at hand, some of them in parts."""
    yield "renze-temperature", _shared(sl.read_votes(str(folder / "renze-temperature.parquet")).tally())
    # Ids repeat from exam to exam; what no column tells apart is left out.
    options = Options(question=("cluster", "question", "gold"), drop_ambiguous=True)
    yield "renze-exams", _shared(sl.import_votes(folder / "renze-exams.parquet", options).votes.tally())
    yield "reasoning-gym", _some(_shared(sl.read_votes(str(folder / "reasoning-gym.parquet")).tally()))
    infinity = sl.read_votes(str(folder / "best-of-infinity.parquet"))
    for name in infinity.datasets:
        yield name, _shared(infinity.tally(name))
    yield from _mmlu(sl.read_votes(str(folder / "mmlu-pro.parquet")).tally())


def _mmlu(whole: Tally) -> Iterator[tuple[str, Tally]]:
    rng = np.random.default_rng(SEED)
    for number in range(FLEETS):
        models = sorted(rng.choice(whole.models, FLEET_SIZE, replace=False).tolist())
        yield f"mmlu-pro, fleet {number + 1}", _some(_shared(whole.select(models=models)))
    names = np.array(whole.clusters)
    leading = [whole.models[model] for model in ranked(_shared(whole))[:8]]
    yield "mmlu-pro, eight best", _some(_shared(whole.select(models=sorted(leading))))
    for subject in sorted(set(whole.clusters or ()))[:SUBJECTS]:
        part = whole.select(models=sorted(leading), questions=names == subject)
        yield f"mmlu-pro, {subject}", _some(_shared(part))


def _shared(tally: Tally) -> Tally:
    """The questions that all models answered, each by itself: splits are of questions."""
    kept = tally.select(questions=np.logical_and.reduce(tally.answered))
    return kept if kept.clusters is None else _without_clusters(kept)


def _without_clusters(tally: Tally) -> Tally:
    return replace(tally, clusters=None)


def _some(tally: Tally) -> Tally:
    n = len(tally.questions)
    if n <= MOST_QUESTIONS:
        return tally
    mask = np.zeros(n, dtype=bool)
    mask[np.random.default_rng(SEED).choice(n, MOST_QUESTIONS, replace=False)] = True
    return tally.select(questions=mask)


def compare(name: str, tally: Tally, splits: int) -> Iterator[Row]:
    """Every way to decide on one dataset."""
    n = len(tally.questions)
    halves = [np.random.default_rng([SEED, number]).permutation(n) < n // 2 for number in range(splits)]
    for decider, decide in DECIDERS.items():
        total, times, means, deployed = np.zeros(n), np.zeros(n), [], 0
        for train in halves:
            half = tally.select(questions=train)
            choice, single = decide(half), alone(ranked(half)[0])
            gains: Array = (score(tally, choice) - score(tally, single))[~train]
            total[~train] += gains
            times[~train] += 1
            means.append(float(gains.mean()))
            deployed += len(choice.members) > 1
        seen = times > 0
        each = total[seen] / times[seen]
        yield Row(
            name,
            decider,
            splits,
            float(np.mean(means)),
            float(each.std(ddof=1) / np.sqrt(len(each))),
            min(means),
            deployed / splits,
        )
