"""Every file's rows in one shape: votes one by one, or counts of equal votes, under our names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.corpus.columns import OF_A_VOTE, Layout, likely
from swaplaw.paper.corpus.files import as_text
from swaplaw.paper.corpus.words import DATASETS, GRADES, NOT_A_REASON, REASONS, dataset_in, known, model_name, plain

if TYPE_CHECKING:
    import polars as pl

ALIGNED = ("correct", "reason", "finish", "sample", "abstained", "parsed")
"""Columns that may hold one entry per vote where the answers of a row are a list."""


@dataclass(frozen=True)
class Table:
    """The rows of one file that belong to one dataset (None: to all)."""

    layout: Layout
    dataset: str | None
    frame: pl.DataFrame

    @property
    def name(self) -> str:
        """The file."""
        return self.layout.file.name


def tables_of(layout: Layout) -> list[Table]:
    """Read a file and sort its rows by dataset."""
    import polars as pl

    layout, frame = _shaped(layout, layout.read())
    _one_name_each(layout, frame)
    frame = _named(layout, frame)
    path = dataset_in(layout.file.name) or dataset_in(layout.file.folder.name)
    if "dataset" not in frame.columns:
        return [Table(layout, path, frame)]
    names = {name: known(name, DATASETS) or name for name in frame["dataset"].unique().drop_nulls()}
    frame = frame.with_columns(pl.col("dataset").replace(names).fill_null(pl.lit(path, pl.String)))
    return [
        Table(layout, name, part.drop("dataset"))
        for (name,), part in frame.group_by(["dataset"], maintain_order=True)
        if name is None or isinstance(name, str)
    ]


def _one_name_each(layout: Layout, frame: pl.DataFrame) -> None:
    """Refuse two models that would both be the same one of the paper's, as a larger and a smaller version would."""
    import polars as pl

    if "model" not in frame.columns:
        return
    keys = [name for name in ("dataset", "model") if name in frame.columns]
    seen: dict[tuple[Any, ...], str] = {}
    for *dataset, raw in frame.select(pl.col(keys).cast(pl.String)).unique().drop_nulls("model").sort(keys).iter_rows():
        name = model_name(raw)
        before = seen.setdefault((*dataset, name), raw)
        if name is not None and before != raw:
            raise InputError(
                f"{quote(layout.file.name, 200)}: {quote(before)} and {quote(raw)} would both be {quote(name)}: leave "
                "one out, or rename one"
            )


def _first(frame: pl.DataFrame, column: str) -> Any:
    """The first value of a column, decoded where it is JSON."""
    values = frame[column].drop_nulls()
    if values.is_empty():
        return None
    value = values[0]
    if hasattr(value, "to_list"):
        return value.to_list()
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _shaped(layout: Layout, frame: pl.DataFrame) -> tuple[Layout, pl.DataFrame]:
    """Unfold lists of answers, dictionaries of counts and one column per answer."""
    import polars as pl

    if layout.wide:
        return layout, _unpivoted(layout, frame)
    if layout.spread:
        frame = _gathered(layout, frame)
    column = "answer" if "answer" in frame.columns else "votes"
    if layout.role not in ("records", "counts") or column not in frame.columns:
        return layout, frame
    value = _first(frame, column)
    entry = value[0] if isinstance(value, list) and value else value
    if (
        entry is not value
        and isinstance(entry, dict)
        and likely(list(entry), "answer")
        and not likely(list(entry), "votes")
    ):
        return replace(layout, role="records"), _from_records(frame, column)
    if isinstance(entry, dict):
        try:
            return replace(layout, role="counts"), _from_dicts(frame, column)
        except (AttributeError, StopIteration, TypeError, ValueError):
            raise InputError(
                f"{quote(layout.file.name, 200)}: {quote(layout.columns.get(column, column))} holds neither answers "
                f"nor counts of them: {quote(json.dumps(value), 80)}"
            ) from None
    if isinstance(value, list):
        frame = frame if column == "answer" else frame.rename({"votes": "answer"})
        return replace(layout, role="records"), _from_lists(layout, frame)
    if layout.role == "counts" and "answer" not in frame.columns:
        raise InputError(
            f"{quote(layout.file.name, 200)}: {quote(layout.columns['votes'])} counts votes, but no column says for "
            f"which answer; columns found: {listing(list(layout.types), 20)}"
        )
    if layout.role == "counts":
        frame = frame.with_columns(pl.col("votes").cast(pl.String).cast(pl.Float64, strict=False))
        if frame["votes"].null_count() or (frame["votes"] % 1 != 0).any() or (frame["votes"] < 0).any():
            raise InputError(
                f"{quote(layout.file.name, 200)}: {quote(layout.columns['votes'])} does not hold whole numbers of votes"
            )
        frame = frame.with_columns(pl.col("votes").cast(pl.Int64))
    return layout, frame


