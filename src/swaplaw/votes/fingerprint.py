"""A fingerprint of the votes that an analysis rests on, so that a file can say which data it came from."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from swaplaw.votes.tally import Tally


def fingerprint_of(tally: Tally) -> str:
    """Compute the SHA-256 of all counts with their names.

    Parameters
    ----------
    tally : Tally
        The counted votes.

    Returns
    -------
    str
        The same for the same votes, in whatever file, format or order.
    """
    labels = np.array(tally.questions, dtype=object)[tally.rivals.question]
    digest = hashlib.sha256()
    digest.update(json.dumps([tally.dataset, tally.models, tally.questions, tally.clusters]).encode())
    for model in range(len(tally.models)):
        own = slice(tally.starts[model], tally.starts[model + 1])
        places = tally.positions[own]
        rivals = zip(labels[places], tally.rivals.labels[places], tally.counts[own].tolist(), strict=True)
        # No answer sorts before every answer: None and text do not compare.
        ordered = sorted(rivals, key=lambda entry: (entry[0], entry[1] is not None, entry[1] or ""))
        digest.update(json.dumps([tally.gold[model].tolist(), ordered]).encode())
    return f"sha256:{digest.hexdigest()}"
