"""Seeded choices that stay the same on every machine and in every Python version."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of SHA-256 blocks of (key, purpose, seed, counter).

    `random.Random` promises the same stream only for `random()`; evidence hashes must never move.
    """

    def __init__(self, purpose: str, seed: int, key: bytes = b"") -> None:
        self._key = hashlib.sha256(key + b"\0" + f"{purpose}:{seed}".encode()).digest()
        self._counter = 0
        self._pool = b""

    def bytes(self, count: int) -> bytes:
        """Return the next `count` bytes of the stream."""
        while len(self._pool) < count:
            self._pool += hashlib.sha256(self._key + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
        taken, self._pool = self._pool[:count], self._pool[count:]
        return taken

    def below(self, bound: int) -> int:
        """Return an integer from 0 to bound - 1 (the bias of 2^-64 matters to no story)."""
        return int.from_bytes(self.bytes(16), "big") % bound

    def between(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def pick_some(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options in a shuffled order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def word(self, length: int, alphabet: str = "abcdefghjkmnpqrstuvwxyz23456789") -> str:
        """Return a random word; the default alphabet leaves out letters that look alike."""
        return "".join(self.pick(alphabet) for _ in range(length))
