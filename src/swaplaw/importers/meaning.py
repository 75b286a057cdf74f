"""Answers put in a judge's categories: judged once, kept in a file, and used again, so that runs can be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from swaplaw.errors import Fix, InputError, MissingExtraError, quote
from swaplaw.importers.record import Options
from swaplaw.votes.canonical import Grouping, group_answers, read_grouping
from swaplaw.votes.table import Votes

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from swaplaw.votes.canonical import Judge

PROMPT = (
    "Do these two answers to the same question mean the same? Reply with one word, SAME or DIFFERENT.\n\n"
    "Question: {question}\nFirst answer: {first}\nSecond answer: {second}\n"
)
LONGEST = 2000


def grouped(votes: Votes, options: Options) -> Votes:
    """Put answers in the categories of the file `options.groups`; with `options.judge`, that model judges new ones.

    Parameters
    ----------
    votes : Votes
        The votes as they were read.
    options : Options
        `groups` names the file of categories, `judge` the Inspect model that judges what is not in it yet.

    Returns
    -------
    Votes
        The same votes, categories for answers and golds; as they are where no groups are asked for.

    Raises
    ------
    InputError
        If the file is missing, holds something else, or is another judge's.
    """
    if options.groups is None:
        if options.judge is not None:
            raise InputError(
                "the verdicts of a judge are kept in a file and used again", Fix("groups", "FILE", "name it")
            )
        return votes
    file = Path(options.groups)
    known = read_grouping(file) if file.exists() else None
    if options.judge is not None:
        known = _judged(votes, options.judge, file, known)
    if known is None:
        raise InputError(f"{quote(str(file), 200)}: there are no groups; name a judge to make them when importing")
    notes = list(votes.notes)
    if left := known.unjudged(votes):
        what = "1 answer was" if left == 1 else f"{left} answers were"
        notes.append(f"{what} never judged by {quote(known.judge)}, and count as they are spelt")
    return known.apply(votes).noting(notes)


def _judged(votes: Votes, judge: str, file: Path, known: Grouping | None) -> Grouping:
    """Judge what is not known yet, and keep it."""
    if known is not None and known.judge != judge:
        raise InputError(
            f"{quote(str(file), 200)}: these groups were made by {quote(known.judge)}, not by {quote(judge)}; name "
            "that judge, or another file"
        )
    found = group_answers(votes, judged_by(judge), judge, known=known)
    found.write(file)
    return found


def judged_by(model: str | Model, questions: Mapping[str, str] | None = None) -> Judge:
    """Make a judge of any Inspect model; pairs that were judged before are remembered.

    Parameters
    ----------
    model : str or Model
        The model, as Inspect names it.
    questions : mapping, optional
        The text of each question by its id; without it, the judge sees the id.

    Returns
    -------
    callable
        What `group_answers` asks. A reply that is neither SAME nor DIFFERENT is taken as different.
    """
    try:
        from anyio import run
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError:
        raise MissingExtraError("inspect", "grouping answers by a model") from None
    asked = get_model(model) if isinstance(model, str) else model
    remembered: dict[tuple[str, frozenset[str]], bool] = {}

    def same(question: str, first: str, second: str) -> bool:
        key = (question, frozenset((first, second)))
        if key not in remembered:
            text = (questions or {}).get(question, question)
            prompt = PROMPT.format(question=text[:LONGEST], first=first[:LONGEST], second=second[:LONGEST])

            async def ask() -> str:
                reply = await asked.generate(prompt, config=GenerateConfig(temperature=0.0, seed=0, max_tokens=16))
                return str(reply.completion)

            remembered[key] = run(ask).strip(" .*\n").upper().startswith("SAME")
        return remembered[key]

    return same
