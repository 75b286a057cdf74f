"""What every importer hands over: votes spooled to disk as they are read, what was found, and where it came from."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.answers.characters import storable
from swaplaw.answers.forms import canonicaliser
from swaplaw.answers.letters import letter
from swaplaw.errors import InputError, quote
from swaplaw.votes.files import Source

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.answers.readers import Reader

MAX_ANSWER = 4096
"""Answers longer than this are stored as their beginning and a digest: equal answers stay equal, others differ."""
BATCH = 10_000
"""Votes held in memory before they go to disk."""
STOPS = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "refused"}
"""Inspect's stop reasons that make a completion without an answer an abstention, in the vote table's words."""


@dataclass(frozen=True)
class Options:
    """What the user can decide about an import; each format uses the options that apply to it."""

    scorer: str | None = None
    """Inspect: which scorer's answers and grades to take; lm-evaluation-harness: which metric grades."""
    threshold: float = 1.0
    """The lowest score that counts as correct."""
    cluster: str | None = None
    """The metadata key (Inspect), document field (lm-evaluation-harness) or column that holds the cluster."""
    filter: str | None = None
    """lm-evaluation-harness: which filter's responses to take, or `raw`."""
    shares: int | None = None
    """lm-evaluation-harness: turn the softmax of log-likelihoods into this many votes instead of one."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Tables: contract column -> column of the table."""
    question: tuple[str, ...] = ()
    """Tables: the columns that together name a question; the word `order` stands for the order within a model."""
    drop_ambiguous: bool = False
    """Tables: leave out ids that still stand for several questions, and say how many."""
    canonical: tuple[str, ...] = ()
    """Canonicalisers of answers and golds, by name, in order."""
    reader: Reader | None = None
    """How answers are read from completions, where the source has no answers of its own."""
    panel: str | None = None
    """Inspect: whose votes to read of logs that a panel of graders scored, `judges` (the default) or `models`."""
    groups: str | None = None
    """A file of answers that a judge has grouped by meaning (see `meaning`)."""
    judge: str | None = None
    """The Inspect model that judges answers which are not in that file yet."""
    sheet: str | None = None
    """Excel: the sheet that is read, instead of the first."""
    model: str | None = None
    """The model's name, where the files do not give it; in tables, `{file}` stands for the file's name."""
    dataset: str | None = None
    """The dataset's name, where the files do not give it."""

    @classmethod
    def of(cls, options: Options | None, said: Mapping[str, Any]) -> Options:
        """Options as they are, or as a call says them one by one: `columns={...}`, `canonical="text"`."""
        words = {name: (value,) for name, value in said.items() if name in ("canonical", "question")}
        told = {**said, **{name: value for name, value in words.items() if isinstance(value[0], str)}}
        if isinstance(told.get("reader"), str):
            from swaplaw.answers.readers import Reader

            told["reader"] = Reader(told["reader"])
        return replace(options or cls(), **told)

    def of_file(self, file: Path) -> Options:
        """The options of one file of several: its name may be its model's."""
        named = None if self.model is None else self.model.replace("{file}", file.name.partition(".")[0])
        return replace(self, model=named)

    def to_dict(self) -> dict[str, Any]:
        """Keep what was asked for: defaults say nothing."""
        plain = Options()
        asked = {name: value for name, value in vars(self).items() if value != getattr(plain, name)}
        return asked if self.reader is None else asked | {"reader": self.reader.to_dict()}

    def spell(self, text: str) -> str:
        """Spell an answer or a gold in the canonical forms that were asked for."""
        return canonicaliser(self.canonical)(text)

    def gold(self, text: str) -> str:
        """Spell a gold as the reader and the canonical forms spell answers."""
        return self.spell(self.reader.gold(text) if self.reader is not None else text)

    def answer(self, completion: str, reader: Reader | None = None) -> str | None:
        """Read the answer of a completion, by the reader that was asked for or else by the given one."""
        chosen = self.reader or reader
        found = completion if chosen is None else chosen.read(completion)
        return None if found is None else self.spell(bounded(storable(found)))


