"""One dataset's votes as checks look at them, and what a check says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swaplaw._core.results import Result
from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.answers.forms import letter as option_letter
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
SERIOUS = 0.05
"""A fault in this share of a model's votes or more is an error, not a warning."""
SURE = 20
"""Questions on which a model does the same thing before it is called a habit."""
CHAINS = ("letter", "text", "numeric", "math")
"""Canonical forms by which an answer may turn out to be gold."""


@dataclass(frozen=True)
class Check(Result):
    """Something that looks wrong in votes."""

    name: str
    severity: Severity
    model: str | None
    """The model that it is about, if it is about one."""
    questions: int
    """How many questions are affected."""
    message: str
    """What is wrong, with an example."""
    fix: str
    """What would put it right."""
    dataset: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Ballots:
    """One dataset's votes: a row for each model, question and answer."""

    dataset: str
    rows: pl.DataFrame = field(repr=False)
    """model, question, answer (null: abstention), gold (null: unknown), right, labelled, votes."""
    clusters: int | None
    """How many clusters there are, if there is such a column."""

    @cached_property
    def judged(self) -> Ballots:
        """The questions that have a label: nobody is wrong where nobody knows what is right."""
        labelled = self.rows["labelled"]
        return self if labelled.all() or not labelled.any() else replace(self, rows=self.rows.filter(labelled))

    @cached_property
    def models(self) -> list[str]:
        """Every model, by name."""
        return sorted(self.rows["model"].unique())

    @cached_property
    def questions(self) -> int:
        """How many questions there are."""
        return int(self.rows["question"].n_unique())

    @cached_property
    def golds(self) -> set[str]:
        """All right answers."""
        return set(self.rows["gold"].drop_nulls().unique())

    @cached_property
    def answered(self) -> pl.DataFrame:
        """Rows that are not abstentions."""
        return self.rows.filter(self.rows["answer"].is_not_null())

    @cached_property
    def wrong(self) -> pl.DataFrame:
        """Answers that are not right."""
        return self.answered.filter(~self.answered["right"])

    @cached_property
    def letters(self) -> bool:
        """Whether the right answers are letters of options."""
        return bool(self.golds) and all(len(option_letter(gold)) == 1 for gold in self.golds)

    @cached_property
    def closed(self) -> bool:
        """Whether a few answers are right again and again: questions have options."""
        return 2 <= len(self.golds) <= 26 and (self.letters or 5 * len(self.golds) <= self.questions)

    @cached_property
    def _known(self) -> set[str]:
        return {form(chain)(gold) for chain in CHAINS for gold in self.golds}

    def is_option(self, text: str) -> bool:
        """Whether an answer is one of the options, however it is spelt."""
        if self.letters:  # A digit is no option where golds are letters, nor a letter where they are digits.
            found = option_letter(text)
            return len(found) == 1 and found.isdigit() in {option_letter(gold).isdigit() for gold in self.golds}
        return any(form(chain)(text) in self._known for chain in CHAINS)

    @cached_property
    def votes(self) -> dict[str, int]:
        """Votes of each model."""
        return _totals(self.rows)

    @cached_property
    def answers(self) -> dict[str, int]:
        """Votes of each model that are not abstentions."""
        return _totals(self.answered)

    @cached_property
    def spoken(self) -> pl.DataFrame:
        """How often each model gave each answer, and how often that was right."""
        import polars as pl

        votes = pl.col("votes")
        return self.answered.group_by("model", "answer").agg(votes.sum(), votes.filter("right").sum().alias("right"))

    def check(self, name: str, severity: Severity, model: str | None, questions: int, message: str, fix: str) -> Check:
        """A check of this dataset."""
        return Check(name, severity, model, questions, message, fix, self.dataset)


def from_table(votes: Votes, dataset: str) -> Ballots:
    """One dataset of a table."""
    import polars as pl

    counts = votes.counts.filter(pl.col("dataset") == dataset)
    graded = "correct" in counts.columns
    right = (pl.col("correct") if graded else pl.col("answer") == pl.col("gold")).fill_null(False).alias("right")
    gold = (pl.lit(None, pl.String) if graded else pl.col("gold")).alias("gold")
    question = pl.col("question").cast(pl.Categorical).to_physical()  # Only told apart, never named.
    keys = ["model", question, "answer", gold, right, pl.col("gold").is_not_null().alias("labelled")]
    clusters = counts["cluster"].n_unique() if "cluster" in counts.columns else None
    return Ballots(dataset, counts.group_by(keys).agg(pl.col("votes").sum().cast(pl.Int64)), clusters)


def from_tally(tally: Tally) -> Ballots:
    """Lay a tally's entries out as rows; the text of a right answer is gold's, or unknown."""
    import polars as pl

    model, question = np.nonzero(tally.gold)
    owner = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
    spot = tally.rivals.question[tally.positions]
    golds = pl.Series(tally.golds or [None] * len(tally.questions), dtype=pl.String)
    places = np.concatenate([question, spot])
    right = np.arange(len(places)) < len(question)
    said = (
        golds.fill_null("gold")
        .gather(question)
        .extend(pl.Series(tally.rivals.labels[tally.positions].tolist(), dtype=pl.String))
    )
    rows = pl.DataFrame(
        {
            "model": pl.Series(tally.models).gather(np.concatenate([model, owner])),
            "question": places,
            "answer": said,
            "gold": golds.gather(places),
            "right": right,
            "labelled": True,
            "votes": np.concatenate([tally.gold[model, question], tally.counts]).astype(np.int64),
        }
    )
    return Ballots(tally.dataset, rows, None if tally.clusters is None else len(set(tally.clusters)))


@cache
def form(chain: str) -> Canonicaliser:
    """A chain of canonical forms."""
    return canonicaliser([chain])


def _totals(rows: pl.DataFrame) -> dict[str, int]:
    import polars as pl

    return dict(rows.group_by("model").agg(pl.col("votes").sum()).iter_rows())


def by_model(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each model, by name."""
    for model in sorted(rows["model"].unique()):
        yield model, rows.filter(rows["model"] == model)


def first(rows: pl.DataFrame) -> str:
    """An example: the commonest answer, the first of equals."""
    import polars as pl

    common = rows.group_by("answer").agg(pl.col("votes").sum()).sort(["votes", "answer"], descending=[True, False])
    return str(common["answer"][0])
