"""Votes that invented releases of the corpus hold, and the check that reading one gives them back."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl

from swaplaw.paper.corpus import read_deciban
from swaplaw.paper.synthetic import Fleet, Model, generate
from swaplaw.votes.summary import summary
from swaplaw.votes.table import Votes, votes_of

Frame = pl.DataFrame
NAMES = {
    "Gemma-4-31B": "google/gemma-4-31b-it",
    "Qwen3.6-27B": "Qwen/Qwen3.6-27B",
    "GLM-4.7-Flash": "zai-org/GLM-4.7-Flash",
}


@lru_cache
def world(dataset: str = "supergpqa") -> Frame:
    """Votes of three models, 24 each on 12 questions, abstentions with reasons."""
    free = dataset == "forensic"
    reasons = {"unanswered": 0.3} if free else {"truncated": 0.1, "no_parse": 0.05}
    members = tuple(Model(name, 0.6 - place / 10, 0.5 - place / 10, reasons) for place, name in enumerate(NAMES))
    frame = generate(Fleet(dataset, members, 12, None if free else (4,), ("c1", "c2")), 3).frame.collect()
    return frame.drop("synthetic", "dataset").with_columns(
        pl.col("model").replace(NAMES), correct=pl.col("answer").eq_missing(pl.col("gold"))
    )


def facts(votes: Votes) -> tuple[list[tuple[object, ...]], list[dict[str, int]], list[float]]:
    """Votes per category, reasons and accuracies: all that a reproduction is made of."""
    tally = votes.tally()
    rows = votes.counts.group_by("question", "model", "answer").agg(pl.col("votes").sum())
    free = "correct" in votes.counts.columns
    if free:
        rows = votes.counts.group_by("question", "model", "correct").agg(pl.col("votes").sum())
    accuracy = [float(model.plurality) for model in sorted(summary(tally), key=lambda model: model.model)]
    return sorted(rows.iter_rows(), key=str), [dict(sorted(each.items())) for each in tally.reasons], accuracy


def truth(frame: Frame, dataset: str) -> tuple[list[tuple[object, ...]], list[dict[str, int]], list[float]]:
    back = {theirs: ours for ours, theirs in NAMES.items()}
    named = frame.with_columns(pl.col("model").replace(back), dataset=pl.lit(dataset))
    return facts(votes_of(named if dataset == "forensic" else named.drop("correct")))


def same(folder: Path, frame: Frame, dataset: str = "supergpqa", **options: object) -> str:
    """The corpus gives the true votes; return its report."""
    corpus = read_deciban(folder, **options)  # type: ignore[arg-type]
    assert not corpus.problems, corpus.problems
    got, right = facts(corpus.votes[dataset]), truth(frame, dataset)
    if dataset != "forensic" and "correct" in corpus.votes[dataset].counts.columns:
        counted = corpus.votes[dataset].counts.group_by("question", "model", "answer").agg(pl.col("votes").sum())
        got = (sorted(counted.iter_rows(), key=str), *got[1:])
    assert got == right
    return "\n".join(map(str, corpus.readings))


def counted(frame: Frame) -> Frame:
    return frame.group_by("question", "model", "answer", maintain_order=True).agg(pl.len().alias("count"))


def records(frame: Frame) -> Frame:
    return frame.select(question_id="question", model="model", sample_idx="sample", answer="answer", reason="reason")


def gold(frame: Frame) -> Frame:
    return frame.select(question_id="question", gold_answer="gold").unique(maintain_order=True)
