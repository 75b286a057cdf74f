"""What is resampled: questions, or whole clusters of questions that resemble each other.

Everything with an interval asks here, so that the same votes have the same units everywhere. Clusters are the units
where the votes have a `cluster` column that tells questions apart. A column with one and the same cluster throughout
says nothing about how questions vary, so that questions are the units then, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import InputError, StatisticalWarning, quote
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

Unit = Literal["question", "cluster"]
LEAST_UNITS = 2


@dataclass(frozen=True)
class Units:
    """The resampling unit of each question."""

    member: Ints = field(repr=False)
    """The unit of each question, numbered from 0 in the order of the units' names."""
    kind: Unit
    """What a unit is."""

    @cached_property
    def count(self) -> int:
        """How many units there are."""
        return int(self.member.max(initial=-1)) + 1

    def among(self, questions: Bools) -> Units:
        """Units of some of the questions (a mask), renumbered.

        >>> Units(np.array([0, 1, 1, 2]), "cluster").among(np.array([False, True, True, True])).member
        array([0, 0, 1])

        Parameters
        ----------
        questions : array of bool
            Which questions to keep.
        """
        return self if questions.all() else Units(_numbered(self.member[questions]), self.kind)


def resampling_units(votes: VotesLike, by: Unit | None = None) -> Units:
    """Determine what is resampled when these votes are judged.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    by
        What to take as units. By default clusters where there are at least two, else questions.

    Returns
    -------
    Units
        The unit of each question, what kind of unit it is, and how many there are.

    Raises
    ------
    InputError
        If clusters are asked for and there are none or only one; or if a question has no cluster while others do.

    Warns
    -----
    StatisticalWarning
        If all questions are in one cluster, so that questions are resampled instead.

    Examples
    --------
    >>> import swaplaw as sl
    >>> resampling_units(sl.demo_votes()).count
    10
    >>> resampling_units(sl.demo_votes(), by="question").count
    100
    """
    if by not in (None, "question", "cluster"):
        raise InputError(f"by {by!r} is not a unit: give 'question' or 'cluster', or leave it out")
    tally = inputs.tally(votes)
    names = None if by == "question" else _cluster_names(tally, asked=by == "cluster")
    if names is None:
        return Units(_numbered(tally.questions), "question")
    return Units(_numbered(names), "cluster")


def _cluster_names(tally: Tally, asked: bool) -> Sequence[str] | None:
    """The cluster of each question, if clusters can be resampled."""
    dataset, names = f"dataset {quote(tally.dataset)}", tally.clusters
    if names is None:
        if asked:
            raise InputError(f"{dataset} has no column 'cluster': add one, or resample questions instead")
        return None
    for question, name in zip(tally.questions, names, strict=True):
        if name is None:
            raise InputError(f"{dataset}: question {quote(question)} has no cluster: give every question one, or none")
    if len(set(names)) > 1:
        return names
    if asked:
        raise InputError(
            f"{dataset} has a single cluster ({quote(names[0])}): clusters cannot be resampled; "
            "name at least 2, or resample questions instead"
        )
    if len(names) > 1:
        warnings.warn(
            f"{dataset} has a single cluster ({quote(names[0])}): questions are resampled instead",
            StatisticalWarning,
            stacklevel=3,
        )
    return None


def _numbered(names: Sequence[str] | Ints) -> Ints:
    """Number what is named, in the order of names."""
    listed = names if isinstance(names, np.ndarray) else np.array(names, dtype=object)
    member: Ints = np.unique(listed, return_inverse=True)[1]
    return member


def require_several(tally: Tally, units: Units) -> None:
    """Refuse what cannot be resampled or held out: a single unit."""
    if units.count < LEAST_UNITS:
        raise InputError(
            f"dataset {quote(tally.dataset)} has a single question ({quote(tally.questions[0])}): "
            "nothing can be resampled or held out; give at least 2 questions"
        )


def unit_totals(values: Floats, member: Ints) -> Floats:
    """Sum each row's values over each unit: rows x units.

    >>> unit_totals(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0]))
    array([[5., 2.]])
    """
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(int(member.max()) + 1))
    together = values if (order[1:] > order[:-1]).all() else np.take(values, order, axis=1)
    totals: Floats = together if len(starts) == len(member) else np.add.reduceat(together, starts, axis=1)
    return totals
