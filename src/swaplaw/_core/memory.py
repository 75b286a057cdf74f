"""Whether work would fit into memory: better said beforehand, in a line, than found out by a crash."""

from __future__ import annotations

import re
from pathlib import Path

from swaplaw.errors import InputError

_MEMINFO, _STATUS = Path("/proc/meminfo"), Path("/proc/self/status")


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
    kinds = {"VmSize": resource.RLIMIT_AS, "VmData": resource.RLIMIT_DATA}
    limits = {name: resource.getrlimit(kind)[0] for name, kind in kinds.items()}
    known = [limit - _used(name) for name, limit in limits.items() if limit != resource.RLIM_INFINITY]
    return min([*(max(0, left) for left in known), *([] if free is None else [free])], default=None)


def _used(name: str) -> int:
    """What this process has taken of a limit already; 0 where the system does not tell."""
    try:
        found = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    except OSError:
        found = None
    return 0 if found is None else 1024 * int(found[1])


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
