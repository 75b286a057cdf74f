"""Live votes kept as votes: what members answered, in the form of the vote table, to be analysed like any others.

Every decision is one line of a journal beside the file, written at once: a crash loses at most the line being written.
From time to time, and when the server stops, the journal is turned into Parquet: a whole new file takes the old one's
place. Rows have a key (question, model, sample), so a journal that was turned over just before a crash is not counted
twice. A file that has grown long is put aside under a number, and a new one begun.

Questions are known by the id of their reply; what was asked is kept only on request. `gold` is empty until somebody
labels it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote
from swaplaw.serve.poll import MemberRecord

if TYPE_CHECKING:
    import polars as pl
    from prometheus_client import Counter

    from swaplaw.serve.settings import Served

log = logging.getLogger("swaplaw.serve")
LONGEST = 500_000
"""Votes of a file, after which another is begun."""
EVERY = 30.0
"""Seconds between two turns of the journal into Parquet."""
KEY = ("question", "model", "sample")


class Recorder:
    """Writes votes to a Parquet file, by way of a journal."""

    def __init__(
        self, path: str | Path, *, prompts: bool = False, longest: int = LONGEST, worker: int | None = None
    ) -> None:
        file = Path(path)
        if file.suffix != ".parquet":
            raise InputError(
                f"{quote(str(path), 200)}: votes are recorded as Parquet; name a file that ends in .parquet"
            )
        if not file.parent.is_dir():
            raise InputError(f"{quote(str(path), 200)}: there is no directory {quote(str(file.parent), 200)}")
        # Each process writes a file of its own.
        self.file = file if worker is None else file.with_name(f"{file.stem}.{worker}.parquet")
        self._journal = self.file.with_name(f"{self.file.name}.journal")
        self._turned = self.file.with_name(f"{self.file.name}.journal.turned")
        self._prompts, self._longest = prompts, longest
        self._handle = -1
        self.flush()  # What a crash has left: what was turned over already, then what was not.
        self.flush()

    def add(
        self, served: Served, question: str, records: Sequence[MemberRecord], messages: Sequence[dict[str, Any]]
    ) -> None:
        """Write down the votes of one question."""
        rows = [
            {
                "dataset": served.name,
                "question": question,
                "model": member.model,
                "sample": cast.sample,
                "answer": cast.answer,
                "reason": cast.reason,
                "tokens": cast.tokens,
            }
            for member, record in zip(served.asked, records, strict=True)
            for cast in record.cast
        ]
        entry: dict[str, Any] = {"time": datetime.now(UTC).isoformat(), "rows": rows}
        if self._prompts:
            entry["prompt"] = json.dumps(messages)
        if self._handle < 0:
            self._handle = os.open(self._journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # One write a line: lines of a process that is killed are whole or absent.
        os.write(self._handle, json.dumps(entry, separators=(",", ":")).encode() + b"\n")

    async def keep_writing(self, failures: Counter, every: float = EVERY) -> None:
        """Turn the journal over from time to time, beside the event loop, and once more at the end."""
        try:
            while True:
                await asyncio.sleep(every)
                self._turn()
                await asyncio.to_thread(self._write_or_say, failures)
        finally:
            self._turn()
            self._write_or_say(failures)

    def flush(self) -> None:
        """Turn the journal into Parquet now."""
        self._turn()
        self._write()

    def _turn(self) -> None:
        """Put the journal aside; new lines go to a new one. An older one that is still there is written first."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if self._journal.exists() and not self._turned.exists():
            self._journal.rename(self._turned)

    def _write_or_say(self, failures: Counter) -> None:
        try:
            self._write()
        except Exception:
            failures.inc()
            log.exception("recorded votes could not be turned into Parquet; they stay in the journal")

    def _write(self) -> None:
        import polars as pl

        if not self._turned.exists():
            return
        added = _rows(self._turned)
        if not added.is_empty():
            before = [pl.read_parquet(self.file)] if self.file.exists() else []
            if before and len(before[0]) >= self._longest:
                self.file.rename(self._next_number())
                before = []
            whole = pl.concat([*before, added], how="diagonal_relaxed")
            _replace(self.file, whole.unique(KEY, keep="first", maintain_order=True))
        self._turned.unlink()

    def _next_number(self) -> Path:
        taken = (self.file.with_name(f"{self.file.stem}.{number:04}.parquet") for number in range(1, 10_000))
        return next(path for path in taken if not path.exists())


def _replace(file: Path, frame: pl.DataFrame) -> None:
    draft = file.with_name(f".{file.name}.part")
    frame.write_parquet(draft)
    with draft.open("rb+") as written:
        os.fsync(written.fileno())
    draft.replace(file)


def _rows(journal: Path) -> pl.DataFrame:
    """The votes of a journal; a last line that was cut off is left out."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for line in journal.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        more = {"time": entry["time"], **({"prompt": entry["prompt"]} if "prompt" in entry else {})}
        rows += [{**row, "gold": None, **more} for row in entry["rows"]]
    kinds = {
        "dataset": pl.String, "question": pl.String, "model": pl.String, "sample": pl.Int64, "answer": pl.String,
        "gold": pl.String, "reason": pl.String, "tokens": pl.Int64, "time": pl.String, "prompt": pl.String,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=kinds)
    return frame if frame["prompt"].count() else frame.drop("prompt")
