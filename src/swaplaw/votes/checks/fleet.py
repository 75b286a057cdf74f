"""Models that say the same whatever is asked, or the same as another; and too little of anything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Floats, Ints
from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import SURE, Ballots, Check, added
from swaplaw.votes.codes import distinct, summed

CONSTANT = 0.95
FEW_QUESTIONS = 30
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27))
"""How SplitMix64 mixes bits (Steele, Lea and Flood, 2014)."""


def constant(ballots: Ballots) -> Iterator[Check]:
    """Models that give one answer to everything."""
    if not ballots.golds:
        return
    rows = ballots.answered
    model, answer, votes = rows.per(rows.model, rows.sizes.models, rows.answer, rows.sizes.answers)
    for own in ballots.models:
        spoken = np.flatnonzero(model == ballots.names.models.index(own))
        if not len(spoken):
            continue
        # The answer with the most votes; of equals, the last by name.
        most = spoken[np.lexsort((answer[spoken], votes[spoken]))[-1]]
        share, n = int(votes[most]) / ballots.answers[own], ballots.asked[own]
        if share < CONSTANT or n < SURE:
            continue
        right = rows.where(rows.right & (rows.model == model[most]) & (rows.answer == answer[most])).total
        if right < 0.7 * votes[most]:
            yield ballots.check(
                "constant_answer", "warning", own, n,
                f"{quote(own)} answers {quote(ballots.names.answers[answer[most]])} in {share:.0%} of its votes, "
                "whatever the question",
                "look at its completions: a template or a stop sequence may cut them short",
            )  # fmt: skip


def copies(ballots: Ballots) -> Iterator[Check]:
    """Models whose votes are all the same."""
    rows = ballots.rows
    width = rows.sizes.answers + 2
    # However a right answer is spelt, it is gold: it takes the last place, behind no answer.
    said = np.where(rows.right, width - 1, rows.answer)
    model, question, ballot, votes = rows.model, rows.question, rows.ballot, rows.votes
    of_gold = ballot[rows.right]
    if len(distinct(of_gold, rows.sizes.models * rows.sizes.questions)[0]) < len(of_gold):
        key, votes = summed(ballot * width + said, rows.sizes.models * rows.sizes.questions * width, votes)
        ballot, said = np.divmod(key, width)
        model, question = np.divmod(ballot, rows.sizes.questions)
    every, place = distinct(ballot, rows.sizes.models * rows.sizes.questions)
    # Twice as many votes in the same shares are the same vote; equal quotients are equal floats.
    share = votes / added(place, votes, len(every)).take(place)
    mark = _marks(question * width + said, share)
    order = np.argsort(model.astype(np.min_scalar_type(rows.sizes.models)), kind="stable")
    number = np.bincount(model, minlength=rows.sizes.models)[rows.models]
    marks = np.add.reduceat(mark[order], np.cumsum(number) - number)
    alike: dict[tuple[int, int], list[int]] = {}
    for own, total, size in zip(rows.models.tolist(), marks.tolist(), number.tolist(), strict=True):
        alike.setdefault((total, size), []).append(own)
    for first, *others in sorted(alike.values()):
        n, own = int(rows.asked[first]), model == first
        if others and n >= SURE and bool((said[own] < width - 2).any()):
            for copy in others:
                names = ballots.names.models[copy], ballots.names.models[first]
                yield ballots.check(
                    "duplicate_model", "warning", names[0], n,
                    f"{quote(names[0])} votes exactly as {quote(names[1])} does on all {n:,} questions: together they "
                    "are one model, and it cannot change a vote",
                    "leave one of them out, and check that two names do not stand for one file",
                )  # fmt: skip


def _marks(place: Ints, share: Floats) -> npt.NDArray[np.uint64]:
    """A mark of each share of a place: sums of them are the same where all shares are, and by chance once in 2^64."""
    mark = place.astype(np.uint64) * _FACTORS[0] + np.ascontiguousarray(share).view(np.uint64)
    for factor, shift in zip(_FACTORS, _SHIFTS, strict=True):
        mark ^= mark >> shift
        mark *= factor
    return mark ^ (mark >> _SHIFTS[0])


def shape(ballots: Ballots) -> Iterator[Check]:
    """Too few questions, questions that not all models share, one sample each, one cluster."""
    n = ballots.questions
    if n < FEW_QUESTIONS:
        yield ballots.check(
            "few_questions", "note", None, n,
            f"there {'is' if n == 1 else 'are'} only {n} question{'' if n == 1 else 's'}: intervals need about "
            f"{FEW_QUESTIONS} or more to be trusted",
            "collect more questions",
        )  # fmt: skip
    rows = ballots.rows
    asked = np.bincount(rows.ballots % rows.sizes.questions, minlength=rows.sizes.questions)
    common = int(np.count_nonzero(asked == len(ballots.models)))
    if 0 < 2 * common < n:  # Where they share none, every command says so by itself.
        fewest = rows.models[rows.asked[rows.models].argmin()]
        model, own = ballots.names.models[fewest], int(rows.asked[fewest])
        yield ballots.check(
            "uneven_questions", "warning", model, n - common,
            f"only {common:,} of {n:,} questions have votes of all {len(ballots.models)} models; {quote(model)} has "
            f"the fewest, {own:,}",
            "collect what is missing, or name models that share their questions",
        )  # fmt: skip
    if rows.total == len(rows.ballots) and len(ballots.models) > 1:
        yield ballots.check(
            "one_sample", "note", None, n,
            "every model has one vote per question: of two such votes the heavier always wins, so pairs cannot gain",
            "collect several samples per model and question, or compare three models or more",
        )  # fmt: skip
    if ballots.clusters == 1 and n > 1:
        yield ballots.check(
            "one_cluster", "warning", None, n,
            "all questions are in one cluster, which says nothing about how questions vary",
            "name what questions are nested in (a file, an exam), or drop the column `cluster`",
        )  # fmt: skip
