"""Named things of one kind, in one place: an extension registers its own, and is then found like a built-in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from swaplaw.errors import InputError, listing, quote

Thing = TypeVar("Thing")


class Registry(Generic[Thing]):
    """What is known by name, in the order in which it was added.

    >>> shapes = Registry[int]("shape")
    >>> shapes.register("square", 4)
    >>> shapes["square"]
    4
    """

    def __init__(self, kind: str, built_in: Callable[[], None] | None = None) -> None:
        """Say what the things are called in errors; `built_in` registers those of the package, when first asked."""
        self._kind, self._things = kind, dict[str, Thing]()
        self._built_in = built_in

    def register(self, name: str, thing: Thing) -> None:
        """Add a thing under a name of its own."""
        self._load()
        if name in self._things:
            raise InputError(f"there is a {self._kind} {quote(name)} already; choose another name")
        self._things[name] = thing

    def unregister(self, name: str) -> None:
        """Take out what was registered."""
        del self._things[name]

    def __getitem__(self, name: str) -> Thing:
        self._load()
        if name not in self._things:
            raise InputError(f"there is no {self._kind} {quote(name)}; there are {listing(list(self._things), 20)}")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(list(self._things))

    @property
    def untouched(self) -> bool:
        """Whether nobody has asked for anything yet, or added anything: what is built in is not loaded."""
        return self._built_in is not None

    def _load(self) -> None:
        if (built_in := self._built_in) is not None:
            self._built_in = None
            built_in()
