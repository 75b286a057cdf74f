"""A released corpus: tables of votes, counts, gold answers, grades and reasons, joined into votes.

The paper's corpus *deciban* (huggingface.co/datasets/IcyApril/deciban) is one, and what `swaplaw release` writes is
another. Tables are files of a folder, at any depth (CSV, Parquet or JSON lines, packed by gzip or not), or those of an
SQLite database; both may be there at once. What a table holds is told by its columns (`votes.columns`), and what it is
about by a column or by its path. Only the columns of votes are read, row by row, so that long texts beside them cost
time and no memory.

Tables are joined on question, model and sample. A vote counts once: rows that are there already are left out, and rows
that contradict them are refused.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from swaplaw.errors import Fix, InputError, MissingExtraError, SwaplawError, listing, quote
from swaplaw.importers.record import Findings, Options, Reading, describe
from swaplaw.importers.registry import Format
from swaplaw.votes.columns import NAMES, candidates, guess, plain
from swaplaw.votes.contract import DEFAULT_DATASET
from swaplaw.votes.files import Source

if TYPE_CHECKING:
    import polars as pl

MODELS = (
    ("Gemma-4-31B", "G4-31B", "gemma4-31b", "google/gemma-4-31B-it"),
    ("Qwen3.6-27B", "Q3.6", "qwen36-27b", "Qwen/Qwen3.6-27B"),
    ("Gemma-4-26B-A4B", "G4-A4B", "gemma4-a4b", "google/gemma-4-26B-A4B-it"),
    ("Qwen3-30B-Think.", "Q3-Think", "qwen3-30b-thinking", "Qwen/Qwen3-30B-A3B-Thinking-2507"),
    ("DiffusionGemma-26B", "DiffG", "diffusiongemma", "google/diffusiongemma-26B-A4B-it"),
    ("GLM-4.7-Flash", "GLM4.7", "glm47-flash", "zai-org/GLM-4.7-Flash"),
    ("Nemotron-3-Nano", "Nemo3", "nemotron3-nano", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
    ("GPT-OSS-20B", "OSS-20B", "gpt-oss-20b", "openai/gpt-oss-20b"),
    ("Magistral-Small", "Magistral", "magistral-small", "mistralai/Magistral-Small-2509"),
    ("MedGemma-27B", "MedG", "medgemma-27b", "google/medgemma-27b", "google/medgemma-27b-it", "medgemma-27b-text-it"),
)
"""The ten models of the paper: its name in tables, its name in figures, the corpus's code, Hugging Face's ids."""
CARD = {"supergpqa": 3_000, "gpqa-diamond": 198, "forensic": 98}
"""Questions of the paper's datasets."""
REPOSITORY = "IcyApril/deciban"
SAMPLES = 24
"""Votes that a model of the paper gave on a question."""
_DATASETS = (
    *(("supergpqa", "supergpqa"), ("gpqamain", "gpqa-main"), ("gpqaextended", "gpqa-extended")),
    *(("gpqa", "gpqa-diamond"), ("forensic", "forensic"), ("cyber", "forensic")),
)
_REASONS = (
    *(("trunc", "truncated"), ("length", "truncated"), ("maxtoken", "truncated"), ("tokencap", "truncated")),
    *(("pars", "no_parse"), ("unans", "unanswered"), ("noanswer", "unanswered"), ("notsubmitted", "unanswered")),
    *(("refus", "refused"), ("contentfilter", "refused"), ("timeout", "error"), ("error", "error")),
)
_NO_REASON = ("", "none", "null", "nan", "ok", "success", "stop", "eos", "endturn", "answered", "parsed", "submitted")
_NO_ANSWER = (
    *("", "null", "nullvote", "novote", "abstain", "abstained", "abstention", "unparseable", "unparsed"),
    *("noanswer", "unanswered", "notsubmitted", "nosubmission", "nan", "parseerror", "parsefailed"),
)
_RIGHT, _WRONG = (
    ("true", "1", "10", "correct", "right", "yes", "pass"),
    (*("false", "0", "00", "incorrect", "wrong", "no", "fail"),),
)
MARK, APPLICATION = "swaplaw-release", 0x7377_6C77
"""What tells a release of our own, in its card and in its database: what it holds is taken word for word."""
_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
_DATABASES = (".sqlite", ".sqlite3", ".db")
_BATCH = 50_000
_CELL = ["question", "model"]
_VOTE = [*_CELL, "sample"]
_PARTS = ("dataset", "question", "model", "sample", "answer", "votes", "correct", "cluster")
_WHY = ("reason", "parse", "finish", "abstained", "parsed")


