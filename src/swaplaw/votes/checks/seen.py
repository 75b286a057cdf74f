"""What checks look at, one frame of counts and texts that are read once each; and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from swaplaw._result import Result
from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.answers.forms import letter as option_letter
from swaplaw.votes.counts import tally_counts
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
LONG = 10
"""Digits of a number from which on it counts nothing."""
FEW_WRONG = 5
"""Wrong answers of a model from which on they tell whether questions have options."""
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
    share: float | None = None
    """The share of the model's votes that count as wrong and may be right, where that is what it says."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Said:
    """How much a model said."""

    votes: int
    answers: int
    """Votes that are not abstentions."""
    asked: int
    """Questions that it answered."""
    right: int
    """Right votes."""

    @property
    def share(self) -> float:
        """The share of its answers that are right."""
        return self.right / self.answers


@dataclass(frozen=True)
class Seen:
    """One dataset's votes as checks see them."""

    dataset: str
    rows: pl.DataFrame = field(repr=False)
    """Model, question, answer, gold, whether it is right, whether the question is labelled, and votes: a row for each
    answer of a model to a question. Null answers are none; null golds are unknown, as where answers were graded."""
    clusters: int | None = None
    """How many clusters there are, if there is such a column."""

    @cached_property
    def judged(self) -> Seen:
        """The questions that have a label: nobody is wrong where nobody knows what is right."""
        labelled = self.rows["labelled"]
        return self if labelled.all() or not labelled.any() else replace(self, rows=self.rows.filter("labelled"))

    @cached_property
    def models(self) -> dict[str, Said]:
        """How much each model said, by name."""
        import polars as pl

        answered, votes = pl.col("answer").is_not_null(), pl.col("votes")
        each = self.rows.group_by("model").agg(
            votes.sum().alias("all"),
            votes.filter(answered).sum().alias("answers"),
            pl.col("question").filter(answered).n_unique(),
            votes.filter("right").sum().alias("right"),
        )
        return {model: Said(*said) for model, *said in each.sort("model").iter_rows()}

    @cached_property
    def questions(self) -> int:
        """How many questions there are."""
        return self.rows["question"].n_unique()

    @cached_property
    def golds(self) -> set[str]:
        """All right answers."""
        return set(self.rows["gold"].unique().drop_nulls())

    @cached_property
    def answered(self) -> pl.DataFrame:
        """Rows that are not abstentions."""
        return self.rows.drop_nulls("answer")

    @cached_property
    def wrong(self) -> pl.DataFrame:
        """Answers that are not right."""
        return self.answered.remove("right")

    @cached_property
    def right(self) -> pl.DataFrame:
        """Answers that are right."""
        return self.answered.filter("right")

    @property
    def anybody_right(self) -> bool:
        """Whether some vote is right."""
        return not self.right.is_empty()

    def tally(self, *, merge_right: bool = False) -> Tally:
        """These votes counted as they would run, with right answers as they are spelt or as one."""
        import polars as pl

        texts = self.rows.with_columns(pl.col("model", "question", "answer", "gold").cast(pl.String))
        return tally_counts(self.dataset, texts.rename({"right": "correct"}), merge_right=merge_right)

    @cached_property
    def letters(self) -> bool:
        """Whether the right answers are letters of options."""
        return bool(self.golds) and all(len(option_letter(gold)) == 1 for gold in self.golds)

    @cached_property
    def highest(self) -> int:
        """The size of the largest right answer, if all of them are whole numbers, else 0."""
        return max((abs(int(gold)) for gold in self.golds), default=0) if all(map(_is_whole, self.golds)) else 0

    @cached_property
    def closed(self) -> bool:
        """Whether a few answers are right again and again, and wrong ones are among them: questions have options."""
        few = 2 <= len(self.golds) <= 26 and (self.letters or 5 * len(self.golds) <= self.questions)
        whole = {int(gold) for gold in self.golds} if self.highest else {0}
        # Whole numbers with gaps between them, some below 0, are measured: these are no labels.
        measured = min(whole) < 0 and max(whole) - min(whole) >= len(whole)
        return few and not measured and ((self.letters and not self.highest) or not self._open)

    @cached_property
    def _open(self) -> bool:
        """Whether models that know right answers, if there are any, give wrong ones that are nobody's gold.

        A model knows them if it is right at least twice as often as guessing would be.
        """
        outside = votes_by_model(where(self.wrong, lambda text: not self.is_option(text)))
        wrong = votes_by_model(self.wrong)
        telling = [
            model
            for model, said in self.models.items()
            if wrong.get(model, 0) >= FEW_WRONG and said.right * len(self.golds) >= 2 * said.answers
        ]
        return bool(telling) and all(2 * outside.get(model, 0) > wrong[model] for model in telling)

    @cached_property
    def _labels(self) -> set[str]:
        """Letters that may be options: golds, those before the last gold, and others that follow without a gap.

        A digit is no option where golds are letters, nor is X where the options are A to D.
        """
        golds = {option_letter(gold) for gold in self.golds}
        given = golds | {option_letter(text) for text in texts_of(self.answered)}
        if not all("A" <= gold <= "Z" for gold in golds):
            return golds | {text for text in given if len(text) == 1 and all(map(str.isdigit, {text} | golds))}
        if golds <= {"Y", "N"} or golds <= {"T", "F"}:
            return golds
        last = max(golds)
        while chr(ord(last) + 1) in given:
            last = chr(ord(last) + 1)
        return {chr(code) for code in range(ord("A"), ord(last) + 1)}

    @cached_property
    def _known(self) -> set[str]:
        return {form(chain)(gold) for chain in CHAINS for gold in self.golds}

    def is_option(self, text: str) -> bool:
        """Whether an answer is one of the options, however it is spelt; a wrong count may be above every gold."""
        if self.highest and _is_whole(text):
            return abs(int(text)) <= 2 * self.highest
        if self.letters:
            return option_letter(text) in self._labels
        return any(form(chain)(text) in self._known for chain in CHAINS)

    def check(
        self,
        name: str,
        severity: Severity,
        model: str | None,
        questions: int,
        message: str,
        fix: str,
        share: float | None = None,
    ) -> Check:
        """A check of this dataset."""
        return Check(name, severity, model, questions, message, fix, self.dataset, share)


