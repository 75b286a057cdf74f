"""Layouts that tables come in: nested fields, row numbers, one column per model, lists for golds, grades only."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from swaplaw.answers.forms import number
from swaplaw.answers.letters import bare_letter
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.importers.record import Findings, Options
from swaplaw.votes.columns import INDEXES, NAMES, candidates, plain
from swaplaw.votes.contract import RIGHT, WRONG

if TYPE_CHECKING:
    import polars as pl

MODEL, ANSWER = "model", "answer"
RIGHT_WORDS = ("true", "t", "yes", "y", "correct", "right", "pass", "passed", "✓", "✔", "✅")
WRONG_WORDS = ("false", "f", "no", "n", "incorrect", "wrong", "fail", "failed", "✗", "✘", "❌")
GRADES = {"", "1", "0", "1.0", "0.0", *RIGHT_WORDS, *WRONG_WORDS}
EITHER = {"", "yes", "no", "y", "n", "t", "f"}
"""Grades that may as well be answers."""
SELDOM = 0.05
"""The share of questions on which a model says at least what gold or another model says."""
PARENTS = ("models", *map(plain, NAMES["answer"]))
"""Nested fields under these names may be one model each."""


def flattened(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Give nested fields dotted names, and take byte-order marks and blanks off the others."""
    import polars as pl

    while structs := [(name, kind) for name, kind in frame.collect_schema().items() if isinstance(kind, pl.Struct)]:
        fields = [
            pl.col(name).struct.field(inner.name).alias(f"{name}.{inner.name}")
            for name, kind in structs
            for inner in kind.fields
        ]
        frame = frame.with_columns(fields).drop([name for name, _ in structs])
    names = frame.collect_schema().names()
    tidy = {name: name.strip("\ufeff \t\r") for name in names}
    return frame.rename({name: new for name, new in tidy.items() if new != name and new not in names})