def _gathered(layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    """One row per model, or per sample, where a row of the file has several."""
    import polars as pl

    own = [column for column in layout.columns if column in frame.columns]
    parts = [
        frame.select(*own, pl.lit(key).alias(layout.along), *(pl.col(name).alias(ours) for ours, name in part.items()))
        for key, part in layout.spread.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")


def _unpivoted(layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    kept = [column for column in frame.columns if column not in layout.wide]
    long = frame.unpivot(list(layout.wide), index=kept, variable_name="answer", value_name="votes")
    votes = pl.col("votes").cast(pl.String).cast(pl.Float64, strict=False).fill_null(0).cast(pl.Int64)
    answer = pl.col("answer").replace_strict(dict(layout.wide), return_dtype=pl.String)
    return long.with_columns(votes, answer).filter(pl.col("votes") > 0)


def _entries(value: Any) -> Iterable[tuple[str | None, int]]:
    """Answers and their counts, from {"A": 3} or [{"answer": "A", "count": 3}]."""
    if hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, str):
        value = json.loads(value)
    if isinstance(value, list):
        for entry in value:
            count = next(number for number in entry.values() if isinstance(number, int))
            yield next((text for text in entry.values() if isinstance(text, str)), None), count
    elif value:
        for answer, count in value.items():
            if count:
                yield answer, int(count)


def _from_dicts(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    import polars as pl

    entries = [list(_entries(value)) for value in frame[column]]
    kept = frame.drop(column).with_columns(
        pl.Series("answer", [[answer for answer, _ in row] for row in entries], dtype=pl.List(pl.String)),
        pl.Series("votes", [[count for _, count in row] for row in entries], dtype=pl.List(pl.Int64)),
    )
    return kept.explode("answer", "votes").drop_nulls("votes")


def _from_records(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """One row per vote, where a row holds a list of records: [{"answer": "A", "finish_reason": "stop"}, …]."""
    import polars as pl

    votes = [json.loads(value) if isinstance(value, str) else value or [] for value in frame[column].to_list()]
    fields = list(dict.fromkeys(name for row in votes for vote in row for name in vote))
    found = {ours: likely(fields, ours)[:1] for ours in OF_A_VOTE}
    names = {ours: theirs[0] for ours, theirs in found.items() if theirs}
    number = pl.Series("row", [place for place, row in enumerate(votes) for _ in row], dtype=pl.UInt32)
    read = {ours: [_text(vote.get(theirs)) for row in votes for vote in row] for ours, theirs in names.items()}
    if "sample" not in names:
        read["sample"] = [str(place) for row in votes for place in range(len(row))]
    unfolded = pl.DataFrame({"row": number, **{ours: pl.Series(each, dtype=pl.String) for ours, each in read.items()}})
    kept = frame.drop(column, *(ours for ours in read if ours in frame.columns and ours != column), strict=False)
    return kept.with_row_index("row").join(unfolded, on="row").drop("row")


def _text(entry: Any) -> str | None:
    return entry if entry is None or isinstance(entry, str) else json.dumps(entry)


def _from_lists(layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    """One row per vote; other lists of the same rows go along."""
    import polars as pl

    columns = ["answer", *(name for name in ALIGNED if name in frame.columns and isinstance(_first(frame, name), list))]
    decoded = {name: [_decoded(value) for value in frame[name]] for name in columns}
    for name, rows in decoded.items():
        if [len(row) for row in rows] != [len(row) for row in decoded["answer"]]:
            raise InputError(
                f"{quote(layout.file.name, 200)}: the lists of {quote(layout.columns.get(name, name))} and of the "
                "answers have different lengths"
            )
    frame = frame.with_columns(pl.Series(name, rows, dtype=pl.List(pl.String)) for name, rows in decoded.items())
    if "sample" not in columns:
        numbers = [[str(place) for place in range(len(row))] for row in decoded["answer"]]
        frame = frame.with_columns(pl.Series("sample", numbers, dtype=pl.List(pl.String)))
        columns.append("sample")
    return frame.explode(columns)


def _decoded(value: Any) -> list[str | None]:
    if hasattr(value, "to_list"):
        value = value.to_list()
    elif isinstance(value, str):
        value = json.loads(value)
    return [_text(entry) for entry in value or []]


def _named(layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    """Text as text, numbers as numbers, models by the paper's names, grades as true or false."""
    import polars as pl

    texts = [name for name in frame.columns if name not in ("votes",)]
    frame = frame.with_columns(as_text(pl.col(name), frame.schema[name]).str.strip_chars() for name in texts)
    if "model" in frame.columns:
        names = {name: model_name(name) or name for name in frame["model"].unique().drop_nulls()}
        frame = frame.with_columns(pl.col("model").replace(names))
    if "sample" in frame.columns:
        frame = frame.with_columns(_numbered(frame["sample"]))
    if "question" in frame.columns:
        frame = frame.with_columns(_whole_ids(frame["question"]))
    for name in ("correct", "abstained", "parsed"):
        if name in frame.columns:
            frame = _true_or_false(layout, frame, name)
    return frame


def _numbered(samples: pl.Series) -> pl.Series:
    """Sample numbers: "3", "3.0" and "sample-3" are one; other names get a number each, the same in every table."""
    import polars as pl

    bare = samples.str.replace(r"\.0+$", "")
    if bare.drop_nulls().str.contains(r"^\D*\d{1,9}$").all():
        return bare.str.extract(r"(\d+)$").cast(pl.Int64)
    return samples.hash(0).reinterpret(signed=True)


def _whole_ids(ids: pl.Series) -> pl.Series:
    """Numbers that went through a column of decimals, 12.0, as the whole numbers that they were."""
    return ids.str.replace(r"^(\d+)\.0$", "${1}") if ids.str.contains(r"^\d+\.0$").all() else ids


def _true_or_false(layout: Layout, frame: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    word = pl.col(name).str.to_lowercase()
    read = frame.with_columns(word.replace_strict(GRADES, default=None, return_dtype=pl.Boolean).alias(name))
    lost = frame[name].drop_nulls().len() - read[name].drop_nulls().len()
    if not lost:
        return read
    if lost == frame[name].drop_nulls().len() and layout.role != "grades":
        # A column of that name that holds no grades is not the grade.
        return frame.drop(name)
    raise InputError(
        f"{quote(layout.file.name, 200)}: {lost:,} entries of {quote(layout.columns[name])} are neither true nor false"
    )


def reason_names(values: Iterable[str]) -> Mapping[str, str | None]:
    """Our words for the reasons of abstentions; None where a text gives no reason."""
    return {value: None if plain(value) in NOT_A_REASON else known(value, REASONS) or value for value in values}
