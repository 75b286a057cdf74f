"""Graded prose: right answers that a judge made agree, and wrong ones that never do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from swaplaw._core.arrays import Ints
from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import Ballots, added, flags, form
from swaplaw.votes.checks.check import Check

UNIQUE = 0.8
"""Share of wrong answers that nobody repeats, from which on answers are prose."""
FEW_WRONG, FEW_PROSE = 2, 10
"""Wrong answers of a model on a question, and how many such questions, that it takes to tell."""
WORDY = 4
"""Words of an answer from which on it is prose: two models seldom give the same short wrong answer by themselves."""
FORMULA = 5
"""A wrong answer to this many questions is a formula ("I do not know"), and says nothing of how others are worded."""
SEEN = 0.005
"""By how much a vote must be above a single sample to be called inflated."""
SOME = 0.1
"""Share of golds that must be numbers where wrong answers are."""
MANY_GOLDS = 8
"""Different golds that it takes to tell what right answers look like."""
LONGEST = 2000
"""Characters of a text whose words are counted."""
LOOKED_AT = 1000
"""Texts of a kind that are looked at."""
_GRADED = "compare answers by a rule that needs no gold: `swaplaw import VOTES --canonical text` without `correct`"
_ORACLE = (
    "put the texts that the models wrote in the column `answer`, right or wrong, and compare them by a rule that needs "
    "no gold (`--canonical text`)"
)
_NUMBER = re.compile(r"[-+$]?[\d.,/ ]+\w{0,3}")
_QUANTITY = re.compile(r"\W{0,4}\d[\d.,:/%eE+-]*(?:[^\W\d_]*\W*){0,3}|[0-9a-f]{6,}", re.IGNORECASE)
"""A number with a unit, a time, a date, a digest."""
_FORMULA = re.compile(r"(?=.*\d)(?=.*[-+*/^=(){}\[\],\\&])(?!.*(?<!\\)\b[^\W\d_]{4,}).{1,120}", re.DOTALL)
"""Numbers and signs without a word: a tuple, an expression, a matrix."""
_LATEX = re.compile(r"(?<=\\begin)\{\w{1,20}\*?\}|(?<=\\end)\{\w{1,20}\*?\}")
"""The names of LaTeX's environments, which are no words."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Characters of languages that put no blanks between words."""
_ITEMS = re.compile(r"[,;]")


def graded_prose(ballots: Ballots) -> Iterator[Check]:
    """Right answers that all agree, and wrong ones that never do: a judge, not the models, made them agree."""
    if not ballots.rows.right.any():
        return  # Nobody made right answers agree: there are none.
    asked, answer, votes = _worded(ballots)
    _, place = np.unique(asked, return_inverse=True)
    every, lone = added(place, votes, 0), added(place, np.where(votes == 1, 1, 0), 0)
    telling = every >= FEW_WRONG
    once = int(lone[telling].sum()) / max(1, int(every[telling].sum()))
    number = int(telling.sum())
    if number < FEW_PROSE or once < UNIQUE:
        return
    texts = [ballots.names.answers[one] for one in answer[votes == 1][:LOOKED_AT]]
    right = _right_texts(ballots)
    numeric = _numbers(texts) > 0.5 and (len(right) < MANY_GOLDS or _numbers(right) >= SOME)
    if numeric or _like_gold(texts, right):
        return
    model, single, pooled, spelt = max(_inflated(ballots), key=lambda row: row[2] - row[1])
    vote = (
        f", its plurality vote {pooled:.1%}" if pooled > single + SEEN else "; any vote among texts would be inflated"
    )
    free = "" if spelt is None else f", and {spelt:.1%} when texts are compared as they are spelt"
    yield ballots.check(
        "graded_prose", "error", model, number,
        f"right answers agree with each other and {once:.0%} of the wrong ones "
        "are given once only, as if a judge had replaced every right text by gold: a single sample of "
        f"{quote(model)} is right {single:.1%} of the time{vote}{free}; nobody could count such a vote in deployment",
        f"{_ORACLE if spelt is None else _GRADED}, or ask for short answers",
    )  # fmt: skip


def _worded(ballots: Ballots) -> tuple[Ints, Ints, Ints]:
    """How often each wrong answer was given to each question, leaving out options and formulas: asked, answer, votes.

    By each model, since whoever answers in a word repeats it; by all models together where each answered once, and then
    only answers of several words.
    """
    wrong, sizes, names = ballots.wrong, ballots.wrong.sizes, ballots.names.answers
    question, answer, votes = wrong.per(wrong.question, sizes.questions, wrong.answer, sizes.answers)
    rare = np.bincount(answer, minlength=sizes.answers) < FORMULA
    once = ballots.rows.total == len(ballots.rows.ballots)
    asked = question if once else wrong.ballot
    if not once:
        answer, votes = wrong.answer, wrong.votes
    kept = np.flatnonzero(rare & (np.bincount(answer, minlength=sizes.answers) > 0)).tolist()
    if once:
        kept = [one for one in kept if _words(names[one]) >= WORDY]
    if ballots.closed:
        kept = [one for one in kept if not ballots.is_option(names[one])]
    chosen = flags(kept, sizes.answers)[answer]
    return asked[chosen], answer[chosen], votes[chosen]


