"""What a command left behind when it ended."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


Run = Callable[..., Finished]
"""The fixture `swaplaw`: runs a command line in this process."""
