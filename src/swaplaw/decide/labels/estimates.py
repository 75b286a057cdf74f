"""Estimates without labels, or with few: a second opinion beside the bounds, and never more than that.

**From agreement alone**: each answer's probability of being right follows from who gave it, by the one-coin model (see
`rules.agreement`) or by Dawid and Skene's confusion matrices (see `predict.dawid_skene`). Accuracies and lifts are what
these probabilities make one expect. Models that err alike make it too high: nothing in the votes tells shared errors
from shared knowledge.

**Prediction-powered**: where some changed questions have a label, these say by how much the estimates err, and there is
an interval (see `evidence.prediction_powered`). It assumes that the labelled questions are a random sample of the
changed ones: label a sheet in random order from the top.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.decide.labels.bounds import Change, Labels
from swaplaw.decide.rules import agreement_weights, contests_of_shares
from swaplaw.errors import InputError, quote
from swaplaw.evidence.prediction_powered import LEAST, Powered, prediction_powered
from swaplaw.predict.dawid_skene import dawid_skene
from swaplaw.votes.counts import Candidates
from swaplaw.votes.tally import tie_credit

Method = Literal["one_coin", "dawid_skene"]
MOST_ANSWERS = 26
"""Different answers in all that questions are taken to share: letters, not texts."""


@dataclass(frozen=True)
class PairEstimate:
    """Estimates of the lift of one pair."""

    primary: str
    secondary: str
    agreement: float
    """From agreement alone."""
    powered: Powered | None
    """From agreement and the labels at hand; None where too few changed questions have one."""

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "primary": self.primary,
            "secondary": self.secondary,
            "agreement": self.agreement,
            "powered": None if self.powered is None else self.powered.to_dict(),
        }


@dataclass(frozen=True)
class FleetEstimates:
    """Estimates of a fleet."""

    method: Method
    accuracies: dict[str, float]
    """Each model's, from agreement alone."""
    pairs: tuple[PairEstimate, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "method": self.method,
            "note": NOTE,
            "accuracies": self.accuracies,
            "pairs": [pair.to_dict() for pair in self.pairs],
        }


NOTE = (
    "Estimates, not bounds: from agreement alone, which takes errors that models share for knowledge. Intervals assume "
    "that the labelled questions are a random sample of the changed ones."
)


def estimate(found: Labels, method: Method = "one_coin") -> FleetEstimates:
    """Estimate accuracies and lifts from agreement, corrected by the labels at hand where there are some.

    Parameters
    ----------
    found : Labels
        The pairs in question (see `labels_needed`).
    method : {"one_coin", "dawid_skene"}
        How agreement is turned into probabilities.

    Returns
    -------
    FleetEstimates
        For every model and every pair.

    Raises
    ------
    InputError
        If the method is not there, or does not suit the answers.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.decide.labels import labels_needed
    >>> found = estimate(labels_needed(sl.demo_votes(), primary="gpt-4", secondary="mistral-large"))
    >>> found.pairs[0].powered.low == found.pairs[0].powered.high
    True
    """
    right = believed(found.candidates, method)
    names = found.candidates.tally.models
    accuracies = {model: accuracy(found.candidates, place, right) for place, model in enumerate(names)}
    pairs = tuple(
        PairEstimate(pair.primary, pair.secondary, _agreement(change, right), powered(change, right))
        for pair, change in zip(found.pairs, found.changes[: len(found.pairs)], strict=True)
    )
    return FleetEstimates(method, accuracies, pairs)


def believed(found: Candidates, method: Method = "one_coin") -> Floats:
    """How likely each answer is right, from agreement alone; labels have no effect.

    Parameters
    ----------
    found : Candidates
        Counted votes.
    method : {"one_coin", "dawid_skene"}
        How agreement is turned into probabilities.

    Returns
    -------
    array
        One probability for each row; one that stands for no answer has none.
    """
    if method not in get_args(Method):
        raise InputError(f"there is no method {quote(method)}; there are 'one_coin' and 'dawid_skene'")
    tally = found.tally
    given = np.flatnonzero(found.answers != None)  # noqa: E711  Each answer by itself.
    question = found.question[given]
    shares = tally.gold[:, given] / np.maximum(tally.votes, 1)[:, question]
    right = np.zeros(len(found.answers))
    if method == "one_coin":
        lines = contests_of_shares(shares.T, question)
        right[given] = lines.probabilities(agreement_weights(lines))[0]
        return right
    answers, code = np.unique(found.answers[given].astype(str), return_inverse=True)
    if len(answers) > MOST_ANSWERS or found.several:
        raise InputError(
            f"there are {len(answers)} different answers, too many for confusion matrices, which take letters that "
            "questions share; use the one-coin method"
        )
    asked, place = np.unique(question, return_inverse=True)
    table = np.zeros((len(tally.models), len(asked), len(answers)))
    table[:, place, code] = shares
    right[given] = dawid_skene(table)[place, code]
    return right


def accuracy(found: Candidates, model: int, right: Floats) -> float:
    """The accuracy that one expects of a model if answers are right with these probabilities."""
    ties, answered = found.tally.ties[model], found.tally.answered[model]
    starts = np.searchsorted(found.question, np.arange(len(answered)))
    size = np.maximum(np.maximum.reduceat(ties, starts), 1)
    score = np.add.reduceat(np.where(ties > 0, right, 0.0), starts)
    return float(tie_credit(score, size)[answered].mean())


def _agreement(change: Change, right: Floats) -> float:
    return float(change.expected(right).sum() / change.n)


def powered(change: Change, right: Floats) -> Powered | None:
    """The lift from the labelled changed questions and what the others are expected to add."""
    expected = change.expected(right)
    known = change.changed & change.labelled
    others = change.changed & ~change.labelled
    if int(known.sum()) < LEAST:
        return None
    found = prediction_powered(change.terms[2][known], expected[known], expected[others])
    return found.scaled(float(change.changed.sum()) / change.n)
