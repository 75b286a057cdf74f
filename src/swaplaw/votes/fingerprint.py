"""A fingerprint of the votes that an analysis rests on, so that a file can say which data it came from."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike


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
