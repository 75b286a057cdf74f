"""Whether work would fit into memory: better said beforehand, in a line, than found out by a crash."""

from __future__ import annotations

import re
from pathlib import Path

from swaplaw.errors import InputError

_MEMINFO = Path("/proc/meminfo")


def available_bytes() -> int | None:
    """Memory that this process could still get; None where the system does not tell."""
    try:
        found = re.search(r"MemAvailable:\s*(\d+) kB", _MEMINFO.read_text())
    except OSError:
        found = None
    free = None if found is None else 1024 * int(found[1])
    return _within_limits(free)


def _within_limits(free: int | None) -> int | None:
    """What the limits of this process leave of it."""
    try:
        import resource
    except ImportError:  # Not on Windows.
        return free
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    known = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return min([*known, *([] if free is None else [free])], default=None)


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that would take more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes, about.
    what : str
        What would be held.
    advice : str
        What to do instead.

    Raises
    ------
    InputError
        If that is more than the process could get.

    Examples
    --------
    >>> require_memory(1e6, "a small table", "ask for less")
    """
    free = available_bytes()
    if free is not None and needed > free:
        raise InputError(f"{what} would take about {_gigabytes(needed)}, and {_gigabytes(free)} are free: {advice}")


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.0f} MB"
