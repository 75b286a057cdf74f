"""The tables of a released corpus: where they are, what stands in their columns, and what each of them is about.

Tables are files of a folder, at any depth, or those of an SQLite database. Text and databases are read row by row, so
that long texts beside the votes cost time and no memory. A column is what both its name (`votes.columns`) and its
contents say: a column of right and wrong holds grades, one that names the paper's models holds models.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.votes.columns import NAMES, candidates, plain
from swaplaw.votes.files import format_of_table, open_file

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
_DATASETS = (
    *(("supergpqa", "supergpqa"), ("gpqamain", "gpqa-main"), ("gpqaextended", "gpqa-extended")),
    *(("gpqa", "gpqa-diamond"), ("forensic", "forensic"), ("cyber", "forensic")),
)
RIGHT, WRONG = (
    ("true", "1", "10", "correct", "right", "yes", "pass", "passed"),
    ("false", "0", "00", "incorrect", "wrong", "no", "fail", "failed"),
)
"""What grades say, without case and punctuation."""
NO_ANSWER = (
    *("null", "none", "na", "nan", "nullvote", "novote", "abstain", "abstained", "abstention", "unparseable"),
    *("unparsed", "noparse", "noanswer", "unanswered", "notsubmitted", "nosubmission", "parseerror", "parsefailed"),
)
"""What stands for silence, without case and punctuation, unless it is right."""
WHY = ("reason", "parse", "finish", "abstained", "parsed")
_MEANT: Mapping[str, tuple[str, ...]] = {
    **NAMES,
    "question": (
        *(name for name in NAMES["question"] if name.startswith("question_")),
        *("qid", *(name for name in NAMES["question"] if name != "sample_id")),
    ),
    "model": (*NAMES["model"], "model_code"),
    "sample": (*NAMES["sample"], "sample_id", "trial_id", "trial_index", "trial_idx", "run_id", "vote_index"),
    "answer": (*NAMES["answer"], "letter", "selected", "selected_option", "option"),
    "cluster": ("cluster", "challenge", "challenge_id"),
    "parse": (*NAMES["parse"], "parse", "parse_result"),
}
"""The names that columns of a corpus may have, likeliest first; ids come before texts."""
_KEYS = ("answer", "answer_letter", "label", "key", "solution")
"""Names of gold that may as well be those of a vote."""
_VERDICTS = ("verdict", "judgment", "judgement", "result", "outcome", "status", "graded")
"""Names of grades that may as well be those of something else."""
_FEW, _LONG = 60, 64
_STREAMED = ("csv", "jsonl")
_BATCH = 50_000


@dataclass
class Seen:
    """What stands in a column."""

    raw: set[str] = field(default_factory=set)
    """The first of its values as they are spelt."""
    few: bool = True
    """Whether these are all."""
    text: bool = False
    """Whether some are longer than an id."""

    def see(self, cell: str) -> None:
        """Look at one cell."""
        self.text = self.text or len(cell) > _LONG or " " in cell.strip()
        if self.few and cell not in self.raw:
            self.few = len(self.raw) < _FEW and len(cell) <= _LONG
            if self.few:
                self.raw.add(cell)

    @property
    def words(self) -> set[str]:
        """The values without case and punctuation."""
        return set(map(bare, self.raw))


def bare(text: str) -> str:
    """A word without case and punctuation."""
    return re.sub(r"[\W_]", "", text.casefold())


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
            with closing(database(self.file)) as open_:
                return [row[1] for row in open_.execute(f"pragma table_info({_quoted(self.inner)})")]
        if self._form not in _STREAMED:
            return list(open_file(self.file).scan().collect_schema().names())
        with self._text() as lines:
            rows = self._records(lines)
            return list(
                dict.fromkeys(name for row in (islice(rows, 1) if self._form == "csv" else rows) for name in row)
            )

    @property
    def _form(self) -> str | None:
        return None if self.file.suffix.lower() in (".zip", ".zst") else format_of_table(self.file)

    def seen(self, limit: int | None = None) -> dict[str, Seen]:
        """What stands in its columns, of the first rows or of all."""
        found = [Seen() for _ in self.columns]
        for row in islice(self.rows(self.columns), limit):
            for seen, cell in zip(found, row, strict=True):
                if cell is not None:
                    seen.see(cell)
        return dict(zip(self.columns, found, strict=True))

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns as text, one batch of rows after the other; the first has none."""
        import polars as pl

        rows, schema = self.rows(columns), dict.fromkeys(columns, pl.String)
        yield pl.DataFrame(schema=schema)
        while batch := list(islice(rows, _BATCH)):
            yield pl.DataFrame(batch, schema=schema, orient="row")

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
        """Stream the cells of some columns as text.

        Raises
        ------
        InputError
            If the table ends before its end.
        """
        try:
            for row in self._cells(columns):
                yield tuple(map(_text, row))
        except (UnicodeDecodeError, csv.Error, EOFError, OSError, sqlite3.Error) as error:
            raise InputError(f"{quote(self.name, 200)}: cannot be read to its end ({error}); copy it again") from None

    def _cells(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        if self.inner is not None:
            with closing(database(self.file)) as open_:
                yield from open_.execute(f"select {', '.join(map(_quoted, columns))} from {_quoted(self.inner)}")
        elif self._form not in _STREAMED:
            frame, start = open_file(self.file).scan().select(columns), 0
            while len(batch := frame.slice(start, _BATCH).collect()):
                yield from batch.iter_rows()
                start += _BATCH
        else:
            with self._text() as lines:
                for record in self._records(lines):
                    yield [record.get(name) for name in columns]

    def _text(self) -> IO[str]:
        raw: Any = gzip.open(self.file) if self.file.suffix == ".gz" else self.file.open("rb")  # noqa: SIM115
        return TextIOWrapper(raw, encoding="utf-8-sig", newline="")

    def _records(self, lines: IO[str]) -> Iterator[dict[str, Any]]:
        return self._csv(lines) if self._form == "csv" else self._json(lines)

    def _csv(self, lines: IO[str]) -> Iterator[dict[str, Any]]:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        first = lines.readline()
        marks = re.sub(r'"[^"]*"', "", first)
        separator = max(",;\t|", key=lambda mark: (marks.count(mark), -",;\t|".index(mark)))
        header = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
        for number, row in enumerate(csv.reader(lines, delimiter=separator), 2):
            if row and len(row) != len(header):
                raise InputError(f"{quote(self.name, 200)}: row {number} has {len(row)} cells, not {len(header)}")
            if row:
                yield dict(zip(header, row, strict=True))

    def _json(self, lines: IO[str]) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line) if line.strip() else {}
            except ValueError as error:
                raise InputError(f"{quote(self.name, 200)}: line {number} is not JSON ({error})") from None
            if not isinstance(record, dict):
                raise InputError(f"{quote(self.name, 200)}: line {number} is not a JSON object")
            yield from [record] if record else []


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def database(file: Path) -> sqlite3.Connection:
    """Open a database for reading, as it is."""
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
    flat, packed = [], []
    for file in files:
        inside = file.relative_to(path)
        if any(part.startswith(".") for part in inside.parts):
            continue
        name = file.name if file == path else inside.as_posix()
        if is_database(file):
            packed += [Table(file, f"{name}/{inner}", inner) for inner in _inner(file)]
        elif format_of_table(file) is not None and not name.endswith(".json"):
            flat.append(Table(file, name))
    return [*flat, *packed]


