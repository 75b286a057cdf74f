"""Synthetic fleets with known truth: each question has a hidden answer distribution per model, votes are drawn from it.

Category 0 is gold. A model *knows* a question or leans to one wrong answer there; `shares` say how surely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from swaplaw.votes.tally import Tally, arrange

Array = npt.NDArray[Any]

KNOWN, UNKNOWN = 0.75, 0.2
"""Gold's share of a model's votes where it knows the answer, and where it does not."""
CATEGORIES = 4


def shares(knows: Array, rng: np.random.Generator) -> Array:
    """Answer distribution on each question: gold's share, and most of the rest on one favoured distractor."""
    gold = np.where(knows, KNOWN, UNKNOWN)
    out = np.empty((*knows.shape, CATEGORIES))
    out[..., 0] = gold
    favoured = rng.integers(1, CATEGORIES, size=knows.shape)
    for category in range(1, CATEGORIES):
        out[..., category] = (1 - gold) * np.where(favoured == category, 0.7, 0.3 / (CATEGORIES - 2))
    return out


def independent(rng: np.random.Generator, n: int, known: Sequence[float]) -> Array:
    """Models that know questions independently of each other: real gains from pooling near-peers."""
    return shares(rng.random((len(known), n)) < np.array(known)[:, None], rng)


def noisy_copies(rng: np.random.Generator, n: int, models: int, noise: float = 0.3, known: float = 0.6) -> Array:
    """One primary; the others answer as it does, with a part of their votes scattered over all answers."""
    primary = shares(rng.random((1, n)) < known, rng)
    return np.concatenate([primary, *[(1 - noise) * primary + noise / CATEGORIES] * (models - 1)])


def junk(rng: np.random.Generator, n: int, models: int, known: float = 0.6) -> Array:
    """One primary; the others guess."""
    primary = shares(rng.random((1, n)) < known, rng)
    return np.concatenate([primary, np.full((models - 1, n, CATEGORIES), 1 / CATEGORIES)])


def vote_counts(world: Array, samples: int, rng: np.random.Generator) -> Array:
    """Draw every model's votes on every question: models x questions x categories."""
    return rng.multinomial(samples, world)


def tally_of(counts: Array, clusters: Array | None = None) -> Tally:
    """Tally counts of models x questions x categories, gold first."""
    models, n, categories = counts.shape
    rivals, spots = arrange(np.repeat(np.arange(n), categories - 1), n, [f"w{k}" for k in range(1, categories)] * n)
    entries = [row.reshape(-1) for row in counts[:, :, 1:]]
    voted = [np.flatnonzero(row) for row in entries]
    return Tally(
        "synthetic",
        tuple(f"m{model}" for model in range(models)),
        tuple(f"q{question:06d}" for question in range(n)),
        counts.sum(axis=2),
        counts[:, :, 0],
        rivals,
        np.concatenate([[0], np.cumsum([len(row) for row in voted])]),
        np.concatenate([spots[row] for row in voted]),
        np.concatenate([row[places] for row, places in zip(entries, voted, strict=True)]),
        None if clusters is None else tuple(f"c{cluster}" for cluster in clusters),
    )


def narrow_leader(
    rng: np.random.Generator, options: Sequence[int], *, questions: int, samples: int, guessers: int = 4
) -> pl.DataFrame:
    """A leader that is narrowly wrong on most questions, and models that guess among each question's own options.

    Questions have one of several numbers of options. Any guess helps the leader, and nobody else knows anything.
    """
    number = rng.choice(np.array(options), questions)
    gold = rng.integers(0, number)
    wrong = (gold + rng.integers(1, number)) % number
    right = rng.random(questions) < 0.35
    world = np.arange(max(options)) < number[:, None]
    world = world * (np.where(right, 0.3, 0.2) / number)[:, None]
    world[np.arange(questions), gold] += np.where(right, 0.7, 0.34)
    world[np.arange(questions), wrong] += np.where(right, 0, 0.46)
    ballots = [[rng.choice(max(options), samples, p=row / row.sum()) for row in world]]
    ballots += [[rng.integers(0, own, samples) for own in number] for _ in range(guessers)]
    letters = np.array(list("ABCDEFGHIJ"))
    shape = (1 + guessers, questions, samples)
    model, question, _ = (axis.ravel() for axis in np.indices(shape))
    return pl.DataFrame(
        {
            "question": [f"q{one:04d}" for one in question],
            "model": [f"m{one}" for one in model],
            "answer": letters[np.array(ballots).ravel()],
            "gold": letters[gold[question]],
            "options": number[question],
        }
    )
