"""Counting votes where they are: group-and-count in the user's own engine, so that only counts come back.

Every engine does the same in one pass: it counts the votes of each combination of the contract's columns and, where
samples are numbered, adds up marks of the numbers. The marks tell whether a ballot is numbered 0 to n-1 or 1 to n; only
where they do not are numbers searched for duplicates. Types and blanks are seen to afterwards, on the counts, by the
same Polars code for all: so all engines agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

KEYS = ("dataset", "question", "model", "answer", "gold", "cluster", "reason", "correct")
"""What votes are counted by; of `dataset`, `cluster`, `reason` and `correct`, those that are there."""
BALLOT = ("dataset", "question", "model")
"""Whose samples are numbered apart."""
MARKS = ("mark_0", "mark_1")
"""Sums of marks of sample numbers: together they mistake a ballot about once in 2^62."""
_PRIME = 2**31 - 1
_FACTORS = ((1_103_515_245, 12_345), (1_664_525, 1_013_904_223))


def marks_of(number: Any) -> list[Any]:
    """Two marks of a sample number: whole numbers below 2^31, from sums and products that every engine has.

    `number` is an expression of an engine, or an array; no product here reaches 2^62.
    """
    found = []
    for factor, term in _FACTORS:
        mixed = ((number % _PRIME) * factor + term) % _PRIME
        found.append(mixed * mixed % _PRIME)
    return found


def is_polars(frame: Any) -> bool:
    """Tell Polars' frames, which need no detour, from those of other engines."""
    import polars as pl

    return isinstance(frame, pl.LazyFrame | pl.DataFrame)


def narwhal(frame: Any, name: str) -> nw.LazyFrame[Any] | nw.DataFrame[Any]:
    """Wrap any engine's dataframe."""
    import narwhals as nw

    try:
        wrapped: nw.LazyFrame[Any] | nw.DataFrame[Any] = nw.from_native(frame)
        return wrapped
    except TypeError:
        raise InputError(
            f"{name} is not a dataframe: pass pandas, Polars, PyArrow, DuckDB, PySpark or Dask, or a file's path"
        ) from None


def columns(frame: Any, name: str) -> list[str]:
    """Name the columns without reading rows."""
    return list(narwhal(frame, name).collect_schema().names())


def has_rows_in_order(frame: Any) -> bool:
    """Whether row numbers mean something: a table in memory has an order, a query in an engine has none."""
    import narwhals as nw

    return is_polars(frame) or isinstance(nw.from_native(frame), nw.DataFrame)


def to_polars(frame: Any, name: str) -> pl.DataFrame:
    """Bring rows over. Votes themselves only come when somebody asks for them; counts are few."""
    import narwhals as nw

    wrapped = narwhal(frame, name)
    try:
        if isinstance(wrapped, nw.LazyFrame):
            native: pl.DataFrame = wrapped.collect(backend="polars").to_native()
            return native
        return wrapped.to_polars()
    except InputError:
        raise
    except Exception as error:  # Every engine has exceptions of its own; all mean that the rows cannot be had.
        raise unreadable_frame(name, error) from None


def unreadable_frame(name: str, error: Exception) -> InputError:
    """Pass on an engine's complaint in one line."""
    detail = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{name}: the engine could not count these votes ({quote(detail, 300)}); check column types")


def count_foreign(frame: Any, name: str) -> pl.DataFrame:
    """Count the votes of each combination of `KEYS` in the engine that holds them, with marks of their numbers."""
    return _collected(counting(frame, name), name)


def counting(frame: Any, name: str) -> nw.LazyFrame[Any]:
    """The query that counts votes, for the engine to run: one pass."""
    import narwhals as nw

    wrapped = _without_categories(narwhal(frame, name).lazy())
    schema = wrapped.collect_schema()
    keys = [key for key in KEYS if key in schema.names()]
    sums = [nw.len().alias("votes")]
    if "sample" in schema.names():
        _require_numbers(schema["sample"], name)
    # Tables in memory are small, and not all kinds of them can do the arithmetic.
    if "sample" in schema.names() and is_lazy(frame):
        marks = marks_of(nw.col("sample").cast(nw.Int64))
        wrapped = wrapped.with_columns(**dict(zip(MARKS, marks, strict=True)))
        sums += [nw.col(mark).sum().alias(mark) for mark in MARKS]
    return wrapped.group_by(keys).agg(*sums)


def is_lazy(frame: Any) -> bool:
    """Whether a frame is a query that an engine runs, and no table in memory."""
    import narwhals as nw

    return isinstance(nw.from_native(frame), nw.LazyFrame)


