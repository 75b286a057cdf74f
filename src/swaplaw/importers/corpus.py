"""A released corpus: tables of votes, counts, gold answers, grades and reasons, joined into votes.

The paper's corpus *deciban* (huggingface.co/datasets/IcyApril/deciban) is one, and what `swaplaw release` writes is
another. What its tables hold, `corpus_tables` tells. Here they are joined on question, model and sample: each vote is
one row, to which every table may add what the others leave open. A vote counts once, however often it is there, and
tables that contradict each other are refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, listing, quote
from swaplaw.importers.corpus_tables import (
    MODELS,
    NO_ANSWER,
    RIGHT,
    WRONG,
    Layout,
    ask,
    database,
    dataset_in,
    is_database,
    layout_of,
    paper_name,
    refuse_unclear,
    tables_of,
)
from swaplaw.importers.record import Findings, Options, Reading, describe
from swaplaw.importers.registry import Format
from swaplaw.votes import canonical
from swaplaw.votes.contract import DEFAULT_DATASET
from swaplaw.votes.files import Source

if TYPE_CHECKING:
    import polars as pl

CARD = {"supergpqa": 3_000, "gpqa-diamond": 198, "forensic": 98}
"""Questions of the paper's datasets."""
SAMPLES = 24
"""Votes that a model of the paper gave on a question."""
MARK, APPLICATION = "swaplaw-release", 0x7377_6C77
"""What tells a release of our own, in its card and in its database: what it holds is taken word for word."""
_REASONS = (
    *(("trunc", "truncated"), ("length", "truncated"), ("maxtoken", "truncated"), ("tokencap", "truncated")),
    *(("pars", "no_parse"), ("unans", "unanswered"), ("noanswer", "unanswered"), ("notsubmitted", "unanswered")),
    *(("refus", "refused"), ("contentfilter", "refused"), ("timeout", "error"), ("error", "error")),
)
_NO_REASON = ("", "none", "null", "nan", "ok", "success", "stop", "eos", "endturn", "answered", "parsed", "submitted")
_CELL = ["question", "model"]
_VOTE = [*_CELL, "sample"]


@dataclass
class Corpus:
    """The votes of a corpus, and what was read from where."""

    datasets: dict[str, pl.DataFrame] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    """What its tables leave open."""
    readings: list[Reading] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def is_release(path: Path) -> bool:
    """Whether a folder or a database was written by `swaplaw release`."""
    if path.is_file():
        with closing(database(path)) as open_:
            return bool(open_.execute("pragma application_id").fetchone()[0] == APPLICATION)
    card = path / "README.md"
    return card.is_file() and MARK in card.read_text(encoding="utf-8", errors="replace")[:1000]


def is_corpus(path: Path) -> bool:
    """Whether a folder is a corpus: its tables complete each other, or name the paper's models."""
    if not path.is_dir():
        return is_database(path)
    if is_release(path):
        return True
    try:
        tables = tables_of(path)
        layouts = [layout_of(table, {}, limit=100) for table in tables]
        if any(one.model for one in layouts) or any(table.inner is not None for table in tables):
            return True
        bare = any(one.role in ("records", "counts") and "gold" not in one.columns for one in layouts)
        facts = any(one.role == "facts" and {"gold", "correct"} & one.columns.keys() for one in layouts)
        return (bare and facts) or any(map(_names_models, layouts))
    except (InputError, OSError, ValueError, sqlite3.Error):
        return False


def _names_models(one: Layout) -> bool:
    first = next(one.table.rows([one.columns["model"]]), (None,))[0] if "model" in one.columns else None
    return first is not None and paper_name(first) is not None


