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
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Floats
from swaplaw.decide.labels.bounds import Labels
from swaplaw.decide.labels.change import Change
from swaplaw.decide.rules import agreement_weights, contests_of_shares
from swaplaw.errors import InputError, quote
from swaplaw.evidence.prediction_powered import LEAST, Powered, prediction_powered
from swaplaw.predict.dawid_skene import dawid_skene
from swaplaw.votes.ballots import Ballots
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
    >>> from swaplaw.votes.ballots import ballots_of
    >>> hidden = labels_needed(ballots_of(sl.demo_votes()).without_labels(), primary="gpt-4", secondary="mistral-large")
    >>> estimate(hidden).pairs[0].powered is None
    True
    """
    ballots = found.ballots
    right = believed(ballots, method)
    accuracies = {model: accuracy(ballots, place, right) for place, model in enumerate(ballots.models)}
    pairs = tuple(
        PairEstimate(pair.primary, pair.secondary, _agreement(change, right), powered(change, right))
        for pair, change in zip(found.pairs, found.changes[: len(found.pairs)], strict=True)
    )
    return FleetEstimates(method, accuracies, pairs)


def believed(ballots: Ballots, method: Method = "one_coin") -> Floats:
    """How likely each category of the ballots is right, from agreement alone; labels have no effect.

    Parameters
    ----------
    ballots : Ballots
        Counted votes.
    method : {"one_coin", "dawid_skene"}
        How agreement is turned into probabilities.

    Returns
    -------
    array
        One probability for each category; null has none.
    """
    if method == "dawid_skene":
        return _by_confusion(ballots)
    if method != "one_coin":
        raise InputError(f"there is no method {quote(method)}; there are 'one_coin' and 'dawid_skene'")
    given = np.flatnonzero(~ballots.null)
    shares = ballots.counts[:, given] / np.maximum(ballots.votes, 1)[:, ballots.question[given]]
    lines = contests_of_shares(shares.T, ballots.question[given])
    found = np.zeros(len(ballots.question))
    found[given] = lines.probabilities(agreement_weights(lines))[0]
    return found


def _by_confusion(ballots: Ballots) -> Floats:
    given = np.flatnonzero(~ballots.null)
    answers, code = np.unique(ballots.answers[given].astype(str), return_inverse=True)
    if len(answers) > MOST_ANSWERS or ballots.graded:
        raise InputError(
            f"there are {len(answers)} different answers, too many for confusion matrices, which take letters that "
            "questions share; use the one-coin method"
        )
    asked, place = np.unique(ballots.question[given], return_inverse=True)
    shares = np.zeros((len(ballots.models), len(asked), len(answers)))
    shares[:, place, code] = ballots.counts[:, given] / np.maximum(ballots.votes, 1)[:, ballots.question[given]]
    found = np.zeros(len(ballots.question))
    found[given] = dawid_skene(shares)[place, code]
    return found


def accuracy(ballots: Ballots, model: int, right: Floats) -> float:
    """The accuracy that one expects of a model if answers are right with these probabilities."""
    own, starts = ballots.counts[model], ballots.starts[:-1]
    leads = own == np.maximum.reduceat(own, starts)[ballots.question]
    size = np.add.reduceat(leads.astype(np.int64), starts)
    score = np.add.reduceat(np.where(leads & ~ballots.null, right, 0.0), starts)
    return float(tie_credit(score, size)[ballots.votes[model] > 0].mean())


def _agreement(change: Change, right: Floats) -> float:
    return float(change.expected(right).sum() / change.n)


def powered(change: Change, right: Floats) -> Powered | None:
    """The lift from the labelled changed questions and what the others are expected to add."""
    expected = change.expected(right)
    known = change.changed & change.ballots.labelled
    others = change.changed & ~change.ballots.labelled
    if int(known.sum()) < LEAST:
        return None
    found = prediction_powered(change.values[known], expected[known], expected[others])
    return found.scaled(float(change.changed.sum()) / change.n)
