"""Tables of grades: by challenge, level and tier, what traces cost, and what the gold's help is worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from swaplaw_forensic.agent.traces import EFFORT, Trace
from swaplaw_forensic.grading.votes import Vote, vote_table

if TYPE_CHECKING:
    import polars as pl


def chains(votes: Sequence[Vote]) -> list[bool | None]:
    """Say of each vote whether it and all that it builds on in its trace are correct; None: it builds on nothing."""
    named = {(vote.model, vote.cluster, vote.sample, vote.question): vote for vote in votes}

    def whole(vote: Vote) -> bool:
        base = named.get((vote.model, vote.cluster, vote.sample, vote.builds_on or ""))
        return vote.correct and (base is None or whole(base))

    return [None if vote.builds_on is None else whole(vote) for vote in votes]


def shares(votes: Sequence[Vote], field: str) -> list[dict[str, Any]]:
    """Return what share of each model's votes is correct and abstains, by a field, and how far chains were followed."""
    import polars as pl

    followed = pl.Series("progress", chains(votes), pl.Boolean)
    groups = vote_table(map(vars, votes)).with_columns(followed).group_by("model", field, maintain_order=True)
    rows = groups.agg(
        votes=pl.len(),
        single=pl.col("correct").mean(),
        abstained=pl.col("answer").is_null().mean(),
        progress=pl.col("progress").mean(),
    )
    return rows.sort("model", field).rename({"cluster": "challenge"}, strict=False).to_dicts()


def effort(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return what a trace of each model costs on average."""
    import polars as pl

    table = pl.DataFrame(
        [{name: getattr(trace, name) for name in ("model", *EFFORT)} for trace in traces], infer_schema_length=None
    )
    means = [pl.col(name).cast(pl.Float64).mean() for name in EFFORT]
    return table.group_by("model", maintain_order=True).agg(pl.len().alias("traces"), *means).sort("model").to_dicts()


def dependence(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Return each model's plurality accuracy with the gold's help and without (the paper's third limitation).

    The paper maps every correct answer to one gold category, which no deployment can do: there, correct answers in
    different forms split their votes. Both readings of the same votes stand side by side here.
    """
    table = vote_table(map(vars, votes))
    oracle, free = (_plurality(table, category, name) for category, name in (("answer", "oracle"), ("gold_free",) * 2))
    return oracle.join(free.drop("questions"), on="model", maintain_order="left").to_dicts()


def _plurality(votes: "pl.DataFrame", category: str, name: str) -> "pl.DataFrame":
    """Return the expected correctness of the leading category, ties drawn evenly, Eq. (score), by model.

    Without gold, answers of one category may differ in grade: a category is as right as the share of it that is.
    """
    import polars as pl

    place = ["model", "question"]
    categories = votes.group_by(*place, category, maintain_order=True).agg(pl.len(), pl.col("correct").mean())
    leaders = categories.filter(pl.col("len") == pl.col("len").max().over(place))
    questions = leaders.group_by(place, maintain_order=True).agg(pl.col("correct").mean())
    models = questions.group_by("model", maintain_order=True)
    return models.agg(pl.len().alias("questions"), pl.col("correct").mean().alias(name)).sort("model")