def _inner(file: Path) -> list[str]:
    try:
        with closing(database(file)) as open_:
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
    """`records` or `counts` of votes, or `facts` about them; `unclear` where such a column is missing; else `other`."""
    columns: Mapping[str, str]
    model: str | None
    """The model that the path names, where no column does."""
    dataset: str | None
    """The dataset that the path names."""
    flags: Sequence[str]
    """Columns that are nothing yet, and may hold grades."""


def layout_of(table: Table, declared: Mapping[str, str], verbatim: bool = False, limit: int | None = None) -> Layout:
    """Tell what a table holds by the names and the contents of its columns.

    Parameters
    ----------
    table : Table
        The table.
    declared : mapping
        The columns that the user names, by part; those that it has count before what is guessed.
    verbatim : bool
        Whether names of models and datasets mean nothing beyond themselves.
    limit : int, optional
        Look at this many rows instead of all.
    """
    own = {part: name for part, name in declared.items() if name in table.columns}
    one = _Guess(table, table.seen(limit), dict(own))
    if not verbatim:
        one.name_models_and_datasets()
    one.take("dataset", _MEANT["dataset"])
    one.take("question", _MEANT["question"], lambda seen: not seen.text)
    one.take_texts()
    one.take("model", _MEANT["model"])
    one.take("sample", _MEANT["sample"], lambda seen: not seen.text)
    one.take("question", ["sample_id"])
    one.take("votes", _MEANT["votes"], lambda seen: all(map(_is_whole, seen.raw)))
    one.take("correct", NAMES["correct"], lambda seen: seen.few and not seen.words.isdisjoint({*RIGHT, *WRONG}))
    one.take("correct", _VERDICTS, _is_grade)
    one.take(
        "correct",
        table.columns,
        lambda seen: _is_grade(seen) and not seen.words.isdisjoint(("correct", "incorrect", "unanswered")),
    )
    model = None if verbatim or "model" in one.found else _model_in(table.name)
    one.take_answers(bool(model) or not one.found.keys().isdisjoint(("model", "sample", "votes")))
    for part in ("cluster", *WHY):
        one.take(part, _MEANT[part])
    has = one.found.keys() | ({"model"} if model else set())
    role = _role(has)
    flags = [] if "correct" in has or verbatim else one.flags()
    if role in ("records", "counts"):
        asked, answers = [one.found["question"], one.found["answer"]], one.seen[one.found["answer"]]
        letters = {len(raw) for raw in answers.raw if bare(raw) not in NO_ANSWER} <= {1}
        flags = [name for name in flags if not letters and one.tells(asked, name)]
    elif role != "unclear" or len(one.left) > (1 if "sample" in has else 2):
        flags = []
    return Layout(table, role, one.found, model, None if verbatim else dataset_in(table.name), flags)


