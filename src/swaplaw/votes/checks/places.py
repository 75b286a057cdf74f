"""Answers that are right somewhere else: under other labels, on another question nearby, or shuffled.

Whoever guesses, even among the right answers of a task alone, gives some of them again and again, and others never. A
model whose rows were shuffled, or sorted by another key, gives each about as often as it is gold, and no oftener.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import SURE, Ballots, Check, Rows, added

TOLD = 3.0
"""Standard errors by which answers must be golds of other questions more evenly than guesses could be, and where wrong
answers of other models are such golds far less often."""
OFTENER = 3.0
"""How many times as often as those of other models."""
WASTED = 0.6
"""Share, at most, of the answers that guesses would give too often: near misses are a little more even than guesses."""
DRAWS = 200
"""Guesses that are made up to see what guessing would find."""
LESS = 1.5
"""How many times as often another model must be right at least."""
SELDOM, MOSTLY = 0.05, 0.5
"""Where no other model tells how often one can be right: the share of answers that are, and that are gold elsewhere."""


@dataclass(frozen=True)
class Scattered:
    """What a model's answers are worth where they stand, and at best if they were given to other questions."""

    own: float
    moved: float


@dataclass(frozen=True)
class Fleet:
    """What the models of a dataset are measured by."""

    as_gold: Ints
    """Which gold each answer is; the number of golds if it is none."""
    right: Floats
    """How often each model is right."""
    wrong: Ints
    """Wrong votes of each model."""
    elsewhere: Ints
    """Wrong votes of each model that are gold of another question."""

    def best_but(self, model: int) -> float:
        """How often the best other model is right; 0 if there is none."""
        return float(np.delete(self.right, model).max(initial=0.0))

    def stands_out(self, model: int) -> bool:
        """Whether a model's wrong answers are golds far more often than those of all other models."""
        others = [int(np.delete(votes, model).sum()) for votes in (self.elsewhere, self.wrong)]
        own = [int(votes[model]) for votes in (self.elsewhere, self.wrong)]
        return others[1] >= SURE and own[0] * others[1] > OFTENER * others[0] * own[1]


def fleet(ballots: Ballots) -> Fleet:
    """Measure the models of a dataset."""
    rows, names = ballots.answered, ballots.names
    places = {names.golds[place]: place for place in rows.golds.tolist()}
    as_gold = np.array([places.get(answer, rows.sizes.golds) for answer in names.answers])
    elsewhere = ~rows.right & (as_gold < rows.sizes.golds)[rows.answer]
    right, wrong, found = (
        added(rows.model, rows.votes * told, rows.sizes.models) for told in (rows.right, ~rows.right, elsewhere)
    )
    return Fleet(as_gold, right / np.maximum(1, right + wrong), wrong, found)


def scattered(rows: Rows, fleet: Fleet) -> Scattered | None:
    """Tell whether a model's right answers are given to other questions: its single votes, or its commonest answers."""
    model = int(rows.model[0])
    own, best = float(fleet.right[model]), fleet.best_but(model)
    alone = best <= SELDOM
    if own > (SELDOM if alone else best / LESS):
        return None
    least = TOLD if fleet.stands_out(model) else FAR
    for some in (rows, _commonest(rows)):
        if some.questions < SURE:
            continue
        free, spare = _left(some, fleet.as_gold)
        used, guesses = int(np.minimum(free, spare).sum()), int(spare.sum())
        if not guesses or (alone and used < MOSTLY * some.total):
            continue
        mean, error = _guessed(free, guesses)
        if used - mean > least * error and guesses - used <= WASTED * (guesses - mean):
            right = int(some.votes[some.right].sum())
            return Scattered(right / some.total, (right + used) / some.total)
    return None


def _left(rows: Rows, as_gold: Ints) -> tuple[Ints, Ints]:
    """Of each gold that is not always met: votes of its questions that are not right, and votes for it elsewhere."""
    golds = rows.sizes.golds
    asked, given = (added(place, rows.votes, golds)[:golds] for place in (rows.gold, as_gold[rows.answer]))
    kept = added(rows.gold, rows.votes * rows.right, golds)[:golds]
    some = asked > kept
    return (asked - kept)[some], (given - kept)[some]


def _commonest(rows: Rows) -> Rows:
    """One vote for each question that has one commonest answer: of equals, to take the first would be a habit."""
    most = np.zeros(rows.sizes.questions, dtype=np.int64)
    np.maximum.at(most, rows.question, rows.votes)
    top = rows.where(rows.votes == most[rows.question])
    some = top.where(np.bincount(top.question)[top.question] == 1)
    return replace(some, votes=np.ones_like(some.votes))


