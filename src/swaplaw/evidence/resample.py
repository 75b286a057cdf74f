"""The bootstrap: draw questions, or whole clusters where there are any; never single votes, and pairs stay paired.

A draw says how often each unit was drawn. Draws come in blocks of fixed size, each from a generator of its own that
the seed and the block's number determine: so the same seed gives the same draws, and more draws begin with the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.errors import InputError
from swaplaw.evidence.units import Unit, require_several, resampling_units
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

DEFAULT_REPLICATES = 10_000
BLOCK = 64
"""Draws that share a generator. Changing this changes every draw."""


@dataclass(frozen=True)
class Resampler:
    """Draws of units with replacement, as many as there are units."""

    member: Ints = field(repr=False)
    """The unit that each question belongs to."""
    unit: Unit
    seed: int = 0
    replicates: int = DEFAULT_REPLICATES

    @cached_property
    def units(self) -> int:
        """How many questions or clusters there are to draw from."""
        return int(self.member.max()) + 1

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: everything needed to draw the same again."""
        return {"unit": self.unit, "units": self.units, "replicates": self.replicates, "seed": self.seed}

    def batches(self) -> Iterator[Ints]:
        """How often each unit is drawn, a block of draws at a time: draws x units."""
        for first in range(0, self.replicates, BLOCK):
            rng = np.random.default_rng([self.seed, first // BLOCK])
            drawn = rng.integers(self.units, size=(BLOCK, self.units)) + self.units * np.arange(BLOCK)[:, None]
            counts = np.bincount(drawn.reshape(-1), minlength=BLOCK * self.units).reshape(BLOCK, self.units)
            yield counts[: self.replicates - first]


def resampler(
    votes: VotesLike, *, by: Unit | None = None, seed: int = 0, replicates: int = DEFAULT_REPLICATES
) -> Resampler:
    """Resample a tally's clusters where it has several, else its questions.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    by : {"question", "cluster"}, optional
        What to resample instead.
    seed : int
        The same seed gives the same draws.
    replicates : int
        How many draws.

    Returns
    -------
    Resampler
        Draws of units with replacement.

    Raises
    ------
    InputError
        If there is nothing to resample, or `replicates` is less than 1.

    Examples
    --------
    >>> import swaplaw as sl
    >>> resampler(sl.demo_votes(), replicates=100)
    Resampler(unit='cluster', seed=0, replicates=100)
    """
    if replicates < 1:
        raise InputError(f"there cannot be {replicates} bootstrap replicates: ask for 1 or more (better 1,000 or more)")
    if seed < 0:
        raise InputError(f"seed {seed} is negative: give 0 or more")
    tally = inputs.tally(votes)
    units = resampling_units(tally, by)
    require_several(tally, units)
    return Resampler(units.member, units.kind, seed, replicates)