def read_corpus(path: Path, options: Options | None = None) -> Corpus:
    """Read a folder or a database.

    Parameters
    ----------
    path : Path
        Where the corpus is.
    options : Options, optional
        What is declared: `columns` and `dataset`.

    Returns
    -------
    Corpus
        The votes of each dataset, with what was read from where.

    Raises
    ------
    InputError
        If tables cannot be joined, contradict each other, or name a model that is nearly one of the paper's.
    """
    chosen = options or Options()
    if not path.exists():
        raise InputError(f"{quote(str(path), 200)}: there is no such folder or database")
    done, verbatim, tables = Corpus(), is_release(path), tables_of(path)
    there = {name for table in tables for name in table.columns}
    for name in chosen.columns.values():
        if name not in there:
            raise InputError(
                f"{quote(str(path), 200)}: there is no column {quote(name)}; found {listing([*there], 30)}"
            )
    layouts = [layout_of(table, chosen.columns, verbatim) for table in tables]
    refuse_unclear(layouts)
    used = [one for one in layouts if one.role not in ("other", "unclear")]
    done.said += [f"not used: {one.table.name} ({listing(one.table.columns, 6)})" for one in layouts if one not in used]
    if not any(one.role in ("records", "counts") for one in used):
        raise ask(f"{quote(str(path), 200)}: no table has columns for question, model and answer", "answer", "map them")
    done.files = list(dict.fromkeys(one.table.file for one in used))
    fallback = chosen.dataset or (path.stem if path.is_file() else path.resolve().name) or DEFAULT_DATASET
    parts: dict[str | None, list[_Part]] = {}
    for one in used:
        done.readings += [
            Reading(part, f"{one.table.name}: {name}", "", guessed=True) for part, name in one.columns.items()
        ]
        for dataset, frame in _by_dataset(one, verbatim):
            named = dataset or (fallback if one.role in ("records", "counts") else None)
            parts.setdefault(named, []).append(_Part(one.table.name, one.role, frame))
    if not verbatim:
        _known_models([part.frame for found in parts.values() for part in found])
    for name in [name for name in parts if name is not None]:
        if not any(part.role in ("records", "counts") for part in parts[name]):
            about = f"dataset {quote(name)} has no votes, and stands in {quote(parts[name][0].name, 200)}"
            if any("model" in part.frame.columns for part in parts[name]):
                raise ask(about, "answer", "say which column holds the answers")
            done.lacking.append(about)
            continue
        joined = _Joined(name, done, verbatim)
        done.datasets[name] = joined.votes([*parts.pop(name), *parts.get(None, [])])
    done.said += done.lacking
    return done


# --- one table under our names ---


@dataclass(frozen=True)
class _Part:
    """What one table says of one dataset."""

    name: str
    role: str
    frame: pl.DataFrame


def _by_dataset(one: Layout, verbatim: bool) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """A table's rows under our names, dataset by dataset."""
    import polars as pl

    columns = list(dict.fromkeys(one.columns.values()))
    # Each batch on its own, so that what is written in words does not stand beside what it means.
    models: dict[str, str] = {}
    named = (_named(one, batch, models, verbatim) for batch in one.table.frames(columns))
    frame = pl.concat([_tidied(one, batch, verbatim) for batch in named])
    for part in {"question", "model"} & set(frame.columns):
        if frame[part].null_count():
            raise ask(f"{quote(one.table.name, 200)}: {frame[part].null_count():,} rows have no {part}", part)
    if "dataset" not in frame.columns:
        yield one.dataset, frame
        return
    for (name,), rows in frame.group_by(["dataset"], maintain_order=True):
        known = None if name is None else (None if verbatim else dataset_in(str(name))) or str(name)
        # What is empty here is about other datasets.
        empty = [each for each in rows.columns if each != "answer" and rows[each].null_count() == len(rows)]
        yield known or one.dataset, rows.drop("dataset", *empty, strict=False)


def _named(one: Layout, frame: pl.DataFrame, known: dict[str, str], verbatim: bool) -> pl.DataFrame:
    """Rows under our names of columns and of models."""
    import polars as pl

    frame = frame.select(pl.col(theirs).alias(ours) for ours, theirs in one.columns.items())
    if not verbatim:
        frame = frame.with_columns(pl.all().str.strip_chars())
    if one.model:
        return frame.with_columns(pl.lit(one.model).alias("model"))
    if "model" in frame.columns and not verbatim:
        known |= {name: paper_name(name) or name for name in frame["model"].drop_nulls().unique()}
        if len({*known.values()}) < len(known):
            raise InputError(
                f"{quote(one.table.name, 200)}: two of {listing(sorted(known), 20)} are one model: rename one"
            )
        return frame.with_columns(pl.col("model").replace(known))
    return frame


