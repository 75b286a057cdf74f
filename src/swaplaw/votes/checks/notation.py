"""Numbers and dates that are gold in another notation, and answers that have not the shape of gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import median

import numpy as np

from swaplaw.answers.characters import unify
from swaplaw.answers.hedges import bounds, hedged, negated, rough
from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import CHAINS, Ballots, form
from swaplaw.votes.checks.check import SERIOUS, Check, votes_differ

MOST_PAIRS = 5_000
"""Different pairs of a wrong answer and its gold that are compared, those with the most votes first."""
LONGEST_PHRASE = 80
"""Longer answers say more than a number."""
MOST_TEXTS = 1_000
"""Different texts whose shape is looked at."""
_GOLD = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_TOKEN = re.compile(r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w^/!])|"
                    r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\w^/!(.])|"
                    r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,30}(?:[.,]\d{1,30})?(?![\w^/!(])")  # fmt: skip
_WORDS = re.compile(r"[\s.:#*=$€£¥%,\"']*(?:[^\W\d_]{1,20}(?![^\W\d_])[\s.:#*=$€£¥%,\"']*){0,8}")
_ENGLISH = re.compile(r"[-+]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?")
"""A number with a point before its decimals and, maybe, commas between its thousands."""
_SWAPPED = str.maketrans(",.", ".,")
_OTHERWISE = re.compile(
    r"\b(?:minus|negative|root|sqrt|log|half|twice|times|per|hundred|thousand|[mb]illion)\b|except", re.I
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].{0,20})?")
_DATE_FIX = "write dates in one way: `swaplaw import VOTES --canonical time -o votes.parquet`"
_NUMBER_FIX = "write the number alone in the column `answer`, as gold is written: no canonical form does this"


def other_notation(ballots: Ballots) -> Iterator[Check]:
    """Wrong answers that are gold in another notation: 50% for 0.5, 3,5 for 3.5, "The answer is 5." for 5."""
    names, golds = ballots.names, ballots.rows.sizes.golds
    wanted = [place for place in ballots.rows.golds.tolist() if _GOLD.fullmatch(names.golds[place].strip())
              or _ISO.fullmatch(names.golds[place].strip())]  # fmt: skip
    if not wanted:
        return
    wrong = ballots.wrong.where(np.isin(ballots.wrong.gold, wanted))
    *pair, often = wrong.per(wrong.answer, wrong.sizes.answers, wrong.gold, golds)
    common = np.lexsort((pair[1], pair[0], -often))[:MOST_PAIRS]
    fixes = {
        answer * golds + gold: fix
        for answer, gold in zip(*(place[common].tolist() for place in pair), strict=True)
        if (fix := _meant(names.answers[answer], names.golds[gold]))
    }
    if not fixes:
        return
    for model, rows in ballots.by_model(wrong.where(np.isin(wrong.answer * golds + wrong.gold, list(fixes)))):
        share = rows.total / ballots.votes[model]
        example = np.lexsort((rows.gold, rows.answer, -rows.votes))[0]
        answer, gold = names.answers[rows.answer[example]], names.golds[rows.gold[example]]
        yield ballots.check(
            "notation", "error" if share >= SERIOUS else "warning", model, rows.questions,
            f"{quote(model)} answers {quote(answer)} where gold is {quote(gold)}: {votes_differ(rows.total, share)} "
            f"from gold only in notation, and count{'s' if rows.total == 1 else ''} as wrong",
            fixes[int(rows.answer[example]) * golds + int(rows.gold[example])],
        )  # fmt: skip


def _meant(answer: str, gold: str) -> str | None:
    """How to fix an answer that is gold in another notation; spellings that a canonical form fixes are not meant."""
    if len(answer) > LONGEST_PHRASE or any(form(chain)(answer) == form(chain)(gold) for chain in CHAINS):
        return None
    if _ISO.fullmatch(gold.strip()):
        return _DATE_FIX if form("time")(answer) == form("time")(gold) else None
    return _NUMBER_FIX if Fraction(gold.strip()) in values(answer) else None


def values(text: str) -> list[Fraction]:
    """What the only number of a short text may be meant as: as it stands, with points for commas, or per cent.

    >>> [str(value) for value in values("50%")], values("less than 5"), values("5 or 6")
    (['50', '1/2'], [], [])
    """
    text = unify(text)
    found = [*_TOKEN.finditer(text)]
    if len(found) != 1:
        return []
    token, rest = found[0], text[: found[0].start()] + " " + text[found[0].end() :]
    said = _WORDS.fullmatch(rest) is not None and not _OTHERWISE.search(rest)
    if not said or any(told(text) for told in (negated, hedged, bounds, rough)):
        return []
    digits = re.sub(r"[$€£]", "", token[0])
    spelt = dict.fromkeys((digits, digits.translate(_SWAPPED)))
    read = [Fraction(each.replace(",", "")) for each in spelt if _ENGLISH.fullmatch(each)]
    return read + [value / 100 for value in read] if text[token.end() :].lstrip().startswith("%") else read


def unlike_gold(texts: Sequence[str], golds: Sequence[str]) -> bool:
    """Whether answers have not the shape of golds: words for numbers, numbers for words, or texts for words.

    >>> unlike_gold(["five", "six"], ["5", "6"]), unlike_gold(["7", "8"], ["5", "6"])
    (True, False)
    """
    said, right = ([form("numeric")(text[:200]) for text in some[:MOST_TEXTS]] for some in (texts, golds))
    if not said or not right:
        return False
    numbers = [sum(_GOLD.fullmatch(text) is not None for text in some) / len(some) for some in (said, right)]
    lengths = [median(len(text) for text in some[:MOST_TEXTS]) for some in (texts, golds)]
    return abs(numbers[0] - numbers[1]) > 0.8 or lengths[0] > 4 * lengths[1] + 20
