"""What a seeded challenge is made of: the evidence, the questions, and the answers that only grading may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.key import secret_key

BUILDERS = {
    "synthetic-browser": "swaplaw_forensic.synthetic.browser",
    "synthetic-capture": "swaplaw_forensic.synthetic.capture",
    "synthetic-disk": "swaplaw_forensic.synthetic.disk",
    "synthetic-eventlog": "swaplaw_forensic.synthetic.eventlog",
    "synthetic-ext4": "swaplaw_forensic.synthetic.ext4",
    "synthetic-host": "swaplaw_forensic.synthetic.host",
    "synthetic-registry": "swaplaw_forensic.synthetic.registry",
}


@dataclass(frozen=True)
class Asked:
    """A question that a case can ask, with its gold table."""

    topic: str
    """What its solution is called; no agent sees it."""
    text: str
    type: str
    tier: str
    gold: dict[str, Any]
    level: int = 1
    """1: one tool call; 2: several steps; 3: something hidden must be noticed or decoded."""
    builds_on: str = ""
    """The topic whose answer is needed first."""


@dataclass(frozen=True)
class Case:
    """Evidence files by name, the story, and what is asked, in this case's order."""

    files: dict[str, bytes]
    prompt: str
    asked: tuple[Asked, ...]


def choose(dice: Dice, pool: Sequence[Asked], *, leave_out: int) -> tuple[Asked, ...]:
    """Return the questions of a case: some of the pool, in an order of its own."""
    kept = dice.pick_some(pool, len(pool) - leave_out)
    return tuple(kept)


def build_case(name: str, seed: int) -> Case:
    """Build a synthetic challenge in memory: the same bytes for the same key and seed, everywhere."""
    if name not in BUILDERS:
        raise InputError(
            f"challenge {quote(name)} is called synthetic, but only {listing(list(BUILDERS))} can be built"
        )
    return _build(name, seed, secret_key())


@lru_cache(maxsize=16)
def _build(name: str, seed: int, key: bytes) -> Case:
    case: Case = import_module(BUILDERS[name]).build(Dice(name, seed, key))
    return case