@dataclass(frozen=True)
class Reading:
    """How one column of the votes was read."""

    column: str
    source: str
    example: str
    guessed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        return dict(vars(self))


@dataclass
class Findings:
    """What an importer learnt on its way: how columns were read, what is missing, where votes came from."""

    readings: list[Reading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    reader: Reader | None = None
    """How completions were read, where the source had no answers of its own."""
    recorded: dict[str, Any] = field(default_factory=dict)
    """What else the source tells of how its votes came about (see `votes.provenance`)."""

    @property
    def origin(self) -> dict[str, Any]:
        """How the votes came about, as far as that is known."""
        return self.recorded if self.reader is None else {**self.recorded, "reader": self.reader.to_dict()}

    def add(self, other: Findings) -> None:
        """Take over what another reading found; how its votes came about stays with its sources."""
        self.readings += other.readings
        self.notes += other.notes
        self.files += other.files


class Spool:
    """Votes on their way from logs: batches go to a temporary directory, which goes when the program ends.

    Not before: a lazy frame of these votes may outlive the `Votes` that it came from.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self.name, self.schema, self.votes = name, dict(schema), 0
        self._folder = Path(tempfile.mkdtemp(prefix="swaplaw-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._rows: list[tuple[Any, ...]] = []

    def add(self, vote: Mapping[str, Any]) -> None:
        """Take one vote."""
        self._rows.append(tuple(vote.get(name) for name in self.schema))
        if len(self._rows) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        import polars as pl

        if self._rows:
            self.votes += len(self._rows)
            batch = pl.DataFrame(self._rows, schema=self.schema, orient="row")
            batch.write_parquet(self._folder / f"{self.votes:012}.parquet")
            self._rows = []

    def source(self) -> Source:
        """Hand the votes over as one source."""
        import polars as pl

        self._flush()
        if not self.votes:
            raise InputError(f"{quote(self.name, 200)}: there are no samples in it; run the evaluation first")
        folder = self._folder

        def scan() -> pl.LazyFrame:
            return pl.scan_parquet(folder)

        return Source(self.name, scan)


def schema(*optional: str) -> dict[str, Any]:
    """List the columns that log importers write; `cluster`, and `option` with `options`, only where there are any."""
    import polars as pl

    text, whole = pl.String, pl.Int64
    columns: dict[str, Any] = dict.fromkeys(("dataset", "question", "model"), text) | {"sample": whole}
    columns |= dict.fromkeys(("answer", "gold", "reason"), text) | {"correct": pl.Boolean}
    columns |= dict.fromkeys(optional, text) | ({"options": whole} if "option" in optional else {})
    return columns | {"tokens": whole, "cost": pl.Float64, "run": text}


def positions(letters: str | list[str], count: int) -> list[int] | None:
    """Positions that letters (A, B, …, then 1, 2, …) name among `count` options; None where they are not letters."""
    names = {letter(index): index for index in range(count)}
    found: list[int] = []
    for part in [letters] if isinstance(letters, str) else letters:
        for token in part.replace(",", " ").split():
            for name in [token] if token in names else list(token):
                if name not in names:
                    return None
                found.append(names[name])
    return found


def bounded(text: str) -> str:
    """Collapse white space and cut giant answers, so that equal answers stay equal and memory stays bounded."""
    flat = " ".join(text.split())
    if len(flat) <= MAX_ANSWER:
        return flat
    return f"{flat[: MAX_ANSWER - 80]}… sha256:{hashlib.sha256(flat.encode(errors='surrogatepass')).hexdigest()}"


def describe(file: Path, **facts: Any) -> dict[str, Any]:
    """Name a file so that it can be known again: its name, size and digest, and what it says of itself."""
    digest = hashlib.sha256()
    with file.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return {"name": file.name, "bytes": file.stat().st_size, "sha256": digest.hexdigest(), **facts}