def _tidied(one: Layout, frame: pl.DataFrame, verbatim: bool) -> pl.DataFrame:
    """Votes as numbers, grades as true and false, `silent` where a table says that there is no answer."""
    import polars as pl

    def bare(name: str) -> pl.Expr:
        return pl.col(name).str.to_lowercase().str.replace_all(r"[\W_]", "")

    silent: list[pl.Expr] = []
    said: list[pl.Expr] = []
    if "sample" in frame.columns:
        frame = frame.with_columns(pl.col("sample").str.replace(r"^(\d+)\.0$", "$1"))
    if "votes" in frame.columns:
        frame = frame.with_columns(pl.col("votes").cast(pl.Float64, strict=False).cast(pl.Int64, strict=False))
        if frame["votes"].null_count():
            what = f"{quote(one.columns['votes'])} does not hold whole numbers of votes"
            raise ask(f"{quote(one.table.name, 200)}: {what}", "votes")
    if "correct" in frame.columns:
        right, wrong = bare("correct").is_in([*RIGHT, "c"]), bare("correct").is_in([*WRONG, *NO_ANSWER, "i"])
        odd = frame.filter(~right & ~wrong)["correct"]
        if len(odd):
            raise InputError(
                f"{quote(one.table.name, 200)}: {quote(odd[0])} in {quote(one.columns['correct'])} is no grade: write "
                "correct, incorrect or unanswered"
            )
        silent.append(bare("correct").is_in(NO_ANSWER) & ~right)
        said.append(right.alias("correct"))
    for name, words in (("abstained", RIGHT), ("parsed", WRONG), ("parse", NO_ANSWER)):
        if name in frame.columns and not verbatim:
            silent.append(bare(name).is_in(words))
    why = [pl.col(name) for name in ("reason", "parse", "finish") if name in frame.columns]
    why = why if verbatim else [_why(column) for column in why]
    said += [pl.coalesce(why).alias("reason")] if why else []
    if silent:
        hushed = pl.any_horizontal([each.fill_null(value=False) for each in silent])
        said.append(pl.when(hushed).then(pl.lit(value=True)).alias("silent"))
    frame = frame.with_columns(said)
    # Numbers of words take less room in joins than words do.
    frame = frame.drop("parse", "finish", "abstained", "parsed", strict=False)
    return frame.with_columns(pl.col("^question|model$").cast(pl.Categorical))


def _why(column: pl.Expr) -> pl.Expr:
    """A reason in our words; one of its own stays."""
    import polars as pl

    bare = column.str.to_lowercase().str.replace_all(r"[^a-z0-9]", "")
    found: Any = pl.when(bare.is_in(_NO_REASON)).then(pl.lit(None, pl.String))
    for needle, name in _REASONS:
        found = found.when(bare.str.contains(needle, literal=True)).then(pl.lit(name))
    words: pl.Expr = found.otherwise(column)
    return words


def _known_models(frames: Sequence[pl.DataFrame]) -> None:
    """Refuse a stranger among the paper's ten models: a misspelt one would be lost without a word."""
    given = {name for frame in frames if "model" in frame.columns for name in frame["model"].unique()}
    ten = {name for name, *_ in MODELS}
    strangers = sorted(given - ten)
    if strangers and len(given & ten) > len(strangers):
        near = get_close_matches(strangers[0], [alias for model in MODELS for alias in model], 1, 0.4)
        hint = f"; did you mean {quote(near[0])}?" if near else ""
        raise InputError(f"{quote(strangers[0])} is none of the paper's ten models, and most others are{hint}")


# --- one dataset from its tables ---


