"""Golds that no vote can be compared with: several answers in one, a grade, or the same option everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.answers.forms import letter as option_letter
from swaplaw.errors import quote, several
from swaplaw.votes.checks.ballots import CHAINS, SERIOUS, SURE, Ballots, Check, added, flags, form
from swaplaw.votes.checks.silence import is_no_answer

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

LONGEST_GOLD = 200
"""Longer golds are texts, not options side by side."""
LIKELY = 2.0
"""Standard errors above chance within which the best model may be guessing."""
_APART = re.compile(r"\s+or\s+|\s*[|;]\s*|\s*,\s*(?:or\s+)?|\s*/\s*", re.IGNORECASE)
_APART_NUMBERS = re.compile(r"\s+or\s+|\s*[|;]\s*", re.IGNORECASE)
"""A comma or a slash between numbers may make one number of them."""
_AROUND = " \t\n[](){}\"'`"
_GRADES = {
    frozenset(pair)
    for pair in (("1", "0"), ("1.0", "0.0"), ("correct", "incorrect"), ("true", "false"), ("pass", "fail"),
                 ("passed", "failed"), ("right", "wrong"), ("c", "i"))
}  # fmt: skip
_BINARY = {"yes", "no", "true", "false"}


def alternatives(gold: str) -> list[str]:
    """The parts of a gold that names several answers, or nothing.

    >>> alternatives("A or C"), alternatives('["A","C"]'), alternatives('["A"]'), alternatives("3,5")
    (['A', 'C'], ['A', 'C'], [], [])
    """
    if len(gold) > LONGEST_GOLD:
        return []
    numeric = not any(map(str.isalpha, _APART_NUMBERS.sub("", gold)))
    apart = _APART_NUMBERS if numeric else _APART
    parts = [part.strip(_AROUND) for part in apart.split(gold.strip(_AROUND))]
    return parts if len(parts) > 1 and all(parts) else []


def several_golds(ballots: Ballots) -> Iterator[Check]:
    """Golds that name several options, where nobody ever answers with several."""
    found = _joined(ballots)
    if not found:
        return
    places = [place for place in ballots.rows.golds.tolist() if found(ballots.names.golds[place])]
    rows = ballots.rows.where(flags(places, ballots.rows.sizes.golds)[ballots.rows.gold])
    if not rows.questions:
        return
    n, share = rows.questions, rows.questions / ballots.questions
    example = ballots.names.golds[places[0]]
    yield ballots.check(
        "several_golds", "error" if share >= SERIOUS else "warning", None, n,
        f"gold is {quote(example)} or another list of answers on {several(n, 'question')}: a vote can only be compared "
        "with one answer, so no vote on them is right",
        "give each of these questions one gold, or leave them out",
    )  # fmt: skip


def _joined(ballots: Ballots) -> Callable[[str], bool] | None:
    """How to tell golds that join answers which stand alone elsewhere, if there are any."""
    parts = {gold: [] if is_no_answer(gold) else alternatives(gold) for gold in ballots.golds}
    if not any(parts.values()):
        return None
    alone = {gold for gold, found in parts.items() if not found}
    # A list that somebody answers with is an answer of its own kind.
    given = set(ballots.texts(ballots.answered))

    def joined(gold: str) -> bool:
        found = parts[gold]
        return bool(found) and gold not in given and all(_stands_alone(part, alone) for part in found)

    return joined


def _stands_alone(part: str, alone: Set[str]) -> bool:
    return part in alone or (len(part) == 1 and part.isalpha())


def one_gold(ballots: Ballots) -> Iterator[Check]:
    """Gold that is a grade, or one and the same option on every question."""
    if len(ballots.golds) != 1 or ballots.questions < SURE:
        return
    (gold,) = ballots.golds
    said = {text.strip().casefold() for text in ballots.texts(ballots.answered)} | {gold.strip().casefold()}
    if said in _GRADES:
        yield ballots.check(
            "grades_as_answers", "error", None, ballots.questions,
            f"gold is {quote(gold)} on every question and answers are only {' or '.join(map(quote, sorted(said)))}: "
            "these are grades, not answers, and a vote among grades would know what is right",
            "put what the models answered in the column `answer` and the grade in the column `correct` "
            "(docs/votes.md); grades alone give each model's accuracy (`swaplaw summary`), and no vote",
        )  # fmt: skip
    elif (len(option_letter(gold)) == 1 and gold.strip().isalpha()) or gold.strip().casefold() in _BINARY:
        yield ballots.check(
            "constant_gold", "warning", None, ballots.questions,
            f"gold is {quote(gold)} on every question, so a model that always says so would be right",
            "check the column `gold`; if the right option always stood in the same place, ask in other orders",
        )  # fmt: skip


def at_chance(ballots: Ballots) -> Iterator[Check]:
    """Options that no model knows better than guessers do: gold may be that of other questions."""
    if not ballots.closed or ballots.questions < SURE or not ballots.rows.right.any():
        return
    chance = 1 / len(ballots.golds)
    shares = {
        model: ballots.correct[model] / ballots.answers[model] for model in ballots.models if ballots.answers[model]
    }
    best = max(shares, key=lambda model: shares[model])
    if shares[best] <= chance + LIKELY * (chance * (1 - chance) / ballots.asked[best]) ** 0.5:
        yield ballots.check(
            "at_chance", "warning", None, ballots.questions,
            f"no model is surely right more often than guessing would be (in about {chance:.0%} of its answers): the "
            f"best, {quote(best)}, is in {shares[best]:.0%}",
            "check that the column `gold` belongs to these questions, and names options as the answers do",
        )  # fmt: skip


def gold_at_fault(ballots: Ballots) -> bool:
    """Whether nobody is right because answers are letters and golds are not: then no model is to blame."""
    if ballots.rows.right.any() or not ballots.golds or any(map(is_letter, ballots.golds)):
        return False
    letters = ballots.where(ballots.answered, is_letter).total
    return letters >= (1 - SERIOUS) * max(1, ballots.answered.total)


def is_letter(text: str) -> bool:
    """Whether a text is the letter of an option, however it is written.

    >>> is_letter("B"), is_letter("(b) Paris"), is_letter("Paris"), is_letter("2")
    (True, True, False, False)
    """
    found = option_letter(text.strip())
    return len(found) == 1 and found.isalpha()


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
MOST_SPELLINGS = 5_000
"""Spellings that are compared."""
LOOKED_AT = 1000
"""Texts of a kind that are looked at."""
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
    if not ballots.rows.right.any() or _respelt(ballots):
        return  # Nobody made right answers agree: there are none, or they differ.
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
    model, single, pooled, _ = max(_accuracies(ballots), key=lambda row: row[2] - row[1])
    vote = (
        f", its plurality vote {pooled:.1%}" if pooled > single + SEEN else "; any vote among texts would be inflated"
    )
    yield ballots.check(
        "graded_prose", "error", model, number,
        f"right answers agree with each other and {once:.0%} of the wrong ones "
        "are given once only, as if a judge had replaced every right text by gold: a single sample of "
        f"{quote(model)} is right {single:.1%} of the time{vote}; nobody could count such a vote in deployment",
        f"{_ORACLE}, or ask for short answers",
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


def right_spellings(ballots: Ballots) -> Iterator[Check]:
    """Right answers that are spelt in several ways, and so split the vote; and what would make them one."""
    right = ballots.answered.where(ballots.answered.right)
    question, answer, _ = right.per(right.question, right.sizes.questions, right.answer, right.sizes.answers)
    split = np.bincount(question, minlength=right.sizes.questions) > 1
    if not split.any():
        return
    model, _, merged, spelt = max(_accuracies(ballots), key=lambda row: row[2] - row[3])
    some = np.flatnonzero(split[question])
    pairs = list(zip(question[some].tolist(), [ballots.names.answers[one] for one in answer[some]], strict=True))
    first, second = (text for _, text in pairs[:2])
    chain, left = min(
        ((chain, len({(asked, form(chain)(text)) for asked, text in pairs[:MOST_SPELLINGS]})) for chain in CHAINS),
        key=lambda each: each[1],
    )
    spellings, n = min(len(pairs), MOST_SPELLINGS), int(split.sum())
    yield ballots.check(
        "right_spellings", "warning" if merged - spelt > SEEN else "note", None, n,
        f"right answers to {several(n, 'question')} are spelt in several ways, such as {quote(first)} and "
        f"{quote(second)}, and split the vote: as spelt, {quote(model)} is right {spelt:.1%} of the time, and would be "
        f"{merged:.1%} of the time if its right answers were one, which takes knowing gold",
        f"`--canonical {chain}` makes {left:,} of these {spellings:,} spellings"
        if left < spellings
        else "no canonical form makes them one: read short answers from replies (`--read`), or let a model judge which "
        "mean the same (`swaplaw import VOTES --judge MODEL -o votes.parquet`)",
    )  # fmt: skip


def _accuracies(ballots: Ballots) -> Iterator[tuple[str, float, float, float]]:
    """Each model's accuracy by single samples, by plurality with its right answers as one, and as they are spelt."""
    for model, rows in ballots.by_model(ballots.rows):
        questions, place = np.unique(rows.question, return_inverse=True)
        n = len(questions)
        own, votes = np.where(rows.right, rows.votes, 0), np.where(rows.right, 0, rows.votes)
        rival, most = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        np.maximum.at(rival, place, votes)
        np.maximum.at(most, place, rows.votes)
        rivals = np.bincount(place, ~rows.right & (votes == rival.take(place)), minlength=n)
        correct = added(place, own, n)
        single = float((correct / added(place, rows.votes, n)).mean())
        top = rows.votes == most.take(place)
        spelt = np.bincount(place, top & rows.right, minlength=n) / np.bincount(place, top, minlength=n)
        yield model, single, _credit(correct, rival, rivals), float(spelt.mean())


