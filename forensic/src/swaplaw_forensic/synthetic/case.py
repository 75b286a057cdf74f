"""What a seeded challenge is made of: the evidence, the questions, and the answers that only grading may see."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, cast

from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.key import secret_key

KINDS = ("synthetic-capture", "synthetic-disk", "synthetic-eventlog", "synthetic-host")
DAYS = {1: 3, 2: 6, 3: 9}
"""How long the evidence of a level reaches back."""


@dataclass(frozen=True)
class Asked:
    """A question that a case can ask, with its gold table."""

    topic: str
    """What a solver calls it; no agent sees it."""
    text: str
    type: str
    tier: str
    gold: dict[str, Any]
    level: int = 1
    """1: one place to look; 2: several steps; 3: something coded or hidden, or evidence from two sources."""
    builds_on: str = ""
    """The topic whose answer is needed first."""


def said(
    topic: str, text: str, *accept: str, level: int = 1, on: str = "", tier: str = "normalised", **gold: Any
) -> Asked:
    """Ask for a text."""
    return Asked(topic, text, "text", tier, {"accept": list(accept), **gold}, level, on)


def counted(topic: str, text: str, number: int, level: int = 1, on: str = "", **gold: Any) -> Asked:
    """Ask for a number."""
    return Asked(topic, text, "number", "number", {"accept": [str(number)], **gold}, level, on)


def timed(topic: str, text: str, when: datetime, level: int = 1, on: str = "") -> Asked:
    """Ask for a time."""
    gold = {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 2}
    return Asked(topic, text, "time", "time", gold, level, on)


@dataclass(frozen=True)
class Case:
    """The story, what is asked in this case's order, and the evidence, which is made when it is first needed."""

    names: tuple[str, ...]
    """Of the evidence files."""
    prompt: str
    asked: tuple[Asked, ...]
    make: Callable[[], tuple[bytes, ...]]
    """Makes both sources; below the hardest level the second has no name, and is left out."""
    procedure: dict[str, str] = field(default_factory=dict)
    """What the intruder did, as the seed had it: how they came in, stayed, and took things away."""

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Return the evidence by name."""
        return dict(zip(self.names, self.make(), strict=False))


def choose(dice: Dice, pool: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return the questions of a case: all of the pool but one, in an order of its own."""
    return tuple(dice.pick_some(pool, len(pool) - 1))


def working_days(dice: Dice, start: datetime, days: int, number: int) -> Iterator[datetime]:
    """Yield a number of moments a day in order, most of them in office hours."""
    for day in range(days):
        hours = sorted(
            dice.between(7 * 3600, 19 * 3600) if dice.below(5) else dice.below(86_400) for _ in range(number)
        )
        yield from (start + timedelta(days=day, seconds=second) for second in hours)


def build_case(name: str, seed: int, level: int = 1) -> Case:
    """Build a synthetic challenge: the same bytes for the same key, seed and level."""
    if name not in KINDS:
        raise InputError(f"challenge {quote(name)} is called synthetic, but only {listing(list(KINDS))} can be built")
    return _build(name, seed, level, secret_key())


@lru_cache(maxsize=4)
def _build(name: str, seed: int, level: int, key: bytes) -> Case:
    builder = import_module(f"swaplaw_forensic.synthetic.{name.partition('-')[2]}")
    return cast(Case, builder.build(Dice(f"{name}:{level}", seed, key), level))
