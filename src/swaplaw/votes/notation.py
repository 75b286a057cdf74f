"""Votes as they are meant: answers pooled in the light of their question's gold, however they are written.

As they are spelt, `2516` and `2516_8` are two answers, and one of them is wrong. As they are meant they are one, and so
are two wrong answers that differ in the same way: what a gold leaves open is read alike for all answers, so the vote is
one that a deployed ensemble can cast if the question states what the gold does. An answer that says gold in a sentence
is right as well, but stays a category of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swaplaw.answers.same import Opinion, disputes, key, meant, same
from swaplaw.votes.checks.answers import says
from swaplaw.votes.contract import RIGHT
from swaplaw.votes.files import Source
from swaplaw.votes.provenance import spelt
from swaplaw.votes.table import Votes, add_up

if TYPE_CHECKING:
    import polars as pl

FORM = "same"
"""The canonical form that comes nearest to it without a gold: what a server can spell answers by."""
FEW_LABELS = 26
"""Golds of all questions, at most, that may be labels of options."""


@dataclass(frozen=True)
class Dispute:
    """An answer that counts as wrong as it is spelt, and is right as it is meant."""

    question: str
    answer: str
    gold: str
    votes: Mapping[str, int]
    """How many votes each model gave it."""

    @property
    def oracle(self) -> bool:
        """Whether it takes the gold to know what the answer leaves out, or states beside its value."""
        return key(self.answer) != key(self.gold) and same(self.answer, self.gold)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**vars(self), "votes": dict(self.votes), "oracle_normalised": self.oracle}


@dataclass(frozen=True)
class Notation:
    """One dataset's votes as they are meant, and the answers that are right only so."""

    votes: Votes
    disputes: tuple[Dispute, ...]
    """Those with the most votes first."""
    cast: Mapping[str, int]
    """All votes of each model."""

    @property
    def shares(self) -> dict[str, float]:
        """The share of each model's votes that count as wrong as they are spelt, and are right; the largest first."""
        found: Counter[str] = Counter()
        for dispute in self.disputes:
            found.update(dispute.votes)
        return {model: votes / self.cast[model] for model, votes in found.most_common()}

    @property
    def questions(self) -> int:
        """On how many questions that changes anything."""
        return len({dispute.question for dispute in self.disputes})


def notation(votes: Votes, dataset: str | None = None) -> Notation | None:
    """Read one dataset's votes as they are meant; None where that makes no wrong answer right.

    Parameters
    ----------
    votes : Votes
        The votes.
    dataset : str, optional
        Which dataset, where there are several.
    """
    import polars as pl

    name, counts = votes.counts_of(dataset)
    wrong = ~pl.col("correct") if "correct" in counts.columns else pl.col("answer") != pl.col("gold")
    known = counts.filter(pl.col("answer").is_not_null(), pl.col("gold") != RIGHT)
    changed = pl.DataFrame(
        list(_read(known)),
        schema=dict.fromkeys(("question", "answer", "category"), pl.String) | {"right": pl.Boolean},
        orient="row",
    )
    flagged = known.filter(wrong).join(changed.filter("right"), on=["question", "answer"])
    if flagged.is_empty():
        return None
    cast = dict(counts.group_by("model", maintain_order=True).agg(pl.col("votes").sum()).rows())
    return Notation(_rewritten(votes, name, changed), _disputed(flagged), cast)


def second_opinions(votes: Votes, dataset: str | None = None, opinion: Opinion | None = None) -> tuple[Dispute, ...]:
    """List the answers about which a second opinion differs from `answers.same`; it changes no vote.

    Parameters
    ----------
    votes : Votes
        The votes.
    dataset : str, optional
        Which dataset, where there are several.
    opinion : callable, optional
        Says whether two texts are the same; by default math-verify, if that is installed.
    """
    import polars as pl

    counts = votes.counts_of(dataset)[1]
    known = counts.filter(pl.col("answer") != pl.col("gold"), pl.col("gold") != RIGHT)
    pairs = known.select("answer", "gold").unique(maintain_order=True).rows()
    differ = pl.DataFrame(
        [pair[:2] for pair in disputes(pairs, opinion)], known.select("answer", "gold").schema, orient="row"
    )
    return _disputed(known.join(differ, on=["answer", "gold"]))


def _disputed(rows: pl.DataFrame) -> tuple[Dispute, ...]:
    given: dict[tuple[str, str, str], Counter[str]] = {}
    for question, answer, gold, model, votes in rows.select("question", "answer", "gold", "model", "votes").rows():
        given.setdefault((question, answer, gold), Counter())[model] += votes
    found = [Dispute(*texts, votes) for texts, votes in given.items()]
    return tuple(sorted(found, key=lambda one: (-sum(one.votes.values()), one.question, one.answer)))


def _read(known: pl.DataFrame) -> Iterator[tuple[str, str, str, bool]]:
    """Answers that are written otherwise than what stands for them, or say gold: question, answer, category, right."""
    import polars as pl

    golds = set(known["gold"])
    spellings = Counter(gold.casefold() for gold in golds)
    few = len(golds) <= FEW_LABELS and 5 * len(golds) <= known["question"].n_unique()
    grouped = known.group_by("question", "gold", maintain_order=True).agg(pl.col("answer").unique())
    for question, gold, answers in grouped.rows():
        # Where two golds differ in case alone, case is meant.
        if spellings[gold.casefold()] > 1 or all(len(text) == 1 for text in (gold, *answers)):
            continue
        category = meant(answers, gold)
        for answer in answers:
            right = category[answer] == gold or says(answer, gold, golds if few else set())
            if category[answer] != answer or (right and answer != gold):
                yield question, answer, category[answer], right


def _rewritten(votes: Votes, dataset: str, changed: pl.DataFrame) -> Votes:
    """The votes of a dataset with what stands for their answers; grades where a sentence says gold."""
    import polars as pl

    counted = any(source.counted for source in votes.sources)
    frame = (votes.counts.lazy() if counted else votes.frame).filter(pl.col("dataset") == dataset)
    columns = frame.collect_schema().names()
    read = frame.join(changed.lazy(), on=["question", "answer"], how="left", maintain_order="left")
    right = pl.col("correct") if "correct" in columns else pl.col("answer") == pl.col("gold")
    sentences = changed.filter("right", pl.col("category") == pl.col("answer"))
    graded = "correct" in columns or not sentences.is_empty()
    grades = [(right | pl.col("right").fill_null(False)).alias("correct")] if graded else []
    read = read.with_columns(pl.coalesce("category", "answer").alias("answer"), *grades)
    read = read.select(*columns, *(["correct"] if graded and "correct" not in columns else []))
    rows = add_up(read, maintain_order=True).collect().lazy() if counted else read
    source = Source(votes.sources[0].name, lambda: rows, counted=counted, origin=lambda: spelt(votes.origin, (FORM,)))
    return Votes((source,), votes.notes, votes.merge_right)
