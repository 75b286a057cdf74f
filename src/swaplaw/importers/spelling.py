"""What is said of votes once they are read.

Answers that differ from gold only in how they are written are reconciled by a stated form, or refused with the fix;
rows that repeat a vote are told, where votes are not numbered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swaplaw._arrays import summed
from swaplaw.answers.forms import canonicaliser
from swaplaw.answers.letters import bare_letter
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.votes import engines
from swaplaw.votes.checks.answers import numbered_otherwise
from swaplaw.votes.checks.golds import is_letter
from swaplaw.votes.checks.silence import is_no_answer
from swaplaw.votes.table import Votes

if TYPE_CHECKING:
    import polars as pl

EXACT = "exact"
SERIOUS = 0.01
"""The share of a model's votes from which on a spelling of its own is not a slip of the pen."""
_NUMBER = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)*\s*")
_QUANTITY = re.compile(r"\s*[$]?([-+]?\d+(?:[.,]\d+)*)\s?%?\s*")


@dataclass(frozen=True)
class _Spelling:
    """One way in which answers and golds are written differently, and what brings them together."""

    alike: Callable[[str, str], bool]
    fix: Fix
    serious: bool
    """Whether such a difference is never meant."""


def _letters(answer: str, gold: str) -> bool:
    return bare_letter(answer) is not None and bare_letter(answer) == bare_letter(gold)


def _labels(answer: str, gold: str) -> bool:
    return _letters(answer, gold) and not _texts(answer, gold)


def _numbers(answer: str, gold: str) -> bool:
    spell = canonicaliser(["numeric"])
    return bool(_NUMBER.fullmatch(answer) and _NUMBER.fullmatch(gold)) and spell(answer) == spell(gold)


def _quantities(answer: str, gold: str) -> bool:
    both = (_QUANTITY.fullmatch(answer), _QUANTITY.fullmatch(gold))
    spell = canonicaliser(["numeric"])
    return both[0] is not None and both[1] is not None and spell(both[0][1]) == spell(both[1][1])


def _texts(answer: str, gold: str) -> bool:
    spell = canonicaliser(["text"])
    return spell(answer) == spell(gold)


SPELLINGS = (
    _Spelling(_labels, Fix("reader", "choice", "read them"), serious=True),
    _Spelling(_letters, Fix("canonical", "text", "read them"), serious=True),
    _Spelling(_numbers, Fix("canonical", "numeric", "read them"), serious=True),
    _Spelling(_quantities, Fix("canonical", "math", "read them without signs for units"), serious=True),
    _Spelling(_texts, Fix("canonical", "text", "read them"), serious=False),
)


def spelling_notes(votes: Votes) -> Iterator[str]:
    """Refuse votes whose letters, numbers, or all of whose answers never count for their spelling; note the rest.

    A stray answer among thousands is no reason to refuse them all: it is noted, and counts as it is spelt.

    Raises
    ------
    InputError
        If a model spells letters or numbers in another way than gold in `SERIOUS` of its votes or more, if no answer at
        all is spelt like a gold and some would be in the canonical form `text`, if answers are letters and golds are
        not (or the other way round), or if both number the options, one from 0 and the other from 1.
    """
    counts = votes.counts
    if "correct" in counts.columns or any(source.counted for source in votes.sources):
        return  # Grades say what is right; counts were votes that were read and looked at before.
    given = counts.select("model", "answer", "gold", "votes").drop_nulls()
    name = quote(votes.sources[0].name, 200)
    _refuse_other_kinds(given, name)
    _refuse_shifted(given, name)
    pairs = given.select("answer", "gold").unique(maintain_order=True)
    differ = [pair for pair in pairs.iter_rows() if pair[0] != pair[1]]
    for spelling in SPELLINGS:
        found = _unmeant(given, [pair for pair in differ if spelling.alike(*pair)])
        if not found:
            continue
        share, model, (answer, gold) = _most(given, found)
        many = "1 answer differs" if len(found) == 1 else f"{len(found)} answers differ"
        what = f"{many} from gold only in spelling, such as {quote(answer)} and {quote(gold)} (model {quote(model)})"
        often = spelling.serious and share >= SERIOUS
        if often or not (pairs["answer"] == pairs["gold"]).any():
            meant = Fix("canonical", EXACT, when="if the spelling is meant")
            raise InputError(f"{name}: {what}", (spelling.fix, meant))
        yield f"{what}; {spelling.fix} to count them"
        return