@dataclass
class _Joined:
    """The votes of one dataset, as far as they are joined."""

    dataset: str
    corpus: Corpus
    verbatim: bool

    def votes(self, parts: Sequence[_Part]) -> pl.DataFrame:
        """Join tables in the order in which they need each other."""
        import polars as pl

        of = {role: [part for part in parts if part.role == role] for role in ("records", "counts", "facts")}
        votes = pl.DataFrame()
        for part in of["records"]:
            votes = self._with_votes(votes, part)
        for part in of["counts"]:
            votes = self._with_counts(votes, part, bool(of["records"]))
        for part in of["facts"]:
            votes = self._with_facts(votes, part)
        votes = self._heard(votes)
        votes = self._judged(votes, [part.name for part in of["records"] or of["counts"]])
        self.corpus.said.append(self._size(votes, [part.name for part in parts]))
        number = pl.col("sample").cast(pl.Int64, strict=False)
        if votes.select(number.alias("number"))["number"].null_count():
            number = pl.col("sample").rank("dense").over(_CELL).cast(pl.Int64)
            if votes["sample"].null_count():
                self.corpus.lacking.append(f"dataset {quote(self.dataset)}: votes have no sample numbers")
                number = pl.int_range(pl.len()).over(_CELL)
        votes = votes.with_columns(number.alias("sample"))
        wanted = ("question", "model", "sample", "answer", "gold", "correct", "reason", "cluster")
        return votes.select(pl.lit(self.dataset).alias("dataset"), *(name for name in wanted if name in votes.columns))

    def _with_votes(self, votes: pl.DataFrame, part: _Part) -> pl.DataFrame:
        """All votes, every vote once."""
        import polars as pl

        fresh = part.frame
        if "sample" in fresh.columns:
            fresh = self._one_row_each(fresh, _VOTE, part.name)
        else:
            fresh = fresh.with_columns(pl.lit(None, pl.String).alias("sample"))
        if votes.is_empty():
            return fresh
        key = _CELL if fresh["sample"].null_count() or votes["sample"].null_count() else _VOTE
        both = fresh.join(votes, on=key, how="semi")
        if len(both):
            if key == _VOTE:
                votes = self._filled(votes, both, _VOTE, part.name)
            elif not _categories(both).equals(_categories(votes.join(fresh, on=key, how="semi"))):
                self._differ(both, part.name)
            self.corpus.said.append(
                f"{self.dataset}: {len(both):,} votes of {part.name} are in another table, too: counted once"
            )
        return pl.concat([votes, fresh.join(votes, on=key, how="anti")], how="diagonal_relaxed")

    def _differ(self, rows: pl.DataFrame, name: str) -> None:
        row = rows.row(0, named=True)
        what = f"{quote(name, 200)} and another table hold different votes of {quote(row['model'])}"
        what = f"dataset {quote(self.dataset)}: {what} on {quote(row['question'])}: leave one of them out"
        raise ask(what, "sample", "or say which column numbers the votes")

    def _with_counts(self, votes: pl.DataFrame, part: _Part, recorded: bool) -> pl.DataFrame:
        """Counts as votes, or refused where they are not those of the records."""
        import polars as pl

        counted = _one_each_vote(part.frame)
        if not recorded:
            return self._with_votes(votes, _Part(part.name, part.role, counted))
        heard = pl.col("answer").is_not_null()
        mine, theirs = (_categories(each.filter(heard)) for each in (votes, counted))
        if not mine.equals(theirs):
            self._differ(pl.concat([mine, theirs]).filter(~pl.struct(pl.all()).is_duplicated()), part.name)
        return votes

    def _with_facts(self, votes: pl.DataFrame, part: _Part) -> pl.DataFrame:
        """Join what a table says of votes, or of questions; without a sample, of votes without an answer in order."""
        import polars as pl

        facts = part.frame.join(votes, on="question", how="semi")
        strange = part.frame.join(votes, on="question", how="anti")
        if len(strange) and len(facts):
            self.corpus.lacking.append(
                f"dataset {quote(self.dataset)}: no votes on {quote(strange['question'][0])} of {quote(part.name, 200)}"
            )
        parts = {*facts.columns}
        if "model" not in parts:
            key = ["question", "answer"] if {"answer", "correct"} <= parts else ["question"]
        elif "sample" in parts and not votes["sample"].null_count():
            key = _VOTE
        elif "correct" in parts:
            what = f"the grades of {quote(part.name, 200)} and the votes have no sample number in common"
            raise ask(f"dataset {quote(self.dataset)}: {what} to join them on", "sample", "map it")
        else:
            key = [*_CELL, "place"]
            facts = (_one_each_vote(facts) if "votes" in parts else facts).with_columns(_place())
            silent = self._heard(votes)["answer"].is_null()
            votes = votes.with_columns(pl.when(silent).then(_place(silent)).alias("place"))
        facts = facts.drop({"answer", "sample", "votes"} - {*key}, strict=False).drop_nulls(key)
        return self._filled(votes, facts, key, part.name).drop("place", strict=False)

    def _filled(self, votes: pl.DataFrame, extra: pl.DataFrame, key: list[str], name: str) -> pl.DataFrame:
        """Add what a table says of votes; where it says something else than another table, it is refused."""
        import polars as pl

        extra = self._one_row_each(extra, key, name)
        fresh = extra.join(votes, on=key, how="anti")
        if len(fresh):
            row = ", ".join(f"{part} {quote(fresh[part][0])}" for part in key)
            what = f"{len(fresh):,} of {len(extra):,} rows of {quote(name, 200)} belong to no vote, such as {row}"
            what = f"dataset {quote(self.dataset)}: {what}: do both number samples from the same number?"
            raise ask(what, "sample", "else say which column does")
        given = [part for part in extra.columns if part not in key]
        told = extra.select(*key, *(pl.col(part).alias(f"{part} too") for part in given))
        votes = votes.join(told, on=key, how="left", maintain_order="left")
        for part in given:
            theirs = pl.col(f"{part} too")
            if part not in votes.columns:
                votes = votes.rename({f"{part} too": part})
                continue
            if len(clash := votes.filter(pl.col(part) != theirs)):
                odd = clash.row(0, named=True)
                what = f"on {quote(odd['question'])} ({quote(odd[f'{part} too'])}, {quote(odd[part])}), so these are"
                what = f"{part} in {quote(name, 200)} and in another table differ {what} different votes"
                raise ask(
                    f"dataset {quote(self.dataset)}: {what}: leave one of them out", part, "or map another column"
                )
            votes = votes.with_columns(pl.coalesce(part, theirs).alias(part)).drop(f"{part} too")
        return votes

    def _one_row_each(self, frame: pl.DataFrame, key: Sequence[str], name: str) -> pl.DataFrame:
        if frame.select(key).hash_rows().n_unique() == len(frame):
            return frame
        frame = frame.unique(maintain_order=True)
        if frame.select(key).is_duplicated().any():
            row = frame.filter(frame.select(key).is_duplicated()).row(0, named=True)
            what = ", ".join(f"{part} {quote(row[part])}" for part in key)
            part = "sample" if "sample" in key else "model"
            what = f"{quote(name, 200)}: two different rows for {what}; keep one of them"
            raise ask(what, part, "or say what tells them apart")
        return frame

    def _heard(self, votes: pl.DataFrame) -> pl.DataFrame:
        """Answers as they were given: null where a table or the word itself says that there is none."""
        import polars as pl

        hushed = pl.lit(value=False)
        if not self.verbatim:
            # An answer of signs alone is one; dashes and brackets stand for none.
            bare = pl.col("answer").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", "")
            hushed = bare.is_in(NO_ANSWER) | (pl.col("answer").str.strip_chars(" -_.?()[]<>") == "")
        if "silent" in votes.columns:
            hushed = hushed | pl.col("silent").fill_null(value=False)
        for right in [pl.col("answer") == pl.col("gold")] if "gold" in votes.columns else []:
            hushed = hushed & ~right.fill_null(value=False)
        if "correct" in votes.columns:
            hushed = hushed & ~pl.col("correct").fill_null(value=False)
        votes = votes.with_columns(pl.when(~hushed).then(pl.col("answer")).alias("answer"))
        if "reason" in votes.columns:
            votes = votes.with_columns(pl.when(pl.col("answer").is_null()).then("reason").alias("reason"))
        return votes

    def _judged(self, votes: pl.DataFrame, sources: list[str]) -> pl.DataFrame:
        """Grades of all answers or of none, and gold of all questions: given, or the answer most often graded right."""
        import polars as pl

        silent = pl.col("answer").is_null()
        if not self.verbatim:
            self._plausible(votes)
        if "correct" in votes.columns:
            if len(bare := votes.filter(~silent & pl.col("correct").is_null())):
                self._refuse(f"{len(bare):,} answers have no grade", bare, "correct")
            votes = votes.with_columns(pl.when(silent).then(pl.lit(value=False)).otherwise("correct").alias("correct"))
            right = votes.filter("correct").group_by("question", "answer").len()
            best = right.sort("question", "len", "answer", descending=[False, True, False])
            best = best.unique("question", keep="first", maintain_order=True)
            votes = votes.join(best.select("question", pl.col("answer").alias("graded")), on="question", how="left")
            own = ["gold"] if "gold" in votes.columns else []
            return votes.with_columns(pl.coalesce(*own, "graded", pl.lit("(gold)")).alias("gold")).drop("graded")
        if "gold" not in votes.columns:
            what = f"no table has gold answers or grades of {listing(sources, 4)}"
            raise ask(f"dataset {quote(self.dataset)}: {what}", "gold", "map them")
        if self.verbatim:
            return votes
        if len(bare := votes.filter(pl.col("gold").is_null())):
            number = bare["question"].n_unique()
            self._refuse(f"{number:,} of {votes['question'].n_unique():,} questions have no gold answer", bare, "gold")
        if not (votes["answer"] == votes["gold"]).any():
            self._refuse("no vote is what gold says", votes, "gold")
        return votes

    def _plausible(self, votes: pl.DataFrame) -> None:
        """Refuse what comes of a column that was taken for another."""
        import polars as pl

        if len(votes) > 1 and votes["question"].n_unique() == len(votes):
            self._refuse("each question has one vote, as if its column numbered the rows", votes, "question")
        if votes["answer"].null_count() == len(votes):
            self._refuse("no vote has an answer", votes, "answer")
        heard = votes.select("question", "answer").drop_nulls("answer")
        if heard["answer"].str.contains(r"^[\[{].*[\]}]$").all():
            self._refuse("answers are lists, where a row is one vote", votes, "answer")
        answer = pl.col("answer").hash()
        alike = heard.group_by("question").agg(answer.min() == answer.max(), pl.len())
        if len(alike) > 2 and alike["answer"].all() and (alike["len"] > 2).all():
            self._refuse("all votes on a question agree, as gold would", votes, "answer")

    def _refuse(self, what: str, rows: pl.DataFrame, part: str) -> None:
        row = rows.row(0, named=True)
        what = f"{what}, first {quote(row['model'])} on {quote(row['question'])}"
        raise ask(f"dataset {quote(self.dataset)}: {what}", part, "say which column holds it")

    def _size(self, votes: pl.DataFrame, sources: list[str]) -> str:
        """How many votes there are, against what the card says."""
        models, questions = votes["model"].n_unique(), votes["question"].n_unique()
        found = f"{len(votes):,} votes of {models} models on {questions:,} questions, from {listing(sources, 4)}"
        if self.dataset not in CARD:
            return f"{self.dataset}: {found}"
        each = CARD[self.dataset] * SAMPLES
        numbers = votes.group_by("model").len()
        short = sorted(numbers.filter(numbers["len"] != each)["model"])
        told = f"; the card says {each * len(MODELS):,}" if len(votes) != each * len(MODELS) else ""
        return f"{self.dataset}: {found}{told}" + (f"; not {each:,} each: {listing(short, 10)}" if short else "")