@dataclass
class _Guess:
    """Which column of a table is what, as far as that is found."""

    table: Table
    seen: Mapping[str, Seen]
    found: dict[str, str]

    def take(self, part: str, names: Sequence[str], fits: Callable[[Seen], bool] = lambda seen: True) -> None:
        """Take the likeliest free column for a part that has none yet, if what stands in it fits."""
        free = [name for name in self.free(names) if fits(self.seen[name])]
        if part not in self.found and free:
            self.found[part] = free[0]

    def take_texts(self) -> None:
        """Take texts of questions for their names, unless a column that nobody knows names them."""
        texts = self.free(_MEANT["question"]) if "question" not in self.found else []
        if texts and not any(self.tells([name], texts[0]) for name in self.left if not self.seen[name].text):
            self.take("question", texts)

    def free(self, names: Sequence[str]) -> list[str]:
        """Columns of these names that are nothing yet."""
        return [name for name in candidates(self.table.columns, names) if name not in self.found.values()]

    def name_models_and_datasets(self) -> None:
        """Take the columns that hold nothing but names of the paper's models and of its datasets."""
        for part, known in (("model", paper_name), ("dataset", _dataset_alone)):
            names = [
                name for name, seen in self.seen.items() if seen.raw and seen.few and None not in map(known, seen.raw)
            ]
            self.take(part, names)

    def take_answers(self, votes: bool) -> None:
        """Tell votes from gold: beside other answers, one that never differs within a question is gold."""
        self.take("gold", [name for name in NAMES["gold"] if plain(name) not in map(plain, _KEYS)])
        if not votes and "correct" not in self.found:
            self.take("gold", _KEYS)
            return
        free, keys = self.free(_MEANT["answer"]), self.free(_KEYS)
        if votes and ({*free} - {*keys} or "answer" in self.found):
            asked = [self.found["question"]] if "question" in self.found else []
            self.take("gold", [name for name in keys if asked and self.tells(asked, name)])
        self.take("answer", _MEANT["answer"])

    def tells(self, parts: Sequence[str], name: str) -> bool:
        """Whether a column says one thing of each of what some columns name, though some of it has several rows."""
        asked = [*parts, *([self.found["dataset"]] if "dataset" in self.found else [])]
        first: dict[int, int] = {}
        rows = 0
        for row in self.table.rows([*asked, name]):
            rows += 1
            if first.setdefault(hash(row[:-1]), hash(row[-1])) != hash(row[-1]):
                return False
        return rows > len(first) > 0

    @property
    def left(self) -> list[str]:
        """Columns that are nothing yet."""
        return [name for name in self.seen if name not in self.found.values()]

    def flags(self) -> list[str]:
        """Columns that are nothing yet and hold right and wrong, or what may mean something else."""
        grades = [name for name in self.left if _is_grade(self.seen[name])]
        return [name for name in grades if self.seen[name].words & {*RIGHT} and self.seen[name].words & {*WRONG}]


