"""The contract of the vote table: which columns there are, of which type, and what may stand in them.

A violation is an `InputError` that names the file, the column, the first offending row and the fix.
Checks run on counts, which are small; rows are searched only once a violation is known to be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swaplaw._arrays import SPREAD, one_each
from swaplaw.errors import InputError, listing, quote
from swaplaw.votes import engines
from swaplaw.votes.counts import Codes
from swaplaw.votes.files import Source, reading

if TYPE_CHECKING:
    import polars as pl

REQUIRED = ("question", "model", "answer", "gold")
OPTIONAL = ("dataset", "sample", "cluster", "reason", "cost", "tokens", "temperature", "position", "options", "run")
TEXT = ("dataset", "question", "model", "answer", "gold", "cluster", "reason")
DEFAULT_DATASET = "votes"
RIGHT, WRONG = "(right)", "(wrong)"
"""What stands for answers in votes that only say whether they are right: such votes can be counted, not pooled."""
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


def conform(source: Source) -> pl.LazyFrame:
    """Bring one source to the contract's columns, types and nulls, lazily; other columns pass through untouched.

    Of counts each vote is a row again.
    """
    import polars as pl

    rows = blanks_to_null(rows_of(source))
    if not source.counted:
        return rows
    return rows.select(pl.exclude("votes").repeat_by("votes").explode())


def rows_of(source: Source) -> pl.LazyFrame:
    """Scan one source as Polars rows of the contract's types; rows of other engines are brought over."""
    frame = source.scan()
    rows = frame.lazy() if engines.is_polars(frame) else engines.to_polars(frame, source.name).lazy()
    return typed(source, rows)


