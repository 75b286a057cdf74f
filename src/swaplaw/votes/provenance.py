"""How votes came about, as files of votes record it, and a fingerprint that says which votes a result rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swaplaw._files import is_complaint
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

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


def fingerprint_of(votes: VotesLike) -> str:
    """Compute the SHA-256 of all counts with their names.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).

    Returns
    -------
    str
        The same for the same votes, in whatever file, format or order.

    Examples
    --------
    >>> import swaplaw as sl
    >>> fingerprint_of(sl.demo_votes())[:14]
    'sha256:c05fafb'
    """
    tally = inputs.tally(votes)
    labels = np.array(tally.questions, dtype=object)[tally.rivals.question]
    # No answer sorts before every answer: None and text do not compare.
    names = [
        (question, label is not None, label or "") for question, label in zip(labels, tally.rivals.labels, strict=True)
    ]
    rank = np.empty(len(names), dtype=np.intp)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    digest = hashlib.sha256()
    digest.update(json.dumps([tally.dataset, tally.models, tally.questions, tally.clusters]).encode())
    for model in range(len(tally.models)):
        own = slice(tally.starts[model], tally.starts[model + 1])
        places = tally.positions[own]
        order = np.argsort(rank[places])
        spots, counts = places[order], tally.counts[own][order].tolist()
        ordered = list(zip(labels[spots].tolist(), tally.rivals.labels[spots].tolist(), counts, strict=True))
        digest.update(json.dumps([tally.gold[model].tolist(), ordered]).encode())
    return f"sha256:{digest.hexdigest()}"
