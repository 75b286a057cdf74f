"""Graded prose: right answers that a judge made agree, and wrong ones that never do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import Ballots, Check, by_model, form

if TYPE_CHECKING:
    import polars as pl

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
_GRADED = "compare answers by a rule that needs no gold: `swaplaw import VOTES --canonical text` without `correct`"
_ORACLE = (
    "put the texts that the models wrote in the column `answer`, right or wrong, and compare them by a rule that needs "
    "no gold (`--canonical text`)"
)
_NUMBER = re.compile(r"[-+$]?[\d.,/ ]+\w{0,3}")
_QUANTITY = re.compile(r"\W{0,4}\d[\d.,:/%eE+-]*(?:[^\W\d_]*\W*){0,3}|[0-9a-f]{6,}", re.IGNORECASE)
"""A number with a unit, a time, a date, a digest."""
_FORMULA = re.compile(r"(?=.*\d)(?=.*[-+*/^=(){}\[\],\\])(?!.*(?<!\\)\b[^\W\d_]{4,}).{1,60}", re.DOTALL)
"""Numbers and signs without a word: a tuple, an expression."""


def prose(ballots: Ballots) -> Iterator[Check]:
    """Right answers that all agree, and wrong ones that never do: a judge, not the models, made them agree."""
    import polars as pl

    if not ballots.rows["right"].any():
        return  # Nobody made right answers agree: there are none.
    said = _worded(ballots)
    telling = said.group_by("asked").agg(
        pl.col("votes").sum().alias("all"), pl.col("votes").filter(pl.col("votes") == 1).sum().alias("once")
    ).filter(pl.col("all") >= FEW_WRONG)  # fmt: skip
    once = int(telling["once"].sum()) / max(1, int(telling["all"].sum()))
    if telling.height < FEW_PROSE or once < UNIQUE or _numbers(said.filter(pl.col("votes") == 1)["answer"].to_list()):
        return
    model, single, pooled, spelt = max(_inflated(ballots), key=lambda row: row[2] - row[1])
    vote = (
        f", its plurality vote {pooled:.1%}" if pooled > single + SEEN else "; any vote among texts would be inflated"
    )
    free = "" if spelt is None else f", and {spelt:.1%} when texts are compared as they are spelt"
    yield ballots.check(
        "graded_prose", "error", model, telling.height,
        f"right answers agree with each other and {once:.0%} of the wrong ones "
        "are given once only, as if a judge had replaced every right text by gold: a single sample of "
        f"{quote(model)} is right {single:.1%} of the time{vote}{free}; nobody could count such a vote in deployment",
        f"{_ORACLE if spelt is None else _GRADED}, or ask for short answers",
    )  # fmt: skip


def _worded(ballots: Ballots) -> pl.DataFrame:
    """How often each wrong answer was given to each question, leaving out options and formulas.

    By each model, since whoever answers in a word repeats it; by all models together where each answered once, and then
    only answers of several words.
    """
    import polars as pl

    once = ballots.rows["votes"].sum() == ballots.rows.select("model", "question").n_unique()
    asked = pl.struct("question") if once else pl.struct("model", "question")
    said = ballots.wrong.group_by(asked.alias("asked"), "question", "answer").agg(pl.col("votes").sum())
    kept = said.filter(pl.col("question").n_unique().over("answer") < FORMULA)
    if once:
        kept = kept.filter(pl.col("answer").str.count_matches(r"\S+") >= WORDY)
    options = set(filter(ballots.is_option, kept["answer"].unique())) if ballots.closed else set()
    return kept.filter(~pl.col("answer").is_in(options))


def _numbers(texts: list[str]) -> bool:
    """Whether most of them are numbers, quantities or formulas: these differ as answers, whoever compares them."""
    known, number = texts[:1000], form("math")

    def counts(text: str) -> bool:
        return any(kind.fullmatch(text) for kind in (_QUANTITY, _FORMULA)) or bool(_NUMBER.fullmatch(number(text)))

    return 2 * sum(map(counts, known)) > len(known)


def _inflated(ballots: Ballots) -> Iterator[tuple[str, float, float, float | None]]:
    """Each model's accuracy by single samples, by its graded plurality, and by plurality of texts as spelt."""
    import polars as pl

    spellings = ballots.answered.filter("right").group_by("question").agg(pl.col("answer").n_unique())
    raw = bool((spellings["answer"] > 1).any())
    for model, rows in by_model(ballots.rows):
        wrong = pl.col("votes").filter(~pl.col("right"))
        question = rows.group_by("question").agg(
            pl.col("votes").filter("right").sum().alias("right"),
            wrong.max().fill_null(0).alias("rival"),
            (wrong == wrong.max()).sum().alias("rivals"),
            pl.col("votes").filter("right").max().fill_null(0).alias("spelt"),
            pl.col("votes").sum().alias("all"),
        )
        ahead = question.select(
            (pl.col("right") / pl.col("all")).mean().alias("single"),
            _credit("right").mean().alias("pooled"),
            _credit("spelt").mean().alias("spelt"),
        ).row(0)
        yield model, *ahead[:2], ahead[2] if raw else None


def _credit(own: str) -> pl.Expr:
    """The score of a vote by how many are right: all, or a share of it where wrong answers have as many."""
    import polars as pl

    ahead, level = pl.col(own) > pl.col("rival"), pl.col(own) == pl.col("rival")
    return pl.when(ahead).then(1.0).when(level & (pl.col(own) > 0)).then(1 / (1 + pl.col("rivals"))).otherwise(0.0)
