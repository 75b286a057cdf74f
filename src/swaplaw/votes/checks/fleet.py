"""Models that say the same whatever is asked, or the same as another; and too little of anything."""

from __future__ import annotations

from collections.abc import Iterator

from swaplaw.errors import quote
from swaplaw.votes.checks.ballots import SURE, Ballots, Check, by_model

CONSTANT = 0.95
FEW_QUESTIONS = 30


def constant(ballots: Ballots) -> Iterator[Check]:
    """Models that give one answer to everything."""
    import polars as pl

    asked = dict(ballots.answered.group_by("model").agg(pl.col("question").n_unique()).iter_rows())
    for model, rows in by_model(ballots.spoken):
        answer, votes, right = rows.sort("votes", "answer").row(-1)[1:]
        share, n = votes / ballots.answers[model], asked[model]
        if ballots.golds and share >= CONSTANT and n >= SURE and right < 0.7 * votes:
            yield ballots.check(
                "constant_answer", "warning", model, n,
                f"{quote(model)} answers {quote(answer)} in {share:.0%} of its votes, whatever the question",
                "look at its completions: a template or a stop sequence may cut them short",
            )  # fmt: skip


def copies(ballots: Ballots) -> Iterator[Check]:
    """Models whose votes are all the same."""
    import polars as pl

    said = pl.when("right").then(pl.lit("\0gold")).otherwise("answer").alias("answer")
    votes = ballots.rows.group_by("model", "question", said, "right").agg(pl.col("votes").sum())
    # Twice as many votes in the same shares are the same vote; equal quotients are equal floats.
    rows = votes.with_columns(pl.col("votes") / pl.col("votes").sum().over("model", "question"))
    marks = rows.group_by("model").agg(
        pl.struct("question", "answer", "votes").hash().sum().alias("mark"),
        pl.len().alias("rows"),
        pl.col("question").n_unique().alias("n"),
        (~pl.col("right") & pl.col("answer").is_not_null()).any().alias("errs"),
    )
    alike = (
        marks.group_by("mark", "rows", "n", "errs").agg(pl.col("model").sort()).filter(pl.col("model").list.len() > 1)
    )
    for _, _, n, errs, models in alike.sort(pl.col("model").list.first()).iter_rows():
        if n >= SURE and errs:
            for copy in models[1:]:
                yield ballots.check(
                    "duplicate_model", "warning", copy, n,
                    f"{quote(copy)} votes exactly as {quote(models[0])} does on all {n:,} questions: together they are "
                    "one model, and it cannot change a vote",
                    "leave one of them out, and check that two names do not stand for one file",
                )  # fmt: skip


def shape(ballots: Ballots) -> Iterator[Check]:
    """Too few questions, questions that not all models share, one sample each, one cluster."""
    import polars as pl

    n = ballots.questions
    if n < FEW_QUESTIONS:
        yield ballots.check(
            "few_questions", "note", None, n,
            f"there {'is' if n == 1 else 'are'} only {n} question{'' if n == 1 else 's'}: intervals need about "
            f"{FEW_QUESTIONS} or more to be trusted",
            "collect more questions",
        )  # fmt: skip
    each = ballots.rows.group_by("model").agg(pl.col("question").n_unique().alias("n")).sort("n", "model")
    asked = ballots.rows.group_by("question").agg(pl.col("model").n_unique().alias("models"))
    common = asked.filter(pl.col("models") == len(ballots.models)).height
    if 0 < 2 * common < n:  # Where they share none, every command says so by itself.
        model, own = each.row(0)
        yield ballots.check(
            "uneven_questions", "warning", model, n - common,
            f"only {common:,} of {n:,} questions have votes of all {len(ballots.models)} models; {quote(model)} has "
            f"the fewest, {own:,}",
            "collect what is missing, or name models that share their questions",
        )  # fmt: skip
    if ballots.rows["votes"].sum() == each["n"].sum() and len(ballots.models) > 1:
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