def _is_grade(seen: Seen) -> bool:
    """Whether what stands in a column are words of grades."""
    known = {*RIGHT, *WRONG, *NO_ANSWER, "c", "i"}
    return seen.few and seen.words <= known and not seen.words.isdisjoint({*RIGHT, *WRONG})


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"\d+(\.0)?", text) is not None


def _role(has: set[str]) -> str:
    if "question" not in has:
        return "unclear" if "model" in has and {"answer", "sample"} & has else "other"
    if {"model", "answer"} <= has:
        return "counts" if "votes" in has and "sample" not in has else "records"
    if "model" in has:
        return "facts" if {"correct", *WHY} & has else "unclear"
    if "sample" in has:
        return "unclear"
    return "facts" if {"answer", "correct"} <= has or "gold" in has else "other"


def ask(what: str, part: str, do: str = "map another column", column: str = "NAME") -> InputError:
    """A refusal that naming a column may lift."""
    return InputError(what, Fix("columns", {part: column}, do))


def refuse_unclear(layouts: Sequence[Layout]) -> None:
    """Refuse a table of votes whose answers, questions or models nobody has found, unless another table has them.

    Raises
    ------
    InputError
        If votes would be lost.
    """
    covered = {(one.dataset, one.model) for one in layouts if one.role in ("records", "counts")}
    graded = {one.dataset for one in layouts if "correct" in one.columns}
    for one in layouts:
        for flag in one.flags if one.dataset not in graded else ():
            what = f"{quote(one.table.name, 200)}: it is not clear what {quote(flag)} is"
            raise ask(what, "correct", "if it is the grade, say so", flag)
        if one.role == "unclear" and (one.dataset, one.model) not in covered:
            has = one.columns.keys() | ({"model"} if one.model else set())
            missing = next(part for part in ("question", "model", "answer") if part not in has)
            there = f"no column was found for {quote(missing)}; there are {listing(one.table.columns, 20)}"
            raise ask(f"{quote(one.table.name, 200)} holds votes, but {there}", missing, "map it")


def dataset_in(path: str) -> str | None:
    """The paper's dataset that a path names, in a file's name before its folders'."""
    for part in reversed(path.split("/")):
        if name := next((name for needle, name in _DATASETS if needle in bare(part)), None):
            return name
    return None


def _dataset_alone(name: str) -> str | None:
    """The dataset that a cell names; ids of questions have digits."""
    return None if re.search(r"\d", name) else dataset_in(name)


def _aliases() -> dict[str, str]:
    found = {}
    for name, *others in MODELS:
        for alias in (name, *others, *(other.rpartition("/")[2] for other in others)):
            for short in (alias, re.sub(r"-(it|\d{4}|BF16)$", "", alias)):
                found[bare(short)] = name
    return found


ALIASES = _aliases()
"""What each of the ten models may be called, without case and punctuation."""


def paper_name(model: str) -> str | None:
    """The paper's name of a model.

    >>> paper_name("google/gemma-4-26B-A4B-it"), paper_name("gemma4-a4b"), paper_name("gpt-4")
    ('Gemma-4-26B-A4B', 'Gemma-4-26B-A4B', None)
    """
    return ALIASES.get(bare(model)) or ALIASES.get(bare(model.rpartition("/")[2]))


def _model_in(path: str) -> str | None:
    """The model that a path names: the longest alias in a file's name before its folders'."""
    for part in reversed(path.split("/")):
        if found := [alias for alias in ALIASES if len(alias) > 4 and alias in bare(part)]:
            return ALIASES[max(found, key=len)]
    return None
