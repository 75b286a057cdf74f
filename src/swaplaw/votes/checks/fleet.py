"""Models that say the same whatever is asked, or the same as another; and too little of anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swaplaw.errors import quote
from swaplaw.votes.checks.seen import SURE, Check, Seen

CONSTANT = 0.95
FEW_QUESTIONS = 30


def constant(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Models that give one answer to everything."""
    import polars as pl

    if not seen.golds:
        return
    votes = pl.col("votes").sum()
    each = seen.answered.group_by("model", "answer").agg(votes, pl.col("votes").filter("right").sum().alias("right"))
    most = each.sort("model", "votes", "answer").group_by("model", maintain_order=True).last()
    for model, answer, number, right in most.iter_rows():
        said = seen.models[model]
        share = number / said.answers
        if share >= CONSTANT and said.asked >= SURE and right < 0.7 * number:
            yield seen.check(
                "constant_answer", "warning", model, said.asked,
                f"{quote(model)} answers {quote(answer)} in {share:.0%} of its votes, whatever the question",
                "look at its completions: a template or a stop sequence may cut them short",
            )  # fmt: skip


def copies(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Models whose votes are all the same; however a right answer is spelt, it is gold."""
    import polars as pl

    ballot, said = ["model", "question"], pl.when(~pl.col("right")).then("answer").alias("said")
    votes = seen.rows.group_by(*ballot, "right", said).agg(pl.col("votes").sum())
    # Twice as many votes in the same shares are the same vote; equal quotients are equal floats.
    share = pl.col("votes") / pl.col("votes").sum().over(ballot)
    mark = pl.struct("question", "right", "said", share.alias("share")).hash()
    marks = votes.with_columns(mark.alias("mark")).group_by("model").agg(
        pl.col("mark").bitwise_xor(), pl.len().alias("rows"), pl.col("question").n_unique(),
        pl.col("said").is_not_null().any().alias("speaks"),
    )  # fmt: skip
    first_alike: dict[tuple[int, ...], str] = {}
    for model, *own, n, speaks in marks.sort("model").iter_rows():
        first = first_alike.setdefault(tuple(own), model)
        if first != model and n >= SURE and speaks:
            yield seen.check(
                "duplicate_model", "warning", model, n,
                f"{quote(model)} votes exactly as {quote(first)} does on all {n:,} questions: together they "
                "are one model, and it cannot change a vote",
                "leave one of them out, and check that two names do not stand for one file",
            )  # fmt: skip


def shape(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Too few questions, questions that not all models share, one sample each, one cluster."""
    n = seen.questions
    if n < FEW_QUESTIONS:
        yield seen.check(
            "few_questions", "note", None, n,
            f"there {'is' if n == 1 else 'are'} only {n} question{'' if n == 1 else 's'}: intervals need about "
            f"{FEW_QUESTIONS} or more to be trusted",
            "collect more questions",
        )  # fmt: skip
    ballots = seen.rows.select("model", "question").unique()
    asked = ballots.group_by("question").len()["len"]
    common = int((asked == len(seen.models)).sum())
    if 0 < 2 * common < n:  # Where they share none, every command says so by itself.
        model, own = ballots.group_by("model").len().sort("len", "model").row(0)
        yield seen.check(
            "uneven_questions", "warning", model, n - common,
            f"only {common:,} of {n:,} questions have votes of all {len(seen.models)} models; {quote(model)} has "
            f"the fewest, {own:,}",
            "collect what is missing, or name models that share their questions",
        )  # fmt: skip
    if seen.rows["votes"].sum() == len(ballots) and len(seen.models) > 1:
        yield seen.check(
            "one_sample", "note", None, n,
            "every model has one vote per question: of two such votes the heavier always wins, so pairs cannot gain",
            "collect several samples per model and question, or compare three models or more",
        )  # fmt: skip
    if seen.clusters == 1 and n > 1:
        yield seen.check(
            "one_cluster", "warning", None, n,
            "all questions are in one cluster, which says nothing about how questions vary",
            "name what questions are nested in (a file, an exam), or drop the column `cluster`",
        )  # fmt: skip
