"""Weights of their own for every subject, shrunk toward those of the whole fleet.

Where questions come in clusters (subjects, exams) that will come again, each may have weights of its own. A subject's
weights are the likeliest ones less a penalty on how far they are from the global ones: few questions leave them where
they are, many may move them.
"""

from __future__ import annotations

import numpy as np

from swaplaw._core.arrays import Bools, Floats
from swaplaw.decide.choice import Choice
from swaplaw.decide.rules._rationals import accuracies, leader, rounded
from swaplaw.decide.rules._shares import distinct
from swaplaw.decide.rules.smooth import INCUMBENT, global_weights, likeliest, with_options
from swaplaw.errors import InputError, quote
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

PULL = 30.0
"""How strongly a subject's weights are held to the global ones."""


def subject_weights(tally: Tally) -> dict[str, Choice]:
    """Choose weights for every subject (cluster), shrunk toward the global ones.

    Parameters
    ----------
    tally : Tally
        Votes whose questions have clusters.

    Returns
    -------
    dict
        The choice for each subject, by name.

    Raises
    ------
    InputError
        If no question has a cluster.
    """
    if tally.clusters is None:
        raise InputError(f"dataset {quote(tally.dataset)} has no column 'cluster': there are no subjects to tell apart")
    single = leader(accuracies(tally))
    shares = with_options(tally)
    kept = distinct(shares)
    own = shares.only(kept)
    center = global_weights(tally, own)
    # The lead of the best single model is part of the centre, so that a subject's own questions can take it away.
    center[kept == single] += INCUMBENT * float(center.max(initial=0))
    subjects = np.array(tally.clusters, dtype=object)
    found = {}
    for subject in sorted(set(tally.clusters)):
        part = own.select(subjects == subject)
        weights = np.zeros(shares.models)
        # A penalty around a centre is a ridge less a slope at 0.
        weights[kept] = likeliest(part, PULL, -PULL * center, center)
        found[subject] = rounded(weights, single)
    return found


def held_out_subjects(tally: Tally, tests: Bools) -> Floats:
    """Score each question with its subject's weights, chosen on the other folds (rows of a mask), averaged over rows.

    A subject that the other folds do not have gets the global weights.
    """
    from swaplaw.decide.rules.smooth import smooth

    subjects = np.array(tally.clusters, dtype=object)
    total, times = np.zeros(len(tally.questions)), np.zeros(len(tally.questions))
    for test in tests:
        train = tally.select(questions=~test)
        choices, rest = subject_weights(train), smooth(train)
        for subject in sorted(set(subjects[test])):
            where = test & (subjects == subject)
            choice = choices.get(subject, rest)
            pooled = vote(tally, choice.members, choice.weights)
            total[where] += (pooled.numerators / pooled.denominator)[where]
        times += test
    scores: Floats = total / np.maximum(times, 1)
    return scores
