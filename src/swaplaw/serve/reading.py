"""Long replies are read beside the event loop, so that no reply holds up another question.

What a reply declares (`ANSWER: B`) and what is short is read where it arrives: asking somebody else would take longer.
The rest goes to a small pool of processes, a few replies of one question at a time: a question with many replies waits
for its own, and others take turns with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context
from threading import Thread
from time import sleep

from swaplaw.answers.readers import Reader

AT_ONCE = 8
"""Replies of one question that are read before it is another's turn."""
PROCESSES = 2
PARENT_DEATH_SIGNAL = 1
"""What `prctl` calls the signal that a process gets when its parent dies."""


class Reading:
    """Reads replies in other processes."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._processes = min(processes, os.cpu_count() or 1)
        self._pool: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Start the processes now: it takes a moment, which the first long reply would wait for."""
        self._pool = self._pool or self._started()
        for _ in range(self._processes):
            self._pool.submit(os.getpid)

    async def read(self, reader: Reader, texts: Sequence[str]) -> list[str | None]:
        """Read replies as this reader does."""
        found: list[str | None] = []
        for start in range(0, len(texts), AT_ONCE):
            found += await self._read(reader, texts[start : start + AT_ONCE])
        return found

    async def _read(self, reader: Reader, texts: Sequence[str]) -> list[str | None]:
        pool = self._pool = self._pool or self._started()
        told = json.dumps(reader.to_dict())
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, _read_all, told, texts)
        except BrokenProcessPool:
            if self._pool is pool:  # Nobody else has begun anew.
                self._pool = self._started()
        return await asyncio.to_thread(lambda: [reader.read(text) for text in texts])

    def _started(self) -> ProcessPoolExecutor:
        # Forking a process that has threads and an event loop would copy their locks.
        context = get_context("spawn")
        return ProcessPoolExecutor(self._processes, context, initializer=end_with, initargs=(os.getpid(),))

    def close(self) -> None:
        """Let the processes go."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _read_all(reader: str, texts: Sequence[str]) -> list[str | None]:
    read = _reader(reader).read
    return [read(text) for text in texts]


@lru_cache(maxsize=64)
def _reader(told: str) -> Reader:
    return Reader.from_dict(json.loads(told))


def end_with(parent: int) -> None:
    """End this process when its parent has gone, however it went, and even while it is stopped: nobody else would."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:  # For other systems, and for a parent that went before its child could say so.
        while os.getppid() == parent:
            sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
