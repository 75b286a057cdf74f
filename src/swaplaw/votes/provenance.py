"""How votes came about, as files of votes record it, so that what is deployed is read as what was judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from swaplaw._files import is_complaint

PROVENANCE = "swaplaw"
"""The key of a Parquet file's metadata under which its provenance stands, as JSON."""
COUNTS = "counts"
"""What says there that rows are counts: each stands for as many votes as its column `votes` says."""
ORIGINS = ("reader", "temperature", "truncated")
"""What is recorded of each vote's making: its reader, the temperature, and what a truncated completion counts as."""


def provenance_in(file: Path) -> dict[str, Any]:
    """Read the provenance in a Parquet file's metadata; empty where there is none."""
    import polars as pl

    try:
        found = json.loads(pl.read_parquet_metadata(file).get(PROVENANCE, "{}"))
    except BaseException as error:
        if not (is_complaint(error) or isinstance(error, ValueError | RecursionError)):
            raise
        return {}
    return found if isinstance(found, dict) else {}


def origin_in(file: Path) -> dict[str, Any]:
    """What the provenance in a Parquet file says of how its votes came about."""
    provenance = provenance_in(file)
    return {name: provenance[name] for name in ORIGINS if provenance.get(name) is not None}


def agreed(origins: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What is the same for all votes of several sources.

    >>> agreed([{"temperature": 1.0, "truncated": "abstain"}, {"temperature": 0.0, "truncated": "abstain"}])
    {'truncated': 'abstain'}
    """
    parts = list(origins)
    first = parts[0] if parts else {}
    return {name: value for name, value in first.items() if all(part.get(name) == value for part in parts)}


def spelt(origin: Mapping[str, Any], canonical: Iterable[str]) -> dict[str, Any]:
    """The origin of votes whose answers were spelt in further canonical forms after they had been read."""
    reader = origin.get("reader")
    forms = list(canonical)
    if not forms or not isinstance(reader, Mapping):
        return dict(origin)
    return {**origin, "reader": {**reader, "canonical": [*reader.get("canonical", ()), *forms]}}
