"""Votes as they come: every finished sample is at once a line of JSON beside the output.

That file is a vote table like any other (`swaplaw summary votes.partial.jsonl` tells how a collection is going). The
final votes are read from the logs, and take its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspect_ai.hooks import Hooks, SampleEnd, TaskStart, hooks
from inspect_ai.log import EvalSample

from swaplaw._files import write_text
from swaplaw.importers.inspect.answers import Orders
from swaplaw.importers.inspect.logs import read_ballot
from swaplaw.importers.record import Options


class Journal:
    """A file that votes are added to, each once."""

    def __init__(self, file: Path, options: Options, *, resume: bool) -> None:
        kept = list(_whole_lines(file)) if resume and file.exists() else []
        self._seen = {(vote["model"], vote["question"], vote["sample"]) for vote in map(json.loads, kept)}
        self._options, self._orders = options, Orders()
        self._models: dict[str, str] = {}
        self.failure: str | None = None
        """What the last sample that failed died of."""
        self._file = file
        write_text(file, "".join(kept))
        self._handle = file.open("a", encoding="utf-8")

    def begin(self, evaluation: str, model: str) -> None:
        """Learn which model an evaluation asks."""
        self._models[evaluation] = model

    def add(self, evaluation: str, sample: EvalSample) -> None:
        """Write a sample's vote down; one that failed will be tried again, and is left out until then."""
        summary = sample.summary()
        if summary.error:
            # Inspect quotes the whole request first; what went wrong comes last.
            self.failure = summary.error.replace("\\n", "\n").strip().rpartition("\n")[2]
            return
        ballot = read_ballot(summary, sample, self._options, self._orders, self._handle.name)
        place = {"dataset": self._options.dataset, "model": self._models[evaluation], "sample": ballot.epoch - 1}
        vote = place | {name: value for name, value in ballot.row.items() if name != "option"}
        key = (vote["model"], vote["question"], vote["sample"])
        if key not in self._seen:
            self._seen.add(key)
            self._handle.write(json.dumps(vote) + "\n")
            self._handle.flush()

    def close(self) -> None:
        """Stop writing; a journal without a vote is no file."""
        self._handle.close()
        if not self._seen:
            self._file.unlink(missing_ok=True)


def _whole_lines(file: Path) -> Iterator[str]:
    """Lines that were written to their end: a process that is killed may leave half a line."""
    with file.open(encoding="utf-8", errors="replace") as handle:
        yield from (line for line in handle if line.endswith("}\n"))


_open: list[Journal] = []


@contextmanager
def keep_journal(journal: Journal) -> Iterator[None]:
    """Let the journal hear of every sample that ends."""
    _open.append(journal)
    try:
        yield
    finally:
        _open.remove(journal)
        journal.close()


@hooks(name="journal", description="Votes as they come")
class JournalHooks(Hooks):
    """What Inspect calls; it does nothing unless a collection keeps a journal."""

    def enabled(self) -> bool:
        """Whether anyone listens."""
        return bool(_open)

    async def on_task_start(self, data: TaskStart) -> None:
        """Learn an evaluation's model."""
        for journal in _open:
            journal.begin(data.eval_id, data.spec.model)

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Write a sample's vote down."""
        for journal in _open:
            journal.add(data.eval_id, data.sample)
