"""Vote tables in canonical forms (see `answers.forms`): votes as a deployment, where nobody grades, would see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.errors import InputError, listing, quote
from swaplaw.votes.table import Votes, votes_of

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.answers.readers import Reader


def canonicalise(
    frame: pl.LazyFrame, names: Sequence[str] | Mapping[str, Sequence[str]], by: str | None = None
) -> pl.LazyFrame:
    """Canonicalise answers and golds alike; with `by`, that column's value says which chain (of `names`) is used."""
    import polars as pl

    columns = frame.collect_schema().names()
    if by is not None and by not in columns:
        raise InputError(f"there is no column {quote(by)} to say the question's type; there are {listing(columns)}")
    if by is None:
        if isinstance(names, Mapping):
            raise InputError("chains by question type need the column that names the type")
        one = canonicaliser(names)
        return frame.with_columns(_mapped(pl.col(name), one).alias(name) for name in ("answer", "gold"))
    chains = names if isinstance(names, Mapping) else {name: (name,) for name in names}
    branches = []
    for name in ("answer", "gold"):
        value = pl.col(name)
        for kind, chain in chains.items():
            value = pl.when(pl.col(by) == kind).then(_mapped(pl.col(name), canonicaliser(chain))).otherwise(value)
        branches.append(value.alias(name))
    return frame.with_columns(branches)


def read_answers(frame: pl.LazyFrame, reader: Reader) -> pl.LazyFrame:
    """Read the answers of completions, and spell the golds as the reader spells answers."""
    import polars as pl

    read = pl.col("answer").map_batches(
        lambda texts: pl.Series([None if text is None else reader.read(text) for text in texts], dtype=pl.String),
        return_dtype=pl.String,
        is_elementwise=True,
    )
    return frame.with_columns(read.alias("answer"), _mapped(pl.col("gold"), reader.gold).alias("gold"))


def _mapped(column: pl.Expr, apply: Canonicaliser) -> pl.Expr:
    """Canonicalise each distinct value once."""
    import polars as pl

    def batch(values: pl.Series) -> pl.Series:
        distinct = values.drop_nulls().unique()
        return values.replace_strict(distinct, [apply(text) for text in distinct], default=None, return_dtype=pl.String)

    return column.map_batches(batch, return_dtype=pl.String, is_elementwise=True)


def ungraded(votes: Votes, names: Sequence[str], by: str | None = None) -> Votes:
    """The votes as deployment would see them: answers canonicalised, no grades, correct only if spelt like gold."""
    frame = canonicalise(votes.frame, names, by)
    columns: list[Any] = [name for name in frame.collect_schema().names() if name != "correct"]
    return votes_of(frame.select(columns))