def _guessed(free: Ints, guesses: int) -> tuple[float, float]:
    """How many guesses would find a gold that is still free, and the standard error of that.

    Guesses fall on golds in proportion to how often each is free, which wastes the fewest.
    """
    drawn = np.random.default_rng(0).multinomial(guesses, free / free.sum(), size=DRAWS)
    found = np.minimum(drawn, free).sum(axis=1)
    return float(found.mean()), float(found.std(ddof=1))


FAR = 4.0
"""Standard errors by which answers must be right more often elsewhere than where they stand."""
FARTHER = 5.0
"""The same where many places are tried."""
STEPS = tuple(step for size in range(1, 6) for step in (-size, size))
"""Questions by which answers may be displaced, the likeliest first: a header, or five questions shown as examples."""
TIMES = 3
"""How many times as often, at least, answers must be right under other labels: with two labels, 3 of 4."""
TIMES_OF_LETTERS = 1.5
"""The same of three letters or more, which mean nothing by themselves: nobody confuses two of them all the time."""
ABOVE_CHANCE = 1.5
"""And how many times as often as by guessing: whoever is never right is right by chance under any other labels."""


ROUNDING = 1e-9
"""How far sums of shares may be from what they should be."""


@dataclass(frozen=True)
class Line:
    """Questions in the order that people number them in."""

    order: Ints
    place: Ints
    """Where each question stands in this order."""
    gold: Ints
    """Each question's gold, as an answer; -1 if nobody gives it."""

    def beside(self, question: Ints, step: int) -> Ints:
        """The questions a number of steps further on; the first follows the last."""
        return self.order.take((self.place.take(question) + step) % len(self.order))

    @cached_property
    def golds(self) -> dict[int, Ints]:
        """Each question's gold some steps further on, for each number of steps that is tried; -1 of no question."""
        found = {step: np.full(len(self.gold), -1) for step in STEPS}
        for step, gold in found.items():
            gold[self.order] = self.gold[self.beside(self.order, step)]
        return found

    def late(self, question: Ints) -> Bools:
        """Whether questions are in the second half."""
        found: Bools = self.place[question] >= len(self.order) // 2
        return found


@dataclass(frozen=True)
class Move:
    """Votes of a model that would be right some steps away, and how much more often."""

    rows: Rows
    matched: Bools
    step: int
    own: float
    moved: float


def displaced(ballots: Ballots) -> Iterator[Check]:
    """Models whose answers belong to a question before or after, as where a row was lost."""
    if not ballots.golds:
        return
    line = _line(ballots)
    known = fleet(ballots)
    for model, rows in ballots.by_model(ballots.answered):
        if found := _moved(rows, line):
            yield _moved_check(ballots, model, rows, line, found)
        elif elsewhere := scattered(rows, known):
            yield _scattered_check(ballots, model, rows, line, elsewhere)


def _moved_check(ballots: Ballots, model: str, rows: Rows, line: Line, found: Move) -> Check:
    names = ballots.names.questions
    wrong = found.rows.question[found.matched & ~found.rows.right]
    question = wrong[[line.place[wrong].argmin()]]
    said, meant = (names[int(at[0])] for at in (question, line.beside(question, found.step)))
    return ballots.check(
        "displaced_answers", "error", model, found.rows.questions,
        f"{_part(found.rows, rows, line, names)}{found.own:.0%} of the answers of {quote(model)} are right, but "
        f"{found.moved:.0%} would be right {_away(found.step)}: its answer to {quote(said)} is gold of "
        f"{quote(meant)}",
        "give each of its answers the id of its own question: a row may be missing or doubled",
    )  # fmt: skip


def _scattered_check(ballots: Ballots, model: str, rows: Rows, line: Line, found: Scattered) -> Check:
    """The example is an answer that is gold of few questions, best of one."""
    golds, names = np.bincount(line.gold[line.order] + 1, minlength=rows.sizes.answers + 1)[1:], ballots.names.questions
    wrong = rows.where(~rows.right & (golds[rows.answer] > 0))
    first = np.lexsort((wrong.answer, line.place[wrong.question], golds[wrong.answer]))[0]
    said, meant = wrong.question[first], line.order[line.gold[line.order] == wrong.answer[first]][0]
    return ballots.check(
        "displaced_answers", "error", model, rows.questions,
        f"{found.own:.0%} of the answers of {quote(model)} are right, but {found.moved:.0%} could be if they were "
        f"given to other questions, more than by guessing: its answer to {quote(names[said])} is gold of "
        f"{quote(names[meant])}",
        "give each of its answers the id of its own question: its rows may be shuffled, or sorted by another column",
    )  # fmt: skip


