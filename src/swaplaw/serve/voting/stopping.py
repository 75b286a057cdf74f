"""When sampling stops, and what is drawn until then: one rule for serving and for replaying recorded votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from swaplaw.serve.voting.ballot import Ballot
from swaplaw.serve.voting.order import wave
from swaplaw.serve.voting.statistical import error_bound

Stopped = Literal["exact", "statistical", "all"]


@dataclass(frozen=True)
class Stop:
    """Why sampling ended."""

    how: Stopped
    error_bound: float | None = None
    """Of a statistical stop: the probability, at most and under its prior, that the rest would change the outcome."""


@dataclass(frozen=True)
class StopRule:
    """When to stop; without `exact`, all samples are drawn."""

    exact: bool = True
    error: float | None = None
    """Also stop when a change has at most this probability."""
    rounds: int | None = None
    """Draw all that is left after this many rounds."""

    def stop(self, ballot: Ballot) -> Stop | None:
        """Whether to stop now, between rounds."""
        if not any(ballot.left):
            return Stop("all")
        if self.exact and ballot.decided:
            return Stop("exact")
        if self.error is not None and any(ballot.counts):
            bound = error_bound(ballot, enough=self.error)
            if bound <= self.error:
                return Stop("statistical", bound)
        return None

    def plan(self, ballot: Ballot, rounds: int, prices: Sequence[float] | None = None) -> list[int]:
        """What to draw next of each member, after so many rounds."""
        if not self.exact or (self.rounds is not None and rounds >= self.rounds):
            return ballot.left
        if self.error is not None:
            # The statistical stop may come long before a wave could decide, so it looks after each sample.
            return [min(1, left) for left in ballot.left]
        return wave(ballot, prices)
