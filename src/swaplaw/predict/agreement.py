"""Agreement between two models' answers, wrong ones included: competitors of the law from the literature.

Both use vote shares as the models' answer probabilities, so they need no plurality and no tie-breaking. Abstention is
an answer like any other. Options that nobody voted for are not recorded in votes, and are not counted. Either measure
is a function of six sums over questions (`SUMS`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._parallel import one_thread
from swaplaw.evidence.jackknife import Parts
from swaplaw.law.pair import Pair, divide
from swaplaw.votes.tally import Tally

SUMS = ("questions", "agree", "agree_wrong", "gold_a", "gold_b", "one_of")
"""What is summed: 1; the chance that one sample of each is the same answer, and the same wrong one; both models'
shares of gold; and one over the number of wrong answers that anybody gave."""


def kappa_p(sums: Floats) -> Floats:
    """CAPA: agreement of answers beyond what the accuracies make us expect (Goel et al. 2025).

    With c the mean chance that both give the same answer, p and q the mean shares of gold and k the number of wrong
    answers to a question, kappa_p = (c - e) / (1 - e), e = p q + (1 - p)(1 - q) mean(1 / k).

    Parameters
    ----------
    sums : array
        The sums of `SUMS` (second axis), of many pairs in many samples.

    Returns
    -------
    array
        The measure, NaN where it is undefined.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        c, _, p, q, k = (sums[:, row] / sums[:, 0] for row in range(1, len(SUMS)))
    expected = p * q + (1 - p) * (1 - q) * k
    found: Floats = divide(c - expected, 1 - expected)
    return found


def same_wrong(sums: Floats) -> Floats:
    """How often two models that are both wrong give the same answer (Kim et al. 2025), one sample of each.

    Parameters
    ----------
    sums : array
        The sums of `SUMS` (second axis), of many pairs in many samples.

    Returns
    -------
    array
        The measure, NaN where it is undefined.
    """
    n, agree, wrong, gold_a, gold_b, _ = np.moveaxis(sums, 1, 0)
    found: Floats = divide(wrong, n - gold_a - gold_b + (agree - wrong))
    return found


def agreement_sums(chosen: Sequence[Pair], parts: Parts | None = None) -> Floats:
    """Sum up how pairs of one tally agree, in each part of the questions: parts x `SUMS` x pairs.

    Shares of answers times themselves say it for all pairs at once, one matrix product for each part.
    """
    tally = chosen[0].tally.principal
    a, b = (np.array([getattr(pair, side) for pair in chosen]) for side in "ab")
    question = tally.rivals.question
    cast = np.maximum(tally.votes, 1).astype(np.float64)
    gold = tally.gold / cast
    given = np.stack([tally.dense(model) / cast[model].take(question) for model in range(len(tally.models))])
    one_of = 1 / rivals_per_question(tally)
    member = np.zeros(len(tally.questions), dtype=np.intp) if parts is None else parts.member
    found = []
    with one_thread():
        for part in range(1 if parts is None else parts.replicates):
            own = member == part
            asked, right, wrong = tally.answered[:, own].astype(np.float64), gold[:, own], given[:, own[question]]
            shared, same = asked @ asked.T, wrong @ wrong.T
            both, ones = right @ right.T + same, (asked * one_of[own]) @ asked.T
            share = right @ asked.T
            found.append(np.stack([shared[a, b], both[a, b], same[a, b], share[a, b], share[b, a], ones[a, b]]))
    return np.stack(found)


def rivals_per_question(tally: Tally) -> Floats:
    """How many answers other than gold anybody gave to each question; 1 where nobody gave any."""
    voted = np.zeros(len(tally.rivals.question))
    voted[tally.positions] = 1
    return np.maximum(np.bincount(tally.rivals.question, voted, minlength=len(tally.questions)), 1.0)
