"""Votes in whatever form people hold them: files, logs, a dataframe, a vote table, or counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swaplaw._result import above
from swaplaw.errors import InputError, quote
from swaplaw.votes.tally import Silence, Tally

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

VotesLike = Any
"""A `Tally`, `Votes`, any dataframe that narwhals knows, or one or several paths of files, logs and directories."""


def tally(
    votes: VotesLike, dataset: str | None = None, silence: Silence = "counts", merge_right: bool = False
) -> Tally:
    """Count votes per model, question and category.

    Every function that analyses votes takes the same kinds of votes, and counts them first. If you run several
    analyses, count once yourself.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        Votes in the layout of the vote table (columns `question`, `model`, `answer` and `gold`), which are counted in
        the engine that holds them; or in any layout that `read_votes` knows: files, logs, directories, dataframes.
    dataset : str, optional
        Which dataset to count, where the votes hold several.
    silence : {"counts", "ignored"}
        What null votes do: a category that can win, or nothing (see `Tally.silence`).
    merge_right : bool
        Take all right answers of a question for one category, as the paper does with free text. A vote among texts
        cannot know which of them are right, so accuracies are oracle-normalised then.

    Returns
    -------
    Tally
        Integer counts; a tally is returned as it is, unless silence is to be ignored.

    Raises
    ------
    InputError
        If the votes break the contract of the vote table, or hold several datasets and none is named.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sl.tally({"question": ["1", "1"], "model": ["a", "b"], "answer": ["A", "B"], "gold": ["A", "A"]})
    Tally('votes': 2 models, 1 question, 2 votes)
    """
    if isinstance(votes, Tally):
        if dataset not in (None, votes.dataset):
            raise InputError(f"this tally is of dataset {quote(votes.dataset)}, not {quote(dataset)}")
        return votes if silence == "counts" else votes.silence(silence)
    table = vote_table(votes)
    return (table.merging_right() if merge_right else table).tally(dataset).silence(silence)


def vote_table(votes: VotesLike) -> Votes:
    """Open votes one by one, for what counts cannot tell (positions, the order of samples)."""
    from swaplaw.votes.table import Votes

    if isinstance(votes, Votes):
        return votes
    if isinstance(votes, Tally):
        raise InputError("a tally holds counts only: pass the votes that it was counted from")
    opened: Votes = above("swaplaw.importers.reading:opened")(votes)
    return opened
