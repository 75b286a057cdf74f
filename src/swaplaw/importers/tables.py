"""Tables of any layout, through a declared column map: what is not declared is guessed, and every guess is shown.

Columns are found by `votes.columns`, which knows plain tables, simple-evals-like results and evalscope's reviews.
A table with one column per model is turned long; one that only says right or wrong gives votes for `RIGHT` and
`WRONG`, which can be counted but not pooled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.importers import layouts
from swaplaw.importers.record import Findings, Options, Reading, describe
from swaplaw.importers.scores import Scores
from swaplaw.votes import canonical
from swaplaw.votes.columns import PARTS, guess
from swaplaw.votes.contract import REQUIRED
from swaplaw.votes.files import Source, open_file, unreadable

if TYPE_CHECKING:
    import polars as pl

ORDER = "order"
"""Stands for a number that tells apart questions of one id: the place among a model's rows of that id."""
SEPARATOR = "/"


class NoColumnError(InputError):
    """A part of the vote is in none of a table's columns."""


def read(file: Path, options: Options, findings: Findings) -> Source:
    """Open a table under its column map."""
    opened = open_file(file)
    try:
        frame = layouts.without_index(layouts.flattened(opened.scan()))
    except Exception as error:  # Any engine's complaint about a file it cannot parse.
        raise unreadable(opened, error) from None
    names = frame.collect_schema().names()
    if wide := layouts.wide_columns(names, options):
        wide = layouts.listing_samples(frame, wide) or layouts.answering(frame, wide, options, str(file), findings)
        frame = layouts.turned_long(frame, wide, str(file), findings)
        options = replace(options, columns={**options.columns, **wide.columns})
        names = frame.collect_schema().names()
    mapping = column_map(names, options, str(file))
    frame, mapping = layouts.one_row_per_sample(frame, mapping, str(file), findings)
    mapped = _mapped(frame, mapping, options, str(file))
    _check_grades(frame, mapped, mapping, options, findings, str(file))
    if "answer" not in mapping:
        mapped = layouts.graded_only(mapped, str(file), findings)
    findings.readings += _readings(frame, mapping, options, file)
    layouts.check_questions(mapped, mapping, options, str(file))
    if options.drop_ambiguous:
        mapped = _unambiguous(mapped, findings, file)
    findings.files.append(describe(file))
    if "answer" not in options.columns:
        findings.recorded |= opened.origin()
    if options.reader is not None and "answer" in mapping:
        findings.reader = options.reader
        mapped = canonical.read_answers(mapped, options.reader)
    if options.canonical:
        mapped = canonical.canonicalise(mapped, options.canonical)
    return Source(str(file), lambda: mapped, opened.first_line)


def column_map(names: list[str], options: Options, file: str) -> dict[str, str]:
    """Decide which column each part of a vote is read from: as declared, else as guessed."""
    for column, name in options.columns.items():
        if column not in PARTS:
            raise InputError(f"there is no column '{column}' in a vote table; there are {', '.join(PARTS)}")
        if name not in names:
            raise InputError(f"{quote(file, 200)}: there is no column {quote(name)}; found {listing(names, 30)}")
    mapping = dict(options.columns)
    if options.cluster is not None:
        if options.cluster not in names:
            raise InputError(f"{quote(file, 200)}: no column {quote(options.cluster)}; found {listing(names, 30)}")
        mapping.setdefault("cluster", options.cluster)
    mapping = guess(names, mapping)
    given = {"model": options.model, "dataset": options.dataset, "question": options.question}
    missing = [column for column in REQUIRED if column not in mapping and not given.get(column)]
    if "correct" in mapping and set(missing) & {"answer", "gold"}:
        # Right or wrong is all that it says: what was answered is not known, and no gold is needed.
        mapping = {column: name for column, name in mapping.items() if column not in ("answer", "gold")}
        missing = [column for column in missing if column not in ("answer", "gold")]
    if missing:
        raise NoColumnError(
            f"{quote(file, 200)}: no column was found for {listing(missing)}; found {listing(names, 30)}",
            (
                Fix("columns", {missing[0]: "NAME"}, "say where it is"),
                *([Fix("model", "NAME", "name the model", "if the file is of one")] if "model" in missing else []),
            ),
        )
    return mapping


def _mapped(frame: pl.LazyFrame, mapping: Mapping[str, str], options: Options, file: str) -> pl.LazyFrame:
    import polars as pl

    schema = frame.collect_schema()
    columns: list[pl.Expr] = []
    for column, name in mapping.items():
        value = pl.col(name)
        if column in ("answer", "gold", "question", "cluster", "dataset", "model", "reason"):
            value = layouts.as_text(value, schema[name], file, name, column)
        elif column == "correct":
            value = _as_grade(value, schema[name], options.threshold, file, name)
        columns.append(value.alias(column))
    for column, given in (("model", options.model), ("dataset", options.dataset)):
        if given is not None:
            columns = [one for one in columns if one.meta.output_name() != column] + [pl.lit(given).alias(column)]
    rest = [name for name in schema.names() if name not in {*mapping.values(), *PARTS}]
    sources = [pl.col(name) for name in rest if not isinstance(schema[name], pl.List | pl.Object | pl.Array)]
    result = frame.select(*columns, *sources)
    return _question_ids(result, frame, mapping, options, file) if options.question else result


