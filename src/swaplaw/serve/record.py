"""Live votes kept as votes: what members answered, in the form of the vote table, to be analysed like any others.

Every decision is one line of a journal beside the file, written at once: a crash loses at most the line being written,
and a line that could not be written whole is taken back, counted and said. From time to time, and when the server
stops, the journal is turned into Parquet: a whole new file takes the old one's place. Its rows have a key (dataset,
question, model, sample), so a journal that was turned over just before a crash is not counted twice. A file that has
grown long is put aside under a number, and a new one begun.

A record belongs to one recorder at a time, which holds a lock on it, and a file that no recorder wrote is refused: what
is in it is somebody else's.

Questions are known by the id of their reply; what was asked is kept only on request. `gold` is empty until somebody
labels it.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._files import writing
from swaplaw.errors import InputError, quote
from swaplaw.serve.poll import MemberRecord

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.serve.settings import Served

log = logging.getLogger("swaplaw.serve")
LONGEST = 500_000
"""Votes of a file, after which another is begun."""
EVERY = 30.0
"""Seconds between two turns of the journal into Parquet."""
KEY = ("dataset", "question", "model", "sample")
OURS = {"swaplaw": "record"}
"""What the metadata of a recorded file say."""


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
        self._lock = _locked(self.file)
        _refuse_foreign(self.file)
        self._handle = -1
        self.flush()  # What a crash has left: what was turned over already, then what was not.
        self.flush()

    def close(self) -> None:
        """Turn what is left into Parquet, and let go of the file."""
        self.flush()
        os.close(self._lock)

    def add(
        self, served: Served, question: str, records: Sequence[MemberRecord], messages: Sequence[dict[str, Any]]
    ) -> None:
        """Write down the votes of one question.

        Raises
        ------
        OSError
            If they could not be written; the journal is then as it was.
        """
        rows = [
            {
                "dataset": served.name,
                "question": question,
                "model": one.model,
                "sample": cast.sample,
                "answer": cast.answer,
                "reason": cast.reason,
                "tokens": cast.tokens,
            }
            for one, record in zip(served.asked, records, strict=True)
            for cast in record.cast
        ]
        entry: dict[str, Any] = {"time": datetime.now(UTC).isoformat(), "rows": rows}
        if self._prompts:
            entry["prompt"] = json.dumps(messages)
        if self._handle < 0:
            self._handle = os.open(self._journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        before = os.fstat(self._handle).st_size
        try:
            # One write a line: lines of a process that is killed are whole or absent.
            if os.write(self._handle, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._journal))
        except OSError:
            os.ftruncate(self._handle, before)
            raise

    async def keep_writing(self, every: float = EVERY) -> None:
        """Turn the journal over from time to time, beside the event loop, and once more at the end."""
        try:
            while True:
                await asyncio.sleep(every)
                self._turn()
                await asyncio.to_thread(self._write_or_say)
        finally:
            self._turn()
            self._write_or_say()

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

    def _write_or_say(self) -> None:
        try:
            self._write()
        except Exception:
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
            if before:
                added = added.join(before[0], on=KEY, how="anti", nulls_equal=True, maintain_order="left")
            with writing(self.file) as draft:
                pl.concat([*before, added], how="diagonal_relaxed").write_parquet(draft, metadata=OURS)
        self._turned.unlink()

    def _next_number(self) -> Path:
        taken = (self.file.with_name(f"{self.file.stem}.{number:04}.parquet") for number in range(1, 10_000))
        return next(path for path in taken if not path.exists())


def _locked(file: Path) -> int:
    """Hold the record alone for as long as this process lives; the lock's file is never written to."""
    place = file.with_name(f".{file.name}.lock")
    handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"{quote(str(file), 200)}: another server records into this file; name another") from None
    return handle


def _refuse_foreign(file: Path) -> None:
    """A file that no recorder wrote is not ours to add to."""
    import polars as pl

    if not file.exists():
        return
    try:
        ours = OURS.items() <= pl.read_parquet_metadata(file).items()
    except (OSError, pl.exceptions.PolarsError):
        ours = False
    if not ours:
        raise InputError(
            f"{quote(str(file), 200)}: this file is there already, and no server has recorded it; name a new one"
        )


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
