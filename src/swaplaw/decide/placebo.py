"""Would a secondary that knows nothing have done as well?

A vote that is wrong but unsure can be improved by noise alone: where the primary's plurality is systematically wrong,
any other answer is right more often. Such a lift is real on the benchmark, and no reason to deploy anything. The
placebo has the secondary's votes, shuffled among the answers of each question: as many, as concentrated, as many
abstentions, and nothing known. Its weight is chosen as the pair's is, so whatever it gains needs no knowledge. In a
panel all secondaries are shuffled, and keep their mix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import ALONE, Crew
from swaplaw.decide.holdout import Folds, held_out_weight
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.votes.tally import Tally

PLACEBOS = 20


def placebo_scores(
    tally: Tally,
    members: Sequence[int],
    folds: Folds,
    sheet_of: Callable[[Tally], Scoresheet],
    *,
    seed: int = 0,
    crew: Crew = ALONE,
) -> Floats:
    """Held-out score of each question with shuffled secondaries at their best weight, averaged over shuffles.

    `sheet_of` lays out the scores of the members of a tally, as those of the real ensemble are.
    """
    shuffles = _Shuffles(tally, members, folds, sheet_of, seed)
    total = np.zeros(len(tally.questions))
    for scores in crew.share(_Shuffles.scores, shuffles, range(PLACEBOS)):
        total += scores
    return total / PLACEBOS


@dataclass(frozen=True)
class _Shuffles:
    """What it takes to try a shuffle."""

    tally: Tally
    members: Sequence[int]
    folds: Folds
    sheet_of: Callable[[Tally], Scoresheet]
    seed: int

    def scores(self, number: int) -> Floats:
        """Held-out scores with the secondaries shuffled for the so-manieth time."""
        shuffled = with_placebo(self.tally, self.members, np.random.default_rng([self.seed, number]))
        return held_out_weight(self.sheet_of(shuffled), self.folds)


def with_placebo(tally: Tally, members: Sequence[int], rng: np.random.Generator) -> Tally:
    """The primary, and the secondaries with their votes shuffled among the answers that each question got.

    All secondaries are shuffled alike: together they know nothing, and agree with each other as much as they did.
    """
    n = len(tally.questions)
    primary, *secondaries = members
    voted = np.unique(tally.positions)
    answers = voted[[label is not None for label in tally.rivals.labels[voted]]]
    question = np.concatenate([np.arange(n), tally.rivals.question[answers]])
    place, drawn = np.argsort(question, kind="stable"), rng.permutation(len(question))
    # Both orders go question by question; the second is random within each.
    shuffled = drawn[np.argsort(question[drawn], kind="stable")]
    gold, rivals = [tally.gold[primary]], [tally.dense(primary)]
    for secondary in secondaries:
        counts = tally.dense(secondary)
        votes = np.concatenate([tally.gold[secondary].astype(np.int64), counts[answers]])
        votes[place] = votes[shuffled]
        counts[answers] = votes[n:]
        gold.append(votes[:n])
        rivals.append(counts)
    names = [tally.models[member] for member in members]
    return tally.with_counts(names, tally.votes[list(members)], np.stack(gold), rivals)
