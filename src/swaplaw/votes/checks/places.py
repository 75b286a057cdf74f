"""Answers that are right somewhere else: under other labels, on another question nearby, or shuffled.

Whoever guesses, even among the right answers of a task alone, gives some of them again and again, and others never. A
model whose rows were shuffled, or sorted by another key, gives each about as often as it is gold, and no oftener.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.errors import quote
from swaplaw.votes.checks.seen import SURE, Check, Seen, by_model, known

if TYPE_CHECKING:
    import polars as pl

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


_PARTS = re.compile(r"(\d{1,18})")


@dataclass(frozen=True)
class Own:
    """A model's answers as numbers; golds and answers are numbered by one list of texts."""

    question: Ints
    answer: Ints
    gold: Ints
    """The right answer to each question, -1 if nobody knows it."""
    right: Bools
    votes: Ints

    def where(self, rows: Bools) -> Own:
        """Some of the rows."""
        return Own(*(column[rows] for column in vars(self).values()))

    @property
    def questions(self) -> int:
        """How many different questions there are."""
        return len(np.unique(self.question))

    def share(self, right: Bools | Floats) -> Floats:
        """The share of each question's votes that are right."""
        every = np.bincount(self.question, self.votes)
        return np.bincount(self.question, self.votes * right)[every > 0] / every[every > 0]

    def better(self, here: Bools | Floats, elsewhere: Bools) -> tuple[float, float, float]:
        """The mean shares of answers that are right here, and elsewhere, and their distance in standard errors."""
        own, moved = self.share(here), self.share(elsewhere)
        gain = moved - own
        error = float(gain.std(ddof=1)) / np.sqrt(len(gain))
        return float(own.mean()), float(moved.mean()), float(gain.mean()) / max(error, 1e-9)

    def commonest(self) -> Own:
        """One vote for each question that has one commonest answer: of equals, to take the first would be a habit."""
        most = np.zeros(int(self.question.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(most, self.question, self.votes)
        top = self.where(self.votes == most[self.question])
        some = top.where(np.bincount(top.question)[top.question] == 1)
        return replace(some, votes=np.ones_like(some.votes))


def own_of(rows: pl.DataFrame) -> Own:
    """Number what a model said."""
    import polars as pl

    question, answer, gold = (
        rows[name].to_physical().cast(pl.Int64).fill_null(-1).to_numpy() for name in ("question", "answer", "gold")
    )
    return Own(question, answer, gold, rows["right"].to_numpy(), rows["votes"].to_numpy())


@dataclass(frozen=True)
class Line:
    """Questions in the order that people number them in."""

    order: Ints
    place: Ints
    """Where each question stands in this order."""
    gold: Ints
    """Each question's gold; -1 if nobody knows it."""
    names: Sequence[str]
    """What the questions are called."""

    def beside(self, question: Ints, step: int) -> Ints:
        """The questions a number of steps further on; the first follows the last."""
        return self.order.take((self.place.take(question) + step) % len(self.order))

    def late(self, question: Ints) -> Bools:
        """Whether questions are in the second half."""
        found: Bools = self.place[question] >= len(self.order) // 2
        return found

    def part(self, some: Own, whole: Own) -> str:
        """Where a part of a model's answers begins or ends, if it is not all of them."""
        middle = len(self.order) // 2
        if some.questions == whole.questions:
            return ""
        if self.late(some.question[:1]).all():
            return f"from question {quote(self.names[self.order[middle]])} on, "
        return f"up to question {quote(self.names[self.order[middle - 1]])}, "


def _line(seen: Seen) -> Line:
    names = known(seen.rows, "question")
    every = own_of(seen.rows)
    order = np.unique(every.question).tolist()
    # By this key "q10" comes after "q9".
    order.sort(key=lambda at: [(int(part), "") if part.isdecimal() else (-1, part) for part in _PARTS.split(names[at])])
    place, gold = np.zeros(len(names), dtype=np.int64), np.full(len(names), -1)
    place[order], gold[every.question] = np.arange(len(order)), every.gold
    return Line(np.array(order), place, gold, names)


@dataclass(frozen=True)
class Measured:
    """How many answers of a model are right, wrong, and wrong but gold of another question."""

    right: int
    wrong: int
    elsewhere: int


def displaced(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Models whose answers belong to a question before or after, as where a row was lost, or are shuffled."""
    if not seen.golds:
        return
    line, texts = _line(seen), known(seen.rows, "answer")
    golds = np.array([text in seen.golds for text in texts], dtype=bool)
    models = {model: own_of(rows) for model, rows in by_model(seen.answered)}
    fleet = {
        model: Measured(
            *(int(own.votes[rows].sum()) for rows in (own.right, ~own.right, ~own.right & golds[own.answer]))
        )
        for model, own in models.items()
    }
    for model, own in models.items():
        others = [measured for name, measured in fleet.items() if name != model]
        if moved := _moved(own, line, len(texts)):
            yield seen.check("displaced_answers", "error", model, *_moved_words(model, own, line, moved))
        elif scattered := _scattered(own, fleet[model], others, golds):
            yield seen.check(
                "displaced_answers", "error", model, own.questions, *_scattered_words(model, own, line, scattered)
            )


@dataclass(frozen=True)
class Move:
    """Votes of a model that would be right some steps away, and how much more often."""

    own: Own
    matched: Bools
    step: int
    here: float
    there: float


def _moved(own: Own, line: Line, texts: int) -> Move | None:
    """The first step, and all of a model's answers or a half of them, that are right there and not where they stand."""
    late = line.late(own.question)
    # A model that is right less often than by chance is nearer to any other question: so chance must be beaten, too.
    common = np.bincount(line.gold[line.order] + 1, minlength=texts + 1)[1:] / len(line.order)
    halves = np.stack([own.votes * late, own.votes * ~late]).astype(np.float64)
    right = halves @ own.right
    for step in STEPS:
        matched = own.answer == line.gold[line.beside(own.question, step)]
        latter, former = (halves @ matched - right).tolist()
        for part, gained in ((np.full(len(late), True), latter + former), (~late, former), (late, latter)):
            if gained <= 0:
                continue
            some, there = own.where(part), matched[part]
            if some.questions < SURE:
                continue
            least = FAR if abs(step) == 1 and part.all() else FARTHER
            here, moved, far = some.better(some.right, there)
            if far > least and some.better(common[some.answer], there)[2] > least:
                return Move(some, there, step, here, moved)
    return None


def _moved_words(model: str, own: Own, line: Line, found: Move) -> tuple[int, str, str]:
    wrong = found.own.question[found.matched & ~found.own.right]
    question = wrong[[line.place[wrong].argmin()]]
    said, meant = (line.names[int(at[0])] for at in (question, line.beside(question, found.step)))
    where = "after" if found.step > 0 else "before"
    away = f"on the question {where}" if abs(found.step) == 1 else f"{abs(found.step)} questions {where}"
    return (
        found.own.questions,
        f"{line.part(found.own, own)}{found.here:.0%} of the answers of {quote(model)} are right, but "
        f"{found.there:.0%} would be right {away}: its answer to {quote(said)} is gold of {quote(meant)}",
        "give each of its answers the id of its own question: a row may be missing or doubled",
    )


def _scattered(own: Own, measured: Measured, others: Sequence[Measured], golds: Bools) -> tuple[float, float] | None:
    """Tell whether a model's right answers are given to other questions: its single votes, or its commonest answers.

    Returns what its answers are worth where they stand, and at best if they were given to other questions.
    """
    right = measured.right / max(1, measured.right + measured.wrong)
    best = max((other.right / max(1, other.right + other.wrong) for other in others), default=0.0)
    alone = best <= SELDOM
    if right > (SELDOM if alone else best / LESS):
        return None
    wrong, elsewhere = sum(other.wrong for other in others), sum(other.elsewhere for other in others)
    # Its wrong answers are golds far more often than those of all other models.
    stands_out = wrong >= SURE and measured.elsewhere * wrong > OFTENER * elsewhere * measured.wrong
    for some in (own, own.commonest()):
        if some.questions < SURE:
            continue
        free, spare = _left(some, golds)
        used, guesses, total = int(np.minimum(free, spare).sum()), int(spare.sum()), int(some.votes.sum())
        if not guesses or (alone and used < MOSTLY * total):
            continue
        mean, error = _guessed(free, guesses)
        far = used - mean > (TOLD if stands_out else FAR) * error
        if far and guesses - used <= WASTED * (guesses - mean):
            right_votes = int(some.votes[some.right].sum())
            return right_votes / total, (right_votes + used) / total
    return None


def _left(own: Own, golds: Bools) -> tuple[Ints, Ints]:
    """Of each gold that is not always met: votes of its questions that are not right, and votes for it elsewhere."""
    known = own.gold >= 0
    asked, kept = (
        np.bincount(own.gold[rows], own.votes[rows], len(golds)).astype(np.int64) for rows in (known, known & own.right)
    )
    given = np.bincount(own.answer, own.votes, len(golds)).astype(np.int64)
    some = (asked > kept) & golds
    return (asked - kept)[some], (given - kept)[some]


def _guessed(free: Ints, guesses: int) -> tuple[float, float]:
    """How many guesses would find a gold that is still free, and the standard error of that.

    Guesses fall on golds in proportion to how often each is free, which wastes the fewest.
    """
    drawn = np.random.default_rng(0).multinomial(guesses, free / free.sum(), size=DRAWS)
    found = np.minimum(drawn, free).sum(axis=1)
    return float(found.mean()), float(found.std(ddof=1))


def _scattered_words(model: str, own: Own, line: Line, found: tuple[float, float]) -> tuple[str, str]:
    """The example is an answer that is gold of few questions, best of one."""
    golds = np.bincount(line.gold[line.order] + 1, minlength=int(own.answer.max()) + 2)[1:]
    wrong = own.where(~own.right & (golds[own.answer] > 0))
    first = np.lexsort((wrong.answer, line.place[wrong.question], golds[wrong.answer]))[0]
    meant = line.order[line.gold[line.order] == wrong.answer[first]][0]
    return (
        f"{found[0]:.0%} of the answers of {quote(model)} are right, but {found[1]:.0%} could be if they were given to "
        f"other questions, more than by guessing: its answer to {quote(line.names[wrong.question[first]])} is gold of "
        f"{quote(line.names[meant])}",
        "give each of its answers the id of its own question: its rows may be shuffled, or sorted by another column",
    )


def relabelled(seen: Seen, rows: pl.DataFrame) -> str | None:
    """Under which labels, if under any, a model would be right: it writes the next letter, or counts from 0 and not 1.

    Which gold a label stands for is read off every other question and tried on the rest, so it cannot come by luck.
    """
    own = own_of(rows)
    if own.questions < SURE:
        return None
    golds, texts = len(seen.golds), known(rows, "answer")
    times = TIMES_OF_LETTERS if seen.letters and golds > 2 else TIMES
    rank = np.unique(own.question, return_inverse=True)[1]
    right = float(own.share(own.right).mean())
    if _most(own, rank, len(texts)) < times * right - ROUNDING:
        return None
    stand = np.full((2, len(texts)), -2)
    for half in (0, 1):
        meant = _meanings(own.where(rank % 2 != half))
        stand[half, list(meant)] = list(meant.values())
    here, moved, far = own.better(own.right, stand[rank % 2, own.answer] == own.gold)
    # Whatever a model's favourite letter stood for, it would be right as often as that is gold.
    first = np.unique(own.question, return_index=True)[1]
    constant = np.bincount(own.gold[first] + 1).max() / own.questions
    if far <= FAR or moved < max(times * here, ABOVE_CHANCE / golds, constant):
        return None
    stands = {texts[answer]: texts[gold] for answer, gold in sorted(_meanings(own).items())}
    moves = [f"{quote(said)} stands for {quote(gold)}" for said, gold in stands.items() if said != gold]
    return f"{moved:.0%} would be right if {', '.join(moves[:3])}{', and so on' if len(moves) > 3 else ''}"


def _most(own: Own, rank: Ints, texts: int) -> float:
    """The share of answers that is right at most, whatever each label stands for in either half of the questions."""
    share = own.votes / np.bincount(rank, own.votes)[rank]
    label, gold = np.unique(2 * own.answer + rank % 2, return_inverse=True)[1], np.unique(own.gold, return_inverse=True)
    table = np.zeros((label.max() + 1, len(gold[0])))
    np.add.at(table, (label, gold[1]), share)
    return float(table.max(axis=1).sum()) / own.questions


def _meanings(own: Own) -> dict[int, int]:
    """Which gold each answer stands for most often, every gold once, the clearest first."""
    pairs, place = np.unique(np.stack([own.answer, own.gold]), axis=1, return_inverse=True)
    votes = np.bincount(place, own.votes)
    found: dict[int, int] = {}
    for at in np.argsort(-votes, kind="stable").tolist():
        answer, gold = pairs[:, at].tolist()
        if answer not in found and gold not in found.values():
            found[answer] = gold
    return found
