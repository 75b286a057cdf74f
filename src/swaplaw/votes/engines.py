"""Counting votes where they are: group-and-count in the user's own engine, so that only counts come back.

Every engine does the same in one pass: it counts the votes of each combination of the contract's columns and, where
samples are numbered, adds up marks of the numbers. The sum tells whether a ballot is numbered 0 to n-1 or 1 to n; only
where they do not are numbers searched for duplicates. Types and blanks are seen to afterwards, on the counts, by the
same Polars code for all: so all engines agree to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from swaplaw._arrays import Ints, distinct
from swaplaw.errors import InputError, quote
from swaplaw.votes.counts import FEWEST_OPTIONS, MOST_OPTIONS, OPTIONS, Codes

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    import numpy.typing as npt
    import polars as pl

KEYS = ("dataset", "question", "model", "answer", "gold", "cluster", "reason", "correct")
"""What votes are counted by; of `dataset`, `cluster`, `reason` and `correct`, those that are there."""
BALLOT = ("dataset", "question", "model")
"""Whose samples are numbered apart."""
MARK = "mark"
"""The sum, modulo 2^64, of the marks of sample numbers: two different sets of numbers agree about once in 2^60."""
HALVES = ("mark_high", "mark_low")
"""The same in two sums that no engine's 64 bits can overflow: of marks without their last 31 bits, and of these."""
_HALF = 2**31
_PRIMES = (2**31 + 11, 2**31 - 1)
_FACTORS, _TERM = (1_103_515_245, 715_827_881), 12_345


def _mixed(low: Any, high: Any) -> Any:
    """Mix a number's last 31 bits and its first 33 into a number below 2^31: the square of this is its mark.

    Sums, products and remainders below 2^63 are all it takes, so bits are any engine's expression, or an array. Two
    different primes matter: powers modulo a single one add up to the same for 0 1 2 3 4 5 as for 1 1 2 2 3 6.
    """
    first = (low * _FACTORS[0] + high * _FACTORS[1] + _TERM) % _PRIMES[0]
    return first * first % _PRIMES[1]


