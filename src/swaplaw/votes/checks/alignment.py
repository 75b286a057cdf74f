"""Answers that are right somewhere else: under other labels, or on the next question."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import Ballots, Rows, added
from swaplaw.votes.checks.check import SURE, Check

FAR = 4.0
"""Standard errors by which answers must be right more often elsewhere than where they stand."""
TIMES = 3
"""How many times as often, at least, answers must be right under other labels: with two labels, 3 of 4."""
ABOVE_CHANCE = 1.5
"""And how many times as often as by guessing: whoever is never right is right by chance under any other labels."""


def displaced(ballots: Ballots) -> Iterator[Check]:
    """Models whose answers belong to the question before or after, as where a row was lost."""
    if not ballots.golds:
        return
    gold, place, numbered = _golds_in_order(ballots)
    # A model that is right less often than by chance is nearer to any other question: so chance must be beaten, too.
    common = np.bincount(gold[numbered] + 1, minlength=len(ballots.names.answers) + 1)[1:] / len(numbered)
    answered = ballots.answered
    right = added(answered.model, answered.votes * answered.right, answered.sizes.models)
    for step, where in ((-1, "before"), (1, "after")):
        beside = numbered[(place[answered.question] + step) % len(numbered)]
        elsewhere = answered.answer == gold[beside]
        nearer = added(answered.model, answered.votes * elsewhere, answered.sizes.models) > right
        for at in np.flatnonzero(nearer & (answered.asked >= SURE)).tolist():
            chosen = answered.model == at
            rows, matched = answered.where(chosen), elsewhere[chosen]
            own, moved, far = _better(rows, rows.right, matched)
            if far <= FAR or _better(rows, common[rows.answer], matched)[2] <= FAR:
                continue
            example = np.flatnonzero(matched & ~rows.right)[0]
            model = ballots.names.models[at]
            names = [ballots.names.questions[one] for one in (rows.question[example], beside[chosen][example])]
            yield ballots.check(
                "displaced_answers", "error", model, ballots.asked[model],
                f"{own:.0%} of the answers of {quote(model)} are right, but {moved:.0%} would be right on the question "
                f"{where}: its answer to {quote(names[0])} is gold of {quote(names[1])}",
                "give each of its answers the id of its own question: a row may be missing or doubled",
            )  # fmt: skip


def relabelled(ballots: Ballots, rows: Rows) -> str | None:
    """Under which labels, if under any, a model would be right: it writes the next letter, or counts from 0 and not 1.

    Which gold a label stands for is read off every other question and tried on the rest, so it cannot come by luck.
    """
    if rows.questions < SURE:
        return None
    rank = np.unique(rows.question, return_inverse=True)[1]
    meant = [_meanings(rows.where(rank % 2 != half)) for half in (0, 1)]
    pairs = zip(rows.answer.tolist(), rows.gold.tolist(), (rank % 2).tolist(), strict=True)
    elsewhere = np.array([meant[half].get(answer) == gold for answer, gold, half in pairs])
    own, moved, far = _better(rows, rows.right, elsewhere)
    if far <= FAR or moved < max(TIMES * own, ABOVE_CHANCE / len(ballots.golds)):
        return None
    names = ballots.names
    stands = {names.answers[answer]: names.golds[gold] for answer, gold in sorted(_meanings(rows).items())}
    moves = [f"{quote(said)} stands for {quote(gold)}" for said, gold in stands.items() if said != gold]
    return f"{moved:.0%} would be right if {', '.join(moves[:3])}{', and so on' if len(moves) > 3 else ''}"


def _meanings(rows: Rows) -> dict[int, int]:
    """Which gold each answer stands for most often, every gold once, the clearest first."""
    answer, gold, votes = rows.per(rows.answer, rows.sizes.answers, rows.gold, rows.sizes.golds)
    found: dict[int, int] = {}
    for at in np.lexsort((gold, answer, -votes)).tolist():
        if int(answer[at]) not in found and int(gold[at]) not in found.values():
            found[int(answer[at])] = int(gold[at])
    return found


def _better(rows: Rows, here: Bools | Floats, elsewhere: Bools) -> tuple[float, float, float]:
    """The mean shares of answers that are right here, and elsewhere, and their distance in standard errors."""
    _, place = np.unique(rows.question, return_inverse=True)
    every = np.bincount(place, rows.votes)
    own, moved = (np.bincount(place, rows.votes * right) / every for right in (here, elsewhere))
    gain = moved - own
    error = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return float(own.mean()), float(moved.mean()), float(gain.mean()) / max(error, 1e-9)


def _golds_in_order(ballots: Ballots) -> tuple[Ints, Ints, Ints]:
    """Each question's gold as an answer, its place in the order that people number questions in, and that order."""
    rows, names = ballots.rows, ballots.names
    known = {text: at for at, text in enumerate(names.answers)}
    of_gold = np.array([known.get(gold, -1) for gold in names.golds] + [-1])
    gold = np.full(rows.sizes.questions, -1)
    gold[rows.question] = of_gold[rows.gold]
    asked = np.unique(rows.question).tolist()
    numbered = np.array(sorted(asked, key=lambda at: _natural(names.questions[at])))
    place = np.zeros(rows.sizes.questions, dtype=np.int64)
    place[numbered] = np.arange(len(numbered))
    return gold, place, numbered


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which "q10" comes after "q9"."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]