def _require_numbers(kind: Any, name: str) -> None:
    import narwhals as nw

    if not (kind.is_integer() or kind == nw.String):
        raise InputError(f"{name}: column 'sample' has type {kind}; expected whole numbers without nulls; convert it")


def numbers_foreign(frame: Any, name: str) -> pl.DataFrame:
    """Count, per model and question, the votes, those with a number, and their distinct numbers, in the engine."""
    import narwhals as nw
    import polars as pl

    wrapped = _without_categories(narwhal(frame, name).lazy())
    keys = [key for key in BALLOT if key in wrapped.collect_schema().names()]
    votes = _collected(wrapped.group_by(keys).agg(nw.len().alias("votes")), name)
    numbered = wrapped.filter(~nw.col("sample").is_null()).select(*keys, nw.col("sample").cast(nw.Int64))
    query = numbered.group_by(keys).agg(nw.len().alias("rows"), nw.col("sample").n_unique().alias("numbers"))
    joined = votes.join(_collected(query, name), on=keys, how="left", nulls_equal=True)
    return joined.with_columns(pl.col("rows", "numbers").fill_null(0))


def _without_categories(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Some engines count every combination of categories, voted for or not: text has no such habit."""
    import narwhals as nw

    schema = frame.collect_schema()
    categories = [key for key in KEYS if key in schema and schema[key] in (nw.Categorical, nw.Enum)]
    return frame.with_columns(nw.col(categories).cast(nw.String)) if categories else frame


def _collected(query: nw.LazyFrame[Any], name: str) -> pl.DataFrame:
    import polars as pl

    counted = to_polars(query.to_native(), name)
    numbers = [column for column in ("votes", "rows", "numbers", *MARKS) if column in counted.columns]
    return counted.with_columns(pl.col(numbers).cast(pl.Int64).fill_null(0))


def count_polars(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The same count for files and Polars, streamed."""
    import polars as pl

    names = frame.collect_schema().names()
    sums = [pl.len().cast(pl.Int64).alias("votes")]
    if "sample" in names:
        sums += [mark.sum().alias(name) for name, mark in zip(MARKS, marks_of(pl.col("sample")), strict=True)]
    return frame.group_by([key for key in KEYS if key in names]).agg(sums)


def count_by(frame: Any, name: str, keys: Sequence[str]) -> pl.DataFrame:
    """Count the votes of each combination of any columns, in the engine that holds them."""
    import narwhals as nw
    import polars as pl

    if is_polars(frame):
        rows: pl.LazyFrame = frame.lazy()
        return rows.group_by(keys).agg(pl.len().cast(pl.Int64).alias("votes")).collect(engine="streaming")
    return _collected(narwhal(frame, name).lazy().group_by(keys).agg(nw.len().alias("votes")), name)


def unproven(counts: pl.DataFrame) -> pl.DataFrame:
    """Find the ballots whose samples are not known, by their marks, to be numbered 0 to n-1 or 1 to n.

    Marks spare nearly every table the search for duplicates, which takes many times the memory of counting; what does
    not match is searched exactly.
    """
    import numpy as np
    import polars as pl

    keys = [key for key in BALLOT if key in counts.columns]
    sums = counts.lazy().group_by(keys).agg(pl.col("votes").sum(), pl.col(MARKS).sum())
    ballots = sums.collect(engine="streaming")
    n = ballots["votes"].to_numpy()
    from_zero, from_one = np.ones(len(n), dtype=bool), np.ones(len(n), dtype=bool)
    for name, mark in zip(MARKS, marks_of(np.arange(int(n.max(initial=0)) + 1)), strict=True):
        # running[n] is the sum of the marks of 0 to n.
        running, found = np.cumsum(mark), ballots[name].to_numpy()
        from_zero &= found == running[n - 1]
        from_one &= found == running[n] - running[0]
    return ballots.filter(pl.Series(~(from_zero | from_one))).select(keys)


def numbers_polars(frame: pl.LazyFrame, ballots: pl.DataFrame) -> pl.LazyFrame:
    """Count the numbered rows and distinct numbers of the given ballots exactly."""
    import polars as pl

    keys = ballots.columns
    suspects = frame.join(ballots.lazy(), on=keys, how="semi", nulls_equal=True)
    number = pl.col("sample")
    distinct = number.n_unique().cast(pl.Int64) - (number.null_count() > 0)
    return suspects.group_by(keys).agg(pl.len().alias("votes"), number.count().alias("rows"), distinct.alias("numbers"))