def _moved(rows: Rows, line: Line) -> Move | None:
    """The first step, and all of a model's answers or a half of them, that are right there and not where they stand."""
    late = line.late(rows.question)
    # A model that is right less often than by chance is nearer to any other question: so chance must be beaten, too.
    common = np.bincount(line.gold[line.order] + 1, minlength=rows.sizes.answers + 1)[1:] / len(line.order)
    every = np.full(len(late), True)
    halves = np.stack([rows.votes * late, rows.votes * ~late]).astype(np.float64)
    own = halves @ rows.right
    for step in STEPS:
        matched = rows.answer == line.golds[step][rows.question]
        latter, former = (halves @ matched - own).tolist()
        for part, gained in ((every, latter + former), (~late, former), (late, latter)):
            if gained <= 0:
                continue
            some, there = rows.where(part), matched[part]
            if some.questions < SURE:
                continue
            least = FAR if abs(step) == 1 and part.all() else FARTHER
            here, moved, far = _better(some, some.right, there)
            if far > least and _better(some, common[some.answer], there)[2] > least:
                return Move(some, there, step, here, moved)
    return None


def _part(some: Rows, rows: Rows, line: Line, names: Sequence[str]) -> str:
    """Where a part of a model's answers begins or ends, if it is not all of them."""
    if some.questions == rows.questions:
        return ""
    middle = len(line.order) // 2
    if line.late(some.question[:1]).all():
        return f"from question {quote(names[line.order[middle]])} on, "
    return f"up to question {quote(names[line.order[middle - 1]])}, "


def _away(step: int) -> str:
    """Where a question stands, seen from another.

    >>> _away(1), _away(-3)
    ('on the question after', '3 questions before')
    """
    where = "after" if step > 0 else "before"
    return f"on the question {where}" if abs(step) == 1 else f"{abs(step)} questions {where}"


def relabelled(ballots: Ballots, rows: Rows) -> str | None:
    """Under which labels, if under any, a model would be right: it writes the next letter, or counts from 0 and not 1.

    Which gold a label stands for is read off every other question and tried on the rest, so it cannot come by luck.
    """
    if rows.questions < SURE:
        return None
    golds = len(ballots.golds)
    times = TIMES_OF_LETTERS if ballots.letters and golds > 2 else TIMES
    rank = _rank(rows.question)
    if _most(rows, rank) < times * _better(rows, rows.right, rows.right)[0] - ROUNDING:
        return None
    meant = [_meanings(rows.where(rank % 2 != half)) for half in (0, 1)]
    stand = np.full((2, rows.sizes.answers), -1)
    for half, found in enumerate(meant):
        stand[half, list(found)] = list(found.values())
    own, moved, far = _better(rows, rows.right, stand[rank % 2, rows.answer] == rows.gold)
    # Whatever a model's favourite letter stood for, it would be right as often as that is gold.
    gold = np.zeros(rows.questions, dtype=np.int64)
    gold[rank] = rows.gold
    constant = np.bincount(gold).max() / rows.questions
    if far <= FAR or moved < max(times * own, ABOVE_CHANCE / golds, constant):
        return None
    names = ballots.names
    stands = {names.answers[answer]: names.golds[gold] for answer, gold in sorted(_meanings(rows).items())}
    moves = [f"{quote(said)} stands for {quote(gold)}" for said, gold in stands.items() if said != gold]
    return f"{moved:.0%} would be right if {', '.join(moves[:3])}{', and so on' if len(moves) > 3 else ''}"


def _most(rows: Rows, rank: Ints) -> float:
    """The share of answers that is right at most, whatever each label stands for in either half of the questions."""
    share = rows.votes / np.bincount(rank, rows.votes)[rank]
    label = 2 * _rank(rows.answer) + rank % 2
    right = np.bincount(label * (rows.sizes.golds + 1) + rows.gold, share, (label.max() + 1) * (rows.sizes.golds + 1))
    return float(right.reshape(-1, rows.sizes.golds + 1).max(axis=1).sum()) / rows.questions


def _rank(places: Ints) -> Ints:
    """Number the places that there are from 0, in their order."""
    rank: Ints = (np.cumsum(np.bincount(places) > 0) - 1)[places]
    return rank


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
    every = np.bincount(rows.question, rows.votes)
    some = every > 0
    own, moved = (np.bincount(rows.question, rows.votes * right)[some] / every[some] for right in (here, elsewhere))
    gain = moved - own
    error = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return float(own.mean()), float(moved.mean()), float(gain.mean()) / max(error, 1e-9)


def _line(ballots: Ballots) -> Line:
    rows, names = ballots.rows, ballots.names
    known = {text: at for at, text in enumerate(names.answers)}
    of_gold = np.array([known.get(gold, -1) for gold in names.golds] + [-1])
    gold = np.full(rows.sizes.questions, -1)
    gold[rows.question] = of_gold[rows.gold]
    asked = np.unique(rows.question).tolist()
    order = np.array(sorted(asked, key=lambda at: _natural(names.questions[at])))
    place = np.zeros(rows.sizes.questions, dtype=np.int64)
    place[order] = np.arange(len(order))
    return Line(order, place, gold)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which "q10" comes after "q9"."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]