def _place(*beside: pl.Series) -> pl.Expr:
    import polars as pl

    return pl.int_range(pl.len()).over([*_CELL, *beside]).alias("place")


def _one_each_vote(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts as rows, one each."""
    import polars as pl

    return (
        counts.select(pl.exclude("votes").repeat_by("votes")).explode(counts.drop("votes").columns).drop_nulls("model")
    )


def _categories(frame: pl.DataFrame) -> pl.DataFrame:
    """Votes per answer."""
    return frame.group_by([*_CELL, "answer"]).len().sort([*_CELL, "answer"])


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Read corpora as votes."""
    import polars as pl

    frames: list[pl.DataFrame] = []
    for found in [read_corpus(file, options) for file in files]:
        findings.notes += found.said
        findings.readings += found.readings
        findings.files += [describe(file) for file in found.files]
        frames += found.datasets.values()
    if any("correct" in frame.columns for frame in frames):
        # Where only free text is graded, letters speak for themselves.
        literal = (pl.col("answer") == pl.col("gold")).fill_null(value=False).alias("correct")
        frames = [frame if "correct" in frame.columns else frame.with_columns(literal) for frame in frames]
    votes = pl.concat(frames, how="diagonal_relaxed").lazy()
    if options.reader is not None:
        findings.reader = options.reader
        votes = canonical.read_answers(votes, options.reader)
    if options.canonical:
        votes = canonical.canonicalise(votes, options.canonical)
    return Source(str(files[0]), lambda: votes)


FORMATS = (Format("corpus", is_database, read),)
"""An SQLite database; a folder is told from one of logs by `is_corpus`."""