def marks_of(numbers: Any) -> Any:
    """The marks of an array of whole numbers."""
    import numpy as np

    bits = numbers.astype(np.int64).view(np.uint64)
    mixed = _mixed(bits % _HALF, bits // _HALF)
    return mixed * mixed


def _mark_polars() -> pl.Expr:
    import polars as pl

    # Unsigned division is half as dear.
    bits = pl.col("sample").reinterpret(signed=False)
    mixed: pl.Expr = _mixed(bits & (_HALF - 1), bits // _HALF)
    return (mixed * mixed).alias(MARK)


def _mark_foreign() -> dict[str, nw.Expr]:
    """Both halves of a vote's mark. Remainders of negative numbers are negative in some engines."""
    import narwhals as nw

    number = nw.col("sample").cast(nw.Int64)
    last = (number % _HALF + _HALF) % _HALF
    # A multiple of 2^31 up to 2^63 is the same as a float, and so is the quotient.
    mixed = _mixed(last, (((number - last) / _HALF).cast(nw.Int64) + 2**33) % 2**33)
    low = mixed * mixed % _HALF
    return dict(zip(HALVES, (((mixed * mixed - low) / _HALF).cast(nw.Int64), low), strict=True))


def whole_marks(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Put both halves of sums of marks together, where an engine counted in halves."""
    import polars as pl

    if HALVES[0] not in counts.collect_schema().names():
        return counts
    high, low = (pl.col(half).cast(pl.Int64).fill_null(0).reinterpret(signed=False) for half in HALVES)
    return counts.with_columns((high * _HALF + low).alias(MARK)).drop(HALVES)


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
    """Count the votes of each combination of `KEYS` in the engine that holds them, in one pass, with their marks."""
    import narwhals as nw

    wrapped = _without_categories(narwhal(frame, name).lazy())
    schema = wrapped.collect_schema()
    keys = [key for key in KEYS if key in schema.names()]
    sums = [nw.len().alias("votes")]
    if "sample" in schema.names():
        _require_numbers(schema["sample"], name)
    if OPTIONS in schema.names() and schema[OPTIONS].is_numeric():
        options = nw.col(OPTIONS)
        wrapped = wrapped.with_columns(
            nw.when(options.is_between(FEWEST_OPTIONS, MOST_OPTIONS)).then(options).alias(OPTIONS)
        )
        sums.append(options.max())
    # Tables in memory are small, and not all kinds of them can do the arithmetic.
    if "sample" in schema.names() and is_lazy(frame):
        counts = wrapped.with_columns(**_mark_foreign()).group_by(keys)
        # Some engines sum in wider numbers, which they write to files as floats.
        whole = counts.agg(*sums, *(nw.col(half).sum() for half in HALVES)).with_columns(nw.col(HALVES).cast(nw.Int64))
        return _collected(whole, name)
    return _collected(wrapped.group_by(keys).agg(*sums), name)


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
    numbers = [column for column in ("votes", "rows", "numbers") if column in counted.columns]
    whole = counted.lazy().with_columns(pl.col(numbers).cast(pl.Int64).fill_null(0))
    return whole_marks(whole_options(whole)).collect()


def whole_options(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Numbers of options as whole numbers, whatever an engine holds them as."""
    import polars as pl

    told = OPTIONS in counts.collect_schema().names()
    return counts.with_columns(pl.col(OPTIONS).cast(pl.Int64, strict=False)) if told else counts


def count_polars(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The same count for files and Polars, streamed."""
    import polars as pl

    schema = frame.collect_schema()
    names, sums = schema.names(), [pl.len().cast(pl.Int64).alias("votes")]
    if OPTIONS in names and (schema[OPTIONS].is_numeric() or schema[OPTIONS] == pl.String):
        options = pl.col(OPTIONS).cast(pl.Int64, strict=False)
        sums.append(options.filter(options.is_between(FEWEST_OPTIONS, MOST_OPTIONS)).max())
    if "sample" in names:
        # A column of its own, because aggregations compute an expression as often as it is written.
        frame = frame.with_columns(_mark_polars())
        sums.append(pl.col(MARK).sum())
    return frame.group_by([key for key in KEYS if key in names]).agg(sums)


def count_by(frame: Any, name: str, keys: Sequence[str]) -> pl.DataFrame:
    """Count the votes of each combination of any columns, in the engine that holds them."""
    import narwhals as nw
    import polars as pl

    if is_polars(frame):
        rows: pl.LazyFrame = frame.lazy()
        return rows.group_by(keys).agg(pl.len().cast(pl.Int64).alias("votes")).collect(engine="streaming")
    return _collected(narwhal(frame, name).lazy().group_by(keys).agg(nw.len().alias("votes")), name)


def first_numbers(votes: Ints, marks: npt.NDArray[np.uint64]) -> Ints:
    """Tell from the votes and the sums of marks of ballots which are 0 to n-1 (0), 1 to n (1), or neither (-1)."""
    import numpy as np

    # running[n] is the sum of the marks of 0 to n.
    running = np.cumsum(marks_of(np.arange(int(votes.max(initial=0)) + 1)))
    found: Ints = np.where(marks == running[votes] - running[0], 1, -1)
    found[marks == running[votes - 1]] = 0
    return found


def unproven(codes: Codes, marks: pl.Series) -> pl.DataFrame:
    """Find the ballots whose samples are not known, by the marks of the counts, to be numbered 0 to n-1 or 1 to n.

    Marks spare nearly every table the search for duplicates, which takes many times the memory of counting; what does
    not match is searched exactly.
    """
    import numpy as np
    import polars as pl

    names = [name for name in BALLOT if name in codes.counts.columns]
    texts, places = zip(*map(codes, names), strict=True)
    sizes = [len(each) + 1 for each in texts]  # Null has a place, too.
    ballots, ballot = distinct(np.ravel_multi_index(places, sizes), math.prod(sizes))
    n = np.bincount(ballot, codes.counts["votes"].to_numpy()).astype(np.int64)
    found = np.zeros(len(ballots), dtype=np.uint64)
    np.add.at(found, ballot, marks.to_numpy())
    suspect = first_numbers(n, found) < 0
    return codes.counts.select(names).filter(pl.Series(suspect.take(ballot), dtype=pl.Boolean)).unique()


def numbers_polars(frame: pl.LazyFrame, ballots: pl.DataFrame) -> pl.LazyFrame:
    """Count the numbered rows and distinct numbers of the given ballots exactly."""
    import polars as pl

    keys = ballots.columns
    suspects = frame.join(ballots.lazy(), on=keys, how="semi", nulls_equal=True)
    number = pl.col("sample")
    distinct = number.n_unique().cast(pl.Int64) - (number.null_count() > 0)
    return suspects.group_by(keys).agg(pl.len().alias("votes"), number.count().alias("rows"), distinct.alias("numbers"))