def _numbers(texts: list[str]) -> float:
    """The share of numbers, quantities and formulas: these differ as answers, whoever compares them."""
    number = form("math")

    def counts(text: str) -> bool:
        bare = _LATEX.sub("", text)
        return any(kind.fullmatch(bare) for kind in (_QUANTITY, _FORMULA)) or bool(_NUMBER.fullmatch(number(text)))

    return sum(map(counts, texts)) / max(1, len(texts))


def _right_texts(ballots: Ballots) -> list[str]:
    """What right answers look like: golds, or the texts graded right where every question has only one such text."""
    if ballots.golds:
        return sorted(ballots.golds)[:LOOKED_AT]
    return [] if _respelt(ballots) else ballots.texts(ballots.answered.where(ballots.answered.right))[:LOOKED_AT]


def _like_gold(texts: list[str], golds: list[str]) -> bool:
    """Whether most wrong answers could be golds of other questions: an open task with short answers.

    Golds must vary, and wrong answers must have as many words, about the length and no other kinds of characters. A
    wrong answer that is some word and a number ("wrong-17") tells itself from every gold by its word.
    """
    if len(golds) < MANY_GOLDS:
        return False
    shapes: dict[int, list[str]] = {}
    for gold in golds:
        shapes.setdefault(_words(gold), []).append(gold)
    known = {
        words: (min(map(len, alike)), max(map(len, alike)), set[str]().union(*map(_kinds, alike)))
        for words, alike in shapes.items()
        if words < WORDY
    }

    def alike(text: str) -> bool:
        least, most, kinds = known.get(_words(text), (1, 0, set()))
        return least <= 2 * len(text) and len(text) <= 2 * most and _kinds(text) <= kinds

    stem, often = Counter(map(_stem, texts)).most_common(1)[0]
    labelled = 2 * often > len(texts) and len(stem) > 2 and stem not in set(map(_stem, golds))
    return not labelled and 2 * sum(map(alike, texts)) > len(texts)


def _words(text: str) -> int:
    """About how many words a text has, or the longest item of a list: a list of names is no sentence.

    >>> _words("Oslo, Rome, Paris, Bern"), _words("it rains in Rome"), _words("水在压力下移动因为细胞分裂")
    (1, 4, 5)
    """
    return max(len(item.split()) + len(_UNSPACED.findall(item)) // 3 for item in _ITEMS.split(text[:LONGEST]))


def _kinds(text: str) -> set[str]:
    """The kinds of characters of a text: capitals, other letters, digits, and each sign by itself."""
    return {
        "0" if char.isdigit() else ("A" if char.isupper() else "a") if char.isalpha() else char
        for char in text
        if not char.isspace()
    }


def _stem(text: str) -> str:
    """The letters of a text."""
    return "".join(filter(str.isalpha, text)).casefold()


def _respelt(ballots: Ballots) -> bool:
    """Whether right answers to some question are spelt in several ways."""
    right = ballots.answered.where(ballots.answered.right)
    spellings, _, _ = right.per(right.question, right.sizes.questions, right.answer, right.sizes.answers)
    return bool((np.bincount(spellings) > 1).any())


def _inflated(ballots: Ballots) -> Iterator[tuple[str, float, float, float | None]]:
    """Each model's accuracy by single samples, by its graded plurality, and by plurality of texts as spelt."""
    raw = _respelt(ballots)
    for model, rows in ballots.by_model(ballots.rows):
        questions, place = np.unique(rows.question, return_inverse=True)
        n = len(questions)
        own, votes = np.where(rows.right, rows.votes, 0), np.where(rows.right, 0, rows.votes)
        rival, spelt = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        np.maximum.at(rival, place, votes)
        np.maximum.at(spelt, place, own)
        rivals = np.bincount(place, ~rows.right & (votes == rival.take(place)), minlength=n)
        correct = added(place, own, n)
        single = float((correct / added(place, rows.votes, n)).mean())
        pooled, as_spelt = (_credit(each, rival, rivals) for each in (correct, spelt))
        yield model, single, pooled, as_spelt if raw else None


def _credit(own: Ints, rival: Ints, rivals: Ints) -> float:
    """The mean score of votes by how many are right: all, or a share of it where wrong answers have as many."""
    level = (own == rival) & (own > 0)
    return float(np.where(own > rival, 1.0, np.where(level, 1 / (1 + rivals), 0.0)).mean())
