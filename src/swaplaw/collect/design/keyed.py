"""Randomness that a key alone determines: the same on every machine, in every process, in any order of asking."""

from __future__ import annotations

import json
from hashlib import blake2b


def keyed(*key: int | str) -> int:
    """Return a whole number of 256 bits that the key determines."""
    return int.from_bytes(blake2b(json.dumps(key).encode(), digest_size=32).digest())