def seen_in(votes: Votes | Tally, dataset: str) -> Seen | None:
    """One dataset of a table, or what a tally was counted from; None where it was counted from no table."""
    import polars as pl

    if not isinstance(votes, Tally):
        counts = votes.counts_of(dataset)[1]
    elif votes.counted is None:
        return None
    else:
        kept = {"model": votes.models, "question": votes.questions}
        counts = votes.counted.filter(pl.col(name).is_in(names) for name, names in kept.items())
    graded = "correct" in counts.columns
    right = pl.col("correct") if graded else pl.col("answer") == pl.col("gold")
    rows = counts.select(
        "model",
        "question",
        "answer",
        pl.lit(None, pl.String).alias("gold") if graded else pl.col("gold"),
        right.fill_null(value=False).alias("right"),
        pl.col("gold").is_not_null().alias("labelled"),
        "votes",
    )
    if graded or "reason" in counts.columns:
        # Nothing else parts votes for one answer.
        rows = rows.group_by(pl.exclude("votes"), maintain_order=True).agg(pl.col("votes").sum())
    clusters = counts["cluster"].n_unique() if "cluster" in counts.columns else None
    return Seen(dataset, _numbered(rows), clusters)


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts as numbers in their order: answers and golds by one list, so that they compare."""
    import polars as pl

    texts = pl.concat([rows["answer"], rows["gold"]]).drop_nulls().unique().sort()
    names = {name: rows[name].unique().sort() for name in ("model", "question")} | {"answer": texts, "gold": texts}
    return rows.with_columns(pl.col(name).cast(pl.Enum(each)) for name, each in names.items())


def known(rows: pl.DataFrame, column: str) -> list[str]:
    """All texts of a column, which it holds the places of."""
    names: list[str] = rows[column].dtype.categories.to_list()  # type: ignore[attr-defined]
    return names


def texts_of(rows: pl.DataFrame) -> list[str]:
    """The different answers of some rows, sorted."""
    return rows["answer"].unique().drop_nulls().sort().to_list()


def where(rows: pl.DataFrame, told: Callable[[str], bool]) -> pl.DataFrame:
    """The rows whose answer, read once for all of them, is told to be such."""
    import polars as pl

    chosen = [text for text in texts_of(rows) if told(text)]
    return rows.filter(pl.col("answer").is_in(pl.Series(chosen, dtype=rows["answer"].dtype).implode()))


def by_model(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each model, by name."""
    for (model,), own in rows.sort("model", maintain_order=True).group_by("model", maintain_order=True):
        yield str(model), own


def votes_by_model(rows: pl.DataFrame) -> dict[str, int]:
    """Votes of each model that has some."""
    import polars as pl

    return dict(rows.group_by("model").agg(pl.col("votes").sum()).iter_rows())


def total(rows: pl.DataFrame) -> int:
    """All votes."""
    return int(rows["votes"].sum())


def commonest(rows: pl.DataFrame) -> str:
    """An example: the commonest answer, the first of equals."""
    import polars as pl

    each = rows.group_by("answer").agg(pl.col("votes").sum())
    return str(each.sort(-pl.col("votes"), "answer").item(0, "answer"))


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < LONG


@cache
def form(chain: str) -> Canonicaliser:
    """A chain of canonical forms."""
    return canonicaliser([chain])
