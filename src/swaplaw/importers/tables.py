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
from swaplaw.votes.columns import NAMES, PARTS, candidates, guess
from swaplaw.votes.contract import REQUIRED
from swaplaw.votes.files import Source, open_file, reading, unreadable

if TYPE_CHECKING:
    import polars as pl

ORDER = "order"
"""Stands for a number that tells apart questions of one id: the place among a model's rows of that id."""
SEPARATOR = "/"


class NoColumnError(InputError):
    """A part of the vote is in none of a table's columns."""


def read(file: Path, options: Options, findings: Findings) -> Source:
    """Open a table under its column map."""
    source = mapped(open_file(file, options.sheet), options.of_file(file), findings)
    findings.files.append(describe(file))
    return source


def mapped(opened: Source, options: Options, findings: Findings) -> Source:
    """Bring a table, of a file or in memory, to the layout of votes; what an engine says of it is said in a line."""
    with reading(opened):
        return _in_layout(opened, options, findings)


def _in_layout(opened: Source, options: Options, findings: Findings) -> Source:
    name = opened.name
    try:
        frame = layouts.without_index(layouts.flattened(opened.scan()))
    except Exception as error:  # Any engine's complaint about a file it cannot parse.
        raise unreadable(opened, error) from None
    _declared(frame.collect_schema().names(), options, name)
    if wide := layouts.wide_columns(frame, options, name, findings):
        frame = layouts.turned_long(frame, wide, name, findings)
        options = replace(options, columns={**options.columns, **wide.columns})
    mapping = column_map(frame, options, name)
    options = _judged(mapping, frame, options, name, findings)
    frame, mapping = layouts.one_row_per_sample(frame, mapping, name, findings)
    votes = _mapped(frame, mapping, options, name)
    _check_grades(frame, votes, mapping, options, findings, name)
    if "answer" not in mapping:
        votes = layouts.graded_only(votes, name, findings)
    findings.readings += _readings(frame, mapping, options, name)
    layouts.check_questions(votes, mapping, options, name)
    if options.drop_ambiguous:
        votes = _unambiguous(votes, findings, name)
    if "answer" not in options.columns:
        findings.recorded |= opened.origin()
    if options.reader is not None and "answer" in mapping:
        findings.reader = options.reader
        votes = canonical.read_answers(votes, options.reader)
    if options.canonical:
        votes = canonical.canonicalise(votes, options.canonical)
    return Source(name, lambda: votes, opened.first_line)


def column_map(frame: pl.LazyFrame, options: Options, file: str) -> dict[str, str]:
    """Decide which column each part of a vote is read from: as declared, else as guessed."""
    schema = frame.collect_schema()
    names = schema.names()
    mapping = guess(names, _declared(names, options, file))
    empty = mapping.get("correct")
    if empty is not None and "correct" not in options.columns and _is_empty(frame, empty):
        del mapping["correct"]
    else:
        empty = None
    given = {"model": options.model, "question": options.question, "gold": _by_judges(mapping)}
    missing = [column for column in REQUIRED if column not in mapping and not given.get(column)]
    if "correct" in mapping and set(missing) & {"answer", "gold"}:
        # Right or wrong is all that it says: what was answered is not known, and no gold is needed.
        mapping = {column: name for column, name in mapping.items() if column not in ("answer", "gold")}
        missing = [column for column in missing if column not in ("answer", "gold")]
    if missing:
        also = f" ({quote(empty)} is empty)" if empty is not None else ""
        raise NoColumnError(
            f"{quote(file, 200)}: no column was found for {listing(missing)}; found {listing(names, 30)}{also}",
            (
                Fix("columns", {missing[0]: "NAME"}, "say where it is"),
                *([Fix("model", "NAME", "name the model", "if all is of one")] if "model" in missing else []),
            ),
        )
    layouts.check_kinds(mapping, schema, file)
    return mapping


def _declared(names: list[str], options: Options, file: str) -> dict[str, str]:
    """The columns that the user names, all of them there."""
    mapping = dict(options.columns)
    if options.cluster is not None:
        mapping.setdefault("cluster", options.cluster)
    for column, name in mapping.items():
        if column not in PARTS:
            raise InputError(f"there is no column '{column}' in a vote table; there are {', '.join(PARTS)}")
        if name not in names:
            raise InputError(f"{quote(file, 200)}: there is no column {quote(name)}; found {listing(names, 30)}")
    return mapping


def _by_judges(mapping: Mapping[str, str]) -> bool:
    """Whether the answers are verdicts, which need no gold: nobody may know how the judged items are."""
    return bool(candidates([mapping.get("model", "")], NAMES["judge"]))


def _judged(
    mapping: Mapping[str, str], frame: pl.LazyFrame, options: Options, file: str, findings: Findings
) -> Options:
    """Where models' replies are judged, a question is one model's reply: judges vote on it."""
    if options.question or not _by_judges(mapping) or "question" not in mapping:
        return options
    names = [name for name in frame.collect_schema().names() if name not in mapping.values()]
    if not (judged := candidates(names, (*NAMES["model"], "model_a", "model_b"))):
        return options
    item = (mapping["question"], *judged)
    findings.notes.append(
        f"{quote(file, 100)}: judges are read as voters, and each {' with '.join(map(quote, item))} as a question"
    )
    return replace(options, question=item)


def _is_empty(frame: pl.LazyFrame, name: str) -> bool:
    import polars as pl

    return bool(frame.select(pl.col(name).is_null().all()).collect().item())


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
    if "gold" not in mapping and "correct" not in mapping:
        columns.append(pl.lit(None, pl.String).alias("gold"))
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
        source = name if name in names else mapping.get(name, name)
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


def _unambiguous(frame: pl.LazyFrame, findings: Findings, file: str) -> pl.LazyFrame:
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
        f"{quote(Path(file).name)}: {ambiguous.height} of {total} question ids stand for several questions: left out"
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
    votes: pl.LazyFrame,
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
    both = pl.concat([given, votes.select("correct")], how="horizontal").unique()
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


def _readings(frame: pl.LazyFrame, mapping: Mapping[str, str], options: Options, file: str) -> Iterator[Reading]:
    import polars as pl

    try:
        first = frame.select(pl.col(sorted(set(mapping.values()))).drop_nulls().first()).collect()
    except pl.exceptions.PolarsError as error:
        raise unreadable(Source(file, lambda: frame), error) from None
    for column in PARTS:
        if column == "question" and options.question:
            yield Reading(column, SEPARATOR.join(options.question), "")
        elif column in mapping:
            name = mapping[column]
            example = quote(first[name][0], 40) if first.height else ""
            yield Reading(column, name, example, guessed=column not in options.columns and name != column)