def _question_ids(
    result: pl.LazyFrame, frame: pl.LazyFrame, mapping: Mapping[str, str], options: Options, file: str
) -> pl.LazyFrame:
    """Build question ids from several columns, and from the order within a model where that is asked for."""
    import polars as pl

    names = frame.collect_schema().names()
    parts: list[pl.Expr] = []
    for name in options.question:
        if name == ORDER:
            continue
        source = mapping.get(name, name)
        if source not in names:
            raise InputError(f"{quote(file, 200)}: there is no column {quote(name)}; found {listing(names, 30)}")
        parts.append(pl.col(source).cast(pl.String))
    built = pl.concat_str(parts, separator=SEPARATOR) if parts else pl.lit("question")
    if ORDER in options.question:
        within = [pl.col(mapping[key]) for key in ("dataset", "model", "sample") if key in mapping]
        place = pl.int_range(pl.len()).over([*within, *parts]) if within or parts else pl.int_range(pl.len())
        built = pl.concat_str([built, place.cast(pl.String)], separator=SEPARATOR)
    ids = frame.select(built.alias("question"))
    return pl.concat([result.drop("question", strict=False), ids], how="horizontal")


def _unambiguous(frame: pl.LazyFrame, findings: Findings, file: Path) -> pl.LazyFrame:
    """Leave out questions with two golds, two clusters, or a sample number twice for one model: ids of several."""
    import polars as pl

    names = frame.collect_schema().names()
    ids = [name for name in ("dataset", "question") if name in names]
    facts = [pl.col(name).n_unique() > 1 for name in ("gold", "cluster") if name in names]
    broken = [frame.group_by(ids).agg(pl.any_horizontal(facts).alias("broken"))]
    if "sample" in names:
        repeats = frame.group_by([*ids, "model", "sample"]).agg((pl.len() > 1).alias("broken"))
        broken.append(repeats.select(*ids, "broken"))
    ambiguous = pl.concat(broken).filter("broken").select(ids).unique().collect()
    total = frame.select(ids).unique().select(pl.len()).collect().item()
    findings.notes.append(
        f"{quote(file.name, 100)}: {ambiguous.height} of {total} question ids stand for several questions: left out"
    )
    return frame.join(ambiguous.lazy(), on=ids, how="anti")


def _as_grade(value: pl.Expr, kind: Any, threshold: float, file: str, name: str) -> pl.Expr:
    """Read grades: yes or no, or a score that is high enough."""
    import polars as pl

    if kind == pl.Boolean or kind == pl.Null:
        return value.cast(pl.Boolean)
    if kind.is_numeric():
        return value >= threshold
    if kind != pl.String:
        raise InputError(f"{quote(file, 200)}: column {quote(name)} has type {kind}; expected true, false or a score")
    score = value.str.strip_chars().cast(pl.Float64, strict=False)
    word = value.str.strip_chars().str.to_lowercase()
    said = (
        pl.when(word.is_in([*layouts.RIGHT_WORDS, "c"]))
        .then(True)
        .when(word.is_in([*layouts.WRONG_WORDS, "i"]))
        .then(False)
    )
    return pl.when(score.is_not_null()).then(score >= threshold).otherwise(said.otherwise(None))


def _check_grades(
    frame: pl.LazyFrame,
    mapped: pl.LazyFrame,
    mapping: Mapping[str, str],
    options: Options,
    findings: Findings,
    file: str,
) -> None:
    """Refuse grades that are neither right nor wrong, and say what becomes of scores in between."""
    import polars as pl

    name = mapping.get("correct")
    if name is None:
        return
    kind = frame.collect_schema()[name]
    given = frame.select(pl.col(name).cast(pl.String).str.strip_chars().alias("given"))
    both = pl.concat([given, mapped.select("correct")], how="horizontal").unique()
    try:
        found = both.filter(pl.col("given").is_not_null() & (pl.col("given") != "")).collect()
    except pl.exceptions.PolarsError as error:
        raise unreadable(Source(file, lambda: frame), error) from None
    if odd := found.filter(pl.col("correct").is_null())["given"].sort().to_list():
        raise InputError(
            f"{quote(file, 200)}: column {quote(name)} holds {listing(odd, 3)}, which is neither right nor wrong; "
            "write true or false, or a score"
        )
    scores = (
        found["given"].cast(pl.Float64, strict=False).drop_nulls() if kind != pl.Boolean else found["given"].clear()
    )
    seen = Scores(options.threshold)
    for score in scores:
        seen.right(score)
    seen.judge(quote(file, 200), f"scores in column {quote(name)}", findings)


def _readings(frame: pl.LazyFrame, mapping: Mapping[str, str], options: Options, file: Path) -> Iterator[Reading]:
    import polars as pl

    try:
        first = frame.select(pl.col(sorted(set(mapping.values()))).drop_nulls().first()).collect()
    except pl.exceptions.PolarsError as error:
        raise unreadable(Source(str(file), lambda: frame), error) from None
    for column in PARTS:
        if column == "question" and options.question:
            yield Reading(column, SEPARATOR.join(options.question), "")
        elif column in mapping:
            name = mapping[column]
            example = quote(first[name][0], 40) if first.height else ""
            yield Reading(column, name, example, guessed=column not in options.columns and name != column)