# --- tables ---


@dataclass(frozen=True)
class Table:
    """One table of a corpus."""

    file: Path
    name: str
    """Its path below the corpus, and within a database the table's name."""
    inner: str | None = None
    """The table of a database."""

    @cached_property
    def columns(self) -> list[str]:
        """Names of its columns."""
        if self.inner is not None:
            with closing(_database(self.file)) as open_:
                return [row[1] for row in open_.execute(f"pragma table_info({_quoted(self.inner)})")]
        if self.form == ".parquet":
            return self._parquet().collect_schema().names()
        with self._text() as lines:
            if self.form in (".csv", ".tsv"):
                return [name.strip().removeprefix("\ufeff") for name in next(self._csv(lines), [])]
            return list(dict.fromkeys(name for row in islice(self._records(lines), 100) for name in row))

    @property
    def form(self) -> str:
        """Its suffix, without that of packing."""
        return Path(self.file.name.removesuffix(".gz")).suffix.lower()

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """Read some columns as text."""
        import polars as pl

        if self.form == ".parquet" and self.inner is None:
            frame = self._parquet().select(columns).collect(engine="streaming")
            nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
            return frame.with_columns(pl.exclude(nested).cast(pl.String))
        rows = self._rows(columns)
        batches = []
        try:
            while batch := list(islice(rows, _BATCH)):
                batches.append(self._batch(columns, batch))
        except (UnicodeDecodeError, csv.Error, EOFError, OSError, sqlite3.Error) as error:
            raise InputError(f"{quote(self.name, 200)}: cannot be read to its end ({error}); copy it again") from None
        return pl.concat(batches) if batches else pl.DataFrame(schema=dict.fromkeys(columns, pl.String))

    def _batch(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> pl.DataFrame:
        import polars as pl

        for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
            if any(isinstance(cell, list | dict) for cell in cells):
                raise InputError(f"{quote(self.name, 200)}: {quote(name)} holds lists; give a row per vote")
        texts = zip(*([_text(cell) for cell in row] for row in rows), strict=True)
        schema = dict.fromkeys(columns, pl.String)
        return pl.DataFrame(dict(zip(columns, texts, strict=True)), schema=schema)

    def first(self, column: str) -> str | None:
        """The first cell of a column."""
        if self.form == ".parquet" and self.inner is None:
            found = self._parquet().select(column).head(1).collect()[column]
            return str(found[0]) if len(found) else None
        return _text(next(self._rows([column]), (None,))[0])

    def _rows(self, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Stream the cells of some columns."""
        if self.inner is not None:
            with closing(_database(self.file)) as open_:
                yield from open_.execute(f"select {', '.join(map(_quoted, columns))} from {_quoted(self.inner)}")
            return
        with self._text() as lines:
            if self.form in (".csv", ".tsv"):
                rows = self._csv(lines)
                header = [name.strip().removeprefix("\ufeff") for name in next(rows, [])]
                places = [header.index(name) for name in columns]
                for number, row in enumerate(rows, 2):
                    if row and len(row) != len(header):
                        raise InputError(
                            f"{quote(self.name, 200)}: row {number} has {len(row)} cells, not {len(header)}"
                        )
                    if row:
                        yield tuple(row[place] for place in places)
                return
            for record in self._records(lines):
                yield tuple(record.get(name) for name in columns)

    def _parquet(self) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_parquet(self.file)

    def _text(self) -> IO[str]:
        packed = self.file.name.endswith(".gz")
        raw: Any = gzip.open(self.file) if packed else self.file.open("rb")  # noqa: SIM115  The text closes it.
        return TextIOWrapper(raw, encoding="utf-8", newline="")

    def _csv(self, lines: IO[str]) -> Iterator[list[str]]:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        first = lines.readline()
        marks = re.sub(r'"[^"]*"', "", first)
        separator = max(",;\t|", key=lambda mark: (marks.count(mark), -",;\t|".index(mark)))
        yield from csv.reader([first], delimiter=separator)
        yield from csv.reader(lines, delimiter=separator)

    def _records(self, lines: IO[str]) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise InputError(f"{quote(self.name, 200)}: line {number} is not JSON ({error})") from None
            if not isinstance(record, dict):
                raise InputError(f"{quote(self.name, 200)}: line {number} is not a JSON object")
            yield record


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _database(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def is_database(file: Path) -> bool:
    """Whether a file is an SQLite database."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


def tables_of(path: Path) -> list[Table]:
    """List the tables of a folder or of a database, files before what is packed into databases."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    files = [
        file for file in files if not any(part.startswith(".") for part in file.relative_to(path.parent).parts[1:])
    ]
    flat, packed = [], []
    for file in files:
        name = file.name if file == path else file.relative_to(path).as_posix()
        if file.suffix.lower() in _DATABASES or file == path:
            if is_database(file):
                packed += [Table(file, f"{name}/{inner}", inner) for inner in _names(file)]
        elif Table(file, name).form in _SUFFIXES:
            flat.append(Table(file, name))
    return [*flat, *packed]


def _names(file: Path) -> list[str]:
    try:
        with closing(_database(file)) as open_:
            found = open_.execute("select name from sqlite_master where type in ('table', 'view') order by name")
            return [name for (name,) in found if not name.startswith("sqlite_")]
    except sqlite3.DatabaseError as error:
        raise InputError(f"{quote(str(file), 200)}: not a readable SQLite database ({error}); copy it again") from None


# --- what tables hold ---


@dataclass(frozen=True)
class Layout:
    """A table, what it holds, and which of its columns is what."""

    table: Table
    role: str
    """`records`, `counts`, `grades`, `gold`, `reasons` or, where it is nothing of these, `other`."""
    columns: Mapping[str, str]
    model: str | None
    """The model that the path names, where no column does."""
    dataset: str | None
    """The dataset that the path names."""
    verbatim: bool = False
    """Whether cells mean what they say: a release of our own has no other words for silence, models or reasons."""


def is_release(path: Path) -> bool:
    """Whether a folder or a database was written by `swaplaw release`."""
    if path.is_file():
        with closing(_database(path)) as open_:
            return bool(open_.execute("pragma application_id").fetchone()[0] == APPLICATION)
    card = path / "README.md"
    return card.is_file() and MARK in card.read_text(encoding="utf-8", errors="replace")[:1000]


def layout_of(table: Table, declared: Mapping[str, str], verbatim: bool = False) -> Layout:
    """Tell what a table holds by its columns."""
    names = table.columns
    own = {part: name for part, name in declared.items() if name in names}
    found = guess(names, own, tuple(part for part in (*_PARTS, *_WHY) if part not in own))
    model = None if verbatim or "model" in found else _model_in(table.name)
    if "model" in found or model:
        # An answer beside a model is a vote, whatever else is called an answer there.
        clear = [name for name in NAMES["gold"] if plain(name) not in ("answer", "answerletter", "label")]
        free = [name for name in candidates(names, clear) if name not in found.values()]
        found |= {"gold": free[0]} if free and "gold" not in found else {}
    else:
        kept = {part: name for part, name in found.items() if part in ("dataset", "question", "cluster", "correct")}
        found = guess(names, {**kept, **own}, ("gold",)) | (
            {"answer": found["answer"]} if {"answer", "correct"} <= found.keys() else {}
        )
    role = _role(found.keys() | ({"model"} if model else set()))
    wanted = {
        "records": {*_PARTS, *_WHY, "gold"} - {"votes"},
        "counts": {*_PARTS, "reason", "gold"} - {"sample"},
        "grades": {"dataset", "question", "model", "sample", "answer", "correct"},
        "gold": {"dataset", "question", "gold", "cluster"},
        "reasons": {"dataset", "question", "model", "sample", *_WHY},
        "other": set(),
    }[role]
    columns = {part: name for part, name in found.items() if part in wanted}
    return Layout(table, role, columns, model, None if verbatim else _dataset_in(table.name), verbatim)


def _role(has: set[str]) -> str:
    if "question" not in has:
        return "other"
    if "model" in has:
        if "answer" in has:
            return "counts" if "votes" in has and "sample" not in has else "records"
        return "grades" if "correct" in has else "reasons" if {*_WHY} & has else "other"
    return "grades" if {"answer", "correct"} <= has else "gold" if "gold" in has else "other"


def _dataset_in(path: str) -> str | None:
    """The paper's dataset that a path names, in a file's name before its folders'."""
    for part in reversed(path.split("/")):
        if name := next((name for needle, name in _DATASETS if needle in re.sub(r"[^a-z0-9]", "", part.lower())), None):
            return name
    return None


def _aliases() -> dict[str, str]:
    found = {}
    for name, *others in MODELS:
        for alias in (name, *others, *(other.rpartition("/")[2] for other in others)):
            for short in (alias, re.sub(r"-(it|\d{4}|BF16)$", "", alias)):
                found[plain(short).replace(".", "")] = name
    return found


ALIASES = _aliases()
"""What each of the ten models may be called, without case and punctuation."""


def paper_name(model: str) -> str | None:
    """The paper's name of a model.

    >>> paper_name("google/gemma-4-26B-A4B-it"), paper_name("gemma4-a4b"), paper_name("gpt-4")
    ('Gemma-4-26B-A4B', 'Gemma-4-26B-A4B', None)
    """
    spelt = plain(model).replace(".", "")
    return ALIASES.get(spelt) or ALIASES.get(plain(model.rpartition("/")[2]).replace(".", ""))


def _model_in(path: str) -> str | None:
    """The model that a path names: the longest alias in a file's name before its folders'."""
    for part in reversed(path.split("/")):
        spelt = re.sub(r"[^a-z0-9]", "", part.lower())
        if found := [alias for alias in ALIASES if len(alias) > 4 and alias in spelt]:
            return ALIASES[max(found, key=len)]
    return None


def is_corpus(path: Path) -> bool:
    """Whether a folder is a corpus: its tables complete each other, or name the paper's models."""
    if not path.is_dir():
        return is_database(path)
    try:
        layouts = [layout_of(table, {}) for table in tables_of(path)]
    except (InputError, OSError, ValueError, sqlite3.Error):
        return False
    votes = [one for one in layouts if one.role in ("records", "counts")]
    parts = [one for one in layouts if one.role in ("gold", "grades", "reasons")]
    bare = [one for one in votes if "gold" not in one.columns]
    packed = any(one.table.inner is not None for one in votes)
    return bool(votes) and (packed or bool(parts and bare) or any(one.model for one in votes) or _names_models(votes))


def _names_models(layouts: Sequence[Layout]) -> bool:
    for one in layouts:
        first = one.table.first(one.columns["model"]) if "model" in one.columns else None
        if first is not None and paper_name(first):
            return True
    return False


# --- one dataset from its tables ---


@dataclass
class Corpus:
    """The votes of a corpus, and what was read from where."""

    datasets: dict[str, pl.DataFrame] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


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
    done, verbatim = Corpus(), is_release(path)
    layouts = [layout_of(table, chosen.columns, verbatim) for table in tables_of(path)]
    used = [one for one in layouts if one.role != "other"]
    done.said += [f"not used: {one.table.name} ({listing(one.table.columns, 6)})" for one in layouts if one not in used]
    if not any(one.role in ("records", "counts") for one in used):
        raise InputError(
            f"{quote(str(path), 200)}: no table has columns for question, model and answer",
            Fix("columns", {"answer": "NAME"}, "map them"),
        )
    done.files = list(dict.fromkeys(one.table.file for one in used))
    fallback = chosen.dataset or (path.stem if path.is_file() else path.resolve().name) or DEFAULT_DATASET
    parts: dict[tuple[str | None, str], list[tuple[str, pl.DataFrame]]] = {}
    for one in used:
        done.readings += [
            Reading(part, f"{one.table.name}: {name}", "", guessed=True) for part, name in one.columns.items()
        ]
        for dataset, frame in _by_dataset(one):
            named = dataset or (fallback if one.role in ("records", "counts") else None)
            parts.setdefault((named, one.role), []).append((one.table.name, frame))
    if not verbatim:
        _known_models(parts)
    for dataset in dict.fromkeys(name for name, role in parts if role in ("records", "counts") and name):
        tables = {role: parts.get((dataset, role)) or parts.get((None, role), []) for _, role in parts}
        done.datasets[dataset] = _assembled(dataset, tables, done.said)
    return done


def gaps(found: Corpus) -> list[str]:
    """Say what the paper's corpus has, and this one has not."""
    import polars as pl

    said = [f"the corpus has no votes for dataset {quote(name)}" for name in CARD if name not in found.datasets]
    for name, votes in found.datasets.items():
        if name not in CARD:
            continue
        lacking = [model for model, *_ in MODELS if model not in votes["model"]]
        said += [f"dataset {quote(name)} has no votes of {quote(model)}" for model in lacking]
        cells = votes.group_by(_CELL).len()
        if (questions := cells["question"].n_unique()) != CARD[name]:
            said.append(f"dataset {quote(name)} has {questions:,} questions, and the paper {CARD[name]:,}")
        odd = cells.filter(pl.col("len") != SAMPLES).sort(_CELL)
        missing = cells["model"].n_unique() * questions - len(cells)
        if len(odd) or missing:
            row = odd.row(0, named=True) if len(odd) else None
            such = f", such as {row['len']} of {quote(row['model'])} on {quote(row['question'])}" if row else ""
            pairs = f"{len(odd) + missing:,} pairs of model and question"
            said.append(f"dataset {quote(name)}: {pairs} have not {SAMPLES} votes{such}")
        if "reason" not in votes.columns or votes["reason"].null_count() == len(votes):
            said.append(f"dataset {quote(name)} has no reasons of abstentions")
    return said


def download_corpus(folder: str | Path) -> Path:
    """Download the paper's corpus into a folder (needs the extra `hub`)."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError("hub", "downloading the corpus") from None
    try:
        snapshot_download(REPOSITORY, repo_type="dataset", local_dir=str(folder))
    except Exception as error:  # Of the hub, of its HTTP library, or of the disk.
        detail = str(error).strip().split("\n")[0]
        raise SwaplawError(
            f"could not download {REPOSITORY} from huggingface.co ({detail}); check the network, or download the "
            "files by hand and pass their folder"
        ) from None
    return Path(folder)


def _by_dataset(one: Layout) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """A table's rows under our names, dataset by dataset."""
    import polars as pl

    frame = one.table.frame(list(dict.fromkeys(one.columns.values())))
    if one.table.form == ".parquet" and (nested := [name for name, kind in frame.schema.items() if kind.is_nested()]):
        raise InputError(f"{quote(one.table.name, 200)}: {quote(nested[0])} holds lists; give a row per vote")
    frame = frame.select(pl.col(theirs).alias(ours) for ours, theirs in one.columns.items())
    if not one.verbatim:
        frame = frame.with_columns(pl.col(pl.String).str.strip_chars())
    if one.model:
        frame = frame.with_columns(pl.lit(one.model).alias("model"))
    elif "model" in frame.columns and not one.verbatim:
        names = {name: paper_name(name) or name for name in frame["model"].drop_nulls().unique()}
        _one_each(one.table.name, names)
        frame = frame.with_columns(pl.col("model").replace(names))
    frame = _tidied(one, frame)
    if "dataset" not in frame.columns:
        yield one.dataset, frame
        return
    for (name,), part in frame.group_by(["dataset"], maintain_order=True):
        known = None if name is None else (None if one.verbatim else _dataset_in(str(name))) or str(name)
        yield known or one.dataset, part.drop("dataset")


def _one_each(table: str, names: Mapping[str, str]) -> None:
    """Refuse two names of one model: which is a larger version, nobody could say."""
    seen: dict[str, str] = {}
    for raw, name in sorted(names.items()):
        if name in seen:
            raise InputError(
                f"{quote(table, 200)}: {quote(seen[name])} and {quote(raw)} would both be {quote(name)}: rename one"
            )
        seen[name] = raw


def _tidied(one: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers as numbers, grades as true and false, and silence as null."""
    import polars as pl

    for name in {"votes", "sample"} & set(frame.columns):
        whole = frame[name].cast(pl.Int64, strict=False)
        if name == "sample" and whole.null_count() > frame[name].null_count():
            whole = frame[name].rank("dense").cast(pl.Int64)
        if name == "votes" and (whole.null_count() or (whole < 0).any()):
            raise InputError(
                f"{quote(one.table.name, 200)}: {quote(one.columns[name])} does not hold whole numbers of votes",
                Fix("columns", {"votes": "NAME"}, "map another column"),
            )
        frame = frame.with_columns(whole.alias(name))
    silent = pl.lit(False)
    if "correct" in frame.columns:
        word = pl.col("correct").str.to_lowercase().str.replace_all(r"[^a-z0-9]", "")
        odd = frame.filter(~word.is_in([*_RIGHT, *_WRONG, *_NO_ANSWER]) & pl.col("correct").is_not_null())
        if len(odd):
            raise InputError(
                f"{quote(one.table.name, 200)}: {quote(odd['correct'][0])} in {quote(one.columns['correct'])} is no "
                "grade: write correct, incorrect or unanswered"
            )
        silent = silent | word.is_in(_NO_ANSWER).fill_null(False)
        grade = pl.when(word.is_in(_RIGHT)).then(True).when(word.is_not_null()).then(False)
        frame = frame.with_columns(grade.alias("correct"), silent.alias("silent"))
    for name, sign in (("abstained", True), ("parsed", False)):
        if name in frame.columns:
            word = pl.col(name).str.to_lowercase()
            said = word.is_in(_RIGHT if sign else _WRONG).fill_null(False)
            frame = frame.with_columns(
                (said | (pl.col("silent") if "silent" in frame.columns else False)).alias("silent")
            )
    if "answer" in frame.columns:
        bare = pl.col("answer").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", "")
        # An answer of signs alone is one; dashes and brackets stand for none.
        said = ~bare.is_in(_NO_ANSWER[1:]) & (pl.col("answer").str.strip_chars(" -_.?()[]<>") != "")
        said = pl.lit(True) if one.verbatim else said
        if "silent" in frame.columns:
            said = said & ~pl.col("silent")
        frame = frame.with_columns(pl.when(said).then(pl.col("answer")).alias("answer"))
    why = [pl.col(name) for name in ("reason", "parse", "finish") if name in frame.columns]
    why = why if one.verbatim else [_why(column) for column in why]
    if why:
        frame = frame.with_columns(pl.coalesce(why).alias("reason"))
    return frame.drop("parse", "finish", "abstained", "parsed", strict=False)


def _why(column: pl.Expr) -> pl.Expr:
    """A reason in our words; one of its own stays."""
    import polars as pl

    bare = column.str.to_lowercase().str.replace_all(r"[^a-z0-9]", "")
    found: Any = pl.when(bare.is_in(_NO_REASON)).then(pl.lit(None, pl.String))
    for needle, name in _REASONS:
        found = found.when(bare.str.contains(needle, literal=True)).then(pl.lit(name))
    words: pl.Expr = found.otherwise(column)
    return words


def _known_models(parts: Mapping[tuple[str | None, str], Sequence[tuple[str, pl.DataFrame]]]) -> None:
    """Refuse a stranger among the paper's ten models: a misspelt one would be lost without a word."""
    given = {
        name
        for frames in parts.values()
        for _, frame in frames
        if "model" in frame.columns
        for name in frame["model"].unique()
    }
    ten = {name for name, *_ in MODELS}
    strangers = sorted(name for name in given - ten if name is not None)
    if strangers and len(given & ten) > len(strangers):
        near = get_close_matches(strangers[0], [alias for model in MODELS for alias in model], 1, 0.4)
        hint = f"; did you mean {quote(near[0])}?" if near else ""
        raise InputError(f"{quote(strangers[0])} is none of the paper's ten models, and most others are{hint}")


def _assembled(dataset: str, tables: Mapping[str, Sequence[tuple[str, pl.DataFrame]]], said: list[str]) -> pl.DataFrame:
    """The votes of one dataset, joined from its tables."""
    import polars as pl

    records = _together(dataset, tables.get("records", []), said)
    counts = _together(dataset, tables.get("counts", []), said)
    if records is not None and counts is not None:
        _agree(dataset, records, counts)
    votes = records if records is not None else counts
    assert votes is not None
    sources = [name for role in ("records", "counts") for name, _ in tables.get(role, [])]
    for role, joined in (("reasons", _with_reasons), ("grades", _with_grades), ("gold", _with_gold)):
        for name, frame in tables.get(role, []):
            votes = joined(dataset, votes, frame, name)
            sources.append(name)
    if "gold" not in votes.columns and "correct" in votes.columns:
        votes = votes.with_columns(pl.lit(None, pl.String).alias("gold"))
    if "gold" not in votes.columns:
        raise InputError(
            f"dataset {quote(dataset)}: no table has gold answers or grades",
            Fix("columns", {"gold": "NAME"}, "map them"),
        )
    if "correct" in votes.columns:
        votes = _graded(votes)
    lost = votes.filter(pl.col("gold").is_null())["question"]
    if len(lost):
        said.append(f"{dataset}: {quote(lost[0])} and {lost.n_unique() - 1:,} more questions have no gold answer")
    if "votes" in votes.columns:
        votes = votes.with_columns(pl.int_ranges(0, pl.col("votes"))).explode("votes").drop_nulls("votes")
        votes = votes.drop("votes", "sample", strict=False)
    said.append(_size(dataset, votes, sources))
    if "reason" in votes.columns:
        votes = votes.with_columns(pl.when(pl.col("answer").is_null()).then("reason").alias("reason"))
    wanted = ("question", "model", "sample", "answer", "gold", "correct", "reason", "cluster")
    return votes.select(pl.lit(dataset).alias("dataset"), *(name for name in wanted if name in votes.columns))


def _size(dataset: str, votes: pl.DataFrame, sources: list[str]) -> str:
    """How many votes there are, against what the card says."""
    models, questions = votes["model"].n_unique(), votes["question"].n_unique()
    said = f"{dataset}: {len(votes):,} votes of {models} models on {questions:,} questions, from {listing(sources, 4)}"
    if dataset not in CARD:
        return said
    expected = CARD[dataset] * SAMPLES * len(MODELS)
    short = votes.group_by("model").len().filter(votes.group_by("model").len()["len"] != CARD[dataset] * SAMPLES)
    each = "" if short.is_empty() else f"; not {CARD[dataset] * SAMPLES:,} each: {listing(sorted(short['model']), 10)}"
    return said + ("" if len(votes) == expected else f"; the card says {expected:,}{each}")


def _together(dataset: str, tables: Sequence[tuple[str, pl.DataFrame]], said: list[str]) -> pl.DataFrame | None:
    """All tables of votes, every vote once."""
    import polars as pl

    found: pl.DataFrame | None = None
    for name, frame in tables:
        part = frame.drop("silent", strict=False).unique(maintain_order=True) if "sample" in frame.columns else frame
        if "sample" in part.columns and part.select(_VOTE).is_duplicated().any():
            row = part.filter(part.select(_VOTE).is_duplicated()).row(0, named=True)
            raise InputError(
                f"{quote(name, 200)}: sample {row['sample']} of {quote(row['model'])} on {quote(row['question'])} is "
                "there more than once, with different contents"
            )
        part = part.drop("silent", strict=False)
        if found is None:
            found = part
            continue
        by_sample = "sample" in found.columns and "sample" in part.columns
        key = _VOTE if by_sample else _CELL
        both = part.join(found, on=key, how="semi")
        if len(both):
            same = _categories(both, key).equals(_categories(found.join(part, on=key, how="semi"), key))
            if not same:
                row = both.row(0, named=True)
                raise InputError(
                    f"dataset {quote(dataset)}: {quote(name, 200)} and another table hold different votes of "
                    f"{quote(row['model'])} on {quote(row['question'])}; leave one of them out"
                )
            said.append(f"{dataset}: {len(both):,} votes of {name} are in another table, too: counted once")
            part = part.join(found, on=key, how="anti")
        found = pl.concat([found, part], how="diagonal_relaxed")
    return found


def _categories(frame: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Votes per answer."""
    import polars as pl

    number = pl.col("votes").sum() if "votes" in frame.columns else pl.len().cast(pl.Int64).alias("votes")
    return frame.group_by([*key, "answer"]).agg(number).sort([*key, "answer"])


def _agree(dataset: str, records: pl.DataFrame, counts: pl.DataFrame) -> None:
    """Refuse counts that are not those of the records."""
    import polars as pl

    said = pl.col("answer").is_not_null()
    mine, theirs = (_categories(each.filter(said), _CELL).filter(pl.col("votes") > 0) for each in (records, counts))
    if not mine.equals(theirs):
        odd = mine.join(theirs, on=[*_CELL, "answer", "votes"], how="anti")
        odd = odd if len(odd) else theirs.join(mine, on=[*_CELL, "answer", "votes"], how="anti")
        raise InputError(
            f"dataset {quote(dataset)}: records and vote counts disagree, first about {quote(odd['answer'][0])} of "
            f"{quote(odd['model'][0])} on {quote(odd['question'][0])}; leave one of the two out"
        )


def _with_reasons(dataset: str, votes: pl.DataFrame, extra: pl.DataFrame, name: str) -> pl.DataFrame:
    """Join why there is no answer, by sample."""
    import polars as pl

    if "sample" not in votes.columns or "sample" not in extra.columns:
        # Without samples it stays open which vote is meant; the votes themselves are all there.
        return votes
    extra = extra.join(votes.select("question").unique(), on="question", how="semi").unique()
    _one_row_each(extra, _VOTE, name)
    fresh = extra.join(votes, on=_VOTE, how="anti")
    if len(fresh):
        raise InputError(
            f"dataset {quote(dataset)}: {len(fresh):,} of {len(extra):,} rows of {quote(name, 200)} belong to no "
            "vote: do both number samples from the same number?"
        )
    given = [part for part in ("reason", "silent") if part in extra.columns]
    joined = votes.join(
        extra.select(*_VOTE, *(pl.col(part).alias(f"{part}_too") for part in given)), on=_VOTE, how="left"
    )
    if "silent" in given:
        joined = joined.with_columns(pl.when(~pl.col("silent_too").fill_null(False)).then("answer").alias("answer"))
    if "reason" in given:
        own = ["reason"] if "reason" in joined.columns else []
        joined = joined.with_columns(pl.coalesce(*own, "reason_too").alias("reason"))
    return joined.drop("reason_too", "silent_too", strict=False)


def _with_grades(dataset: str, votes: pl.DataFrame, grades: pl.DataFrame, name: str) -> pl.DataFrame:
    """Join grades, by sample or by answer."""
    import polars as pl

    whole = set(_VOTE) <= set(grades.columns) and set(_VOTE) <= set(votes.columns)
    key = _VOTE if whole else ["question", "answer"]
    if not set(key) <= set(grades.columns):
        raise InputError(
            f"dataset {quote(dataset)}: the grades of {quote(name, 200)} and the votes have no sample number "
            "in common to join them on",
            Fix("columns", {"sample": "NAME"}, "map it"),
        )
    silent = [pl.col("silent").alias("silenced")] if "silent" in grades.columns else []
    grades = grades.select(*key, pl.col("correct").alias("grade"), *silent).drop_nulls(key).unique()
    _one_row_each(grades, key, name)
    joined = votes.join(grades, on=key, how="left")
    if silent:
        joined = joined.with_columns(pl.when(~pl.col("silenced").fill_null(False)).then("answer").alias("answer"))
    own = ["correct"] if "correct" in joined.columns else []
    return joined.with_columns(pl.coalesce(*own, "grade").alias("correct")).drop("grade", "silenced", strict=False)


def _with_gold(dataset: str, votes: pl.DataFrame, gold: pl.DataFrame, name: str) -> pl.DataFrame:
    """Join gold answers."""
    import polars as pl

    extra = [
        part
        for part in ("gold", "cluster")
        if part in gold.columns and not (part == "cluster" and part in votes.columns)
    ]
    key = (
        gold.select("question", *(pl.col(part).alias(f"{part}_too") for part in extra)).drop_nulls("gold_too").unique()
    )
    key = key.join(votes.select("question").unique(), on="question", how="semi")
    _one_row_each(key, ["question"], name)
    joined = votes.join(key, on="question", how="left")
    if "gold" in joined.columns and (clash := joined.filter(pl.col("gold") != pl.col("gold_too"))).height:
        raise InputError(
            f"dataset {quote(dataset)}: gold beside the votes and in {quote(name, 200)} differ on "
            f"{quote(clash['question'][0])}; leave one of them out"
        )
    for part in extra:
        own = [part] if part in joined.columns else []
        joined = joined.with_columns(pl.coalesce(*own, f"{part}_too").alias(part))
    return joined.drop("gold_too", "cluster_too", strict=False)


def _one_row_each(frame: pl.DataFrame, key: Sequence[str], name: str) -> None:
    if frame.select(key).is_duplicated().any():
        row = frame.filter(frame.select(key).is_duplicated()).row(0, named=True)
        what = ", ".join(f"{part} {quote(row[part])}" for part in key)
        raise InputError(f"{quote(name, 200)}: two different rows for {what}; keep one of them")


def _graded(votes: pl.DataFrame) -> pl.DataFrame:
    """A null vote is never correct; gold, where it is not given, is the answer most often graded right."""
    import polars as pl

    votes = votes.with_columns(
        pl.when(pl.col("answer").is_null()).then(False).otherwise(pl.col("correct")).alias("correct")
    )
    if not votes["gold"].null_count():
        return votes
    number = pl.col("votes").sum().alias("len") if "votes" in votes.columns else pl.len()
    best = (
        votes.filter("correct")
        .group_by("question", "answer")
        .agg(number)
        .sort("question", "len", "answer", descending=[False, True, False])
    )
    best = best.unique("question", keep="first", maintain_order=True).select(
        "question", pl.col("answer").alias("graded")
    )
    joined = votes.join(best, on="question", how="left")
    return joined.with_columns(pl.coalesce("gold", "graded", pl.lit("(gold)")).alias("gold")).drop("graded")


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Read corpora as votes."""
    import polars as pl

    found = [read_corpus(file, options) for file in files]
    frames: list[pl.DataFrame] = []
    for one in found:
        findings.notes += one.said
        findings.readings += one.readings
        findings.files += [describe(file) for file in one.files]
        frames += one.datasets.values()
    votes = pl.concat(frames, how="diagonal_relaxed")
    if options.canonical:
        from swaplaw.votes.canonical import canonicalise

        return Source(str(files[0]), lambda: canonicalise(votes.lazy(), options.canonical))
    return Source(str(files[0]), votes.lazy)


FORMATS = (Format("corpus", is_database, read),)
"""An SQLite database; a folder is told from one of logs by `is_corpus`."""
