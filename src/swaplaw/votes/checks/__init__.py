"""Checks: what looks wrong in votes, found before anything is concluded from them.

A table can keep the contract (see `contract`) and still be nonsense: a model that writes "B)" where gold is "B" is
never right, an "N/A" is a vote for the answer N/A, and where a judge's word has replaced every right text by gold,
right answers agree with each other and wrong ones never do. Each check names the model, shows an example and says what
would put it right. A check of severity *error* says that the votes do not mean what they seem to mean, so no deployment
should rest on them; a *warning* says that a conclusion may be weaker than it looks; a *note* only informs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from swaplaw.errors import quote
from swaplaw.votes.checks.answers import (
    abstentions,
    foreign,
    misread,
    never_right,
    no_answers_as_text,
    no_gold,
    shifted,
)
from swaplaw.votes.checks.fleet import FEW_QUESTIONS, constant, copies, shape
from swaplaw.votes.checks.golds import at_chance, chosen_labels, graded_prose, one_gold, right_spellings, several_golds
from swaplaw.votes.checks.names import dataset_checks, name_checks
from swaplaw.votes.checks.places import displaced
from swaplaw.votes.checks.seen import SEVERITIES, Check, Seen, Severity, seen_in
from swaplaw.votes.inputs import VotesLike, vote_table
from swaplaw.votes.position import position_bias
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

__all__ = ["FEW_QUESTIONS", "SEVERITIES", "Check", "Severity", "copy_checks", "find_checks", "position_checks"]

JUDGED, ALL = True, False
LOOKS: tuple[tuple[Callable[[Seen, Sequence[Check]], Iterator[Check]], bool], ...] = (
    (graded_prose, JUDGED),
    (right_spellings, JUDGED),
    (abstentions, ALL),
    (no_gold, ALL),
    (no_answers_as_text, ALL),
    (several_golds, JUDGED),
    (one_gold, JUDGED),
    (at_chance, JUDGED),
    (misread, JUDGED),
    (shifted, JUDGED),
    (displaced, JUDGED),
    (foreign, JUDGED),
    (never_right, JUDGED),
    (constant, ALL),
    (copies, ALL),
    (shape, ALL),
)
"""What is looked for, in this order: each is told what was found before it. Looks that tell right answers from wrong
ones see the questions that have a label, where some have one."""


def find_checks(votes: VotesLike, dataset: str | None = None) -> tuple[Check, ...]:
    """Look for problems in votes, and list the most serious first.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes. A tally is checked by the counts that it was made of; one of numbers alone only by its names.
    dataset : str, optional
        Look at this dataset of a table only.

    Returns
    -------
    tuple of Check
        Errors, then warnings, then notes; empty where nothing looks wrong.

    Raises
    ------
    InputError
        If there is no such dataset.

    Examples
    --------
    >>> import swaplaw as sl
    >>> [check.name for check in find_checks(sl.demo_votes())]
    []
    """
    if isinstance(votes, Tally):
        found = [*name_checks(votes, votes.dataset), *_found(seen_in(votes, votes.dataset))]
    else:
        table = vote_table(votes)
        names = table.datasets if dataset is None else [table.counts_of(dataset)[0]]
        found = list(dataset_checks(table))
        for name in names:
            found += [*name_checks(table, name), *_found(seen_in(table, name)), *chosen_labels(table, name)]
    return tuple(sorted(found, key=lambda check: SEVERITIES.index(check.severity)))


def copy_checks(tally: Tally) -> tuple[Check, ...]:
    """Look for models that vote exactly as another does, on the questions of a tally."""
    seen = seen_in(tally, tally.dataset)
    return () if seen is None else tuple(copies(seen, ()))


def position_checks(votes: Votes, dataset: str | None = None) -> tuple[Check, ...]:
    """Look for models that are swayed by where an option stands; this reads all rows once more."""
    names = votes.datasets if dataset is None else [dataset]
    return tuple(
        Check(
            "position_bias",
            "warning",
            model,
            votes.tally(name).votes.shape[1],
            f"{quote(model)} chose position {bias.position} in {float(bias.share):.0%} of its votes, where "
            f"{float(bias.expected):.0%} would be even",
            "ask every question in several orders of its options: `swaplaw collect` does",
            name,
        )
        for name in names
        for model, bias in position_bias(votes, name).items()
        if bias.flagged
    )


def _found(seen: Seen | None) -> list[Check]:
    found: list[Check] = []
    if seen is not None:
        for look, judged in LOOKS:
            found += look(seen.judged if judged else seen, found)
    return found
