"""What was derived, kept as long as there is room: a fleet of any size costs no more than this beyond its counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any


class Kept:
    """Derived things by key, as many as fit in a number of bytes; what was used longest ago makes room.

    Threads may share one without locks: the worst that happens is that something is derived twice.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._found: dict[Hashable, tuple[Any, int]] = {}

    def get(self, key: Hashable, derive: Callable[[], tuple[Any, int]]) -> Any:
        """Look up, or derive (the thing and its bytes)."""
        found = self._found.pop(key, None)
        if found is None:
            found = derive()
            self._make_room(self.room - found[1])
        self._found[key] = found
        return found[0]

    def _make_room(self, rest: int) -> None:
        used = sum(size for _, size in list(self._found.values()))
        for oldest in list(self._found):
            if used <= rest:
                break
            used -= self._found.pop(oldest, (None, 0))[1]

    def __getstate__(self) -> int:
        """Copies and other processes derive their own: only what cannot be derived is worth sending."""
        return self.room

    def __setstate__(self, room: int) -> None:
        self.__init__(room)  # type: ignore[misc]
