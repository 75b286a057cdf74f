"""Numbers and dates that are gold in another notation, and answers that have not the shape of gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from itertools import groupby
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
LONGEST_OUTLINE = 200
"""Characters of a text whose outline is told."""
SELDOM, MOSTLY = 0.1, 0.8
"""Shares of answers with the outline of a gold: of a model that writes otherwise, and of the others."""
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
_DATED = re.compile(r"(?=.*(?<!\d)\d{4}(?!\d))(?=.*(?:[-/]|[^\W\d_]{3})).{8,40}")
"""A text with a year and a month or a separator: only such texts are worth a try as dates, which takes long."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].{0,20})?")
_DATE_FIX = "write dates in one way: `swaplaw import VOTES --canonical time -o votes.parquet`"
_NUMBER_FIX = "write the number alone in the column `answer`, as gold is written: no canonical form does this"


def other_notation(ballots: Ballots) -> Iterator[Check]:
    """Wrong answers that are gold in another notation: 50% for 0.5, 3,5 for 3.5, "The answer is 5." for 5."""
    names, golds = ballots.names, ballots.rows.sizes.golds
    wanted = [
        place
        for place in ballots.rows.golds.tolist()
        if _GOLD.fullmatch(names.golds[place].strip()) or _is_date(names.golds[place])
    ]
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
    if _GOLD.fullmatch(gold.strip()):
        return _NUMBER_FIX if Fraction(gold.strip()) in values(answer) else None
    return _DATE_FIX if form("time")(answer) == form("time")(gold) else None


def _is_date(gold: str) -> bool:
    return _DATED.fullmatch(gold.strip()) is not None and _ISO.fullmatch(form("time")(gold)) is not None


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


def unlike_gold(texts: Sequence[str], golds: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a model hardly ever writes as golds are written, where other models do when they are wrong.

    Much longer answers are never written as golds are, whatever the others do.

    >>> unlike_gold(["five", "six"], ["5", "6"], ["8"]), unlike_gold(["7", "8"], ["5", "6"], ["8"])
    (True, False)
    >>> unlike_gold(["9h05", "10h30"], ["9:15", "8:40"], ["7:45"])
    True
    """
    known = set(map(outline, golds))
    own, usual = (_share_of(known, some) for some in (texts, others))
    lengths = [median(len(text) for text in some[:MOST_TEXTS]) for some in (texts, golds) if some]
    return (own < SELDOM and usual > MOSTLY) or (len(lengths) == 2 and lengths[0] > 4 * lengths[1] + 20)


def _share_of(known: Set[str], texts: Sequence[str]) -> float:
    """The share of texts whose outline is known; of no texts, all."""
    some = texts[:MOST_TEXTS]
    return sum(outline(text) in known for text in some) / len(some) if some else 1.0


def outline(text: str) -> str:
    """How a text is written, whatever it says: letters, digits and signs in their order, runs of each as one.

    >>> outline("10h30"), outline("-1,234.50 €"), outline("New York")
    ('0a0', '-0,0.0 €', 'a a')
    """
    kinds = ("a" if char.isalpha() else "0" if char.isdigit() else char for char in unify(text[:LONGEST_OUTLINE]))
    return "".join(kind for kind, _ in groupby(kinds))
