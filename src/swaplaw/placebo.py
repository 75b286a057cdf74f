"""Would a secondary that knows nothing have done as well?

A vote that is wrong but unsure can be improved by noise alone: where the primary's plurality is systematically wrong,
any other answer is right more often. Such a lift is real on the benchmark, and no reason to deploy anything. The
placebo has the secondary's votes, shuffled among the answers of each question: as many, as concentrated, as many
abstentions, and nothing known. Its weight is chosen as the pair's is, so whatever it gains needs no knowledge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swaplaw.holdout import Folds, held_out_weight
from swaplaw.rows import Ints
from swaplaw.scoresheet import Scoresheet
from swaplaw.tally import Tally
from swaplaw.wholes import Floats

PLACEBOS = 20


def placebo_scores(
    tally: Tally,
    primary: int,
    secondary: int,
    folds: Folds,
    sheet_of: Callable[[Tally], Scoresheet],
    *,
    seed: int = 0,
) -> Floats:
    """Held-out score of each question with a shuffled secondary at its best weight, averaged over shuffles.

    `sheet_of` lays out the scores of the two models of a tally, as those of the real pair are.
    """
    total = np.zeros(len(tally.questions))
    for number in range(PLACEBOS):
        shuffled = with_placebo(tally, primary, secondary, np.random.default_rng([seed, number]))
        total += held_out_weight(sheet_of(shuffled), folds)
    return total / PLACEBOS


def with_placebo(tally: Tally, primary: int, secondary: int, rng: np.random.Generator) -> Tally:
    """The primary, and the secondary with its votes shuffled among the answers that each question got."""
    n = len(tally.questions)
    voted = np.unique(tally.positions)
    answers = voted[[label is not None for label in tally.rivals.labels[voted]]]
    question = np.concatenate([np.arange(n), tally.rivals.question[answers]])
    counts = _dense(tally, secondary)
    votes = np.concatenate([tally.gold[secondary].astype(np.int64), counts[answers]])
    place, drawn = np.argsort(question, kind="stable"), rng.permutation(len(question))
    # Both orders go question by question; the second is random within each.
    votes[place] = votes[drawn[np.argsort(question[drawn], kind="stable")]]
    counts[answers] = votes[n:]
    entries = [_dense(tally, primary), counts]
    spots = [np.flatnonzero(row) for row in entries]
    return Tally(
        tally.dataset,
        (tally.models[primary], tally.models[secondary]),
        tally.questions,
        tally.votes[[primary, secondary]],
        np.stack([tally.gold[primary], votes[:n]]),
        tally.rivals,
        np.cumsum([0, *map(len, spots)]),
        np.concatenate(spots),
        np.concatenate([row[spot] for row, spot in zip(entries, spots, strict=True)]),
        tally.clusters,
    )


def _dense(tally: Tally, model: int) -> Ints:
    """A model's votes at every rival position."""
    counts = np.zeros(len(tally.rivals.question), dtype=np.int64)
    own = slice(tally.starts[model], tally.starts[model + 1])
    counts[tally.positions[own]] = tally.counts[own]
    return counts