def _credit(own: Ints, rival: Ints, rivals: Ints) -> float:
    """The mean score of votes by how many are right: all, or a share of it where wrong answers have as many."""
    level = (own == rival) & (own > 0)
    return float(np.where(own > rival, 1.0, np.where(level, 1 / (1 + rivals), 0.0)).mean())


FAR = 4.0
"""Standard errors between the two kinds of questions before they count as different."""


def chosen_labels(votes: Votes, dataset: str) -> Iterator[Check]:
    """Labels on questions that differ from the others: what they show is not true of all."""
    import polars as pl

    if not votes.counts["gold"].null_count():
        return
    counts = votes.counts.filter(pl.col("dataset") == dataset)
    said = counts.group_by("question", "answer").agg(pl.col("votes").sum(), pl.col("gold").is_not_null().any())
    each = said.group_by("question").agg(
        (pl.col("votes").max() / pl.col("votes").sum()).alias("agreed"), pl.col("gold").any()
    )
    known, unknown = (each.filter(pl.col("gold") == have)["agreed"].to_numpy() for have in (True, False))
    n, rest = len(known), len(unknown)
    if min(n, rest) < 2:
        return
    own, other = known.mean(), unknown.mean()
    error = (known.var(ddof=1) / n + unknown.var(ddof=1) / rest) ** 0.5
    if abs(own - other) > FAR * error:
        yield Check(
            "chosen_labels", "warning", None, rest,
            f"the {n:,} questions with a label are not like the {rest:,} without: {own:.0%} of votes agree on "
            f"them, {other:.0%} on the others; accuracies and gains here are those of the labelled ones",
            "judge lift by `labels`, which needs no others; or label questions that are drawn at random from all",
            dataset,
        )  # fmt: skip
