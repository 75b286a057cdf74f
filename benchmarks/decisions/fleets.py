"""Synthetic fleets whose truth is known: none of the null fleets has an ensemble that beats its best model.

Hard fleets are for the interval: the single model to beat is a lucky one, or folds do not choose what all questions do.

Every question has a hidden distribution of answers per model, gold first, and votes are drawn from it; a copy repeats
another model's very votes, some of them replaced by guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from swaplaw.votes.tally import Tally, tally_array

Array = npt.NDArray[Any]
Draw = Callable[[np.random.Generator, int, int], Array]
"""From a generator, a number of questions and of samples to votes: models x questions x options."""

KNOWN, UNKNOWN = 0.75, 0.2
"""Gold's share of the votes of a model that knows the answer, and of one that does not."""
FAVOURED = 0.7
"""What a model's favourite wrong answer gets of the rest."""
LURED = 0.6
"""How often that is the question's own lure, and not any wrong answer."""


def tally_of(votes: Array) -> Tally:
    """Count votes of models x questions x options, gold first."""
    models, n, _ = votes.shape
    names = [f"m{model:02d}" for model in range(models)], [f"q{question:06d}" for question in range(n)]
    return tally_array("synthetic", *names, votes)


def distributions(knows: Array, rng: np.random.Generator, options: int = 4, known: float = KNOWN) -> Array:
    """Answer distributions of models x questions: gold's share, and a favourite among the wrong answers."""
    gold = np.where(knows, known, UNKNOWN)
    lure = rng.integers(1, options, size=knows.shape[1])
    own = rng.integers(1, options, size=knows.shape)
    favourite = np.where(rng.random(knows.shape) < LURED, lure, own)
    rest = np.where(
        favourite[..., None] == np.arange(1, options), FAVOURED, (1 - FAVOURED) / (options - 2) if options > 2 else 0
    )
    return np.concatenate([gold[..., None], (1 - gold)[..., None] * rest], axis=-1)


def related(rng: np.random.Generator, n: int, samples: int, known: Sequence[float], alike: float) -> Array:
    """Models that know so much, and know the same questions the more they are alike."""
    common, own = rng.normal(size=n), rng.normal(size=(len(known), n))
    knows = np.sqrt(alike) * common + np.sqrt(1 - alike) * own < ndtri(np.array(known))[:, None]
    return rng.multinomial(samples, distributions(knows, rng))


def leader(rng: np.random.Generator, n: int, samples: int, options: int = 4, known: float = KNOWN) -> Array:
    """Votes of one model that knows 60% of the questions."""
    return rng.multinomial(samples, distributions(rng.random((1, n)) < 0.6, rng, options, known))


def guesses(rng: np.random.Generator, models: int, n: int, samples: int, options: int = 4) -> Array:
    """Votes at random."""
    return rng.multinomial(samples, np.full(options, 1 / options), size=(models, n))


def noisy_copies(rng: np.random.Generator, n: int, samples: int, models: int, noise: float = 0.3) -> Array:
    """A leader, and models that repeat its votes, some of them replaced by guesses."""
    first = leader(rng, n, samples)
    options = first.shape[2]
    copies = []
    for _ in range(models - 1):
        kept = rng.binomial(first[0], 1 - noise)
        lost = samples - kept.sum(axis=1)
        copies.append(kept + rng.multinomial(lost, np.full(options, 1 / options)))
    return np.concatenate([first, np.stack(copies)])


def junk(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """A leader, and models that guess."""
    return np.concatenate([leader(rng, n, samples), guesses(rng, models - 1, n, samples)])


def identical(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """One model under several names."""
    return np.repeat(leader(rng, n, samples), models, axis=0)


def unsure(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """Ten options; a leader that is unsure of them, and models that guess: noise could help, or seem to."""
    return np.concatenate([leader(rng, n, samples, 10, 0.35), guesses(rng, models - 1, n, samples, 10)])


def near_equal(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """Equally good models that mostly err on questions of their own: any may look best, and together they gain."""
    knows = np.sqrt(0.6) * rng.normal(size=n) + np.sqrt(0.4) * rng.normal(size=(models, n)) < ndtri(0.7)
    gold = np.where(knows, rng.beta(6, 2, size=knows.shape), rng.beta(2, 6, size=knows.shape))[..., None]
    return rng.multinomial(
        samples, np.concatenate([gold, (1 - gold) * rng.dirichlet((0.7,) * 3, knows.shape)], axis=-1)
    )


def fresh_copies(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """One model asked again under other names: its answers vary as its own would."""
    return rng.multinomial(samples, np.repeat(distributions(rng.random((1, n)) < 0.6, rng), models, axis=0))


def favourite_letters(rng: np.random.Generator, n: int, samples: int, models: int) -> Array:
    """A leader, and guessers with a letter that they mostly vote for: who shares it decides what two of them do."""
    first = leader(rng, n, samples)
    options = first.shape[2]
    # By letter, then in an order in which the letter that happens to be gold comes first.
    letters = np.random.default_rng(models).integers(options, size=models - 1)
    shares = np.where(np.arange(options) == letters[:, None], 0.8, 0.2 / (options - 1))
    votes = rng.multinomial(samples, np.repeat(shares[:, None], n, axis=1))
    order = (rng.integers(options, size=n)[:, None] + np.arange(options)) % options
    return np.concatenate([first, np.take_along_axis(votes, order[None], axis=2)])


NULL: dict[str, Callable[..., Array]] = {
    "noisy copies": noisy_copies,
    "junk": junk,
    "identical": identical,
    "ten options, unsure": unsure,
}
HARD: dict[str, Callable[..., Array]] = {
    "near-equal": near_equal,
    "fresh copies": fresh_copies,
    "favourite letters": favourite_letters,
}
MODELS, SAMPLES = (2, 5, 10), (1, 8, 24)


@dataclass(frozen=True)
class Fleet:
    """A fleet: its kind, models, and votes per model and question."""

    kind: str
    models: int
    samples: int

    def draw(self, rng: np.random.Generator, n: int, samples: int) -> Array:
        """Draw the fleet's votes."""
        return (NULL | HARD)[self.kind](rng, n, samples, self.models)

    def __str__(self) -> str:
        return f"{self.kind}, {self.models} models, {self.samples} votes"


def fleets(kinds: Iterable[str]) -> list[Fleet]:
    """Fleets of some kinds in every size."""
    return [Fleet(kind, models, samples) for kind in kinds for models in MODELS for samples in SAMPLES]


@dataclass(frozen=True)
class Gaining:
    """A fleet with a true gain."""

    known: tuple[float, ...]
    alike: float
    questions: int
    samples: int = 8

    def draw(self, rng: np.random.Generator, n: int, samples: int) -> Array:
        """Draw the fleet's votes."""
        return related(rng, n, samples, self.known, self.alike)
