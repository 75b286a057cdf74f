"""What an upper layer does for a lower one: it says so when it is there, so that arrows keep pointing one way.

The importers open files for whoever takes votes, and the report draws results that know nothing of charts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_provided: dict[str, Callable[..., Any]] = {}


def provide(service: str, function: Callable[..., Any]) -> None:
    """Offer a service under a name."""
    _provided[service] = function


def service(name: str) -> Callable[..., Any] | None:
    """Find a service; None where nobody offers it."""
    return _provided.get(name)