def typed(source: Source, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Cast the contract's columns to its types, lazily: those of votes, or of the counts that an engine sent."""
    import polars as pl

    with reading(source):
        schema = frame.collect_schema()
    require_columns(source, [name for name in schema.names() if name not in ("votes", engines.MARK)])
    casts = [_as_text(source, name, schema[name]) for name in TEXT if name in schema]
    if "sample" in schema:
        casts.append(_as_integer(source, schema["sample"]))
    if "correct" in schema:
        casts.append(_as_boolean(source, schema["correct"]))
    if "gold" not in schema:
        casts.append(pl.lit(None, dtype=pl.String).alias("gold"))
    if "dataset" not in schema:
        casts.append(pl.lit(DEFAULT_DATASET).alias("dataset"))
    return frame.with_columns(casts)


def is_blank() -> pl.Expr:
    """An empty answer is no answer: CSV cannot tell the two apart, so no format does."""
    import polars as pl

    return pl.col("answer").str.strip_chars() == ""


def blanks_to_null(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make blank answers null."""
    import polars as pl

    return frame.with_columns(pl.when(~is_blank()).then("answer").alias("answer"))


def require_columns(source: Source, names: list[str]) -> None:
    """Refuse a table that lacks a column, naming those that it has; labels may be missing, not be called otherwise."""
    for column in REQUIRED:
        if column in names or (column == "gold" and set(names) <= {*REQUIRED, *OPTIONAL}):
            continue
        unlabelled = ", or add an empty one if nobody has labelled these questions" if column == "gold" else ""
        raise InputError(
            f"{quote(source.name, 200)}: column '{column}' is missing (found {listing(names)}); "
            f"rename or add it{unlabelled}: a vote table needs {', '.join(REQUIRED)} (`swaplaw import` maps other "
            "layouts)"
        )


def _as_text(source: Source, name: str, dtype: pl.DataType) -> pl.Expr:
    import polars as pl

    textual = dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (textual or dtype.is_integer()):
        raise InputError(_wrong_type(source, name, dtype, "text"))
    return pl.col(name).cast(pl.String)


def _as_integer(source: Source, dtype: pl.DataType) -> pl.Expr:
    import polars as pl

    if not (dtype in (pl.String, pl.Null) or dtype.is_integer()):
        raise InputError(_wrong_type(source, "sample", dtype, "whole numbers"))
    return pl.col("sample").cast(pl.Int64, strict=False)


def _as_boolean(source: Source, dtype: pl.DataType) -> pl.Expr:
    import polars as pl

    if dtype in (pl.Boolean, pl.Null):
        return pl.col("correct").cast(pl.Boolean)
    if dtype != pl.String:
        raise InputError(_wrong_type(source, "correct", dtype, "true or false"))
    word = pl.col("correct").str.strip_chars().str.to_lowercase()
    return pl.when(word.is_in(_TRUE)).then(True).when(word.is_in(_FALSE)).then(False).alias("correct")


def _wrong_type(source: Source, name: str, dtype: pl.DataType, wanted: str) -> str:
    return (
        f"{quote(source.name, 200)}: column '{name}' has type {dtype}; expected {wanted}; "
        f"convert the column before writing the file (first offending row: 1)"
    )


class Violations:
    """Finds the first violation of a counted table and says where it is."""

    def __init__(self, sources: Sequence[Source], codes: Codes, samples: pl.DataFrame | None) -> None:
        self.sources, self.codes, self.samples = sources, codes, samples
        self.counts = codes.counts

    def check(self) -> None:
        """Raise for the first violation, in the order in which a reader would fix them."""
        self._not_empty()
        for column in ("dataset", "question", "model"):
            self._no_nulls(column)
        self._one_value_per_question("gold")
        if "cluster" in self.counts.columns and not self.counts["cluster"].is_null().all():
            self._no_nulls("cluster")
            self._one_value_per_question("cluster")
        if "correct" in self.counts.columns:
            self._grades_agree()
        if self.samples is not None:
            self._samples_unique()

    def _not_empty(self) -> None:
        if self.counts.is_empty():
            names = ", ".join(quote(source.name, 200) for source in self.sources)
            raise InputError(f"{names}: there are no votes, only columns; write at least one vote")

    def _no_nulls(self, column: str) -> None:
        import polars as pl

        if self.counts[column].null_count():
            place = self._first_row(pl.col(column).is_null())
            raise InputError(f"{place}: column '{column}' is null; give every vote a {column}, or remove the row")

    def _one_value_per_question(self, column: str) -> None:
        import polars as pl

        if self._one_code_per_question(column):
            return
        # There are no nulls any more: values differ exactly where the least is not the greatest.
        least, greatest = pl.col(column).min().alias("least"), pl.col(column).max().alias("greatest")
        values = self.counts.lazy().group_by("dataset", "question").agg(least, greatest)
        broken = values.filter(pl.col("least") != pl.col("greatest")).collect(engine="streaming")
        if broken.is_empty():
            return
        dataset, question = broken.sort("dataset", "question").row(0)[:2]
        here = (pl.col("dataset") == dataset) & (pl.col("question") == question)
        first, first_value = self._first_value(here, column)
        place, value = self._first_value(here & (pl.col(column) != first_value), column)
        raise InputError(
            f"{place}: column '{column}' is {quote(value)} for question {quote(question)}, but {quote(first_value)} "
            f"in {first}; give each question of a dataset one {column} "
            "(or separate questions their own ids: see `question` of the import options)"
        )

    def _one_code_per_question(self, column: str) -> bool:
        """Whether no question has two values, as far as the quick way can tell."""
        (datasets, dataset), (questions, question), (values, value) = map(self.codes, ("dataset", "question", column))
        if len(datasets) * len(questions) > SPREAD * len(question):
            return False
        known = value < len(values)
        key = dataset * len(questions) + question
        return one_each(key[known], len(datasets) * len(questions), value[known]) is not None

    def _grades_agree(self) -> None:
        """An abstention is never correct, every answer has a grade, and letters speak for themselves."""
        import polars as pl

        answered = pl.col("answer").is_not_null()
        self._no_row(~answered & pl.col("correct"), "is true for a null answer; an abstention is never correct")
        labelled = pl.col("gold").is_not_null()
        self._no_row(
            answered & labelled & pl.col("correct").is_null(), "is not true or false for a given answer; grade it"
        )
        letters = pl.col("answer").fill_null("A").str.contains(r"^[A-Z]$") & pl.col("gold").str.contains(r"^[A-Z]$")
        choice = self.counts.group_by("dataset").agg(letters.all().alias("letters")).filter("letters")["dataset"]
        contradicts = pl.col("dataset").is_in(choice.to_list()) & (
            pl.col("correct") != (pl.col("answer") == pl.col("gold"))
        )
        self._no_row(contradicts, "contradicts answer and gold in a multiple-choice table; fix it or drop the column")

    def _no_row(self, predicate: pl.Expr, complaint: str) -> None:
        if not self.counts.filter(predicate).is_empty():
            raise InputError(f"{self._first_row(predicate)}: column 'correct' {complaint}")

    def _samples_unique(self) -> None:
        import polars as pl

        assert self.samples is not None
        unnumbered = pl.col("rows") < pl.col("votes")
        if not self.samples.filter(unnumbered).is_empty():
            # Files without the column leave nulls, which is fine: every row of theirs is a vote of its own.
            for place, _ in self._rows(pl.col("sample").is_null(), "sample", 1):
                raise InputError(
                    f"{place}: column 'sample' is not a whole number; number every vote, or drop the column"
                )
        keys = [key for key in engines.BALLOT if key in self.samples.columns]
        twice = self.samples.filter(pl.col("numbers") < pl.col("rows")).select(pl.col(keys).cast(pl.String)).sort(keys)
        if twice.is_empty():
            return
        ids = twice.row(0, named=True)
        question, model = ids["question"], ids["model"]
        here = pl.all_horizontal(pl.col(key) == value for key, value in ids.items())
        ballot = f"question {quote(question)} and model {quote(model)}"
        fix = "number repeated samples 0, 1, 2, …, or remove the duplicate"
        seen: dict[object, str] = {}
        for place, number in self._rows(here, "sample"):
            if number in seen:
                raise InputError(
                    f"{place}: column 'sample' is {number} again for {ballot}, already in {seen[number]}; {fix}"
                )
            seen[number] = place
        # Only an engine whose rows have no order gets here.
        names = listing([source.name for source in self.sources])
        raise InputError(f"{names}: column 'sample' holds a number twice for {ballot}; {fix}")

    def _first_row(self, predicate: pl.Expr) -> str:
        return self._first_value(predicate, "question")[0]

    def _first_value(self, predicate: pl.Expr, column: str) -> tuple[str, object]:
        return self._rows(predicate, column, limit=1)[0]

    def _rows(self, predicate: pl.Expr, column: str, limit: int | None = None) -> list[tuple[str, object]]:
        """Where the rows are for which `predicate` holds, with their value of `column`."""
        import polars as pl

        found: list[tuple[str, object]] = []
        for source in self.sources:
            if engines.has_rows_in_order(source.scan()):
                frame = conform(source)
                if column not in frame.collect_schema().names():
                    continue
                rows = frame.with_row_index("row").filter(predicate).select(pl.col("row"), column)
                places = [(source.place(row), value) for row, value in _head(rows, limit).collect().iter_rows()]
            else:
                places = self._ballots(source, predicate, column, limit)
            found += [(f"{quote(source.name, 200)}, {place}", value) for place, value in places]
            if limit is not None and len(found) >= limit:
                return found[:limit]
        return found

    def _ballots(self, source: Source, predicate: pl.Expr, column: str, limit: int | None) -> list[tuple[str, object]]:
        """Rows of a query have no numbers: say by question and model where they are, from the counts alone."""
        import polars as pl

        if column == "sample":
            assert self.samples is not None
            unnumbered = self.samples.filter(pl.col("rows") < pl.col("votes")).select("question", "model")
            return [(f"a row of question {quote(q)} and model {quote(m)}", None) for q, m in unnumbered.iter_rows()]
        found = engines.count_foreign(source.scan(), source.name).drop(engines.MARK, strict=False)
        counts = blanks_to_null(typed(source, found.lazy()))
        rows = counts.filter(predicate).select("question", "model", pl.col(column).alias("value")).sort(pl.all())
        return [
            (f"the rows of question {quote(question)} and model {quote(model)}", value)
            for question, model, value in _head(rows, limit).collect().iter_rows()
        ]


def _head(rows: pl.LazyFrame, limit: int | None) -> pl.LazyFrame:
    return rows if limit is None else rows.head(limit)