def _unmeant(given: pl.DataFrame, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out pairs that differ in case alone, where both are golds and whoever gives the one gives the other too."""
    import polars as pl

    golds = set(given["gold"]) if found else set()

    def meant(answer: str, gold: str) -> bool:
        if answer not in golds or answer.casefold() != gold.casefold():
            return False
        one, other = (
            set(given.filter(rows)["model"])
            for rows in ((pl.col("answer") == answer) & (pl.col("gold") == gold), pl.col("answer") == gold)
        )
        return one <= other

    return [pair for pair in found if not meant(*pair)]


def _most(given: pl.DataFrame, found: list[tuple[str, str]]) -> tuple[float, str, tuple[str, str]]:
    """The share of such answers in the votes of the model that gives most of them, the model, and its first one."""
    import polars as pl

    strange = pl.DataFrame(found, schema=["answer", "gold"], orient="row").with_columns(strange=True)
    told = given.join(strange, on=["answer", "gold"], how="left", maintain_order="left")
    strange_votes = pl.col("votes").filter(pl.col("strange")).sum()
    shares = told.group_by("model").agg((strange_votes / pl.col("votes").sum()).alias("share"))
    model, share = shares.sort(["share", "model"], descending=[True, False]).row(0)
    first = told.filter(pl.col("strange") & (pl.col("model") == model)).sort("answer", "gold").row(0, named=True)
    return float(share), model, (first["answer"], first["gold"])


def _refuse_other_kinds(given: pl.DataFrame, name: str) -> None:
    """Refuse letters beside golds that are none, and whole replies beside golds that are letters."""
    if given.is_empty() or (given["answer"] == given["gold"]).any():
        return
    golds, answers = (given[column].unique(maintain_order=True).to_list() for column in ("gold", "answer"))
    if all(map(is_no_answer, answers)) or any(map(is_no_answer, golds)):
        return  # A check says what these are.
    letters = [[*filter(is_letter, texts)] for texts in (golds, answers)]
    if letters[0] == golds and 2 * len(letters[1]) < len(answers):
        raise InputError(
            f"{name}: column 'gold' holds letters ({listing(golds, 3)}) and column 'answer' does not "
            f"({quote(answers[0], 60)}); write the letter of each answer's option",
            Fix("reader", "choice", "read answers", "if they are whole replies"),
        )
    if letters[1] == answers and not letters[0]:
        raise InputError(
            f"{name}: column 'answer' holds letters ({listing(answers, 3)}) and column 'gold' does not "
            f"({listing(golds, 3)}): write the letter of each right option in the column 'gold'"
        )


def _refuse_shifted(given: pl.DataFrame, name: str) -> None:
    """Refuse options that answers number from 0 and golds from 1, or the other way round."""
    if how := numbered_otherwise(given["answer"].unique(), given["gold"].unique()):
        raise InputError(
            f"{name}: {how}; number both in the same way",
            Fix("canonical", EXACT, "read them", "if these are not options"),
        )


def repeat_notes(votes: Votes) -> Iterator[str]:
    """Say so where a few questions have more votes of a model than most, and nothing numbers the votes."""
    if any("sample" in engines.columns(source.scan(), source.name) for source in votes.sources):
        return
    (datasets, d), (models, m), (questions, q) = map(votes.codes, ("dataset", "model", "question"))
    # Ballots in the order of dataset, model and question.
    keys = len(datasets) * len(models) * len(questions)
    ballots, numbers = summed((d * len(models) + m) * len(questions) + q, keys, votes.counts["votes"].to_numpy())
    different, times = np.unique(numbers, return_counts=True)
    usual = int(different[times.argmax()])
    more = np.flatnonzero(numbers > usual)
    if not len(more) or 2 * len(more) > len(ballots):
        return
    first = int(ballots[more[0]])
    model, question = models[first // len(questions) % len(models)], questions[first % len(questions)]
    such = f"{numbers[more[0]]} of {quote(model)} on {quote(question)}"
    yield (
        f"{len(more)} of {len(ballots)} pairs of a model and a question have more than {usual} "
        f"{'vote' if usual == 1 else 'votes'}, such as {such}: each row "
        "counts; remove rows that are there twice, or number the votes in a column 'sample'"
    )
