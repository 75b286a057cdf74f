"""Synthetic fleets of any size, made model by model: nothing that is not voted for is ever held.

Drawing every vote of 1,000 models on 100,000 questions 24 times would take hours. Instead whole ballots are drawn once,
many for each chance of being right, and every model takes one of these on every question: its own skill, leaning and
luck choose which. A lure takes half of a model's wrong votes on a question. Questions have up to three lures, and most
models fall for the first one: so models that are both wrong may agree or not, and a vote of both may repair either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.votes.tally import Tally, tally_array

LEVELS, DRAWS = 64, 512
"""Chances of being right that ballots are drawn for, and ballots drawn for each."""
LURES, FIRST_LURE = 3, 0.6
"""Lures of a question, and how often a model falls for the first."""


def synthetic(models: int, questions: int, samples: int = 24, options: int = 10, seed: int = 0) -> Tally:
    """A fleet in which every model has `samples` votes on every question: gold, rivals and null, `options` and one."""
    rng = np.random.default_rng(seed)
    ballots = _ballots(samples, options, rng)
    names = tuple(f"synthetic-{number:04d}" for number in range(models))
    ids = tuple(f"question-{number:06d}" for number in range(questions))
    empty = tally_array("synthetic", names[:1], ids, np.zeros((1, questions, options + 1), dtype=np.int8))
    votes = np.full((models, questions), samples, dtype=np.uint8)
    gold = np.empty((models, questions), dtype=np.uint8)
    return empty.with_counts(names, votes, gold, _members(ballots, gold, rng))


def _ballots(samples: int, options: int, rng: np.random.Generator) -> Ints:
    """Counts of gold, the lure, the other wrong answers and null: levels x draws x categories."""
    chance = (np.arange(LEVELS) + 0.5) / LEVELS
    null = 0.03
    other = np.full(options - 2, 1 / (options - 2)) if options > 2 else np.zeros(0)
    shares = [[p, (1 - p) / 2, *(1 - p) / 2 * other, null] for p in chance]
    return np.stack([rng.multinomial(samples, np.array(each) / sum(each), DRAWS) for each in shares]).astype(np.uint8)


def _members(ballots: Ints, gold: Ints, rng: np.random.Generator) -> Iterator[Ints]:
    """Fill in each model's votes for gold, and give those for its rivals."""
    models, questions = gold.shape
    lures = min(LURES, ballots.shape[2] - 2)
    difficulty = rng.normal(0, 1.2, questions)
    for model, skill in enumerate(rng.permutation(np.linspace(1.2, -0.6, models))):
        leaning = skill - difficulty + rng.normal(0, 1, questions)
        level = (LEVELS / (1 + np.exp(-2 * leaning))).astype(np.intp).clip(max=LEVELS - 1)
        ballot = ballots.reshape(LEVELS * DRAWS, -1).take(level * DRAWS + rng.integers(0, DRAWS, questions), axis=0)
        lure = np.where(rng.random(questions) < FIRST_LURE, 1, rng.integers(1, lures + 1, questions))
        every = np.arange(questions)
        ballot[every, 1], ballot[every, lure] = ballot[every, lure], ballot[every, 1].copy()
        gold[model] = ballot[:, 0]
        yield np.ascontiguousarray(ballot[:, 1:].T).reshape(-1)