def without_index(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out columns that only number the rows."""
    return frame.drop([name for name in frame.collect_schema().names() if plain(name) in INDEXES])


# One column per model


@dataclass(frozen=True)
class Wide:
    """A table with one column per model: which columns those are, and what becomes of the others."""

    models: list[str]
    kept: list[str]
    columns: dict[str, str] = field(default_factory=dict)


def wide_columns(frame: pl.LazyFrame, options: Options, name: str, findings: Findings) -> Wide | None:
    """Tell whether a table has one column per model; None where each row is one vote, or nobody can say.

    Such a table has questions, nothing that tells of a single vote, and two columns or more that answer the same
    questions: some of their values are gold, or what another of them says of the same question.
    """
    names = frame.collect_schema().names()
    of_a_vote = ("model", "correct", "reason", "cost", "tokens")
    if options.model or "model" in options.columns or any(candidates(names, NAMES[part]) for part in of_a_vote):
        return None
    if any(plain(each) != "answer" for each in candidates(names, NAMES["answer"])):
        return None
    declared = {*options.columns.values(), *options.question} | ({options.cluster} if options.cluster else set())
    parts = ("gold", "dataset", "question", "cluster", "sample")
    spoken_for = {each for part in parts for each in candidates(names, NAMES[part])} | declared
    left = [each for each in names if each not in spoken_for]
    named = bool(options.question) or "question" in options.columns
    if len(left) < 2 or not (named or candidates(names, NAMES["question"])):
        return None
    gold = options.columns.get("gold", next(iter(candidates(names, NAMES["gold"])), None))
    models = _answering(frame, left, gold, options, name)
    if len(models) < 2:
        return None
    if others := [each for each in left if each not in models]:
        findings.notes.append(
            f"{quote(name, 100)}: not taken for models, since they do not answer the questions: {listing(others)}"
        )
    columns = {"model": MODEL, "answer": ANSWER} | ({"gold": gold} if gold else {})
    return Wide(models, [each for each in names if each not in models], columns)


def _answering(frame: pl.LazyFrame, names: list[str], gold: str | None, options: Options, file: str) -> list[str]:
    """The columns that can hold models' answers.

    Raises
    ------
    InputError
        If golds are letters and the columns hold longer texts, which have to be read first.
    """
    schema = frame.collect_schema()
    names = [name for name in names if _can_answer(name, schema[name])]
    listed = [name for name in names if schema[name].is_nested()]
    if len(listed) > 1:
        names = listed  # Each list is a model's samples.
    if len(names) < 2:
        return []
    if options.reader is not None:
        return [name for name in names if not schema[name].is_numeric()]
    if gold is None and _grades(frame, names):
        return names
    said = _said(frame, [*names, *([gold] if gold else [])])
    known = [said[gold]] if gold else []
    enough = max(1.0, SELDOM * len(next(iter(said.values()), [])))
    taken = [name for name in names if any(_agreements(said[name], other) >= enough for other in known)]
    pool = known or [said[name] for name in names if not all(map(_is_number, said[name]))]
    others = [said[name] for name in taken] or ([] if known else pool)
    for name in names:
        rivals = [other for other in others if other is not said[name]]
        if (
            name not in taken
            and (known or said[name] in pool)
            and any(_agreements(said[name], other) >= enough for other in rivals)
        ):
            taken.append(name)
    golds = [text for column in known for texts in column for text in texts]
    if len(taken) < 2 and golds and all(map(bare_letter, golds)):
        replies = [name for name in names if any(" " in text for texts in said[name] for text in texts)]
        if len(replies) > 1:
            raise InputError(
                f"{quote(file, 200)}: golds are letters, and of {listing(replies, 10)} fewer than two columns hold "
                "letters",
                Fix("reader", "choice", "read them", "if they hold whole replies"),
            )
    return [name for name in names if name in taken]


def _can_answer(name: str, kind: Any) -> bool:
    """Whether a column may hold a model's answers: a scalar or a list of them, nested in nothing but answers."""
    import polars as pl

    # A point between two digits is that of a version, as in "Qwen1.5-72B".
    parent = re.match(r"(.*)(?:(?<!\d)\.|\.(?!\d))", name)
    if parent and plain(parent[1]) not in PARENTS:
        return False
    return not kind.is_nested() or (isinstance(kind, pl.List) and not kind.inner.is_nested())


def _said(frame: pl.LazyFrame, names: list[str]) -> dict[str, list[set[str]]]:
    """What columns say of each question, without letter case."""
    cells = frame.select(names).collect()

    def texts(cell: Any) -> set[str]:
        values = cell if isinstance(cell, list) else [cell]
        return {_comparable(value) for value in values if value is not None} - {""}

    return {name: [texts(cell) for cell in cells[name].to_list()] for name in names}


def _comparable(value: Any) -> str:
    return number(str(value)) if isinstance(value, float) else str(value).strip().lower()


def _agreements(one: list[set[str]], other: list[set[str]]) -> int:
    return sum(not first.isdisjoint(second) for first, second in zip(one, other, strict=True))


def _is_number(texts: set[str]) -> bool:
    return all(re.fullmatch(r"[-+]?[\d.,:-]+", text) for text in texts)


def one_row_per_sample(
    frame: pl.LazyFrame, mapping: Mapping[str, str], file: str, findings: Findings
) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Give each answer of a list a row of its own, where every list holds several: they are one model's samples.

    Raises
    ------
    InputError
        If only some lists hold several answers, or the samples are numbered or graded by the row already.
    """
    import polars as pl

    name, schema = mapping.get("answer"), frame.collect_schema()
    if name is None or not isinstance(schema[name], pl.List):
        return frame, dict(mapping)
    lengths = frame.select(pl.col(name).list.len()).filter(pl.col(name) > 0).collect()[name]
    if lengths.is_empty() or lengths.max() == 1:
        return frame, dict(mapping)
    graded = mapping.get("correct")
    alone = graded is not None and not isinstance(schema[graded], pl.List)
    if lengths.min() == 1 or "sample" in mapping or alone:
        raise InputError(
            f"{quote(file, 200)}: column {quote(name)} holds lists of answers, and it is not clear that they are one "
            "model's samples: give each answer a row of its own"
        )
    findings.notes.append(f"{quote(file, 100)}: lists in {quote(name)} taken for samples, one vote each")
    numbered = frame.with_columns(pl.int_ranges(pl.col(name).list.len()).alias("sample"))
    exploded = numbered.explode([name, "sample", *([graded] if graded else [])])
    return exploded, {**mapping, "sample": "sample"}


def turned_long(frame: pl.LazyFrame, wide: Wide, file: str, findings: Findings) -> pl.LazyFrame:
    """Turn one column per model into one row per vote, and say which columns were taken for models."""
    import polars as pl

    schema = frame.collect_schema()
    texts = [
        as_text(pl.col(name), schema[name], file, name, "answer").alias(name)
        for name in wide.models
        if not isinstance(schema[name], pl.List)
    ]
    gold = wide.columns.get("gold")
    clash = {name: f"{name} (as given)" for name in wide.kept if name in (MODEL, ANSWER)}
    if gold in clash:
        wide.columns["gold"] = clash[gold]
    long = frame.with_columns(texts).rename(clash)
    kept = [clash.get(name, name) for name in wide.kept]
    findings.notes.append(f"{quote(file, 100)}: one column per model, taken for models: {listing(wide.models, 30)}")
    long = long.unpivot(wide.models, index=kept, variable_name=MODEL, value_name=ANSWER)
    names = _without_affix(wide.models)
    long = long.with_columns(pl.col(MODEL).replace(names))
    if gold is None and (words := _grades(frame, wide.models)):
        if words <= EITHER and names == {name: name for name in wide.models}:
            raise InputError(
                f"{quote(file, 200)}: {listing(wide.models, 10)} hold {listing(sorted(words - {''}))}, which may be "
                "answers or grades; if they are answers, add a column `gold` (it may be empty); if they are grades, "
                "write 1 and 0"
            )
        wide.columns["correct"] = wide.columns.pop("answer")
    return long if gold is not None or "correct" in wide.columns else long.with_columns(gold=pl.lit(None, pl.String))


_AFFIX = re.compile(
    r"(?i)(?P<before>(?:answers?|predictions?|pred|responses?|outputs?|model)[._ -])?(?P<name>.+?)"
    r"(?P<after>[._ -](?:answers?|predictions?|pred|responses?|outputs?|correct|score))?"
)


def _without_affix(names: list[str]) -> dict[str, str]:
    """Models by their columns' names: what all of them begin or end with, as in `gpt4_answer`, is no part of it."""
    found = {name: match for name in names if (match := _AFFIX.fullmatch(name))}
    shared = {(match["before"], match["after"]) for match in found.values()}
    short = {name: match["name"] for name, match in found.items()}
    whole = len(found) == len(names) and len(shared) == 1 and len(set(short.values())) == len(names)
    return short if whole else {name: name for name in names}


def _grades(frame: pl.LazyFrame, names: list[str]) -> set[str]:
    """The words that columns hold, where these are nothing but right and wrong."""
    import polars as pl

    cells = frame.select(pl.concat_list(pl.col(names).cast(pl.String)).explode().str.strip_chars().str.to_lowercase())
    words = set(cells.unique().drop_nulls().collect().to_series())
    return words if words <= GRADES else set()


# Right or wrong


def graded_only(frame: pl.LazyFrame, file: str, findings: Findings) -> pl.LazyFrame:
    """Give a table that only says right or wrong its two categories."""
    import polars as pl

    findings.notes.append(
        f"{quote(file, 100)}: it only says right or wrong, so votes can be counted but not pooled: which wrong answers "
        "agree is not known"
    )
    right = pl.col("correct")
    answer = pl.when(right).then(pl.lit(RIGHT)).when(~right).then(pl.lit(WRONG)).alias("answer")
    return frame.with_columns(answer, pl.lit(RIGHT).alias("gold"))


# Cells and ids


def check_kinds(mapping: Mapping[str, str], schema: Mapping[str, Any], file: str) -> None:
    """Refuse parts of the vote that are read from nested columns; answers, golds and grades may be lists of scalars."""
    import polars as pl

    for part, name in mapping.items():
        kind = schema[name]
        plain_list = isinstance(kind, pl.List | pl.Array) and not kind.inner.is_nested()
        if isinstance(kind, pl.Object | pl.Binary) or (
            kind.is_nested() and not (plain_list and part in ("answer", "gold", "correct"))
        ):
            what = "lists" if isinstance(kind, pl.List | pl.Array) else "records"
            raise InputError(
                f"{quote(file, 200)}: column {quote(name)} holds {what}, and {part!r} needs text or numbers",
                Fix("columns", {part: "NAME"}, "name a column that holds them"),
            )


def as_text(value: pl.Expr, kind: Any, file: str, name: str, column: str) -> pl.Expr:
    """Read cells as text: whole numbers without a point, lists of one as what they hold."""
    import polars as pl

    if kind.is_float():
        # A column of whole numbers with a gap in it is read as floats: 4.0 is the answer 4.
        return value.cast(pl.String).map_batches(
            lambda texts: pl.Series([None if text is None else number(text) for text in texts], dtype=pl.String),
            return_dtype=pl.String,
            is_elementwise=True,
        )
    if isinstance(kind, pl.List | pl.Array) and column in ("gold", "answer"):
        return value.map_batches(
            lambda lists: pl.Series([_only(cell, file, name) for cell in lists], dtype=pl.String),
            return_dtype=pl.String,
            is_elementwise=True,
        )
    if kind == pl.String and column == "gold":
        return value.map_batches(
            lambda texts: pl.Series([_unlisted(text, file, name) for text in texts], dtype=pl.String),
            return_dtype=pl.String,
            is_elementwise=True,
        )
    return value.cast(pl.String)


def _only(cell: Any, file: str, name: str) -> str | None:
    if cell is None:
        return None
    values = list(cell)
    if len(values) > 1:
        raise InputError(
            f"{quote(file, 200)}: column {quote(name)} holds lists of several answers, such as {quote(values)}; "
            "a vote is one answer: keep one of each list, or grade the answers in a column `correct`"
        )
    return None if not values or values[0] is None else str(values[0])


def _unlisted(text: str | None, file: str, name: str) -> str | None:
    """Read a gold that is a list written as text: `["A"]` is A."""
    if text is None or not (text.startswith("[") and text.endswith("]")) or len(text) > 10_000:
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list) and all(isinstance(item, str) for item in found) and found:
            return _only(found, file, name)
    return text


def check_questions(frame: pl.LazyFrame, mapping: Mapping[str, str], options: Options, file: str) -> None:
    """Refuse a guessed question column that numbers rows: then no two models would share a question."""
    import polars as pl

    source = mapping.get("question")
    if options.question or source is None or "question" in options.columns or plain(source) == "question":
        return
    if "model" not in frame.collect_schema().names():
        return
    votes = pl.col("model").n_unique()
    found = frame.select(
        votes.alias("models"), pl.len().alias("rows"), pl.col("question").n_unique().alias("ids")
    ).collect()
    models, rows, ids = found.row(0)
    if models > 1 and ids == rows:
        raise InputError(
            f"{quote(file, 200)}: column {quote(source)} seems to number the rows: each of its {ids} values has one "
            "vote, so no two models would share a question",
            Fix("columns", {"question": "NAME"}, "say which column names the question"),
        )
