"""When sampling stops, and what is drawn until then: one rule for serving and for replaying recorded votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal

from swaplaw.errors import InputError, quote
from swaplaw.serve.voting.ballot import Ballot
from swaplaw.serve.voting.order import heaviest, wave
from swaplaw.serve.voting.statistical import error_bound, fewest
from swaplaw.serve.voting.terms import Terms

Stopped = Literal["exact", "statistical", "cascade", "all"]
"""What ended the sampling; `cascade`: the primary's lead, so that the others were not asked."""
ROUNDS = 2
"""Waves of an exact stop before the rest is drawn at once, unless a policy says otherwise: see `swaplaw replay`."""


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


def stop_rule(serving: Mapping[str, Any]) -> StopRule:
    """The rule that `serving` states: exact within two rounds where it says nothing of `stop`."""
    stop = serving.get("stop", {"rounds": ROUNDS})
    kinds: dict[str, type | tuple[type, ...]] = {"exact": bool, "error": float, "rounds": int}
    sound = isinstance(stop, Mapping) and all(
        key in kinds and (value is None or isinstance(value, kinds[key])) for key, value in stop.items()
    )
    if not sound:
        raise InputError(f"serving.stop is {quote(stop)}, expected an object with exact, error or rounds")
    return StopRule(**stop)


class Sampling:
    """What to draw next of one question, round by round, until the rule lets it stop."""

    def __init__(self, rule: StopRule, terms: Terms, prices: Sequence[float] | None = None) -> None:
        self._rule, self._terms, self._prices = rule, terms, prices
        self.rounds = 0
        """How often the question has waited for its slowest sample."""
        self._before = 0
        """Rounds of a cascade that asked its primary alone: those that ask all are counted afresh."""
        self._all = terms.threshold is None
        self._cuttable = False

    def next(self, ballot: Ballot) -> Stop | list[int]:
        """Stop, or draw these samples of each member."""
        if (stop := self._stop(ballot)) is not None:
            return stop
        asks = self._terms.asks_others(ballot)
        if asks and not self._all:
            self._all, self._before = True, self.rounds
        self._cuttable = self.at_once
        plan = self._plan(ballot) if asks else self._primary(ballot)
        self.rounds += 1
        return plan

    def cut(self, ballot: Ballot) -> bool:
        """Whether samples that are on their way are no longer needed.

        All of a wave are needed, as fewer could not have decided; only the rest, drawn at once, can be cut short.
        """
        return self._rule.exact and self._cuttable and self._terms.settled(ballot)

    @property
    def at_once(self) -> bool:
        """Whether the rest is drawn in one go."""
        rule = self._rule
        return not rule.exact or (rule.rounds is not None and self.rounds - self._before >= rule.rounds)

    def _stop(self, ballot: Ballot) -> Stop | None:
        asks = self._terms.asks_others(ballot)
        if asks is False and ((self._rule.exact and self._terms.settled(ballot)) or not ballot.left[0]):
            return Stop("cascade")
        if not any(ballot.left):
            return Stop("all")
        if self._rule.exact and self._terms.settled(ballot):
            return Stop("exact")
        if self._rule.error is not None and asks and any(ballot.counts):
            bound = error_bound(ballot, enough=self._rule.error)
            if bound <= self._rule.error and not any(self._terms.quorum_left(ballot)):
                return Stop("statistical", bound)
        return None

    def _plan(self, ballot: Ballot) -> list[int]:
        if self.at_once:
            return ballot.left
        likely = wave(ballot, self._prices) if self._rule.error is None else fewest(ballot, self._rule.error)
        planned = [max(pair) for pair in zip(likely, self._terms.quorum_left(ballot), strict=True)]
        return planned if any(planned) else self._to_be_sure(ballot)

    def _to_be_sure(self, ballot: Ballot) -> list[int]:
        """The leader is known unless a member goes down, or wants a larger share: draw the fewest that could tell."""
        terms = self._terms
        lacking = [
            min(left, need - ballot.cast_by(member)) if terms.may_fall(ballot, member) else 0
            for member, (left, need) in enumerate(zip(ballot.left, terms.needs, strict=True))
        ]
        if any(lacking):
            return lacking
        total = sum((ballot.weights[member] for member in ballot.members), Fraction(0)) * ballot.scale
        bar, own = terms.plurality * total, max(ballot.scores().values())
        short, spare = bar - own, own + ballot.standing().remaining - bar
        return heaviest(ballot, max(1, min(ceil(short), floor(spare) + 1)), self._prices)

    def _primary(self, ballot: Ballot) -> list[int]:
        """Draw the fewest of the primary's samples that could show on which side of the threshold its lead ends."""
        own, left = ballot.alone(0), ballot.left[0]
        others = [0] * (len(ballot.samples) - 1)
        if self.at_once or self._terms.threshold is None or self._terms.asks_others(ballot) is False:
            return [left, *others]
        lead = own.standing().lead // own.units[0]
        bar = self._terms.threshold * own.samples[0]
        above = floor((bar - lead + left) / 2) + 1
        below = ceil((lead + left - bar) / 2)
        lacking = self._terms.needs[0] - own.cast_by(0)
        return [min(left, max(1, lacking if above <= 0 else min(above, max(below, 1)))), *others]
