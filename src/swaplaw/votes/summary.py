"""The fleet at a glance: each model's accuracy and abstention (the paper's Tables model_accuracy and abstentions)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._result import Result, Results
from swaplaw.errors import several
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.position import PositionBias
from swaplaw.votes.tally import Silence, Tally

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes


@dataclass(frozen=True)
class ModelSummary(Result):
    """One model of a fleet."""

    dataset: str
    model: str
    questions: int
    """Questions that it answered (abstaining is answering)."""
    missing: int
    """Questions of the dataset that it never answered."""
    votes: int
    single: Fraction
    """Accuracy of a single sample: the mean over questions of gold's share."""
    plurality: Fraction
    """Accuracy of its own plurality vote, with fractional tie credit."""
    tied: int
    """Questions on which gold ties with others."""
    abstained: Fraction
    """Share of null votes."""
    reasons: Mapping[str, Fraction]
    """Share of null votes by reason; these add up to `abstained`."""
    graded: float | None = None
    """Accuracy as the scorer graded single samples, where votes tell; the vote that would run may differ from it."""
    position: PositionBias | None = None
    """How far the positions of its chosen options are from even, where they are known."""

    def __repr__(self) -> str:
        counted = f"{several(self.questions, 'question')}, {several(self.votes, 'vote')}"
        return f"ModelSummary({self.model!r}, plurality={float(self.plurality):.4f}, {counted})"

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON; `position` and `graded` only where they are known."""
        graded = {} if self.graded is None else {"graded": self.graded}
        bias = {} if self.position is None else {"position": self.position.to_dict()}
        return (
            {
                "dataset": self.dataset,
                "model": self.model,
                "questions": self.questions,
                "missing": self.missing,
                "votes": self.votes,
                "single": float(self.single),
                "plurality": float(self.plurality),
                "tied": self.tied,
                "abstained": float(self.abstained),
                "reasons": {reason: float(share) for reason, share in self.reasons.items()},
            }
            | graded
            | bias
        )


class Summary(Results[ModelSummary]):
    """A fleet, the most accurate model first."""


def summary(
    votes: VotesLike,
    positions: Mapping[str, PositionBias] | None = None,
    silence: Silence = "counts",
    graded: Mapping[str, float] | None = None,
) -> Summary:
    """Summarise every model: accuracy of one sample and of the plurality, ties, abstentions.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    positions : mapping of str to PositionBias, optional
        What `position_bias` found for each model.
    silence : {"counts", "ignored"}
        What null votes do: a category that can win, or nothing (see `Tally.silence`).
    graded : mapping of str to float, optional
        What `graded_accuracy` found for each model.

    Returns
    -------
    Summary
        A `ModelSummary` for each model, the most accurate first; `to_frame()` has them as a table.

    Examples
    --------
    >>> import swaplaw as sl
    >>> best = sl.summary(sl.demo_votes())[0]
    >>> best.model, best.plurality
    ('gpt-4', Fraction(81, 100))
    """
    tally = inputs.tally(votes, silence=silence)
    known, grades = positions or {}, graded or {}
    rows = [
        replace(_summarise(tally, model), position=known.get(name), graded=grades.get(name))
        for model, name in enumerate(tally.models)
    ]
    return Summary(sorted(rows, key=lambda row: (-row.plurality, row.model)))


def graded_accuracy(votes: Votes, dataset: str) -> dict[str, float]:
    """Each model's accuracy as a scorer graded its samples: by the column `graded`, or else `correct`.

    Parameters
    ----------
    votes : Votes
        The votes, one by one.
    dataset : str
        Which of their datasets.

    Returns
    -------
    dict
        Model to accuracy; empty where nothing was graded. Samples that a scorer left ungraded do not count.
    """
    import polars as pl

    if "correct" not in votes.counts.columns:
        return {}
    frame = votes.frame
    names = [name for name in ("graded", "correct") if name in frame.collect_schema().names()]
    chosen = frame.filter(pl.col("dataset") == dataset) if "dataset" in frame.collect_schema().names() else frame
    means = chosen.group_by("model").agg(pl.col(names[0]).cast(pl.Float64).mean()).collect(engine="streaming")
    return {model: share for model, share in means.rows() if share is not None}


def _summarise(tally: Tally, model: int) -> ModelSummary:
    answered = tally.answered[model]
    questions = int(answered.sum())
    votes = int(tally.votes[model].sum(dtype=np.int64))
    scores = tally.scores[model]
    reasons = {reason: Fraction(number, votes) for reason, number in tally.reasons[model].items()}
    return ModelSummary(
        tally.dataset,
        tally.models[model],
        questions,
        len(tally.questions) - questions,
        votes,
        _single(tally, model) / questions,
        Fraction(int(scores.numerators.sum()), scores.denominator * questions),
        scores.tied,
        sum(reasons.values(), Fraction(0)),
        reasons,
    )


def _single(tally: Tally, model: int) -> Fraction:
    """The share of right votes, summed over questions: few sample counts occur, so group by them."""
    answered = tally.answered[model]
    votes, right = tally.votes[model][answered], tally.right_votes(model)[answered]
    return sum((Fraction(int(right[votes == n].sum()), int(n)) for n in np.unique(votes)), Fraction(0))
