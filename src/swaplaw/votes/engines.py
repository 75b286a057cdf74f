"""Counting votes where they are: group-and-count in the user's own engine, so that only counts come back.

Every engine does the same two things through narwhals: it counts the votes of each combination of the contract's
columns, and, where samples are numbered, the distinct numbers of each model and question. Types and blanks are seen
to afterwards, on the counts, by the same Polars code for all: so all engines agree to the last bit.
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
_FINGERPRINT_SEED = 2024


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
    """Count the votes of each combination of `KEYS` in the engine that holds them."""
    import narwhals as nw

    wrapped = _without_categories(narwhal(frame, name).lazy())
    keys = [key for key in KEYS if key in wrapped.collect_schema().names()]
    return _collected(wrapped.group_by(keys).agg(nw.len().alias("votes")), name)


def numbers_foreign(frame: Any, name: str) -> pl.DataFrame:
    """Count, per model and question, the votes, those with a number, and their distinct numbers, in the engine."""
    import narwhals as nw
    import polars as pl

    wrapped = _without_categories(narwhal(frame, name).lazy())
    keys = [key for key in BALLOT if key in wrapped.collect_schema().names()]
    kind = wrapped.collect_schema()["sample"]
    if not (kind.is_integer() or kind == nw.String):
        raise InputError(f"{name}: column 'sample' has type {kind}; expected whole numbers without nulls; convert it")
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
    numbers = [column for column in ("votes", "rows", "numbers") if column in counted.columns]
    return counted.with_columns(pl.col(numbers).cast(pl.Int64))


def count_polars(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The same count for files and Polars, streamed, with a fingerprint of the sample numbers beside it."""
    import polars as pl

    names = frame.collect_schema().names()
    sums = [pl.len().cast(pl.Int64).alias("votes")]
    if "sample" in names:
        sums.append(pl.col("sample").hash(_FINGERPRINT_SEED).sum().alias("fingerprint"))
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
    """Find the ballots whose samples are not known, by their fingerprint, to be numbered 0 to n-1 or 1 to n.

    The fingerprint is the sum of a 64-bit hash of each number. It spares nearly every table the search for
    duplicates, which takes many times the memory of counting; what does not match is searched exactly.
    """
    import polars as pl

    sums = counts.lazy().group_by(BALLOT).agg(pl.col("votes").sum(), pl.col("fingerprint").sum())
    ballots = sums.collect(engine="streaming")
    longest = int(ballots["votes"].max() or 0)  # type: ignore[arg-type]
    # running[n] is the fingerprint of 0 to n; sums of hashes wrap around, here as there.
    running = pl.select(pl.int_range(longest + 1).hash(_FINGERPRINT_SEED).cum_sum()).to_series()
    n, fingerprint = ballots["votes"], ballots["fingerprint"]
    from_zero, from_one = running.gather(n - 1), running.gather(n) - running[0]
    return ballots.filter((fingerprint != from_zero) & (fingerprint != from_one)).select(BALLOT)


def numbers_polars(frame: pl.LazyFrame, ballots: pl.DataFrame) -> pl.LazyFrame:
    """Count the numbered rows and distinct numbers of the given ballots exactly."""
    import polars as pl

    suspects = frame.join(ballots.lazy(), on=list(BALLOT), how="semi", nulls_equal=True)
    number = pl.col("sample")
    distinct = number.n_unique().cast(pl.Int64) - (number.null_count() > 0)
    return suspects.group_by(BALLOT).agg(
        pl.len().alias("votes"), number.count().alias("rows"), distinct.alias("numbers")
    )
